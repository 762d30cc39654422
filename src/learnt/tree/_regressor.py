"""A tree that predicts numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from learnt.engine.estimator import Trial, Warm
from learnt.engine.finite import require_finite
from learnt.engine.params import check_choice
from learnt.engine.schema import Schema
from learnt.forestry.schema import numbers_of_outputs, tree_check
from learnt.tree._base import TREE_STATE, BaseTree, target_of


class DecisionTreeRegressor(RegressorMixin, BaseTree):
    """Questions about one column at a time; a leaf predicts the mean (or median) of its rows.

        split of a node:  max over column j and threshold t of  I(node) − Σ over sides  w_side / w_node · I(side)

    where I is  mean (y − ȳ)²,  mean |y − median|  or the Poisson deviance  mean y log(y / ȳ).

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson", "friedman_mse"}, default="squared_error"
        The impurity; "friedman_mse" is an old name of "squared_error".
    splitter : {"best", "random"}, default="best"
        The best threshold of each column, or the best of one random threshold a column.
    max_depth : int or None, default=None
        The most questions a row is asked.
    min_samples_split : int or float, default=2
        A node with fewer rows is a leaf; a float is a share of the rows.
    min_samples_leaf : int or float, default=1
        The fewest rows of a leaf; a float is a share of the rows.
    min_weight_fraction_leaf : float, default=0.0
        The least share of the weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns drawn at random for each split; a float is a share of them.
    random_state : int, RandomState or None, default=None
        Draws columns and thresholds, and the order in which columns are looked at, which decides between equal splits.
    max_leaf_nodes : int or None, default=None
        Split where the gain is largest first, up to this many leaves.
    min_impurity_decrease : float, default=0.0
        The least gain of a split, times the node's share of the weight.
    ccp_alpha : float, default=0.0
        Cut subtrees whose gain a leaf is below this (cost-complexity pruning).
    monotonic_cst : array of −1, 0, 1 or None, default=None
        Whether the prediction must fall, may do anything, or must rise along each column.
    categorical_features : "from_dtype", None, or array of flags, indices or names, default="from_dtype"
        Columns that hold categories, of any number, as numbers or strings. One never seen follows the heavier branch.
        "from_dtype": the columns of a data frame that hold text or are of a category type.
    categorical_split : {"subset", "multiway"}, default="subset"
        Categories in two groups, or one branch for each (ID3).
    min_significance : float or None, default=None
        Split only where the F test of equal means of the branches has a p-value of at most this.
    missing : {"direction", "surrogate"}, default="direction"
        Rows with a missing value follow the side that was better in training; or they ask the columns whose splits send
        most other rows the same way, best first (surrogate splits), which also serves tables that have gaps only later.

    Attributes
    ----------
    tree_ : Tree
        The tree as arrays: `children_left`, `feature`, `threshold`, `value` and others.
    n_outputs_, n_features_in_, max_features_ : int
    feature_importances_ : array of shape (n_features,)

    Examples
    --------
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 1.0, 5.0, 5.0])
    >>> model.predict([[0.4], [2.6]]), model.tree_.threshold[0]
    (array([1., 5.]), np.float64(1.5))
    """

    __learnt_schema__ = Schema(
        state={**TREE_STATE, "tree_": tree_check(n_classes=False)},
        rule=lambda model, state, dims: numbers_of_outputs(state, state["tree_"].n_classes),
    )
    # Below two levels small nodes have equally good splits, between which the order of rows decides.
    __learnt_trial__ = Trial(
        quick={"max_depth": 2, "random_state": 0},
        warmup=(Warm("amount"),),
        weighted=(
            {"min_samples_leaf": 0.1, "max_depth": None},
            {"min_significance": 0.05},
            {"criterion": "absolute_error"},
            {"criterion": "poisson"},
        ),
    )

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        categorical_features="from_dtype",
        categorical_split="subset",
        min_significance=None,
        missing="direction",
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.min_significance = min_significance
        self.missing = missing

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> DecisionTreeRegressor:
        """Grow the tree on rows X with numbers y, one column an output."""
        self._check_parameters()
        check_choice(self, "criterion", ("squared_error", "absolute_error", "poisson", "friedman_mse"))
        if self.criterion == "friedman_mse":
            warnings.warn(
                'criterion="friedman_mse" is deprecated and the same as "squared_error"; use that name.',
                FutureWarning,
                stacklevel=2,
            )
        X, targets, weights = self._read(X, y, sample_weight, check_input, self._numbers)
        self.n_outputs_ = targets.shape[1] if targets.ndim == 2 else 1
        self._grow(X, targets, weights, None, self.criterion)
        return self

    def _fit_drawn(self, X: np.ndarray, y: np.ndarray, drawn: np.ndarray) -> None:
        """Grow on these rows of checked numbers, some more than once, as on a copy of them: what boosting does."""
        self._check_parameters()
        self._categories, self.n_features_in_, self.n_outputs_ = None, X.shape[1], 1
        self._grow(X, y, None, None, self.criterion, drawn)

    def _numbers(self, y: Any, X: Any) -> np.ndarray:
        name = type(self).__name__
        targets = target_of(y, X, name)
        if targets.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: y is complex and {name} needs real targets.")
        try:
            targets = targets.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise ValueError(
                f"y holds values that are not numbers, and {name} predicts numbers; encode y first."
            ) from None
        require_finite(targets, "y", name)
        if self.criterion == "poisson":
            if (targets < 0).any():
                raise ValueError(
                    "Some value(s) of y are negative which is not allowed for Poisson regression; use "
                    "criterion='squared_error'."
                )
            if (targets.sum(axis=0) <= 0).any():
                raise ValueError(
                    "Sum of y is not positive which is necessary for Poisson regression; every y is 0 here."
                )
        return targets

    def predict(self, X: Any, check_input: bool = True) -> np.ndarray:
        """The value of every row's leaf."""
        X = self._rows(X, check_input)
        values = self.tree_.value.take(self.tree_.apply(X), axis=0)[:, :, 0]
        return values[:, 0] if self.n_outputs_ == 1 else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags
