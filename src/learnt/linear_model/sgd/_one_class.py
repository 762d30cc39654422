"""A plane that has most rows on one side, by stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from learnt.engine import progress
from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.params import check_number
from learnt.engine.rows import scores
from learnt.engine.schema import FEATURES, Schema, real
from learnt.engine.validation import check_fit, check_predict
from learnt.linear_model.sgd._base import DESCENT, StochasticDescent, progress_report
from learnt.linear_model.sgd._run import Start, run


class SGDOneClassSVM(OutlierMixin, StochasticDescent, Estimator):
    """The plane xᵀw = ρ far from 0 that leaves about the share ν of the rows below it, one row at a time.

        min over w, ρ of  ν/2 ‖w‖² − νρ + mean max(0, ρ − xᵀw)

    It is the linear `svm.OneClassSVM` in time linear in the rows; after `kernel_approximation.Nystroem` it comes near
    one with that kernel. Columns should be of like scale. A row's weight multiplies its steps.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        ν: at most about this share of the rows lies outside.
    learning_rate : {"optimal", "constant", "invscaling", "adaptive"}, default="optimal"
        "optimal" steps are 1/(ν(t₀ + t)).
    fit_intercept : bool, default=True
        Whether to fit ρ; otherwise it is 0.
    max_iter, tol, shuffle, verbose, random_state, eta0, power_t, warm_start, average
        As for `SGDClassifier`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    offset_ : array of shape (1,)
        ρ; decision_function = score_samples − offset_.
    n_iter_ : int
    t_ : float
        Steps taken, and one.

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
        nu=0.5,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        random_state=None,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        warm_start=False,
        average=False,
    ):
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
        """Fit from the start, or from `coef_init` and `offset_init`, until nothing improves; y is not looked at."""
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
        """One epoch over these rows, from where the last call ended; y is not looked at."""
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
        """Positive on the side of most rows, negative on the other."""
        X = check_predict(self, X, accept_sparse=True, foreign=True, lazy=True)
        return scores(X, self.coef_, -self.offset_[0])

    def score_samples(self, X: Any) -> Any:
        """xᵀw: the larger, the more like the others."""
        X = check_predict(self, X, accept_sparse=True, foreign=True, lazy=True)
        return scores(X, self.coef_, 0.0)

    def predict(self, X: Any) -> Any:
        """1 on the side of most rows, −1 on the other."""
        return np.where(np.asarray(self.decision_function(X)) >= 0, 1, -1)
