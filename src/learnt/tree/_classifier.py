"""A tree that sorts rows into classes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight

from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Trial, Warm
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

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        The impurity; "log_loss" is "entropy".
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
    class_weight : dict, list of dicts, "balanced" or None, default=None
        A factor on the weights of the rows of each class.
    ccp_alpha : float, default=0.0
        Cut subtrees whose gain a leaf is below this (cost-complexity pruning).
    monotonic_cst : array of −1, 0, 1 or None, default=None
        Whether the share of the second class must fall, may do anything, or must rise along each column; two classes.
    categorical_features : "from_dtype", None, or array of flags, indices or names, default="from_dtype"
        Columns that hold categories, of any number, as numbers or strings. One never seen follows the heavier branch.
        "from_dtype": the columns of a data frame that hold text or are of a category type.
    categorical_split : {"subset", "multiway"}, default="subset"
        Categories in two groups, or one branch for each (ID3).
    min_significance : float or None, default=None
        Split only where the χ² test of independence between branch and class has a p-value of at most this.
    missing : {"direction", "surrogate"}, default="direction"
        Rows with a missing value follow the side that was better in training; or they ask the columns whose splits send
        most other rows the same way, best first (surrogate splits), which also serves tables that have gaps only later.

    Attributes
    ----------
    tree_ : Tree
        The tree as arrays: `children_left`, `feature`, `threshold`, `value` and others.
    classes_ : array, or a list of arrays with one for each output
    n_classes_ : int, or a list of ints
    n_outputs_, n_features_in_, max_features_ : int
    feature_importances_ : array of shape (n_features,)

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
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.min_significance = min_significance
        self.missing = missing

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> DecisionTreeClassifier:
        """Grow the tree on rows X with classes y, one column an output."""
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
        """The shares of the classes in every row's leaf; a list with one array for each of several outputs."""
        shares = self._shares(X, check_input)
        if self.n_outputs_ == 1:
            return shares[:, 0, : self.n_classes_]
        return [shares[:, k, :count] for k, count in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """Their logarithms."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(part) for part in shares]

    def predict(self, X: Any, check_input: bool = True) -> np.ndarray:
        """The class with the largest share in every row's leaf; the first of equals."""
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
