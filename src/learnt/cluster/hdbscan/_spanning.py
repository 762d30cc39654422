"""The spanning tree of mutual reachabilities of rows, or of distances that are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from learnt.cluster.hdbscan import _boruvka, _prim
from learnt.distances import Search
from learnt.engine.matrices import Route, route

Tree = tuple[np.ndarray, np.ndarray]  # pairs of rows, lengths
_POWERS = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "chebyshev": np.inf}
_BOXES = 15  # columns up to which boxes leave anything out

_ZERO = 5e-324  # SciPy takes an entry of 0 for none


def power_of(metric: Any, params: dict) -> float | None:
    """p of a Minkowski metric without weights; None for others."""
    if not isinstance(metric, str) or params.keys() - {"p"}:
        return None
    if metric in ("minkowski", "p"):
        p = float(params.get("p") or 2.0)
        return p if p >= 1 else None
    return _POWERS.get(metric)


def of_rows(
    X: Any, k: int, metric: Any, params: dict, alpha: float, algorithm: str, leaf_size: int, n_jobs: int | None
) -> Tree:
    """The tree of rows; a row's core distance is that of its k-th neighbour, itself counted."""
    p = power_of(metric, params)
    boxes = p is not None and route(X) is Route.DENSE and algorithm != "brute"
    if boxes and (X.shape[1] <= _BOXES or algorithm != "auto"):
        search = Search.build(X, metric, params, algorithm="kd_tree", leaf_size=leaf_size, n_jobs=n_jobs)
        core = search.nearest(search.points, k, n_jobs=n_jobs)[0][:, -1]
        return _boruvka.spanning_tree(X, core, float(p or 2.0), alpha, n_jobs)
    search = Search.build(X, metric, params)
    n = X.shape[0]
    D = search.within(search.points, np.inf, n_jobs=n_jobs).distances
    if D.size != n * n:
        raise ValueError("A distance is not a number; the metric must give one for every pair of rows of X.")
    D = D.reshape(n, n)
    core = np.partition(D, k - 1, axis=1)[:, k - 1]
    return _prim.spanning_tree(D / alpha, core)


def of_distances(D: np.ndarray, k: int, alpha: float) -> Tree:
    """The tree of distances between all rows."""
    return _prim.spanning_tree(D / alpha, np.partition(D, k - 1, axis=1)[:, k - 1])


def of_graph(D: Any, k: int, alpha: float, largest: float) -> Tree:
    """The tree of a sparse matrix of distances; what is not stored is no edge."""
    D = sparse.csr_array(D, copy=True)
    n, counts = D.shape[0], np.diff(D.indptr)
    if (counts < k).any():
        raise ValueError(
            f"There exists points with fewer than {k} neighbors. Ensure your distance matrix has non-zero values for "
            f"at least `min_sample`={k} neighbors for each points (i.e. K-nn graph), or give all distances."
        )
    parts = int(csgraph.connected_components(D, directed=False, return_labels=False))
    if parts > 1:
        raise ValueError(
            f"Sparse mutual reachability matrix has {parts} connected components. HDBSCAN cannot be performed on a "
            "disconnected graph. Ensure that the sparse distance matrix has only one connected component."
        )
    core = np.array([np.partition(D.data[D.indptr[i] : D.indptr[i + 1]], k - 1)[k - 1] for i in range(n)])
    rows = np.repeat(np.arange(n), counts)
    D.data = np.maximum(D.data / alpha, np.maximum(core[rows], core[D.indices]))
    if largest > 0:
        D.data[~np.isfinite(D.data)] = largest
    D.data[D.data == 0] = _ZERO
    tree = csgraph.minimum_spanning_tree(D).tocoo()
    return np.stack([tree.row, tree.col], axis=1).astype(np.int64), np.where(tree.data == _ZERO, 0.0, tree.data)
