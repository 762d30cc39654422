"""Clusters of any shape: dense rows, and all rows reachable from them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from learnt.cluster._dense_regions import join_cores, label_borders
from learnt.distances import Neighborhoods, Search, check_metric, chosen_algorithm, resolve_metric
from learnt.engine.documentation import documented
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import stored
from learnt.engine.mixins import ClusterMixin
from learnt.engine.params import check_choice, check_number
from learnt.engine.schema import FEATURES, Dims, Schema, integers, real
from learnt.engine.validation import check_fit
from learnt.engine.weights import present_rows

_KEPT = 1 << 24  # pairs that are kept for the second pass


def _components(value: Any, dims: Dims) -> str | None:
    if sparse.issparse(value):
        return None if value.shape[1] == dims["d"] else f"has {value.shape[1]} columns instead of {dims['d']}"
    return real(None, "d")(value, dims)


class DBSCAN(ClusterMixin, Estimator):
    """Clusters of any shape: dense rows and all that they reach (Ester et al., 1996).

    Rows with at least `min_samples` rows (themselves among them) within `eps` are cores; cores within `eps` of each
    other are in one cluster, rows within `eps` of a core belong to its cluster, and the rest is noise. A row near cores
    of several clusters belongs to the one whose first core comes first in the table. Take it where clusters have one
    density that a distance describes (metres, say); `HDBSCAN` needs no distance.

    Parameters
    ----------
    eps : float, default=0.5
        The largest distance of neighbours: the parameter to choose. Too small a one makes noise of most rows, too large
        a one joins all clusters. Look for the bend in the sorted distances to the `min_samples`-th neighbour.
    min_samples : int, default=5
        The weight of rows around a core, with its own. Larger values want denser clusters and make more noise.
    metric : str or callable, default="euclidean"
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine" and others of SciPy's. "precomputed" means that X holds distances. A function gets two
        rows and returns a number; it is slow.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"w": weights}` for weights of the columns.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How to search for neighbours; the clusters are the same. "brute": all distances; "kd_tree": nested boxes, for
        Minkowski distances and few columns; "ball_tree": nested balls, for any true metric; "auto": a tree where it
        pays.
    leaf_size : int, default=30
        The most rows in a leaf of the tree. It changes the speed and the memory, never the clusters.
    p : float or None, default=None
        The power of the Minkowski metric: 1 is the Manhattan distance, 2 (or None) the Euclidean.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, numbered in the order of their first cores; −1 for noise and for rows of weight 0.
    core_sample_indices_ : ndarray of shape (n_cores,)
        The numbers of the cores, in order.
    components_ : ndarray of shape (n_cores, n_features)
        The cores.

    See Also
    --------
    HDBSCAN : Clusters of different densities, without `eps`.
    OPTICS : One order of the rows for all smaller `eps`.
    dbscan : The same as a function.
    KMeans : Compact clusters, for new rows too.

    Notes
    -----
    Two passes over the pairs of neighbours, which are looked at block by block: memory grows with the rows and not with
    their pairs. With a tree the time is about n log n plus the number of pairs; a large `eps` makes that n². A row of
    weight w counts as w rows for `min_samples`.

    References
    ----------
    .. [1] M. Ester, H.-P. Kriegel, J. Sander, X. Xu, "A Density-Based Algorithm for Discovering Clusters in Large
       Spatial Databases with Noise", KDD, 1996.
    .. [2] E. Schubert, J. Sander, M. Ester, H.-P. Kriegel, X. Xu, "DBSCAN Revisited, Revisited: Why and How You Should
       (Still) Use DBSCAN", ACM Transactions on Database Systems 42, 2017.

    Examples
    --------
    >>> X = [[1.0, 2.0], [2.0, 2.0], [2.0, 3.0], [8.0, 7.0], [8.0, 8.0], [25.0, 80.0]]
    >>> DBSCAN(eps=3, min_samples=2).fit(X).labels_
    array([ 0,  0,  0,  1,  1, -1])
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "labels_": integers(None, low=-1),
            "core_sample_indices_": integers(None),
            "components_": _components,
        }
    )
    # Labels are given to rows, so that they come in the order of the rows and are as many; `min_samples` is a weight.
    __learnt_trial__ = Trial(
        quick={"eps": 2.0}, any_order=False, weight_repeats=False, weight_unit_free=False, most_rows=3000
    )

    def __init__(
        self,
        eps: float = 0.5,
        *,
        min_samples: int = 5,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DBSCAN:
        """Find the clusters; a row counts as many times as its weight says."""
        check_number(self, "eps", 0, open_low=True)
        check_number(self, "min_samples", 1, integer=True)
        check_choice(self, "algorithm", ("auto", "brute", "kd_tree", "ball_tree"))
        check_number(self, "leaf_size", 1, integer=True)
        check_number(self, "p", 0, also=(None,))
        rows = present_rows(sample_weight, X)
        X, _, weights = check_fit(self, X, None, sample_weight, order="C")
        search = self._built(X)
        labels, cores = find_clusters(search, X.shape[0], float(self.eps), self.min_samples, weights, self.n_jobs)
        self.components_ = search.points[cores].copy()
        if rows is not None:
            labels, cores = _among_all(labels, rows, np.size(sample_weight)), rows[cores]
        self.labels_, self.core_sample_indices_ = labels, cores
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """The cluster of each row of X.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The number of the cluster of each row; −1 for noise.
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def _built(self, X: Any) -> Search:
        name = type(self).__name__
        check_metric(name, self.metric)
        if self.p is not None and "p" in (self.metric_params or {}):
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
                SyntaxWarning,
                stacklevel=3,
            )
        metric, params = resolve_metric(self.metric, 2 if self.p is None else self.p, self.metric_params)
        check_metric(name, metric, X)
        if isinstance(metric, str) and metric == "precomputed":
            X = _with_diagonal(X)
        algorithm = chosen_algorithm(X, metric, params, self.algorithm)
        return Search.build(X, metric, params, algorithm=algorithm, leaf_size=self.leaf_size, n_jobs=self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags


@documented
def dbscan(
    X: Any,
    eps: float = 0.5,
    *,
    min_samples: int = 5,
    metric: Any = "minkowski",
    metric_params: dict | None = None,
    algorithm: str = "auto",
    leaf_size: int = 30,
    p: float | None = 2,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of any shape: dense rows and all that they reach; `DBSCAN` as a function.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The rows to cluster, or their distances with `metric="precomputed"`.
    eps : float, default=0.5
        The largest distance of neighbours: the parameter to choose. Too small a one makes noise of most rows, too large
        a one joins all clusters. Look for the bend in the sorted distances to the `min_samples`-th neighbour.
    min_samples : int, default=5
        The weight of rows around a core, with its own. Larger values want denser clusters and make more noise.
    metric : str or callable, default="minkowski"
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine" and others of SciPy's. "precomputed" means that X holds distances. A function gets two
        rows and returns a number; it is slow.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"w": weights}` for weights of the columns.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How to search for neighbours; the clusters are the same. "brute": all distances; "kd_tree": nested boxes, for
        Minkowski distances and few columns; "ball_tree": nested balls, for any true metric; "auto": a tree where it
        pays.
    leaf_size : int, default=30
        The most rows in a leaf of the tree. It changes the speed and the memory, never the clusters.
    p : float or None, default=2
        The power of the Minkowski metric: 1 is the Manhattan distance, 2 (or None) the Euclidean.

    Returns
    -------
    core_samples : ndarray of shape (n_cores,)
        The numbers of the cores, in order.
    labels : ndarray of shape (n_samples,)
        The cluster of each row; −1 for noise.

    See Also
    --------
    DBSCAN : The same as a class.
    HDBSCAN : Clusters of different densities, without `eps`.
    OPTICS : One order of the rows for all smaller `eps`.

    Notes
    -----
    Two passes over the pairs of neighbours, which are looked at block by block: memory grows with the rows and not with
    their pairs. With a tree the time is about n log n plus the number of pairs; a large `eps` makes that n². A row of
    weight w counts as w rows for `min_samples`.

    References
    ----------
    .. [1] M. Ester, H.-P. Kriegel, J. Sander, X. Xu, "A Density-Based Algorithm for Discovering Clusters in Large
       Spatial Databases with Noise", KDD, 1996.
    .. [2] E. Schubert, J. Sander, M. Ester, H.-P. Kriegel, X. Xu, "DBSCAN Revisited, Revisited: Why and How You Should
       (Still) Use DBSCAN", ACM Transactions on Database Systems 42, 2017.

    Examples
    --------
    >>> dbscan([[0.0], [0.1], [5.0]], eps=1.0, min_samples=2)
    (array([0, 1]), array([ 0,  0, -1]))
    """
    model = DBSCAN(
        eps,
        min_samples=min_samples,
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        leaf_size=leaf_size,
        p=p,
        n_jobs=n_jobs,
    ).fit(X, sample_weight=sample_weight)
    return model.core_sample_indices_, model.labels_


def find_clusters(
    search: Search, n: int, eps: float, least: float, weights: np.ndarray | None, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Labels of all points of a search, and which are cores."""
    density = np.empty(n)
    kept: list[tuple[int, Neighborhoods]] | None = []
    pairs = 0
    ordered = weights is not None  # sums of weights are the same bits for every index
    for lo, hi, found in search.within_blocks(search.points, eps, distances=False, ordered=ordered, n_jobs=n_jobs):
        density[lo:hi] = found.counts if weights is None else np.bincount(found.query, weights[found.indices], hi - lo)
        pairs += found.indices.size
        kept = kept if pairs <= _KEPT else None  # too many to keep: they are searched again
        if kept is not None:
            kept.append((lo, found))
    core = density >= least
    # Trees of cores, each under the first of its cluster.
    parent = np.arange(n)
    borders: list[tuple[int, Neighborhoods]] = []
    again = search.within_blocks(search.points, eps, distances=False, ordered=False, n_jobs=n_jobs)
    for lo, found in ((lo, found) for lo, _, found in again) if kept is None else kept:
        join_cores(core, lo, found.starts, found.indices, parent)
        inside = core[lo : lo + found.counts.size][found.query]
        borders.append((lo, found.without(inside | ~core[found.indices])))
    labels = np.full(n, -1, dtype=np.int64)
    cores = np.flatnonzero(core)
    labels[cores] = np.unique(_roots(parent, cores), return_inverse=True)[1]
    for lo, found in borders:
        label_borders(lo, found.starts, found.indices, labels)
    return labels, cores


def _roots(parent: np.ndarray, cores: np.ndarray) -> np.ndarray:
    roots = parent[cores]
    while (parent[roots] != roots).any():
        roots = parent[roots]
    return roots


def _with_diagonal(X: Any) -> Any:
    """Distances that are given, with a point's own among them, also where a sparse matrix does not store it."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"Precomputed matrix must be square. Input is a {X.shape[0]}x{X.shape[1]} matrix: give the distances of "
            "all rows to each other, and no weights of 0."
        )
    values = stored(X)
    if values.size and values.min() < 0:
        raise ValueError("Negative values in data passed to precomputed distance matrix; distances are 0 or more.")
    if not sparse.issparse(X):
        return X
    entries, rows = X.tocoo(), np.arange(X.shape[0])
    off = entries.row != entries.col
    values = np.concatenate([entries.data[off], X.diagonal()])
    places = np.concatenate([entries.row[off], rows]), np.concatenate([entries.col[off], rows])
    return sparse.csr_array((values, places), shape=X.shape)


def _among_all(labels: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
    out = np.full(n, -1, dtype=labels.dtype)
    out[rows] = labels
    return out
