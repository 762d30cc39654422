"""Linear classifiers by stochastic gradient descent."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if

from learnt.engine import progress
from learnt.engine.arrays import namespace
from learnt.engine.classification.linear_classifier import LinearClassifier
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
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
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Any:
        """Fit from the start, or from `coef_init` and `intercept_init`, until nothing improves."""
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

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """One epoch over these rows, from where the last call ended; the first call names all `classes`."""
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
    epoch. With more than two classes, one for each against the rest. Columns should be of like scale. A row's weight
    multiplies its steps; rows of weight 0 are not there. Files (`learnt.scan`) and Dask collections are read once an
    epoch, twice with `early_stopping`, a piece in memory at a time: rows are shuffled within a piece of some tens
    of megabytes, so order a file at random; y is in memory.

    Parameters
    ----------
    loss : str, default="hinge"
        "hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", or a loss of numbers on −1 and +1:
        "squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive".
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        ‖w‖²/2, ‖w‖₁, or l1_ratio·‖w‖₁ + (1 − l1_ratio)·‖w‖²/2.
    alpha : float, default=1e-4
        Strength of the penalty; the "optimal" steps are 1/(alpha(t₀ + t)).
    l1_ratio : float, default=0.15
    fit_intercept : bool, default=True
    max_iter : int, default=1000
        The most epochs.
    tol : float or None, default=1e-3
        Stop when the objective has not fallen by `tol` for `n_iter_no_change` epochs; None for all epochs.
    shuffle : bool, default=True
    verbose : int, default=0
        Kept for scikit-learn's signature: see `learnt.engine.progress`.
    epsilon : float, default=0.1
        The parameter of the Huber and insensitive losses.
    n_jobs : int or None
        The most threads, where there are more than two classes.
    random_state : int, RandomState or None
    learning_rate : {"optimal", "constant", "invscaling", "adaptive", "pa1", "pa2"}, default="optimal"
        "invscaling" is eta0/t^power_t; "adaptive" divides eta0 by 5 where nothing improves; "pa1" and "pa2" are the
        passive-aggressive steps of at most eta0.
    eta0, power_t : float, default=0.01 and 0.5
    early_stopping : bool, default=False
        Judge by the accuracy on `validation_fraction` of the rows, held out, and keep the best epoch.
    validation_fraction, n_iter_no_change : float and int, default=0.1 and 5
    class_weight : dict, "balanced" or None, default=None
    warm_start : bool, default=False
    average : bool or int, default=False
        Keep the mean of the coefficients over all steps, or from that step on.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    n_iter_ : int
    t_ : float
        Steps taken, and one.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = SGDClassifier(random_state=0).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[-1.5], [1.5]])
    array(['no', 'yes'], dtype='<U3')
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
        loss="hinge",
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
        n_jobs=None,
        random_state=None,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
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
        """The probability of each class, (n, K), for the log and modified Huber losses."""
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
        """The logarithm of the probability of each class."""
        p = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return namespace(p).log(p)
