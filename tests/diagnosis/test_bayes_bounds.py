"""Against mathematics: problems whose Bayes error or noise variance is known."""

import numpy as np
import pytest

from learnt.diagnosis import bayes_error_bounds, cover_hart_lower, noise_bounds


def test_lower_bound_inverts_cover_and_hart():
    for c in (2, 3, 10):
        for p in np.linspace(0, (c - 1) / c, 20):
            assert cover_hart_lower(p * (2 - c / (c - 1) * p), c) == pytest.approx(p, abs=1e-7)


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


def test_errors_of_models_on_new_rows_have_the_noise_of_the_targets():
    # In 4 dimensions neighbours are far apart, and the targets alone bound the noise badly; the errors of a model that
    # found the line have nothing but noise, and neighbours within a fold share the model.
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2000, 4))
    y = 3 * X.sum(axis=1) + rng.normal(size=2000)
    fold = np.arange(2000) % 5
    errors = np.empty(2000)
    for k in range(5):
        slope, *_ = np.linalg.lstsq(X[fold != k], y[fold != k], rcond=None)
        errors[fold == k] = y[fold == k] - X[fold == k] @ slope
    of_targets, of_errors = noise_bounds(X, y), noise_bounds(X, errors, groups=fold)
    assert of_targets.upper > 1.5
    assert of_errors.low <= 1 <= of_errors.high
    assert of_errors.upper == pytest.approx(1, abs=0.15)


def test_groups_are_one_for_each_row():
    with pytest.raises(ValueError, match="groups has 2 entries and X has 3 rows"):
        noise_bounds(np.zeros((3, 1)), np.zeros(3), groups=[0, 1])


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (np.zeros((3, 1)), np.zeros(2), "X has 3 rows and y has 2"),
        (np.array([[0.0], [np.nan]]), np.zeros(2), "row 1"),
        (np.zeros((1, 1)), np.zeros(1), "two are needed"),
        (np.zeros((3, 0)), np.zeros(3), r"X has the shape \(3, 0\)"),
        (np.array([["a"], ["b"]]), np.zeros(2), "not real numbers"),
        (np.zeros((2, 1)) + 1j, np.zeros(2), "not real numbers"),
        (np.zeros((3, 1)), None, "y is"),
        (np.zeros((3, 1)), np.zeros((3, 2)), "1d array"),
        (np.zeros((3, 1)), np.array([0.0, np.nan, 1.0]), "NaN"),
    ],
)
def test_bad_input_gets_one_sentence(X, y, said):
    with pytest.raises(ValueError, match=said) as caught:
        bayes_error_bounds(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"max_rows": 0}, "max_rows must be a whole number of at least 2"),
        ({"max_rows": 9.5}, "max_rows"),
        ({"level": 1.0}, "level must be a number between 0 and 1"),
        ({"level": np.nan}, "level"),
    ],
)
def test_bad_choices_get_one_sentence(choices, said):
    X = np.arange(20.0)[:, None]
    for bounds in (bayes_error_bounds, noise_bounds):
        with pytest.raises(ValueError, match=said):
            bounds(X, np.arange(20) % 2, **choices)


@pytest.mark.parametrize("power", [-1000, -500, 500, 1000])
def test_bounds_have_no_unit(power):
    """Times a power of two nothing is rounded, so that the bounds are the same bits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=80)) > 0
    assert bayes_error_bounds(np.ldexp(X, power), y) == bayes_error_bounds(X, y)
    assert noise_bounds(np.ldexp(X, power), X[:, 0]) == pytest.approx(noise_bounds(X, X[:, 0]), rel=1e-12)


def test_targets_whose_squares_are_infinite_are_refused():
    with pytest.raises(ValueError, match=r"y has values up to 1e\+200, whose squares are infinite"):
        noise_bounds(np.arange(9.0)[:, None], np.full(9, 1e200))
