"""Generalised linear models: Poisson, gamma and Tweedie regression."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.arrays import is_numpy, like, namespace, to_device_of, to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.matrices import Route, double
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.rows import ArrayRows, Rows, as_rows
from learnt.engine.rows.blocks import Block, widen
from learnt.engine.schema import Schema, choice, count, number
from learnt.engine.validation import check_fit, check_predict
from learnt.linear_model._schema import LINE, one_intercept_a_target
from learnt.linear_model.glm._family import Family
from learnt.linear_model.glm._newton import Objective, Result, by_products, far_means, newton, row_space, sample

_LARGEST_CURVATURE = 2000  # columns of a sparse table beyond which products with it are quicker than its square
_LOG_TINY = float(np.log(np.finfo(np.float32).tiny))


class _GeneralizedLinearRegressor(CallbackSupportMixin, RegressorMixin, Estimator):
    """Shared by the regressors below: they differ in `_family`."""

    __learnt_schema__ = Schema(state=LINE, extra={"n_iter_": count()}, rule=one_intercept_a_target)
    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)
    __learnt_trial__ = Trial(quick={"tol": 1e-10}, warmup=(Warm("positive"),))

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: bool | int = 0,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _family(self) -> Family:
        raise NotImplementedError

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none."""
        self._check_parameters()
        family = self._family()
        X, y, w = check_fit(self, X, y, sample_weight, target="number")
        rows = as_rows(X, y, w)
        mean = _mean_of_target(rows, family, type(self).__name__)
        start = self._start(family, mean, rows.n_features)
        if start is None:
            result = self._all_zero(rows.n_features)
        else:
            with fit_loop(self, None, X, y) as loop:
                result = _minimise(rows, family, self, start, loop)
        self._record(result, rows)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "alpha", 0)
        check_flag(self, "fit_intercept", "warm_start")
        check_choice(self, "solver", ("lbfgs", "newton-cholesky"))
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "tol", 0, open_low=True)
        check_number(self, "verbose", 0, integer=True, also=(True, False))

    def _goes_on(self, d: int) -> bool:
        """Whether a warm start has coefficients of these columns."""
        return bool(self.warm_start and hasattr(self, "coef_") and tuple(self.coef_.shape) == (d,))

    def _start(self, family: Family, mean: float, d: int) -> np.ndarray | None:
        """The last fit, or no slope and the mean of y; None where no finite intercept gives that mean."""
        if self._goes_on(d):
            return np.append(to_numpy(self.coef_), self.intercept_).astype(np.float64)
        start = np.zeros(d + 1)
        if self.fit_intercept:
            if mean <= 0 and (family.log or family.power > 0):
                if family.power > 0:
                    return None
                mean = 1.0  # a normal y around 0 with a log link: any start will do
            start[-1] = family.link(np.float64(mean))
        elif not family.log and family.power != 0:
            raise ValueError(
                f"{type(self).__name__} with link='identity' and power={family.power:g} needs means above 0, which "
                "it cannot start from without an intercept; set fit_intercept=True or link='log'."
            )
        return start

    def _all_zero(self, d: int) -> Result:
        warnings.warn(
            f"All y are zero, so the likelihood of {type(self).__name__} rises for ever as the mean falls to 0; "
            "the coefficients are 0 and every prediction is nearly 0.",
            ConvergenceWarning,
            stacklevel=4,
        )
        return Result(np.zeros(d), _LOG_TINY, 0.0, 0.0, 0, True)

    def _record(self, result: Result, rows: Rows) -> None:
        if is_numpy(rows.reference):
            self.coef_ = result.coef.astype(rows.dtype)
            self.intercept_ = rows.dtype.type(result.intercept) if self.fit_intercept else 0.0
        else:
            self.coef_ = like(result.coef, rows.reference)
            self.intercept_ = like(result.intercept, rows.reference) if self.fit_intercept else 0.0
        self.n_iter_ = result.n_iter
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after {result.n_iter} iterations with the objective about "
                f"{0.5 * result.decrement:.1e} above its minimum (tol={self.tol:g}); raise max_iter or scale X.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def predict(self, X: Any) -> Any:
        """The mean of y for every row of X.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The predicted means.
        """
        X = check_predict(self, X)
        return as_rows(X).map(
            _block_means, self._family(), to_device_of(self.coef_, X), to_device_of(self.intercept_, X)
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D², the share of the deviance explained: 1 at best, 0 for the mean of y.

        Returns
        -------
        score : float
            D² = 1 − deviance(y, predictions) / deviance(y, mean of y): R² with the deviance in place of squares.
        """
        family, name = self._family(), type(self).__name__
        check_predict(self, X)
        X, y, w = check_fit(self, X, y, sample_weight, target="number", reset=False)
        rows = as_rows(X, y, w)
        mean = _mean_of_target(rows, family, name)
        dtype = widen(rows.reference).dtype
        coef = like(to_numpy(self.coef_), rows.reference, dtype)
        left, total = rows.sum(_deviances, family, coef, float(to_numpy(self.intercept_)), mean)
        return 1.0 - float(left) / float(total)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self._family().power > 0
        return tags


def _minimise(rows: Rows, family: Family, model: Any, start: np.ndarray, loop: Any) -> Result:
    """Choose the algorithm by shape: fewer rows than columns, sparse and wide, or Newton from a sample."""

    def callback(point: np.ndarray, value: float) -> bool:
        state = lambda: {"coef_": point[:-1], "intercept_": float(point[-1])}  # noqa: E731
        return loop.step(f"objective {value:.6g}", state)

    setting = (float(model.alpha), model.fit_intercept)
    limits = (float(model.tol), int(model.max_iter))
    if rows.on_host and rows.n_rows < rows.n_features and rows.n_rows <= _LARGEST_CURVATURE:
        return _in_row_space(rows, family, setting, start, limits, callback)
    if rows.route is Route.SPARSE and rows.n_features > _LARGEST_CURVATURE:
        return by_products(Objective(rows, family, *setting, None), start, *limits)
    shift = far_means(rows) if model.fit_intercept else None
    if shift is not None:
        start = np.append(start[:-1], start[-1] + shift @ start[:-1])
    objective = Objective(rows, family, *setting, shift)
    some = None if model._goes_on(rows.n_features) else sample(rows)
    if some is not None:
        of_sample, curvature = newton(Objective(some, family, *setting, shift), start, limits[0], 30)
        point = np.append(
            of_sample.coef, of_sample.intercept + (0.0 if shift is None else float(shift @ of_sample.coef))
        )
        sums = objective.at(point)
        if np.isfinite(sums.value):
            return newton(objective, point, *limits, callback, curvature, sums)[0]
    return newton(objective, start, *limits, callback)[0]


def _in_row_space(
    rows: Any, family: Family, setting: tuple[Any, Any], start: np.ndarray, limits: tuple, callback: Any
) -> Result:
    """Fewer rows than columns: b = Qu is a combination of rows, X = LQᵀ, and only u is to be found."""
    Q, L = row_space(rows.X)
    reduced = ArrayRows(L, rows.y, rows.w)
    result = newton(Objective(reduced, family, *setting, None), np.append(Q.T @ start[:-1], start[-1]), *limits)[0]
    callback(np.append(Q @ result.coef, result.intercept), result.objective)
    return result._replace(coef=Q @ result.coef)


def _mean_of_target(rows: Rows, family: Family, name: str) -> float:
    """The weighted mean of y; refuses y out of the family's range."""
    total, weight, wrong = (float(part) for part in rows.sum(_target_sums, family))
    if wrong:
        raise ValueError(
            f"Some value(s) of y are out of the valid range of the loss of {name}: y must be {family.allowed}, and "
            f"{wrong:g} of them are not."
        )
    return total / weight


def _target_sums(block: Block, family: Family) -> tuple:
    y = double(block.y)
    xp = namespace(y)
    wrong = family.impossible(y)
    w = xp.ones_like(y) if block.w is None else widen(block.w)
    return xp.sum(w * y), xp.sum(w), xp.sum(xp.where(wrong, xp.ones_like(y), xp.zeros_like(y)))


def _deviances(block: Block, family: Family, coef: Any, intercept: float, mean: float) -> tuple:
    y = widen(block.y)
    xp = namespace(y)
    X = widen(block.X)
    w = xp.ones_like(y) if block.w is None else widen(block.w)
    left = family.deviance(y, family.mean(X @ coef + intercept))
    return xp.sum(w * left), xp.sum(w * family.deviance(y, xp.full_like(y, mean)))


def _block_means(block: Block, family: Family, coef: Any, intercept: Any) -> Any:
    return family.mean(block.X @ coef + intercept)


class PoissonRegressor(_GeneralizedLinearRegressor):
    """Regression of counts:  y ~ Poisson(exp(xᵀb + c)),  min over b, c of  1/Σw Σᵢ wᵢ (μᵢ − yᵢ log μᵢ) + α/2 ‖b‖².

    For counts and rates, such as claims, visits or events: predictions are always above 0, effects multiply (a
    coefficient of 0.1 raises the mean by a factor exp(0.1) for each unit), and the variance grows with the mean. y must
    be 0 or more, and need not be whole.

    Parameters
    ----------
    alpha : float, default=1.0
        α, the regularisation strength, at least 0: larger values mean more shrinkage and less overfitting; 0 is the
        plain generalised linear model, which needs more rows than columns. The default is strong for columns of
        standard deviation 1: try powers of 10 below it.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    solver : {"lbfgs", "newton-cholesky"}, default="lbfgs"
        scikit-learn's names of two ways to the same minimum. Here the shape of X decides: Newton's method, in the space
        of the rows where they are fewer than the columns, and products with X alone for wide sparse tables.
    max_iter : int, default=100
        The most steps over all rows. Newton's method seldom needs more than ten.
    tol : float, default=1e-4
        The objective ends within about tol² of its minimum. Smaller values give more exact coefficients, for a step or
        two more.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last `fit`, if it had as many columns.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed. Progress bars and callbacks are in
        `learnt.engine.progress`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    n_iter_ : int
        Steps over all rows.

    See Also
    --------
    GammaRegressor : For positive amounts whose spread is a share of the mean.
    TweedieRegressor : For amounts that are often 0, and other powers of the mean.
    learnt.ensemble.HistGradientBoostingRegressor : Counts by trees, with loss="poisson".

    Notes
    -----
    Newton's method on sums over rows, started from the solution of a sample: O(n d²) a step for n rows and d columns,
    and memory of O(d²) beside X. Weights multiply the deviances, and only their ratios matter beside α. Take
    `sample_weight=exposure` and y / exposure where rows were observed for different times.

    References
    ----------
    .. [1] P. McCullagh and J. A. Nelder, "Generalized Linear Models", Chapman and Hall, 1989.

    Examples
    --------
    >>> model = PoissonRegressor().fit([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]], [12, 17, 22, 21])
    >>> model.coef_.round(3), float(model.intercept_)
    (array([0.121, 0.158]), 2.09)
    >>> model.predict([[1.0, 1.0], [3.0, 4.0]]).round(2)
    array([10.68, 21.87])
    """

    def _family(self) -> Family:
        return Family(1.0, True)


class GammaRegressor(_GeneralizedLinearRegressor):
    """Regression of positive amounts:  y ~ Gamma of mean μ = exp(xᵀb + c),  min 1/Σw Σᵢ wᵢ (log μᵢ + yᵢ/μᵢ) + α/2 ‖b‖².

    For amounts such as costs, claims or durations, whose standard deviation is about a constant share of their mean:
    effects multiply, and large amounts do not rule the fit as in least squares. y must be greater than 0.

    Parameters
    ----------
    alpha : float, default=1.0
        α, the regularisation strength, at least 0: larger values mean more shrinkage and less overfitting; 0 is the
        plain generalised linear model, which needs more rows than columns. The default is strong for columns of
        standard deviation 1: try powers of 10 below it.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    solver : {"lbfgs", "newton-cholesky"}, default="lbfgs"
        scikit-learn's names of two ways to the same minimum. Here the shape of X decides: Newton's method, in the space
        of the rows where they are fewer than the columns, and products with X alone for wide sparse tables.
    max_iter : int, default=100
        The most steps over all rows. Newton's method seldom needs more than ten.
    tol : float, default=1e-4
        The objective ends within about tol² of its minimum. Smaller values give more exact coefficients, for a step or
        two more.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last `fit`, if it had as many columns.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed. Progress bars and callbacks are in
        `learnt.engine.progress`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    n_iter_ : int
        Steps over all rows.

    See Also
    --------
    PoissonRegressor : For counts, whose variance is about their mean.
    TweedieRegressor : For amounts that are often 0, and other powers of the mean.

    Notes
    -----
    Newton's method on sums over rows, started from the solution of a sample: O(n d²) a step for n rows and d columns,
    and memory of O(d²) beside X. Weights multiply the deviances, and only their ratios matter beside α. Take
    `sample_weight=exposure` and y / exposure where rows were observed for different times.

    References
    ----------
    .. [1] P. McCullagh and J. A. Nelder, "Generalized Linear Models", Chapman and Hall, 1989.

    Examples
    --------
    >>> model = GammaRegressor().fit([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]], [19, 26, 33, 30])
    >>> model.coef_.round(3), float(model.intercept_)
    (array([0.073, 0.067]), 2.90)
    """

    def _family(self) -> Family:
        return Family(2.0, True)


class TweedieRegressor(_GeneralizedLinearRegressor):
    """Regression with variance ∝ mean^power:  min over b, c of  1/(2Σw) Σᵢ wᵢ deviance(yᵢ, μᵢ) + α/2 ‖b‖².

    One class for the usual generalised linear models of numbers. With a power between 1 and 2 it is the model for
    totals that are often exactly 0 and else positive, such as rainfall or claims per policy.

    Parameters
    ----------
    power : float, default=0.0
        The power of the mean to which the variance is proportional: 0 normal, 1 Poisson, between 1 and 2 amounts that
        are often 0, 2 gamma, 3 inverse Gaussian. Above 0, y must be 0 or more; from 2 on, greater than 0. Powers
        between 0 and 1 belong to no distribution.
    alpha : float, default=1.0
        α, the regularisation strength, at least 0: larger values mean more shrinkage and less overfitting; 0 is the
        plain generalised linear model, which needs more rows than columns. The default is strong for columns of
        standard deviation 1: try powers of 10 below it.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    link : {"auto", "identity", "log"}, default="auto"
        What turns the mean into xᵀb + c: "identity" for effects that add, "log" for effects that multiply and means
        above 0. "auto" takes the identity for power ≤ 0 and the logarithm otherwise.
    solver : {"lbfgs", "newton-cholesky"}, default="lbfgs"
        scikit-learn's names of two ways to the same minimum. Here the shape of X decides: Newton's method, in the space
        of the rows where they are fewer than the columns, and products with X alone for wide sparse tables.
    max_iter : int, default=100
        The most steps over all rows. Newton's method seldom needs more than ten.
    tol : float, default=1e-4
        The objective ends within about tol² of its minimum. Smaller values give more exact coefficients, for a step or
        two more.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last `fit`, if it had as many columns.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed. Progress bars and callbacks are in
        `learnt.engine.progress`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    n_iter_ : int
        Steps over all rows.

    See Also
    --------
    PoissonRegressor : The same with power=1.
    GammaRegressor : The same with power=2.
    Ridge : The closed form for power=0.

    Notes
    -----
    Newton's method on sums over rows, started from the solution of a sample: O(n d²) a step for n rows and d columns,
    and memory of O(d²) beside X. Weights multiply the deviances, and only their ratios matter beside α. Take
    `sample_weight=exposure` and y / exposure where rows were observed for different times.

    References
    ----------
    .. [1] P. McCullagh and J. A. Nelder, "Generalized Linear Models", Chapman and Hall, 1989.

    Examples
    --------
    >>> model = TweedieRegressor().fit([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]], [2, 3.5, 5, 5.5])
    >>> model.coef_.round(3), round(float(model.intercept_), 3)
    (array([0.6, 0.3]), 1.6)
    """

    __learnt_schema__ = replace(
        _GeneralizedLinearRegressor.__learnt_schema__,
        params={"power": number(), "link": choice("auto", "identity", "log")},
    )
    __learnt_trial__ = Trial(quick={"tol": 1e-10}, warmup=(Warm("positive", {"power": 1.5}),))

    def __init__(
        self,
        *,
        power: float = 0.0,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        link: str = "auto",
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: bool | int = 0,
    ) -> None:
        super().__init__(
            alpha=alpha,
            fit_intercept=fit_intercept,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            verbose=verbose,
        )
        self.power = power
        self.link = link

    def _check_parameters(self) -> None:
        check_number(self, "power")
        check_choice(self, "link", ("auto", "identity", "log"))
        super()._check_parameters()

    def _family(self) -> Family:
        return Family(float(self.power), self.power > 0 if self.link == "auto" else self.link == "log")
