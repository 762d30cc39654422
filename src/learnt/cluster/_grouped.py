"""Lloyd's algorithm for dense rows and many centres: a lower bound for every row and group of centres.

    Y. Ding, Y. Zhao, X. Shen, M. Musuvathi and T. Mytkowicz, "Yinyang k-means", ICML 2015.

With many centres one lower bound for all of them (`_bounded.py`) is lost as soon as one centre moves far. Here rows are
compared with those groups alone whose own bound does not settle them, in single precision; rows that this leaves open
are settled as in `_bounded.py`, so that the labels are those of the plain algorithm.

With 200,000 rows in 32 dimensions and 1,000 centres, six passes compute as many distances as 2.8 full ones, and as 4.9
with one bound. On a Neoverse-N1 (arm64) a fit takes 1.9 seconds of processor time, and with one bound and BLAS 3.2.
"""

from __future__ import annotations

import numpy as np

from learnt.cluster import _group_kernels
from learnt.cluster._bounded import FAR_OUT, DenseLloyd, room_for, settle
from learnt.cluster._group_kernels import Errors, Groups, Room
from learnt.cluster._group_products import STEP, AtOnce, at_once
from learnt.cluster._kernels import DOWN, Found, Moves, View

# From which groups are worth their bounds, and multiplications of a pass from which they are worth what they compile.
FEWEST_CENTERS, LEAST_WORK = 128, 10**9
_BOUNDS_PER_FEATURE = 4  # at most: twice the memory of rows in double precision
_ROOM_ROWS, _ROOM_CELLS = 1024, 1 << 16


def group_span(k: int, d: int, width: int) -> int:
    """Tables of so many centres in a group, so that the bounds of a row take at most twice the memory of the row.

    >>> group_span(1000, 32, 16), group_span(1000, 2, 16), group_span(10**5, 32, 16)
    (1, 8, 49)
    """
    return -(-k // (width * _BOUNDS_PER_FEATURE * d))


def near_order(centers: np.ndarray, size: int) -> np.ndarray:
    """The centres in an order in which every `size` of them, one after another, lie near each other.

    Halved again and again at the median of the column with the largest variance.

    >>> near_order(np.array([[0.0], [9.0], [1.0], [8.0], [4.0]]), 2).tolist()
    [0, 2, 4, 3, 1]
    """
    order = np.arange(len(centers))
    parts = [(0, -(-len(centers) // size))]
    while parts:
        first, last = parts.pop()
        if last - first > 1:
            some = order[first * size : last * size]
            column = centers[some, centers[some].var(axis=0).argmax()]
            some[:] = some[np.argsort(column, kind="stable")]
            middle = (first + last) // 2
            parts += [(first, middle), (middle, last)]
    return order


def group(v: View, size: int, span: int) -> Groups:
    """The centres in groups of at most `size`, `span` tables each, before any has moved."""
    k = len(v.scaled)
    owners = near_order(v.scaled, size).astype(np.int32)
    places = np.empty(k, dtype=np.int32)
    places[owners] = np.arange(k, dtype=np.int32)
    nothing = np.empty((1, 0, size // span), dtype=np.float32)
    return Groups(nothing, nothing[0], places, owners, np.zeros(-(-k // size), dtype=np.float32), span)


def tabulate(groups: Groups, v: View) -> Groups:
    """The same groups, with tables of the centres where they are now."""
    (k, d), n_tables, width = v.scaled.shape, len(groups.drift) * groups.span, groups.table.shape[2]
    wide = np.zeros((n_tables * width, -(-d // STEP) * STEP), dtype=np.float32)
    wide[:k, :d] = v.minus2[groups.owners]
    extra = np.full(n_tables * width, np.inf, dtype=np.float32)
    extra[:k] = v.extra[groups.owners]
    table = np.ascontiguousarray(wide.reshape(n_tables, width, -1).transpose(0, 2, 1))
    return groups._replace(table=table, extra=extra.reshape(n_tables, width))


def rounding(v: View) -> Errors:
    """As `_bounded.view` has it, with room for sums that are rounded to single precision again."""
    unit, d = float(np.finfo(np.float32).eps) / 2, v.scaled.shape[1]
    product, norm = unit * (2 * d + 24) * v.radius, unit * 16
    return Errors(np.float32(product), np.float32(norm), np.float32(norm * v.radius**2 + 1e-30))


def room(d: int, together: AtOnce) -> Room:
    """Room for some rows of d features."""
    wide = -(-d // STEP) * STEP
    n, (step, width) = max(16, min(_ROOM_ROWS, _ROOM_CELLS // wide)), together
    best, reach, limit, second, low, slack, norms, lengths, now = np.empty((9, n), dtype=np.float32)
    scores, least = np.empty((n + step, width), dtype=np.float32), np.empty(n + step, dtype=np.float32)
    numbers, listed, close = np.empty((3, n + step), dtype=np.uint32)
    return Room(
        np.zeros((n, wide), dtype=np.float32), numbers, best, np.empty(n, dtype=np.int32), reach, limit, second, low,
        slack, norms, lengths, now, listed, scores, least, close, step,
    )  # fmt: skip


class GroupedLloyd(DenseLloyd):
    """Dense rows in memory and many centres."""

    def __init__(self, X: np.ndarray, weights: np.ndarray | None, origin: np.ndarray, scale: float, k: int) -> None:
        super().__init__(X, weights, origin, scale, k, copy=True)
        self.together = at_once()  # asked for once: LLVM takes half a millisecond to name the processor's features
        self.span = group_span(k, self.d, self.together.centers)
        self.size = self.together.centers * self.span
        self.bounds = np.empty((-(-k // self.size), self.n), dtype=np.float32)
        self._groups: Groups | None = None
        self._first = True

    def start(self) -> None:
        super().start()
        self.bounds[:] = -np.inf
        self._groups, self._first = None, True

    def _prepare(self, v: View, moved: Moves) -> None:
        """Groups are formed at the first pass; rows or centres that are too far out for single precision have none."""
        if self._first:
            self._groups, self._first = group(v, self.size, self.span), False
        if self._groups is not None:
            most = np.maximum.reduceat(moved.shift[self._groups.owners], np.arange(0, self.k, self.size))
            drift = np.nextafter(self._groups.drift + most, np.float32(np.inf))
            safe = v.minus2.dtype == np.float32 and self.in_scale and v.radius**2 < FAR_OUT
            self._groups = tabulate(self._groups._replace(drift=drift), v) if safe else None

    def _settle(
        self, lo: int, rows: np.ndarray, W: np.ndarray, norms: np.ndarray, v: View, moved: Moves
    ) -> tuple[np.ndarray, Found, int]:
        if self._groups is None:
            return super()._settle(lo, rows, W, norms, v, moved)
        hi, groups, errors = lo + self.lane, self._groups, rounding(v)
        labels, upper, lower = self.labels[lo:hi], self.upper[lo:hi], self.lower[lo:hi]
        best = np.empty(rows.size, dtype=np.float32)
        rows = rows[: _group_kernels.tighten(rows, W, norms, v, errors, moved.half, labels, upper, lower, best)]
        found = room_for(rows.size)
        n_open = _group_kernels.settle_groups(
            rows, lo, W, norms, errors, groups, self.bounds, labels, upper, best, room(self.d, self.together), found
        )
        if n_open == 0:
            return rows, found, 0
        at = np.flatnonzero(found.label < 0)
        exact = room_for(n_open)
        evaluated = settle(W, norms, self.X[lo:hi], rows[at], v, exact)
        for values, settled in zip(found, exact):
            values[at] = settled
        self.bounds[:, lo + rows[at]] = (exact.below + groups.drift[:, None]) * DOWN
        return rows, found, evaluated
