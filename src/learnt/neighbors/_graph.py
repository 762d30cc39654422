"""Graphs of neighbours: sparse matrices with a row for each row of X."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import EfficiencyWarning

from learnt.engine.params import ParameterError
from learnt.neighbors._base import KNeighborsMixin
from learnt.neighbors._radius import RadiusNeighborsMixin
from learnt.neighbors._unsupervised import NearestNeighbors


def kneighbors_graph(
    X: Any,
    n_neighbors: int,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: dict | None = None,
    include_self: Any = False,
    n_jobs: int | None = None,
) -> Any:
    """Which rows of X are the k nearest of each, as a sparse matrix.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or a fitted estimator that has `kneighbors`
    n_neighbors : int
        The number of neighbours k.
    mode : {"connectivity", "distance"}, default="connectivity"
        Whether an entry is 1 or the distance.
    metric, p, metric_params, n_jobs :
        As for `KNeighborsClassifier`.
    include_self : bool or "auto", default=False
        Whether a row is its own neighbour; "auto": where entries are 1, and not where they are distances.

    Returns
    -------
    graph : CSR matrix of shape (n, n)

    Examples
    --------
    >>> kneighbors_graph([[0.0], [3.0], [1.0]], 1).toarray()
    array([[0., 0., 1.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """
    model = _fitted(X, KNeighborsMixin, metric, p, metric_params, n_neighbors=n_neighbors, n_jobs=n_jobs)
    return model.kneighbors_graph(_queries(model, include_self, mode), n_neighbors, mode)


def radius_neighbors_graph(
    X: Any,
    radius: float,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: dict | None = None,
    include_self: Any = False,
    n_jobs: int | None = None,
) -> Any:
    """Which rows of X are at most `radius` away from each, as a sparse matrix.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or a fitted estimator that has `radius_neighbors`
    radius : float
    mode, metric, p, metric_params, include_self, n_jobs :
        As for `kneighbors_graph`.

    Returns
    -------
    graph : CSR matrix of shape (n, n)

    Examples
    --------
    >>> radius_neighbors_graph([[0.0], [3.0], [1.0]], 1.5, mode="distance").toarray()
    array([[0., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]])
    """
    model = _fitted(X, RadiusNeighborsMixin, metric, p, metric_params, radius=radius, n_jobs=n_jobs)
    return model.radius_neighbors_graph(_queries(model, include_self, mode), radius, mode)


def _fitted(X: Any, kind: type, metric: Any, p: float, metric_params: dict | None, **more: Any) -> Any:
    """An estimator fitted to X; X itself where it is one with the same metric."""
    if not isinstance(X, kind):
        return NearestNeighbors(metric=metric, p=p, metric_params=metric_params, **more).fit(X)
    own = X.get_params()  # type: ignore[attr-defined]
    for name, given in (("metric", metric), ("p", p), ("metric_params", metric_params)):
        if given != own[name]:
            raise ValueError(
                f"Got {given} for {name}, while the estimator has {own[name]} for the same parameter; pass what it was "
                "fitted with."
            )
    return X


def _queries(model: Any, include_self: Any, mode: str) -> Any:
    if isinstance(include_self, str) and include_self == "auto":
        include_self = mode == "connectivity"
    return model._fit_X if include_self else None


def sort_graph_by_row_values(graph: Any, copy: bool = False, warn_when_not_sorted: bool = True) -> Any:
    """A sparse matrix of distances whose rows hold their entries by rising distance, of equals the first stored.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n)
        An entry is a distance, 0 too where it is stored.
    copy : bool, default=False
        False: the entries of a CSR matrix are sorted in place; other kinds need a copy.
    warn_when_not_sorted : bool, default=True
        Whether an `EfficiencyWarning` tells that there was something to sort.

    Returns
    -------
    graph : CSR matrix of shape (n, n)

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> graph = csr_array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]])
    >>> sort_graph_by_row_values(graph, copy=True, warn_when_not_sorted=False).data
    array([1., 3., 2., 3., 1., 2.])
    """
    if not hasattr(graph, "format"):
        raise ParameterError(f"graph must be a sparse matrix, SciPy's; got a {type(graph).__name__}.")
    if graph.format not in ("csr", "csc", "coo", "lil"):
        raise TypeError(
            f"Sparse matrix in {graph.format!r} format is not supported due to its handling of explicit zeros; use "
            "graph.tocsr()."
        )
    if graph.format == "csr" and _sorted_by_value(graph):
        return graph
    if warn_when_not_sorted:
        warnings.warn(
            "Precomputed sparse input was not sorted by row values. Sort it once with sort_graph_by_row_values("
            "warn_when_not_sorted=False).",
            EfficiencyWarning,
            stacklevel=2,
        )
    if graph.format != "csr" and not copy:
        raise ValueError("The input graph is not in CSR format. Use copy=True to allow the conversion to CSR format.")
    graph = graph.copy() if graph.format == "csr" and copy else graph.tocsr()
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    order = np.lexsort((graph.data, row))  # stable
    graph.data[:], graph.indices[:] = graph.data[order], graph.indices[order]
    graph.has_sorted_indices = False
    return graph


def _sorted_by_value(graph: Any) -> bool:
    """Whether no entry of a CSR matrix is less than the one before it in its row."""
    falls = np.flatnonzero(graph.data[1:] < graph.data[:-1]) + 1
    return bool(np.isin(falls, graph.indptr).all())
