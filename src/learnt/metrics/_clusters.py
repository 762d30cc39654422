"""Quality of clusters: compared with true classes, or by the rows only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln, xlogy

from learnt.engine.arrays import is_foreign_array, is_numpy, namespace, to_numpy
from learnt.engine.matrices import dense, stored, take_rows
from learnt.engine.random import random_state_of
from learnt.engine.threads import for_blocks
from learnt.metrics._clusters_device import cluster_means, coded_on_device, silhouettes
from learnt.metrics._inputs import check_lengths, column

_CELLS = 1 << 20  # distances held at once by one task
_SCIPY = {"manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean"}


# --- two labellings of the same rows


def contingency_table(labels_true: Any, labels_pred: Any) -> np.ndarray:
    """How many rows each pair of labels has, (classes × clusters).

    >>> contingency_table([0, 0, 1], ["a", "b", "b"])
    array([[1, 1],
           [0, 1]])
    """
    check_lengths(labels_true=labels_true, labels_pred=labels_pred)
    _, a = np.unique(column(labels_true, "labels_true"), return_inverse=True)
    _, b = np.unique(column(labels_pred, "labels_pred"), return_inverse=True)
    return np.bincount(a * (b.max() + 1) + b, minlength=(a.max() + 1) * (b.max() + 1)).reshape(a.max() + 1, -1)


def pair_confusion_matrix(labels_true: Any, labels_pred: Any) -> np.ndarray:
    """Ordered pairs of rows that are apart or together in each labelling, (2 × 2).

    >>> pair_confusion_matrix([0, 0, 1, 1], [0, 0, 1, 2])
    array([[8, 0],
           [2, 2]])
    """
    table = contingency_table(labels_true, labels_pred).astype(np.int64)
    n = int(table.sum())
    both = int(np.square(table).sum())
    rows, columns = int(np.square(table.sum(axis=1)).sum()), int(np.square(table.sum(axis=0)).sum())
    return np.array([[n * n - rows - columns + both, columns - both], [rows - both, both - n]])


def rand_score(labels_true: Any, labels_pred: Any) -> float:
    """The share of pairs of rows on which two labellings agree: together in both, or apart in both.

    >>> rand_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    pairs = pair_confusion_matrix(labels_true, labels_pred)
    total = pairs.sum()
    return 1.0 if total == 0 else float(np.trace(pairs) / total)


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """`rand_score` less what chance gives: 1 for equal clusters, about 0 for random ones.

    >>> adjusted_rand_score([0, 0, 1, 1], [0, 0, 1, 2])
    0.5714285714285714
    """
    (apart, joined), (split, together) = pair_confusion_matrix(labels_true, labels_pred).tolist()
    if joined == 0 and split == 0:
        return 1.0
    above = 2.0 * (together * apart - split * joined)
    return above / ((together + split) * (split + apart) + (together + joined) * (joined + apart))


def fowlkes_mallows_score(labels_true: Any, labels_pred: Any) -> float:
    """The geometric mean of precision and recall over pairs of rows.

    >>> fowlkes_mallows_score([0, 0, 1, 1], [0, 0, 1, 1])
    1.0
    """
    (_, joined), (split, together) = pair_confusion_matrix(labels_true, labels_pred).tolist()
    return float(np.sqrt(together / (together + joined)) * np.sqrt(together / (together + split))) if together else 0.0


def _entropy(counts: np.ndarray) -> float:
    share = counts / counts.sum()
    return float(-xlogy(share, share).sum())


def _information(table: np.ndarray) -> float:
    share = table / table.sum()
    parts = share.sum(axis=1, keepdims=True) * share.sum(axis=0)
    some = share > 0
    return max(float((share[some] * np.log(share[some] / parts[some])).sum()), 0.0)


def mutual_info_score(labels_true: Any, labels_pred: Any) -> float:
    """What one labelling tells of the other, in nats.

    >>> round(mutual_info_score([0, 0, 1, 1], [0, 0, 1, 1]), 4)
    0.6931
    """
    return _information(contingency_table(labels_true, labels_pred))


def normalized_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """`mutual_info_score` over a mean of the two entropies: 1 for equal clusters.

    >>> normalized_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    table = contingency_table(labels_true, labels_pred)
    if table.shape == (1, 1):
        return 1.0
    information = _information(table)
    if information <= np.finfo(float).eps:
        return 0.0
    return information / _mean_entropy(table, average_method)


def adjusted_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """`normalized_mutual_info_score` less what chance gives: about 0 for random labels, however many there are.

    >>> adjusted_mutual_info_score([0, 0, 1, 1], [0, 0, 1, 1])
    1.0
    """
    table = contingency_table(labels_true, labels_pred)
    if table.shape == (1, 1) or table.shape[0] == table.shape[1] == table.sum():
        return 1.0
    expected = expected_information(table)
    room = _mean_entropy(table, average_method) - expected
    tiny = np.finfo(float).eps
    return float((_information(table) - expected) / (min(room, -tiny) if room < 0 else max(room, tiny)))


def expected_information(table: np.ndarray) -> float:
    """The mutual information of random labels with these numbers of rows (Vinh, Epps and Bailey 2010)."""
    a, b, n = table.sum(axis=1), table.sum(axis=0), int(table.sum())
    total = 0.0
    for x in a:
        least, most = np.maximum(1, x + b - n), np.minimum(x, b)
        for y, low, high in zip(b, least, most, strict=True):
            k = np.arange(low, high + 1)
            ways = gammaln(x + 1) + gammaln(y + 1) + gammaln(n - x + 1) + gammaln(n - y + 1) - gammaln(n + 1)
            ways = ways - gammaln(k + 1) - gammaln(x - k + 1) - gammaln(y - k + 1) - gammaln(n - x - y + k + 1)
            total += float((k / n * np.log(n * k / (float(x) * float(y))) * np.exp(ways)).sum())
    return total


_MEANS: dict[str, Callable[[float, float], float]] = {
    "min": min,
    "max": max,
    "arithmetic": lambda a, b: (a + b) / 2.0,
    "geometric": lambda a, b: float(np.sqrt(a * b)),
}


def _mean_entropy(table: np.ndarray, method: str) -> float:
    if method not in _MEANS:
        raise ValueError(f"average_method must be one of {', '.join(map(repr, _MEANS))}; it is {method!r}.")
    return _MEANS[method](_entropy(table.sum(axis=1)), _entropy(table.sum(axis=0)))


def homogeneity_completeness_v_measure(
    labels_true: Any, labels_pred: Any, *, beta: float = 1.0
) -> tuple[float, float, float]:
    """Whether clusters hold one class each, whether classes lie in one cluster each, and the mean of both.

    >>> homogeneity_completeness_v_measure([0, 0, 1, 1], [0, 0, 1, 2])[0]
    1.0
    """
    table = contingency_table(labels_true, labels_pred)
    information = _information(table)
    classes, clusters = _entropy(table.sum(axis=1)), _entropy(table.sum(axis=0))
    homogeneity = information / classes if classes else 1.0
    completeness = information / clusters if clusters else 1.0
    below = beta * homogeneity + completeness
    return homogeneity, completeness, (1 + beta) * homogeneity * completeness / below if below else 0.0


def homogeneity_score(labels_true: Any, labels_pred: Any) -> float:
    """Whether each cluster holds rows of one class only: 1 if so."""
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[0]


def completeness_score(labels_true: Any, labels_pred: Any) -> float:
    """Whether the rows of each class lie in one cluster: 1 if so."""
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[1]


def v_measure_score(labels_true: Any, labels_pred: Any, *, beta: float = 1.0) -> float:
    """The harmonic mean of homogeneity and completeness."""
    return homogeneity_completeness_v_measure(labels_true, labels_pred, beta=beta)[2]


# --- clusters by the rows only


def _coded(X: Any, labels: Any) -> tuple[Any, Any, int]:
    """The rows, the number of each row's cluster, and how many clusters there are: at least 2 and fewer than rows."""
    check_lengths(X=X, labels=labels)
    if is_foreign_array(X):
        X, codes, k = coded_on_device(X, labels)
    else:
        X = X.tocsr() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        if not np.isfinite(stored(X)).all():
            raise ValueError("X contains NaN or infinity, and distances need finite numbers; fill or drop those rows.")
        names, codes = np.unique(column(labels, "labels"), return_inverse=True)
        k = len(names)
    if not 1 < k < X.shape[0]:
        raise ValueError(
            f"Number of labels is {k}. Valid values are 2 to n_samples - 1 (inclusive), of {X.shape[0]} rows."
        )
    return X, codes, k


def silhouette_samples(X: Any, labels: Any, *, metric: Any = "euclidean", **kwds: Any) -> Any:
    """(b − a) / max(a, b) of each row: a its mean distance to its own cluster, b to the nearest other; 0 if alone.

    X holds rows, or with metric="precomputed" their distances.

    >>> silhouette_samples([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]).round(2)
    array([0.9 , 0.89, 0.89, 0.9 ])
    """
    X, codes, k = _coded(X, labels)
    n = X.shape[0]
    if metric == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(f"A precomputed matrix of distances is square; X has the shape {tuple(X.shape)}.")
    if is_foreign_array(X):
        return silhouettes(X, codes, k, metric)
    member = np.zeros((n, k))
    member[np.arange(n), codes] = 1.0
    size = member.sum(axis=0)
    out = np.zeros(n)

    def some(lo: int, hi: int) -> None:
        sums = _distances(X, lo, hi, metric, kwds) @ member
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


def _distances(X: Any, lo: int, hi: int, metric: Any, options: dict) -> np.ndarray:
    """Distances of the rows lo…hi−1 to all rows."""
    if metric == "precomputed":
        return dense(X[lo:hi])
    if sparse.issparse(X):
        if metric not in ("euclidean", "l2"):
            raise TypeError(f"Sparse rows have Euclidean distances here, not {metric!r}; use X.toarray().")
        norms = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        D = np.sqrt(np.maximum(norms[lo:hi, None] - 2.0 * (X[lo:hi] @ X.T).toarray() + norms, 0.0))
        D[np.arange(hi - lo), np.arange(lo, hi)] = 0.0
        return D
    from scipy.spatial.distance import cdist  # loads slowly, and few who import metrics cluster

    return cdist(X[lo:hi], X, _SCIPY.get(metric, metric) if isinstance(metric, str) else metric, **options)


def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
    **kwds: Any,
) -> float:
    """The mean of `silhouette_samples`: near 1 for clusters that are tight and far apart; of a sample of rows if asked.

    >>> round(silhouette_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 3)
    0.9
    """
    if sample_size is not None:
        check_lengths(X=X, labels=labels)
        X = X.tocsr() if sparse.issparse(X) else X if is_foreign_array(X) else np.asarray(X)
        index = random_state_of(random_state).permutation(X.shape[0])[:sample_size]
        labels = take_rows(labels if is_foreign_array(labels) else column(labels, "labels"), index)
        X = take_rows(X, index)
        if metric == "precomputed":
            X = take_rows(X.T, index).T
    found = silhouette_samples(X, labels, metric=metric, **kwds)
    return float(namespace(found).mean(found))


def _groups(X: Any, labels: Any) -> tuple[Any, Any, Any, Any]:
    """Rows, codes, sizes and centroids of the clusters."""
    X, codes, k = _coded(X, labels)
    if sparse.issparse(X):
        raise TypeError("This score needs dense rows; use X.toarray() if they fit in memory.")
    return X, codes, *_means(X, codes, k)


def _means(values: Any, codes: Any, k: int) -> tuple[Any, Any]:
    """How many rows each cluster has, and their mean (k × columns)."""
    if is_foreign_array(values):
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
    return np.concatenate(parts) if is_numpy(X) else xp.concat(parts)


def calinski_harabasz_score(X: Any, labels: Any) -> float:
    """Scatter between clusters over scatter within them, each over its degrees of freedom: higher is better.

    >>> calinski_harabasz_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    200.0
    """
    X, codes, size, centers = _groups(X, labels)
    xp, n, k = namespace(X), X.shape[0], size.shape[0]
    mean = xp.sum(size[:, None] * centers, axis=0) / n
    between = float(xp.sum(size * xp.sum((centers - mean) ** 2, axis=1)))
    within = float(xp.sum(_square_distances(X, codes, centers)))
    return 1.0 if within == 0 else between * (n - k) / (within * (k - 1.0))


def davies_bouldin_score(X: Any, labels: Any) -> float:
    """The mean over clusters of how close, for its size, the worst other one is: lower is better.

    >>> davies_bouldin_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    0.1
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
