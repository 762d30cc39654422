"""Non-linear least squares."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from learnt.engine import progress
from learnt.engine.estimator import Estimator
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import ParameterError
from learnt.engine.schema import FEATURES, Schema, choice, count, flag, listof, none, number, real, text
from learnt.engine.validation import check_fit, check_predict
from learnt.linear_model.nonlinear._inference import FitSummary, covariance
from learnt.linear_model.nonlinear._parameters import check_bounds, check_settings, check_start
from learnt.linear_model.nonlinear._problem import Problem, linear, model_values
from learnt.linear_model.nonlinear._solver import Outcome, fit_curve


class NonlinearLeastSquares(progress.CallbackSupportMixin, RegressorMixin, Estimator):
    """Parameters of any model by least squares:  min over b of  Σᵢ wᵢ (yᵢ − f(xᵢ; b))².

    For curves whose form is known, such as decays, growth and dose response: it finds the parameters, with standard
    errors and intervals. The model is replaced by its tangent at b, a damped linear least-squares problem gives the
    next b, and the damping follows how well the tangent foretold the sum of squares.

    Parameters
    ----------
    model : callable or None, default=None
        `model(X, b)` returns one number for each row of X, for the parameters b. X comes as it is passed to `fit`, two-
        dimensional or, for a single variable, one-dimensional. None is the linear model, b[0] x₀ + b[1] x₁ + … + b[-1].
    start : array-like of shape (n_parameters,), dict or None, default=None
        Where to start; a dict `{name: value}` also names the parameters. None, for the linear model only, is zeros. The
        fit ends in the minimum that is downhill from here: guess the order of magnitude at least.
    method : {"lm", "levenberg", "gauss-newton"}, default="lm"
        How steps are damped.

        - "lm": in units of the Jacobian's columns (Levenberg–Marquardt), whatever the units of the parameters.
        - "levenberg": in units of the parameters.
        - "gauss-newton": not, only shortened; quick near the minimum.
    jac : {None, "2-point", "3-point", "torch", "jax"} or callable, default=None
        The derivatives of the model.

        - None takes forward differences on the way and central ones near the end.
        - "2-point" takes forward differences, "3-point" central ones, throughout.
        - "torch" and "jax" differentiate a model that is written with that library's functions.
        - A callable `jac(X, b)` returns an array of shape (n_rows, n_parameters).
    bounds : tuple, dict or None, default=None
        (lower, upper), each a number or an array with one for each parameter; ±inf where there is none. A dict
        `{name: (lower, upper)}` bounds those that it names, where `start` names them. None for no bounds.
    tol : float, default=1e-8
        The fit has converged when the part of the residual that a change of the parameters could still remove is at
        most this part of its length.
    max_iter : int, default=1000
        Trial steps, at most.

    Attributes
    ----------
    coef_ : ndarray of shape (n_parameters,)
        The parameters b.
    stderr_ : ndarray of shape (n_parameters,)
        Their standard errors: NaN for a parameter on a bound and where there are no more rows than parameters,
        infinity for one that the data do not determine. Weights are taken as 1 / variance, up to a common factor.
    covariance_ : ndarray of shape (n_parameters, n_parameters)
        Covariance of the parameters, σ² (JᵀWJ)⁻¹.
    sigma_ : float
        Standard deviation of the residuals: σ² = Σ w (y − f)² / (rows − parameters).
    cost_ : float
        The sum of squares reached, Σ w (y − f)².
    dof_ : int
        Degrees of freedom: rows less parameters.
    r2_ : float
        Share of the (weighted) variance of y that the model explains.
    n_iter_ : int
        Trial steps.
    n_evaluations_ : int
        Calls of the model.
    converged_ : bool
        Whether `tol` was reached, or as much as rounding allows.
    optimality_ : float
        What is compared with `tol`.
    message_ : str
        How the fit ended.
    parameter_names_ : list of str
        The names of the parameters, from `start`, or b0, b1, …

    See Also
    --------
    LinearRegression : For models that are linear in their parameters, without a start.
    learnt.gaussian_process.GaussianProcessRegressor : For curves whose form is not known.
    learnt.kernel_ridge.KernelRidge : Smooth functions of any form, by kernels.

    Notes
    -----
    A step solves a linear least-squares problem, O(n p²) for n rows and p parameters, and calls the model once, and p
    times more for differences. Standard errors are those of the tangent at the minimum: good where the model is nearly
    linear within them.

    References
    ----------
    .. [1] K. Levenberg, "A Method for the Solution of Certain Non-Linear Problems in Least Squares", Quarterly of
           Applied Mathematics 2(2), 1944.
    .. [2] D. W. Marquardt, "An Algorithm for Least-Squares Estimation of Nonlinear Parameters", Journal of the Society
           for Industrial and Applied Mathematics 11(2), 1963.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(6.0)[:, None]
    >>> y = 3.0 * np.exp(-0.5 * X[:, 0])
    >>> decay = NonlinearLeastSquares(lambda X, b: b[0] * np.exp(-b[1] * X[:, 0]), start=[1.0, 1.0])
    >>> decay.fit(X, y).coef_
    array([3. , 0.5])
    """

    __learnt_schema__ = Schema(
        params={"model": none, "jac": choice(None, "2-point", "3-point", "torch", "jax")},
        state={
            **FEATURES,
            "coef_": real("p"),
            "stderr_": real("p", finite=False),
            "covariance_": real("p", "p", finite=False),
            "sigma_": number(finite=False),
            "dof_": count(),
            "r2_": number(finite=False),
            "message_": text,
            "parameter_names_": listof(text, "p"),
        },
        extra={
            "cost_": number(0),
            "n_iter_": count(),
            "n_evaluations_": count(),
            "optimality_": number(0),
            "converged_": flag,
        },
    )

    _flat = False  # whether X had one dimension in `fit`

    def __init__(
        self,
        model: Any = None,
        start: Any = None,
        *,
        method: str = "lm",
        jac: Any = None,
        bounds: Any = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.model = model
        self.start = start
        self.method = method
        self.jac = jac
        self.bounds = bounds
        self.tol = tol
        self.max_iter = max_iter

    @progress.with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NonlinearLeastSquares:
        """Fit the parameters; a row of weight 2 counts as two rows, one of weight 0 as none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples,)
            The rows to learn from; one-dimensional for a single variable.
        """
        check_settings(self)
        self.__dict__.pop("_flat", None)
        if self.model is not None and _is_flat(X):
            self._flat = True
        X, y, w = check_fit(self, self._table(X), y, sample_weight, target="number")
        names, start = check_start(self, X.shape[1])
        problem = self._make_problem(X, y, w, check_bounds(self.bounds, start, names))
        n_rows = len(problem.y)
        if n_rows < start.size and self.model is not None:  # the linear model has a minimum-norm solution
            raise ValueError(
                f"NonlinearLeastSquares needs at least as many rows as parameters: n_samples = {n_rows} rows of "
                f"positive weight and {start.size} parameters; add rows, or hold some parameters fixed in the model."
            )
        outcome = self._solve(problem, start, X, y)
        self._record(outcome, problem, names)
        self._warn(outcome)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The model's value for every row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples,)
            Rows to predict, in the form of those it was fitted to.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The predicted numbers.
        """
        X = check_predict(self, self._table(X))
        values = model_values(self.model or linear, self.jac)
        return values(self._for_model(X), self.coef_).astype(X.dtype, copy=False)

    def predict_interval(self, X: Any, coverage: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """An interval for a new y at every row of X, from the tangent at the fit:  f ± t √(σ² + gᵀ C g).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples,)
            Rows to predict, in the form of those it was fitted to.
        coverage : float, default=0.95
            The probability with which the interval holds a new y, between 0 and 1.

        Returns
        -------
        lower : ndarray of shape (n_samples,)
            The lower ends.
        upper : ndarray of shape (n_samples,)
            The upper ends.
        """
        X = check_predict(self, self._table(X))
        _check_share("coverage", coverage)
        bounds = check_bounds(self.bounds, self.coef_, self.parameter_names_)
        problem = self._make_problem(X, np.zeros(len(X)), None, bounds)
        with np.errstate(all="ignore"):
            negative = problem.start(self.coef_)
            slopes = problem.tangent(self.coef_, negative, np.where(self.coef_ == 0.0, 1.0, 0.0), True)[:, :-1]
        known = np.isfinite(self.stderr_)
        spread = np.einsum("ij,jk,ik->i", slopes[:, known], self.covariance_[np.ix_(known, known)], slopes[:, known])
        half = stats.t.ppf(0.5 + coverage / 2, max(self.dof_, 1)) * np.sqrt(self.sigma_ * self.sigma_ + spread)
        return -negative - half, -negative + half

    def summary(self, level: float = 0.95) -> FitSummary:
        """Estimates, standard errors, t and p values and intervals; `print` shows the table.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the confidence intervals, between 0 and 1.

        Returns
        -------
        summary : FitSummary
            Arrays `estimate`, `stderr`, `t`, `p` and `interval`, and numbers `dof`, `sigma` and `r2`.
        """
        check_is_fitted(self)
        _check_share("level", level)
        return FitSummary(
            self.parameter_names_, self.coef_, self.stderr_, self.dof_, self.sigma_, self.r2_, self.message_, level
        )

    def _make_problem(self, X: np.ndarray, y: np.ndarray, w: Any, bounds: Any) -> Problem:
        return Problem(self.model or linear, self.jac, self._for_model(X), y.astype(np.float64, copy=False), w, bounds)

    def _table(self, X: Any) -> Any:
        """X with two dimensions, as validation needs it."""
        return np.reshape(X, (-1, 1)) if self._flat and _is_flat(X) else X

    def _for_model(self, X: np.ndarray) -> np.ndarray:
        """X as the model sees it."""
        X = X.astype(np.float64, copy=False)
        return np.ascontiguousarray(X[:, 0]) if self._flat else X

    def _solve(self, problem: Problem, start: np.ndarray, X: Any, y: Any) -> Outcome:
        with progress.fit_loop(self, self.max_iter, X, y) as loop:

            def callback(beta: np.ndarray, cost: float) -> bool:
                return loop.step(f"{cost:.6g}", lambda: {"coef_": beta})

            return fit_curve(problem, start, self.method, self.tol, self.max_iter, callback)

    def _record(self, outcome: Outcome, problem: Problem, names: list[str]) -> None:
        n_rows, p = len(problem.y), len(outcome.beta)
        inside = np.ones(p, dtype=bool)
        if problem.lower is not None:
            inside = (outcome.beta > problem.lower) & (outcome.beta < problem.upper)
        self.coef_ = outcome.beta
        self.parameter_names_ = names
        self.cost_ = outcome.cost
        self.dof_ = max(n_rows - p, 0)
        self.sigma_ = math.sqrt(outcome.cost / self.dof_) if self.dof_ else math.nan
        self.covariance_ = covariance(outcome.triangle, inside, self.sigma_ * self.sigma_, n_rows)
        self.stderr_ = np.sqrt(np.diag(self.covariance_))
        total = problem.spread()
        self.r2_ = 1.0 - outcome.cost / total if total > 0 else math.nan
        self.n_iter_, self.n_evaluations_ = outcome.n_iter, problem.calls
        self.optimality_ = outcome.offset
        self.converged_ = outcome.status in ("converged", "rounding")
        self.message_ = self._ending(outcome)

    def _ending(self, outcome: Outcome) -> str:
        after = f"after {outcome.n_iter} steps and {self.n_evaluations_} calls of the model"
        return {
            "converged": f"converged {after}",
            "rounding": f"converged {after}, as far as rounding allows",
            "iterations": f"not converged {after}",
            "flat": f"lost in a flat valley {after}",
            "stuck": f"stuck {after}",
            "stopped": f"stopped by a callback {after}",
        }[outcome.status]

    def _warn(self, outcome: Outcome) -> None:
        message = None
        off = f"{outcome.offset:.1e} of the residual could still be removed (tol={self.tol:g})"
        if outcome.status == "iterations":
            message = (
                f"NonlinearLeastSquares stopped after {outcome.n_iter} steps where about {off}: raise max_iter above "
                f"{self.max_iter}, or start nearer."
            )
        elif outcome.status == "flat":
            message = (
                "NonlinearLeastSquares followed parameters that the data hardly determine towards "
                f"{np.array2string(outcome.beta, precision=3, threshold=6, max_line_width=1000)}, where the sum of "
                "squares no longer falls: start nearer, set bounds, or use fewer parameters."
            )
        elif outcome.status == "stuck":
            message = (
                f"NonlinearLeastSquares found no step that lowers the sum of squares where about {off}: check jac "
                "against jac='3-point', or whether the model jumps."
            )
        elif self.model is not None and np.isinf(self.stderr_).any():
            lost = ", ".join(n for n, s in zip(self.parameter_names_, self.stderr_) if math.isinf(s))
            message = (
                f"The data do not determine {lost}: the model changes with fewer than its {len(self.coef_)} parameters "
                "where the fit ended; start elsewhere, or give start one number for each parameter that matters."
            )
        if message:
            warnings.warn(message, ConvergenceWarning, stacklevel=4)


def _is_flat(X: Any) -> bool:
    """Whether X is one number a row, without a second dimension: an array, a list or a column of a data frame."""
    return not hasattr(X, "columns") and not isinstance(X, str) and np.ndim(X) == 1


def _check_share(name: str, value: Any) -> None:
    if not (isinstance(value, int | float | np.number) and 0 < value < 1):
        raise ParameterError(f"{name} must be between 0 and 1, both excluded; got {value!r}.")
