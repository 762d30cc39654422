"""The elastic net and the lasso with their penalty chosen by cross-validation."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from learnt.engine.arrays import is_lazy
from learnt.engine.estimator import Estimator, Takes, Trial, Warm, takes_of
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.rows import as_rows, target_in_memory
from learnt.engine.schema import Schema, number
from learnt.engine.threads import run_tasks, single_blas
from learnt.engine.validation import check_fit
from learnt.engine.weights import present_rows, rows_given, take_folds, take_params
from learnt.linear_model._base import LinearPredictor
from learnt.linear_model._schema import CHOSEN, LINES, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.coordinate._elastic_net import ElasticNet, Lasso
from learnt.linear_model.coordinate._folds import FoldErrors
from learnt.linear_model.coordinate._lasso_path import enet_path, lasso_path
from learnt.linear_model.coordinate._lazy_folds import LazyFolds, fold_of_rows
from learnt.linear_model.coordinate._path import penalty_grid, solve_path, unpacked
from learnt.linear_model.coordinate._problem import Columns, Products


def listed(alphas: Any) -> bool:
    """Whether penalties are listed, and not only their number."""
    return not isinstance(alphas, Integral)


class PathCV(LinearPredictor, RegressorMixin, Estimator):
    """Choose α (and ρ) by the mean of the folds' squared errors, then fit all rows."""

    __learnt_schema__ = Schema(params=WITH_INTERCEPT, state=LINES, extra=CHOSEN, rule=one_intercept_a_target)
    __learnt_takes__ = Takes(sparse=True)

    _together = False  # whether targets share their columns

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the penalty by cross-validation, and fit all rows with it.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number to predict for each row; several for the `MultiTask` models.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts, in the fits and in the errors: 2 as two rows, 0 as none. None counts every row once.
        **params : dict
            Metadata for the splitter, such as `groups`; only with scikit-learn's metadata routing.
        """
        self._check_parameters()
        self._refuse_unrouted(params)
        if is_lazy(X) and takes_of(self).lazy:
            return self._fit_lazy(X, y, sample_weight, params)
        present, n = present_rows(sample_weight, X), rows_given(sample_weight)
        X, y, w = check_fit(self, X, y, sample_weight, target="numbers")
        X, y = unpacked(X), self._shaped(y)
        Y = y if y.ndim == 2 else y[:, None]
        ratios = np.atleast_1d(getattr(self, "l1_ratio", 1.0)).astype(float)
        with single_blas():
            alphas = self._grids(X, Y, w, ratios)
            cv = check_cv(take_folds(self.cv, present))
            folds = self._folds(cv, X, y, w, take_params(params, present, n))
            work = FoldErrors(X, Y, w, self.fit_intercept, folds)
            errors = self._errors(work, list(zip(ratios, alphas, strict=True)))
        return self._settle(errors, alphas, ratios, work.all_rows, X.dtype, X, y, w)

    def _fit_lazy(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Any:
        """The same of rows that are read in blocks; y and weights are in memory."""
        y, sample_weight = target_in_memory(y), target_in_memory(sample_weight)
        present, n = present_rows(sample_weight, X), rows_given(sample_weight)
        X, y, w = check_fit(self, X, y, sample_weight, target="numbers")
        y, rows = self._shaped(y), as_rows(X)
        cv, stand_in = check_cv(take_folds(self.cv, present)), np.zeros((len(y), 1))
        folds = self._folds(cv, stand_in, y, w, take_params(params, present, n))
        with single_blas():
            work = LazyFolds(rows, y, w, fold_of_rows(len(y), folds), self.fit_intercept)
            ratios = np.atleast_1d(getattr(self, "l1_ratio", 1.0)).astype(float)
            alphas = self._grid_of(work.all_rows, ratios)
            settings = {"tol": self.tol, "max_iter": self.max_iter, "name": type(self).__name__}
            settings["positive"] = getattr(self, "positive", False)
            errors = work.errors(list(zip(ratios, alphas, strict=True)), settings, self.n_jobs)
        return self._settle(errors, alphas, ratios, work.all_rows, rows.dtype, X, y, w)

    def _settle(
        self, errors: np.ndarray, alphas: np.ndarray, ratios: np.ndarray, all_rows: Any, dtype: Any, *data: Any
    ) -> Any:
        """Choose the penalty of the lowest mean error, and fit all rows with it."""
        best = np.unravel_index(np.argmin(errors.mean(axis=1)), alphas.shape)
        self.mse_path_ = np.squeeze(np.moveaxis(errors, 2, 1))
        self.alpha_ = float(alphas[best])
        if hasattr(self, "l1_ratio"):
            self.l1_ratio_ = float(ratios[best[0]])
        self.alphas_ = alphas[0] if len(ratios) == 1 or not isinstance(self.alphas, Integral) else alphas
        model = self._chosen(all_rows, float(ratios[best[0]]), dtype, *data)
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        self.dual_gap_, self.n_iter_ = model.dual_gap_, model.n_iter_
        return self

    def _shaped(self, y: np.ndarray) -> np.ndarray:
        """y in the shape that this model takes: one number a row, or a table."""
        name = type(self).__name__
        if self._together and y.ndim == 1:
            raise ValueError(f"For mono-task outputs, use {name[9:]}: y has one number a row.")
        if self._together:
            return y
        if y.ndim == 2 and y.shape[1] > 1:
            raise ValueError(
                f"For multi-task outputs, use MultiTask{name}: y has {y.shape[1]} columns, and {name} takes one."
            )
        return column_or_1d(y, warn=True)

    def _check_parameters(self) -> None:
        for ratio in np.ravel(getattr(self, "l1_ratio", 1.0)):
            if not 0 <= ratio <= 1:
                raise ParameterError(
                    f"The 'l1_ratio' parameter of {type(self).__name__} must be numbers between 0 and 1. Got {ratio!r}."
                )
        check_number(self, "eps", 0, open_low=True)
        check_number(self, "tol", 0)
        check_number(self, "max_iter", 1, integer=True)
        check_flag(self, "fit_intercept", "copy_X")
        check_choice(self, "selection", ("cyclic", "random"))
        if hasattr(self, "positive"):
            check_flag(self, "positive")
        if isinstance(self.alphas, Integral) and not isinstance(self.alphas, bool):
            check_number(self, "alphas", 1, integer=True)
            return
        for i, alpha in enumerate(self.alphas):
            if not isinstance(alpha, Real | float) or isinstance(alpha, bool):
                raise TypeError(f"alphas[{i}] must be an instance of float, not {type(alpha).__name__}.")
            if not (float(alpha) >= 0 and math.isfinite(alpha)):
                raise ValueError(f"alphas[{i}] == {alpha}, must be >= 0.0 and finite.")

    def _grids(self, X: Any, Y: np.ndarray, w: Any, ratios: np.ndarray) -> np.ndarray:
        """(ratios, penalties), falling."""
        return self._grid_of(None if listed(self.alphas) else Columns(X, Y, w, self.fit_intercept), ratios)

    def _grid_of(self, problem: Any, ratios: np.ndarray) -> np.ndarray:
        """(ratios, penalties), falling: those that were given, or from the least that gives 0 down."""
        if listed(self.alphas):
            return np.tile(np.sort(np.asarray(self.alphas, dtype=np.float64))[::-1], (len(ratios), 1))
        positive = getattr(self, "positive", False)
        return np.array(
            [penalty_grid(problem.q, problem.weight, r, self.eps, int(self.alphas), positive) for r in ratios]
        )

    def _folds(self, cv: Any, X: Any, y: np.ndarray, w: Any, params: dict[str, Any]) -> list:
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, "fit", sample_weight=w, **params).splitter.split
        return list(cv.split(X, y, **params))

    def _refuse_unrouted(self, params: dict[str, Any]) -> None:
        if params and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"Passing extra keyword arguments ({', '.join(params)}) to {type(self).__name__}.fit is only supported "
                "if enable_metadata_routing=True, which is set by sklearn.set_config."
            )

    def _errors(self, work: FoldErrors, grids: list) -> np.ndarray:
        """(ratios, folds, penalties)."""
        settings = {"tol": self.tol, "max_iter": self.max_iter, "name": type(self).__name__}
        settings["positive"] = getattr(self, "positive", False)
        problems = work.problems(sum(len(alphas) for _, alphas in grids), self.n_jobs)
        target = None if self._together else 0
        tasks = [partial(work.errors, k, problem, target, grids, settings) for k, problem in enumerate(problems)]
        return np.stack(run_tasks(tasks, n_jobs=self.n_jobs), axis=1)

    def _chosen(self, all_rows: Products | None, ratio: float, dtype: Any, X: Any, y: np.ndarray, w: Any) -> Any:
        """The model with the penalty that was chosen, fitted on all rows, from their products where these are known."""
        model = self._model(self.alpha_, ratio)
        if all_rows is None or self._together or self.alpha_ * ratio == 0.0:
            return model.fit(X, y, w)
        settings = {"tol": self.tol, "max_iter": self.max_iter, "name": type(model).__name__}
        alphas = np.array([self.alpha_])
        with single_blas():
            path = solve_path(all_rows, 0, alphas, ratio, positive=model.positive, after_paths=True, **settings)
        model._record(all_rows, [path], dtype, True)
        return model

    def _model(self, alpha: float, ratio: float) -> Any:
        shared = ("fit_intercept", "max_iter", "tol", "selection", "random_state")
        settings = {name: getattr(self, name) for name in shared}
        return ElasticNet(alpha, l1_ratio=ratio, positive=self.positive, **settings)

    def get_metadata_routing(self) -> MetadataRouter:
        """What of the metadata that `fit` gets goes to the splitter."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = not self._together
        tags.target_tags.multi_output = self._together
        return tags


class ElasticNetCV(PathCV):
    """The elastic net with α, and ρ where several are given, chosen by cross-validation.

    The quickest way to an elastic net of the right strength: all penalties of a fold are solved one after the other
    along a path. Give several `l1_ratio`, such as [0.1, 0.5, 0.9, 1.0], where it is not known whether few columns
    matter.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        ρ, the share of the absolute in the penalty, or several to choose from: 1 is the lasso, near 0 is like ridge
        regression. 0 itself needs penalties listed in `alphas`.
    eps : float, default=1e-3
        The smallest penalty of the grid, as a share of the largest, which is the least that makes all coefficients 0.
        Lower it where the smallest penalty is chosen.
    alphas : int or array-like of shape (n_alphas,), default=100
        The number of penalties to try, spaced evenly in their logarithms, or the penalties themselves.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    precompute : bool, "auto" or array-like of shape (n_features, n_features), default="auto"
        Kept for scikit-learn's signature: the shape of X decides.
    max_iter : int, default=1000
        The most sweeps over the coefficients, for each penalty. Raise it where a ConvergenceWarning says so.
    tol : float, default=1e-4
        Stop when the duality gap, which bounds the error of the objective, is at most tol · ‖y − ȳ‖²/n, for each
        penalty and fold.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: a number of folds, a scikit-learn splitter or pairs of (train, test) row numbers; None
        for 5 folds. Take `GroupKFold` or `TimeSeriesSplit` where rows are not independent.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    n_jobs : int or None, default=None
        The most threads to use, over folds; None or -1 for all that this process may. The result does not depend on it.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: coefficients are taken in turn, and nothing is random.
    selection : {"cyclic", "random"}, default="cyclic"
        Kept for scikit-learn's signature: coefficients are taken in turn, whatever it says.

    Attributes
    ----------
    alpha_ : float
        The penalty of the lowest mean squared error on the rows left out.
    l1_ratio_ : float
        The ρ that was chosen with it.
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    mse_path_ : ndarray of shape (n_l1_ratio, n_alphas, n_folds) or (n_alphas, n_folds)
        The mean squared error on the rows left out, by weight, for each ρ (where several are given), penalty and fold.
    alphas_ : ndarray of shape (n_alphas,) or (n_l1_ratio, n_alphas)
        The penalties that were tried, falling; a row for each ρ where several have grids of their own.
    dual_gap_ : float
        The objective of the last fit is at most this far above its minimum.
    n_iter_ : int
        Sweeps of the last fit, of all rows.

    See Also
    --------
    ElasticNet : The same model with alpha and l1_ratio given.
    LassoCV : Chooses the penalty of the lasso.
    RidgeCV : Chooses the penalty of ridge regression, by leave-one-out.
    MultiTaskElasticNetCV : Several targets that use the same columns.
    enet_path : The coefficients at every penalty of a grid.

    Notes
    -----
    Each fold follows the whole path of penalties, from the largest to the smallest, every solution starting from the
    one before; folds run on several threads. All rows are then fitted with the penalty of the lowest mean error.
    Weights count in the fits and in the errors.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = 3.0 * X[:, 0] + rng.normal(size=60)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(X, y)
    >>> model.l1_ratio_, np.flatnonzero(np.abs(model.coef_) > 1)
    (1.0, array([0]))
    """

    __learnt_schema__ = replace(PathCV.__learnt_schema__, extra={**CHOSEN, "l1_ratio_": number(0)})
    __learnt_takes__ = Takes(sparse=True, lazy=True)
    __learnt_trial__ = Trial(quick={"tol": 1e-18, "max_iter": 10_000}, warmup=(Warm("amount", {"cv": 3, "alphas": 5}),))

    path = staticmethod(enet_path)

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class LassoCV(PathCV):
    """The lasso with α chosen by cross-validation.

    The quickest way to a lasso of the right strength: all penalties of a fold are solved one after the other along a
    path. The penalty that predicts best often keeps a few columns too many.

    Parameters
    ----------
    eps : float, default=1e-3
        The smallest penalty of the grid, as a share of the largest, which is the least that makes all coefficients 0.
        Lower it where the smallest penalty is chosen.
    alphas : int or array-like of shape (n_alphas,), default=100
        The number of penalties to try, spaced evenly in their logarithms, or the penalties themselves.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    precompute : bool, "auto" or array-like of shape (n_features, n_features), default="auto"
        Kept for scikit-learn's signature: the shape of X decides.
    max_iter : int, default=1000
        The most sweeps over the coefficients, for each penalty. Raise it where a ConvergenceWarning says so.
    tol : float, default=1e-4
        Stop when the duality gap, which bounds the error of the objective, is at most tol · ‖y − ȳ‖²/n, for each
        penalty and fold.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: a number of folds, a scikit-learn splitter or pairs of (train, test) row numbers; None
        for 5 folds. Take `GroupKFold` or `TimeSeriesSplit` where rows are not independent.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.
    n_jobs : int or None, default=None
        The most threads to use, over folds; None or -1 for all that this process may. The result does not depend on it.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: coefficients are taken in turn, and nothing is random.
    selection : {"cyclic", "random"}, default="cyclic"
        Kept for scikit-learn's signature: coefficients are taken in turn, whatever it says.

    Attributes
    ----------
    alpha_ : float
        The penalty of the lowest mean squared error on the rows left out.
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        The mean squared error on the rows left out, by weight, for each penalty and fold.
    alphas_ : ndarray of shape (n_alphas,)
        The penalties that were tried, falling.
    dual_gap_ : float
        The objective of the last fit is at most this far above its minimum.
    n_iter_ : int
        Sweeps of the last fit, of all rows.

    See Also
    --------
    Lasso : The same model with alpha given.
    ElasticNetCV : Chooses between the lasso and ridge regression too.
    LassoLarsCV : Compares the bends of the exact paths instead of a grid.
    LassoLarsIC : Chooses alpha by AIC or BIC, without folds.
    lasso_path : The coefficients at every penalty of a grid.

    Notes
    -----
    Each fold follows the whole path of penalties, from the largest to the smallest, every solution starting from the
    one before; folds run on several threads. All rows are then fitted with the penalty of the lowest mean error.
    Weights count in the fits and in the errors.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = 3.0 * X[:, 0] + rng.normal(size=60)
    >>> model = LassoCV().fit(X, y)
    >>> np.flatnonzero(np.abs(model.coef_) > 1), model.mse_path_.shape
    (array([0]), (100, 5))
    """

    __learnt_takes__ = Takes(sparse=True, lazy=True)
    __learnt_trial__ = Trial(quick={"tol": 1e-12, "max_iter": 10_000}, warmup=(Warm("amount", {"cv": 3, "alphas": 5}),))

    path = staticmethod(lasso_path)

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _model(self, alpha: float, ratio: float) -> Lasso:
        shared = ("fit_intercept", "max_iter", "tol", "selection", "random_state", "positive")
        return Lasso(alpha, **{name: getattr(self, name) for name in shared})
