"""What all single trees share: validation, growth, and the methods that read a grown tree."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch

from learnt.engine.columns import monotone_directions, require_same_columns
from learnt.engine.estimator import Estimator, Takes
from learnt.engine.finite import rows_as_given
from learnt.engine.matrices import dense
from learnt.engine.mixins import MultiOutputMixin, clone
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.random import first_seed
from learnt.engine.schema import ANY_FEATURES, Check, anyof, count, none
from learnt.engine.single import refuse_sparse_missing, require_float32
from learnt.engine.targets import require_same_length
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict, check_weights
from learnt.engine.weights import without_absent
from learnt.forestry import Categories, Columns, PackedTrees, Tree, grow_in_scale, prune_by_cost, pruning_path
from learnt.forestry.schema import categories_check

WHOLE, REAL = (int, np.integer), (float, np.floating)


# What every tree keeps in a model file.
TREE_STATE: dict[str, Check] = {
    **ANY_FEATURES,
    "n_outputs_": count(1),
    "max_features_": count(1),
    "_categories": anyof(none, categories_check),
}


class BaseTree(MultiOutputMixin, Estimator):
    """A tree grown by exact search. Subclasses check y and name their criteria."""

    __learnt_takes__ = Takes(sparse=True, categories=True, missing=True)

    criterion: Any
    splitter: str
    max_depth: Any
    min_samples_split: Any
    min_samples_leaf: Any
    min_weight_fraction_leaf: float
    max_features: Any
    random_state: Any
    max_leaf_nodes: Any
    min_impurity_decrease: float
    ccp_alpha: float
    monotonic_cst: Any
    categorical_features: Any
    categorical_split: str
    min_significance: Any
    missing: str
    tree_: Tree
    _categories: Categories | None

    def _check_parameters(self) -> None:
        check_choice(self, "splitter", ("best", "random"))
        check_number(self, "max_depth", 1, integer=True, also=(None,))
        _check_count(self, "min_samples_split", 2)
        _check_count(self, "min_samples_leaf", 1)
        check_number(self, "min_weight_fraction_leaf", 0, 0.5)
        check_max_features(self)
        check_number(self, "max_leaf_nodes", 2, integer=True, also=(None,))
        check_number(self, "min_impurity_decrease", 0)
        check_number(self, "ccp_alpha", 0)
        check_choice(self, "categorical_split", ("subset", "multiway"))
        check_number(self, "min_significance", 0, 1, open_low=True, also=(None,))
        check_choice(self, "missing", ("direction", "surrogate"))

    def _read(
        self, X: Any, y: Any, sample_weight: Any, check_input: bool, target: Callable[..., np.ndarray]
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """X with codes in place of categories, `target(y, X)`, and weights, without rows of weight 0.

        Where X is checked already, which is what ensembles of trees say, it is shared and not copied: then rows of
        weight 0 are left for the growth to pass over.
        """
        present = None
        if check_input:
            X, y, sample_weight, present = without_absent(X, y, sample_weight)
        with rows_as_given(present):
            X = self._table(X, check_input)
            return X, target(y, X), check_weights(sample_weight, X)

    def _table(self, X: Any, check_input: bool) -> Any:
        name = type(self).__name__
        self._categories = None
        if self.categorical_features is not None and not sparse.issparse(X):
            self._categories = Categories.learn(self.categorical_features, X, name)
        if check_input:
            X = check_fit(self, self._coded(X), any_cells=False).X
        else:
            self.n_features_in_ = X.shape[1]
        require_float32(X, name)
        refuse_sparse_missing(X, name)
        return X

    def _coded(self, X: Any) -> Any:
        return X if self._categories is None else self._categories.encode(X)

    def _grow(
        self,
        X: Any,
        y: np.ndarray,
        weights: np.ndarray | None,
        n_classes: Any,
        criterion: str,
        drawn: np.ndarray | None = None,
    ) -> None:
        """Grow the tree on checked data; where rows are drawn, on those, as on a copy of them."""
        d = X.shape[1]
        n = len(drawn) if drawn is not None else X.shape[0] if weights is None else int(np.count_nonzero(weights))
        total = float(n) if weights is None else float(weights.sum())
        leaf = _count(self.min_samples_leaf, n)
        self.max_features_ = max_features_of(self.max_features, d)
        columns = Columns(X, None if self._categories is None else self._categories.counts(d))
        monotone = _directions(self, d, y.shape[1] if y.ndim == 2 else 1, n_classes)
        tree = grow_in_scale(
            columns,
            y,
            criterion=criterion,
            n_classes=n_classes,
            weights=weights,
            max_features=self.max_features_,
            random_splits=self.splitter == "random",
            max_depth=self.max_depth,
            min_samples_split=max(_count(self.min_samples_split, n, 2), 2 * leaf),
            min_samples_leaf=leaf,
            min_weight_leaf=self.min_weight_fraction_leaf * total,
            max_leaf_nodes=self.max_leaf_nodes,
            min_impurity_decrease=self.min_impurity_decrease,
            max_p_value=1.0 if self.min_significance is None else self.min_significance,
            multiway=self.categorical_split == "multiway",
            surrogates=self.missing == "surrogate",
            monotone=monotone,
            seed=first_seed(self.random_state),
            drawn=drawn,
        )
        self.tree_ = prune_by_cost(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def _rows(self, X: Any, check_input: bool = True) -> np.ndarray:
        """Rows for a fitted tree: codes in place of categories, float32 as in training."""
        self._fitted_tree()
        if check_input:
            if self._categories is not None:
                require_same_columns(self, X)
            X = check_predict(self, self._coded(X), any_cells=False)
            require_float32(X, type(self).__name__)
            refuse_sparse_missing(X, type(self).__name__)
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input."
            )
        X = dense(X)
        return X.astype(np.float32, copy=False)

    def apply(self, X: Any, check_input: bool = True) -> np.ndarray:
        """Return the number of the leaf that every row ends in.

        Parameters
        ----------
        check_input : bool, default=True
            False where X is known to be a checked array of float32 with the right number of columns, which saves the
            checks; what ensembles say.

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            Numbers of nodes in `tree_`.
        """
        X = self._rows(X, check_input)
        return self.tree_.apply(X)

    def decision_path(self, X: Any, check_input: bool = True) -> sparse.csr_matrix:
        """Return the nodes that every row passes: a sparse matrix with a 1 for each, one column a node.

        Parameters
        ----------
        check_input : bool, default=True
            False where X is known to be a checked array of float32 with the right number of columns, which saves the
            checks; what ensembles say.

        Returns
        -------
        path : csr_matrix of shape (n_samples, n_nodes)
            1 where the row passes the node.
        """
        X = self._rows(X, check_input)
        return self.tree_.decision_path(X)

    def get_depth(self) -> int:
        """Return how many splits lie between the root and the deepest leaf.

        Returns
        -------
        depth : int
            The depth of the tree; 0 where it is a single leaf.
        """
        return self._fitted_tree().max_depth

    def get_n_leaves(self) -> int:
        """Return how many leaves the tree has.

        Returns
        -------
        n_leaves : int
            The number of leaves.
        """
        return self._fitted_tree().n_leaves

    def _fitted_tree(self) -> Tree:
        if "tree_" not in vars(self):
            raise NotFittedError(NOT_FITTED % {"name": type(self).__name__})
        return self.tree_

    @property
    def feature_importances_(self) -> np.ndarray:
        """Each column's share in the decrease of impurity; large for columns of many values even where they say little.

        `learnt.ensemble` and scikit-learn's `permutation_importance` measure what a column is worth on unseen rows.
        """
        return self._fitted_tree().compute_feature_importances()

    def contributions(self, X: Any) -> np.ndarray:
        """What every column adds to the prediction of every row: exact Shapley values.

        What is explained is the probability of the second of two classes or of each class, or the predicted number. A
        column whose value is not known goes both ways at its splits, in proportion to the training rows. Not for
        several outputs, nor for trees with surrogate splits.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features + 1) or (n_samples, n_classes, n_features + 1)
            What each column adds, for each class where there are three or more. A row adds up to the prediction; the
            last column is the expected prediction of the training rows.
        """
        X, tree, name = self._rows(X), self.tree_, type(self).__name__
        if tree.n_outputs > 1:
            raise ValueError(f"contributions of {name} are for one output; y had {tree.n_outputs} columns.")
        if tree.surrogates is not None:
            raise ValueError(
                f"contributions of {name} are not defined where missing cells go by other columns; fit with "
                "missing='direction', or use learnt.inspection.contributions with method='sampled'."
            )
        packed = PackedTrees.from_trees([tree])
        cover = tree.weighted_n_node_samples[packed.origin]
        out = packed.contributions(X, cover, 1 if tree.max_n_classes == 2 else None)
        return out[:, 0] if out.shape[1] == 1 else out

    def explain(self, x: Any, *, feature_names: Any = None, class_names: Any = None) -> str:
        """Why the tree says what it says of one row: its path in words.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features), or data frame of one row
            The row to explain.
        feature_names : list of str or None, default=None
            Names of the columns; None for those seen during `fit`.
        class_names : list of str or None, default=None
            Names of the classes, in the order of `classes_`; None for the labels.

        Returns
        -------
        text : str
            A sentence: the answer, how many training rows stand behind it, and the bounds that led there.
        """
        from learnt.tree._explain import explain

        return explain(self, x, feature_names=feature_names, class_names=class_names)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The values of `ccp_alpha` at which the tree becomes smaller, and the impurity of its leaves at each.

        Fit a tree for some of these values, and keep the one that is best on validation rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target of each row.

        Returns
        -------
        path : Bunch
            `ccp_alphas`, rising from 0, and `impurities`, the total impurity of the leaves of the tree pruned with
            each.
        """
        full = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        alphas, impurities = pruning_path(full.tree_)
        return Bunch(ccp_alphas=alphas, impurities=impurities)


def _check_count(tree: Any, name: str, low: int) -> None:
    """The parameter is an integer of at least `low`, or a share of the rows."""
    value: Any = getattr(tree, name)
    is_count = isinstance(value, WHOLE) and not isinstance(value, bool) and value >= low
    share = isinstance(value, REAL) and 0 < value <= 1
    if not is_count and not (share and (low == 2 or value < 1)):
        raise ParameterError(
            f"The {name!r} parameter of {type(tree).__name__} must be an int in the range [{low}, inf) or a float in "
            f"the range (0.0, 1.0{']' if low == 2 else ')'}, a share of the rows. Got {value!r} instead."
        )


def check_max_features(tree: Any) -> None:
    """The parameter `max_features` is a number of columns, a share of them, "sqrt", "log2" or None."""
    value: Any = tree.max_features
    is_count = isinstance(value, WHOLE) and not isinstance(value, bool) and value >= 1
    share = isinstance(value, REAL) and 0 < value <= 1
    if not (value is None or is_count or share or (isinstance(value, str) and value in ("sqrt", "log2"))):
        raise ParameterError(
            f"The 'max_features' parameter of {type(tree).__name__} must be a whole number of at least 1, a share of "
            f"the columns between 0 and 1, 'sqrt', 'log2' or None. Got {value!r} instead."
        )


def max_features_of(value: Any, d: int) -> int:
    """How many columns are searched at each node.

    >>> max_features_of("sqrt", 20), max_features_of(0.5, 20), max_features_of(None, 20)
    (4, 10, 20)
    """
    if value is None:
        return d
    if isinstance(value, str):
        return max(1, int(np.sqrt(d) if value == "sqrt" else np.log2(d)))
    return int(value) if isinstance(value, WHOLE) else max(1, int(value * d))


def _count(value: Any, n: int, low: int = 1) -> int:
    return int(value) if isinstance(value, WHOLE) else max(low, ceil(value * n))


def _directions(tree: Any, d: int, n_outputs: int, n_classes: Any) -> np.ndarray | None:
    """`monotonic_cst` as the direction of the value that growth bounds: of class 0, or of the number."""
    if tree.monotonic_cst is None:
        return None
    name = type(tree).__name__
    if n_outputs > 1:
        raise ValueError(
            f"Monotonicity constraints are not supported with multiple outputs: {name} has {n_outputs}; fit one each."
        )
    if n_classes is not None and max(n_classes) > 2:
        raise ValueError(
            f"Monotonicity constraints are not supported with multiclass classification: {name} has {max(n_classes)} "
            "classes; use them with two, or with a regressor."
        )
    given = monotone_directions(tree, d)
    return given if n_classes is None else -given


def target_of(y: Any, X: Any, name: str) -> np.ndarray:
    """y as an array (n,) or (n, k); one column of a table is (n,)."""
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        raise TypeError(f"y is a sparse matrix, and {name} needs a dense target; use y.toarray().")
    y = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim not in (1, 2) or y.size == 0:
        raise ValueError(f"y should be a 1d array, or 2d with one column an output, for {name}; got shape {y.shape}.")
    require_same_length(X, y)
    return y
