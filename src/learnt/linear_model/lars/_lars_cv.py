"""Least angle regression and the lasso with their penalty chosen by cross-validation."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

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

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept; otherwise it is 0.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.
    max_iter : int, default=500
        The most steps.
    precompute : bool or "auto", default="auto"
        As in `Lars`; of a matrix, which would be that of all rows, "auto" is made.
    cv : int, splitter, iterable or None, default=None
        How rows are left out; None is 5 folds.
    max_n_alphas : int, default=1000
        About how many of the penalties at which a fold's path bends are compared.
    n_jobs : int or None, default=None
        How many folds at a time; None is the number of threads.
    eps, copy_X
        As in `Lars`.

    Attributes
    ----------
    alpha_ : float
        The penalty that was chosen.
    cv_alphas_ : array of shape (n_cv_alphas,)
        The penalties that were compared, rising.
    mse_path_ : array of shape (n_cv_alphas, n_folds)
        The mean squared error on the rows left out.
    alphas_, active_, coef_path_, coef_, intercept_, n_iter_
        Of the path of all rows, as in `Lars`.

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
        fit_intercept=True,
        verbose=False,
        max_iter=500,
        precompute="auto",
        cv=None,
        max_n_alphas=1000,
        n_jobs=None,
        eps=_EPS,
        copy_X=True,
    ):
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.max_iter = max_iter
        self.precompute = precompute
        self.cv = cv
        self.max_n_alphas = max_n_alphas
        self.n_jobs = n_jobs
        self.eps = eps
        self.copy_X = copy_X

    def fit(self, X: Any, y: Any, **params: Any) -> Any:
        """Choose the penalty on folds, then follow the path of all rows to it; `params` go to the splitter."""
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

    The penalties compared are those at which the paths of the folds bend, instead of a grid (`LassoCV`).

    Parameters
    ----------
    max_iter : int, default=500
        The most bends of a path.
    positive : bool, default=False
        Keep all coefficients at 0 or more.
    fit_intercept, verbose, precompute, cv, max_n_alphas, n_jobs, eps, copy_X
        As in `LarsCV`.

    Attributes
    ----------
    alpha_, cv_alphas_, mse_path_, alphas_, active_, coef_path_, coef_, intercept_, n_iter_
        As in `LarsCV`.

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
        fit_intercept=True,
        verbose=False,
        max_iter=500,
        precompute="auto",
        cv=None,
        max_n_alphas=1000,
        n_jobs=None,
        eps=_EPS,
        copy_X=True,
        positive=False,
    ):
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
