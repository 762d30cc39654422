"""The number of neighbours by leave-one-out: one search gives the errors of every k."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from learnt.distances import Search
from learnt.engine.random import stream
from learnt.neighbors._vote import neighbor_weights

_ROWS = 5000  # left out at most, each by all other rows
_BLOCK = 500  # of them at a time
_FEWEST = 50  # the largest k that is tried where rows are few


def largest_k(n: int) -> int:
    """The largest k that is tried: 4 √n, so that k grows and k / n falls with more rows.

    >>> largest_k(10), largest_k(1000), largest_k(100_000)
    (9, 126, 1264)
    """
    return max(1, min(n - 1, max(_FEWEST, int(4 * np.sqrt(n)))))


def error_rates(
    search: Search, codes: np.ndarray, sizes: list[int], weights: Any, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """For k = 1, 2, …: the share of rows whose class the k nearest others miss, and the squared error of shares."""
    wrong, squares, count = 0.0, 0.0, 0
    for rows, distances, index in _left_out(search, n_jobs):
        missed, gaps = np.zeros(index.shape), np.zeros(index.shape)
        for j, size in enumerate(sizes):
            truth = codes[rows, j]
            for k, shares in _shares(codes[index, j], size, distances, weights):
                missed[:, k] += shares.argmax(axis=1) != truth
                own = np.take_along_axis(shares, truth[:, None], axis=1)[:, 0]
                gaps[:, k] += np.sum(shares**2, axis=1) - 2.0 * own + 1.0
        wrong, squares, count = wrong + missed.sum(axis=0), squares + gaps.sum(axis=0), count + len(rows) * len(sizes)
    return np.asarray(wrong) / count, np.asarray(squares) / count


def squared_errors(search: Search, y: np.ndarray, weights: Any, n_jobs: int | None) -> np.ndarray:
    """For k = 1, 2, …: the mean squared error of the mean of the k nearest others, each output over its variance."""
    total, count = 0.0, 0
    spread = y.var(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    for rows, distances, index in _left_out(search, n_jobs):
        gaps = np.zeros(index.shape)
        for k, mean in _means(y[index], distances, weights):
            gaps[:, k] = ((mean - y[rows]) ** 2 / unit).mean(axis=1)
        total, count = total + gaps.sum(axis=0), count + len(rows)
    return np.asarray(total) / count


def _left_out(search: Search, n_jobs: int | None) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Blocks of rows, with distances and indices of their nearest others."""
    n = search.points.shape[0]
    k = largest_k(n)
    chosen = np.arange(n) if n <= _ROWS else np.sort(stream(0, n).choice(n, _ROWS, replace=False))
    for lo in range(0, chosen.size, _BLOCK):
        rows = chosen[lo : lo + _BLOCK]
        distances, index = search.nearest(search.points[rows], k + 1, n_jobs=n_jobs)
        own = index == rows[:, None]
        own[~own.any(axis=1), -1] = True  # equal rows come before it: leave out the last instead
        yield rows, distances[~own].reshape(len(rows), k), index[~own].reshape(len(rows), k)


def _weights_of_all(distances: np.ndarray, weights: Any) -> np.ndarray | None:
    """Weights of neighbours that do not depend on k; None where a user's function needs the k distances."""
    if callable(weights):
        return None
    found = neighbor_weights(distances, weights)
    return np.ones(distances.shape) if found is None else found


def _shares(codes: np.ndarray, size: int, distances: np.ndarray, weights: Any) -> Iterator[tuple[int, np.ndarray]]:
    """The shares of the classes among the first 1, 2, … neighbours."""
    m, most = codes.shape
    fixed, rows = _weights_of_all(distances, weights), np.arange(m)
    counted = np.zeros((m, size))
    for k in range(most):
        if fixed is None:
            given = neighbor_weights(distances[:, : k + 1], weights)
            counted = np.zeros((m, size))
            np.add.at(counted, (rows[:, None], codes[:, : k + 1]), given)  # type: ignore[arg-type]
        else:
            counted[rows, codes[:, k]] += fixed[:, k]
        yield k, counted / counted.sum(axis=1, keepdims=True)


def _means(y: np.ndarray, distances: np.ndarray, weights: Any) -> Iterator[tuple[int, np.ndarray]]:
    """The mean targets of the first 1, 2, … neighbours."""
    fixed = _weights_of_all(distances, weights)
    total, weight = np.zeros(y[:, 0].shape), np.zeros((y.shape[0], 1))
    for k in range(distances.shape[1]):
        if fixed is None:
            given = neighbor_weights(distances[:, : k + 1], weights)[:, :, None]  # type: ignore[index]
            total, weight = (y[:, : k + 1] * given).sum(axis=1), given.sum(axis=1)
        else:
            total, weight = total + y[:, k] * fixed[:, k, None], weight + fixed[:, k, None]
        yield k, total / weight
