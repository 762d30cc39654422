"""Shapley values of any function of a row: by definition for few columns, by drawn orders for more.

The value of a set S of columns is the mean of the function over rows that have the explained row's cells in S and those
of a background row elsewhere. The Shapley value of column j is the mean, over all orders of the columns, of the change
when j is added to those before it. Together with the mean over the background, the baseline, they add up to the
function's value.

Orders are drawn with their reverses: what is convex in one is concave in the other, so that much of the noise cancels
(antithetic pairs). What background rows do by each of their cells alone is known, and taken out. All rows have the same
orders and background rows, so that a row's values do not depend on the others.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.random import generator

Predict = Callable[[np.ndarray], np.ndarray]

MOST_SUBSETS = 1 << 16  # of columns, that are gone through one by one
_FEWEST, _MOST = 4, 64  # pairs of orders where their number is not given
_WORK = 300_000  # rows that are predicted for all values together, about, where more pairs are possible
_AT_ONCE = 1 << 14  # rows predicted at a time


class ShapleyValues(NamedTuple):
    """What every column adds, the baseline, and how far the values may be from those of infinitely many orders."""

    values: np.ndarray  # (n, columns) or (n, columns, outputs)
    baseline: np.ndarray  # a number, or one an output
    standard_error: np.ndarray | None  # as values; None where they are exact


def shapley_exact(
    predict: Predict, X: np.ndarray, background: np.ndarray, *, owner: np.ndarray | None = None
) -> ShapleyValues:
    """Shapley values by their definition: every subset of the columns, every row of the background.

    Parameters
    ----------
    predict : function of an array of m rows that gives m numbers, or m rows of numbers.
    X : array of shape (n, d)
        The rows to explain.
    background : array of shape (b, d)
        Rows that stand for cells that are not known.
    owner : array of shape (d,) or None
        The number of the player that each column belongs to: columns of one player are known together. None: each
        column is one.

    Examples
    --------
    >>> found = shapley_exact(lambda rows: rows[:, 0] * rows[:, 1], np.array([[2.0, 3.0]]), np.array([[0.0, 1.0]]))
    >>> found.values, found.baseline
    (array([[4., 2.]]), array(0.))
    """
    owner, players, width = _players(X, owner)
    p = len(players)
    if 2**p > MOST_SUBSETS:
        raise ValueError(
            f"Exact Shapley values of {p} columns need {2**p:,} subsets; use shapley_sampled, or explain fewer columns."
        )
    bits = np.arange(2**p)[:, None] >> np.arange(p) & 1
    known = bits.astype(bool)[:, np.searchsorted(players, owner)]
    worth: Any = []
    for subset in known:
        found = _predicted(predict, X, background, np.repeat(subset[None], len(background), axis=0), None)
        worth.append(found.mean(axis=0))
    worth = np.array(worth)
    values = np.zeros((len(X), width, worth.shape[2]))
    sizes = bits.sum(axis=1)
    weight = np.array([factorial(s) * factorial(p - s - 1) / factorial(p) for s in range(p)] + [0.0])
    for j, player in enumerate(players):
        without = np.flatnonzero(bits[:, j] == 0)
        gained = worth[without + (1 << j)] - worth[without]
        values[:, player] = np.tensordot(weight[sizes[without]], gained, axes=1)
    return _shaped(predict, X, values, worth[0].mean(axis=0), None)


def shapley_sampled(
    predict: Predict,
    X: np.ndarray,
    background: np.ndarray,
    *,
    owner: np.ndarray | None = None,
    n_pairs: int | None = None,
    random_state: Any = 0,
) -> ShapleyValues:
    """Shapley values from drawn orders of the columns, with a standard error; they add up to the prediction exactly.

    Parameters
    ----------
    predict : function of an array of m rows that gives m numbers, or m rows of numbers.
    X : array of shape (n, d)
        The rows to explain.
    background : array of shape (b, d)
        Rows that stand for cells that are not known. Their mean prediction is the baseline.
    owner : array of shape (d,) or None
        The number of the player that each column belongs to: columns of one player are known together.
    n_pairs : int or None
        Pairs of an order and its reverse. None: from 4 for many rows to 64 for few; and where going through all subsets
        of the columns is no more work than that, the values are exact and have no standard error.
    random_state : int, RandomState, Generator or None, default=0

    Returns
    -------
    ShapleyValues
        `values` (n, columns), or (n, columns, outputs); `baseline`; `standard_error` as `values`, or None.

    Examples
    --------
    >>> rows, background = np.array([[1.0, 2.0, 3.0]]), np.zeros((5, 3))
    >>> found = shapley_sampled(lambda X: X[:, 0] + X[:, 1] * X[:, 2], rows, background, n_pairs=20)
    >>> found.values.round(6)
    array([[1., 3., 3.]])
    """
    owner, players, width = _players(X, owner)
    n, p = len(X), len(players)
    if n_pairs is not None and n_pairs < 2:
        raise ValueError(f"n_pairs must be at least 2, so that there is a standard error; it is {n_pairs}.")
    pairs = n_pairs or int(np.clip(_WORK // max(2 * n * p, 1), _FEWEST, _MOST))
    if p <= 1 or (n_pairs is None and 2**p * len(background) <= max(2 * pairs * (p - 1), 1)):
        return shapley_exact(predict, X, background, owner=owner)
    random = generator(random_state)
    turns = random.permutation(len(background))
    drawn = turns[np.arange(pairs) % len(background)]
    orders = np.array([random.permutation(p) for _ in range(pairs)])
    here, there = _matrix(predict(X)), _matrix(predict(background))
    level = _background_effects(predict, background, owner, players, 2 * pairs * (p - 1))[drawn]
    mean = np.zeros((n, p, here.shape[1]))
    squares = np.zeros_like(mean)
    together = max(1, _AT_ONCE // max(2 * n * (p - 1), 1))
    for start in range(0, pairs, together):
        some = np.arange(start, min(start + together, pairs))
        for k, gained in zip(some, _gains(predict, X, background, orders[some], drawn[some], owner, players, here)):
            gained = gained + level[k]
            off = gained - mean
            mean += off / (k + 1)
            squares += off * (gained - mean)
    variance = squares / (pairs * (pairs - 1))
    baseline = there.mean(axis=0)
    # The sum is known: what the drawn background rows are off goes to the columns in proportion to their variances.
    rest = here - baseline - mean.sum(axis=1)
    share = np.where(variance.sum(axis=1, keepdims=True) > 0, variance, 1.0)
    mean += rest[:, None, :] * share / share.sum(axis=1, keepdims=True)
    values, error = np.zeros((n, width, here.shape[1])), np.zeros((n, width, here.shape[1]))
    values[:, players], error[:, players] = mean, np.sqrt(variance)
    return _shaped(predict, X, values, baseline, error)


def _players(X: np.ndarray, owner: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, int]:
    """The player of each column, the different ones, and one more than the last."""
    owner = np.arange(X.shape[1]) if owner is None else np.asarray(owner)
    if owner.shape != (X.shape[1],):
        raise ValueError(
            f"owner has shape {owner.shape}; X has {X.shape[1]} columns, and each needs the number of one."
        )
    return owner, np.unique(owner), int(owner.max(initial=-1)) + 1


def _background_effects(
    predict: Predict, background: np.ndarray, owner: np.ndarray, players: np.ndarray, work: int
) -> np.ndarray:
    """What each background row's cell of each player does by itself, less its mean: (b, players, outputs).

    Of an additive function that is all by which values differ from one background row to the next; added to the gains
    it takes that noise away, and as its mean is 0 it changes nothing else.
    """
    b, p = len(background), len(players)
    some = max(1, min(8, b, work // max(b * p, 1)))
    others = background[np.linspace(0, b - 1, some).astype(np.int64)]
    known = np.repeat(owner[None] != players[:, None], b, axis=0)
    found = _predicted(predict, others, background, known, np.tile(np.arange(b), p)).mean(axis=1)
    found = found.reshape(p, b, -1).transpose(1, 0, 2)
    return found - found.mean(axis=0)


def _gains(
    predict: Predict,
    X: np.ndarray,
    background: np.ndarray,
    orders: np.ndarray,
    drawn: np.ndarray,
    owner: np.ndarray,
    players: np.ndarray,
    here: np.ndarray,
) -> list[np.ndarray]:
    """For each order, what every player added in it and in its reverse, on average: (n, players, outputs)."""
    p = len(players)
    both = np.concatenate([orders, orders[:, ::-1]], axis=1).reshape(-1, p)  # an order, then its reverse
    place = np.argsort(both, axis=1)
    known = place[:, None, :] < np.arange(1, p)[None, :, None]  # the first k of an order, for each k
    known = known.reshape(-1, p)[:, np.searchsorted(players, owner)]
    rows = np.repeat(drawn, 2 * (p - 1))
    found = _predicted(predict, X, background, known, rows).reshape(len(both), p - 1, len(X), -1)
    starts = _matrix(predict(background[drawn]))
    out = []
    for k in range(len(orders)):
        total = 0.0
        for m in (2 * k, 2 * k + 1):
            first = np.broadcast_to(starts[k], (1, *here.shape))
            steps = np.diff(np.concatenate([first, found[m], here[None]]), axis=0)
            total = total + steps[place[m]] / 2.0
        out.append(np.moveaxis(np.asarray(total), 0, 1))
    return out


def _predicted(
    predict: Predict, X: np.ndarray, background: np.ndarray, known: np.ndarray, rows: np.ndarray | None
) -> np.ndarray:
    """(masks, n, outputs): the function where the cells of mask k are X's, and elsewhere those of background row k."""
    rows = np.arange(len(known)) if rows is None else rows
    step = max(1, _AT_ONCE // max(len(X), 1))
    parts = []
    for start in range(0, len(known), step):
        some = slice(start, start + step)
        mixed = np.where(known[some, None, :], X[None], background[rows[some], None, :])
        parts.append(_matrix(predict(mixed.reshape(-1, X.shape[1]))).reshape(len(mixed), len(X), -1))
    return np.concatenate(parts)


def _matrix(found: Any) -> np.ndarray:
    found = np.asarray(found, dtype=np.float64)
    return found[:, None] if found.ndim == 1 else found


def _shaped(
    predict: Predict, X: np.ndarray, values: np.ndarray, baseline: np.ndarray, error: np.ndarray | None
) -> ShapleyValues:
    """Without the axis of outputs where the function gives one number a row."""
    if np.ndim(predict(X[:1])) == 2:
        return ShapleyValues(values, baseline, error)
    return ShapleyValues(values[:, :, 0], np.asarray(baseline[0]), None if error is None else error[:, :, 0])
