"""Passive-aggressive learning: the shortest step after which a row has no loss, or none longer than C."""

from __future__ import annotations

import sys
from typing import Any

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.mixins import ClassifierMixin, RegressorMixin
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
        """The longest step: `C`, or the largest number where `C` is infinite."""
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
    one for each against the rest. `SGDClassifier(penalty=None, learning_rate="pa1", eta0=C)` is the same. Take it for
    rows that keep coming (`partial_fit`), since it has no learning rate that must shrink.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, greater than 0: the longest step (PA-I), or how much loss is worth beside the length of a step
        (PA-II). Smaller values regularise more: single noisy rows move the plane less.
    fit_intercept : bool, default=True
        Whether to fit the intercept b, which is not penalised; otherwise it is 0, which suits centred data.
    max_iter : int, default=1000
        The most epochs, passes over the rows, of `fit`; a call of `partial_fit` is one.
    tol : float or None, default=1e-3
        Convergence tolerance: stop when the mean loss has not fallen by `tol` for `n_iter_no_change` epochs. None runs
        all epochs.
    early_stopping : bool, default=False
        Whether to judge epochs by the accuracy on rows held out and keep the best one, against overfitting; otherwise
        by the training loss. Not possible with `partial_fit`.
    validation_fraction : float, default=0.1
        Share of the rows that `early_stopping` holds out.
    n_iter_no_change : int, default=5
        Patience: how many epochs without an improvement of `tol` end the fit.
    shuffle : bool, default=True
        Whether rows come in a new random order every epoch. Leave it on unless they are in random order already.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The rule of steps: "hinge" is PA-I, whose steps are cut off at C; "squared_hinge" is PA-II, whose steps are
        damped by it.
    n_jobs : int or None, default=None
        The most threads, where there are more than two classes; None or -1 for all that this process may use.
    random_state : int, RandomState, Generator or None, default=None
        Draws the order of the rows, and those held out for `early_stopping`. Pass an integer to get the same result
        every time.
    warm_start : bool, default=False
        Whether the next `fit` goes on from the coefficients of the last one, instead of starting at 0.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" gives every class the same total: more
        recall of rare classes, at the cost of precision. With `partial_fit` give a dict.
    average : bool or int, default=False
        Whether to keep the mean of the coefficients over all steps, which is less noisy than the last ones; an integer
        averages from that step on.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in order.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weight of each column: one row for two classes, else one a class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constant of each score.
    n_iter_ : int
        Epochs of the last fit; the most of any class.
    t_ : float
        Steps taken, and one.

    See Also
    --------
    SGDClassifier : The same steps by learning_rate="pa1", and many others.
    Perceptron : Steps of fixed length.
    PassiveAggressiveRegressor : The same for numbers.

    Notes
    -----
    An epoch takes time in the cells of X that are not 0. A row's weight multiplies its steps; rows of weight 0 are not
    there.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online passive-aggressive algorithms",
       Journal of Machine Learning Research, 2006.

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
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "hinge",
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        average: bool | int = False,
    ) -> None:
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

    w ← w ± τ x, where τ is min(C, ℓ/‖x‖²) (PA-I) or ℓ/(‖x‖² + 1/(2C)) (PA-II). Take it for rows that keep coming
    (`partial_fit`), since it has no learning rate that must shrink.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, greater than 0: the longest step (PA-I), or how much loss is worth beside the length of a step
        (PA-II). Smaller values regularise more: outliers move the line less.
    fit_intercept : bool, default=True
        Whether to fit the intercept b, which is not penalised; otherwise it is 0, which suits centred data.
    max_iter : int, default=1000
        The most epochs, passes over the rows, of `fit`; a call of `partial_fit` is one.
    tol : float or None, default=1e-3
        Convergence tolerance: stop when the mean loss has not fallen by `tol` for `n_iter_no_change` epochs. None runs
        all epochs.
    early_stopping : bool, default=False
        Whether to judge epochs by R² on rows held out and keep the best one, against overfitting; otherwise by the
        training loss. Not possible with `partial_fit`.
    validation_fraction : float, default=0.1
        Share of the rows that `early_stopping` holds out.
    n_iter_no_change : int, default=5
        Patience: how many epochs without an improvement of `tol` end the fit.
    shuffle : bool, default=True
        Whether rows come in a new random order every epoch. Leave it on unless they are in random order already.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The rule of steps: "epsilon_insensitive" is PA-I, whose steps are cut off at C; "squared_epsilon_insensitive" is
        PA-II, whose steps are damped by it.
    epsilon : float, default=0.1
        ε: misses up to this size, in the unit of y, do not move the coefficients.
    random_state : int, RandomState, Generator or None, default=None
        Draws the order of the rows, and those held out for `early_stopping`. Pass an integer to get the same result
        every time.
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
    SGDRegressor : The same steps by learning_rate="pa1", and many others.
    learnt.svm.LinearSVR : The exact minimum of the same losses with a penalty.
    PassiveAggressiveClassifier : The same for classes.

    Notes
    -----
    An epoch takes time in the cells of X that are not 0. A row's weight multiplies its steps; rows of weight 0 are not
    there.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online passive-aggressive algorithms",
       Journal of Machine Learning Research, 2006.

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
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        random_state: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
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
