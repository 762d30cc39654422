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

    As a rule the most accurate model for tables of mixed columns, and quick on millions of rows. Tune `learning_rate`
    with `max_iter`, then `max_leaf_nodes` and `l2_regularization`.

    Parameters
    ----------
    loss : {"log_loss", "exponential", "modified_huber", "squared_hinge"} or object, default="log_loss"
        The loss that is minimised. "log_loss", for any number of classes, gives probabilities; the others are for two
        classes: "exponential" is AdaBoost's, "modified_huber" bears wrong labels, "squared_hinge" is that of support
        vector machines. Also any name or object of `learnt.erm.losses` for two sides, or one of your own with
        `value(y, score)` and `gradient(y, score)`, y being -1 or 1, perhaps `curvature(y, score)`.
    learning_rate : float, default=0.1
        Learning rate: what every tree is multiplied by. Smaller values (shrinkage) need more iterations (`max_iter`)
        and overfit less; 0.03 to 0.3 is usual.
    max_iter : int, default=100
        Number of iterations at most: one tree each, or one for each of three or more classes. Raise it together with
        `early_stopping`, and with a smaller `learning_rate` for the best accuracy.
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree; None for no limit. The main limit on how complex a tree is: fewer overfit less.
    max_depth : int or None, default=None
        Most splits between the root and a leaf; None for no limit. Limits how many columns may interact in a tree.
    min_samples_leaf : int, default=20
        Fewest training rows in a leaf; whole-number weights count as rows. Raise it against overfitting, lower it for
        tables of a few hundred rows. For the log loss a leaf must also tell as much as so many rows, less one, tell on
        average in the node it comes from: rows count by p (1 - p) there, since those of which the class is all but
        certain say next to nothing of a score. LightGBM counts so; scikit-learn does not.
    l2_regularization : float, default=0.0
        Strength of the L2 penalty on the values of leaves: added to the sum of hessians, it draws them towards 0
        (shrinkage), above all those of few rows. Try 0 to 100 against overfitting.
    max_features : float, default=1.0
        Share of the columns that each split looks at, drawn at random. Values below 1 overfit less and are quicker.
    max_bins : int, default=255
        Most bins of a column, from 2 to 255; missing values have one more. Fewer are quicker and smooth a little.
    categorical_features : "from_dtype", None, or array-like of bool, int or str, default="from_dtype"
        Which columns hold categories. "from_dtype" takes the columns of a data frame that hold text or are of a
        category type; None takes none; else flags, positions or names of columns. There may be any number of
        categories: the `max_bins` - 1 most frequent are told apart, the others are one. A category that was not seen in
        `fit` is treated like a missing value, and so is a negative number.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Along each column, whether the score may only rise (1), may only fall (-1) or is free (0); a dict names the
        columns. None leaves all free. Not for three or more classes. Constraints that are known to hold reduce
        overfitting.
    interaction_cst : {"pairwise", "no_interactions"}, list of set of int, or None, default=None
        Which columns may meet in one branch of a tree: pairs of them, none (an additive model), or those of a common
        set. None lets all meet.
    warm_start : bool, default=False
        Whether the next `fit` goes on from the trees that are there, up to `max_iter`, instead of starting afresh.
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when a held-out score gets no better. "auto" does for more than 10,000 rows, and where `X_val`
        is given.
    scoring : str, callable or None, default="loss"
        What early stopping watches: the loss ("loss"), a scorer by name or function, or the estimator's own score
        (None).
    validation_fraction : float, int or None, default=0.1
        Share (or number) of rows held out for early stopping. None watches the training rows, which do not
        show overfitting.
    n_iter_no_change : int, default=10
        Stop when none of the last so many scores was better by `tol` than the one before them. Larger values are more
        patient.
    tol : float, default=1e-7
        Least improvement of the score that counts for early stopping.
    verbose : int, default=0
        Where it is more than 0, a line is said of every iteration: to the log "learnt", or to stderr.
    random_state : int, RandomState, Generator or None, default=None
        Chooses which rows are held out, and draws rows and columns. Pass an integer for the same model every time.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" gives every class the same total, which
        raises the recall of rare classes.
    growth : {"leaf", "depth"}, default="leaf"
        Which leaf is split next: the one that gains most ("leaf"), or all of a level in turn ("depth").
    l1_regularization : float, default=0.0
        Strength of the L1 penalty on the values of leaves: taken off the sum of gradients, so that leaves with small
        ones have the value 0.
    min_hessian : float, default=1e-3
        Least sum of hessians in a leaf. Raise it where leaves of rows that are predicted with certainty get extreme
        values.
    subsample : float, default=1.0
        Share of the rows that a tree is grown on, drawn anew for each iteration. Values below 1 overfit less and are
        quicker.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_iter_ : int
        Number of iterations done; fewer than `max_iter` where it stopped early.
    n_trees_per_iteration_ : int
        Number of trees in each iteration: 1, or one for each of three or more classes.
    train_score_ : ndarray of shape (n_iter_ + 1,)
        The watched score of the training rows before the first iteration and after every one; empty without early
        stopping.
    validation_score_ : ndarray of shape (n_iter_ + 1,)
        The watched score of the held-out rows before the first iteration and after every one; empty without held-out
        rows.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the gain of all splits; they add up to 1 unless there was no split.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Which columns hold categories; None where none do.
    do_early_stopping_ : bool
        Whether a score was watched.

    See Also
    --------
    HistGradientBoostingRegressor : The same for numbers.
    GradientBoostingClassifier : Exact thresholds, and an estimator to start from.
    RandomForestClassifier : Averages independent trees: hardly any tuning.
    FunctionalGradientBoosting : Any weak learner, any loss.
    learnt.calibration.CalibratedClassifierCV : Calibrates its probabilities.

    Notes
    -----
    Columns are cut into bins once, in about n log n steps each; a tree then takes about d · n steps a level, and half
    of that since a node's histogram is its parent's less its sibling's. Memory is about one byte a cell. A row of
    weight 2 counts as two rows, one of weight 0 as none.

    References
    ----------
    .. [1] J. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29, 2001.
    .. [2] G. Ke and others, "LightGBM: a highly efficient gradient boosting decision tree", NIPS, 2017.

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
        loss: Any = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int = 31,
        max_depth: int | None = None,
        min_samples_leaf: Any = 20,
        l2_regularization: float = 0.0,
        max_features: Any = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
        class_weight: Any = None,
        growth: str = "leaf",
        l1_regularization: float = 0.0,
        min_hessian: float = 1e-3,
        subsample: float = 1.0,
    ) -> None:
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
        """Grow the trees; a row of weight 2 counts as two rows, one of weight 0 as none.

        Parameters
        ----------
        X_val : array-like of shape (n_samples, n_features), default=None
            Rows that early stopping watches, in place of some held out of X.
        y_val : array-like of shape (n_samples,), default=None
            The targets of these rows.
        sample_weight_val : array-like of shape (n_samples,), default=None
            What each of these rows counts; None counts every row once.
        """
        check_class_weight(self)
        return self._fit(X, y, sample_weight, X_val, y_val, sample_weight_val)

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row."""
        return self._of_rows(X, "_answers")

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes: the inverse link of the scores."""
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
