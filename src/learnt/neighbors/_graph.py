"""Graphs of neighbours: sparse matrices with a row for each row of X."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import EfficiencyWarning

from learnt.engine.documentation import documented
from learnt.engine.params import ParameterError
from learnt.neighbors._base import KNeighborsMixin
from learnt.neighbors._radius import RadiusNeighborsMixin
from learnt.neighbors._unsupervised import NearestNeighbors


@documented
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
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or estimator
        The rows, or a fitted estimator that has `kneighbors`, such as `NearestNeighbors`.
    n_neighbors : int
        The number of neighbours k of each row.
    mode : {"connectivity", "distance"}, default="connectivity"
        Whether an entry is 1 or the distance.
    metric : str or callable, default="minkowski"
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine", "nan_euclidean" (which takes missing cells) and others of SciPy's; the names are in
        `VALID_METRICS`. "precomputed" means that X holds distances. A function gets two rows and returns a number; it
        is slow. Scale the columns first where they have different units: the largest one decides otherwise.
    p : float, default=2
        The power of the Minkowski metric: 1 is the Manhattan distance, 2 the Euclidean. Other metrics ignore it.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"w": weights}` for weights of the columns.
    include_self : bool or "auto", default=False
        Whether a row is its own first neighbour; "auto": where entries are 1, and not where they are distances.

    Returns
    -------
    graph : CSR matrix of shape (n_samples, n_samples)
        Row i has an entry for each of the k neighbours of row i. It need not be symmetric.

    See Also
    --------
    radius_neighbors_graph : All rows within a radius.
    KNeighborsTransformer : The graph as a step of a pipeline, also from new rows to those of `fit`.
    NearestNeighbors : The neighbours as arrays of indices.

    Examples
    --------
    >>> kneighbors_graph([[0.0], [3.0], [1.0]], 1).toarray()
    array([[0., 0., 1.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """
    model = _fitted(X, KNeighborsMixin, metric, p, metric_params, n_neighbors=n_neighbors, n_jobs=n_jobs)
    return model.kneighbors_graph(_queries(model, include_self, mode), n_neighbors, mode)


@documented
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
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or estimator
        The rows, or a fitted estimator that has `radius_neighbors`, such as `NearestNeighbors`.
    radius : float
        How far a neighbour may be. Memory grows with the number of pairs within it.
    mode : {"connectivity", "distance"}, default="connectivity"
        Whether an entry is 1 or the distance.
    metric : str or callable, default="minkowski"
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine", "nan_euclidean" (which takes missing cells) and others of SciPy's; the names are in
        `VALID_METRICS`. "precomputed" means that X holds distances. A function gets two rows and returns a number; it
        is slow. Scale the columns first where they have different units: the largest one decides otherwise.
    p : float, default=2
        The power of the Minkowski metric: 1 is the Manhattan distance, 2 the Euclidean. Other metrics ignore it.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"w": weights}` for weights of the columns.
    include_self : bool or "auto", default=False
        Whether a row is its own neighbour; "auto": where entries are 1, and not where they are distances.

    Returns
    -------
    graph : CSR matrix of shape (n_samples, n_samples)
        Row i has an entry for each row within the radius of row i.

    See Also
    --------
    kneighbors_graph : A fixed number of neighbours for each row.
    RadiusNeighborsTransformer : The graph as a step of a pipeline, also from new rows to those of `fit`.
    NearestNeighbors : The neighbours as arrays of indices.

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


@documented
def sort_graph_by_row_values(graph: Any, copy: bool = False, warn_when_not_sorted: bool = True) -> Any:
    """A sparse matrix of distances whose rows hold their entries by rising distance, of equals the first stored.

    Estimators with `metric="precomputed"` want neighbours in this order; sorting once spares them from doing it at each
    call.

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
        The matrix with the nearest first in each row; what was passed where that was sorted already.

    See Also
    --------
    kneighbors_graph : A graph whose rows are sorted already.
    RadiusNeighborsTransformer : A sorted graph of all rows within a radius.

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
