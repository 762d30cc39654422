"""AdaBoost for classes: learners fitted one after another, each on the rows its predecessors got wrong."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from learnt.engine.classification.labels import encode_labels
from learnt.engine.documentation import Documented
from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.mixins import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from learnt.engine.params import ParameterError, check_number
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.validation import check_fit, check_predict
from learnt.ensemble._common import Members, by_columns
from learnt.ensemble.adaboost._learners import class_votes, learner_of
from learnt.ensemble.adaboost._schema import CLASSIFIER
from learnt.tree import DecisionTreeClassifier

LEAST = float(np.finfo(float).eps)  # that a row of weight above 0 weighs


class Boosted(CallbackSupportMixin, MetaEstimatorMixin, Members, Documented, BaseEstimator):
    """What boosted classes and numbers share: parameters, data, importances."""

    estimator: Any
    n_estimators: Any
    learning_rate: Any
    estimator_weights_: np.ndarray
    estimator_errors_: np.ndarray

    def _check_params(self) -> None:
        check_number(self, "n_estimators", 1, integer=True)
        check_number(self, "learning_rate", 0.0, sys.float_info.max, open_low=True)
        if self.estimator is not None and not (hasattr(self.estimator, "fit") and hasattr(self.estimator, "predict")):
            raise ParameterError(
                f"The 'estimator' parameter of {type(self).__name__} must be an estimator with fit and predict or "
                f"None. Got {str(self.estimator)[:80]} instead."
            )

    def _table(self, X: Any) -> Any:
        return check_predict(self, X, accept_sparse=True)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The members' importances, averaged by their weights."""
        check_is_fitted(self)
        if not all(hasattr(member, "feature_importances_") for member in self.estimators_):
            raise AttributeError(
                "Unable to compute feature importances since estimator does not have a feature_importances_ attribute."
            )
        weights = self.estimator_weights_[: len(self.estimators_)]
        parts = [weight * member.feature_importances_ for weight, member in zip(weights, self.estimators_)]
        return np.sum(parts, axis=0) / weights.sum()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class AdaBoostClassifier(ClassifierMixin, Boosted):
    """A weighted vote of weak learners (SAMME):  F(x) = Σₜ αₜ [hₜ(x) = c],  αₜ = η (ln((1−εₜ)/εₜ) + ln(K−1)).

    εₜ is the weighted share of rows that learner t gets wrong; before the next one the weights of those rows are
    multiplied by e^αₜ. It ends early where a learner makes no mistake, or is no better than guessing (ε ≥ 1 − 1/K).

    Simple learners that are each a little better than guessing become an accurate vote, with few parameters to tune.
    Wrong labels and outliers get ever more weight; where there are many, take gradient boosting.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The weak learner, which must take `sample_weight`; None is `DecisionTreeClassifier(max_depth=1)`. Trees of depth
        1 on dense columns are boosted by a fast path that sorts the columns once. A deeper tree fits interactions and
        overfits sooner.
    n_estimators : int, default=50
        Most rounds, each of one learner. It ends earlier where a learner makes no mistake or is no better than
        guessing.
    learning_rate : float, default=1.0
        The factor η on the weight of every learner (shrinkage): smaller values need more rounds and overfit less.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the learners that have a `random_state`.

    Attributes
    ----------
    estimator_ : estimator
        The learner that was copied.
    estimators_ : list of estimator
        The fitted learners, one a round.
    estimator_weights_ : ndarray of shape (n_estimators,)
        The weight α of each learner; 0 for rounds that were not needed.
    estimator_errors_ : ndarray of shape (n_estimators,)
        The weighted error ε of each learner; 1 for rounds that were not needed.
    loss_bound_ : ndarray of shape (n_rounds,)
        The exponential loss of the training rows after each round,  Σᵢ wᵢ e^(−½ (votes for their class − votes for
        others)),  which is never less than the weight of the mistakes on them. It is  n ∏ ((1−εₜ) e^(−αₜ/2) + εₜ
        e^(αₜ/2)),  n the total weight of the rows; for two classes and learning_rate 1 that is  n ∏ 2√(εₜ(1−εₜ)),
        which falls. For more classes it may grow: learners that are wrong on half of the weight guarantee nothing.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_classes_ : int
        Number of classes.
    feature_importances_ : ndarray of shape (n_features,)
        The learners' importances, averaged by their weights; only where the learners have some.

    See Also
    --------
    AdaBoostRegressor : The same idea for numbers.
    GradientBoostingClassifier : Boosting along the gradient of a loss: more robust to wrong labels.
    HistGradientBoostingClassifier : The quickest and usually most accurate boosting.
    learnt.tree.DecisionTreeClassifier : The usual weak learner.

    Notes
    -----
    One fit of the weak learner a round. A row of weight 2 counts as two rows, one of weight 0 as none. The
    probabilities follow from the votes and are not calibrated.

    References
    ----------
    .. [1] Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and an application to
           boosting", Journal of Computer and System Sciences 55, 1997.
    .. [2] J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> y = np.array(["in", "in", "out", "out", "in", "in"])
    >>> model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> model.predict([[0.4], [2.5], [4.8]])
    array(['in', 'out', 'in'], dtype='<U3')
    >>> model.loss_bound_[:3].round(2)
    array([5.66, 4.9 , 3.65])
    """

    __learnt_schema__ = CLASSIFIER
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(
        quick={"n_estimators": 10, "random_state": 0},
        warmup=(Warm("two classes", {"n_estimators": 3}), Warm("classes", {"n_estimators": 3})),
        members="n_estimators",
    )

    def __init__(
        self, estimator: Any = None, *, n_estimators: int = 50, learning_rate: float = 1.0, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaBoostClassifier:
        """Boost; a row of weight 2 counts as two rows, one of weight 0 as none."""
        self._check_params()
        self.estimator_ = DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator
        if not has_fit_parameter(self.estimator_, "sample_weight"):
            raise ValueError(
                f"{type(self.estimator_).__name__} doesn't support sample_weight, which AdaBoost boosts by; use "
                "another estimator."
            )
        given = X
        X, y, w = check_fit(self, X, y, sample_weight, target="label", accept_sparse=True, any_cells=True)
        X = by_columns(X, given)
        total = float(len(y)) if w is None else float(w.sum())
        self.classes_, codes = encode_labels(y)
        self.n_classes_ = len(self.classes_)
        weights = np.full(len(y), 1 / len(y)) if w is None else w / total
        learner = learner_of(self.estimator_, X, y, codes, self.classes_, random_state_of(self.random_state))
        del codes  # the learner has what it needs of them
        self._boost(learner, weights, total, X, y)
        return self

    def _boost(self, learner: Any, weights: np.ndarray, total: float, X: Any, y: np.ndarray) -> None:
        self.estimators_ = []
        self.estimator_weights_ = np.zeros(self.n_estimators)
        self.estimator_errors_ = np.ones(self.n_estimators)
        bound: list[float] = []
        K = self.n_classes_
        weights = np.maximum(weights, LEAST)
        with fit_loop(self, self.n_estimators, X, y) as loop:
            for t in range(self.n_estimators):
                member, wrong = learner(weights)
                error = float(weights[wrong].sum() / weights.sum())
                if error > 0 and error >= (1 - 1 / K) * (1 - 1e-10):  # sums of weights are rounded
                    if t == 0:
                        raise ValueError(
                            "BaseClassifier in AdaBoostClassifier ensemble is worse than random, ensemble can not be "
                            f"fit: {type(member).__name__} got a share of {error:.3g} wrong; use a stronger estimator."
                        )
                    break
                # A learner without a mistake would weigh infinitely much; it ends the fit with weight 1.
                alpha = 1.0 if error <= 0 else self.learning_rate * (np.log((1 - error) / error) + np.log(K - 1.0))
                shrink = (1 - error) * np.exp(-alpha / 2) + error * np.exp(alpha / 2)
                bound.append((bound[-1] if bound else total) * float(shrink))
                self.estimators_.append(member)
                self.estimator_weights_[t], self.estimator_errors_[t] = alpha, max(error, 0.0)
                if loop.step(f"error {error:.3f}") or error <= 0 or t == self.n_estimators - 1:
                    break
                with np.errstate(over="ignore"):
                    grown = np.where(wrong, np.exp(alpha), 1.0)  # a new array: a learner may keep the one it was given
                    grown *= weights
                    weights, mass = grown, grown.sum()
                if not np.isfinite(mass):
                    warnings.warn(
                        f"Sample weights have reached infinite values, at iteration {t}, causing overflow; iterations "
                        "stopped: lower the learning rate.",
                        stacklevel=4,
                    )
                    break
                weights /= mass
                np.maximum(weights, LEAST, out=weights)
        self.loss_bound_ = np.array(bound)

    def _table(self, X: Any) -> Any:
        return check_predict(self, X, accept_sparse=True, any_cells=True)

    def decision_function(self, X: Any) -> np.ndarray:
        """The weighted vote: (n,) for two classes, positive for the second; (n, K) for more."""
        check_is_fitted(self)
        X = self._table(X)
        votes = np.zeros((X.shape[0], self.n_classes_))
        if self.n_classes_ == 1:
            return votes
        weights = self.estimator_weights_[: len(self.estimators_)]
        class_votes(self.estimators_, weights, self.classes_, X, votes)
        return self._scores(votes, weights.sum())

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The weighted vote after every round."""
        check_is_fitted(self)
        X = self._table(X)
        votes = np.zeros((X.shape[0], self.n_classes_))
        for t, member in enumerate(self.estimators_):
            if self.n_classes_ > 1:
                class_votes([member], self.estimator_weights_[t : t + 1], self.classes_, X, votes)
            yield self._scores(votes, self.estimator_weights_[: t + 1].sum())

    def _scores(self, votes: np.ndarray, norm: float) -> np.ndarray:
        """From Σ α [h = c] to Σ α (1 where h = c, −1/(K−1) elsewhere) / Σ α; for two classes twice the second's."""
        K = self.n_classes_
        if K == 1:
            return np.zeros((len(votes), 1))
        if K == 2:
            return 2 * (votes[:, 1] - votes[:, 0]) / norm
        return (K * (votes / norm) - 1) / (K - 1)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest vote."""
        return self._labels(self.decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The class with the largest vote after every round."""
        for scores in self.staged_decision_function(X):
            yield self._labels(scores)

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Softmax of the votes: an order of confidence, not calibrated."""
        return self._probabilities(self.decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Probabilities after every round."""
        for scores in self.staged_decision_function(X):
            yield self._probabilities(scores)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        scores = np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores / max(self.n_classes_ - 1, 1)
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The share of rows predicted right after every round."""
        y = np.ravel(y)
        for labels in self.staged_predict(X):
            yield float(np.average(labels == y, weights=sample_weight))
