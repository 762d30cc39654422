"""Against mathematics: problems whose Bayes error or noise variance is known."""

import numpy as np
import pytest

from learnt.diagnosis import bayes_error_bounds, cover_hart_lower, noise_bounds


def test_lower_bound_inverts_cover_and_hart():
    for c in (2, 3, 10):
        for p in np.linspace(0, (c - 1) / c, 20):
            assert cover_hart_lower(p * (2 - c / (c - 1) * p), c) == pytest.approx(p, abs=1e-7)


def test_the_triangle_densities_have_bayes_error_a_quarter():
    # p(x|0) = 2 − 2x and p(x|1) = 2x on [0, 1] with equal priors: η(x) = x, Bayes error 1/4, R∞ = 2·E[x(1−x)] = 1/3.
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, size=5000)
    x = np.where(y == 1, np.sqrt(rng.uniform(size=5000)), 1 - np.sqrt(rng.uniform(size=5000)))
    found = bayes_error_bounds(x[:, None], y)
    assert found.nearest_neighbor_error == pytest.approx(1 / 3, abs=0.02)
    assert found.low < 0.25 < found.upper
    assert found.low <= found.lower <= found.upper <= found.high


def test_nearest_neighbour_with_one_point_a_class_errs_seven_twentieths():
    # Integration in the course: 83/360 + 43/360 = 7/20 for one training point of each class.
    rng = np.random.default_rng(0)
    n = 200_000
    zero, one = 1 - np.sqrt(rng.uniform(size=n)), np.sqrt(rng.uniform(size=n))
    y = rng.integers(0, 2, size=n)
    x = np.where(y == 1, np.sqrt(rng.uniform(size=n)), 1 - np.sqrt(rng.uniform(size=n)))
    predicted = np.abs(x - one) < np.abs(x - zero)
    assert np.mean(predicted != y) == pytest.approx(7 / 20, abs=0.005)


def test_separable_classes_have_no_error_and_one_class_none_either():
    X = np.r_[np.zeros((20, 2)), 5 + np.zeros((20, 2))] + np.random.default_rng(0).normal(scale=0.1, size=(40, 2))
    assert bayes_error_bounds(X, np.repeat(["a", "b"], 20)).upper == 0
    assert bayes_error_bounds(X, np.zeros(40)).upper == 0


@pytest.mark.parametrize("sigma", [0.1, 0.5, 2.0])
def test_noise_variance_is_bracketed(sigma):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(3000, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(scale=sigma, size=3000)
    found = noise_bounds(X, y)
    assert found.low <= found.lower <= found.upper <= found.high
    assert found.low < sigma**2 < found.high
    assert (found.lower + found.upper) / 2 == pytest.approx(sigma**2, rel=0.15)


def test_bounds_do_not_depend_on_row_order_when_all_rows_are_used():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    order = rng.permutation(300)
    assert bayes_error_bounds(X, y) == bayes_error_bounds(X[order], y[order])


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (np.zeros((3, 1)), np.zeros(2), "X has 3 rows and y has 2"),
        (np.array([[0.0], [np.nan]]), np.zeros(2), "row 1"),
        (np.zeros((1, 1)), np.zeros(1), "two are needed"),
    ],
)
def test_bad_input_gets_one_sentence(X, y, said):
    with pytest.raises(ValueError, match=said) as caught:
        bayes_error_bounds(X, y)
    assert "\n" not in str(caught.value)
