"""AdaBoost for numbers (AdaBoost.R2): learners fitted on rows drawn the more often the worse they were predicted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import check_choice
from learnt.engine.progress import fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.validation import check_fit
from learnt.ensemble._common import as_trees_compare, by_columns, member_maker
from learnt.ensemble.adaboost._classifier import LEAST, Boosted
from learnt.ensemble.adaboost._draws import draw_rows
from learnt.ensemble.adaboost._schema import REGRESSOR
from learnt.metrics import r2_score
from learnt.tree import DecisionTreeRegressor

_CELLS = 1 << 22  # predictions kept at a time


class AdaBoostRegressor(RegressorMixin, Boosted):
    """The weighted median of learners (AdaBoost.R2): learner t weighs ln(1/βₜ),  βₜ = L̄ₜ / (1 − L̄ₜ).

    A row's loss L is its absolute error as a share of the largest one (as it is, squared, or 1 − e^−L), L̄ the weighted
    mean. Each learner is fitted on n rows drawn by weight; weights are then multiplied by β^((1−L) η). It ends early
    where L̄ is 0 or at least ½.

    With deeper trees a strong regressor that needs little tuning; since rows that are predicted badly are drawn more
    often, outliers in y draw it astray.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The weak learner; None is `DecisionTreeRegressor(max_depth=3)`.
    n_estimators : int, default=50
        Most rounds, each of one learner. It ends earlier where the mean loss is 0 or at least ½.
    learning_rate : float, default=1.0
        The factor η on the weight of every learner (shrinkage): smaller values need more rounds and overfit less.
    loss : {"linear", "square", "exponential"}, default="linear"
        How the loss of a row follows from its share of the largest error: as it is, squared, or 1 − e^−share. "square"
        gives small errors less weight.
    random_state : int, RandomState, Generator or None, default=None
        Draws the rows and seeds the learners; the same seed draws scikit-learn's rows. Pass an integer for the same
        model every time.

    Attributes
    ----------
    estimator_ : estimator
        The learner that was copied.
    estimators_ : list of estimator
        The fitted learners, one a round.
    estimator_weights_ : ndarray of shape (n_estimators,)
        The weight of each learner; 0 for rounds that were not needed.
    estimator_errors_ : ndarray of shape (n_estimators,)
        The mean loss of each learner; 1 for rounds that were not needed.
    feature_importances_ : ndarray of shape (n_features,)
        The learners' importances, averaged by their weights; only where the learners have some.

    See Also
    --------
    AdaBoostClassifier : The same idea for classes.
    GradientBoostingRegressor : Boosting along the gradient of a loss: more robust to outliers.
    HistGradientBoostingRegressor : The quickest and usually most accurate boosting.
    learnt.tree.DecisionTreeRegressor : The usual weak learner.

    Notes
    -----
    One fit of the weak learner a round, on rows drawn by weight; `sample_weight` says how likely rows are drawn at
    first.

    References
    ----------
    .. [1] Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and an application to
           boosting", Journal of Computer and System Sciences 55, 1997.
    .. [2] H. Drucker, "Improving regressors using boosting techniques", ICML, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> model = AdaBoostRegressor(n_estimators=20, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.score(X, np.sin(X[:, 0])) > 0.9
    True
    """

    __learnt_schema__ = REGRESSOR
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(
        quick={"n_estimators": 10, "random_state": 0},
        warmup=(Warm("amount", {"n_estimators": 3}),),
        members="n_estimators",
        any_order=False,
        weight_repeats=False,  # rows are drawn by their weights
    )

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaBoostRegressor:
        """Boost; weights are how likely rows are drawn at first."""
        self._check_params()
        check_choice(self, "loss", ("linear", "square", "exponential"))
        self.estimator_ = DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator
        given = X
        X, y, w = check_fit(self, X, y, sample_weight, target="number", accept_sparse=True)
        X, known = as_trees_compare(self.estimator_, by_columns(X, given), type(self).__name__)
        n, random = X.shape[0], random_state_of(self.random_state)
        weights = np.full(n, 1 / n) if w is None else w / w.sum()
        make = member_maker(self.estimator_)
        self.estimators_ = []
        self.estimator_weights_ = np.zeros(self.n_estimators)
        self.estimator_errors_ = np.ones(self.n_estimators)
        with fit_loop(self, self.n_estimators, X, y) as loop:
            for t in range(self.n_estimators):
                weights = np.maximum(weights, LEAST)
                member = make(random)
                fit_drawn(member, X, y, random, weights, known)
                self.estimators_.append(member)
                loss = self._losses(np.abs(member.predict(X, **known) - y))
                error = float((weights * loss).sum())
                if error >= 0.5:
                    if t > 0:  # the first is kept, whatever it is
                        self.estimators_.pop()
                    break
                beta = error / (1 - error)
                weight = self.learning_rate * np.log(1 / beta) if error > 0 else 1.0
                self.estimator_weights_[t], self.estimator_errors_[t] = weight, max(error, 0.0)
                if loop.step(f"mean loss {error:.3f}") or error <= 0 or t == self.n_estimators - 1:
                    break
                weights *= np.power(beta, (1 - loss) * self.learning_rate)
                del loss  # it affects the next learner by the weights only
                if not weights.sum() > 0:
                    break
                weights /= weights.sum()
        return self

    def _losses(self, errors: np.ndarray) -> np.ndarray:
        """The loss of every row, between 0 and 1."""
        largest = errors.max()
        share = errors / largest if largest > 0 else errors
        if self.loss == "linear":
            return share
        return share**2 if self.loss == "square" else 1 - np.exp(-share)

    def predict(self, X: Any) -> np.ndarray:
        """The weighted median of the learners' predictions."""
        check_is_fitted(self)
        return self._median(*self._trees_table(X), len(self.estimators_))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The weighted median after every round."""
        check_is_fitted(self)
        X, known = self._trees_table(X)
        for count in range(1, len(self.estimators_) + 1):
            yield self._median(X, known, count)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² after every round."""
        for predicted in self.staged_predict(X):
            yield r2_score(y, predicted, sample_weight=sample_weight)

    def _trees_table(self, X: Any) -> tuple[Any, dict[str, Any]]:
        return as_trees_compare(self.estimator_, self._table(X), type(self).__name__)

    def _median(self, X: Any, known: dict[str, Any], count: int) -> np.ndarray:
        """The weighted median of the predictions."""
        out = np.empty(X.shape[0])
        weights = self.estimator_weights_[:count]
        step = max(1, _CELLS // count)
        for lo in range(0, len(out), step):
            part = X[lo : lo + step]
            predictions = np.column_stack([member.predict(part, **known) for member in self.estimators_[:count]])
            order = np.argsort(predictions, axis=1)
            reached = np.cumsum(weights[order], axis=1)
            first = (reached >= 0.5 * reached[:, -1:]).argmax(axis=1)
            rows = np.arange(len(predictions))
            out[lo : lo + step] = predictions[rows, order[rows, first]]
        return out


def fit_drawn(
    member: Any, X: Any, y: np.ndarray, random: np.random.RandomState, weights: np.ndarray, known: dict[str, Any]
) -> None:
    """Fit the member on as many rows as there are, drawn by weight; some occur more than once.

    Our own trees take the rows as they were drawn, all others a copy of them. Counts as weights would not give the same
    tree: sums of weighted targets round differently, which decides between splits of equal gain.
    """
    rows = draw_rows(random, weights)
    if known and type(member) is DecisionTreeRegressor and member.criterion == "squared_error":
        member._fit_drawn(X, y, rows)
    else:
        member.fit(X[rows], y[rows], **known)
