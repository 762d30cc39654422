"""Messages between rows (Frey and Dueck, 2007), damped by a share d of what they were before.

    responsibility   r(i, k) ← s(i, k) − max over j ≠ k of a(i, j) + s(i, j)
    availability     a(i, k) ← min(0, r(k, k) + Σ over j ≠ i, k of max(0, r(j, k))),   a(k, k) without r(k, k) and the 0

Both are updated in place, row by row, and one sum over each column is all that goes from a round to the next. The sums
are taken in the order of the rows on any number of threads, so that ties break as they do in scikit-learn's arithmetic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks

_CELLS = 1 << 18  # of a block of rows or columns


class Messages(NamedTuple):
    """Similarities, what rows have sent each other, and the sum of column k of the positive responsibilities."""

    S: np.ndarray
    A: np.ndarray
    R: np.ndarray
    total: np.ndarray


class Exemplars(NamedTuple):
    """Which rows stand for others, after how many rounds, and whether these were the last to change."""

    rows: np.ndarray
    n_iter: int
    settled: bool


@kernel(allocates=False, fuse=False)
def send(messages, lo, hi, damping, first):
    """Availabilities of some rows by the sums of the round before, but for a(k, k), then responsibilities."""
    S, A, R, total = messages
    n, new = S.shape[0], 1.0 - damping
    for i in range(lo, hi):
        s, a, r = S[i], A[i], R[i]
        if not first:
            own = a[i]
            for k in range(n):
                a[k] = a[k] * damping - max(max(r[k], 0.0) - total[k], 0.0) * new
            a[i] = own
        most, second, at = -np.inf, -np.inf, 0
        for k in range(n):
            value = a[k] + s[k]
            if value > second:
                if value > most:
                    most, second, at = value, most, k
                else:
                    second = value
        before = r[at]
        for k in range(n):
            r[k] = r[k] * damping + (s[k] - most) * new
        r[at] = before * damping + (s[at] - second) * new


@kernel(allocates=False, fuse=False)
def add_columns(messages, lo, hi):
    """Sums of the positive responsibilities in some columns; r(k, k) whatever its sign."""
    R, total = messages.R, messages.total
    for k in range(lo, hi):
        total[k] = 0.0
    for i in range(R.shape[0]):
        for k in range(lo, hi):
            total[k] += max(R[i, k], 0.0)
        if lo <= i < hi and R[i, i] < 0.0:
            total[i] += R[i, i]


def exemplars(S: np.ndarray, damping: float, max_iter: int, convergence_iter: int, loop: Any) -> Exemplars:
    """Exchange messages until the same rows have been exemplars for some rounds."""
    n = len(S)
    messages = Messages(S, np.zeros((n, n)), np.zeros((n, n)), np.zeros(n))
    grain = max(1, _CELLS // n)
    own_a, own_r = (np.einsum("ii->i", M) for M in (messages.A, messages.R))  # views of the diagonals
    chosen = np.zeros((convergence_iter, n), dtype=bool)
    for n_iter in range(max_iter):
        for_blocks(lambda lo, hi: send(messages, lo, hi, damping, n_iter == 0), n, grain=grain)  # noqa: B023
        for_blocks(lambda lo, hi: add_columns(messages, lo, hi), n, grain=grain)
        own_a *= damping
        own_a -= (own_r - messages.total) * (1.0 - damping)
        chosen[n_iter % convergence_iter] = own_a + own_r > 0
        found = chosen[n_iter % convergence_iter]
        ended = loop.step(f"{np.count_nonzero(found)} clusters")
        if n_iter >= convergence_iter and found.any() and (chosen == chosen[0]).all():
            return Exemplars(np.flatnonzero(found), n_iter + 1, True)
        if ended:
            break
    return Exemplars(np.flatnonzero(found), n_iter + 1, False)


def refined(S: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each exemplar's cluster the row most similar to all others, and the number of each row's exemplar."""
    near = _nearest(S, rows)
    best = rows.copy()
    for k in range(len(rows)):
        members = np.flatnonzero(near == k)
        best[k] = members[S[np.ix_(members, members)].sum(axis=0).argmax()]
    labels = best[_nearest(S, best)]
    kept = np.unique(labels)
    return kept, np.searchsorted(kept, labels)


def _nearest(S: np.ndarray, rows: np.ndarray) -> np.ndarray:
    near = S[:, rows].argmax(axis=1)
    near[rows] = np.arange(len(rows))
    return near


def without_ties(S: np.ndarray, random: np.random.RandomState) -> None:
    """Add noise of the size of a rounding error, row by row, in the order of scikit-learn's draws."""
    kind, n = np.finfo(S.dtype), len(S)
    step = max(1, _CELLS // n)
    for lo in range(0, n, step):
        part = S[lo : lo + step]
        part += (kind.eps * part + kind.tiny * 100) * random.standard_normal(part.shape)
