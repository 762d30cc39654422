"""Linear classifiers by stochastic gradient descent."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if

from learnt.engine import progress
from learnt.engine.arrays import namespace
from learnt.engine.classification.linear_classifier import LinearClassifier
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import ClassifierMixin
from learnt.engine.params import ParameterError
from learnt.engine.schema import Schema, one_plane_a_class, text
from learnt.engine.threads import run_tasks
from learnt.linear_model.sgd._base import DESCENT, PLANES, StochasticDescent, mask_of, progress_report
from learnt.linear_model.sgd._pieces import Chosen, Pieces, Problem, run_pieces
from learnt.linear_model.sgd._run import End, Start, run

LOSSES = (
    "hinge",
    "log_loss",
    "modified_huber",
    "squared_hinge",
    "perceptron",
    "squared_error",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
)


class StochasticClassifier(StochasticDescent, LinearClassifier):
    """`fit` and `partial_fit` of linear classifiers, one run for each class against the rest."""

    _losses: tuple[str, ...] = LOSSES
    _until_perfect = False
    classes_: np.ndarray

    @progress.with_callbacks
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Fit from the start, or from `coef_init` and `intercept_init`, until nothing improves.

        Parameters
        ----------
        coef_init : array-like of shape (1, n_features) or (n_classes, n_features), default=None
            Coefficients to start from; None for 0, or for the last ones with `warm_start`.
        intercept_init : array-like of shape (1,) or (n_classes,), default=None
            Intercepts to start from.
        sample_weight : array-like of shape (n_samples,), default=None
            What the steps of each row are multiplied by; rows of weight 0 are left out. None counts every row once.
        """
        self._check_parameters()
        going_on = self._goes_on(X, coef_init)
        X, y, w = self._checked(X, y, sample_weight, "label")
        classes = np.unique(y if w is None else y[w > 0])
        if len(classes) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(classes)} class ({classes.tolist()}); "
                "a constant needs no model, see learnt.baseline.ConstantClassifier."
            )
        if going_on:
            coef_init, intercept_init = self.coef_, self.intercept_
        k = len(classes) if len(classes) > 2 else 1
        starts = self._starts(k, X.shape[1], coef_init, intercept_init)
        self.classes_ = classes
        ends = self._descend(X, y, w, starts, 1.0, self._get("max_iter"))
        self._warn(ends)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch over these rows, from where the last call ended; the first call names all `classes`.

        Parameters
        ----------
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come. The first call needs them; later ones may leave them out.
        sample_weight : array-like of shape (n_samples,), default=None
            What the steps of each row are multiplied by; rows of weight 0 are left out. None counts every row once.
        """
        first = not hasattr(self, "coef_")
        self._check_parameters(partial=True)
        if self._get("class_weight") == "balanced":
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' weights, use "
                "compute_class_weight('balanced', classes=classes, y=y). In place of y you can use a large enough "
                "sample of the full training set target to properly estimate the class frequency distributions. Pass "
                "the resulting weights as the class_weight parameter."
            )
        X, y, w = self._checked(X, y, sample_weight, "label", reset=first)
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if first:
            self.classes_ = np.unique(np.asarray(classes))
        elif classes is not None and not np.array_equal(self.classes_, np.unique(np.asarray(classes))):
            raise ValueError(
                f"`classes={np.asarray(classes).tolist()!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_.tolist()!r}."
            )
        unknown = np.setdiff1d(y if w is None else y[w > 0], self.classes_)
        if unknown.size:
            raise ValueError(
                f"y has the label {unknown[0]!r}, which is not among the classes of the first partial_fit."
            )
        if len(self.classes_) < 2:
            raise ValueError("The number of classes has to be greater than one; got 1 class.")
        k = len(self.classes_) if len(self.classes_) > 2 else 1
        starts = self._starts(k, X.shape[1], None, None) if first else self._continued(k)
        self._descend(X, y, w, starts, 1.0 if first else self.t_, 1)
        return self

    def _descend(self, X: Any, y: np.ndarray, w: Any, starts: list[Start], t: float, max_iter: int) -> list[End]:
        weight = np.ones(X.shape[0]) if w is None else w
        present = np.flatnonzero(weight > 0)
        table = self._class_weights(y[present])
        codes = np.minimum(
            np.searchsorted(self.classes_, y), len(self.classes_) - 1
        )  # rows of weight 0 may have others
        judge = present[self._held_out(codes[present], len(present))]
        k, seeds = len(starts), self._seeds(len(starts), after=1)
        settings = self._settings(max_iter, self._until_perfect)

        def target(c: int, rows: slice) -> tuple[np.ndarray, np.ndarray]:
            side = np.where(codes[rows] == (c if k > 1 else 1), 1.0, -1.0)
            # With several classes, a class's weight applies in its own problem only; rows of the rest keep theirs
            # there.
            return side, weight[rows] * (table[codes[rows]] if k == 1 else np.where(side > 0, table[c], 1.0))

        def score(c: int, outputs: np.ndarray) -> float:
            right = (outputs > 0) == (codes[judge] == (c if k > 1 else 1))
            return float(np.average(right, weights=weight[judge]))

        def one(c: int, report: Any = None) -> End:
            held = mask_of(judge, X.shape[0])
            judged = None if held is None else lambda coef, b: score(c, np.asarray(X[judge] @ coef) + b)
            return run(X, *target(c, slice(None)), present, starts[c], t, settings, int(seeds[c]), held, judged, report)

        if isinstance(X, Pieces):
            problems = [Problem(starts[c], int(seeds[c]), partial(target, c), partial(score, c)) for c in range(k)]
            chosen, jobs = Chosen(present, judge), self._get("n_jobs")
            ends = progress_report(
                self, max_iter, lambda report: run_pieces(X, problems, chosen, t, settings, jobs, report), X, y
            )
        elif k == 1:
            ends = progress_report(self, max_iter, lambda report: [one(0, report)], X, y)
        else:
            ends = run_tasks([partial(one, c) for c in range(k)], n_jobs=self._get("n_jobs"))
        self._record(X, codes, weight, ends)
        return ends

    def _record(self, X: Any, codes: np.ndarray, weight: np.ndarray, ends: list[End]) -> None:
        self.coef_, self.intercept_ = self._finish(ends, X.dtype)

    def _class_weights(self, y: np.ndarray) -> np.ndarray:
        given = self._get("class_weight")
        if not (given is None or isinstance(given, dict) or (isinstance(given, str) and given == "balanced")):
            raise ParameterError(
                f"The 'class_weight' parameter of {type(self).__name__} must be a dict, 'balanced' or None. "
                f"Got {given!r} instead."
            )
        return np.ones(len(self.classes_)) if given is None else compute_class_weight(given, classes=self.classes_, y=y)


def _has_probabilities(estimator: Any) -> bool:
    if estimator.loss in ("log_loss", "modified_huber"):
        return True
    raise AttributeError(f"probability estimates are not available for loss={estimator.loss!r}; use loss='log_loss'")


class SGDClassifier(StochasticClassifier, ClassifierMixin, Estimator):
    """A linear classifier, one row at a time:  min over w, b of  mean loss(y, xᵀw + b) + alpha·penalty(w).

    Each row moves the coefficients against the gradient of its own loss, by steps that shrink; rows are shuffled every
    epoch. With more than two classes, one for each against the rest. A row's weight multiplies its steps; rows of
    weight 0 are not there. Take it where rows are too many for memory or keep coming (`partial_fit`); for what fits in
    memory, `LogisticRegression` and `LinearSVC` find the exact minimum without a learning rate to tune.

    Parameters
    ----------
    loss : str, default="hinge"
        What a score costs. "hinge" is a linear support vector machine; "log_loss" is logistic regression, with
        probabilities; "modified_huber" is robust to outliers and has probabilities; "squared_hinge" is the square of
        the hinge; "perceptron" is that of `Perceptron`. Or a loss of numbers on −1 and +1: "squared_error" (halved),
        "huber", "epsilon_insensitive", "squared_epsilon_insensitive".
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        Kind of regularisation. "l2" is ‖w‖²/2, which shrinks all coefficients; "l1" is ‖w‖₁, which makes many exactly 0
        and so selects features; "elasticnet" is l1_ratio·‖w‖₁ + (1 − l1_ratio)·‖w‖²/2; None is none.
    alpha : float, default=1e-4
        Regularisation strength: larger values mean more shrinkage and less overfitting. It also sets the "optimal"
        steps, 1/(alpha(t₀ + t)). Try powers of 10 from 1e-6 to 0.1.
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
        The parameter of the losses "huber" (beyond it a miss counts linearly), "epsilon_insensitive" and
        "squared_epsilon_insensitive" (up to it a miss costs nothing).
    n_jobs : int or None, default=None
        The most threads, where there are more than two classes; None or -1 for all that this process may use.
    random_state : int, RandomState, Generator or None, default=None
        Draws the order of the rows, and those held out for `early_stopping`. Pass an integer to get the same result
        every time.
    learning_rate : {"optimal", "constant", "invscaling", "adaptive", "pa1", "pa2"}, default="optimal"
        How steps shrink with their number t. "optimal" is 1/(alpha(t₀ + t)) and needs no eta0; "constant" is eta0;
        "invscaling" is eta0/t^power_t; "adaptive" is eta0, divided by 5 where nothing improves; "pa1" and "pa2" are the
        passive-aggressive steps, of at most eta0 or damped by it, for the "hinge" loss.
    eta0 : float, default=0.01
        Initial learning rate of all schedules but "optimal". Lower it where the fit overflows, raise it where it is
        slow.
    power_t : float, default=0.5
        How fast "invscaling" steps shrink: the exponent in eta0 / t^power_t.
    early_stopping : bool, default=False
        Whether to judge epochs by the accuracy on rows held out and keep the best one, against overfitting; otherwise
        by the training loss. Not possible with `partial_fit`.
    validation_fraction : float, default=0.1
        Share of the rows that `early_stopping` holds out.
    n_iter_no_change : int, default=5
        Patience: how many epochs without an improvement of `tol` end the fit.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" gives every class the same total: more
        recall of rare classes, at the cost of precision. With `partial_fit` give a dict.
    warm_start : bool, default=False
        Whether the next `fit` goes on from the coefficients of the last one, instead of starting at 0.
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
    LogisticRegression : The exact minimum of the log loss, also on files larger than memory.
    learnt.svm.LinearSVC : The exact minimum of the hinge losses.
    SGDRegressor : The same for numbers.
    Perceptron : Steps of fixed length, only where a row is on the wrong side.
    learnt.kernel_approximation.Nystroem : Features that make it nonlinear.

    Notes
    -----
    An epoch takes time in the cells of X that are not 0. Bring columns to like scale first
    (`learnt.preprocessing.StandardScaler`): one learning rate serves all. Files (`learnt.scan`) and Dask collections
    are read once an epoch, twice with `early_stopping`, a piece in memory at a time: rows are shuffled within a piece
    of some tens of megabytes, so order a file at random; y is in memory.

    References
    ----------
    .. [1] L. Bottou, "Large-scale machine learning with stochastic gradient descent", COMPSTAT, 2010.
    .. [2] T. Zhang, "Solving large scale linear prediction problems using stochastic gradient descent algorithms",
       ICML, 2004.
    .. [3] W. Xu, "Towards optimal one pass large scale learning with averaged stochastic gradient descent",
       arXiv:1107.2490, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = SGDClassifier(random_state=0).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[-1.5], [1.5]])
    array(['no', 'yes'], dtype='<U3')

    Rows that come in batches:

    >>> model = SGDClassifier("log_loss", random_state=0)
    >>> for _ in range(10):
    ...     model = model.partial_fit(X, ["no", "no", "yes", "yes"], classes=["no", "yes"])
    >>> model.score(X, ["no", "no", "yes", "yes"])
    1.0
    """

    __learnt_takes__ = Takes(sparse=True, lazy=True)
    __learnt_schema__ = Schema(params={"loss": text}, state=PLANES, extra=DESCENT, rule=one_plane_a_class)
    # Rows come in a random order that is part of the result, and a weight is a longer step, not a second visit.
    # The intercept moves less on sparse rows, as in scikit-learn.
    __learnt_trial__ = Trial(
        quick={"random_state": 0},
        warmup=(
            Warm("two classes"),
            Warm("two classes", sparse=True),
            Warm("two classes", {"loss": "log_loss"}, sparse=True),
        ),
        sparse={"fit_intercept": False},
        weighted=({"early_stopping": True},),
        any_order=False,
        weight_repeats=False,
        weight_unit_free=False,
    )

    def __init__(
        self,
        loss: str = "hinge",
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
        n_jobs: int | None = None,
        random_state: Any = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, (n, K), for the losses "log_loss" and "modified_huber".

        Of more than two classes, the probabilities of each against the rest are divided by their sum.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            The probability of each class, in the order of `classes_`; a row adds up to 1.
        """
        scores = self.decision_function(X)
        xp = namespace(scores)
        if self.loss == "log_loss":
            e = xp.exp(-xp.abs(scores))
            p = xp.where(scores > 0, 1 / (1 + e), e / (1 + e))
        else:
            p = (xp.clip(scores, -1.0, 1.0) + 1) / 2
        if p.ndim == 1:
            return xp.stack([1 - p, p], axis=1)
        total = xp.sum(p, axis=1, keepdims=True)
        none = total == 0  # every class has probability 0: make them equal
        p, total = xp.where(none, p * 0 + 1, p), xp.where(none, total * 0 + p.shape[1], total)
        return p / total

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of the probability of each class, for the losses "log_loss" and "modified_huber".

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            The logarithm of the probability of each class, in the order of `classes_`; −∞ where it is 0.
        """
        p = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return namespace(p).log(p)
