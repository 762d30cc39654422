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
    ],
)
def test_bad_input_gets_one_sentence(X, y, said):
    with pytest.raises(ValueError, match=said) as caught:
        bayes_error_bounds(X, y)
    assert "\n" not in str(caught.value)
