"""A plane that has most rows on one side, by stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine import progress
from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.mixins import OutlierMixin
from learnt.engine.params import check_number
from learnt.engine.rows import scores
from learnt.engine.schema import FEATURES, Schema, real
from learnt.engine.validation import check_fit, check_predict
from learnt.linear_model.sgd._base import DESCENT, StochasticDescent, progress_report
from learnt.linear_model.sgd._run import Start, run


class SGDOneClassSVM(OutlierMixin, StochasticDescent, Estimator):
    """The plane xᵀw = ρ far from 0 that leaves about the share ν of the rows below it, one row at a time.

        min over w, ρ of  ν/2 ‖w‖² − νρ + mean max(0, ρ − xᵀw)

    It is the linear `learnt.svm.OneClassSVM` in time linear in the rows; after `learnt.kernel_approximation.Nystroem`
    it comes near one with that kernel. Take it for novelty detection on many rows. A row's weight multiplies its steps.

    Parameters
    ----------
    nu : float, default=0.5
        ν, in (0, 1]: at most about this share of the training rows lies outside. Set it to the share of outliers that
        you expect.
    fit_intercept : bool, default=True
        Whether to fit ρ; otherwise it is 0.
    max_iter : int, default=1000
        The most epochs, passes over the rows, of `fit`; a call of `partial_fit` is one.
    tol : float or None, default=1e-3
        Convergence tolerance: stop when the mean loss has not fallen by `tol` for 5 epochs. None runs all epochs.
    shuffle : bool, default=True
        Whether rows come in a new random order every epoch. Leave it on unless they are in random order already.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    random_state : int, RandomState, Generator or None, default=None
        Draws the order of the rows. Pass an integer to get the same result every time.
    learning_rate : {"optimal", "constant", "invscaling", "adaptive"}, default="optimal"
        How steps shrink with their number t. "optimal" is 1/(ν(t₀ + t)) and needs no eta0; "constant" is eta0;
        "invscaling" is eta0/t^power_t; "adaptive" is eta0, divided by 5 where nothing improves.
    eta0 : float, default=0.01
        Initial learning rate of all schedules but "optimal". Lower it where the fit overflows, raise it where it is
        slow.
    power_t : float, default=0.5
        How fast "invscaling" steps shrink: the exponent in eta0 / t^power_t.
    warm_start : bool, default=False
        Whether the next `fit` goes on from the coefficients of the last one, instead of starting at 0.
    average : bool or int, default=False
        Whether to keep the mean of the coefficients over all steps, which is less noisy than the last ones; an integer
        averages from that step on.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w, the weight of each column.
    offset_ : ndarray of shape (1,)
        ρ; decision_function = score_samples − offset_.
    n_iter_ : int
        Epochs of the last fit.
    t_ : float
        Steps taken, and one.

    See Also
    --------
    learnt.svm.OneClassSVM : The exact minimum, with any kernel, for fewer rows.
    learnt.ensemble.IsolationForest : Outliers by random trees.
    learnt.kernel_approximation.Nystroem : Features that make it nonlinear.

    Notes
    -----
    An epoch takes time in the cells of X that are not 0. Bring columns to like scale first. A plane through one side of
    the data says little by itself: unless rows are far from 0, map them to kernel features first.

    References
    ----------
    .. [1] B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola, R. C. Williamson, "Estimating the support of a
       high-dimensional distribution", Neural Computation, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> X = 3 + np.random.default_rng(0).normal(size=(200, 2))
    >>> SGDOneClassSVM(nu=0.1, random_state=0).fit(X).predict([[3.0, 3.0], [-3.0, -3.0]])
    array([ 1, -1])
    """

    __learnt_schema__ = Schema(state={**FEATURES, "coef_": real("d"), "offset_": real(1)}, extra=DESCENT)
    # Rows come in a random order that is part of the result, and a weight is a longer step, not a second visit.
    # The intercept moves less on sparse rows, as in scikit-learn.
    __learnt_trial__ = Trial(
        quick={"random_state": 0},
        warmup=(Warm("none"),),
        sparse={"fit_intercept": False},
        any_order=False,
        weight_repeats=False,
        weight_unit_free=False,
    )

    # What is a parameter of SGDClassifier and fixed here
    loss, penalty, l1_ratio, epsilon = "hinge", "l2", 0.0, 0.1
    early_stopping, validation_fraction, n_iter_no_change = False, 0.1, 5

    def __init__(
        self,
        nu: float = 0.5,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: Any = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.nu = nu
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.warm_start = warm_start
        self.average = average

    @property
    def alpha(self) -> float:
        """ν, the strength of the penalty on w."""
        return self.nu

    @property
    def _drift(self) -> float:  # type: ignore[override]
        """ν, the slope of the penalty on the intercept 1 − ρ."""
        return self.nu

    @property
    def intercept_(self) -> Any:
        """What `partial_fit` goes on from: 1 − ρ."""
        return 1.0 - self.offset_

    @progress.with_callbacks
    def fit(
        self, X: Any, y: Any = None, coef_init: Any = None, offset_init: Any = None, sample_weight: Any = None
    ) -> SGDOneClassSVM:
        """Fit from the start, or from `coef_init` and `offset_init`, until nothing improves; y is not looked at.

        Parameters
        ----------
        coef_init : array-like of shape (n_features,), default=None
            Coefficients to start from; None for 0, or for the last ones with `warm_start`.
        offset_init : array-like of shape (1,), default=None
            Offset ρ to start from.
        sample_weight : array-like of shape (n_samples,), default=None
            What the steps of each row are multiplied by; rows of weight 0 are left out. None counts every row once.
        """
        check_number(self, "nu", 0, 1, open_low=True)
        self._check_parameters()
        if self._goes_on(X, coef_init):
            coef_init = self.coef_
            offset_init = self.offset_ if offset_init is None else offset_init
        X, _, w = check_fit(self, X, None, sample_weight, target=None, order="C")
        offset = np.zeros(1) if offset_init is None else np.asarray(offset_init, dtype=np.float64)
        (start,) = self._starts(1, X.shape[1], coef_init, 1.0 - offset)
        self._warn([self._descend(X, w, start, 1.0, self.max_iter)])
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SGDOneClassSVM:
        """One epoch over these rows, from where the last call ended; y is not looked at.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), default=None
            What the steps of each row are multiplied by; rows of weight 0 are left out. None counts every row once.
        """
        first = not hasattr(self, "coef_")
        check_number(self, "nu", 0, 1, open_low=True)
        self._check_parameters()
        X, _, w = check_fit(self, X, None, sample_weight, target=None, order="C", reset=first)
        start = self._starts(1, X.shape[1], None, np.ones(1))[0] if first else self._continued(1)[0]
        self._descend(X, w, start, 1.0 if first else self.t_, 1)
        return self

    def _descend(self, X: Any, w: Any, start: Start, t: float, max_iter: int) -> Any:
        weight = np.ones(X.shape[0]) if w is None else w
        present, y = np.flatnonzero(weight > 0), np.ones(X.shape[0])
        settings, seed = self._settings(max_iter), int(self._seeds(1, after=0)[0])
        (end,) = progress_report(
            self,
            max_iter,
            lambda report: [run(X, y, weight, present, start, t, settings, seed, report=report)],
            X,
            None,
        )
        coef, intercept = self._finish([end], X.dtype)
        self.coef_ = coef[0]
        self.offset_ = 1.0 - intercept
        return end

    def decision_function(self, X: Any) -> Any:
        """Positive on the side of most rows, negative on the other.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            xᵀw − ρ of each row; the lower, the more unusual.
        """
        X = check_predict(self, X, accept_sparse=True, foreign=True, lazy=True)
        return scores(X, self.coef_, -self.offset_[0])

    def score_samples(self, X: Any) -> Any:
        """xᵀw: the larger, the more like the others."""
        X = check_predict(self, X, accept_sparse=True, foreign=True, lazy=True)
        return scores(X, self.coef_, 0.0)

    def predict(self, X: Any) -> Any:
        """1 on the side of most rows, −1 on the other."""
        return np.where(np.asarray(self.decision_function(X)) >= 0, 1, -1)
