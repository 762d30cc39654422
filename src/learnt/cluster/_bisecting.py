"""k-means by halving clusters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.cluster._kmeans import KMeans, warn_of_few
from learnt.distances import center_errors, nearest_center
from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, anyof, integers, number, real
from learnt.engine.threads import for_blocks
from learnt.engine.validation import check_fit, check_predict
from learnt.engine.weights import present_rows, rows_given

_GRAIN = 8192


class _Node:
    """A cluster: its rows, its centre, the priority of splitting it, and its two halves once it is split."""

    def __init__(self, rows: np.ndarray, center: np.ndarray, score: float) -> None:
        self.rows, self.center, self.score = rows, center, score
        self.halves: tuple[_Node, _Node] | None = None

    def leaves(self) -> list[_Node]:
        return [self] if self.halves is None else [leaf for half in self.halves for leaf in half.leaves()]


class BisectingKMeans(KMeans):
    """Clusters by splitting one in two, by k-means, until there are k: a tree of clusters.

    Each split looks at the rows of one cluster only, so that many clusters cost less than they do in `KMeans`, and
    clusters of other numbers are unions of these.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters k. `choose_k` finds one from the rows.
    init : {"random", "k-means++", "farthest-first"} or callable, default="random"
        Where each split starts: from two rows drawn at random, far apart, or the farthest from each other; or a
        function of (X, n_clusters, random_state) that returns centres.
    n_init : int, default=1
        How many starts each split has; the one with the lowest inertia is kept.
    random_state : int, RandomState, Generator or None, default=None
        Where the starts are drawn from. Pass an integer to get the same clusters every time.
    max_iter : int, default=300
        The most iterations of one start of a split.
    verbose : int, default=0
        Above 0, iterations are logged to the logger named "learnt".
    tol : float, default=1e-4
        Convergence of a split: stop when the squared movements of its centres sum to less than this times the mean
        variance of the features.
    copy_x : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    algorithm : {"lloyd", "elkan", "hamerly", "auto"}, default="lloyd"
        Kept for scikit-learn's signature: names of ways to the same result, of which the fastest is always taken.
    bisecting_strategy : {"biggest_inertia", "largest_cluster"}, default="biggest_inertia"
        Which cluster is split next: the one with the largest sum of squares, or with the most rows. The latter gives
        clusters of like size.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres: means of the clusters.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, as `predict` gives it: each split is asked in turn, from the first.
    inertia_ : float
        Σᵢ wᵢ ‖xᵢ − its centre‖².
    split_centers_ : ndarray of shape (n_clusters − 1, 2, n_features)
        The two centres of each split.
    split_children_ : ndarray of shape (n_clusters − 1, 2)
        What follows on either side: another split, or −1 − the label of a cluster.

    See Also
    --------
    KMeans : All clusters at once: usually lower inertia.
    MiniBatchKMeans : From random batches of rows.
    AgglomerativeClustering : A tree from the rows up, instead of from the top down.

    Notes
    -----
    With splits of like size, all of them take about time n·d·log k in each iteration, where `KMeans` takes n·d·k.

    References
    ----------
    .. [1] M. Steinbach, G. Karypis, V. Kumar, "A Comparison of Document Clustering Techniques",
       KDD Workshop on Text Mining, 2000.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [10.0, 1.0], [3.0, 1.0], [10.0, 0.0], [2.0, 1.0], [10.0, 2.0], [10.0, 9.0]])
    >>> model = BisectingKMeans(n_clusters=3, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.tolist())
    [[2.0, 1.0], [10.0, 1.0], [10.0, 9.0]]
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "cluster_centers_": real("k", "d"),
            "inertia_": anyof(number(0), real(low=0)),
            "split_centers_": real("m", 2, "d"),
            "split_children_": integers("m", 2, low=-(2**31), below="m"),
        },
        extra={"labels_": integers(None, low=-1, below="k")},
        rule=lambda model, state, dims: _goes_down(state["split_children_"], dims["k"]),
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(
        quick={"n_clusters": 3, "random_state": 0, "init": "k-means++", "n_init": 3},
        warmup=(Warm("none", {"n_clusters": 3, "random_state": 0}),),
        any_order=False,
        weight_repeats=False,
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "random",
        n_init: int = 1,
        random_state: Any = None,
        max_iter: int = 300,
        verbose: Any = 0,
        tol: float = 1e-4,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        bisecting_strategy: str = "biggest_inertia",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.tol = tol
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bisecting_strategy = bisecting_strategy

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BisectingKMeans:
        """Find the clusters; a row of weight 2 counts as two rows, one of weight 0 as none."""
        self._check_params()
        given, present = X, present_rows(sample_weight, X)
        X, _, w = check_fit(self, X, None, sample_weight, order="C")
        n = X.shape[0]
        if n < self.n_clusters:
            raise ValueError(
                f"n_samples={n} should be >= n_clusters={self.n_clusters}; ask for fewer clusters or give more rows."
            )
        root = _Node(np.arange(n), _mean(X, w), 0.0)
        draw = random_state_of(self.random_state)
        for _ in range(self.n_clusters - 1):
            self._split(max(root.leaves(), key=lambda leaf: (len(leaf.rows) > 1, leaf.score)), X, w, draw)
        self._record_tree(root, X, w)
        if present is not None:
            self._label_absent(given, present, rows_given(sample_weight))
        warn_of_few(sum(len(leaf.rows) > 0 for leaf in root.leaves()), self.n_clusters, stacklevel=3)
        return self

    def _check_params(self) -> None:
        check_number(self, "n_clusters", 1, integer=True)
        check_number(self, "n_init", 1, integer=True)
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "tol", 0)
        check_choice(self, "algorithm", ("lloyd", "elkan", "hamerly", "auto"))
        check_choice(self, "bisecting_strategy", ("biggest_inertia", "largest_cluster"))
        check_flag(self, "copy_x")
        if not callable(self.init):
            check_choice(self, "init", ("k-means++", "random", "farthest-first"))

    def _split(self, leaf: _Node, X: Any, w: np.ndarray | None, draw: np.random.RandomState) -> None:
        """Two halves of a cluster; the second may be empty where all its rows are equal."""
        rows = leaf.rows
        if len(rows) < 2:
            raise ParameterError(
                f"n_clusters={self.n_clusters} is more than there are rows to split; ask for fewer clusters."
            )
        weights = None if w is None else w[rows]
        half = KMeans(
            2, init=self.init, n_init=self.n_init, max_iter=self.max_iter, tol=self.tol, random_state=draw,
            verbose=self.verbose,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows: one half stays empty
            half.fit(X[rows], sample_weight=weights)
        errors = center_errors(X[rows], half.cluster_centers_.astype(np.float64), half.labels_)
        scores = errors if self.bisecting_strategy == "biggest_inertia" else np.ones(len(rows))
        scores = scores if weights is None or self.bisecting_strategy == "largest_cluster" else scores * weights
        leaf.halves = tuple(  # type: ignore[assignment]
            _Node(rows[half.labels_ == side], half.cluster_centers_[side], float(scores[half.labels_ == side].sum()))
            for side in (0, 1)
        )

    def _record_tree(self, root: _Node, X: Any, w: np.ndarray | None) -> None:
        leaves = root.leaves()
        labels = np.empty(X.shape[0], dtype=np.int32)
        for i, leaf in enumerate(leaves):
            labels[leaf.rows] = i
        centers = np.array([leaf.center for leaf in leaves], dtype=X.dtype)
        number_of = {id(leaf): -1 - i for i, leaf in enumerate(leaves)}
        splits = _splits(root)
        number_of.update({id(node): i for i, node in enumerate(splits)})
        halves: list[Any] = [node.halves for node in splits]
        d = X.shape[1]
        self.split_centers_ = np.array([[h.center for h in pair] for pair in halves], dtype=X.dtype).reshape(-1, 2, d)
        self.split_children_ = np.array([[number_of[id(h)] for h in pair] for pair in halves], np.int64).reshape(-1, 2)
        self.cluster_centers_, self.labels_ = centers, labels
        errors = center_errors(X, centers.astype(np.float64), labels)
        self.inertia_ = float(errors.sum() if w is None else errors @ w)

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of each row, found by descending the tree of splits."""
        X = check_predict(self, X, order="C")
        labels = np.zeros(X.shape[0], dtype=np.int32)
        if len(self.split_children_):
            for_blocks(lambda lo, hi: self._descend(X[lo:hi], labels[lo:hi]), X.shape[0], grain=_GRAIN)
        return labels

    def _descend(self, X: Any, labels: np.ndarray) -> None:
        waiting = [(0, np.arange(X.shape[0]))]
        while waiting:
            split, rows = waiting.pop()
            if not rows.size:
                continue
            centers = self.split_centers_[split].astype(np.float64)
            side = nearest_center(X[rows], centers, centers.mean(axis=0))
            for s, child in enumerate(self.split_children_[split].tolist()):
                here = rows[side == s]
                if child >= 0:
                    waiting.append((child, here))
                else:
                    labels[here] = -1 - child


def _mean(X: Any, w: np.ndarray | None) -> np.ndarray:
    if w is None:
        return np.asarray(X.mean(axis=0)).ravel()
    return np.asarray(X.T @ w).ravel() / w.sum()


def _splits(root: _Node) -> list[_Node]:
    """All nodes that were split, each before those below it."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop(0)
        if node.halves is not None:
            found.append(node)
            waiting.extend(node.halves)
    return found


def _goes_down(children: np.ndarray, k: int) -> str | None:
    """Children of a split are later splits or existing clusters, so that every traversal ends."""
    after = np.arange(len(children))[:, None]
    leaves = -1 - children[children < 0]
    if ((children >= 0) & (children <= after)).any() or (leaves >= k).any():
        return "has splits that do not lead to its clusters"
    return None
