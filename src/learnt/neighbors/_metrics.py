"""Names of metrics, and matrices of distances by them.

Euclidean and cosine distances are searched by matrix products (`_products.py`); every other metric gives a function of
(some queries, all rows) here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import haversine_distances, manhattan_distances, nan_euclidean_distances

from learnt.engine.params import ParameterError

SAME = {"l2": "euclidean", "cityblock": "manhattan", "l1": "manhattan", "infinity": "chebyshev", "p": "minkowski"}
BY_PRODUCTS = ("euclidean", "sqeuclidean", "cosine")
_OF_NUMBERS = {"braycurtis", "canberra", "chebyshev", "correlation", "hamming", "mahalanobis", "manhattan", "minkowski"}
_OF_NUMBERS |= {"seuclidean", "haversine", "nan_euclidean"}
_OF_FLAGS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
NAMES = tuple(sorted({*BY_PRODUCTS, *_OF_NUMBERS, *_OF_FLAGS, *SAME, "precomputed"}))
_CANCELS = 1e-6  # of ‖q‖² + ‖t‖²: below, products leave fewer than nine digits of a squared distance
_PAIRS = 1 << 14  # of rows whose differences are taken at a time
SPARSE_NAMES = ("cityblock", "cosine", "euclidean", "l1", "l2", "manhattan", "precomputed", "sqeuclidean")


def resolve(metric: Any, p: float | None, params: dict | None) -> tuple[Any, dict]:
    """The metric that is meant, and its parameters: minkowski with p = 2 is euclidean, and so on.

    >>> resolve("minkowski", 1, None), resolve("minkowski", 3, None)
    (('manhattan', {}), ('minkowski', {'p': 3, 'w': None}))
    """
    params = dict(params or {})
    if not isinstance(metric, str):
        return metric, params
    if metric in ("minkowski", "p"):
        p = params.pop("p", p)
        w = params.pop("w", None)
        if w is None and p in (1, 2, np.inf):
            return {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}[p], params
        return "minkowski", {**params, "p": p, "w": w}
    return metric, params


def check_metric(name: str, metric: Any, is_sparse: bool) -> None:
    """Refuse a metric that is not there, or that sparse rows do not have."""
    if callable(metric) or hasattr(metric, "pairwise"):
        return
    names = SPARSE_NAMES if is_sparse else NAMES
    if metric in NAMES and metric not in names:
        raise ValueError(
            f"Metric {metric!r} not valid for sparse input: {name} has {', '.join(SPARSE_NAMES)}; use X.toarray()."
        )
    if metric not in names:
        raise ParameterError(
            f"The 'metric' parameter of {name} must be one of {', '.join(names)}, or a function of two rows. "
            f"Got {metric!r} instead."
        )


def learned_params(metric: Any, params: dict, T: Any) -> dict:
    """Parameters that a metric takes from the training rows where they are not given."""
    if metric == "seuclidean" and "V" not in params:
        return {**params, "V": np.var(T, axis=0, ddof=1, dtype=np.float64)}
    if metric == "mahalanobis" and "VI" not in params:
        V = params.get("V")
        V = np.atleast_2d(np.cov(np.asarray(T, dtype=np.float64), rowvar=False) if V is None else V)
        return {"VI": np.linalg.pinv(V)}
    return params


def distance_function(metric: Any, params: dict) -> Callable[[Any, Any], np.ndarray]:
    """The function that gives all distances between two sets of rows.

    >>> distance_function("chebyshev", {})(np.array([[0.0, 0.0]]), np.array([[1.0, 3.0]]))
    array([[3.]])
    """
    if hasattr(metric, "pairwise"):  # scikit-learn's DistanceMetric
        return metric.pairwise
    if callable(metric):
        return functools.partial(_by_function, metric, params)
    metric = SAME.get(metric, metric)
    if metric == "haversine":
        return haversine_distances
    if metric == "nan_euclidean":
        return functools.partial(nan_euclidean_distances, **params)
    if metric == "manhattan":
        return _manhattan
    if metric in _OF_FLAGS:
        return functools.partial(_of_flags, metric, params)
    return functools.partial(_of_numbers, metric, {key: value for key, value in params.items() if value is not None})


def _manhattan(Q: Any, T: Any) -> np.ndarray:
    if sparse.issparse(Q):
        return manhattan_distances(Q, T)
    return cdist(Q, T, "cityblock")


def _of_numbers(metric: str, params: dict, Q: Any, T: Any) -> np.ndarray:
    return cdist(Q, T, metric, **params)


def _of_flags(metric: str, params: dict, Q: Any, T: Any) -> np.ndarray:
    return cdist(Q != 0, T != 0, metric, **params)


def _by_function(metric: Any, params: dict, Q: Any, T: Any) -> np.ndarray:
    if sparse.issparse(Q):
        return pairwise_distances(Q, T, metric=metric, **params)
    return np.array([[metric(q, t, **params) for t in T] for q in Q], dtype=np.float64)


def sparse_scores(Q: Any, T: Any) -> np.ndarray:
    """Squared Euclidean distances of CSR rows: from products, and where those cancel from differences.

    ‖q‖² + ‖t‖² − 2qᵀt is rounded by some ε(‖q‖² + ‖t‖²), of which a small distance would be made; rows that are equal
    have distance 0 on every machine.
    """
    Q = Q.astype(np.float64, copy=False)
    product = (Q @ T.T).toarray()
    product *= -2.0
    squares = _norms(Q), _norms(T)
    product += squares[0][:, None]
    product += squares[1]
    near = np.argwhere(product <= _CANCELS * np.add.outer(*squares))
    for lo in range(0, len(near), _PAIRS):
        q, t = near[lo : lo + _PAIRS].T
        product[q, t] = _norms(Q[q] - T[t])
    return product


def sparse_cosine(Q: Any, T: Any) -> np.ndarray:
    """Cosine distances of CSR rows: half the squared distances of rows of length 1; 1 for a row of zeros."""
    (Q, no_direction), (T, nowhere) = _units(Q), _units(T)
    distances = 0.5 * sparse_scores(Q, T)
    distances[no_direction], distances[:, nowhere] = 1.0, 1.0
    return np.minimum(distances, 2.0, out=distances)


def _units(X: Any) -> tuple[Any, np.ndarray]:
    """Rows divided by their lengths, and which have none."""
    length = np.sqrt(_norms(X))
    unit = X.astype(np.float64)
    unit.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(X.indptr))
    return unit, length == 0


def _norms(X: Any) -> np.ndarray:
    """Squared lengths of CSR rows."""
    X = X.astype(np.float64, copy=False)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()
