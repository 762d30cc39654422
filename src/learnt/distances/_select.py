"""The k smallest of each row, in order, and the first of equals first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Takes the answers of a block of queries, from several threads: (first query, last + 1, distances, indices).
Consume = Callable[[int, int, np.ndarray, np.ndarray], None]


def smallest(D: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest values of each row of D, ascending, and their columns; among equals the first columns.

    >>> smallest(np.array([[3.0, 1.0, 1.0, 0.0, 1.0]]), 3)
    (array([[0., 1., 1.]]), array([[3, 1, 2]]))
    """
    n = D.shape[1]
    if k >= n:
        index = np.argsort(D, axis=1, kind="stable")
        return np.take_along_axis(D, index, axis=1), index
    index = np.argpartition(D, k - 1, axis=1)[:, :k]
    values = np.take_along_axis(D, index, axis=1)
    worst = values.max(axis=1)
    for row in np.flatnonzero(np.count_nonzero(worst[:, None] >= D, axis=1) > k):  # a tie for the last place
        below = np.flatnonzero(D[row] < worst[row])
        ties = np.flatnonzero(D[row] == worst[row])[: k - below.size]
        index[row] = np.concatenate([below, ties])
    values = np.take_along_axis(D, index, axis=1)
    return in_order(values, index)


def in_order(values: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row sorted by (value, index)."""
    order = np.lexsort((index, values), axis=1)
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(index, order, axis=1)
