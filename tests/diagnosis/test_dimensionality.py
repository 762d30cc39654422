"""The curse of dimensionality: the formula, manifolds of known dimension, and what distances do in many dimensions."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from learnt.diagnosis import dimensionality, intrinsic_dimension


def cube(n, d, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, d))


def test_edge_lengths_are_the_formula():
    found = dimensionality(cube(1000, 3), n_neighbors=8)
    assert found.edge_length == pytest.approx((8 / 1000) ** (1 / 3))
    assert found.local_edge_length == pytest.approx((8 / 1000) ** (1 / found.intrinsic.estimate))
    assert (found.n_rows, found.n_features, found.n_neighbors) == (1000, 3, 8)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_dimension_of_manifolds_in_more_columns(d):
    """A cube bent into 20 columns; rows at the border take a little away, more in more dimensions."""
    rng = np.random.default_rng(1)
    X = cube(3000, d)
    bent = np.column_stack([X, np.sin(X), X**2]) @ rng.normal(size=(3 * d, 20))
    for rows in (X, bent):
        found = dimensionality(rows).intrinsic
        assert found.low < found.estimate < found.high
        assert abs(found.estimate - d) < 0.12 * d
    assert found.high - found.low < 0.15 * d


def test_the_interval_of_the_dimension_has_its_nominal_coverage():
    """Ratios drawn from the law itself: 200 intervals of 95 %; fewer than 180 have a chance of 1e-4."""
    rng = np.random.default_rng(0)
    covered = sum(
        intrinsic_dimension(np.ones(300), np.exp(rng.exponential(1 / 4.0, size=300))).covers(4.0) for _ in range(200)
    )
    assert 180 <= covered <= 200


def test_distances_concentrate_in_many_dimensions():
    few, many = dimensionality(cube(1500, 2)), dimensionality(cube(1500, 200))
    assert few.concentration < 0.15 < 0.7 < many.concentration < 1
    # Squared distances of uniform columns: mean d/6, standard deviation √(7 d / 180); the root has half of it.
    assert many.spread == pytest.approx(0.5 * np.sqrt(200 * 7 / 180) / (200 / 6), rel=0.05)
    assert "neighbours are near" in few.advice
    assert "neighbours are not near" in many.advice
    assert "(200 columns)" in many.advice
    assert "\n" not in many.advice


def test_the_picture_is_one_and_can_be_read():
    chart = dimensionality(cube(500, 3)).plot()
    root = ElementTree.fromstring(str(chart))
    assert root.tag.endswith("svg")
    assert len([e for e in root.iter() if e.tag.endswith("rect")]) > 20
    assert "10th neighbour" in str(chart)


def test_equal_rows_and_constant_columns_do_not_count():
    X = np.column_stack([np.repeat(cube(400, 2), 5, axis=0), np.full(2000, 3.0)])
    found = dimensionality(X)
    assert found.n_rows == 400
    assert abs(found.intrinsic.estimate - 2) < 0.5


def test_many_rows_are_sampled_and_the_answer_repeats():
    X = cube(3000, 3)
    a, b = (dimensionality(X, max_rows=1000) for _ in range(2))
    assert a.n_rows == 1000
    assert a.intrinsic == b.intrinsic
    assert a.edge_length == pytest.approx((10 / 3000) ** (1 / 3))


def test_mistakes_get_one_sentence():
    for call, words in (
        (lambda: dimensionality(np.zeros((50, 2))), "too few different rows for that, 1 of 50"),
        (lambda: dimensionality(cube(8, 2)), "smaller n_neighbors"),
        (lambda: dimensionality(np.full((50, 2), np.nan)), "NaN"),
        (lambda: dimensionality(cube(0, 2)), "0 sample"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
