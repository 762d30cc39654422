"""Rows of 200,000 times the weight of others, and bounds far above what coefficients come to."""

import numpy as np
import pytest

from learnt.svm import SVR, NuSVR
from learnt.svm.dual._interior import interior_of_twins

HEAVY = 2e5


def table(n, seed):
    """Columns in units of their own, amounts, and weights of 1 but for one row."""
    r = np.random.default_rng(seed)
    X = r.normal(size=(n, 4))
    y = X @ [1.0, -2.0, 0.5, 1.0] + 0.1 * r.normal(size=n)
    w = np.ones(n)
    w[r.integers(n)] = HEAVY
    return X * [1.0, 1e-1, 1e2, 1e3], y, w


def primal(model, X, y, C, w, epsilon=0.0):
    """½‖coef‖² + C Σ w max(0, |miss| − ε), and ν's price of ε left out, since ε is 0 here."""
    plane = model.coef_.ravel()
    return 0.5 * plane @ plane + C * w @ np.maximum(np.abs(y - model.predict(X)) - epsilon, 0.0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_nu_regression_with_a_heavy_row_is_that_without_epsilon(C, seed):
    """Half of what ν asks for is more than all other rows may have, so that ε has to be 0."""
    X, y, w = table(30, seed)
    found = NuSVR(kernel="linear", C=C, tol=1e-5).fit(X, y, w)
    other = SVR(kernel="linear", C=C, tol=1e-5, epsilon=0.0).fit(X, y, w)
    np.testing.assert_array_equal(found.predict(X), other.predict(X))
    assert found.fit_status_ == 0
    assert abs(found.dual_coef_.sum()) <= 1e-12 * np.abs(found.dual_coef_).max() * len(X)
    lost = found.dual_coef_[0] @ y[found.support_] - 0.5 * found.coef_[0] @ found.coef_[0]  # the dual objective
    assert primal(found, X, y, C, w) <= lost + 2 * 1e-5 * C * w.sum()  # what a violation of tol on each row costs


@pytest.mark.parametrize("seed", range(5))
def test_variables_that_share_what_nu_asks_for_leave_coefficients_their_digits(seed):
    """Many rows are heavy and the targets a plane: ε is 0 though the heavy rows alone come to what ν asks for."""
    X, _, w = table(60, seed)
    y = X @ [1.0, 20.0, 0.01, 1e-3]
    w[::2] = HEAVY
    found = NuSVR(kernel="linear", C=10.0, tol=1e-4).fit(X, y, w)
    np.testing.assert_allclose(found.predict(X), y, atol=1e-4)  # tol, and what is left of it by the other rows
    assert abs(found.dual_coef_.sum()) <= 1e-9 * np.abs(found.dual_coef_).sum()


@pytest.mark.parametrize("far", [1.0, 1e4, 1e8])
def test_bounds_of_an_interior_point_come_down_to_the_coefficients(far):
    """Three rows on a line, met exactly: the coefficients do not depend on how much more they might be."""
    x = np.array([0.0, 1.0, 3.0])
    K, y, sign = np.outer(x, x), 2.0 * x, np.repeat([1.0, -1.0], 3)
    Q = np.tile(K, (2, 2)) * sign * sign[:, None]
    upper = np.full(6, 4.0 * far)
    alpha = interior_of_twins(Q, -sign * np.tile(y, 2), upper, sign[None], 1e-8)
    coef = alpha[:3] - alpha[3:]
    np.testing.assert_allclose(coef @ x, 2.0, rtol=1e-7)
    np.testing.assert_allclose(coef.sum(), 0.0, atol=1e-9)
    assert not np.minimum(alpha[:3], alpha[3:]).any()


def test_where_no_constant_fits_all_rows_it_is_the_one_that_costs_least():
    """Targets closer to one another than tol leave α at 0; the heavy one has the constant."""
    y = np.array([1.0, 1.0002, 1.0004, 1.0006])
    model = SVR(epsilon=0.0, tol=1e-3).fit(np.arange(4.0)[:, None], y, [1.0, 1.0, HEAVY, 1.0])
    np.testing.assert_array_equal(model.predict([[0.5]]), y[2])
