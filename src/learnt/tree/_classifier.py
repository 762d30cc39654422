"""A tree that sorts rows into classes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import compute_sample_weight

from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Trial, Warm
from learnt.engine.mixins import ClassifierMixin
from learnt.engine.params import ParameterError, check_choice
from learnt.engine.schema import Schema
from learnt.engine.validation import check_target
from learnt.engine.weights import scatter_rows
from learnt.forestry.schema import OUTPUT_CLASSES, classes_of_outputs, tree_check
from learnt.tree._base import TREE_STATE, BaseTree, target_of


class DecisionTreeClassifier(ClassifierMixin, BaseTree):
    """Questions about one column at a time, until the rows that give the same answers are of one class.

        split of a node:  max over column j and threshold t of  I(node) − Σ over sides  w_side / w_node · I(side)

    where I is the impurity: Gini  Σ p(1 − p),  entropy  −Σ p log₂ p,  or the share of wrong answers  1 − max p.

    A tree needs no scaling of columns, takes numbers, categories and missing values as they are, and can be read and
    drawn. Take one where the rules must be understood by people; take a forest or boosting where accuracy counts.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        The impurity that splits lower. "gini" is Σ p(1 − p); "entropy" and "log_loss", two names of the same, are −Σ p
        log₂ p; "error" is the share of wrong answers, 1 − max p, which grows coarse trees. Gini and entropy seldom
        differ much.
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
    DecisionTreeRegressor : The same for numbers.
    learnt.ensemble.RandomForestClassifier : Many trees on random rows and columns: more accurate, harder to read.
    learnt.ensemble.HistGradientBoostingClassifier :
        Boosted trees: the most accurate as a rule, and quick on large tables.
    ExtraTreeClassifier : Draws its thresholds at random.
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
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["off", "on", "on", "off"]
    >>> model = DecisionTreeClassifier(random_state=0).fit(X, y)
    >>> model.predict([[0, 1], [1, 1]]), model.get_depth()
    (array(['on', 'off'], dtype='<U3'), 2)
    """

    __learnt_schema__ = Schema(
        state={**TREE_STATE, "tree_": tree_check(n_classes=True), **OUTPUT_CLASSES},
        rule=lambda model, state, dims: classes_of_outputs(state, state["tree_"].n_classes),
    )
    # Below two levels small nodes have equally good splits, between which the order of rows decides.
    __learnt_trial__ = Trial(
        quick={"max_depth": 2, "random_state": 0},
        warmup=(Warm("two classes"), Warm("classes")),
        weighted=(
            {"min_samples_leaf": 0.1, "max_depth": None},
            {"min_significance": 0.05},
            {"class_weight": "balanced", "max_features": 2},
        ),
    )

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.min_significance = min_significance
        self.missing = missing

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> DecisionTreeClassifier:
        """Grow the tree on rows X with classes y, one column an output.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels: numbers, text or booleans; one column for each output.
        check_input : bool, default=True
            False where X and y are known to be checked, which saves the checks; what ensembles say.
        """
        self._check_parameters()
        check_choice(self, "criterion", ("gini", "entropy", "log_loss", "error"))
        _check_class_weight(self)
        X, labels, weights = self._read(X, y, sample_weight, check_input, partial(_labels, name=type(self).__name__))
        present = None if weights is None or weights.all() else weights > 0
        encoded = [_short_codes(column, present) for column in np.atleast_2d(labels.T)]
        codes = np.stack([code for _, code in encoded], axis=1) if len(encoded) > 1 else encoded[0][1][:, None]
        if self.class_weight is not None:
            balance = compute_sample_weight(self.class_weight, labels)
            weights = balance if weights is None else weights * balance
        self.n_outputs_ = len(encoded)
        classes = [values for values, _ in encoded]
        n_classes = np.array([len(values) for values in classes])
        self._grow(X, codes, weights, n_classes, self.criterion)
        single = self.n_outputs_ == 1
        self.classes_ = classes[0] if single else classes
        self.n_classes_: Any = int(n_classes[0]) if single else n_classes
        return self

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """The shares of the classes in every row's leaf; a list with one array for each of several outputs.

        Shares are of the weighted training rows; those of a tree without limits are all 0 or 1. Calibrate them, or
        average many trees, where probabilities matter.

        Parameters
        ----------
        check_input : bool, default=True
            False where X is known to be a checked array of float32 with the right number of columns, which saves the
            checks; what ensembles say.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes), or list of these
            The probability of each class, in the order of `classes_`; a list for several outputs.
        """
        shares = self._shares(X, check_input)
        if self.n_outputs_ == 1:
            return shares[:, 0, : self.n_classes_]
        return [shares[:, k, :count] for k, count in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of the shares of the classes in every row's leaf; -inf for a share of 0.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes), or list of these
            The logarithm of the probability of each class, in the order of `classes_`; a list for several outputs.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(part) for part in shares]

    def predict(self, X: Any, check_input: bool = True) -> np.ndarray:
        """The class with the largest share in every row's leaf; the first of equals.

        Parameters
        ----------
        check_input : bool, default=True
            False where X is known to be a checked array of float32 with the right number of columns, which saves the
            checks; what ensembles say.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predicted label of each row.
        """
        shares = self._shares(X, check_input).argmax(axis=2)
        if self.n_outputs_ == 1:
            return self.classes_[shares[:, 0]]
        columns = [values[shares[:, k]] for k, values in enumerate(self.classes_)]
        return np.stack(columns, axis=1)

    def _shares(self, X: Any, check_input: bool) -> np.ndarray:
        X = self._rows(X, check_input)
        return self.tree_.value.take(self.tree_.apply(X), axis=0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _labels(y: Any, X: Any, name: str) -> np.ndarray:
    labels = target_of(y, X, name)
    if labels.ndim == 1:
        return check_target(labels, "label", X, name)
    for k in range(labels.shape[1]):
        check_target(labels[:, k], "label", X, name)
    return labels


def _short_codes(column: np.ndarray, present: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The classes and each row's position among them, in a byte where they are few: kept while the tree grows."""
    classes, codes = encode_labels(column if present is None else column[present])
    codes = codes.astype(np.min_scalar_type(len(classes)))
    return classes, codes if present is None else scatter_rows(codes, np.flatnonzero(present), len(column), 0)


def _check_class_weight(tree: Any) -> None:
    given = tree.class_weight
    several = isinstance(given, list) and all(isinstance(item, dict) for item in given)
    if not (given is None or isinstance(given, dict) or several or (isinstance(given, str) and given == "balanced")):
        raise ParameterError(
            f"The 'class_weight' parameter of {type(tree).__name__} must be a dict, a list of dicts, 'balanced' or "
            f"None. Got {given!r} instead."
        )
