"""Rows described by the leaves they fall into, in trees that were cut at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder

from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.mixins import TransformerMixin
from learnt.engine.params import check_flag
from learnt.engine.random import random_state_of
from learnt.ensemble.forest._base import BaseForest
from learnt.ensemble.forest._schema import EMBEDDING


class RandomTreesEmbedding(TransformerMixin, BaseForest):
    """One column for every leaf of a forest, 1 where the row falls into it:  z(x) = ([x in leaf ℓ of tree t])_{t, ℓ}.

    The trees are extremely randomised ones of a target drawn at random, that is, they cut one random column at a random
    threshold again and again, down to `max_depth`. Rows that are near each other share many leaves: zᵀz' / trees is a
    kernel, and a linear model of z is a model of many boxes. No target is needed.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees; every row has as many ones. More describe rows more finely.
    max_depth : int or None, default=5
        Most cuts between the root and a leaf; a tree has at most 2^max_depth columns. The deeper, the smaller the
        boxes.
    min_samples_split : int or float, default=2
        Fewest rows that a node must have to be cut; a float is a share of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        Fewest rows on each side of a cut; a float below 1 is a share of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight that a leaf may hold, from 0 to 0.5.
    max_leaf_nodes : int or None, default=None
        Most leaves of a tree; None for no limit.
    min_impurity_decrease : float, default=0.0
        A cut must lower the squared error of the random target, times the share of the rows in the node, by at least
        this.
    sparse_output : bool, default=True
        Whether `transform` returns a sparse matrix (CSR) instead of a dense array, which has mostly zeros.
    n_jobs : int or None, default=None
        Number of threads; None or -1 takes all that this process may use. The forest is the same whatever their number.
    random_state : int, RandomState, Generator or None, default=None
        Draws the target, the columns and the thresholds. Pass an integer for the same columns every time.
    verbose : int, default=0
        Has no effect; kept for scikit-learn's signature. `learnt.engine.progress.show` shows progress.
    warm_start : bool, default=False
        Whether the next `fit` keeps the trees that are there and adds what is missing to `n_estimators`, instead of
        starting afresh.

    Attributes
    ----------
    estimators_ : list of ExtraTreeRegressor
        The trees as estimators.
    one_hot_encoder_ : OneHotEncoder of scikit-learn
        Makes of `apply(X)` what `transform(X)` gives.
    n_outputs_ : int
        1, the random target.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the decrease of the random target's variance; says nothing of any real target.
    estimators_samples_ : list of ndarray
        The rows that each tree was grown on, which are all.
    grove_ : Grove
        All trees in one set of arrays.
    seeds_ : ndarray of shape (n_estimators,)
        The seed of each tree.

    See Also
    --------
    ExtraTreesRegressor : A forest of the same trees, for a target.
    learnt.kernel_approximation.RBFSampler : Random features of a smooth kernel.
    IsolationForest : Random trees that find outliers.

    Notes
    -----
    Growth takes about `n_estimators` · n · `max_depth` steps for n rows; `transform` takes one comparison for each row,
    tree and level.

    References
    ----------
    .. [1] P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.
    .. [2] F. Moosmann, B. Triggs and F. Jurie, "Fast discriminative visual codebooks using randomized clustering
           forests", NIPS, 2006.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.1, 0.0], [9.0, 9.0], [9.1, 9.0]]
    >>> model = RandomTreesEmbedding(n_estimators=50, max_depth=1, random_state=0).fit(X)
    >>> Z = model.transform(X)
    >>> shared = (Z @ Z.T).toarray() / 50  # the share of trees in which two rows are in the same leaf
    >>> bool(shared[0, 1] > 0.9), bool(shared[0, 2] < 0.1)
    (True, True)
    """

    __learnt_schema__ = EMBEDDING
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(
        quick={"n_estimators": 4, "max_depth": 3, "random_state": 0, "sparse_output": False},
        warmup=(Warm("none", {"n_estimators": 2}),),
        members="n_estimators",
        any_order=False,  # every row has a target drawn for it
        weight_repeats=False,
    )

    _random_splits = True
    _criteria = ("squared_error",)
    # What extra trees can be told and these are not.
    criterion = "squared_error"
    max_features = 1
    bootstrap = False
    oob_score = False
    ccp_alpha = 0.0
    max_samples = None
    monotonic_cst = None
    splitter = "exact"
    categorical_features = None

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 5,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        sparse_output: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RandomTreesEmbedding:
        """Grow the trees on X of shape (n, d); y is not used."""
        check_flag(self, "sparse_output")
        super().fit(X, None, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the trees on X and describe its rows.

        Returns
        -------
        Z : csr_matrix or ndarray of shape (n_samples, n_leaves)
            1 for the leaf of each tree that the row falls into, 0 for all others.
        """
        return self.fit(X, None, sample_weight).transform(X)

    def transform(self, X: Any) -> Any:
        """Which leaves each row of X falls into, (n, number of leaves).

        Returns
        -------
        Z : csr_matrix or ndarray of shape (n_samples, n_leaves)
            1 for the leaf of each tree that the row falls into, 0 for all others.
        """
        leaves = self.apply(X)
        leaves += self.grove_.roots
        columns = np.cumsum(self._is_leaf(), dtype=np.int32) - np.int32(1)
        n, trees = leaves.shape
        starts = np.arange(0, n * trees + 1, trees)
        ones = np.ones(n * trees)
        Z = sparse.csr_matrix((ones, columns[leaves].ravel(), starts), shape=(n, int(columns[-1]) + 1))
        return Z if self.sparse_output else Z.toarray()

    @property
    def one_hot_encoder_(self) -> OneHotEncoder:
        """scikit-learn's encoder, fitted on the leaves of the trees; made when asked for."""
        self._require_fit()
        tree, number = self._leaves()
        counts = np.bincount(tree)
        table = np.empty((counts.max(), len(counts)), dtype=np.int64)
        for t, leaves in enumerate(np.split(number, np.cumsum(counts)[:-1])):
            table[:, t] = np.resize(leaves, len(table))  # all of them, some more than once
        return OneHotEncoder(sparse_output=self.sparse_output).fit(table)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names `randomtreesembedding_{tree}_{leaf}`, the leaf by its number in the tree, as `apply` gives it.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Only checked against the names seen during `fit`.
        """
        self._require_fit()
        self._check_names(input_features)
        return np.array([f"randomtreesembedding_{t}_{leaf}" for t, leaf in zip(*self._leaves())], dtype=object)

    def _leaves(self) -> tuple[np.ndarray, np.ndarray]:
        """The tree of each leaf, and its number there."""
        places = np.flatnonzero(self._is_leaf())
        tree = np.searchsorted(self.grove_.roots, places, side="right") - 1
        return tree, places - self.grove_.roots[tree]

    def _is_leaf(self) -> np.ndarray:
        """For all nodes of all trees, in the order of their numbers in each tree."""
        grove = self.grove_
        out = np.empty(len(grove.numbers), dtype=np.bool_)
        out[grove.numbers + np.repeat(grove.roots, grove.sizes)] = ~grove.inner
        return out

    def _check_names(self, names: Any) -> None:
        if names is None:
            return
        known = getattr(self, "feature_names_in_", None)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), got "
                f"{len(names)}."
            )
        if known is not None and not np.array_equal(np.asarray(names, dtype=object), known):
            raise ValueError("input_features is not equal to feature_names_in_; pass the names of fit, or None.")

    # --- what the trees are grown for

    def _targets(self, y: Any, X: Any) -> np.ndarray:
        self.n_outputs_ = 1
        return random_state_of(self.random_state).uniform(size=(X.shape[0], 1))

    def _class_counts(self) -> None:
        return None

    def _weights(self, targets: np.ndarray, w: np.ndarray | None) -> np.ndarray | None:
        return w

    def _monotone_directions(self, d: int) -> None:
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
