"""Least angle regression and the lasso with their penalty chosen by cross-validation."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from learnt.engine.estimator import Trial, Warm
from learnt.engine.params import check_number
from learnt.engine.schema import number
from learnt.engine.threads import run_tasks
from learnt.engine.validation import check_fit
from learnt.linear_model.lars._lars import _EPS, BENDS, LeastAngle
from learnt.linear_model.lars._path import Path, follow_path, warn_irregular
from learnt.linear_model.pursuit._gram import fold_problems, make_problem

_CHOSEN = {"alpha_": number(0), "cv_alphas_": BENDS["alphas_"], "mse_path_": BENDS["alphas_"]}


class LarsCV(LeastAngle):
    """Least angle regression that ends at the α which predicts rows left out best.

    The paths of the folds are followed from bend to bend, and compared at all their bends: no grid is to be chosen.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.
    max_iter : int, default=500
        The most steps of a path.
    precompute : bool or "auto", default="auto"
        Whether to compute all of XᵀX first; False computes only the rows of it that are needed, "auto" takes whichever
        is less work. An array, which would be that of all rows and of no fold, is replaced by "auto" with a warning.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: a number of folds, a scikit-learn splitter or pairs of (train, test) row numbers; None
        for 5 folds. Take `GroupKFold` or `TimeSeriesSplit` where rows are not independent.
    max_n_alphas : int, default=1000
        About how many of the penalties at which the paths of the folds bend are compared.
    n_jobs : int or None, default=None
        The most threads to use, over folds; None or -1 for all that this process may. The result does not depend on it.
    eps : float, default=2.2e-16
        From 1e-7 on, columns in the span of those in use are no longer left out: they enter with this as the pivot of
        the Cholesky factor. Smaller values change nothing. Raise it for nearly collinear columns.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.

    Attributes
    ----------
    alpha_ : float
        The penalty of the lowest mean squared error on the rows left out.
    cv_alphas_ : ndarray of shape (n_cv_alphas,)
        The penalties that were compared, rising.
    mse_path_ : ndarray of shape (n_cv_alphas, n_folds)
        The mean squared error on the rows left out, for each penalty and fold.
    alphas_ : ndarray of shape (n_bends,)
        α at every bend of the path of all rows, falling.
    active_ : list of int
        The columns in use at the end, in the order they came.
    coef_path_ : ndarray of shape (n_features, n_bends)
        The coefficients at every bend.
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    n_iter_ : int
        Steps of the path of all rows.

    See Also
    --------
    Lars : The path with a given number of columns.
    LassoLarsCV : The lasso, in which columns may leave the path.
    LassoCV : Compares a grid of penalties, by coordinate descent.
    OrthogonalMatchingPursuitCV : Chooses how many columns to take greedily.

    Notes
    -----
    The residuals of rows left out are linear in α between bends, so that their squares are known exactly at every
    penalty. The path of all rows is followed to the best one at the end.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, "Least Angle Regression", Annals of Statistics 32(2),
           2004.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> model = LarsCV(cv=4).fit(X, 3 * X[:, 4] - X[:, 11] + 0.1 * rng.normal(size=100))
    >>> np.flatnonzero(np.abs(model.coef_) > 0.5)
    array([ 4, 11])
    """

    __learnt_schema__ = replace(LeastAngle.__learnt_schema__, extra={**BENDS, **_CHOSEN})
    __learnt_trial__ = Trial(warmup=(Warm("amount", {"cv": 2}),))

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        verbose: bool | int = False,
        max_iter: float = 500,
        precompute: Any = "auto",
        cv: Any = None,
        max_n_alphas: int = 1000,
        n_jobs: int | None = None,
        eps: float = _EPS,
        copy_X: bool = True,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.max_iter = max_iter
        self.precompute = precompute
        self.cv = cv
        self.max_n_alphas = max_n_alphas
        self.n_jobs = n_jobs
        self.eps = eps
        self.copy_X = copy_X

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Choose the penalty on folds, then follow the path of all rows to it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,)
            The number to predict for each row.
        **params : dict
            Metadata for the splitter, such as `groups`; only with scikit-learn's metadata routing.
        """
        self._check_shared()
        check_number(self, "max_n_alphas", 1, integer=True)
        routed = self._routed(params)
        X, y, _ = check_fit(self, X, y, target="number", min_rows=2)
        if self._gram_given():
            warnings.warn(
                f'Parameter "precompute" cannot be an array in {type(self).__name__}, whose folds have other rows each;'
                ' "auto" is used.',
                stacklevel=2,
            )
        folds = list(check_cv(self.cv, classifier=False).split(X, y, **routed))
        steps = int(min(self.max_iter, X.shape[1]))
        all_rows, parts = fold_problems(X, y, folds, self.fit_intercept, steps, self.n_jobs)
        pairs = zip(folds, parts, strict=True)
        found = run_tasks([partial(self._fold, X, y, fold, part) for fold, part in pairs], n_jobs=self.n_jobs)
        warn_irregular([path for path, _ in found], f"{type(self).__name__} (on folds)")
        grid = np.unique(np.concatenate([path.alphas for path, _ in found]))
        grid = grid[:: max(1, len(grid) // int(self.max_n_alphas))]
        errors = np.stack([errors_at(grid, path.alphas, residuals) for path, residuals in found], axis=1)
        self.alpha_ = float(grid[np.argmin(errors.mean(axis=1))])
        self.cv_alphas_, self.mse_path_ = grid, errors
        problem = all_rows or make_problem(X, y, self.fit_intercept, self._rows_of_gram(), None)
        self._follow(problem, len(X), self._options(self.alpha_, self.max_iter), X, y)
        return self

    def _fold(self, X: np.ndarray, y: np.ndarray, fold: Any, make: Any) -> tuple[Path, np.ndarray]:
        """The path of the training rows, and the residuals of the others at its bends."""
        train, test = fold
        problem = make() if make else make_problem(X[train], y[train], self.fit_intercept, self._rows_of_gram(), None)
        n = len(y[train])
        path = follow_path(problem.source, problem.starts[0], n, self._options(0.0, self.max_iter))
        coef = path.coefs.T
        return path, y[test][:, None] - (X[test] @ coef + problem.intercept(coef))

    def _rows_of_gram(self) -> Any:
        return "auto" if self._gram_given() else bool(self.precompute) and self.precompute

    def _routed(self, params: dict[str, Any]) -> dict[str, Any]:
        """What of `params` the splitter asked for (scikit-learn's metadata routing)."""
        if not params:
            return {}
        if not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"Passing extra keyword arguments ({', '.join(params)}) to {type(self).__name__}.fit is only supported "
                "if enable_metadata_routing=True, which is set by sklearn.set_config."
            )
        return dict(process_routing(self, "fit", **params).splitter.split)

    def get_metadata_routing(self) -> MetadataRouter:
        """The routing of `fit`'s further arguments: to the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        return MetadataRouter(owner=self).add(splitter=check_cv(self.cv), method_mapping=mapping)


class LassoLarsCV(LarsCV):
    """The lasso by its path, with the penalty that predicts rows left out best.

    The penalties compared are those at which the paths of the folds bend, instead of a grid (`LassoCV`): none is missed
    between two of them. Take it where few columns are used; where these are strongly correlated, `LassoCV` is steadier.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.
    max_iter : int, default=500
        The most bends of a path.
    precompute : bool or "auto", default="auto"
        Whether to compute all of XᵀX first; False computes only the rows of it that are needed, "auto" takes whichever
        is less work. An array, which would be that of all rows and of no fold, is replaced by "auto" with a warning.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: a number of folds, a scikit-learn splitter or pairs of (train, test) row numbers; None
        for 5 folds. Take `GroupKFold` or `TimeSeriesSplit` where rows are not independent.
    max_n_alphas : int, default=1000
        About how many of the penalties at which the paths of the folds bend are compared.
    n_jobs : int or None, default=None
        The most threads to use, over folds; None or -1 for all that this process may. The result does not depend on it.
    eps : float, default=2.2e-16
        From 1e-7 on, columns in the span of those in use are no longer left out: they enter with this as the pivot of
        the Cholesky factor. Smaller values change nothing. Raise it for nearly collinear columns.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense.

    Attributes
    ----------
    alpha_ : float
        The penalty of the lowest mean squared error on the rows left out.
    cv_alphas_ : ndarray of shape (n_cv_alphas,)
        The penalties that were compared, rising.
    mse_path_ : ndarray of shape (n_cv_alphas, n_folds)
        The mean squared error on the rows left out, for each penalty and fold.
    alphas_ : ndarray of shape (n_bends,)
        α at every bend of the path of all rows, falling.
    active_ : list of int
        The columns in use at the end, in the order they came.
    coef_path_ : ndarray of shape (n_features, n_bends)
        The coefficients at every bend.
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    n_iter_ : int
        Steps of the path of all rows.

    See Also
    --------
    LassoLars : The same model with alpha given.
    LassoCV : Compares a grid of penalties, by coordinate descent.
    LassoLarsIC : Chooses alpha by AIC or BIC, without folds.
    LarsCV : Least angle regression, in which columns never leave.

    Notes
    -----
    The residuals of rows left out are linear in α between bends, so that their squares are known exactly at every
    penalty. The path of all rows is followed to the best one at the end. It is quicker than coordinate descent where
    few columns are used, and slower where many are.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, "Least Angle Regression", Annals of Statistics 32(2),
           2004.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> model = LassoLarsCV(cv=4).fit(X, 3 * X[:, 4] - X[:, 11] + 0.1 * rng.normal(size=100))
    >>> np.flatnonzero(np.abs(model.coef_) > 0.5)
    array([ 4, 11])
    """

    method = "lasso"

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        verbose: bool | int = False,
        max_iter: float = 500,
        precompute: Any = "auto",
        cv: Any = None,
        max_n_alphas: int = 1000,
        n_jobs: int | None = None,
        eps: float = _EPS,
        copy_X: bool = True,
        positive: bool = False,
    ) -> None:
        super().__init__(
            fit_intercept=fit_intercept,
            verbose=verbose,
            max_iter=max_iter,
            precompute=precompute,
            cv=cv,
            max_n_alphas=max_n_alphas,
            n_jobs=n_jobs,
            eps=eps,
            copy_X=copy_X,
        )
        self.positive = positive


def errors_at(grid: np.ndarray, alphas: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Mean squares at the penalties of `grid` of residuals (rows, bends) that are linear between bends.

    Of r = (1 − t) r₀ + t r₁ only ‖r₀‖², r₀ᵀr₁ and ‖r₁‖² are needed. Beyond the first and the last bend nothing changes.

    >>> errors_at(np.array([0.0, 0.5, 2.0]), np.array([1.0, 0.0]), np.array([[4.0, 0.0]]))
    array([ 0.,  4., 16.])
    """
    own = np.einsum("ij,ij->j", residuals, residuals) / len(residuals)
    if len(alphas) == 1:
        return np.full(len(grid), own[0])
    joint = np.einsum("ij,ij->j", residuals[:, 1:], residuals[:, :-1]) / len(residuals)
    rising, own, joint = alphas[::-1], own[::-1], joint[::-1]
    i = np.clip(np.searchsorted(rising, grid, side="right") - 1, 0, len(rising) - 2)
    gap = rising[i + 1] - rising[i]
    t = np.clip(np.divide(grid - rising[i], gap, out=np.ones(len(grid)), where=gap > 0), 0.0, 1.0)
    return (1 - t) ** 2 * own[i] + 2 * t * (1 - t) * joint[i] + t**2 * own[i + 1]
