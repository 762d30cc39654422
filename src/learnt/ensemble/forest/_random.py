"""Random forests: trees on bootstrap samples, each split the best of a few random columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from learnt.engine.estimator import Takes, Warm
from learnt.ensemble._trial import FOREST_OF_AMOUNTS, FOREST_OF_CLASSES
from learnt.ensemble.forest._classifier import ForestClassifier
from learnt.ensemble.forest._regressor import ForestRegressor
from learnt.ensemble.forest._schema import CLASSIFIER, REGRESSOR


class RandomForestClassifier(ForestClassifier):
    """A random forest of classification trees:  p(c | x) = mean over trees of the share of class c in the leaf of x.

    Each tree grows on its own bootstrap sample of the rows, and each of its splits looks at a random few of the
    columns; averaging many such trees removes most of their variance. A strong classifier that needs hardly any tuning,
    no scaling of columns and no encoding of categories.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees. More make the predictions steadier and never overfit more, but cost time and memory in
        proportion; beyond a few hundred little is gained.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        The impurity that splits lower. "gini" is Σ p(1 − p); "entropy" and "log_loss", two names of the same, are −Σ p
        log₂ p. They seldom differ much.
    max_depth : int or None, default=None
        Most splits between the root and a leaf. None lets trees grow until their leaves are pure or too small to split.
        Lower it for smaller models and quicker predictions; a forest overfits much less by depth than a single tree
        does.
    min_samples_split : int or float, default=2
        Fewest rows that a node must have to be split; a float is a share of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        Fewest rows on each side of a split; a float below 1 is a share of all rows, rounded up. Larger values smooth
        the predictions and shrink the forest; try 1 to 20, above all where the target is noisy.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight that a leaf may hold, from 0 to 0.5. Use it in place of `min_samples_leaf`
        where rows have weights.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        How many columns each split looks at, drawn at random: a number, a share (float), the square root of their
        number, its binary logarithm, or all (None, 1.0). The main trade-off of a forest: fewer make the trees more
        different and growth quicker, more make each tree better. Raise it where only a few of many columns matter.
    max_leaf_nodes : int or None, default=None
        Grow trees best split first, up to this many leaves; None for no limit. Limits the size of the model.
    min_impurity_decrease : float, default=0.0
        A split must lower the impurity, times the share of the rows in the node, by at least this. Above 0 it stops
        growth early.
    bootstrap : bool, default=True
        Whether each tree grows on rows drawn with replacement, as many as there are (or `max_samples`); otherwise on
        all rows. Needed for `oob_score` and for `permutation_importances`.
    oob_score : bool or callable, default=False
        Whether to score the forest on rows left out, each training row by the trees that have not seen it: a validation
        score without a validation set. True gives the accuracy; a callable is a metric `(y_true, y_pred)`. Needs
        `bootstrap`.
    n_jobs : int or None, default=None
        Number of threads; None or -1 takes all that this process may use. The forest is the same whatever their number.
    random_state : int, RandomState, Generator or None, default=None
        Draws the rows of each tree and the columns of each split. Pass an integer for the same forest every time.
    verbose : int, default=0
        Has no effect; kept for scikit-learn's signature. `learnt.engine.progress.show` shows progress.
    warm_start : bool, default=False
        Whether the next `fit` keeps the trees that are there and adds what is missing to `n_estimators`, instead of
        starting afresh.
    class_weight : dict, list of dict, {"balanced", "balanced_subsample"} or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" gives every class the same total, which
        raises the recall of rare classes; "balanced_subsample" does so in each tree's own sample. For several outputs,
        a list with one dict each.
    ccp_alpha : float, default=0.0
        Price of a leaf in minimal cost-complexity pruning of every tree. 0 does not prune; more gives smaller trees.
    max_samples : int, float or None, default=None
        How many rows are drawn for each tree, where `bootstrap` is set: a number, a share (float), or None for as many
        as there are. Fewer make the trees more different and growth quicker.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        Along each column, whether the probability of the second class must rise (1), must fall (-1) or is free (0);
        None leaves all free. Only for two classes and one output.
    splitter : {"auto", "exact", "binned"}, default="auto"
        "exact" looks at every cut between two values. "binned" looks at up to 254 cuts of each column, which is much
        quicker on large tables and as accurate for two classes. "auto" takes bins from 2,000 rows on where it can and
        there are two classes: of dense tables without categories or monotonic constraints, by any criterion but
        "absolute_error" and "poisson".
    categorical_features : "from_dtype", None, or array-like of bool, int or str, default="from_dtype"
        Which columns hold categories. "from_dtype" takes the columns of a data frame that hold text or are of a
        category type; None takes none; else flags, positions or names of columns. There may be any number of
        categories, and they need not be encoded. A category not seen in `fit` follows the heavier branch.

    Attributes
    ----------
    estimators_ : list of DecisionTreeClassifier
        The trees as estimators, which predict codes of the classes, 0 for the first.
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        The class labels, sorted; for several outputs a list with one array for each.
    n_classes_ : int or list of int
        Number of classes; for several outputs a list with one number for each.
    n_outputs_ : int
        Number of outputs, which is the number of columns of y.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the decrease of impurity, averaged over trees. Columns of many values look more
        important than they are; `permutation_importances` does not have that bias.
    estimators_samples_ : list of ndarray
        The rows that each tree was grown on, as often as they were drawn; drawn again from its seed when asked for.
    oob_score_ : float
        Accuracy, or the metric given, on rows left out; only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes) or (n_samples, n_classes, n_outputs)
        Probabilities of each training row by the trees that have not seen it; 0 for a row that all have seen. Only with
        `oob_score`.
    grove_ : Grove
        All trees in one set of arrays, from which rows are predicted.
    seeds_ : ndarray of shape (n_estimators,)
        The seed of each tree.

    See Also
    --------
    RandomForestRegressor : The same for numbers, with prediction intervals.
    ExtraTreesClassifier : Thresholds drawn at random: less variance, quicker growth.
    HistGradientBoostingClassifier : Boosted trees: often more accurate and smaller, with more to tune.
    learnt.tree.DecisionTreeClassifier : A single tree, which people can read.

    Notes
    -----
    Growth takes about `n_estimators` · `max_features` · n log n steps for n rows, shared among threads; memory grows
    with the number of leaves, which without limits is near n a tree. With `bootstrap`, rows are drawn in proportion to
    `sample_weight`; without it they are weighted, and a row of weight 2 counts as two. Values are compared in single
    precision.

    References
    ----------
    .. [1] L. Breiman, "Random forests", Machine Learning 45, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> model = RandomForestClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> model.predict([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    array(['same', 'other'], dtype='<U5')
    """

    __learnt_schema__ = CLASSIFIER
    __learnt_takes__ = Takes(sparse=True, lazy=True, categories=True, missing=True)
    __learnt_trial__ = replace(
        FOREST_OF_CLASSES,
        warmup=(
            Warm("two classes", {"n_estimators": 2, "splitter": "binned"}),
            Warm("classes", {"n_estimators": 2, "splitter": "binned"}),
            Warm("two classes", {"n_estimators": 2, "splitter": "exact"}),
            Warm("classes", {"n_estimators": 2, "splitter": "exact"}),
        ),
        any_order=False,
        weight_repeats=False,  # rows are drawn
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        splitter: str = "auto",
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.splitter = splitter
        self.categorical_features = categorical_features


class RandomForestRegressor(ForestRegressor):
    """A random forest of regression trees:  f(x) = mean over trees of the mean target in the leaf of x.

    Each tree grows on its own bootstrap sample of the rows; averaging many such trees removes most of their variance.
    Besides the mean it predicts quantiles and intervals. Like every tree it is constant beyond the range of the
    training rows.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees. More make the predictions steadier and never overfit more, but cost time and memory in
        proportion; beyond a few hundred little is gained.
    criterion : {"squared_error", "absolute_error", "poisson", "friedman_mse"}, default="squared_error"
        The impurity that splits lower. "squared_error": variance. "absolute_error": mean distance from the median;
        robust to outliers in y, and slower. "poisson": Poisson deviance, for counts and other targets that are not
        negative. "friedman_mse": deprecated; kept for scikit-learn's signature as a name of "squared_error".
    max_depth : int or None, default=None
        Most splits between the root and a leaf. None lets trees grow until their leaves are pure or too small to split.
        Lower it for smaller models and quicker predictions; a forest overfits much less by depth than a single tree
        does.
    min_samples_split : int or float, default=2
        Fewest rows that a node must have to be split; a float is a share of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        Fewest rows on each side of a split; a float below 1 is a share of all rows, rounded up. Larger values smooth
        the predictions and shrink the forest; try 1 to 20, above all where the target is noisy.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight that a leaf may hold, from 0 to 0.5. Use it in place of `min_samples_leaf`
        where rows have weights.
    max_features : {"sqrt", "log2"}, int, float or None, default=1.0
        How many columns each split looks at, drawn at random: a number, a share (float), the square root of their
        number, its binary logarithm, or all (None, 1.0). The main trade-off of a forest: fewer make the trees more
        different and growth quicker, more make each tree better. Values around 0.3 often predict better than all.
    max_leaf_nodes : int or None, default=None
        Grow trees best split first, up to this many leaves; None for no limit. Limits the size of the model.
    min_impurity_decrease : float, default=0.0
        A split must lower the impurity, times the share of the rows in the node, by at least this. Above 0 it stops
        growth early.
    bootstrap : bool, default=True
        Whether each tree grows on rows drawn with replacement, as many as there are (or `max_samples`); otherwise on
        all rows. Needed for `oob_score`, for calibrated prediction intervals and for `permutation_importances`.
    oob_score : bool or callable, default=False
        Whether to score the forest on rows left out, each training row by the trees that have not seen it: a validation
        score without a validation set. True gives R²; a callable is a metric `(y_true, y_pred)`. Needs `bootstrap`.
    n_jobs : int or None, default=None
        Number of threads; None or -1 takes all that this process may use. The forest is the same whatever their number.
    random_state : int, RandomState, Generator or None, default=None
        Draws the rows of each tree and the columns of each split. Pass an integer for the same forest every time.
    verbose : int, default=0
        Has no effect; kept for scikit-learn's signature. `learnt.engine.progress.show` shows progress.
    warm_start : bool, default=False
        Whether the next `fit` keeps the trees that are there and adds what is missing to `n_estimators`, instead of
        starting afresh.
    ccp_alpha : float, default=0.0
        Price of a leaf in minimal cost-complexity pruning of every tree. 0 does not prune; more gives smaller trees.
    max_samples : int, float or None, default=None
        How many rows are drawn for each tree, where `bootstrap` is set: a number, a share (float), or None for as many
        as there are. Fewer make the trees more different and growth quicker.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        Along each column, whether the prediction must rise (1), must fall (-1) or is free (0); None leaves all free.
        Only for one output.
    splitter : {"auto", "exact", "binned"}, default="auto"
        "exact" looks at every cut between two values. "binned" looks at up to 254 cuts of each column, which is much
        quicker on large tables and as accurate. "auto" takes bins from 2,000 rows on where it can: of dense tables
        without categories or monotonic constraints, by any criterion but "absolute_error" and "poisson".
    categorical_features : "from_dtype", None, or array-like of bool, int or str, default="from_dtype"
        Which columns hold categories. "from_dtype" takes the columns of a data frame that hold text or are of a
        category type; None takes none; else flags, positions or names of columns. There may be any number of
        categories, and they need not be encoded. A category not seen in `fit` follows the heavier branch.

    Attributes
    ----------
    estimators_ : list of DecisionTreeRegressor
        The trees as estimators.
    n_outputs_ : int
        Number of outputs, which is the number of columns of y.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the decrease of impurity, averaged over trees. Columns of many values look more
        important than they are; `permutation_importances` does not have that bias.
    estimators_samples_ : list of ndarray
        The rows that each tree was grown on, as often as they were drawn; drawn again from its seed when asked for.
    oob_score_ : float
        R², or the metric given, on rows left out; only with `oob_score`.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Prediction of each training row by the trees that have not seen it; 0 for a row that all have seen. Only with
        `oob_score`.
    grove_ : Grove
        All trees in one set of arrays, from which rows are predicted.
    seeds_ : ndarray of shape (n_estimators,)
        The seed of each tree.

    See Also
    --------
    RandomForestClassifier : The same for classes.
    ExtraTreesRegressor : Thresholds drawn at random: smoother predictions, quicker growth.
    HistGradientBoostingRegressor : Boosted trees: often more accurate and smaller, with more to tune.
    learnt.tree.DecisionTreeRegressor : A single tree, which people can read.

    Notes
    -----
    Growth takes about `n_estimators` · `max_features` · n log n steps for n rows, shared among threads; memory grows
    with the number of leaves, which without limits is near n a tree. For quantiles [2]_ each leaf keeps at most 16 of
    its targets, evenly spaced among them. With `bootstrap`, rows are drawn in proportion to `sample_weight`; without it
    they are weighted, and a row of weight 2 counts as two. Values are compared in single precision.

    References
    ----------
    .. [1] L. Breiman, "Random forests", Machine Learning 45, 2001.
    .. [2] N. Meinshausen, "Quantile regression forests", JMLR 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(300, 2))
    >>> y = 10 * X[:, 0] + np.random.default_rng(1).normal(size=300)
    >>> model = RandomForestRegressor(n_estimators=50, random_state=0).fit(X, y)
    >>> low, high = model.predict_interval([[0.5, 0.5]], coverage=0.9)[0]
    >>> bool(low < 5 < high), bool(2 < high - low < 9)
    (True, True)
    """

    __learnt_schema__ = REGRESSOR
    __learnt_takes__ = Takes(sparse=True, lazy=True, categories=True, missing=True)
    __learnt_trial__ = replace(
        FOREST_OF_AMOUNTS,
        warmup=(
            Warm("amount", {"n_estimators": 2, "splitter": "binned"}),
            Warm("amount", {"n_estimators": 2, "splitter": "exact"}),
        ),
        any_order=False,
        weight_repeats=False,  # rows are drawn
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        splitter: str = "auto",
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.splitter = splitter
        self.categorical_features = categorical_features
