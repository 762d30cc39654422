"""Classical gradient boosting, for numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from learnt.engine.estimator import Takes, Warm
from learnt.engine.params import check_choice, check_number
from learnt.engine.progress import with_callbacks
from learnt.ensemble._trial import GRADIENT_BOOSTING
from learnt.ensemble.gradient_boosting._base import GradientBoosting
from learnt.ensemble.gradient_boosting._losses import loss_of
from learnt.ensemble.gradient_boosting._schema import REGRESSOR
from learnt.ensemble.hist_boosting._losses import BoostingLoss


class GradientBoostingRegressor(RegressorMixin, GradientBoosting):
    """A sum of small trees, each fitted by least squares to what the loss asks for next:  s(x) = s₀ + η Σₜ treeₜ(x).

    After a tree is grown its leaves are set to what lowers the loss most there. Up to 20,000 rows every threshold is
    looked at, as scikit-learn does; above, the ends of 255 bins. `HistGradientBoostingRegressor` has more losses and
    categories, and is quicker for deep trees.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile"}, default="squared_error"
        The loss; "huber" is squared up to the quantile `alpha` of the residuals and linear beyond.
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
    alpha : float, default=0.9
        The quantile, for loss="quantile" and "huber".
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
    >>> model = GradientBoostingRegressor().fit(X, X[:, 0] ** 2)
    >>> bool(abs(model.predict([[10.0]]) - 100.0) < 1)
    True
    """

    __learnt_schema__ = REGRESSOR
    __learnt_takes__ = Takes(sparse=True, missing=True)
    __learnt_trial__ = replace(
        GRADIENT_BOOSTING,
        warmup=(Warm("amount", {"n_estimators": 2, "subsample": 0.8}),),
    )

    _target = "number"

    def __init__(
        self,
        *,
        loss="squared_error",
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
        alpha=0.9,
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
        self.alpha = alpha
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
    ) -> GradientBoostingRegressor:
        """Grow the trees; `monitor(iteration, self, locals)` stops the fit by returning True."""
        check_choice(self, "loss", ("squared_error", "absolute_error", "huber", "quantile"))
        check_number(self, "alpha", 0, 1)
        return self._fit(X, y, sample_weight, monitor)

    def predict(self, X: Any) -> np.ndarray:
        """The predicted number of every row."""
        return self._scores(self._checked(X))[:, 0]

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predictions after every iteration."""
        for scores in self._staged_scores(X):
            yield scores[:, 0]

    def _loss_for(self, y: np.ndarray) -> BoostingLoss:
        return loss_of(self.loss, float(self.alpha), 0)

    def _encode_target(self, y: np.ndarray, fresh: bool) -> np.ndarray:
        return y.astype(np.float64, copy=False)

    def _given_start(self, X: Any, init: Any) -> np.ndarray:
        return np.asarray(init.predict(X), dtype=np.float64).reshape(-1, 1).copy()
