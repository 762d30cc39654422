"""Graphs of neighbours: sparse matrices with a row for each row of X."""

from __future__ import annotations

from typing import Any

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
