"""Problems whose bounds are large against their kernel: they end, at the minimum, in a time that no bound changes."""

import warnings

import numpy as np
import pytest

from learnt.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from learnt.svm.dual._interior import interior
from learnt.svm.dual._solve import may_move, patience

TOL = 1e-6


def problem(n, seed, top):
    """A dual problem with two sums, bounds of different sizes, and equal rows."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n // 2, 3)), 2, axis=0)
    sign = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    sign[:2] = 1.0, -1.0
    upper = top * rng.uniform(0.5, 2.0, n)
    upper[5] *= 1e4
    upper[7] = 0.0
    sums = np.stack([np.where(sign > 0, 1.0, 0.0), np.where(sign < 0, -1.0, 0.0)])
    Q = (X @ X.T) * sign * sign[:, None]
    return Q, rng.normal(size=n), sign, upper, sums


@pytest.mark.parametrize("top", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_in_order_and_sums_are_kept(top, seed):
    Q, linear, sign, upper, sums = problem(40, seed, top)
    start = 0.3 * np.minimum(upper, top)
    alpha = interior(Q, linear, upper, sums, start, TOL)
    assert (alpha >= 0).all()
    assert (alpha <= upper).all()
    assert alpha[7] == 0.0
    np.testing.assert_allclose(sums @ alpha, sums @ start, rtol=1e-12, atol=1e-12 * upper.sum())
    score = -sign * (Q @ alpha + linear)
    rise, fall = may_move(sign, upper, alpha)
    # slopes are sums of terms as large as α times Q, which is what float64 leaves of them
    room = TOL + 1e-13 * float(np.abs(Q).max() * alpha.sum())
    for own in (sign > 0, sign < 0):
        assert score[own & rise].max() - score[own & fall].min() <= 10 * room


def test_what_has_no_inside_or_no_numbers_is_left_alone():
    Q, linear, _, upper, sums = problem(10, 0, 1.0)
    assert interior(Q, linear, np.zeros(10), sums, np.zeros(10), TOL) is None
    assert interior(Q * 1e300, linear, 1e6 * upper, sums, 0.3 * upper, TOL) is None
    np.testing.assert_allclose(interior(Q, linear, upper, sums, upper, TOL), upper, rtol=1e-9)  # the only point


HEAVY = np.ones(60)
HEAVY[3] = 2e5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = 2.5 + X[:, 0] + 0.1 * RNG.normal(size=60)
CLASSES = Y + RNG.normal(size=60) > 2.5


@pytest.mark.parametrize("tol", [1e-3, 1e-9, 1e-300])
@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("weight", [None, HEAVY])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.sweep(12)
def test_large_bounds_heavy_rows_and_any_tolerance_end(tol, C, weight, kernel):
    """Few steps beyond the patience with a problem of so many variables, and where tol allows it no warning."""
    machines = [SVR(C=C), NuSVR(C=C, nu=0.3), SVC(C=C), OneClassSVM(nu=0.1)]
    machines += [NuSVC(nu=0.3)] if weight is None else []
    for model in machines:
        target = None if isinstance(model, OneClassSVM) else CLASSES if isinstance(model, SVC | NuSVC) else Y
        model.set_params(kernel=kernel, tol=tol)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model.fit(X, target, sample_weight=weight)
        assert np.max(model.n_iter_) <= 12 * patience(120) + 1
        if tol == 1e-3 and C < 1e6:
            assert not [str(w.message) for w in told if "terminated early" in str(w.message)]
            assert model.kkt_residual_ <= tol


@pytest.mark.parametrize("model", [SVR(C=1e3), NuSVR(C=1e3, nu=0.3)])
def test_a_heavy_row_is_met_and_the_others_are_not_forgotten(model):
    predicted = model.set_params(kernel="linear").fit(X, Y, sample_weight=HEAVY).predict(X)
    assert np.abs(predicted - Y).max() < 1.0
    assert abs(predicted[3] - Y[3]) < 0.3


def test_kernels_too_large_for_squares_end_too():
    with pytest.warns(UserWarning, match="terminated early"):
        OneClassSVM(kernel="linear", nu=0.1, tol=1e-9).fit(1e150 * RNG.normal(size=(50, 3)))
