"""From neighbours to votes and means: of k neighbours a query, or of as many as there are within a radius."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.distances import Neighborhoods
from learnt.engine.params import ParameterError

ZERO_WEIGHTS = (
    "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if you are using "
    "a user-defined function."
)


def check_weights_parameter(estimator: Any) -> None:
    """The parameter `weights` is a name, a function or None."""
    weights = estimator.weights
    if not (weights is None or callable(weights) or (isinstance(weights, str) and weights in ("uniform", "distance"))):
        raise ParameterError(
            f"The 'weights' parameter of {type(estimator).__name__} must be 'uniform', 'distance', a callable or None. "
            f"Got {weights!r} instead."
        )


def all_count_the_same(weights: Any) -> bool:
    """Whether `weights` is the parameter's name for equal votes."""
    return weights is None or (isinstance(weights, str) and weights == "uniform")


def neighbor_weights(distances: np.ndarray, weights: Any) -> np.ndarray | None:
    """What each neighbour's vote counts; None where all count the same.

    By distance, 1 / distance; where some neighbours are at distance 0, these alone vote.

    >>> neighbor_weights(np.array([[1.0, 2.0], [0.0, 2.0]]), "distance")
    array([[1. , 0.5],
           [1. , 0. ]])
    """
    if all_count_the_same(weights):
        return None
    if not isinstance(weights, str):
        values = _shaped(weights(distances), distances)
    else:
        with np.errstate(divide="ignore"):
            values = 1.0 / distances
        infinite = np.isinf(values)
        rows = infinite.any(axis=1)
        values[rows] = infinite[rows]
    if not values.any(axis=1).all():
        raise ValueError(ZERO_WEIGHTS)
    return values


def radius_weights(found: Neighborhoods, weights: Any) -> np.ndarray | None:
    """The same for the neighbours within a radius, in one flat array; a function gets the distances of one query.

    >>> found = Neighborhoods(np.array([2, 0, 2]), np.array([4, 7, 4, 5]), np.array([0.5, 0.1, 0.0, 0.3]))
    >>> radius_weights(found, "distance")
    array([ 2., 10.,  1.,  0.])
    """
    if all_count_the_same(weights):
        return None
    if isinstance(weights, str):
        with np.errstate(divide="ignore"):
            values = 1.0 / found.distances
        infinite = np.isinf(values)
        hit = np.bincount(found.query[infinite], minlength=found.counts.size) > 0
        return np.where(hit[found.query], infinite, values)
    parts = [_shaped(weights(part), part) for part in found.lists()[0] if part.size]
    if not all(part.any() for part in parts):
        raise ValueError(ZERO_WEIGHTS)
    return np.concatenate(parts) if parts else np.zeros(0)


def _shaped(values: Any, distances: np.ndarray) -> np.ndarray:
    """What the user's function gave, if it is a weight for each distance."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != distances.shape:
        raise ValueError(
            f"The function given as weights returned an array of the shape {values.shape} for distances of the shape "
            f"{distances.shape}; it must give one number for each distance."
        )
    return values


def votes(codes: np.ndarray, n_classes: int, weights: np.ndarray | None) -> np.ndarray:
    """The weight of the votes for each class, (n_queries × n_classes), from the neighbours' classes (n_queries × k).

    >>> votes(np.array([[0, 2, 2]]), 3, None)
    array([[1., 0., 2.]])
    """
    n = codes.shape[0]
    return counted_votes(codes, np.arange(n)[:, None], n, n_classes, weights)


def counted_votes(
    codes: np.ndarray, query: np.ndarray, n_queries: int, n_classes: int, weights: np.ndarray | None
) -> np.ndarray:
    """The same from the class of each neighbour and the query that it belongs to, however they are arranged."""
    flat = (codes + n_classes * query).ravel()
    counted = np.bincount(flat, None if weights is None else weights.ravel(), n_queries * n_classes)
    return counted.reshape(n_queries, n_classes).astype(np.float64, copy=False)


def shares(counted: np.ndarray) -> np.ndarray:
    """Votes as probabilities; 0 where no neighbour votes."""
    total = counted.sum(axis=1, keepdims=True)
    return counted / np.where(total == 0.0, 1.0, total)


def means(y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The mean target of the neighbours, (n_queries × outputs), from their targets (n_queries × k × outputs).

    >>> means(np.array([[[1.0], [4.0]]]), np.array([[2.0, 1.0]]))
    array([[2.]])
    """
    if weights is None:
        return y.mean(axis=1)
    return (y * weights[:, :, None]).sum(axis=1) / weights.sum(axis=1)[:, None]


def radius_means(y: np.ndarray, found: Neighborhoods, weights: np.ndarray | None) -> np.ndarray:
    """The same for the neighbours within a radius, from the targets of all training rows; NaN where there is none."""
    out = np.full((found.counts.size, y.shape[1]), np.nan)
    some = np.flatnonzero(found.counts)
    if not some.size:
        return out
    starts = found.starts[some]
    total = found.counts[some] if weights is None else np.add.reduceat(weights, starts)
    for j in range(y.shape[1]):
        values = y[found.indices, j] if weights is None else y[found.indices, j] * weights
        part = np.full(some.size, np.nan)
        np.divide(np.add.reduceat(values, starts), total, part, where=total > 0)
        out[some, j] = part
    return out
