"""Boosting of trees on binned columns, for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from learnt.engine.estimator import Takes, Warm
from learnt.engine.params import check_number
from learnt.engine.progress import with_callbacks
from learnt.ensemble._lazy import LazyRegressor
from learnt.ensemble._trial import HIST_BOOSTING
from learnt.ensemble.hist_boosting._base import HistogramBoosting
from learnt.ensemble.hist_boosting._losses import BoostingLoss, regression_loss
from learnt.ensemble.hist_boosting._schema import REGRESSOR


class HistGradientBoostingRegressor(LazyRegressor, HistogramBoosting):
    """A sum of trees, each fitted to the gradient of the loss at the sum before it:  s(x) = s₀ + η Σₜ treeₜ(x).

    A leaf's value is the Newton step  −ΣG / (ΣH + l2)  over its rows; splits are chosen by what they take off the loss.
    Columns are cut into at most 255 bins. Missing values and categories need no preparation. The result is the same
    for any number of threads.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "gamma", "poisson", "quantile", "huber"} or object
        The loss; any name or object of `learnt.erm.losses` for numbers, or a custom object with value(y, score)
        and gradient(y, score), perhaps curvature(y, score). "gamma" and "poisson" predict e^s.
    quantile : float or None, default=None
        The quantile, for loss="quantile".
    learning_rate : float, default=0.1
        What every tree is multiplied by.
    max_iter : int, default=100
        Iterations: one tree each.
    max_leaf_nodes : int or None, default=31
        Leaves of a tree; None for no limit.
    max_depth : int or None, default=None
        Splits on the way to a leaf; None for no limit.
    min_samples_leaf : int, default=20
        Training rows in a leaf. Whole-number weights count as rows.
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
    >>> y = np.where(X[:, 0] < 100, 1.0, 3.0)
    >>> HistGradientBoostingRegressor().fit(X, y).predict([[50.0], [150.0], [np.nan]]).round(2)
    array([1., 3., 3.])
    """

    __learnt_schema__ = REGRESSOR
    __learnt_takes__ = Takes(lazy=True, categories=True, missing=True)
    __learnt_trial__ = replace(
        HIST_BOOSTING,
        warmup=(Warm("amount", {"max_iter": 2}),),
    )

    _target = "number"

    def __init__(
        self,
        loss="squared_error",
        *,
        quantile=None,
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
        growth="leaf",
        l1_regularization=0.0,
        min_hessian=1e-3,
        subsample=1.0,
    ):
        self.loss = loss
        self.quantile = quantile
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
    ) -> HistGradientBoostingRegressor:
        """Grow the trees; a row of weight 2 counts as two rows, one of weight 0 as none."""
        check_number(self, "quantile", 0, 1, also=(None,))
        return self._fit(X, y, sample_weight, X_val, y_val, sample_weight_val)

    def predict(self, X: Any) -> np.ndarray:
        """The predicted number of every row."""
        return self._of_rows(X, "_answers")

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predictions after every iteration."""
        loss = regression_loss(self)
        for scores in self._staged_scores(X):
            yield self._answers(scores, loss)

    def _answers(self, scores: np.ndarray, loss: BoostingLoss | None = None) -> np.ndarray:
        return (regression_loss(self) if loss is None else loss).mean(scores)

    def _loss_for(self, y: np.ndarray) -> BoostingLoss:
        return regression_loss(self)

    def _encode_target(self, y: np.ndarray, fresh: bool) -> np.ndarray:
        return y.astype(np.float64)
