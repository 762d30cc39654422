"""Huber regression, robust to a few outliers."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.matrices import Route, curved_gram, dense, n_stored, on_host, stored, take_rows
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import check_flag, check_number
from learnt.engine.rows import ArrayRows, as_rows, scores
from learnt.engine.rows.blocks import Block, widen
from learnt.engine.schema import ONE, Schema, count, flags, number
from learnt.engine.validation import check_fit
from learnt.engine.weights import present_rows, rows_given, scatter_rows
from learnt.erm.solvers import Sums
from learnt.linear_model._base import LinearPredictor
from learnt.linear_model._schema import LINE, one_intercept_a_target
from learnt.linear_model.glm._newton import Result, newton, row_space, sample
from learnt.linear_model.robust._huber_scale import SMALLEST, gap_bound, quadratic_is_valid, scale_by_scale
from learnt.statistics import far_from_zero

_LARGEST_CURVATURE = 2000  # columns of a sparse table beyond which products with it are quicker than its square
_EXTREME = 1e50  # size of cells whose squares may overflow or vanish
_FEW_CELLS = 1 << 20  # of a sparse table that may be made dense
_SMALL = 0.03  # σ, in the unit of y, below which a small step may be caused by a kink and not by a minimum


class _Huber:
    """The objective over rows at (b, c, σ), divided by Σw and by `unit`, in which y is given."""

    fit_intercept, shift = True, None  # to `newton`, σ is the last variable
    # not strictly convex everywhere: where most rows are outliers, steps need the curvature of a majoriser
    convex = False

    def __init__(self, rows: ArrayRows, epsilon: float, alpha: float, fit_intercept: bool, unit: float) -> None:
        self.rows, self.epsilon, self.intercept, self.unit = rows, epsilon, fit_intercept, unit
        self.weight = float(rows.n_rows if rows.w is None else rows.w.sum())
        self.alpha = 2.0 * alpha * unit / self.weight

    def at(self, point: np.ndarray, curvature: str = "none") -> Sums:
        b, c, sigma = point[:-2], float(point[-2]), float(point[-1])
        if not sigma > 0.1 * SMALLEST:
            return Sums(np.inf, np.zeros(len(point)), None)
        state = (b, c, sigma, self.epsilon, self.unit, curvature)
        value, gradient, *more = self.rows.sum(huber_sums, *state)
        value = float(value) / self.weight + 0.5 * self.alpha * float(b @ b)
        gradient = gradient / self.weight
        gradient[:-2] += self.alpha * b
        if not self.intercept:
            gradient[-2] = 0.0
        if not more:
            return Sums(value, gradient, None)
        H = more[0] / self.weight
        H[np.arange(len(b)), np.arange(len(b))] += self.alpha
        H[-1, -1] += 1e-10 / sigma  # where every row is an outlier, there is no curvature in σ
        if not self.intercept:
            H[-2], H[:, -2] = 0.0, 0.0
            H[-2, -2] = 1.0
        return Sums(value, gradient, H)


def huber_sums(block: Block, b: Any, c: float, sigma: float, epsilon: float, unit: float, curvature: str) -> tuple:
    """Σ w (σ + σ H(e/σ)), its gradient by (b, c, σ) and, if asked for, its curvature, of one block; e = y − xᵀb − c.

    σ H(e/σ) is e²/σ for |e| ≤ εσ and 2ε|e| − ε²σ beyond, where its second derivative is 0; "expected" takes there that
    of the parabola that touches it at e and at −e.
    """
    X = widen(block.X)
    e = widen(block.y) / unit - (X @ b + c)
    w = np.ones(len(e)) if block.w is None else widen(block.w)
    z = e / sigma
    inside = np.abs(z) <= epsilon
    bent = np.clip(z, -epsilon, epsilon)
    value = sigma * float(w @ (1.0 + np.where(inside, z * z, 2 * epsilon * np.abs(z) - epsilon**2)))
    slope = -2.0 * w * bent
    gradient = np.concatenate([X.T @ slope, [slope.sum(), float(w @ (1.0 - bent * bent))]])
    if curvature == "none":
        return value, gradient
    own = np.where(inside, 2.0 * w / sigma, 0.0)
    rate = own if curvature == "own" else np.where(inside, own, 2.0 * epsilon * w / np.maximum(np.abs(e), 1e-300))
    cross = X.T @ np.column_stack([rate, own * bent])
    inner = curved_gram(X, rate)
    # A bound for outliers, up to the σ at which they are none.
    last = own @ (bent * bent) + epsilon**2 * (rate - own).sum()
    corner = np.array([[rate.sum(), own @ bent], [own @ bent, last]])
    return value, gradient, np.block([[inner, cross], [cross.T, corner]])


class _Place(NamedTuple):
    """Where rows are looked at: x′ = (x − mean) / unit, so that squares neither lose digits nor overflow."""

    mean: np.ndarray | None
    unit: float
    alike: bool = False  # columns far from 0 that stay there, as there is no constant: nearly multiples of each other

    def moved(self, X: Any) -> Any:
        if self.mean is None and self.unit == 1.0:
            return X
        X = dense(X).astype(np.float64)
        return (X if self.mean is None else X - self.mean) / self.unit

    def penalty(self, alpha: float) -> float:
        """The strength of the penalty there: beyond a bound it makes no difference."""
        return min(alpha / self.unit / self.unit, 1e300)

    def of_model(self, coef: np.ndarray, intercept: float) -> tuple[np.ndarray, float]:
        """(b′, c′) of coefficients of the rows as they were given."""
        return coef * self.unit, intercept + (0.0 if self.mean is None else float(self.mean @ coef))

    def given(self, found: Result) -> Result:
        """The coefficients of the rows as they were given; `coef` of a result ends with the constant."""
        b = found.coef[:-1] / self.unit
        c = found.coef[-1] - (0.0 if self.mean is None else float(self.mean @ b))
        return found._replace(coef=np.append(b, c))


def _place(X: Any, fit_intercept: bool) -> _Place:
    """Rows are moved where their means are far from 0 and a constant takes that up, or their unit is extreme."""
    if not on_host(X) or X.size == 0 or (n_stored(X) < X.size and X.size > _FEW_CELLS):
        return _Place(None, 1.0)
    some = dense(take_rows(X, slice(0, 256))).astype(np.float64)
    largest = float(np.abs(stored(X)).max(initial=0.0))
    extreme = largest > 0 and not 1.0 / _EXTREME < largest < _EXTREME
    unit = 2.0 ** np.floor(np.log2(largest)) if extreme else 1.0
    mean = some.mean(axis=0)
    far = far_from_zero(mean / unit, some / unit)
    return _Place(mean if far and fit_intercept else None, float(unit), far and not fit_intercept)


class HuberRegressor(LinearPredictor, RegressorMixin, Estimator):
    """Squared loss for small errors, absolute loss for large ones, with the scale σ found along the way.

        min over b, c, σ of  Σᵢ wᵢ (σ + σ H((yᵢ − xᵢᵀb − c)/σ)) + α‖b‖²,   H(z) = z² for |z| ≤ ε, 2ε|z| − ε² beyond

    The first choice for outliers in y: nearly as precise as least squares where there are none, and hardly moved by a
    few. Rows with wild values in X (leverage points) still move it; `RANSACRegressor` and `TheilSenRegressor` withstand
    these.

    Parameters
    ----------
    epsilon : float, default=1.35
        How many σ an error may have before its row counts as an outlier; at least 1. Smaller values are more robust;
        1.35 keeps 95 % of the precision of least squares for normal noise.
    max_iter : int, default=100
        The most steps over all rows. Raise it where a ConvergenceWarning says so.
    alpha : float, default=0.0001
        α, the strength of the squared penalty, at least 0: larger values shrink the coefficients more, against
        overfitting.
    warm_start : bool, default=False
        Whether to start from the last `fit`, if it had as many columns.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    tol : float, default=1e-5
        The objective ends within about tol² of its minimum, relatively (tol for wide sparse tables).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    scale_ : float
        σ, the scale of the errors that are no outliers.
    n_iter_ : int
        Steps over all rows.
    outliers_ : ndarray of bool of shape (n_samples,)
        Which rows have errors beyond εσ; none of weight 0.

    See Also
    --------
    QuantileRegressor : With quantile=0.5 least absolute errors, and other quantiles.
    RANSACRegressor : Withstands outliers in X too, and many of them.
    TheilSenRegressor : Withstands up to 29 % of outliers, for few columns.
    IterativelyReweightedLeastSquares : Gives every row a variance of its own.

    Notes
    -----
    The problem is convex; Newton's method solves it on sums over rows, started from a sample: O(n d²) a step for n rows
    and d columns. The result does not depend on the unit of y, except through α. Where σ = 0 is best, as enough rows
    can be met exactly, `scale_` is 1e-11 of the spread of y.

    References
    ----------
    .. [1] P. J. Huber and E. M. Ronchetti, "Robust Statistics", second edition, Wiley, 2009.
    .. [2] A. B. Owen, "A Robust Hybrid of Lasso and Ridge Regression", Contemporary Mathematics 443, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2.0 * X[:, 0] + 1.0 + 0.1 * (-1.0) ** np.arange(10)
    >>> y[3] = 100.0
    >>> model = HuberRegressor().fit(X, y)
    >>> model.coef_.round(1), bool(model.outliers_[3])
    (array([2.]), True)
    """

    __learnt_schema__ = Schema(
        params={"epsilon": number(1)},
        state={**LINE, "scale_": ONE},
        extra={"n_iter_": count(), "outliers_": flags(None)},
        rule=one_intercept_a_target,
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(quick={"tol": 1e-9}, warmup=(Warm("amount"),), weight_unit_free=False)

    outliers_: np.ndarray

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int = 100,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-05,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HuberRegressor:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none."""
        check_number(self, "epsilon", 1.0)
        check_number(self, "max_iter", 0, integer=True)
        check_number(self, "alpha", 0)
        check_flag(self, "warm_start", "fit_intercept")
        check_number(self, "tol", 0)
        present = present_rows(sample_weight, X)
        X, y, w = check_fit(self, X, y, sample_weight, target="number")
        place = _place(X, self.fit_intercept)
        result, unit = self._minimise(as_rows(place.moved(X), y, w), place)
        self._record(place.given(result), unit, X, y)
        self.outliers_ = scatter_rows(self.outliers_, present, rows_given(sample_weight), False)
        return self

    def _minimise(self, rows: Any, place: _Place) -> tuple[Result, float]:
        again = self.warm_start and hasattr(self, "coef_") and self.coef_.shape == (rows.n_features,)
        start, unit = _start(rows, self.fit_intercept)
        if again:
            b, c = place.of_model(self.coef_, self.intercept_)
            start = np.concatenate([b, [c, max(self.scale_, unit * 1e-6)]]) / unit
        alpha = place.penalty(float(self.alpha))
        setting = (float(self.epsilon), alpha, self.fit_intercept, unit)
        limits = (min(max(float(self.tol), 1e-12), 1e-3), int(self.max_iter))
        few = rows.n_rows < min(rows.n_features + int(self.fit_intercept), _LARGEST_CURVATURE)
        if few or (place.alike and rows.n_features <= _LARGEST_CURVATURE):
            return _in_row_space(rows, setting, start, limits), unit
        if rows.route is Route.SPARSE and rows.n_features > _LARGEST_CURVATURE:
            return _by_products(_Huber(rows, *setting), start, *limits), unit
        some = None if again else sample(rows)
        if some is None:
            return _newton_or_scales(_Huber(rows, *setting), start, limits), unit
        share = alpha * some.n_rows / rows.n_rows
        of_sample, curvature = newton(_Huber(some, setting[0], share, *setting[2:]), start, limits[0], 50)
        point = np.append(of_sample.coef, of_sample.intercept)
        return _newton_or_scales(_Huber(rows, *setting), point, limits, curvature), unit

    def _record(self, result: Result, unit: float, X: Any, y: np.ndarray) -> None:
        kind = X.dtype.type
        self.coef_ = (result.coef[:-1] * unit).astype(X.dtype)
        self.intercept_ = kind(result.coef[-1] * unit) if self.fit_intercept else 0.0
        self.scale_ = kind(result.intercept * unit)
        self.n_iter_ = result.n_iter
        error = np.abs(y - scores(X, self.coef_, self.intercept_))
        self.outliers_ = error > self.scale_ * self.epsilon
        if not result.converged:
            warnings.warn(
                f"HuberRegressor stopped after {result.n_iter} iterations with the objective about "
                f"{min(0.5 * result.decrement / max(abs(result.objective), 1e-300), 1.0):.1e} of itself above its "
                "minimum; raise max_iter, or scale the data.",
                ConvergenceWarning,
                stacklevel=3,
            )


def _start(rows: Any, fit_intercept: bool) -> tuple[np.ndarray, float]:
    """No slope, the median of y and how far the middle half is from it; and the unit that y is measured in."""
    y = rows.y if rows.w is None else rows.y[rows.w > 0]
    y = np.asarray(y, dtype=np.float64)
    centre = float(np.median(y)) if fit_intercept else 0.0
    away = np.abs(y - centre)
    unit = float(np.median(away)) or float(away.mean()) or max(abs(centre), 1.0)
    return np.concatenate([np.zeros(rows.n_features), [centre / unit, 1.5]]), unit


def _newton_or_scales(objective: _Huber, point: np.ndarray, limits: tuple[float, int], curvature: Any = None) -> Result:
    """Newton's method in all variables while its steps are reliable; for one σ after the other where σ is small."""
    result, last = newton(objective, point, *limits, lambda point, value: point[-1] < _SMALL, curvature)
    end, left = np.append(result.coef, result.intercept), limits[1] - result.n_iter
    if result.intercept > _SMALL:
        ended = result.converged and quadratic_is_valid(
            objective, last.solve(objective.at(end).gradient), result.intercept
        )
        if ended or left <= 0:
            return result
    other = scale_by_scale(objective, end, limits[0], left)
    return other._replace(n_iter=result.n_iter + other.n_iter)


def _in_row_space(rows: Any, setting: tuple[Any, ...], start: np.ndarray, limits: tuple[float, int]) -> Result:
    """b = Qu is a combination of rows, X = LQᵀ, and only u is to be found: less, if there are fewer rows than columns.

    Q is a rotation, which no penalty notices, and the columns of L are directions of X, the longest first: of columns
    that are nearly the same, what they differ in has one of its own.
    """
    Q, L = row_space(rows.X)
    reduced = ArrayRows(L, rows.y, rows.w)
    objective = _Huber(reduced, *setting)
    through = _through_all_rows(objective) if reduced.n_rows <= L.shape[1] + 1 else None
    if through is not None:
        result = through
    else:
        point = np.append(Q.T @ start[:-2], start[-2:])
        result = _newton_or_scales(objective, point, limits)
    return result._replace(coef=np.append(Q @ result.coef[:-1], result.coef[-1]))


def _through_all_rows(objective: _Huber) -> Result | None:
    """The minimum-norm b that fits all rows exactly, where that is the minimum, with σ nearly 0; None otherwise.

    With b = Xᵀa it is the minimum if every multiplier is within the slope of the loss, α|aᵢ| ≤ εwᵢ, and a larger σ does
    not lower the objective: Σ (αaᵢ)²/wᵢ ≤ Σ wᵢ.
    """
    rows = objective.rows
    w = np.ones(rows.n_rows) if rows.w is None else rows.w
    weighted = w > 0
    X, y = rows.X[weighted], rows.y[weighted] / objective.unit
    n = len(y)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = X @ X.T
    if objective.intercept:
        system[n, :n] = system[:n, n] = np.sqrt(np.trace(system) / n)
    found, *_ = np.linalg.lstsq(system, np.append(y, 0.0), rcond=1e-13)
    a, c = found[:n], found[n] * system[0, n]
    b = X.T @ a
    exact = np.abs(y - X @ b - c).max() <= 1e-9 * max(np.abs(y).max(), 1.0)
    pull = 0.5 * objective.alpha * objective.weight * np.abs(a)
    w = w[weighted]
    if not exact or np.any(pull > objective.epsilon * w) or pull @ (pull / w) > w.sum():
        return None
    value = 0.5 * objective.alpha * float(b @ b)
    return Result(np.append(b, c), SMALLEST, value, 0.0, 1, True)


def _by_products(objective: _Huber, start: np.ndarray, tol: float, max_iter: int) -> Result:
    """L-BFGS, for too many columns for a Hessian.

    Σ is lowered step by step, since a small σ means a large curvature.
    """
    options = {"maxls": 50, "maxcor": 20, "gtol": tol * 0.1, "ftol": 64 * np.finfo(float).eps}
    point, n_iter, least = start, 0, 0.1
    while True:
        found = minimize(
            lambda point: objective.at(point)[:2],
            point,
            jac=True,
            method="L-BFGS-B",
            bounds=[(None, None)] * (len(start) - 1) + [(least, None)],
            options={**options, "maxiter": max(max_iter - n_iter, 0)},
        )
        point, n_iter = found.x, n_iter + int(found.nit)
        sigma, gap = float(point[-1]), gap_bound(objective, point, found.fun, found.jac)
        if sigma > least or gap <= tol**2 * found.fun or least <= SMALLEST or n_iter >= max_iter:
            break
        least = max(0.1 * least, SMALLEST)
    converged = bool(found.success) if sigma > _SMALL else gap <= tol * found.fun
    return Result(point[:-1], sigma, float(found.fun), 2.0 * gap, n_iter, converged)
