"""A tree that predicts numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.engine.estimator import Trial, Warm
from learnt.engine.finite import require_finite
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import check_choice
from learnt.engine.schema import Schema
from learnt.forestry.schema import numbers_of_outputs, tree_check
from learnt.tree._base import TREE_STATE, BaseTree, target_of


class DecisionTreeRegressor(RegressorMixin, BaseTree):
    """Questions about one column at a time; a leaf predicts the mean (or median) of its rows.

        split of a node:  max over column j and threshold t of  I(node) − Σ over sides  w_side / w_node · I(side)

    where I is  mean (y − ȳ)²,  mean |y − median|  or the Poisson deviance  mean y log(y / ȳ).

    The prediction is a step function: constant in each box, and constant beyond the range of the training rows. A tree
    needs no scaling of columns and takes categories and missing values as they are.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson", "friedman_mse"}, default="squared_error"
        The impurity that splits lower. "squared_error": variance, leaves predict means. "absolute_error": mean distance
        from the median, leaves predict medians; robust to outliers in y, and slower. "poisson": half the Poisson
        deviance, for counts and other targets that are not negative. "friedman_mse": deprecated; kept for
        scikit-learn's signature as a name of "squared_error".
    splitter : {"best", "random"}, default="best"
        "best" searches every threshold of a column; "random" draws one threshold for each column and takes the best of
        these, which is quicker and less prone to overfitting, and best used in an ensemble.
    max_depth : int or None, default=None
        Most questions between the root and a leaf. None lets the tree grow until its leaves are pure or too small to
        split. The first parameter to lower against overfitting; too low a value underfits.
    min_samples_split : int or float, default=2
        Fewest rows that a node must have to be split; a float is a share of all rows, rounded up. Larger values give a
        smaller tree and less overfitting.
    min_samples_leaf : int or float, default=1
        Fewest rows on each side of a split; a float below 1 is a share of all rows, rounded up. Larger values smooth
        the predictions, above all in regression; 5 to 50 is a usual range to try.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight that a leaf may hold, from 0 to 0.5. Use it in place of `min_samples_leaf`
        where rows have weights.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        How many columns each split looks at, drawn at random at each node: a number, a share of the columns (float),
        their square root, their binary logarithm, or all (None, 1.0). Fewer columns make the trees of an ensemble more
        different and growth quicker; a single tree usually wants all.
    random_state : int, RandomState, Generator or None, default=None
        Draws columns and thresholds, and the order in which columns are looked at, which decides between equally good
        splits. Pass an integer for the same tree every time.
    max_leaf_nodes : int or None, default=None
        Grow the tree best split first, up to this many leaves; None for no limit. Another way to limit the size of the
        tree, which spends leaves where they help most.
    min_impurity_decrease : float, default=0.0
        A split must lower the impurity, times the share of the total weight in the node, by at least this. Above 0 it
        stops growth early; pruning by `ccp_alpha` usually gives better trees.
    ccp_alpha : float, default=0.0
        Price of a leaf in minimal cost-complexity pruning: subtrees whose gain per leaf is below it are cut off after
        growth. 0 does not prune. The more, the smaller the tree; `cost_complexity_pruning_path` lists the values worth
        trying.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        Along each column, whether the prediction must rise (1), must fall (-1) or is free (0); None leaves all free.
        Only for one output.
    categorical_features : "from_dtype", None, or array-like of bool, int or str, default="from_dtype"
        Which columns hold categories. "from_dtype" takes the columns of a data frame that hold text or are of a
        category type; None takes none; else flags, positions or names of columns. There may be any number of
        categories, and they need not be encoded. A category not seen in `fit` follows the heavier branch.
    categorical_split : {"subset", "multiway"}, default="subset"
        "subset" splits the categories of a column into two groups; "multiway" makes a branch for each category, as in
        ID3.
    min_significance : float or None, default=None
        Split only where a test finds the branches different with a p-value of at most this, such as 0.05: the F test of
        equal means. None makes no test. A stopping rule against overfitting that has a meaning of its own.
    missing : {"direction", "surrogate"}, default="direction"
        Where rows with a missing value go. "direction": to the side that was better for them in training. "surrogate":
        where the split of another column, the one that agrees best, would send them; this also serves tables that have
        gaps only at prediction.

    Attributes
    ----------
    tree_ : Tree
        The tree as arrays, one entry a node: `children_left`, `children_right`, `feature`, `threshold`, `value`,
        `impurity` and others.
    n_outputs_ : int
        Number of outputs, which is the number of columns of y.
    max_features_ : int
        Number of columns that each split looked at, worked out from `max_features`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the decrease of impurity; they add up to 1. Columns of many values look more important
        than they are.

    See Also
    --------
    DecisionTreeClassifier : The same for classes.
    ModelTreeRegressor : A tree with a linear model, or any other, in each leaf.
    learnt.ensemble.RandomForestRegressor : The mean of many trees: more accurate, with prediction intervals.
    learnt.ensemble.HistGradientBoostingRegressor :
        Boosted trees: the most accurate as a rule, and quick on large tables.
    prune : Cuts a fitted tree back by its errors on validation rows.

    Notes
    -----
    Growth is greedy: each split is the best for its node, with no regard to those that follow. It takes about d n log n
    steps for n rows and d columns where the tree is balanced; a prediction asks at most as many questions as the tree
    is deep. Values are compared in single precision (float32). A row of weight 2 counts as two rows, one of weight 0 as
    none.

    A tree without limits fits the training rows perfectly and overfits: limit `max_depth`, `min_samples_leaf` or
    `max_leaf_nodes`, or prune with `ccp_alpha` or `prune`. A forest or boosting is almost always more accurate.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees", Wadsworth, 1984.
    .. [2] T. Hastie, R. Tibshirani and J. Friedman, "The Elements of Statistical Learning", Springer, 2009.

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
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        categorical_split: str = "subset",
        min_significance: Any = None,
        missing: str = "direction",
    ) -> None:
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
        """Grow the tree on rows X with numbers y, one column an output.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers to predict; one column for each output.
        check_input : bool, default=True
            False where X and y are known to be checked, which saves the checks; what ensembles say.
        """
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
        """The value of every row's leaf: the mean, or the median, of its training rows.

        Parameters
        ----------
        check_input : bool, default=True
            False where X is known to be a checked array of float32 with the right number of columns, which saves the
            checks; what ensembles say.
        """
        X = self._rows(X, check_input)
        values = self.tree_.value.take(self.tree_.apply(X), axis=0)[:, :, 0]
        return values[:, 0] if self.n_outputs_ == 1 else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags
