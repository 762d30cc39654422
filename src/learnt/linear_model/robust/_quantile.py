"""Linear regression of a quantile."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.matrices import dense
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.schema import Schema, count, number
from learnt.engine.validation import check_fit
from learnt.linear_model._base import LinearPredictor
from learnt.linear_model._schema import LINE, one_intercept_a_target
from learnt.linear_model.robust._quantile_solver import Optimum, minimise, pinball

_LARGEST_CELLS = 1 << 26  # cells of a sparse table made dense
_FEW_CELLS = 1 << 18  # of a table of which both methods may be tried
_UNCERTAIN = 1e-6  # the gap, as a share of the objective, from which the other method is tried too
_MOST_COLUMNS = 1500  # beyond, a simplex method with a sparse matrix is quicker


class QuantileRegressor(LinearPredictor, RegressorMixin, Estimator):
    """The line below which a share q of y lies:  min over b, c of  1/Σw Σᵢ wᵢ ρ(yᵢ − xᵢᵀb − c) + α‖b‖₁.

        ρ(e) = q e for e ≥ 0,  (q − 1) e for e < 0

    For medians, which outliers in y do not move, and for prediction intervals: a model of quantile 0.05 and one of 0.95
    enclose 90 % of new rows, also where the spread of y depends on x.

    Parameters
    ----------
    quantile : float, default=0.5
        q, strictly between 0 and 1; 0.5 is the median, and so least absolute errors.
    alpha : float, default=1.0
        α, the strength of the L1 penalty, at least 0: larger values set more coefficients to 0. The default is strong;
        take 0 for plain quantile regression.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    solver : {"highs", "highs-ds", "highs-ipm"}, default="highs"
        How the linear programme is solved.

        - "highs" lets the shape of X decide: an interior-point method of our own, or SciPy's HiGHS beyond 1500 columns.
        - "highs-ds" is HiGHS with the dual simplex method.
        - "highs-ipm" is HiGHS with its interior-point method.
    solver_options : dict or None, default=None
        Options of `scipy.optimize.linprog`; where there are any, HiGHS is used.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    n_iter_ : int
        Iterations of the solver.
    gap_ : float
        The objective is at most this much above its minimum (NaN from HiGHS).

    See Also
    --------
    HuberRegressor : Robust regression of the mean, which uses more of each row.
    LinearRegression : Prediction intervals for normal noise of one variance.
    learnt.ensemble.HistGradientBoostingRegressor : Quantiles by trees, with loss="quantile".

    Notes
    -----
    The linear programme is solved exactly: an interior-point method on the few columns leads to a vertex, with a
    duality gap that says how far from the minimum it can be at most. An iteration costs O(n d²) for n rows and d
    columns. Lines of several quantiles may cross.

    References
    ----------
    .. [1] R. Koenker and G. Bassett, "Regression Quantiles", Econometrica 46(1), 1978.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(100.0)[:, None]
    >>> y = X[:, 0] + np.arange(100) % 10
    >>> model = QuantileRegressor(quantile=0.8, alpha=0).fit(X, y)
    >>> model.coef_.round(3), float(np.mean(y <= model.predict(X) + 1e-9))
    (array([1.]), 0.8)
    """

    __learnt_schema__ = Schema(
        state=LINE, extra={"n_iter_": count(), "gap_": number(finite=False)}, rule=one_intercept_a_target
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(quick={"alpha": 0.01}, warmup=(Warm("amount"),))

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "highs",
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> QuantileRegressor:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none."""
        self._check_parameters()
        X, y, w = check_fit(self, X, y, sample_weight, target="number")
        dtype = X.dtype
        w = np.ones(X.shape[0]) if w is None else w
        kept = np.flatnonzero(w)
        if kept.size < len(w):
            X, y, w = X[kept], y[kept], w[kept]
        w = w / w.sum()
        y = y.astype(np.float64)
        small = X.shape[1] <= _MOST_COLUMNS and X.shape[0] * X.shape[1] <= _LARGEST_CELLS
        if self.solver == "highs" and self.solver_options is None and small:
            coef, intercept, found = self._interior(X, y, w)
            if found.gap > _UNCERTAIN * found.objective and X.shape[0] * X.shape[1] <= _FEW_CELLS:
                # Columns that nearly depend on each other: the simplex method keeps more of their digits.
                other = self._simplex(X, y, w)
                if other[2].objective < self._objective(X, y, w, coef, intercept):
                    coef, intercept, found = other
        else:
            coef, intercept, found = self._simplex(X, y, w)
        self.coef_ = coef.astype(dtype)
        self.intercept_ = dtype.type(intercept) if self.fit_intercept else 0.0
        self.n_iter_, self.gap_ = found.n_iter, found.gap
        return self

    def _check_parameters(self) -> None:
        check_number(self, "quantile", 0, 1, open_low=True)
        if self.quantile == 1:
            raise ParameterError("The 'quantile' parameter of QuantileRegressor must be less than 1. Got 1 instead.")
        check_number(self, "alpha", 0)
        check_flag(self, "fit_intercept")
        check_choice(self, "solver", ("highs", "highs-ds", "highs-ipm"))
        if not (self.solver_options is None or isinstance(self.solver_options, dict)):
            raise ParameterError(
                f"The 'solver_options' parameter of QuantileRegressor must be a dict or None. "
                f"Got {self.solver_options!r} instead."
            )

    def _interior(self, X: Any, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float, Optimum]:
        """In units where columns and y have spread 1, so that their scales do not matter to the method."""
        Z = dense(X).astype(np.float64)
        n, d = Z.shape
        mean = Z.mean(axis=0) if self.fit_intercept else np.zeros(d)
        Z = Z - mean
        scale = np.abs(Z).max(axis=0, initial=0.0)
        constant = scale <= 1e-13 * np.abs(mean)
        Z[:, constant], scale[constant] = 0.0, 1.0
        Z /= scale
        spread = np.sqrt(np.einsum("ij,ij->j", Z, Z) / n)
        spread[constant] = 1.0
        Z, scale = Z / spread, scale * spread
        centre = float(np.median(y)) if self.fit_intercept else 0.0
        unit = float(np.abs(y - centre).mean()) or 1.0
        design = np.column_stack([Z, np.ones(n)]) if self.fit_intercept else Z
        penalty, idle = self._penalties(Z, w, scale)
        found = minimise(design, (y - centre) / unit, w * self.quantile, w * (1 - self.quantile), penalty)
        coef = np.where(idle, 0.0, found.v[:d]) * unit / scale
        intercept = float(found.v[-1]) * unit + centre - float(mean @ coef) if self.fit_intercept else 0.0
        coef, intercept = self._in_given_units(X, y, coef, intercept, found.met)
        return coef, intercept, found._replace(gap=found.gap * unit, objective=found.objective * unit)

    def _penalties(self, Z: np.ndarray, w: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """In the columns' own units, one for each unknown; and which columns are left out by theirs.

        The loss changes by Σ w max(q, 1 − q)|z| at most for a step of 1: a penalty above that keeps a coefficient at 0,
        however large it is, and a penalty that is nothing beside it has no effect. What the method gets is in between.
        """
        most = max(self.quantile, 1.0 - self.quantile) * (w @ np.abs(Z))
        with np.errstate(over="ignore"):
            penalty = self.alpha / scale
        idle = (penalty > most) | (most == 0)
        penalty = np.where(idle, np.where(most == 0, 1.0, 2.0 * most), np.where(penalty < 1e-15 * most, 0.0, penalty))
        return np.append(penalty, 0.0) if self.fit_intercept else penalty, idle

    def _in_given_units(
        self, X: Any, y: np.ndarray, coef: np.ndarray, intercept: float, met: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """The same vertex from the rows as they were given.

        So that there are no rounding errors of a change of units.
        """
        kept = np.flatnonzero(coef)
        if met.size != kept.size + int(self.fit_intercept):
            return coef, intercept
        rows = X[met][:, kept]
        rows = dense(rows).astype(np.float64)
        system = np.column_stack([rows, np.ones(met.size)]) if self.fit_intercept else rows
        try:
            exact = np.linalg.solve(system, y[met])
        except np.linalg.LinAlgError:
            return coef, intercept
        close = np.append(coef[kept], intercept) if self.fit_intercept else coef[kept]
        if not np.allclose(exact, close, rtol=1e-6, atol=1e-9 * np.abs(close).max(initial=0.0)):
            return coef, intercept
        found = np.zeros_like(coef)
        found[kept] = exact[: kept.size]
        return found, float(exact[-1]) if self.fit_intercept else 0.0

    def _simplex(self, X: Any, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float, Optimum]:
        """The programme as SciPy takes it: b⁺, b⁻, c⁺, c⁻, e⁺, e⁻ ≥ 0 with Xb + c + e = y."""
        n, d = X.shape
        edge = [np.ones((n, 1)), -np.ones((n, 1))] if self.fit_intercept else []
        eye = sparse.eye_array(n, format="csc")
        wide = sparse.csc_array(X)
        A = sparse.hstack([wide, -wide, *edge, eye, -eye], format="csc")
        costs = [np.full(2 * d, float(self.alpha)), np.zeros(len(edge)), w * self.quantile, w * (1 - self.quantile)]
        found = linprog(np.concatenate(costs), A_eq=A, b_eq=y, method=self.solver, options=self.solver_options)
        if found.x is None or not found.success:
            warnings.warn(
                f"Linear programming for QuantileRegressor did not succeed ({found.message.strip()}); "
                "change solver_options, or leave them out.".replace("\n", " "),
                ConvergenceWarning,
                stacklevel=4,
            )
        solution = np.zeros(A.shape[1]) if found.x is None else found.x
        coef = solution[:d] - solution[d : 2 * d]
        intercept = float(solution[2 * d] - solution[2 * d + 1]) if self.fit_intercept else 0.0
        value = self._objective(X, y, w, coef, intercept)
        return coef, intercept, Optimum(coef, value, float("nan"), int(found.nit))

    def _objective(self, X: Any, y: np.ndarray, w: np.ndarray, coef: np.ndarray, intercept: float) -> float:
        error = y - (X @ coef + intercept)
        loss = pinball(error, w * self.quantile, w * (1 - self.quantile))
        return loss + float(self.alpha) * float(np.abs(coef).sum())
