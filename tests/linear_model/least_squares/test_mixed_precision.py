"""Ridge factorised in single precision: the answer has eleven digits and more, or the caller is told."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import solve_triangular
from sklearn.linear_model import RidgeCV as SkRidgeCV

from learnt.engine.rows import as_rows
from learnt.linalg.positive import inverse_factor
from learnt.linear_model import Ridge, RidgeCV
from learnt.linear_model.least_squares import _leave_one_out_wide as wide
from learnt.linear_model.least_squares._centred import CentredRows
from learnt.linear_model.least_squares._mixed_precision import mixed_precision_dual, mixed_precision_ridge, pays

N, D = 1500, 520
rng = np.random.default_rng(0)
PLAIN = rng.normal(size=(N, D))
TARGETS = PLAIN @ rng.normal(size=(D, 2)) + rng.normal(size=(N, 2))


def exact(X, Y, alpha, w=None):
    """By QR of the augmented system."""
    w = np.ones(len(X)) if w is None else w
    x_mean, y_mean = w @ X / w.sum(), w @ Y / w.sum()
    root = np.sqrt(w)[:, None]
    system = np.vstack([root * (X - x_mean), np.sqrt(alpha) * np.eye(X.shape[1])])
    right = np.vstack([root * (Y - y_mean), np.zeros((X.shape[1], Y.shape[1]))])
    Q, R = np.linalg.qr(system)
    return solve_triangular(R, Q.T @ right)


def mixed(X, Y, alpha, w=None):
    found = mixed_precision_ridge(as_rows(X, Y, w), True, alpha)
    return None if found is None else found.coef


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.sweep
def test_eleven_digits_of_the_largest_coefficient(alpha, weighted):
    w = rng.uniform(0.1, 3.0, size=N) if weighted else None
    found = mixed(PLAIN, TARGETS, alpha, w)
    assert_allclose(found, exact(PLAIN, TARGETS, alpha, w), rtol=1e-9, atol=1e-11 * np.abs(found).max())


def test_units_do_not_matter():
    scales = np.logspace(-6, 6, D)
    found = mixed(PLAIN * scales, TARGETS, 0.0)
    assert_allclose(found * scales[:, None], exact(PLAIN, TARGETS, 0.0), rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: X + 1e6,  # means far away
        lambda X: np.hstack([X[:, :-1], X[:, :1] + 1e-9 * X[:, -1:]]),  # two columns all but the same
        lambda X: X * 1e20,  # squares overflow single precision
        lambda X: np.hstack([X[:, :-1], np.zeros((N, 1))]),  # a column of zeros and no penalty
    ],
    ids=["far", "collinear", "huge", "zero"],
)
def test_gives_up_where_single_precision_has_no_digits_and_ridge_is_right_anyway(spoil):
    X = spoil(PLAIN)
    assert mixed(X, TARGETS, 0.0) is None
    scale = np.abs(X - X.mean(axis=0)).max()
    alpha = 1e-3 * scale**2
    model = Ridge(alpha=alpha).fit(X, TARGETS)
    assert_allclose(model.coef_.T * scale, exact(X, TARGETS, alpha) * scale, rtol=1e-6, atol=1e-8)


def test_ridge_takes_it_for_many_columns_only():
    assert pays(as_rows(PLAIN, TARGETS, None))
    assert not pays(as_rows(PLAIN[:, :100], TARGETS, None))
    assert not pays(as_rows(PLAIN[:500], TARGETS[:500], None))  # rows fewer than columns: the dual form
    assert not pays(as_rows(PLAIN.astype(np.float32), TARGETS, None))
    model = Ridge(alpha=2.0).fit(PLAIN, TARGETS)
    assert_allclose(model.coef_.T, exact(PLAIN, TARGETS, 2.0), rtol=1e-9, atol=1e-11)


# --- fewer rows than columns

ABOUT_ZERO = rng.normal(size=(260, 520))
WIDE = ABOUT_ZERO + rng.normal(size=520)
WIDE_TARGETS = WIDE @ rng.normal(size=(520, 2)) + 20 * rng.normal(size=(260, 2))
WEIGHTS = rng.uniform(0.1, 3.0, size=260)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("shift", [0.0, 1e5])
@pytest.mark.sweep
def test_the_dual_form_has_eleven_digits_too(alpha, weights, shift):
    assert mixed_precision_dual(CentredRows(as_rows(WIDE + shift, WIDE_TARGETS, weights), True), alpha) is not None
    model = Ridge(alpha=alpha).fit(WIDE + shift, WIDE_TARGETS, weights)
    assert model.solver_ == "dual"
    wanted = exact(WIDE + shift, WIDE_TARGETS, alpha, weights)
    assert_allclose(model.coef_.T, wanted, rtol=1e-9, atol=(1e-11 + 1e-15 * shift) * np.abs(wanted).max())


@pytest.mark.parametrize(
    "spoil",
    [lambda X: np.vstack([X[:-1], X[:1] * (1 + 1e-9)]), lambda X: X * 1e25, lambda X: X * 1e-30],
    ids=["two rows all but the same", "huge", "tiny"],
)
def test_the_dual_form_gives_up_where_single_precision_has_no_digits(spoil):
    X = spoil(WIDE)
    alpha = 1e-8 * np.abs(X).max() ** 2
    assert mixed_precision_dual(CentredRows(as_rows(X, WIDE_TARGETS, None), True), alpha) is None
    scale = np.abs(X).max()
    found = Ridge(alpha=alpha).fit(X, WIDE_TARGETS).coef_.T
    assert_allclose(found * scale, exact(X / scale, WIDE_TARGETS, alpha / scale**2), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_leave_one_out_residuals_in_single_precision_have_six_digits(weights, fit_intercept):
    alphas = np.array([0.1, 10.0, 1e4])
    rows = as_rows(ABOUT_ZERO, WIDE_TARGETS, weights)
    rough, solution = wide.wide_residuals(rows, fit_intercept, alphas, exact=False)
    errors, exactly = wide.wide_residuals(rows, fit_intercept, alphas)
    assert np.abs(rough - errors).max() > 0  # another way
    assert_allclose(rough, errors, atol=3e-6 * np.abs(errors).max())
    for chosen in (np.array([0, 2]), np.array([1, 1])):
        for mine, theirs in zip(solution(chosen), exactly(chosen), strict=True):
            assert_allclose(mine, theirs, rtol=1e-9, atol=1e-11 * np.abs(theirs).max())


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(("largest", "factorised"), [(2.0, 2), (2e3, 4)], ids=["smooth", "not smooth"])
def test_penalties_between_two_are_factorised_only_where_interpolation_fails(weights, largest, factorised, monkeypatch):
    X, y = np.random.default_rng(1).normal(size=(260, 1560)), WIDE_TARGETS.copy()
    y[:, 1] = 4.0  # does not vary
    alphas, seen = largest * np.array([0.3, 1e-3, 1.0, 1e-2]), []
    monkeypatch.setattr(wide, "inverse_factor", lambda A: (seen.append(len(A)), inverse_factor(A))[1])
    rows = as_rows(X, y, weights)
    rough, solution = wide.wide_residuals(rows, True, alphas, exact=False)
    assert len(seen) == factorised
    errors, exactly = wide.wide_residuals(rows, True, alphas)
    assert_allclose(rough, errors, atol=3e-6 * np.abs(errors).max())
    for a in range(4):
        wanted = exactly(np.array([a, a]))[0]
        assert_allclose(solution(np.array([a, a]))[0], wanted, rtol=1e-9, atol=1e-11 * np.abs(wanted).max())


@pytest.mark.parametrize("per_target", [True, False])
def test_ridge_cv_of_wide_data_equals_scikit_learn(per_target):
    settings = {"alphas": (0.1, 10.0, 1e3, 1e5), "alpha_per_target": per_target}
    ours, theirs = RidgeCV(**settings).fit(WIDE, WIDE_TARGETS), SkRidgeCV(**settings).fit(WIDE, WIDE_TARGETS)
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    # The score is the mean square of residuals (AT)ᵢ / Aᵢᵢ made in single precision, to choose by: products, a factor,
    # its inverse and two products with it, each of which rounds by √n u (rounding errors add up like a random walk)
    # and none of which is magnified where the mean of the inverse's diagonal is small (`_ENOUGH`); a square doubles it.
    steps, unit = 4, np.finfo(np.float32).eps / 2
    assert_allclose(ours.best_score_, theirs.best_score_, rtol=2 * steps * np.sqrt(len(WIDE)) * unit)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    kept = RidgeCV(**settings, store_cv_results=True).fit(WIDE, WIDE_TARGETS)
    assert_allclose(
        kept.cv_results_,
        SkRidgeCV(**settings, store_cv_results=True).fit(WIDE, WIDE_TARGETS).cv_results_,
        rtol=1e-8,
        atol=1e-9,
    )
