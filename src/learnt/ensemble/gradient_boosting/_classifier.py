"""Classical gradient boosting, for classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Takes, Warm
from learnt.engine.params import check_choice
from learnt.engine.progress import with_callbacks
from learnt.ensemble._trial import GRADIENT_BOOSTING
from learnt.ensemble.gradient_boosting._base import GradientBoosting
from learnt.ensemble.gradient_boosting._losses import loss_of
from learnt.ensemble.gradient_boosting._schema import CLASSIFIER
from learnt.ensemble.hist_boosting._losses import BoostingLoss


class GradientBoostingClassifier(ClassifierMixin, GradientBoosting):
    """A sum of small trees for the log-odds of the classes:  s(x) = s₀ + η Σₜ treeₜ(x),  one for each of three or more.

    A tree is fitted to the gradient of the loss by least squares; its leaves then take a Newton step. Up to 20,000 rows
    every threshold is looked at, as scikit-learn does; above, the ends of 255 bins. `HistGradientBoostingClassifier`
    has more losses and categories, and is quicker for deep trees.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
        The loss; "exponential", for two classes, is AdaBoost's.
    learning_rate : float, default=0.1
        What every tree is multiplied by.
    n_estimators : int, default=100
        Iterations.
    subsample : float, default=1.0
        The share of rows each tree is grown on, drawn at random; below 1 the others judge it (`oob_improvement_`).
    criterion : {"squared_error", "friedman_mse"}
        Kept for scikit-learn's signature: a tree is fitted to the gradient by least squares.
    min_samples_split, min_samples_leaf : int or float, default=2, default=1
        Rows (or the share of rows) that a node needs to be split, and that a leaf needs.
    min_weight_fraction_leaf : float, default=0.0
        The share of all weight that a leaf needs.
    max_depth : int or None, default=3
        Splits on the way to a leaf.
    min_impurity_decrease : float, default=0.0
        What a split must take off the squared error of the gradients.
    init : estimator, "zero" or None, default=None
        Where the scores start: an estimator's predictions, 0, or the best constant.
    random_state : int, RandomState, Generator or None, default=None
        What is drawn, and which rows are held out.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Columns that each split looks at, drawn at random.
    verbose : int, default=0
        Whether a line is said of every iteration: to the log "learnt", or to stderr.
    max_leaf_nodes : int or None, default=None
        Leaves of a tree; with a limit the leaf that gains most is split next.
    warm_start : bool, default=False
        Let `fit` go on from the trees that are there.
    validation_fraction, n_iter_no_change, tol : float, default=0.1; int or None, default=None; float, default=1e-4
        Stop when the loss of so large a share of the rows, held out, was not lower by `tol` for so many iterations.
    ccp_alpha : float, default=0.0
        Prune each tree by its cost and this price of a leaf.
    splitter : {"auto", "exact", "binned"}, default="auto"
        Look at every threshold, or at the ends of 255 bins a column; "auto" takes bins from 20,000 rows on.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_classes_ : int
    n_estimators_ : int
        Iterations done.
    n_trees_per_iteration_ : int
    train_score_ : array of shape (n_estimators_,)
        The loss of the training rows after every iteration.
    oob_scores_, oob_improvement_ : array of shape (n_estimators_,)
        The loss of the rows left out, and by how much the iteration lowered it; empty unless subsample < 1.
    feature_importances_ : array of shape (n_features,)
    estimators_ : array of `DecisionTreeRegressor`, shape (n_estimators_, n_trees_per_iteration_)
    init_ : estimator, "zero" or None

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(20.0)[:, None]
    >>> GradientBoostingClassifier().fit(X, X[:, 0] > 9).predict([[3.0], [15.0]]).tolist()
    [False, True]
    """

    __learnt_schema__ = CLASSIFIER
    __learnt_takes__ = Takes(sparse=True, missing=True)
    __learnt_trial__ = replace(
        GRADIENT_BOOSTING,
        warmup=(Warm("classes", {"n_estimators": 2}),),
    )

    _target = "label"
    classes_: np.ndarray
    n_classes_: int

    def __init__(
        self,
        *,
        loss="log_loss",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        criterion="deprecated",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_depth=3,
        min_impurity_decrease=0.0,
        init=None,
        random_state=None,
        max_features=None,
        verbose=0,
        max_leaf_nodes=None,
        warm_start=False,
        validation_fraction=0.1,
        n_iter_no_change=None,
        tol=1e-4,
        ccp_alpha=0.0,
        splitter="auto",
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.splitter = splitter

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, monitor: Callable[..., Any] | None = None
    ) -> GradientBoostingClassifier:
        """Grow the trees; `monitor(iteration, self, locals)` stops the fit by returning True."""
        check_choice(self, "loss", ("log_loss", "exponential"))
        return self._fit(X, y, sample_weight, monitor)

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row."""
        return self._answers(self._scores(self._checked(X)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes: (n, n_classes)."""
        scores = self._scores(self._checked(X))
        return self._loss_for(np.empty(0)).mean(scores)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores: of the second of two classes (n,), or one a class (n, n_classes)."""
        scores = self._scores(self._checked(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The classes after every iteration."""
        for scores in self._staged_scores(X):
            yield self._answers(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """The probabilities after every iteration."""
        for scores in self._staged_scores(X):
            yield self._loss_for(np.empty(0)).mean(scores)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The scores after every iteration."""
        for scores in self._staged_scores(X):
            yield scores[:, 0] if scores.shape[1] == 1 else scores

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        best = (scores[:, 0] >= 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def _loss_for(self, y: np.ndarray) -> BoostingLoss:
        if self.loss == "exponential" and self.n_classes_ > 2:
            raise ValueError(
                f"loss='exponential' is only suitable for a binary classification problem, and y has n_classes="
                f"{self.n_classes_}; use loss='log_loss'."
            )
        return loss_of(self.loss, 0.0, self.n_classes_)

    def _encode_target(self, y: np.ndarray, fresh: bool) -> np.ndarray:
        if not fresh:
            known = np.isin(y, self.classes_)
            if not known.all():
                new = y[~known][:1].tolist()[0]
                raise ValueError(
                    f"y holds the class {new!r}, which was not there in the first fit (warm_start=True); give all "
                    "classes to the first fit."
                )
            return np.searchsorted(self.classes_, y).astype(np.float64)
        self.classes_, codes = encode_labels(y)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ < 2:
            raise ValueError(
                f"y contains {self.n_classes_} class after sample_weight trimmed classes with zero weights, while a "
                "minimum of 2 classes are required."
            )
        return codes.astype(np.float64)

    def _given_start(self, X: Any, init: Any) -> np.ndarray:
        if not hasattr(init, "predict_proba"):
            raise ValueError(
                f"The initial estimator {type(init).__name__} has no predict_proba; give an init that has, or None."
            )
        shares = np.clip(
            np.asarray(init.predict_proba(X), dtype=np.float64), np.finfo(np.float32).eps, 1 - np.finfo(np.float32).eps
        )
        logs = np.log(shares)
        if self.n_classes_ == 2:
            odds = logs[:, 1] - np.log1p(-shares[:, 1])
            return (0.5 * odds if self.loss == "exponential" else odds)[:, None]
        return logs - logs.mean(axis=1, keepdims=True)
