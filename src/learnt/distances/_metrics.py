"""Names of metrics, and matrices of distances by them.

Euclidean and cosine distances are searched by matrix products (`_products.py`); every other metric gives a function of
(some queries, all rows) here.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import DataConversionWarning

from learnt.distances._centers import squared_norms
from learnt.distances._minkowski import POWERS, minkowski_sums
from learnt.engine.params import ParameterError

SAME = {"l2": "euclidean", "cityblock": "manhattan", "l1": "manhattan", "infinity": "chebyshev", "p": "minkowski"}
_SCIPY = {"manhattan": "cityblock"}
BY_PRODUCTS = ("euclidean", "sqeuclidean", "cosine")
_OF_NUMBERS = {"braycurtis", "canberra", "chebyshev", "correlation", "hamming", "mahalanobis", "manhattan", "minkowski"}
_OF_NUMBERS |= {"seuclidean", "haversine", "nan_euclidean"}
_OF_FLAGS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
METRIC_NAMES = tuple(sorted({*BY_PRODUCTS, *_OF_NUMBERS, *_OF_FLAGS, *SAME, "precomputed"}))
_ROUNDED = 1e-6  # as a share of the largest distance: a more negative one is no rounding error
_TRIED = 8  # points that a user's function is tested on
_CANCELS = 1e-6  # of ‖q‖² + ‖t‖²: below, products leave fewer than nine digits of a squared distance
_PAIRS = 1 << 14  # of rows whose differences are taken at a time
SPARSE_METRIC_NAMES = ("cityblock", "cosine", "euclidean", "l1", "l2", "manhattan", "precomputed", "sqeuclidean")


def resolve_metric(metric: Any, p: float | None, params: dict | None) -> tuple[Any, dict]:
    """The canonical name of a metric, and its parameters: minkowski with p = 2 is euclidean, and so on.

    >>> resolve_metric("minkowski", 1, None), resolve_metric("minkowski", 3, None)
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


def check_metric(name: str, metric: Any, X: Any = None) -> None:
    """Refuse a metric that does not exist, or that is not defined for sparse rows if X is sparse."""
    if callable(metric) or hasattr(metric, "pairwise"):
        return
    names = SPARSE_METRIC_NAMES if sparse.issparse(X) else METRIC_NAMES
    if metric in METRIC_NAMES and metric not in names:
        raise ValueError(
            f"Metric {metric!r} not valid for sparse input: {name} has {', '.join(names)}; use X.toarray()."
        )
    if metric not in names:
        raise ParameterError(
            f"The 'metric' parameter of {name} must be one of {', '.join(names)}, or a function of two rows. "
            f"Got {metric!r} instead."
        )


def warn_of_conversion(metric: Any, X: Any, words: str) -> None:
    """Warn where a metric of flags takes every number that is not 0 as one: `words` begin the sentence."""
    if not (isinstance(metric, str) and metric in _OF_FLAGS):
        return
    if (X.dtype if hasattr(X, "dtype") else np.asarray(X).dtype).kind != "b":
        warnings.warn(
            f"{words} to boolean for metric {metric}: every number that is not 0 counts as True; give X as booleans.",
            DataConversionWarning,
            stacklevel=5,
        )


def learned_params(metric: Any, params: dict, T: Any) -> dict:
    """Parameters that a metric takes from the training rows where they are not given."""
    if sparse.issparse(T) and params.get("w") is not None:
        raise ValueError(f"The weights w of the metric {metric!r} need dense rows; use X.toarray().")
    if metric == "seuclidean" and "V" not in params:
        V = np.var(T, axis=0, ddof=1, dtype=np.float64)
        if not V.all():
            raise ValueError(
                f"The metric 'seuclidean' divides by the variance of each column, and column {int(V.argmin())} is "
                "constant; leave it out, or give the variances by metric_params={'V': ...}."
            )
        return {**params, "V": V}
    if metric == "mahalanobis" and "VI" not in params:
        V = params.get("V")
        V = np.atleast_2d(np.cov(np.asarray(T, dtype=np.float64), rowvar=False) if V is None else V)
        return {"VI": np.linalg.pinv(V)}
    return params


def distance_function(metric: Any, params: dict) -> Callable[[Any, Any], np.ndarray]:
    """The function that gives all distances between two sets of rows; for "minkowski" their p-th powers.

    What the metric learns of the rows is in `params`; other packages have `distance_function` of `brute`.

    >>> distance_function("chebyshev", {})(np.array([[0.0, 0.0]]), np.array([[1.0, 3.0]]))
    array([[3.]])
    """
    if hasattr(metric, "pairwise"):  # scikit-learn's DistanceMetric
        return metric.pairwise
    if callable(metric):
        return functools.partial(_by_function, metric, params)
    metric = SAME.get(metric, metric)
    if metric == "haversine":
        return _haversine
    if metric == "nan_euclidean":
        return functools.partial(_nan_euclidean, **params)
    params = {key: value for key, value in params.items() if value is not None}
    if not params.keys() & {"w"}:
        if metric == "cosine":
            return _cosine
        if metric == "manhattan":
            return _manhattan
        if metric in ("chebyshev", "minkowski"):
            return functools.partial(minkowski_sums, POWERS.get(metric, params.get("p", 2)))
    if metric in _OF_FLAGS:
        return functools.partial(_of_flags, metric, params)
    return functools.partial(_of_numbers, _SCIPY.get(metric, metric), params)


def _manhattan(Q: Any, T: Any) -> np.ndarray:
    if not sparse.issparse(Q):
        return minkowski_sums(1, Q, T)
    out = np.empty((Q.shape[0], T.shape[0]))
    step = max(1, _PAIRS // T.shape[0])
    for lo in range(0, Q.shape[0], step):
        rows = np.arange(lo, min(lo + step, Q.shape[0]))
        gaps = abs(Q[np.repeat(rows, T.shape[0])] - T[np.tile(np.arange(T.shape[0]), rows.size)])
        out[rows] = np.asarray(gaps.sum(axis=1, dtype=np.float64)).reshape(rows.size, -1)
    return out


def _cosine(Q: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Half the squared distances of rows of length 1; 1 for a row of zeros, which has no direction."""
    lengths = [np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64)) for X in (Q, T)]
    units = [X / np.where(length > 0, length, 1.0)[:, None] for X, length in zip((Q, T), lengths, strict=True)]
    distances = 0.5 * cdist(*units, "sqeuclidean")
    distances[lengths[0] == 0], distances[:, lengths[1] == 0] = 1.0, 1.0
    return distances


def _haversine(Q: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Angles between points on a sphere, given as (latitude, longitude) in radians."""
    if Q.shape[1] != 2:
        raise ValueError(
            f"Haversine distance only valid in 2 dimensions, latitude and longitude in radians; X has {Q.shape[1]}."
        )
    Q, T = Q.astype(np.float64, copy=False), T.astype(np.float64, copy=False)
    half = np.square(np.sin(0.5 * (Q[:, None, 0] - T[:, 0])))
    half += np.cos(Q[:, 0])[:, None] * np.cos(T[:, 0]) * np.square(np.sin(0.5 * (Q[:, None, 1] - T[:, 1])))
    return 2.0 * np.arcsin(np.sqrt(np.minimum(half, 1.0)))


def _nan_euclidean(Q: np.ndarray, T: np.ndarray, missing_values: float = np.nan) -> np.ndarray:
    """Over the cells that both rows have, scaled up to all cells; NaN where they share none."""
    total, both = np.zeros((Q.shape[0], T.shape[0])), np.zeros((Q.shape[0], T.shape[0]))
    for q, t in zip(Q.T.astype(np.float64), T.T.astype(np.float64), strict=True):
        both_present = np.logical_and.outer(
            *[~(np.isnan(x) if np.isnan(missing_values) else x == missing_values) for x in (q, t)]
        )
        gap = np.subtract.outer(q, t, out=np.zeros_like(total), where=both_present)
        total += gap * gap
        both += both_present
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(total * (Q.shape[1] / both))


def _of_numbers(metric: str, params: dict, Q: Any, T: Any) -> np.ndarray:
    return cdist(Q, T, metric, **params)


def _of_flags(metric: str, params: dict, Q: Any, T: Any) -> np.ndarray:
    return cdist(Q != 0, T != 0, metric, **params)


def _by_function(metric: Any, params: dict, Q: Any, T: Any) -> np.ndarray:
    if sparse.issparse(Q):  # the function gets matrices of one row
        rows = range(Q.shape[0]), range(T.shape[0])
        return _numbers([[metric(Q[[i]], T[[j]], **params) for j in rows[1]] for i in rows[0]])
    return _numbers([[metric(q, t, **params) for t in T] for q in Q])


def _numbers(values: list[list[Any]]) -> np.ndarray:
    """The result of a user's function, as an array of distances."""
    try:
        distances = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        distances = np.full((1, 1), np.nan)
    if distances.ndim != 2 or np.isnan(distances).any():
        raise ValueError(
            "The function given as metric is not one: for two rows of X it gives something that is no number; let it "
            "give one nonnegative number for every pair of rows."
        )
    return distances


def warn_of_negative(metric: Any, params: dict, T: Any) -> None:
    """Warn that a user's function is no metric where it gives clearly negative numbers for some of the points."""
    rows = np.unique(np.linspace(0, T.shape[0] - 1, _TRIED).astype(np.int64))
    distances = _by_function(metric, params, T[rows], T[rows])
    if distances.min() < -_ROUNDED * np.abs(distances).max():
        warnings.warn(
            "The function given as metric is not one: for some rows of X it gives negative numbers. The nearest are "
            "those with the lowest; weights and densities by distance have no meaning.",
            stacklevel=5,
        )


def sparse_scores(Q: Any, T: Any) -> np.ndarray:
    """Squared Euclidean distances of CSR rows: from products, and where those cancel from differences.

    ‖q‖² + ‖t‖² − 2qᵀt has a rounding error of about ε(‖q‖² + ‖t‖²), which may exceed a small distance. Equal rows have
    distance 0 on every machine.
    """
    Q = Q.astype(np.float64, copy=False)
    product = (Q @ T.T).toarray()
    product *= -2.0
    squares = squared_norms(Q), squared_norms(T)
    product += squares[0][:, None]
    product += squares[1]
    near = np.argwhere(product <= _CANCELS * np.add.outer(*squares))
    for lo in range(0, len(near), _PAIRS):
        q, t = near[lo : lo + _PAIRS].T
        product[q, t] = squared_norms(Q[q] - T[t])
    return product


def sparse_cosine(Q: Any, T: Any) -> np.ndarray:
    """Cosine distances of CSR rows: half the squared distances of rows of length 1; 1 for a row of zeros."""
    (Q, no_direction), (T, nowhere) = _units(Q), _units(T)
    distances = 0.5 * sparse_scores(Q, T)
    distances[no_direction], distances[:, nowhere] = 1.0, 1.0
    return np.minimum(distances, 2.0, out=distances)


def _units(X: Any) -> tuple[Any, np.ndarray]:
    """Rows divided by their lengths, and which rows have length 0."""
    length = np.sqrt(squared_norms(X))
    unit = X.astype(np.float64)
    unit.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(X.indptr))
    return unit, length == 0
