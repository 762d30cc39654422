"""Forward stagewise regression."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator
from learnt.engine.finite import require_finite_cells
from learnt.engine.interrupts import stoppable
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import check_flag, check_number
from learnt.engine.rows import as_rows
from learnt.engine.schema import Schema, count, integers, real
from learnt.engine.validation import check_fit
from learnt.linalg.pursuit import resume
from learnt.linear_model._base import LinearPredictor, record_coefficients
from learnt.linear_model._schema import LINES, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.pursuit._gram import make_problem
from learnt.linear_model.pursuit._kernels import LONG, stagewise


class ForwardStagewiseRegression(LinearPredictor, RegressorMixin, Estimator):
    """Regression in many small steps, each on the column most correlated with what is left of y.

    Every step moves one coefficient, of columns scaled to variance 1, by ε = `step_size` · std(y) in the direction of
    the correlation. Many columns get small coefficients long before any gets its full one: stopping early shrinks, much
    like the lasso, whose path this follows as ε goes to 0. At the end no step of ε makes the residual shorter, which is
    near least squares. It is boosting with linear base learners.

    Parameters
    ----------
    step_size : float, default=0.01
        The size of a step as a share of the standard deviation of y; the learning rate. Smaller steps follow the path
        more exactly and are more.
    max_iter : int, default=10000
        The most steps; fewer of them (early stopping) shrink more and overfit less.
    fit_intercept : bool, default=True
        Whether to fit an intercept; otherwise it is 0, and scales are taken about 0.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    n_iter_ : int
        The number of steps taken.
    path_features_ : ndarray of shape (n_iter_,)
        Which coefficient each step moved.
    path_moves_ : ndarray of shape (n_iter_,)
        By how much: together with `path_features_` the whole path in little space.
    coef_path_ : ndarray of shape (n_iter_ + 1, n_features)
        The coefficients before the first step and after every step, put together when asked for.

    See Also
    --------
    Lars : The same idea with steps as long as possible.
    Lasso : The penalty whose path the steps follow.
    MatchingPursuit : Full steps instead of small ones.

    Notes
    -----
    A step costs O(d) for d columns, once the row of XᵀX for its column is known, which takes O(n d) for n rows. Columns
    are scaled for the choice, so that their units do not matter.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, "Least Angle Regression", Annals of Statistics 32(2),
           2004.
    .. [2] T. Hastie, J. Taylor, R. Tibshirani and G. Walther, "Forward Stagewise Regression and the Monotone Lasso",
           Electronic Journal of Statistics 1, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = 3 * X[:, 0] - X[:, 3]
    >>> model = ForwardStagewiseRegression().fit(X, y)
    >>> model.coef_.round(1) + 0.0
    array([ 3.,  0.,  0., -1.,  0.])
    >>> model.path_features_[:3]
    array([0, 0, 0])
    """

    __learnt_schema__ = Schema(
        params=WITH_INTERCEPT,
        state={
            **LINES,
            "n_iter_": count(0, name="s"),
            "path_features_": integers("s", below="d"),
            "path_moves_": real("s"),
        },
        rule=one_intercept_a_target,
    )

    def __init__(self, *, step_size: float = 0.01, max_iter: int = 10000, fit_intercept: bool = True) -> None:
        self.step_size = step_size
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> ForwardStagewiseRegression:
        """Take the steps, until none makes the residual shorter or there were `max_iter` of them."""
        check_number(self, "step_size", 0, open_low=True)
        check_number(self, "max_iter", 1, integer=True)
        check_flag(self, "fit_intercept")
        # the first products show cells that are not finite
        X, y, _ = check_fit(self, X, y, target="number", allow_nan=True)
        problem = make_problem(X, y, self.fit_intercept, "auto", None, partial(require_finite_cells, self, X))
        n, d = X.shape
        spread = np.sqrt(problem.source.square / n)
        step = self.step_size * float(np.sqrt(problem.energies[0] / n))
        correlation, coef, progress = problem.starts[0].copy(), np.zeros(d), np.zeros(1)
        features, moves = np.empty(self.max_iter, dtype=np.int64), np.empty(self.max_iter)

        stop = np.zeros(1, np.int64)

        def run(rows, where):
            steps = partial(
                stagewise,
                rows,
                where,
                spread,
                n,
                step,
                self.max_iter,
                correlation,
                coef,
                progress,
                features,
                moves,
                stop,
            )
            return stoppable(steps, stop, long=self.max_iter * d > LONG)

        if step > 0:
            resume(problem.source, correlation, run)
        columns = coef[:, None]
        record_coefficients(self, columns, problem.intercept(columns), as_rows(X, y), True)
        self.n_iter_ = int(progress[0])
        self.path_features_ = features[: self.n_iter_].copy()
        self.path_moves_ = moves[: self.n_iter_].astype(X.dtype)
        return self

    @property
    def coef_path_(self) -> np.ndarray:
        """The coefficients after 0, 1, 2, … steps, of shape (n_iter_ + 1, n_features)."""
        check_is_fitted(self)
        path = np.zeros((self.n_iter_ + 1, self.n_features_in_), dtype=self.path_moves_.dtype)
        path[np.arange(1, self.n_iter_ + 1), self.path_features_] = self.path_moves_
        return np.cumsum(path, axis=0, out=path)
