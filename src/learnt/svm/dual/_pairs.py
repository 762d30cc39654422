"""Many classes as pairs of two: votes, decision values, and probabilities that agree with those of all pairs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from learnt.statistics import logistic


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """(0, 1), (0, 2), …, (1, 2), …"""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


class PairIndex(NamedTuple):
    """Columns of pairs: sorted by their first class, as they are, and by their second."""

    first: np.ndarray  # (p,)
    second: np.ndarray  # (p,)
    begin: np.ndarray  # (k − 1,) where the pairs of each first class begin
    by_second: np.ndarray  # (p,) columns sorted by their second class
    begin_second: np.ndarray  # (k − 1,) where the pairs of each second class begin among these


@lru_cache(maxsize=8)
def pair_index(n_classes: int) -> PairIndex:
    """The columns of all pairs of so many classes."""
    first, second = np.triu_indices(n_classes, 1)
    ranks = np.arange(n_classes - 1)
    begin = ranks * (n_classes - 1) - ranks * (ranks - 1) // 2
    return PairIndex(first, second, begin, np.argsort(second, kind="stable"), ranks * (ranks + 1) // 2)


def _sums_of(values: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the pairs that have each class first (all but the last), and second (all but the first)."""
    index = pair_index(n_classes)
    behind = np.add.reduceat(values[:, index.by_second], index.begin_second, axis=1)
    return np.add.reduceat(values, index.begin, axis=1), behind


def votes_of(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """How many pairs each class wins; a decision above 0 is for the first of its pair."""
    votes = np.zeros((len(decisions), n_classes))
    ahead, behind = _sums_of((decisions > 0).astype(np.float64), n_classes)
    votes[:, :-1] += ahead
    votes[:, 1:] += np.arange(1, n_classes) - behind
    return votes


def one_vs_rest(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """Votes, and within equal votes the sum of decision values, squeezed so that it never outweighs a vote."""
    votes, confidence = votes_of(decisions, n_classes), np.zeros((len(decisions), n_classes))
    ahead, behind = _sums_of(decisions, n_classes)
    confidence[:, :-1] += ahead
    confidence[:, 1:] -= behind
    return votes + confidence / (3 * (np.abs(confidence) + 1))


class PairCoefficients:
    """Coefficients of all pairs as a matrix (support vectors, pairs), most of which is 0: its products skip that.

    `coef` (n_classes − 1, support vectors) has those of each class against every other; support vectors of a class
    begin at `begin`.
    """

    __array_ufunc__ = None  # an array times this is for `__rmatmul__`

    def __init__(self, coef: np.ndarray, begin: np.ndarray) -> None:
        self.coef, self.begin = coef, begin
        k = len(begin) - 1
        self.index = pair_index(k)
        self.shape = (coef.shape[1], k * (k - 1) // 2)

    def __rmatmul__(self, P: np.ndarray) -> np.ndarray:
        spans = list(zip(self.begin[:-1].tolist(), self.begin[1:].tolist()))
        parts = np.stack([P[:, lo:hi] @ self.coef[:, lo:hi].T for lo, hi in spans])  # (classes, rows, classes − 1)
        first, second = self.index.first, self.index.second
        return (parts[first, :, second - 1] + parts[second, :, first]).T

    def dense(self) -> np.ndarray:
        """The matrix itself."""
        out = np.zeros(self.shape)
        for column, (i, j) in enumerate(zip(self.index.first, self.index.second)):
            out[self.begin[i] : self.begin[i + 1], column] = self.coef[j - 1, self.begin[i] : self.begin[i + 1]]
            out[self.begin[j] : self.begin[j + 1], column] = self.coef[i, self.begin[j] : self.begin[j + 1]]
        return out


def matrix_of(coefficients: Any) -> np.ndarray:
    """Coefficients as an array."""
    return coefficients.dense() if isinstance(coefficients, PairCoefficients) else coefficients


def pair_probabilities(decisions: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The probability of the first class of every pair, kept off 0 and 1."""
    return np.clip(1 - logistic(A * decisions + B), 1e-7, 1 - 1e-7)


def couple(pair: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities p of all classes whose pairs are nearest to the given ones:

    min Σ over pairs of (r_ji p_i − r_ij p_j)².

    The minimum with Σp = 1 solves one small linear system for each row.
    """
    n = len(pair)
    if n_classes == 2:
        return np.column_stack([pair[:, 0], 1 - pair[:, 0]])
    r, index = np.zeros((n, n_classes, n_classes)), pair_index(n_classes)
    r[:, index.first, index.second], r[:, index.second, index.first] = pair, 1 - pair
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    Q = -r * r.transpose(0, 2, 1)
    diagonal = (r**2).sum(axis=1)  # Σ over s of r_st², for each t
    Q[:, np.arange(n_classes), np.arange(n_classes)] = diagonal
    system[:, :n_classes, :n_classes] = Q
    system[:, :n_classes, n_classes] = system[:, n_classes, :n_classes] = 1.0
    right = np.zeros((n, n_classes + 1, 1))
    right[:, n_classes] = 1.0
    p = np.linalg.solve(system, right)[:, :n_classes, 0]
    p = np.maximum(p, 0.0)
    return p / p.sum(axis=1, keepdims=True)
