"""Weights of pairs of rows: e^(−γ ‖x − z‖²), 1 for the nearest rows, or what a function says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from learnt.distances import Search
from learnt.engine.matrices import Route, double, route, take_rows
from learnt.kernels import gram, gram_times, named_kernel, require_room


def rbf(gamma: float, X: Any) -> Any:
    """The Gaussian kernel."""
    return named_kernel("rbf", gamma, 3, 1, X.shape[1])


def search_of(X: Any, n_jobs: int | None) -> Search:
    """The rows, prepared for queries of their k nearest."""
    return Search.build(X, "euclidean", algorithm="auto", n_jobs=n_jobs)


def nearest_rows(search: Search, queries: Any, k: int, n_jobs: int | None) -> sparse.csr_array:
    """1 for the k nearest rows of each query, of which a training row itself is the first."""
    index = search.nearest(queries, k, n_jobs=n_jobs)[1]
    m = queries.shape[0]
    return sparse.csr_array(
        (np.ones(index.size), index.ravel(), np.arange(0, m * k + 1, k)), shape=(m, search.points.shape[0])
    )


def called(kernel: Callable, X: Any, Z: Any) -> Any:
    """The weights that the caller's function gives, dense or CSR, in float64."""
    W = kernel(X, Z)
    W = double(sparse.csr_array(W)) if route(W) is Route.SPARSE else np.array(W, dtype=np.float64)
    if W.shape != (X.shape[0], Z.shape[0]):
        raise ValueError(
            f"The kernel returned weights of shape {tuple(W.shape)} for {X.shape[0]} and {Z.shape[0]} rows; it must be "
            f"{(X.shape[0], Z.shape[0])}."
        )
    return W


def all_weights(model: Any, X: Any, search: Search | None) -> Any:
    """W of all rows, without its diagonal: a row tells itself nothing."""
    n = X.shape[0]
    if search is not None:
        W = nearest_rows(search, X, model.n_neighbors, model.n_jobs)
    elif callable(model.kernel):
        W = called(model.kernel, X, X)
    else:
        require_room(type(model).__name__, n, n)
        W = np.asarray(gram(rbf(model.gamma, X), X))
    if route(W) is Route.SPARSE:
        pairs = sparse.coo_array(W)
        apart = pairs.row != pairs.col
        return sparse.csr_array((pairs.data[apart], (pairs.row[apart], pairs.col[apart])), shape=W.shape)
    np.fill_diagonal(W, 0.0)
    return W


def weights_of_unlabelled(
    model: Any, X: Any, search: Search | None, known: np.ndarray, Y: np.ndarray
) -> tuple[Any, np.ndarray]:
    """Weights of the rows without labels among each other, and the sums they get from labels Y of the others."""
    if search is None and not callable(model.kernel):
        own, others = take_rows(X, ~known), take_rows(X, known)
        require_room(type(model).__name__, own.shape[0], own.shape[0])
        kernel = rbf(model.gamma, X)
        if not own.shape[0]:
            return np.zeros((0, 0)), np.zeros((0, Y.shape[1]))
        return np.asarray(gram(kernel, own)), np.asarray(gram_times(kernel, own, others, Y))
    if search is not None:
        own = take_rows(X, ~known)
        W = (
            nearest_rows(search, own, model.n_neighbors, model.n_jobs)
            if own.shape[0]
            else sparse.csr_array((0, X.shape[0]))
        )
    else:
        W = called(model.kernel, X, X)[~known]
    return W[:, ~known], np.asarray(W[:, known] @ Y)
