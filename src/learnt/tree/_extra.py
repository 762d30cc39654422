"""Trees with random thresholds: the members of extremely randomised forests."""

from __future__ import annotations

from typing import Any

from learnt.engine.estimator import Trial, Warm
from learnt.tree._classifier import DecisionTreeClassifier
from learnt.tree._regressor import DecisionTreeRegressor


class ExtraTreeClassifier(DecisionTreeClassifier):
    """A classification tree that draws, at each node, some columns and one threshold for each, and takes the best.

    Meant for ensembles, in which many different trees are averaged: alone it has more variance and is less accurate
    than `DecisionTreeClassifier`, which searches the thresholds.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        The impurity that splits lower. "gini" is Σ p(1 − p); "entropy" and "log_loss", two names of the same, are −Σ p
        log₂ p; "error" is the share of wrong answers, 1 − max p, which grows coarse trees. Gini and entropy seldom
        differ much.
    splitter : {"best", "random"}, default="random"
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
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
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
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" gives every class the same total, which
        raises the recall of rare classes; for several outputs, a list with one dict each.
    ccp_alpha : float, default=0.0
        Price of a leaf in minimal cost-complexity pruning: subtrees whose gain per leaf is below it are cut off after
        growth. 0 does not prune. The more, the smaller the tree; `cost_complexity_pruning_path` lists the values worth
        trying.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        Along each column, whether the probability of the second class must rise (1), must fall (-1) or is free (0);
        None leaves all free. Only for two classes and one output.
    categorical_features : "from_dtype", None, or array-like of bool, int or str, default="from_dtype"
        Which columns hold categories. "from_dtype" takes the columns of a data frame that hold text or are of a
        category type; None takes none; else flags, positions or names of columns. There may be any number of
        categories, and they need not be encoded. A category not seen in `fit` follows the heavier branch.
    categorical_split : {"subset", "multiway"}, default="subset"
        "subset" splits the categories of a column into two groups; "multiway" makes a branch for each category, as in
        ID3.
    min_significance : float or None, default=None
        Split only where a test finds the branches different with a p-value of at most this, such as 0.05: the χ² test
        of independence between branch and class. None makes no test. A stopping rule against overfitting that has a
        meaning of its own.
    missing : {"direction", "surrogate"}, default="direction"
        Where rows with a missing value go. "direction": to the side that was better for them in training. "surrogate":
        where the split of another column, the one that agrees best, would send them; this also serves tables that have
        gaps only at prediction.

    Attributes
    ----------
    tree_ : Tree
        The tree as arrays, one entry a node: `children_left`, `children_right`, `feature`, `threshold`, `value`,
        `impurity` and others.
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        The class labels, sorted; for several outputs a list with one array for each.
    n_classes_ : int or ndarray of int
        Number of classes; for several outputs an array with one number for each.
    n_outputs_ : int
        Number of outputs, which is the number of columns of y.
    max_features_ : int
        Number of columns that each split looked at, worked out from `max_features`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the decrease of impurity; they add up to 1. Columns of many values look more important
        than they are.

    See Also
    --------
    ExtraTreeRegressor : The same for numbers.
    DecisionTreeClassifier : Searches every threshold: the better single tree.
    learnt.ensemble.ExtraTreesClassifier : A forest of these trees.

    Notes
    -----
    A threshold is drawn evenly between the smallest and the largest value of a column in the node, so that a node needs
    no sorted columns. On average the tree is deeper than one with searched thresholds. Limits and pruning are those
    given by the parameters; a row of weight 2 counts as two rows, one of weight 0 as none.

    References
    ----------
    .. [1] P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> ExtraTreeClassifier(random_state=0).fit(X, y).predict([[0.2], [2.9]])
    array([0, 1])
    """

    __learnt_trial__ = Trial(quick={"max_depth": 5, "max_features": None, "random_state": 0}, warmup=(Warm("classes"),))

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        categorical_split: str = "subset",
        min_significance: Any = None,
        missing: str = "direction",
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            min_significance=min_significance,
            missing=missing,
        )


class ExtraTreeRegressor(DecisionTreeRegressor):
    """A regression tree that draws, at each node, some columns and one threshold for each, and takes the best.

    Meant for ensembles, in which many different trees are averaged: alone it has more variance and is less accurate
    than `DecisionTreeRegressor`, which searches the thresholds.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson", "friedman_mse"}, default="squared_error"
        The impurity that splits lower. "squared_error": variance, leaves predict means. "absolute_error": mean distance
        from the median, leaves predict medians; robust to outliers in y, and slower. "poisson": half the Poisson
        deviance, for counts and other targets that are not negative. "friedman_mse": deprecated; kept for
        scikit-learn's signature as a name of "squared_error".
    splitter : {"best", "random"}, default="random"
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
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
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
    ExtraTreeClassifier : The same for classes.
    DecisionTreeRegressor : Searches every threshold: the better single tree.
    learnt.ensemble.ExtraTreesRegressor : A forest of these trees.

    Notes
    -----
    A threshold is drawn evenly between the smallest and the largest value of a column in the node, so that a node needs
    no sorted columns. On average the tree is deeper than one with searched thresholds. Limits and pruning are those
    given by the parameters; a row of weight 2 counts as two rows, one of weight 0 as none.

    References
    ----------
    .. [1] P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> ExtraTreeRegressor(random_state=0).fit(X, y).predict([[0.0], [3.0]])
    array([0., 3.])
    """

    __learnt_trial__ = Trial(quick={"max_depth": 5, "max_features": None, "random_state": 0}, warmup=(Warm("amount"),))

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
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
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            min_significance=min_significance,
            missing=missing,
        )
