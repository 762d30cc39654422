"""Quality of clusters by their rows only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import namespace, to_numpy
from learnt.engine.documentation import documented
from learnt.engine.matrices import Route, dense, join, route, stored, take_rows
from learnt.engine.random import random_state_of
from learnt.engine.threads import for_blocks
from learnt.metrics._clusters_device import cluster_means, coded_on_device, silhouettes
from learnt.metrics._inputs import check_lengths, column
from learnt.metrics._labellings import labelling

_CELLS = 1 << 20  # distances held at once by one task


def _coded(X: Any, labels: Any) -> tuple[Any, Any, int]:
    """The rows, the number of each row's cluster, and how many clusters there are: at least 2 and fewer than rows."""
    check_lengths(X=X, labels=labels)
    path = route(X)
    if path is Route.DEVICE:
        X, codes, k = coded_on_device(X, labels)
    else:
        X = X.tocsr().astype(np.float64) if path is Route.SPARSE else np.asarray(X, dtype=np.float64)
        if not np.isfinite(stored(X)).all():
            raise ValueError(
                "Input X contains NaN or infinity, and distances need finite numbers; fill or drop those rows."
            )
        names, codes = np.unique(labelling(labels, "labels"), return_inverse=True)
        k = len(names)
    if not 1 < k < X.shape[0]:
        raise ValueError(
            f"Number of labels is {k}. Valid values are 2 to n_samples - 1 (inclusive), of {X.shape[0]} rows."
        )
    return X, codes, k


@documented
def silhouette_samples(X: Any, labels: Any, *, metric: Any = "euclidean", **kwds: Any) -> Any:
    """(b − a) / max(a, b) of each row: a its mean distance to its own cluster, b to the nearest other; 0 if alone.

    Near 1: the row lies well inside its cluster. About 0: between two. Negative: nearer to another cluster.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples)
        The rows that were clustered, with the columns scaled as for the clustering; with `metric="precomputed"` their
        distances, zeros on the diagonal.
    labels : array-like of shape (n_samples,)
        The cluster of each row: at least 2 clusters, and fewer than rows.
    metric : str or callable, default="euclidean"
        How distances are measured: "precomputed", or any metric of `learnt.neighbors.NearestNeighbors`. Take the one
        that the clustering used. Rows on a device have Euclidean and Manhattan distances.
    **kwds : dict
        Parameters of the metric, such as `p` of "minkowski".

    Returns
    -------
    silhouettes : ndarray of shape (n_samples,)
        Between −1 and 1, row by row; an array of the library of X where X lies on a device.

    See Also
    --------
    silhouette_score : Their mean.
    davies_bouldin_score : Cheaper: distances to centroids only.

    Notes
    -----
    All pairs of rows are compared: O(n² d) time for n rows and d columns, on all cores. Distances are computed in
    blocks, so that memory grows with n times the number of clusters.

    References
    ----------
    .. [1] P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis",
       Journal of Computational and Applied Mathematics, 1987.

    Examples
    --------
    >>> from learnt.metrics import silhouette_samples
    >>> silhouette_samples([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]).round(2)
    array([0.9 , 0.89, 0.89, 0.9 ])
    """
    if metric == "precomputed":
        _check_diagonal(X)
    given, (X, codes, k) = X, _coded(X, labels)
    n = X.shape[0]
    if route(X) is Route.DEVICE:
        return silhouettes(X, codes, k, metric)
    distances = _distances(X, metric, kwds, given)
    member = np.zeros((n, k))
    member[np.arange(n), codes] = 1.0
    size = member.sum(axis=0)
    out = np.zeros(n)

    def some(lo: int, hi: int) -> None:
        sums = distances(lo, hi) @ member
        own = codes[lo:hi]
        rows = np.arange(hi - lo)
        alone = size[own] == 1
        a = sums[rows, own] / np.maximum(size[own] - 1, 1)
        means = sums / size
        means[rows, own] = np.inf
        b = means.min(axis=1)
        top = np.maximum(a, b)
        out[lo:hi] = np.where(alone | (top == 0), 0.0, (b - a) / np.where(top == 0, 1.0, top))

    for_blocks(some, n, grain=max(1, _CELLS // n))
    return out


def _check_diagonal(distances: Any) -> None:
    """Rows have distance 0 to themselves, up to rounding in the precision that the distances came in."""
    distances = distances if hasattr(distances, "diagonal") else np.asarray(distances)
    if distances.shape[0] != distances.shape[1]:
        raise ValueError(f"A precomputed matrix of distances is square; X has the shape {tuple(distances.shape)}.")
    precision = np.float32 if "float32" in str(distances.dtype) else np.float64
    if float(abs(distances.diagonal()).max()) > 100 * np.finfo(precision).eps:
        raise ValueError(
            "The precomputed distance matrix contains non-zero elements on the diagonal. Use np.fill_diagonal(X, 0)."
        )


def _distances(X: Any, metric: Any, options: dict, given: Any) -> Callable[[int, int], np.ndarray]:
    """The function that gives the distances of rows lo…hi−1 to all rows; of each to itself 0, whatever the metric."""
    if isinstance(metric, str) and metric == "precomputed":
        return lambda lo, hi: dense(X[lo:hi])
    from learnt.distances import check_metric, distance_function, warn_of_conversion  # slow to import, seldom needed

    check_metric("silhouette_samples", metric, X)
    warn_of_conversion(metric, given, "Data was converted")
    between = distance_function(X, metric, options)

    def some(lo: int, hi: int) -> np.ndarray:
        D = between(X[lo:hi], X)
        D[np.arange(hi - lo), np.arange(lo, hi)] = 0.0
        return D

    return some


@documented
def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
    **kwds: Any,
) -> float:
    """The mean silhouette of the rows: near 1 for clusters that are tight and far apart; of a sample of rows if asked.

    Judges clusters without true classes: compare numbers of clusters, or methods, on the same rows, the higher the
    better. It favours round clusters of about equal density.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples)
        The rows that were clustered, with the columns scaled as for the clustering; with `metric="precomputed"` their
        distances, zeros on the diagonal.
    labels : array-like of shape (n_samples,)
        The cluster of each row: at least 2 clusters, and fewer than rows.
    metric : str or callable, default="euclidean"
        How distances are measured: "precomputed", or any metric of `learnt.neighbors.NearestNeighbors`. Take the one
        that the clustering used. Rows on a device have Euclidean and Manhattan distances.
    sample_size : int, default=None
        Compute it for so many rows drawn at random, with those rows alone, as time grows with their square; None for
        all.
    random_state : int, RandomState, Generator or None, default=None
        Where the draw of `sample_size` comes from. Pass an integer to get the same result every time.
    **kwds : dict
        Parameters of the metric, such as `p` of "minkowski".

    Returns
    -------
    score : float
        Between −1 and 1, 1 at best.

    See Also
    --------
    silhouette_samples : Row by row, to see which clusters are doubtful.
    calinski_harabasz_score : In linear time.
    davies_bouldin_score : In linear time.
    adjusted_rand_score : Agreement with true classes.

    Notes
    -----
    All pairs of rows are compared: O(n² d) time for n rows and d columns, on all cores.

    References
    ----------
    .. [1] P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis",
       Journal of Computational and Applied Mathematics, 1987.

    Examples
    --------
    >>> from learnt.metrics import silhouette_score
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> round(silhouette_score(X, [0, 0, 1, 1]), 2), round(silhouette_score(X, [0, 1, 0, 1]), 2)
    (0.9, -0.45)
    """
    if sample_size is not None:
        check_lengths(X=X, labels=labels)
        path = route(X)
        X = X.tocsr() if path is Route.SPARSE else X if path is Route.DEVICE else np.asarray(X)
        index = random_state_of(random_state).permutation(X.shape[0])[:sample_size]
        labels = take_rows(labels if route(labels) is Route.DEVICE else column(labels, "labels"), index)
        X = take_rows(X, index)
        if metric == "precomputed":
            X = take_rows(X.T, index).T
    found = silhouette_samples(X, labels, metric=metric, **kwds)
    return float(namespace(found).mean(found))


def _groups(X: Any, labels: Any) -> tuple[Any, Any, Any, Any]:
    """Rows, codes, sizes and centroids of the clusters."""
    X, codes, k = _coded(X, labels)
    if route(X) is Route.SPARSE:
        raise TypeError("This score needs dense rows; use X.toarray() if they fit in memory.")
    return X, codes, *_means(X, codes, k)


def _means(values: Any, codes: Any, k: int) -> tuple[Any, Any]:
    """How many rows each cluster has, and their mean (k × columns)."""
    if route(values) is Route.DEVICE:
        return cluster_means(values, codes, k)
    size = np.bincount(codes, minlength=k).astype(np.float64)
    members = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(k, len(codes)))
    return size, (members @ values) / size[:, None]


def _square_distances(X: Any, codes: Any, centers: Any) -> Any:
    """Of each row to its cluster's centroid, some rows at a time."""
    xp, n = namespace(X), X.shape[0]
    step = max(1, _CELLS // X.shape[1])
    some = [slice(lo, min(lo + step, n)) for lo in range(0, n, step)]
    parts = [xp.sum((X[rows, :] - xp.take(centers, codes[rows], axis=0)) ** 2, axis=1) for rows in some]
    return join(parts, 0)


@documented
def calinski_harabasz_score(X: Any, labels: Any) -> float:
    """Scatter between clusters over scatter within them, each over its degrees of freedom: higher is better.

    The variance ratio criterion, [B / (k − 1)] / [W / (n − k)]. Compare it between numbers of clusters on the same
    rows; it favours round clusters, as k-means finds them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows that were clustered, with the columns scaled as for the clustering.
    labels : array-like of shape (n_samples,)
        The cluster of each row: at least 2 clusters, and fewer than rows.

    Returns
    -------
    score : float
        At least 0, without an upper bound; 1 where no row differs from its centroid.

    See Also
    --------
    silhouette_score : Bounded, and easier to read; compares all pairs of rows.
    davies_bouldin_score : Each cluster against its worst neighbour.
    adjusted_rand_score : Agreement with true classes.

    Notes
    -----
    O(n d) time for n rows and d columns, on the device of X. Sparse matrices are refused.

    References
    ----------
    .. [1] T. Caliński and J. Harabasz, "A dendrite method for cluster analysis", Communications in Statistics, 1974.

    Examples
    --------
    >>> from learnt.metrics import calinski_harabasz_score
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> round(calinski_harabasz_score(X, [0, 0, 1, 1]), 2), round(calinski_harabasz_score(X, [0, 1, 0, 1]), 2)
    (200.0, 0.02)
    """
    X, codes, size, centers = _groups(X, labels)
    xp, n, k = namespace(X), X.shape[0], size.shape[0]
    mean = xp.sum(size[:, None] * centers, axis=0) / n
    between = float(xp.sum(size * xp.sum((centers - mean) ** 2, axis=1)))
    within = float(xp.sum(_square_distances(X, codes, centers)))
    return 1.0 if within == 0 else between * (n - k) / (within * (k - 1.0))


@documented
def davies_bouldin_score(X: Any, labels: Any) -> float:
    """The mean over clusters of how close, for its size, the worst other one is: lower is better.

    For clusters i and j, (sᵢ + sⱼ) / dᵢⱼ: their mean distances to their centroids over the distance of the centroids.
    Each cluster counts with the worst of these. Compare it between numbers of clusters on the same rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows that were clustered, with the columns scaled as for the clustering.
    labels : array-like of shape (n_samples,)
        The cluster of each row: at least 2 clusters, and fewer than rows.

    Returns
    -------
    score : float
        At least 0, 0 at best.

    See Also
    --------
    silhouette_score : By distances of all pairs of rows.
    calinski_harabasz_score : The variance ratio criterion.
    adjusted_rand_score : Agreement with true classes.

    Notes
    -----
    O(n d + k² d) time for n rows, d columns and k clusters. Sparse matrices are refused.

    References
    ----------
    .. [1] D. L. Davies and D. W. Bouldin, "A cluster separation measure", IEEE Transactions on Pattern Analysis and
       Machine Intelligence, 1979.

    Examples
    --------
    >>> from learnt.metrics import davies_bouldin_score
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> round(davies_bouldin_score(X, [0, 0, 1, 1]), 2), round(davies_bouldin_score(X, [0, 1, 0, 1]), 2)
    (0.1, 10.0)
    """
    from scipy.spatial.distance import cdist

    X, codes, size, centers = _groups(X, labels)
    far = namespace(X).sqrt(_square_distances(X, codes, centers))
    spread = to_numpy(_means(far[:, None], codes, size.shape[0])[1])[:, 0]
    centers = to_numpy(centers)
    apart = cdist(centers, centers)
    if np.allclose(spread, 0) or np.allclose(apart, 0):
        return 0.0
    apart[apart == 0] = np.inf
    return float(((spread[:, None] + spread) / apart).max(axis=1).mean())
