"""Passive-aggressive learning: the shortest step after which a row has no loss, or none longer than C."""

from __future__ import annotations

import sys
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.params import check_number
from learnt.engine.schema import FEATURES, Schema, one_plane_a_class, real
from learnt.linear_model.sgd._base import DESCENT, PLANES
from learnt.linear_model.sgd._classifier import StochasticClassifier
from learnt.linear_model.sgd._regressor import StochasticRegressor

# Rows come in a random order that is part of the result, and a weight is a longer step, not a second visit.
# The intercept moves less on sparse rows, as in scikit-learn.
_TRIAL: dict[str, Any] = {
    "quick": {"random_state": 0},
    "sparse": {"fit_intercept": False},
    "any_order": False,
    "weight_repeats": False,
    "weight_unit_free": False,
}

_FINITE = sys.float_info.max


class _PassiveAggressive:
    """The parameters of descent that are fixed here; the two losses take the same slope and differ in the step."""

    penalty, alpha, l1_ratio, power_t = None, 1.0, 0.0, 0.5
    C: float
    loss: str
    _losses: tuple[str, ...]

    @property
    def eta0(self) -> float:
        return min(self.C, _FINITE)  # a step that nothing bounds, but no infinity to multiply by 0

    def _check_parameters(self, partial: bool = False) -> None:
        check_number(self, "C", 0, open_low=True)
        super()._check_parameters(partial)  # type: ignore[misc]

    def _get(self, name: str) -> Any:
        if name == "loss":
            return self._losses[0]
        if name == "learning_rate":
            return "pa1" if self.loss == self._losses[0] else "pa2"
        return getattr(self, name)


class PassiveAggressiveClassifier(_PassiveAggressive, StochasticClassifier, ClassifierMixin, Estimator):
    """A linear classifier that moves as little as corrects a row:  w ← w + τ y x  where  ℓ = max(0, 1 − y xᵀw) > 0.

    τ is min(C, ℓ/‖x‖²) for the hinge (PA-I) and ℓ/(‖x‖² + 1/(2C)) for its square (PA-II). With more than two classes,
    one for each against the rest. `SGDClassifier(penalty=None, learning_rate="pa1", eta0=C)` is the same.

    Parameters
    ----------
    C : float, default=1.0
        The longest step (PA-I), or how much loss is worth beside the length of a step (PA-II).
    loss : {"hinge", "squared_hinge"}, default="hinge"
        PA-I or PA-II.
    fit_intercept, max_iter, tol, early_stopping, validation_fraction, n_iter_no_change, shuffle, verbose, n_jobs, \
random_state, warm_start, class_weight, average
        As for `SGDClassifier`.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, t_
        As for `SGDClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> PassiveAggressiveClassifier(random_state=0).fit(X, ["no", "no", "yes", "yes"]).predict([[-1.5], [1.5]])
    array(['no', 'yes'], dtype='<U3')
    """

    __learnt_schema__ = Schema(state=PLANES, extra=DESCENT, rule=one_plane_a_class)
    __learnt_trial__ = Trial(warmup=(Warm("two classes"),), **_TRIAL)

    _losses = ("hinge", "squared_hinge")
    epsilon = 0.1

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        shuffle=True,
        verbose=0,
        loss="hinge",
        n_jobs=None,
        random_state=None,
        warm_start=False,
        class_weight=None,
        average=False,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average


class PassiveAggressiveRegressor(_PassiveAggressive, StochasticRegressor, RegressorMixin, Estimator):
    """A linear model of numbers that moves as little as brings a row within ε:  ℓ = max(0, |y − xᵀw| − ε).

    w ← w ± τ x with the τ of `PassiveAggressiveClassifier`; its square is PA-II.

    Parameters
    ----------
    C : float, default=1.0
        The longest step (PA-I), or how much loss is worth beside the length of a step (PA-II).
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        PA-I or PA-II.
    epsilon : float, default=0.1
        ε.
    fit_intercept, max_iter, tol, early_stopping, validation_fraction, n_iter_no_change, shuffle, verbose, \
random_state, warm_start, average
        As for `SGDRegressor`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, t_
        As for `SGDRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> PassiveAggressiveRegressor(random_state=0, epsilon=0.01).fit(X, X @ [1.0, 2.0] + 3).coef_.round(1)
    array([1., 2.])
    """

    __learnt_schema__ = Schema(state={**FEATURES, "coef_": real("d"), "intercept_": real(1)}, extra=DESCENT)
    __learnt_trial__ = Trial(warmup=(Warm("amount"),), **_TRIAL)

    _losses = ("epsilon_insensitive", "squared_epsilon_insensitive")

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        shuffle=True,
        verbose=0,
        loss="epsilon_insensitive",
        epsilon=0.1,
        random_state=None,
        warm_start=False,
        average=False,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average
