"""Linear regression by stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from learnt.engine import progress
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.schema import FEATURES, Schema, real
from learnt.linear_model._base import LinearPredictor
from learnt.linear_model.sgd._base import DESCENT, StochasticDescent, mask_of, progress_report
from learnt.linear_model.sgd._pieces import Chosen, Pieces, Problem, run_pieces
from learnt.linear_model.sgd._run import End, Start, run


class StochasticRegressor(StochasticDescent, LinearPredictor):
    """`fit` and `partial_fit` of linear regressors."""

    @progress.with_callbacks
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Any:
        """Fit from the start, or from `coef_init` and `intercept_init`, until nothing improves."""
        self._check_parameters()
        going_on = self._goes_on(X, coef_init)
        X, y, w = self._checked(X, y, sample_weight, "number")
        if going_on:
            coef_init, intercept_init = self.coef_, self.intercept_
        (start,) = self._starts(1, X.shape[1], coef_init, intercept_init)
        self._warn([self._descend(X, y, w, start, 1.0, self._get("max_iter"))])
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """One epoch over these rows, from where the last call ended."""
        first = not hasattr(self, "coef_")
        self._check_parameters(partial=True)
        X, y, w = self._checked(X, y, sample_weight, "number", reset=first)
        start = self._starts(1, X.shape[1], None, None)[0] if first else self._continued(1)[0]
        self._descend(X, y, w, start, 1.0 if first else self.t_, 1)
        return self

    def _descend(self, X: Any, y: np.ndarray, w: Any, start: Start, t: float, max_iter: int) -> End:
        weight = np.ones(X.shape[0]) if w is None else w
        present = np.flatnonzero(weight > 0)
        judge = present[self._held_out(None, len(present))]
        held, numbers = mask_of(judge, X.shape[0]), y.astype(np.float64)
        settings, seed = self._settings(max_iter), int(self._seeds(1, after=0)[0])

        def target(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            return numbers[rows], weight[rows]

        def score(outputs: np.ndarray) -> float:
            """R² on the rows held out."""
            error = numbers[judge] - outputs
            spread = numbers[judge] - np.average(numbers[judge], weights=weight[judge])
            return 1.0 - float(weight[judge] @ error**2) / max(float(weight[judge] @ spread**2), 1e-300)

        def ends(report: Any) -> list[End]:
            if isinstance(X, Pieces):
                problem, chosen = Problem(start, seed, target, score), Chosen(present, judge)
                return run_pieces(X, [problem], chosen, t, settings, None, report)
            judged = None if held is None else lambda coef, b: score(np.asarray(X[judge] @ coef) + b)
            return [run(X, numbers, weight, present, start, t, settings, seed, held, judged, report)]

        (end,) = progress_report(self, max_iter, ends, X, y)
        coef, self.intercept_ = self._finish([end], X.dtype)
        self.coef_ = coef[0]
        return end


class SGDRegressor(StochasticRegressor, RegressorMixin, Estimator):
    """A linear model of numbers, one row at a time:  min over w, b of  mean loss(y, xᵀw + b) + alpha·penalty(w).

    Each row moves the coefficients against the gradient of its own loss, by steps that shrink; rows are shuffled every
    epoch. Columns should be of like scale. A row's weight multiplies its steps; rows of weight 0 are not there.
    Files and Dask collections are read a piece at a time, as by `SGDClassifier`.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"}, default="squared_error"
        The squared error is halved, as in scikit-learn.
    penalty, alpha, l1_ratio, fit_intercept, max_iter, tol, shuffle, verbose, epsilon, random_state :
    early_stopping, validation_fraction, n_iter_no_change, warm_start, average :
        As for `SGDClassifier`; held-out rows are judged by R².
    learning_rate : {"invscaling", "constant", "optimal", "adaptive", "pa1", "pa2"}, default="invscaling"
    eta0, power_t : float, default=0.01 and 0.25

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : array of shape (1,)
    n_iter_ : int
    t_ : float
        Steps taken, and one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> SGDRegressor(random_state=0).fit(X, X @ [1.0, 2.0] + 3).coef_.round(1)
    array([1., 2.])
    """

    __learnt_takes__ = Takes(sparse=True, lazy=True)
    __learnt_schema__ = Schema(state={**FEATURES, "coef_": real("d"), "intercept_": real(1)}, extra=DESCENT)
    # Rows come in a random order that is part of the result, and a weight is a longer step, not a second visit.
    # The intercept moves less on sparse rows, as in scikit-learn.
    __learnt_trial__ = Trial(
        quick={"random_state": 0},
        warmup=(Warm("amount"),),
        sparse={"fit_intercept": False},
        weighted=({"early_stopping": True, "average": True},),
        any_order=False,
        weight_repeats=False,
        weight_unit_free=False,
    )

    _losses = ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")

    def __init__(
        self,
        loss="squared_error",
        *,
        penalty="l2",
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        epsilon=0.1,
        random_state=None,
        learning_rate="invscaling",
        eta0=0.01,
        power_t=0.25,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        warm_start=False,
        average=False,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
