"""Linear regression by stochastic gradient descent."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from learnt.engine import progress
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import RegressorMixin
from learnt.engine.schema import FEATURES, Schema, real
from learnt.linear_model._base import LinearPredictor
from learnt.linear_model.sgd._base import DESCENT, StochasticDescent, mask_of, progress_report
from learnt.linear_model.sgd._pieces import Chosen, Pieces, Problem, run_pieces
from learnt.linear_model.sgd._run import End, Start, run


class StochasticRegressor(StochasticDescent, LinearPredictor):
    """`fit` and `partial_fit` of linear regressors."""

    @progress.with_callbacks
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Fit from the start, or from `coef_init` and `intercept_init`, until nothing improves.

        Parameters
        ----------
        coef_init : array-like of shape (n_features,), default=None
            Coefficients to start from; None for 0, or for the last ones with `warm_start`.
        intercept_init : array-like of shape (1,), default=None
            Intercept to start from.
        sample_weight : array-like of shape (n_samples,), default=None
            What the steps of each row are multiplied by; rows of weight 0 are left out. None counts every row once.
        """
        self._check_parameters()
        going_on = self._goes_on(X, coef_init)
        X, y, w = self._checked(X, y, sample_weight, "number")
        if going_on:
            coef_init, intercept_init = self.coef_, self.intercept_
        (start,) = self._starts(1, X.shape[1], coef_init, intercept_init)
        self._warn([self._descend(X, y, w, start, 1.0, self._get("max_iter"))])
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One epoch over these rows, from where the last call ended.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), default=None
            What the steps of each row are multiplied by; rows of weight 0 are left out. None counts every row once.
        """
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
    epoch. A row's weight multiplies its steps; rows of weight 0 are not there. Take it where rows are too many for
    memory or keep coming (`partial_fit`); for what fits in memory, `Ridge` and `ElasticNet` find the exact minimum
    without a learning rate to tune.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"}, default="squared_error"
        What a miss costs. "squared_error" is its square, halved as in scikit-learn; "huber" is linear beyond `epsilon`,
        robust to outliers; "epsilon_insensitive" is free up to `epsilon` and linear beyond, as in support vector
        regression; "squared_epsilon_insensitive" is the square of that.
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        Kind of regularisation. "l2" is ‖w‖²/2, which shrinks all coefficients; "l1" is ‖w‖₁, which makes many exactly 0
        and so selects features; "elasticnet" is l1_ratio·‖w‖₁ + (1 − l1_ratio)·‖w‖²/2; None is none.
    alpha : float, default=1e-4
        Regularisation strength: larger values mean more shrinkage and less overfitting. Try powers of 10 from 1e-6 to
        0.1.
    l1_ratio : float, default=0.15
        Share of the absolute in the "elasticnet" penalty, from 0 (all "l2") to 1 (all "l1"); other penalties do not use
        it.
    fit_intercept : bool, default=True
        Whether to fit the intercept b, which is not penalised; otherwise it is 0, which suits centred data.
    max_iter : int, default=1000
        The most epochs, passes over the rows, of `fit`; a call of `partial_fit` is one.
    tol : float or None, default=1e-3
        Convergence tolerance: stop when the mean loss has not fallen by `tol` for `n_iter_no_change` epochs. None runs
        all epochs.
    shuffle : bool, default=True
        Whether rows come in a new random order every epoch. Leave it on unless they are in random order already.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    epsilon : float, default=0.1
        The threshold of all losses but "squared_error", in the unit of y.
    random_state : int, RandomState, Generator or None, default=None
        Draws the order of the rows, and those held out for `early_stopping`. Pass an integer to get the same result
        every time.
    learning_rate : {"invscaling", "constant", "optimal", "adaptive", "pa1", "pa2"}, default="invscaling"
        How steps shrink with their number t. "invscaling" is eta0/t^power_t; "constant" is eta0; "optimal" is
        1/(alpha(t₀ + t)); "adaptive" is eta0, divided by 5 where nothing improves; "pa1" and "pa2" are the
        passive-aggressive steps, of at most eta0 or damped by it, for the "epsilon_insensitive" loss.
    eta0 : float, default=0.01
        Initial learning rate of all schedules but "optimal". Lower it where the fit overflows, raise it where it is
        slow.
    power_t : float, default=0.25
        How fast "invscaling" steps shrink: the exponent in eta0 / t^power_t.
    early_stopping : bool, default=False
        Whether to judge epochs by R² on rows held out and keep the best one, against overfitting; otherwise by the
        training loss. Not possible with `partial_fit`.
    validation_fraction : float, default=0.1
        Share of the rows that `early_stopping` holds out.
    n_iter_no_change : int, default=5
        Patience: how many epochs without an improvement of `tol` end the fit.
    warm_start : bool, default=False
        Whether the next `fit` goes on from the coefficients of the last one, instead of starting at 0.
    average : bool or int, default=False
        Whether to keep the mean of the coefficients over all steps, which is less noisy than the last ones; an integer
        averages from that step on.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weight of each column.
    intercept_ : ndarray of shape (1,)
        The constant of the prediction.
    n_iter_ : int
        Epochs of the last fit.
    t_ : float
        Steps taken, and one.

    See Also
    --------
    Ridge : The exact minimum of the squared error with the "l2" penalty.
    ElasticNet : The exact minimum of the squared error with "l1" and "elasticnet" penalties.
    HuberRegressor : The exact minimum of a robust loss.
    SGDClassifier : The same for classes.

    Notes
    -----
    An epoch takes time in the cells of X that are not 0. Bring columns to like scale first
    (`learnt.preprocessing.StandardScaler`): one learning rate serves all. Files (`learnt.scan`) and Dask collections
    are read once an epoch, twice with `early_stopping`, a piece in memory at a time: rows are shuffled within a piece,
    so order a file at random; y is in memory.

    References
    ----------
    .. [1] L. Bottou, "Large-scale machine learning with stochastic gradient descent", COMPSTAT, 2010.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> model = SGDRegressor(random_state=0).fit(X, X @ [1.0, 2.0] + 3)
    >>> model.coef_.round(1)
    array([1., 2.])
    >>> model.intercept_.round(1)
    array([3.])
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
        loss: str = "squared_error",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: Any = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
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
