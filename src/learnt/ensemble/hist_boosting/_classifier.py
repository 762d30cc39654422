"""Boosting of trees on binned columns, for classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from learnt.engine.classification.labels import class_weights, encode_labels
from learnt.engine.estimator import Takes, Warm
from learnt.engine.params import check_class_weight
from learnt.engine.progress import with_callbacks
from learnt.ensemble._lazy import LazyClassifier
from learnt.ensemble._trial import HIST_BOOSTING
from learnt.ensemble.hist_boosting._base import HistogramBoosting
from learnt.ensemble.hist_boosting._losses import BoostingLoss, classification_loss
from learnt.ensemble.hist_boosting._schema import CLASSIFIER


class HistGradientBoostingClassifier(LazyClassifier, HistogramBoosting):
    """A sum of trees for the log-odds of the classes:  s(x) = s₀ + η Σₜ treeₜ(x),  one sum for each of three or more.

    Each tree is fitted to the gradient of the loss at the sum before it; a leaf's value is the Newton step
    −ΣG / (ΣH + l2)  over its rows. Columns are cut into at most 255 bins. Missing values and categories need no
    preparation. The result is the same for any number of threads.

    Parameters
    ----------
    loss : {"log_loss", "exponential", "modified_huber", "squared_hinge"} or object, default="log_loss"
        The loss; for two classes also any name or object of `learnt.erm.losses` for sides, or a custom object
        with value(y, score) and gradient(y, score), y being −1 or +1, perhaps curvature(y, score).
    learning_rate : float, default=0.1
        What every tree is multiplied by.
    max_iter : int, default=100
        Iterations: one tree each, or one for each of three or more classes.
    max_leaf_nodes : int or None, default=31
        Leaves of a tree; None for no limit.
    max_depth : int or None, default=None
        Splits on the way to a leaf; None for no limit.
    min_samples_leaf : int, default=20
        Training rows in a leaf. Whole-number weights count as rows. For the log loss a leaf must also tell as much as
        so many rows, less one, tell on average in the node it comes from: rows count by p (1 - p) there, since those of
        which the class is all but certain say next to nothing of a score. (LightGBM counts so; scikit-learn does not.)
    l2_regularization : float, default=0.0
        Added to the hessians of a leaf: draws its value towards 0.
    max_features : float, default=1.0
        The share of columns that each split looks at, drawn at random.
    max_bins : int, default=255
        Bins of a column; missing values have one more.
    categorical_features : "from_dtype", None, or array of bool, int or str, default="from_dtype"
        Columns of categories: those of a data frame that hold text or are of a category type, none, or these. There
        may be any number of categories: the `max_bins` - 1 most frequent are told apart, the others are one. A category
        that was not seen in `fit` is treated like a missing value, and so is a negative number.
    monotonic_cst : array of -1, 0, 1, or dict of column names to these, default=None
        The prediction may only fall (-1) or rise (1) with a column.
    interaction_cst : "pairwise", "no_interactions", or list of sets of int, default=None
        Columns that may meet in one branch.
    warm_start : bool, default=False
        Let `fit` go on from the trees that are there.
    early_stopping : "auto" or bool, default="auto"
        Stop when a held-out score gets no better; "auto" does for more than 10,000 rows and where `X_val` is given.
    scoring : str, callable or None, default="loss"
        What is watched: the loss, a scorer, or the estimator's own score (None).
    validation_fraction : float, int or None, default=0.1
        The share (or number) of rows held out; None watches the training rows.
    n_iter_no_change, tol : int, default=10; float, default=1e-7
        Stop when none of so many scores was better by so much than the one before them.
    verbose : int, default=0
        Whether a line is said of every iteration: to the log "learnt", or to stderr.
    random_state : int, RandomState, Generator or None, default=None
        Which rows are held out, and what is drawn.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied.
    growth : {"leaf", "depth"}, default="leaf"
        Split the leaf that gains most next, or level by level.
    l1_regularization : float, default=0.0
        Taken off the gradient of a leaf: small ones have the value 0.
    min_hessian : float, default=1e-3
        The least sum of hessians in a leaf.
    subsample : float, default=1.0
        The share of rows that a tree is grown on, drawn anew for each iteration.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_iter_ : int
        Iterations done.
    n_trees_per_iteration_ : int
    train_score_, validation_score_ : array of shape (n_iter_ + 1,)
        The watched score before the first and after every iteration; empty without early stopping.
    feature_importances_ : array of shape (n_features,)
        Shares in the gain of all splits.
    is_categorical_ : array of bool or None
    do_early_stopping_ : bool

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(200.0)[:, None]
    >>> y = np.where(X[:, 0] < 100, "low", "high")
    >>> HistGradientBoostingClassifier().fit(X, y).predict([[50.0], [150.0]]).tolist()
    ['low', 'high']
    """

    __learnt_schema__ = CLASSIFIER
    __learnt_takes__ = Takes(lazy=True, categories=True, missing=True)
    __learnt_trial__ = replace(
        HIST_BOOSTING,
        warmup=(
            Warm("two classes", {"max_iter": 2}),
            Warm("two classes", {"max_iter": 2, "categorical_features": [0]}),
            Warm("classes", {"max_iter": 2}),
        ),
    )

    _target = "label"

    def __init__(
        self,
        loss="log_loss",
        *,
        learning_rate=0.1,
        max_iter=100,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        max_bins=255,
        categorical_features="from_dtype",
        monotonic_cst=None,
        interaction_cst=None,
        warm_start=False,
        early_stopping="auto",
        scoring="loss",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        verbose=0,
        random_state=None,
        class_weight=None,
        growth="leaf",
        l1_regularization=0.0,
        min_hessian=1e-3,
        subsample=1.0,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight
        self.growth = growth
        self.l1_regularization = l1_regularization
        self.min_hessian = min_hessian
        self.subsample = subsample

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> HistGradientBoostingClassifier:
        """Grow the trees; a row of weight 2 counts as two rows, one of weight 0 as none."""
        check_class_weight(self)
        return self._fit(X, y, sample_weight, X_val, y_val, sample_weight_val)

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row."""
        return self._of_rows(X, "_answers")

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes: (n, n_classes)."""
        return self._of_rows(X, "_probabilities")

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores: log-odds of the second of two classes (n,), or one score a class (n, n_classes)."""
        return self._of_rows(X, "_score_columns")

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The classes after every iteration."""
        for scores in self._staged_scores(X):
            yield self._answers(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """The probabilities after every iteration."""
        for scores in self._staged_scores(X):
            yield self._probabilities(scores)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The scores after every iteration."""
        for scores in self._staged_scores(X):
            yield self._score_columns(scores)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.ones((scores.shape[0], 1))
        return classification_loss(self, len(self.classes_)).mean(scores)

    def _score_columns(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _answers(self, scores: np.ndarray, loss: BoostingLoss | None = None) -> np.ndarray:
        if scores.shape[1] == 1:
            best = (scores[:, 0] > 0).astype(np.int64) if len(self.classes_) > 1 else np.zeros(len(scores), np.int64)
        else:
            best = scores.argmax(axis=1)
        return self.classes_[best]

    def _loss_for(self, y: np.ndarray) -> BoostingLoss:
        return classification_loss(self, len(self.classes_))

    def _encode_target(self, y: np.ndarray, fresh: bool) -> np.ndarray:
        if fresh:
            self.classes_, codes = encode_labels(y)
            return codes.astype(np.float64)
        known = np.isin(y, self.classes_)
        if not known.all():
            raise ValueError(
                f"y holds the class {y[~known][:1].tolist()[0]!r}, which {type(self).__name__} has not seen before; "
                "give all classes to the first fit."
            )
        return np.searchsorted(self.classes_, y).astype(np.float64)

    def _extra_weights(self, y: np.ndarray, w: np.ndarray | None) -> np.ndarray | None:
        if self.class_weight is None:
            return w
        codes = y.astype(np.int64)
        totals = np.bincount(codes, w, minlength=len(self.classes_)).astype(np.float64)
        each = class_weights(self.class_weight, self.classes_, totals)[codes]
        return each if w is None else each * w
