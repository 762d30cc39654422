"""HDBSCAN: the estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from learnt.cluster.hdbscan import _spanning
from learnt.cluster.hdbscan._hierarchy import cluster_tree
from learnt.cluster.hdbscan._selection import labels_of, select
from learnt.distances import Search, check_metric, metric_tree_takes, resolve_metric, tree_takes
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import Route, dense, route, stored
from learnt.engine.mixins import ClusterMixin
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.schema import FEATURES, Dims, Schema, integers, real
from learnt.engine.validation import check_fit

INFINITE, MISSING = -2, -3


def spanning_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of model files: the spanning tree is of the rows that have a place in it."""
    pairs, n = state["_pairs"], int(np.count_nonzero(state["labels_"] >= -1))
    if len(pairs) != n - 1 or pairs.max(initial=0) >= n:
        return f"has a spanning tree of other rows than its {n}"
    return None


class HDBSCAN(ClusterMixin, Estimator):
    """Clusters of any shape and of different densities: those that last longest as the distance falls.

    A row's core distance is that of its `min_samples`-th neighbour, itself counted. Rows are joined at their mutual
    reachability  max(core_i, core_j, d_ij / alpha);  cut at a falling distance, the tree of all rows falls into
    clusters of at least `min_cluster_size` rows, and rows that leave one alone are noise to it. Of clusters inside each
    other those are taken that last: that have the larger sum of  1 / distance  between their birth and the leaving of
    each row. Distances at which several clusters part at once are cut at once, so that the answer depends neither on
    the order of the rows nor on the algorithm.

    Take it where the number of clusters is not known and some rows belong to none.

    Parameters
    ----------
    min_cluster_size : int, default=5
        The fewest rows of a cluster: the parameter to choose. Larger values give fewer, larger clusters.
    min_samples : int or None, default=None
        Neighbours of the core distance; None for `min_cluster_size`. Larger values make more rows noise.
    cluster_selection_epsilon : float, default=0.0
        Clusters that part at a smaller distance are not parted: against many small clusters in dense regions.
    max_cluster_size : int or None, default=None
        The most rows of a cluster, with "eom"; None for no limit.
    metric : str or callable, default="euclidean"
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine" and others of SciPy's. "precomputed" means that X holds distances. A function gets two
        rows and returns a number; it is slow. Of "precomputed" distances, inf and what a sparse matrix does not store
        are missing.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"w": weights}` for weights of the columns.
    alpha : float, default=1.0
        What distances are divided by, but for core distances.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How the spanning tree is found; the clusters are the same. "brute": from all distances, n² numbers; "kd_tree",
        "ball_tree": from a tree over the rows for Minkowski distances, and from all distances for other metrics;
        "auto": from a tree where distances are Minkowski's and columns are few.
    leaf_size : int, default=40
        The most rows in a leaf of the tree. It changes the speed, never the clusters.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may.
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        Clusters that last longest ("eom", excess of mass), or the innermost, which are more and smaller ("leaf").
    allow_single_cluster : bool, default=False
        Whether all rows may be one cluster.
    store_centers : {"centroid", "medoid", "both"} or None, default=None
        Which centres to keep: weighted means, the rows nearest to all others, or both.
    copy : bool, default=True
        Kept for scikit-learn's signature: X is never changed.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, numbered in the order of their first rows; −1 for noise, −2 for rows with an infinite
        value, −3 with a missing one.
    probabilities_ : ndarray of shape (n_samples,)
        How far into its cluster each row lasts, from 0 to 1; NaN for rows with missing values.
    centroids_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters weighted by `probabilities_`; only with "centroid" or "both".
    medoids_ : ndarray of shape (n_clusters, n_features)
        The row of each cluster nearest to all others; only with "medoid" or "both".

    See Also
    --------
    DBSCAN : Clusters of one density.
    OPTICS : The order of the rows that shows clusters at every density.
    KMeans : Compact clusters, for new rows too.
    AgglomerativeClustering : A tree of merges without noise.

    Notes
    -----
    With a tree over few columns the time is about n log n, and memory grows with the rows. Otherwise all distances are
    computed: n²·d time, and n² numbers in memory.

    References
    ----------
    .. [1] R. J. G. B. Campello, D. Moulavi, J. Sander, "Density-Based Clustering Based on Hierarchical Density
       Estimates", PAKDD, 2013.
    .. [2] L. McInnes, J. Healy, S. Astels, "hdbscan: Hierarchical density based clustering", Journal of Open Source
       Software 2, 2017.

    Examples
    --------
    >>> X = np.r_[np.arange(6.0), 20 + 3 * np.arange(6.0), [90.0]][:, None]
    >>> HDBSCAN(min_cluster_size=3).fit(X).labels_.tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, -1]
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "labels_": integers(None, low=MISSING),
            "probabilities_": real(None, finite=False),
            "_pairs": integers(None, 2),
            "_lengths": real(None, low=0, finite=False),
        },
        extra={"centroids_": real(None, "d"), "medoids_": real(None, "d")},
        rule=spanning_rule,
    )
    __learnt_trial__ = Trial(any_order=False)  # labels are given to rows, in their order

    def __init__(
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        cluster_selection_epsilon: float = 0.0,
        max_cluster_size: int | None = None,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        alpha: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 40,
        n_jobs: int | None = None,
        cluster_selection_method: str = "eom",
        allow_single_cluster: bool = False,
        store_centers: str | None = None,
        copy: bool = True,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True, missing=not self._is_precomputed())

    def fit(self, X: Any, y: Any = None) -> HDBSCAN:
        """Find the clusters."""
        self._check_parameters()
        X = check_fit(self, X, order="C", allow_nan=True).X
        precomputed = self._is_precomputed()
        whole_rows = np.arange(X.shape[0]) if precomputed else _finite_rows(X)
        table = X if len(whole_rows) == X.shape[0] else X[whole_rows]
        if table.shape[0] < 2:
            raise ValueError(
                f"n_samples={table.shape[0]} while HDBSCAN requires more than one sample, with finite numbers."
            )
        k = self.min_cluster_size if self.min_samples is None else self.min_samples
        if k > table.shape[0]:
            raise ValueError(
                f"min_samples ({k}) must be at most the number of samples in X ({table.shape[0]}); give more rows, or "
                "a smaller min_samples or min_cluster_size."
            )
        pairs, lengths = self._of_distances(table, k) if precomputed else self._of_rows(table, k)
        if np.isinf(lengths).any():
            warnings.warn(
                "The minimum spanning tree contains edge weights with value infinity. Potentially, you are missing too "
                "many distances in the initial distance matrix for the given neighborhood size.",
                UserWarning,
                stacklevel=2,
            )
        order = np.argsort(lengths, kind="stable")
        self._pairs, self._lengths = pairs[order], lengths[order]
        tree = cluster_tree(self._pairs, self._lengths, self.min_cluster_size)
        epsilon = float(self.cluster_selection_epsilon)
        taken = select(
            tree, self.cluster_selection_method, bool(self.allow_single_cluster), self.max_cluster_size, epsilon
        )
        labels, shares = labels_of(tree, taken, epsilon)
        self.labels_, self.probabilities_ = _among_all(X, whole_rows, labels, shares)
        if self.store_centers is not None:
            self._keep_centers(table, labels, shares)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """The cluster of each row of X.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The number of the cluster of each row; −1 for noise, −2 for rows with an infinite value, −3 with a missing
            one.
        """
        return self.fit(X).labels_

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> np.ndarray:
        """Clusters at one distance: rows whose mutual reachabilities are below it; DBSCAN without border rows.

        The tree is not made again, so that many distances can be tried.

        Parameters
        ----------
        cut_distance : float
            The distance of the cut: DBSCAN's `eps`.
        min_cluster_size : int, default=5
            The fewest rows of a cluster; smaller ones are noise.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The cluster of each row; −1 for noise, −2 for rows with an infinite value, −3 with a missing one.
        """
        whole_rows = self.labels_ >= -1
        n = int(whole_rows.sum())
        a, b = self._pairs[self._lengths < cut_distance].T
        graph = sparse.coo_array((np.ones(len(a)), (a, b)), shape=(n, n))
        parts = csgraph.connected_components(graph, directed=False)[1]
        large = np.bincount(parts) >= min_cluster_size
        labels = np.where(large[parts], (np.cumsum(large) - 1)[parts], -1)
        out = self.labels_.copy()
        out[whole_rows] = labels
        return out

    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _check_parameters(self) -> None:
        check_number(self, "min_cluster_size", 2, integer=True)
        check_number(self, "min_samples", 1, integer=True, also=(None,))
        check_number(self, "cluster_selection_epsilon", 0)
        check_number(self, "max_cluster_size", 1, integer=True, also=(None,))
        check_number(self, "alpha", 0, open_low=True)
        check_number(self, "leaf_size", 1, integer=True)
        check_choice(self, "algorithm", ("auto", "brute", "kd_tree", "ball_tree"))
        check_choice(self, "cluster_selection_method", ("eom", "leaf"))
        check_choice(self, "store_centers", (None, "centroid", "medoid", "both"))
        check_flag(self, "allow_single_cluster")
        check_choice(self, "copy", (True, False, "warn"))  # the name of scikit-learn's default while it changes
        if self._is_precomputed() and self.algorithm in ("kd_tree", "ball_tree"):
            raise self._not_by_tree()
        if self._is_precomputed() and self.store_centers is not None:
            raise ValueError("Cannot store centers when using a precomputed distance matrix.")

    def _of_rows(self, X: Any, k: int) -> _spanning.Tree:
        check_metric(type(self).__name__, self.metric)
        metric, params = resolve_metric(self.metric, 2, self.metric_params)
        check_metric(type(self).__name__, metric, X)
        tree = self.algorithm in ("kd_tree", "ball_tree")
        if tree and route(X) is Route.SPARSE:
            raise ValueError("Sparse data matrices only support algorithm `brute`.")
        if tree and not self._tree_takes(X, metric, params):
            raise self._not_by_tree()
        return _spanning.of_rows(X, k, metric, params, float(self.alpha), self.algorithm, self.leaf_size, self.n_jobs)

    def _tree_takes(self, X: np.ndarray, metric: Any, params: dict) -> bool:
        """Whether such a tree has the metric; where boxes do not bound it, all distances are computed instead."""
        if not isinstance(metric, str):
            return False
        balls = self.algorithm == "ball_tree" and metric_tree_takes(X, metric, params)
        return balls or tree_takes(X, metric, params)

    def _not_by_tree(self) -> ValueError:
        kind = "KDTree" if self.algorithm == "kd_tree" else "BallTree"
        return ValueError(
            f"{self.metric} is not a valid metric for a {kind}-based algorithm. Please select a different metric. "
            "algorithm='brute' has them all."
        )

    def _of_distances(self, D: Any, k: int) -> _spanning.Tree:
        cells = stored(D)
        if np.isnan(cells).any():
            raise ValueError("np.nan values found in precomputed-dense; a distance that is not known is inf.")
        if D.shape[0] != D.shape[1]:
            raise ValueError(
                f"The precomputed distance matrix is expected to be symmetric, however it has shape {D.shape}. Please "
                "verify that the distance matrix was constructed correctly."
            )
        if (cells < 0).any():
            raise ValueError("Precomputed distances must be 0 or more; X has negative ones.")
        is_graph = route(D) is Route.SPARSE
        if not (abs(D - D.T).max() <= 1e-8 + 1e-5 * D.max() if is_graph else np.allclose(D, D.T)):
            raise ValueError(
                "The precomputed distance matrix is expected to be symmetric, however its values appear to be "
                "asymmetric. Please verify that the distance matrix was constructed correctly."
            )
        if is_graph:
            largest = float((self.metric_params or {}).get("max_distance", 0.0))
            return _spanning.of_graph(D, k, float(self.alpha), largest)
        return _spanning.of_distances(D, k, float(self.alpha))

    def _keep_centers(self, X: Any, labels: np.ndarray, shares: np.ndarray) -> None:
        members = [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]
        d = X.shape[1]
        if self.store_centers in ("centroid", "both"):
            means = [shares[rows] @ X[rows] / shares[rows].sum() for rows in members]
            self.centroids_ = np.array(means, dtype=np.float64).reshape(-1, d)
        if self.store_centers in ("medoid", "both"):
            metric, params = resolve_metric(self.metric, 2, self.metric_params)
            found = [_medoid(Search.build(X[rows], metric, params), shares[rows], self.n_jobs) for rows in members]
            rows = [X[[mine[at]]] for mine, at in zip(members, found, strict=True)]
            self.medoids_ = np.array([dense(row) for row in rows]).reshape(-1, d)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags


def _finite_rows(X: Any) -> np.ndarray:
    """The rows whose cells are all finite."""
    with np.errstate(over="ignore", invalid="ignore"):  # 0 · x is 0 for finite x alone
        return np.flatnonzero(np.isfinite(np.asarray((0.0 * X).sum(axis=1)).ravel()))


def _among_all(X: Any, rows: np.ndarray, labels: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels and shares of all rows, with those that are not finite."""
    n = X.shape[0]
    if len(rows) == n:
        return labels, shares
    out, all_shares = np.full(n, INFINITE), np.zeros(n)
    out[rows], all_shares[rows] = labels, shares
    missing = np.unique((X != X).nonzero()[0])
    out[missing], all_shares[missing] = MISSING, np.nan
    return out, all_shares


def _medoid(search: Search, shares: np.ndarray, n_jobs: int | None) -> int:
    """The point with the least sum of distances to all, weighted by their shares."""
    totals = [
        np.bincount(found.query, found.distances * shares[found.indices], hi - lo)
        for lo, hi, found in search.within_blocks(search.points, np.inf, n_jobs=n_jobs)
    ]
    return int(np.concatenate(totals).argmin())
