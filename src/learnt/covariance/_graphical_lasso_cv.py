"""The graphical lasso with its penalty chosen by the likelihood of rows left out."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from learnt.covariance._empirical import STATE, EmpiricalCovariance
from learnt.covariance._gauss import inverse, log_likelihood
from learnt.covariance._glasso import Goal, graphical_lasso_of, largest_penalty
from learnt.covariance._graphical_lasso import (
    _EPS,
    check_solver,
    checked_covariance,
    goal_of,
    sparse_inverse,
)
from learnt.covariance._sample import sample
from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.params import ParameterError, check_number
from learnt.engine.schema import Schema, count, number, record
from learnt.engine.threads import run_tasks
from learnt.engine.validation import check_fit

_LEAST = 1e-2  # where the first grid ends, as a share of the penalty that leaves no edge


def fold_scores(S: np.ndarray, held_out: np.ndarray, alphas: np.ndarray, goal: Goal) -> tuple[np.ndarray, int]:
    """The mean log density of rows with covariance `held_out` under the model of S, at falling penalties.

    Also how many of the fits did not reach the goal.
    """
    scores, start, missed = np.empty(len(alphas)), None, 0
    for a, alpha in enumerate(alphas):
        if alpha == 0:
            scores[a] = log_likelihood(held_out, inverse(S))
            continue
        found = graphical_lasso_of(S, alpha, goal, start)
        start = (found.covariance, found.B, alpha)
        missed += not found.gap <= goal.tol
        scores[a] = log_likelihood(held_out, found.precision) if np.isfinite(found.gap) else -np.inf
    return scores, missed


class GraphicalLassoCV(EmpiricalCovariance):
    """`GraphicalLasso` with the penalty under which rows left out have the largest likelihood.

    A grid of penalties, even in their logarithms, is refined around the best one several times. The inverse without a
    penalty is scored with them, and not chosen.

    Parameters
    ----------
    alphas : int or array-like of float, default=4
        How many penalties a grid has, or all penalties to try, each greater than 0.
    n_refinements : int, default=4
        How many grids to try, each finer than the one before; more find alpha more exactly. Without effect where
        `alphas` is a list.
    cv : int, cross-validation splitter, iterable or None, default=None
        The folds: how many, a splitter such as `KFold`, or pairs of row numbers; None is 5 folds.
    tol : float, default=1e-4
        Stopping tolerance: the fit ends when the duality gap is at most this. Larger is faster and less exact; raise
        it, or `max_iter`, after a convergence warning.
    enet_tol : float, default=1e-4
        Tolerance of the lasso of a single column: the most that its last sweep may gain, in units of log det. A smaller
        one is used by itself where `tol` needs it.
    max_iter : int, default=100
        The most passes over all columns.
    mode : {"cd", "lars"}, default="cd"
        Kept for scikit-learn's signature: both find the same minimum by coordinate descent.
    n_jobs : int or None, default=None
        The most threads; folds are fitted side by side. The result does not depend on it.
    verbose : bool, default=False
        Kept for scikit-learn's signature, and without effect.
    eps : float, default=machine epsilon
        Kept for scikit-learn's signature, and without effect.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen.
    cv_results_ : dict of ndarray
        "alphas", falling, and for each "split0_test_score", …, "mean_test_score" and "std_test_score": mean log
        densities of rows left out, about their own mean; the penalty 0 comes last.
    location_ : ndarray of shape (n_features,)
        The estimated mean of the rows; 0 where `assume_centered`.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance under the model, fitted to all rows at `alpha_`.
    precision_ : ndarray of shape (n_features, n_features)
        Its sparse inverse.
    costs_ : list of (float, float)
        Objective and duality gap after each pass of the last fit, to all rows.
    n_iter_ : int
        The number of passes of that fit.

    See Also
    --------
    GraphicalLasso : With a penalty of your own.
    LedoitWolf : Shrinkage without zeros, which needs no cross-validation.

    Notes
    -----
    Each fold is fitted at falling penalties, each starting from the one before. By default that is 5 folds of about 16
    penalties; a fit costs some passes of O(d³) at most each, for d columns.

    References
    ----------
    .. [1] J. Friedman, T. Hastie and R. Tibshirani, "Sparse inverse covariance estimation with the graphical lasso",
       Biostatistics 9, 2008.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(300, 4))
    >>> model = GraphicalLassoCV().fit(x)
    >>> bool(abs(model.precision_ - np.eye(4)).max() < 0.3), len(model.cv_results_["alphas"])
    (True, 17)
    """

    __learnt_schema__ = Schema(
        state={**STATE, "alpha_": number(0)}, extra={"costs_": record, "n_iter_": count(), "cv_results_": record}
    )
    __learnt_takes__ = Takes()
    # Folds are stretches of the rows: in another order they are others.
    __learnt_trial__ = Trial(quick={"alphas": 2, "n_refinements": 1}, warmup=(Warm("none"),), any_order=False)

    def __init__(
        self,
        *,
        alphas: Any = 4,
        n_refinements: int = 4,
        cv: Any = None,
        tol: float = 1e-4,
        enet_tol: float = 1e-4,
        max_iter: int = 100,
        mode: str = "cd",
        n_jobs: int | None = None,
        verbose: Any = False,
        eps: float = _EPS,
        assume_centered: bool = False,
    ) -> None:
        self.alphas = alphas
        self.n_refinements = n_refinements
        self.cv = cv
        self.tol = tol
        self.enet_tol = enet_tol
        self.max_iter = max_iter
        self.mode = mode
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.eps = eps
        self.assume_centered = assume_centered

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Choose the penalty by cross-validation, and fit all rows with it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,), default=None
            Not used, but handed to the splitter of the folds.
        **params : dict
            Metadata such as `groups` for the splitter; needs `sklearn.set_config(enable_metadata_routing=True)`.
        """
        check_number(self, "n_refinements", 1, integer=True)
        check_solver(self)
        alphas = self._listed()
        name = type(self).__name__
        X = check_fit(self, X, min_rows=2).X
        found = sample(X, self.assume_centered, name)
        S = checked_covariance(found.covariance, name, True)
        given = self._for_folds(params)
        folds = list(check_cv(self.cv).split(X, y, **given))
        pairs = [self._pair(X, train, test) for train, test in folds]
        results = self._search(pairs, S, alphas, name)
        self.cv_results_ = results
        self.alpha_ = float(results["alphas"][_first_best(results["mean_test_score"][:-1])])
        last = sparse_inverse(S, self.alpha_, goal_of(self), name)
        self.location_, self.covariance_, self.precision_ = found.location, last.covariance, last.precision
        self.costs_, self.n_iter_ = last.costs, len(last.costs)
        return self

    def _for_folds(self, params: dict[str, Any]) -> dict[str, Any]:
        """What the folds' splitter is given besides the rows."""
        if not params:
            return {}
        if not get_config().get("enable_metadata_routing", False):
            raise ValueError(
                f"[{', '.join(params)}] are passed to fit of GraphicalLassoCV, which hands them to the splitter only "
                "with sklearn.set_config(enable_metadata_routing=True)."
            )
        return dict(process_routing(self, "fit", **params).splitter.split)

    def _listed(self) -> np.ndarray | None:
        """The penalties given, falling; None where only their number is."""
        if isinstance(self.alphas, Integral) and not isinstance(self.alphas, bool):
            check_number(self, "alphas", 1, integer=True)
            return None
        values = np.ravel(np.asarray(self.alphas, dtype=object)).tolist()
        if not values:
            raise ParameterError("alphas holds no penalty; give GraphicalLassoCV one or more, or their number.")
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise TypeError(f"Each of alphas must be an instance of float; GraphicalLassoCV got {value!r}.")
            if not 0 < value < np.inf:
                raise ValueError(f"Each of alphas must be > 0 and finite; GraphicalLassoCV got {value!r}.")
        return np.unique(np.array(values, dtype=np.float64))[::-1]

    def _pair(self, X: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The covariances of a fold's rows and of those left out."""
        name = type(self).__name__
        S, held_out = (sample(X[rows], self.assume_centered, name, quiet=True).covariance for rows in (train, test))
        return checked_covariance(S, name + " in each fold", True), held_out

    def _search(self, pairs: list, S: np.ndarray, alphas: np.ndarray | None, name: str) -> dict[str, np.ndarray]:
        """The scores at all penalties that were tried, falling, and at 0."""
        scores: dict[float, np.ndarray] = {}
        tried, missed = [0.0], 0
        top = max(largest_penalty(S), np.finfo(float).tiny)
        for turn in range(self.n_refinements if alphas is None else 1):
            if alphas is not None:
                grid = alphas
            elif turn == 0:
                grid = np.geomspace(top, _LEAST * top, self.alphas)
            else:  # the ends have been scored
                grid = np.geomspace(*_around_best(scores), self.alphas + 2)[1:-1]
            missed += self._score(pairs, grid, scores)
            tried += grid.tolist()
        missed += self._score(pairs, np.zeros(1), scores)
        if missed:
            warnings.warn(
                f"{missed} of the fits on folds of {name} did not converge in {self.max_iter} iterations; increase "
                "max_iter or tol, or leave out small alphas.",
                ConvergenceWarning,
                stacklevel=3,
            )
        order = sorted(tried, reverse=True)
        table = np.array([scores[alpha] for alpha in order])
        results = {"alphas": np.array(order)}
        results |= {f"split{i}_test_score": table[:, i] for i in range(table.shape[1])}
        with np.errstate(invalid="ignore"):
            return results | {"mean_test_score": table.mean(axis=1), "std_test_score": table.std(axis=1)}

    def _score(self, pairs: list, grid: np.ndarray, scores: dict[float, np.ndarray]) -> int:
        goal = goal_of(self)
        tasks = [partial(fold_scores, S, held_out, grid, goal) for S, held_out in pairs]
        found = run_tasks(tasks, n_jobs=self.n_jobs)
        for a, alpha in enumerate(grid):
            scores[float(alpha)] = np.array([one[a] for one, _ in found])
        return sum(missed for _, missed in found)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes to the splitter of the folds, for scikit-learn's metadata routing."""
        mapping = MethodMapping().add(callee="split", caller="fit")
        return MetadataRouter(owner=type(self).__name__).add(splitter=check_cv(self.cv), method_mapping=mapping)


def _first_best(scores: np.ndarray) -> int:
    """Of equal scores that of the largest penalty."""
    return int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))


def _around_best(scores: dict[float, np.ndarray]) -> tuple[float, float]:
    """The penalties on both sides of the best one, which the next grid lies between."""
    alphas = sorted(scores, reverse=True)
    best = _first_best(np.array([scores[alpha].mean() for alpha in alphas]))
    high, low = alphas[max(best - 1, 0)], alphas[min(best + 1, len(alphas) - 1)]
    if best == len(alphas) - 1:  # the least of all: go below
        low = _LEAST * alphas[best]
    return high, low
