"""From neighbours to votes."""

from __future__ import annotations

from typing import Any

import numpy as np


def neighbor_weights(distances: np.ndarray, weights: Any) -> np.ndarray | None:
    """What each neighbour's vote counts; None where all count the same.

    By distance, 1 / distance; where some neighbours are at distance 0, these alone vote.

    >>> neighbor_weights(np.array([[1.0, 2.0], [0.0, 2.0]]), "distance")
    array([[1. , 0.5],
           [1. , 0. ]])
    """
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        return None
    if not isinstance(weights, str):
        values = np.asarray(weights(distances), dtype=np.float64)
    else:
        with np.errstate(divide="ignore"):
            values = 1.0 / distances
        infinite = np.isinf(values)
        rows = infinite.any(axis=1)
        values[rows] = infinite[rows]
    if not values.any(axis=1).all():
        raise ValueError(
            "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if you "
            "are using a user-defined function."
        )
    return values


def votes(codes: np.ndarray, n_classes: int, weights: np.ndarray | None) -> np.ndarray:
    """The weight of the votes for each class, (n_queries × n_classes), from the neighbours' classes (n_queries × k).

    >>> votes(np.array([[0, 2, 2]]), 3, None)
    array([[1., 0., 2.]])
    """
    n = codes.shape[0]
    flat = (codes + n_classes * np.arange(n)[:, None]).ravel()
    counted = np.bincount(flat, None if weights is None else weights.ravel(), n * n_classes)
    return counted.reshape(n, n_classes).astype(np.float64, copy=False)


def shares(counted: np.ndarray) -> np.ndarray:
    """Votes as probabilities."""
    return counted / counted.sum(axis=1, keepdims=True)
