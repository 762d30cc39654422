"""HuberRegressor where the scale falls to nothing: against L-BFGS along a path of scales, and by its dual."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear, minimize
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.rows import as_rows
from learnt.engine.threads import single_blas
from learnt.linear_model import HuberRegressor
from learnt.linear_model.robust._huber import _Huber, _start
from learnt.linear_model.robust._huber_scale import SMALLEST, _Rows, gap_bound, scale_by_scale

KINDS = ("noise", "exact", "mostly exact", "outliers", "integers", "repeated rows", "far outliers")


@pytest.fixture(autouse=True)
def one_blas_thread():
    """Matrices are small, and the reference's hand-overs between threads would cost more than its arithmetic."""
    with single_blas():
        yield


def draw(seed):
    """Fewer rows than columns, as many, more; rows that can be met exactly, and wild ones."""
    rng = np.random.default_rng(seed)
    n, d = (int(v) for v in rng.integers((2, 1), 36))
    d = n if seed % 5 == 0 else d
    kind = KINDS[seed % len(KINDS)]
    X = rng.integers(-2, 3, size=(n, d)).astype(float) if kind == "integers" else rng.normal(size=(n, d))
    if kind == "repeated rows":
        X = X[rng.integers(0, max(1, n // 2), n)]
    y = X @ rng.normal(size=d) + 1.0
    if kind not in ("exact", "mostly exact", "integers"):
        y += rng.normal(size=n) * 10.0 ** rng.integers(-4, 1)
    wild = rng.random(n) < 0.2
    if kind in ("outliers", "mostly exact"):
        y[wild] += 30.0 * rng.normal()
    if kind == "far outliers":
        y[wild] += 1e6
    y = np.round(y) if kind == "integers" else y
    w = np.ones(n) if rng.random() < 0.5 else rng.uniform(0.1, 3.0, n)
    setting = {
        "epsilon": float(rng.choice([1.0, 1.01, 1.35, 2.0, 5.0])),
        "alpha": float(rng.choice([0.0, 1e-4, 1e-2, 1.0, 100.0])),
        "fit_intercept": bool(rng.integers(2)),
    }
    return X, y, w, setting


def value_and_gradient(point, X, y, w, epsilon, alpha, fit_intercept):
    b, c, sigma = point[:-2], point[-2], point[-1]
    z = (y - X @ b - c) / sigma
    bent = np.clip(z, -epsilon, epsilon)
    value = np.sum(w * sigma * (1 + bent * (2 * z - bent))) + alpha * b @ b
    by_c = -2 * (w @ bent) if fit_intercept else 0.0
    return value, np.concatenate([-2 * X.T @ (w * bent) + 2 * alpha * b, [by_c, w @ (1 - bent**2)]])


def reference(X, y, w, setting):
    """The lowest objective of L-BFGS-B with the scale let down step by step."""
    spread = np.std(y) or 1.0
    point = np.concatenate([np.zeros(X.shape[1]), [np.median(y) if setting["fit_intercept"] else 0.0, spread]])
    lowest = np.inf
    for least in 10.0 ** np.arange(0.0, -12.0, -2.0):
        found = minimize(
            value_and_gradient,
            point,
            (X, y, w, *setting.values()),
            jac=True,
            method="L-BFGS-B",
            bounds=[(None, None)] * (len(point) - 1) + [(0.3 * least * spread, None)],
            options={"maxiter": 1000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-10, "maxfun": 10**5},
        )
        point, lowest = found.x, min(lowest, found.fun)
    return lowest


def bound_from_below(model, X, y, w, unit):
    """Σ w s y − ‖Σ w s x‖²/4α, which no value of the objective is below if |s| ≤ 2ε, Σ w s² ≤ 4 Σ w and Σ w s = 0."""
    error = y - model.predict(X)
    limit = 2.0 * model.epsilon
    s = np.clip(2.0 * error / model.scale_, -limit, limit)
    met = np.abs(error) <= 1e-7 * unit
    if model.scale_ <= 1e-5 * unit and met.any():  # slopes at corners are not in the errors: find those that balance
        A = np.c_[X, np.full(len(X), 10.0 * model.fit_intercept)].T * w
        wanted = np.append(2.0 * model.alpha * model.coef_, 0.0) - A[:, ~met] @ s[~met]
        s[met] = lsq_linear(A[:, met], wanted, (-limit, limit), tol=1e-14).x
    if model.fit_intercept:
        s -= w @ s / w.sum()
    s *= min(1.0, limit / max(np.abs(s).max(), 1e-300), 2.0 * np.sqrt(w.sum() / max(w @ s**2, 1e-300)))
    pull = X.T @ (w * s)
    return w @ (s * y) - pull @ pull / (4.0 * model.alpha)


def unit_of(y, setting):
    away = np.abs(y - (np.median(y) if setting["fit_intercept"] else 0.0))
    return np.median(away) or away.mean() or 1.0


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.sweep
def test_the_minimum_of_any_shape(seed):
    X, y, w, setting = draw(seed)
    model = HuberRegressor(**setting).fit(X, y, sample_weight=w)  # and no warning, which would be an error
    value, _ = value_and_gradient(np.r_[model.coef_, model.intercept_, model.scale_], X, y, w, *setting.values())
    unit = unit_of(y, setting)
    rounding = 10 * SMALLEST * unit * w.sum()  # the smallest scale there is costs as much
    assert value <= reference(X, y, w, setting) * (1 + 1e-9) + rounding
    if setting["alpha"] >= 1e-2:
        # the slopes are off by as much as the gradient is, tol of the objective, and far outliers multiply that
        assert value - bound_from_below(model, X, y, w, unit) <= 1e-3 * value + rounding


def test_a_bound_from_below_is_below():
    """The test's own certificate, far from any minimum."""
    for seed in range(8):
        X, y, w, setting = draw(seed)
        model = HuberRegressor(**(setting | {"alpha": 1.0})).fit(X, y, sample_weight=w)
        model.coef_ = model.coef_ + np.random.default_rng(seed).normal(size=X.shape[1])
        setting["alpha"] = 1.0
        assert bound_from_below(model, X, y, w, unit_of(y, setting)) <= reference(X, y, w, setting) * (1 + 1e-9)


@pytest.mark.parametrize("shape", [(20, 40), (25, 26), (40, 60)])
def test_fewer_rows_than_columns(shape):
    """Where σ went to 1e-13 at up to 2.8 times the minimum."""
    rng = np.random.default_rng(shape[0])
    X = rng.normal(size=shape)
    y = X @ rng.normal(size=shape[1]) + rng.normal(size=shape[0])
    y[: shape[0] // 6] += 30.0
    w = np.ones(shape[0])
    for alpha in (0.1, 1.0, 10.0):
        setting = {"epsilon": 1.35, "alpha": alpha, "fit_intercept": True}
        model = HuberRegressor(**setting).fit(X, y)
        value, _ = value_and_gradient(np.r_[model.coef_, model.intercept_, model.scale_], X, y, w, *setting.values())
        assert value <= reference(X, y, w, setting) * (1 + 1e-9)


def test_through_all_rows_only_where_no_larger_scale_is_better():
    """ε so large that no row is ever wild: all rows together decide whether σ = 0 is best."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(17, 29))
    y = X @ rng.normal(size=29) + 1.0
    for alpha in (0.1, 1.0, 10.0):
        setting = {"epsilon": 5.0, "alpha": alpha, "fit_intercept": False}
        model = HuberRegressor(**setting).fit(X, y)
        point = np.r_[model.coef_, 0.0, model.scale_]
        value, _ = value_and_gradient(point, X, y, np.ones(17), *setting.values())
        assert value <= reference(X, y, np.ones(17), setting) * (1 + 1e-9) + 1e-9


def posed(seed, **more):
    X, y, w, setting = draw(seed)
    setting |= more
    rows = as_rows(X, y, w)
    start, unit = _start(rows, setting["fit_intercept"])
    return _Huber(rows, setting["epsilon"], setting["alpha"], setting["fit_intercept"], unit), start


@pytest.mark.parametrize("seed", range(6))
def test_the_line_search_is_exact(seed):
    objective, start = posed(seed)
    rng = np.random.default_rng(seed)
    sigma = 0.1
    step = -objective.at(np.append(start[:-1], sigma)).gradient[:-1] + 0.01 * rng.normal(size=len(start) - 1)
    rows = _Rows(objective, sigma)
    found = rows.lowest(start[:-1], step)

    def value(t):
        return objective.at(np.append(start[:-1] + t * step, sigma)).value

    assert all(value(found) <= value(t) * (1 + 1e-12) for t in found * np.linspace(0.0, 3.0, 61))


@pytest.mark.parametrize("seed", range(12))
def test_above_is_an_upper_bound(seed):
    objective, start = posed(seed, alpha=0.5)
    best = scale_by_scale(objective, start, 1e-6, 300)
    assert best.converged
    rng = np.random.default_rng(seed)
    for size in (0.0, 1e-6, 1e-2, 1.0):
        point = np.append(best.coef, best.intercept) + size * rng.normal(size=len(start))
        point[-1] = abs(point[-1]) + SMALLEST
        sums = objective.at(point)
        assert sums.value - best.objective <= gap_bound(objective, point, sums.value, sums.gradient) + 1e-9 * sums.value


def test_wide_sparse_reports_the_distance():
    """Products alone, where the scale falls to nothing: no better than can be proved, and said so."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((2100, 2500), density=0.002, rng=rng, format="csr")
    y = X @ rng.normal(size=2500)
    y[:50] += 20.0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = HuberRegressor(alpha=0.1, max_iter=60).fit(X, y)
    point = np.r_[model.coef_, model.intercept_, model.scale_]
    objective = _Huber(as_rows(X, y, None), 1.35, 0.1, True, 1.0)
    sums = objective.at(point)
    proved = gap_bound(objective, point, sums.value, sums.gradient) <= 1e-5 * sums.value
    assert proved or [w.category for w in said] == [ConvergenceWarning]
