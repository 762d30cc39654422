"""Orthogonal matching pursuit with the number of columns chosen by cross-validation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import check_flag, check_number
from learnt.engine.rows import as_rows
from learnt.engine.schema import Schema, count, real
from learnt.engine.threads import run_tasks
from learnt.engine.validation import check_fit
from learnt.linalg.pursuit import solve
from learnt.linear_model._base import LinearPredictor, record_coefficients
from learnt.linear_model._schema import COUNTS, LINES, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.pursuit._gram import fold_problems, make_problem
from learnt.linear_model.pursuit._solve import warn_spent


class OrthogonalMatchingPursuitCV(LinearPredictor, RegressorMixin, Estimator):
    """Orthogonal matching pursuit that takes as many columns as predict rows left out best.

    Every fold takes its columns one after the other; the number with the lowest mean error is then taken from all rows.

    Parameters
    ----------
    copy : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.
    max_iter : int or None, default=None
        The most columns to try; None for a tenth of them, but at least 5 where there are so many. Raise it where the
        largest number is chosen.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: a number of folds, a scikit-learn splitter or pairs of (train, test) row numbers; None
        for 5 folds. Take `GroupKFold` or `TimeSeriesSplit` where rows are not independent.
    n_jobs : int or None, default=None
        The most threads to use, over folds; None or -1 for all that this process may. The result does not depend on it.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    n_nonzero_coefs_ : int
        The number of columns that was best.
    n_iter_ : int
        The number of columns taken when fitted on all rows.
    mse_path_ : ndarray of shape (n_steps, n_folds)
        The mean squared error on the rows left out, by number of columns (1, 2, …).

    See Also
    --------
    OrthogonalMatchingPursuit : The same model with the number of columns given.
    LarsCV : Chooses where least angle regression ends.
    LassoCV : Chooses the penalty of the lasso.

    Notes
    -----
    The cost is that of one pursuit for each fold, with up to `max_iter` columns, and of one more of all rows.

    References
    ----------
    .. [1] S. Mallat and Z. Zhang, "Matching Pursuits with Time-Frequency Dictionaries", IEEE Transactions on Signal
           Processing 41(12), 1993.
    .. [2] Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, "Orthogonal Matching Pursuit: Recursive Function
           Approximation with Applications to Wavelet Decomposition", Asilomar Conference on Signals, Systems and
           Computers, 1993.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> model = OrthogonalMatchingPursuitCV().fit(X, 3 * X[:, 4] - X[:, 11] + 0.1 * rng.normal(size=100))
    >>> int(model.n_nonzero_coefs_)
    2
    """

    __learnt_schema__ = Schema(
        params=WITH_INTERCEPT,
        state={**LINES, "n_iter_": COUNTS, "n_nonzero_coefs_": count(1), "mse_path_": real(None, None, low=0)},
        rule=one_intercept_a_target,
    )
    __learnt_trial__ = Trial(warmup=(Warm("amount", {"cv": 2}),))

    def __init__(
        self,
        *,
        copy: bool = True,
        fit_intercept: bool = True,
        max_iter: int | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        positive: bool = False,
    ) -> None:
        self.copy = copy
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.positive = positive

    def fit(self, X: Any, y: Any, **fit_params: Any) -> OrthogonalMatchingPursuitCV:
        """Choose the number of columns on folds, then fit on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,)
            The number to predict for each row.
        **fit_params : dict
            Metadata for the splitter, such as `groups`, with scikit-learn's metadata routing.
        """
        check_flag(self, "fit_intercept", "positive", "copy")
        check_number(self, "max_iter", 0, integer=True, also=(None,))
        X, y, _ = check_fit(self, X, y, target="number", min_rows=2)
        d = X.shape[1]
        steps = min(self.max_iter, d) if self.max_iter else min(max(d // 10, 5), d)
        folds = list(check_cv(self.cv, classifier=False).split(X, **self._routed(fit_params)))
        all_rows, parts = fold_problems(X, y, folds, self.fit_intercept, steps, self.n_jobs)
        errors = run_tasks(
            [
                partial(self._errors, X, y, train, test, part, steps)
                for (train, test), part in zip(folds, parts, strict=True)
            ],
            n_jobs=self.n_jobs,
        )
        shortest = min(len(e) for e in errors)
        if not shortest:  # nothing to explain in one of the folds
            self.mse_path_, best = np.empty((0, len(folds))), 1
        else:
            self.mse_path_ = np.stack([e[:shortest] for e in errors], axis=1)
            best = int(self.mse_path_.mean(axis=1).argmin()) + 1
        all_rows = all_rows or make_problem(X, y, self.fit_intercept, "auto", best)
        codes = solve(all_rows.source, all_rows.starts, all_rows.energies, best, None, bool(self.positive), False)
        warn_spent(codes, best, None)
        coef = codes.coef.T
        record_coefficients(self, coef, all_rows.intercept(coef), as_rows(X, y), True)
        self.n_nonzero_coefs_ = best
        self.n_iter_ = int(codes.n_iter[0])
        return self

    def _errors(self, X: np.ndarray, y: np.ndarray, train: Any, test: Any, make: Any, steps: int) -> np.ndarray:
        """Mean squared error on `test` after each step on `train`."""
        problem = make() if make else make_problem(X[train], y[train], self.fit_intercept, False, steps)
        limit = min(steps, len(y[train]))
        codes = solve(problem.source, problem.starts, problem.energies, limit, None, bool(self.positive), True)
        coef = codes.path[0].T  # type: ignore[index]
        return ((X[test] @ coef + problem.intercept(coef) - y[test][:, None]) ** 2).mean(axis=0)

    def _routed(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        """What of `fit_params` the splitter asked for (scikit-learn's metadata routing)."""
        return dict(process_routing(self, "fit", **fit_params).splitter.split) if fit_params else {}

    def get_metadata_routing(self) -> MetadataRouter:
        """The routing of `fit`'s further arguments: to the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        return MetadataRouter(owner=self).add(splitter=self.cv, method_mapping=mapping)
