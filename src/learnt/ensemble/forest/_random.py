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

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : "gini", "entropy" or "log_loss", default="gini"
        "gini" or the entropy ("log_loss" is the same).
    max_depth : int or None, default=None
        The most splits above a leaf; None: until leaves are pure or too small to split.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        The fewest rows that are split, and that a leaf may have; a float is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        The least share of the total weight in a leaf.
    max_features : "sqrt", "log2", None, int or float, default="sqrt"
        Columns that each split looks at; a float is a share of all, None is all.
    max_leaf_nodes : int or None, default=None
        Grow trees best split first, up to this many leaves.
    min_impurity_decrease : float, default=0.0
        A split must decrease the impurity, weighted by the share of rows in the node, by at least this.
    bootstrap : bool, default=True
        Grow each tree on as many rows drawn with replacement; otherwise on all rows.
    oob_score : bool or callable, default=False
        Score the forest on rows left out: each training row by the trees that have not seen it. A callable is a metric
        `(y_true, y_pred)`.
    n_jobs : int or None, default=None
        Threads; the same forest whatever their number.
    random_state : int, RandomState, Generator or None, default=None
        Decides the samples of rows and the columns looked at.
    verbose : int, default=0
        Not used: see `learnt.engine.progress`.
    warm_start : bool, default=False
        Keep the trees that are there and add what is missing to `n_estimators`.
    class_weight : dict, list of dicts, "balanced", "balanced_subsample" or None, default=None
        Weights of classes; "balanced" gives all classes the same weight, "balanced_subsample" in each tree's sample.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning of every tree.
    max_samples : int, float or None, default=None
        Rows drawn for each tree; a float is a share, None as many as there are.
    monotonic_cst : array of -1, 0, 1 or None, default=None
        Whether the prediction must fall (-1) or rise (1) along each column.
    splitter : "auto", "exact" or "binned", default="auto"
        "exact" looks at every cut between two values, "binned" at up to 254 of each column, which is quicker, and as
        accurate for two classes; "auto" is "binned" for these from 2,000 rows on where it can be.
    categorical_features : "from_dtype", None, or array of indices, names or flags, default="from_dtype"
        Columns of categories, which are split into subsets; any number of categories. "from_dtype": the columns of a
        data frame that hold text or are of a category type.

    Attributes
    ----------
    estimators_ : list of DecisionTreeClassifier
    classes_, n_classes_ : the class labels and their number; lists of them for several outputs
    feature_importances_ : array of shape (n_features,)
        The share of each column in the decrease of impurity.
    oob_score_, oob_decision_function_ : with `oob_score`
    n_features_in_, feature_names_in_, n_outputs_, estimators_samples_

    References
    ----------
    Breiman (2001), Random forests, doi:10.1023/A:1010933404324.

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

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : "squared_error", "absolute_error" or "poisson", default="squared_error"
        What a split decreases: squared error, absolute error, or Poisson deviance.
    max_depth : int or None, default=None
        The most splits above a leaf; None: until leaves are pure or too small to split.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        The fewest rows that are split, and that a leaf may have; a float is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        The least share of the total weight in a leaf.
    max_features : "sqrt", "log2", None, int or float, default=1.0
        Columns that each split looks at; a float is a share of all, None is all.
    max_leaf_nodes : int or None, default=None
        Grow trees best split first, up to this many leaves.
    min_impurity_decrease : float, default=0.0
        A split must decrease the impurity, weighted by the share of rows in the node, by at least this.
    bootstrap : bool, default=True
        Grow each tree on as many rows drawn with replacement; otherwise on all rows.
    oob_score : bool or callable, default=False
        Score the forest on rows left out: each training row by the trees that have not seen it. A callable is a metric
        `(y_true, y_pred)`.
    n_jobs : int or None, default=None
        Threads; the same forest whatever their number.
    random_state : int, RandomState, Generator or None, default=None
        Decides the samples of rows and the columns looked at.
    verbose : int, default=0
        Not used: see `learnt.engine.progress`.
    warm_start : bool, default=False
        Keep the trees that are there and add what is missing to `n_estimators`.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning of every tree.
    max_samples : int, float or None, default=None
        Rows drawn for each tree; a float is a share, None as many as there are.
    monotonic_cst : array of -1, 0, 1 or None, default=None
        Whether the prediction must fall (-1) or rise (1) along each column.
    splitter : "auto", "exact" or "binned", default="auto"
        "exact" looks at every cut between two values, "binned" at up to 254 of each column, which is quicker and as
        accurate; "auto" is "binned" from 2,000 rows on where it can be.
    categorical_features : "from_dtype", None, or array of indices, names or flags, default="from_dtype"
        Columns of categories, which are split into subsets; any number of categories. "from_dtype": the columns of a
        data frame that hold text or are of a category type.

    Attributes
    ----------
    estimators_ : list of DecisionTreeRegressor
    feature_importances_ : array of shape (n_features,)
        The share of each column in the decrease of impurity.
    oob_score_, oob_prediction_ : with `oob_score`
    n_features_in_, feature_names_in_, n_outputs_, estimators_samples_

    References
    ----------
    Breiman (2001), Random forests, doi:10.1023/A:1010933404324.
    Meinshausen (2006), Quantile regression forests, JMLR 7 (`predict_quantiles`).

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
