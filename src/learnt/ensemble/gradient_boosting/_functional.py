"""Gradient descent in the space of functions, with any learner and any loss."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import ClassifierTags, RegressorTags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from learnt.engine.classification.labels import encode_labels
from learnt.engine.documentation import Documented
from learnt.engine.estimator import Trial, Warm
from learnt.engine.mixins import BaseEstimator, MetaEstimatorMixin, is_regressor
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.validation import check_fit, check_predict
from learnt.engine.weights import take_rows
from learnt.ensemble._common import Members, member_maker
from learnt.ensemble._trial_members import one_regressor, takes_what_members_take
from learnt.ensemble.gradient_boosting._functional_steps import (
    best_constant,
    gradients,
    has_leaves,
    line_search,
    set_leaves,
    total_loss,
)
from learnt.ensemble.gradient_boosting._schema import FUNCTIONAL
from learnt.erm import losses
from learnt.metrics import accuracy_score, r2_score
from learnt.tree import DecisionTreeRegressor


def _classifies(self: Any) -> bool:
    if self._loss_target() == "number":
        raise AttributeError(f"decision_function belongs to losses of classes; loss={self.loss!r} is one of numbers.")
    return True


def _gives_probabilities(self: Any) -> bool:
    if not (_classifies(self) and isinstance(self._loss(), losses.Log | losses.Exponential | losses.Softmax)):
        raise AttributeError(f"loss={self.loss!r} gives no probabilities; use 'log', 'exponential' or 'softmax'.")
    return True


class FunctionalGradientBoosting(CallbackSupportMixin, MetaEstimatorMixin, Members, Documented, BaseEstimator):
    """Boosting of any regressor for any loss:  F ← F + η γₜ hₜ,  hₜ fitted to −∂ℓ(y, F)/∂F,  γₜ by line search.

    The loss decides whether numbers or classes are predicted. With trees of depth 3 it is gradient boosting.

    Take it to boost something else than trees (lines, splines, kernels), or for a loss of your own; for trees and the
    usual losses the other boosting models are quicker.

    Parameters
    ----------
    estimator : regressor or None, default=None
        The weak learner, a regressor also where classes are predicted, since it is fitted to slopes; None is
        `DecisionTreeRegressor(max_depth=3)`.
    loss : str or loss, default="squared_error"
        A name or object of `learnt.erm.losses`, or one of your own with `value(y, score)` and `gradient(y, score)`.
        Losses of numbers make it a regressor, losses of classes a classifier; "log" with more than two classes means
        "softmax".
    n_estimators : int, default=100
        Most rounds. Too many overfit; let `n_iter_no_change` stop early.
    learning_rate : float, default=0.1
        The share η of each step that is taken (shrinkage): smaller values need more rounds and overfit less.
    step : {"auto", "line", "fixed"}, default="auto"
        How long a step is. "line": γ minimises the loss along h. "fixed": γ = 1. "auto": in a tree every leaf gets its
        own step (a Newton step for log, exponential and softmax losses, the exact one for others), as in gradient
        boosting of trees; other learners get a line search.
    subsample : float, default=1.0
        Share of the rows, drawn without replacement, that each learner is fitted on. Values below 1 overfit less and
        are quicker.
    n_iter_no_change : int or None, default=None
        Early stopping: end when the loss of held-out rows has not fallen by `tol` for so many rounds. None does not
        stop early and holds out no rows.
    validation_fraction : float, default=0.1
        Share of the rows held out for early stopping.
    tol : float, default=1e-4
        Least fall of the loss that counts for early stopping.
    random_state : int, RandomState, Generator or None, default=None
        Draws rows and seeds the learners that have a `random_state`. Pass an integer for the same model every time.

    Attributes
    ----------
    estimators_ : list of list of estimator
        The fitted learners: for each round one, or one for each of more than two classes.
    steps_ : ndarray of shape (n_estimators_,)
        The step γ of each round; 1 where leaves have steps of their own.
    init_ : ndarray of shape (1,) or (n_classes,)
        The constant that the sum begins with.
    train_score_ : ndarray of shape (n_estimators_,)
        Loss of the training rows after each round.
    validation_score_ : ndarray of shape (n_estimators_,)
        Loss of the held-out rows after each round; only with `n_iter_no_change`.
    n_estimators_ : int
        Number of rounds that are kept.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted; only for losses of classes.
    loss_ : loss
        The loss that was minimised.

    See Also
    --------
    GradientBoostingRegressor : The same with trees, for numbers.
    GradientBoostingClassifier : The same with trees, for classes.
    HistGradientBoostingRegressor : Trees on binned columns, with losses of your own too.

    Notes
    -----
    One fit of the weak learner a round (or one for each of more than two classes), and some evaluations of the loss for
    the line search. A row of weight 2 counts as two rows, one of weight 0 as none; weights need a learner that takes
    them.

    References
    ----------
    .. [1] J. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29, 2001.
    .. [2] L. Mason, J. Baxter, P. Bartlett and M. Frean, "Boosting algorithms as gradient descent", NIPS, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.linear_model import LinearRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> line = FunctionalGradientBoosting(LinearRegression(), "squared", learning_rate=1.0, n_estimators=1)
    >>> line.fit(X, [1.0, 3.0, 5.0, 7.0]).predict([[10.0]]).round(6)
    array([21.])
    """

    __learnt_schema__ = FUNCTIONAL
    __learnt_takes__ = property(takes_what_members_take)
    __learnt_trial__ = Trial(
        quick=lambda: {"estimator": one_regressor(), "n_estimators": 10},
        warmup=(Warm("amount", {"n_estimators": 2}),),
        weighted=({"n_iter_no_change": 3, "subsample": 0.7},),
        members="n_estimators",
        weight_unit_free=False,
    )

    def __init__(
        self,
        estimator: Any = None,
        loss: Any = "squared_error",
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        step: str = "auto",
        subsample: float = 1.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.step = step
        self.subsample = subsample
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FunctionalGradientBoosting:
        """Boost; a row of weight 2 counts as two rows, one of weight 0 as none."""
        self._check_params()
        prototype = self._prototype()
        loss = self._loss()
        numbers = loss.target == "number"
        X, y, w = check_fit(
            self,
            X,
            y,
            sample_weight,
            target="number" if numbers else "label",
            accept_sparse=True,
            allow_nan=True,
            any_cells=True,
        )
        if w is not None and not has_fit_parameter(prototype, "sample_weight"):
            raise TypeError(f"Underlying estimator {type(prototype).__name__} does not support sample weights.")
        loss, y = self._pose(loss, y)
        random = random_state_of(self.random_state)
        held = np.zeros(len(y), dtype=bool)
        if self.n_iter_no_change is not None:
            held[random.permutation(len(y))[: max(1, int(self.validation_fraction * len(y)))]] = True
            if held.all():
                raise ValueError(f"{len(y)} row is too few to hold some out; set n_iter_no_change=None.")
        self._boost(member_maker(prototype), loss, X, y, w, held, random)
        return self

    def _check_params(self) -> None:
        check_number(self, "n_estimators", 1, integer=True)
        check_number(self, "learning_rate", 0.0, sys.float_info.max, open_low=True)
        check_number(self, "subsample", 0.0, 1.0, open_low=True)
        check_number(self, "validation_fraction", 0.0, 1.0, open_low=True)
        check_number(self, "tol", 0.0)
        check_number(self, "n_iter_no_change", 1, integer=True, also=(None,))
        check_choice(self, "step", ("auto", "line", "fixed"))
        if self.estimator is not None and not (hasattr(self.estimator, "fit") and is_regressor(self.estimator)):
            raise ParameterError(
                f"The 'estimator' parameter of {type(self).__name__} must be a regressor, also where classes are "
                f"predicted: it is fitted to slopes. Got {str(self.estimator)[:80]} instead."
            )

    def _prototype(self) -> Any:
        return DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator

    def _loss(self) -> Any:
        given = self.loss
        if isinstance(given, str) and given in losses.NAMES:
            given = losses.NAMES[given]()
        if isinstance(given, str | type) or not (hasattr(given, "value") and hasattr(given, "gradient")):
            names = ", ".join(map(repr, losses.NAMES))
            raise ParameterError(
                f"The 'loss' parameter of {type(self).__name__} must be one of {names} or an object with value and "
                f"gradient. Got {str(given)[:60]} instead."
            )
        return given if hasattr(given, "target") else _Own(given)

    def _loss_target(self) -> str:
        try:
            return self._loss().target
        except ParameterError:  # `fit` will raise it
            return "number"

    def _pose(self, loss: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
        """The loss for these targets, and the targets in the form that it takes."""
        if loss.target == "number":
            y = y.astype(np.float64)
            low, allowed = getattr(loss, "lowest", (-np.inf, True))
            if (y < low).any() or (not allowed and (y == low).any()):
                raise ValueError(f"y has values of {y.min():g}, and {loss!r} needs values above {low:g}.")
            self.loss_ = loss
            return loss, y
        self.classes_, codes = encode_labels(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, and y has only one class ({self.classes_[0]}); a "
                "constant needs no model, see learnt.baseline.ConstantClassifier."
            )
        if isinstance(loss, losses.Log) and len(self.classes_) > 2:
            loss = losses.Softmax()
        if loss.target == "sign" and len(self.classes_) > 2:
            raise ValueError(f"y has {len(self.classes_)} classes and {loss!r} tells two apart; use loss='log'.")
        self.loss_ = loss
        return loss, codes if loss.target == "class" else np.where(codes == 1, 1.0, -1.0)

    def _boost(self, make: Any, loss: Any, X: Any, y: Any, w: Any, held: np.ndarray, random: Any) -> None:
        kept = np.flatnonzero(~held)
        out = np.flatnonzero(held)
        here = (y[kept], None if w is None else w[kept])
        held_out = (y[out], None if w is None else w[out])
        X_kept = X if not len(out) else take_rows(X, kept)
        X_out = take_rows(X, out)
        self.init_ = best_constant(loss, *here, len(getattr(self, "classes_", ())))
        scores = np.tile(self.init_, (len(kept), 1))
        held_out_scores = np.tile(self.init_, (len(out), 1))
        self.estimators_, steps = [], []
        trained: list[float] = []
        judged: list[float] = []
        size = max(1, int(self.subsample * len(kept)))
        with fit_loop(self, self.n_estimators, X, y) as loop:
            for _ in range(self.n_estimators):
                rows = None if size == len(kept) else np.sort(random.permutation(len(kept))[:size])
                members, way, step = self._round(make, loss, X_kept, *here, scores, rows, random)
                scores = scores + self.learning_rate * step * way
                self.estimators_.append(members)
                steps.append(step)
                trained.append(total_loss(loss, *here, scores))
                if len(out):
                    held_out_scores = held_out_scores + self.learning_rate * step * _predictions(members, X_out)
                    judged.append(total_loss(loss, *held_out, held_out_scores))
                if loop.step(f"loss {trained[-1]:.4g}") or self._stalled(judged):
                    break
        self.steps_, self.train_score_ = np.array(steps), np.array(trained)
        self.n_estimators_ = len(steps)
        self.__dict__.pop("validation_score_", None)
        if judged:
            self.validation_score_ = np.array(judged)

    def _round(
        self, make: Any, loss: Any, X: Any, y: Any, w: Any, scores: np.ndarray, rows: Any, random: Any
    ) -> tuple[list[Any], np.ndarray, float]:
        """The learners of one round, their predictions for every row, and the step lengths."""
        slope = gradients(loss, y, scores)
        part = slice(None) if rows is None else rows
        X_part = X if rows is None else take_rows(X, rows)
        weights = None if w is None else w[part]
        more = {} if weights is None else {"sample_weight": weights}
        members, leaves = [], False
        for column in range(slope.shape[1]):
            member = make(random)
            member.fit(X_part, -slope[part, column], **more)
            leaves = self.step == "auto" and has_leaves(member)
            if leaves:
                set_leaves(member, X_part, loss, y[part], weights, scores[part], column, slope[part, column])
            members.append(member)
        way = _predictions(members, X)
        if leaves or self.step == "fixed":
            return members, way, 1.0
        return members, way, line_search(loss, y[part], weights, scores[part], way[part])

    def _stalled(self, judged: list[float]) -> bool:
        patience = self.n_iter_no_change
        if patience is None or len(judged) <= patience:
            return False
        return min(judged[-patience:]) > min(judged[:-patience]) - self.tol

    # --- answers

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        check_is_fitted(self)
        X = check_predict(self, X, accept_sparse=True, allow_nan=True, any_cells=True)
        scores = np.tile(self.init_, (X.shape[0], 1))
        for members, step in zip(self.estimators_, self.steps_):
            scores = scores + self.learning_rate * step * _predictions(members, X)
            yield scores

    def _scores(self, X: Any) -> np.ndarray:
        return deque(self._staged_scores(X), maxlen=1)[0]

    def predict(self, X: Any) -> np.ndarray:
        """The mean that belongs to the score, or the class of the largest score.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The predicted number or label of each row.
        """
        return self._answer(self._scores(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predictions after every round."""
        for scores in self._staged_scores(X):
            yield self._answer(scores)

    def _answer(self, scores: np.ndarray) -> np.ndarray:
        if self.loss_.target == "number":
            mean = getattr(self.loss_, "mean", None)
            return scores[:, 0] if mean is None else np.asarray(mean(scores[:, 0]))
        return self.classes_[scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)]

    @available_if(_classifies)
    def decision_function(self, X: Any) -> np.ndarray:
        """The score F of each row, for losses of classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score for two classes, more than 0 for `classes_[1]`; else one for each class.
        """
        scores = self._scores(X)
        return scores if scores.shape[1] > 1 else scores[:, 0]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, for the losses "log", "exponential" and "softmax".

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            The probability of each class, in the order of `classes_`.
        """
        scores = self._scores(X)
        if scores.shape[1] > 1:
            return self.loss_.mean(scores)
        p = self.loss_.mean(scores[:, 0])
        return np.column_stack([1 - p, p])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of numbers, or the share of classes that are right.

        Returns
        -------
        score : float
            R² for losses of numbers, the accuracy for losses of classes.
        """
        measure = r2_score if self._loss_target() == "number" else accuracy_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if hasattr(self._prototype(), "fit"):
            inner = get_tags(self._prototype()).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        if self._loss_target() == "number":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags


class _Own:
    """A user's loss that does not declare the type of y: numbers."""

    target = "number"

    def __init__(self, loss: Any) -> None:
        self.value, self.gradient = loss.value, loss.gradient
        self.smooth, self.lowest = getattr(loss, "smooth", True), getattr(loss, "lowest", (-np.inf, True))
        for name in ("curvature", "mean"):
            if hasattr(loss, name):
                setattr(self, name, getattr(loss, name))


def _predictions(members: list[Any], X: Any) -> np.ndarray:
    return np.column_stack([member.predict(X) for member in members])
