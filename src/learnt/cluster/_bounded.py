"""Lloyd's algorithm for arrays in memory, with distances left out that cannot matter (Hamerly's bounds).

    G. Hamerly, "Making k-means even faster", SDM 2010.

Rows that the bounds do not settle are gathered into matrix products in single precision; what single precision does
not settle is compared in double. The labels are those of the plain algorithm, to the last row. Rows are cut into lanes
whose size depends on the data alone and whose sums are added in order: any number of threads gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.cluster import _kernels
from learnt.cluster._kernels import Found, Moves, Tile, View
from learnt.cluster._lloyd import Sums, farthest_rows
from learnt.cluster._sums import cluster_sums
from learnt.distances import round_rows
from learnt.engine.arrays import is_numpy
from learnt.engine.kernel import compilation_enabled
from learnt.engine.rows.blocks import Block
from learnt.engine.threads import for_blocks

# Multiplications in one assignment from which compiled code is worth loading.
COMPILED_WORK = 500_000
_LANES = 64
_FEWEST_ROWS = 8192
_SOME_CENTERS = 128
_NO_WEIGHTS = np.empty(0)
FAR_OUT = 1e12  # in squares of the scale


def lane_rows(n_rows: int, n_features: int, k: int) -> int:
    """Rows in a lane: at most 64 lanes of one length, each long enough to outweigh its k sums and the calls it takes.

    >>> lane_rows(10**5, 2, 8), lane_rows(10**5, 30, 8), lane_rows(10**7, 30, 8)
    (25000, 8334, 156250)
    """
    some = _FEWEST_ROWS * (3 if n_features * k <= 64 else 2 if n_features <= 8 else 1)
    lanes = min(_LANES, max(1, round(n_rows / some)))
    return max(8 * k, -(-n_rows // lanes))


def no_moves(k: int) -> Moves:
    """For rows that have no label yet."""
    return Moves(np.zeros(k, np.float32), np.zeros(k, np.float32), np.float32(0), 0, np.float32(0))


def moves(distances: np.ndarray, new: np.ndarray, norms: np.ndarray, n_rows: int) -> Moves:
    """Shifts of the centres by these distances to where they are now, with their squared norms; and half the distance
    of each to its nearest fellow (left out where it costs too much).
    """
    k = new.shape[0]
    shift = (distances * (1 + 1e-6)).astype(np.float32)
    shift = np.nextafter(shift, np.float32(np.inf))
    most_at = int(shift.argmax())
    others = np.delete(shift, most_at)
    half = np.full(k, np.inf, np.float32) if k == 1 else np.zeros(k, np.float32)
    if 1 < k <= max(64, n_rows // 16):
        half = (0.5 * (1 - 1e-6) * np.sqrt(np.maximum(_squares_between(new, norms), 0.0))).astype(np.float32)
    return Moves(shift, half, shift[most_at], most_at, others.max() if others.size else np.float32(0))


def _squares_between(centers: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """The squared distance of each centre to its nearest fellow, less what rounding may do."""
    least, minus2 = norms * (1 - 1e-13 * (centers.shape[1] + 8)), -2.0 * centers.T

    def some(lo: int, hi: int) -> np.ndarray:
        between = centers[lo:hi] @ minus2
        between += least
        between[np.arange(hi - lo), np.arange(lo, hi)] = np.inf
        return between.min(axis=1) + least[lo:hi]

    k = len(centers)
    return some(0, k) if k <= _SOME_CENTERS else np.concatenate(for_blocks(some, k, grain=_SOME_CENTERS))


def view(centers: np.ndarray, origin: np.ndarray, scale: float, dtype: Any) -> View:
    """The constants bound the rounding of ‖c‖² − 2 x·c by  product_error ‖x‖ radius + norm_error (‖x‖² + radius²)."""
    k, d = centers.shape
    scaled = (centers - origin) * scale
    norms = np.einsum("ij,ij->i", scaled, scaled)
    wide = -(-k // 4) * 4
    minus2 = np.zeros((wide, d), dtype=dtype)
    minus2[:k] = scaled
    minus2 *= -2
    extra = np.full(wide, np.inf, dtype=dtype)
    extra[:k] = norms
    unit = float(np.finfo(dtype).eps) / 2
    return View(centers, scaled, minus2, extra, float(np.sqrt(norms.max())), unit * (2 * d + 12), unit * 4)


def work_rows(X: np.ndarray, origin: np.ndarray, scale: float, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """W = (X − origin) · scale, rounded, and the squared norms of its rows."""
    W, norms = np.empty(X.shape, dtype=dtype), np.empty(X.shape[0], dtype=dtype)
    round_rows(X, origin, scale, W, norms)
    return W, norms


def scale_of(spread: float) -> float:
    """The power of two that brings a root mean square to about 1, so that squares neither overflow nor underflow.

    >>> scale_of(8.0), scale_of(0.0)
    (0.125, 1.0)
    """
    return 1.0 if not 0 < spread < np.inf else 2.0 ** -int(np.clip(round(float(np.log2(spread))), -1000, 1000))


# BLAS takes a slow code path for products of under a million multiplications; a tile should stay in the core's cache.
_TILE_ROWS, _TILE_WORK, _TILE_CELLS = 1024, 4_800_000, 1 << 17


def room_for(n_rows: int) -> Found:
    """Room for what is found of some rows."""
    above, below = np.empty((2, n_rows), dtype=np.float32)
    return Found(np.empty(n_rows, dtype=np.int32), above, below)


def settle(W: np.ndarray, norms: np.ndarray, X: np.ndarray, rows: np.ndarray, v: View, found: Found) -> int:
    """Nearest centres of the listed rows and bounds on the distances; how many were computed exactly."""
    wide, d = v.minus2.shape
    most = max(16, min(max(_TILE_ROWS, _TILE_WORK // (wide * d)), _TILE_CELLS // wide))
    width = -(-rows.size // max(1, -(-rows.size // most)))  # tiles of one size, for the last is computed whole
    best, second = np.empty((2, width), dtype=W.dtype)
    gathered, scores = np.empty((width, d), dtype=W.dtype), np.empty((wide, width), dtype=W.dtype)
    tile = Tile(gathered, scores, best, second, np.empty(width, dtype=np.int32))
    return _kernels.settle(W, norms, X, rows, v, tile, np.empty(d), found) if rows.size else 0


class Kept:
    """Labels, bounds and sums of clusters that are kept from one assignment to the next."""

    sums: np.ndarray  # of rows, in a layout of the subclass's own
    mass: np.ndarray
    counts: np.ndarray

    def __init__(self, X: Any, weights: np.ndarray | None, origin: np.ndarray, scale: float, k: int) -> None:
        self.X, self.weights, self.origin, self.scale, self.k = X, weights, origin, scale, k
        self.n, self.d = X.shape
        self.lane = lane_rows(self.n, self.d, k)
        self.labels = np.empty(0, dtype=np.int32)
        self.upper = np.zeros(self.n, dtype=np.float32)
        self.lower = np.zeros(self.n, dtype=np.float32)
        self._last: np.ndarray | None = None

    def start(self) -> None:
        """Forget the last run."""
        self.labels = np.full(self.n, -1, dtype=np.int32)
        self.upper[:] = np.inf
        self._last = None
        self._forget_sums()

    def _forget_sums(self) -> None:
        self.sums[:] = 0.0
        self.mass[:] = 0.0
        self.counts[:] = 0

    def _weights(self, lo: int, hi: int) -> np.ndarray:
        return _NO_WEIGHTS if self.weights is None else self.weights[lo:hi]

    def finish(self, centers: np.ndarray) -> tuple[np.ndarray, float]:
        """Labels and inertia for the centres found."""
        self.assign(centers)
        parts = for_blocks(lambda lo, hi: self._weighted_error(centers, lo, hi), self.n, grain=self.lane)
        return self.labels, float(np.sum(parts))

    def _weighted_error(self, centers: np.ndarray, lo: int, hi: int) -> float:
        error = self._errors(centers, lo, hi)
        return float(error.sum() if self.weights is None else error @ self.weights[lo:hi])

    def farthest(self, centers: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The m rows with weight farthest from their centres: rows, weights, centres, squared distances."""
        error = np.concatenate(for_blocks(lambda lo, hi: self._errors(centers, lo, hi), self.n, grain=self.lane))
        index = farthest_rows(error, self.weights, m)
        rows = self.X[index]
        rows = rows.toarray() if hasattr(rows, "toarray") else rows.astype(np.float64)
        weights = np.ones(index.size) if self.weights is None else self.weights[index]
        return rows, weights, self.labels[index], error[index]

    def assign(self, centers: np.ndarray) -> Sums:
        raise NotImplementedError

    def _errors(self, centers: np.ndarray, lo: int, hi: int) -> np.ndarray:
        raise NotImplementedError


class DenseLloyd(Kept):
    """Dense rows. `copy` keeps the rounded rows W in memory; without it they are rounded as they are read."""

    def __init__(
        self, X: np.ndarray, weights: np.ndarray | None, origin: np.ndarray, scale: float, k: int, *, copy: bool
    ) -> None:
        super().__init__(X, weights, origin, scale, k)
        self.copy = copy
        n_lanes = -(-self.n // self.lane)
        self.sums = np.empty((n_lanes, k, self.d))
        self.mass = np.empty((n_lanes, k))
        self.counts = np.empty((n_lanes, k), dtype=np.int64)
        self.W = np.empty((0, self.d), dtype=np.float32)
        self.norms = np.empty(0, dtype=np.float32)
        self.use(np.float32)

    @property
    def in_scale(self) -> bool:
        """Whether no row is so far out that its squares might overflow; not known without a copy."""
        return bool(self.norms.size) and bool(self.norms.max() < FAR_OUT)

    def _totals(self, changed: int | None) -> Sums:
        return Sums(self.sums.sum(axis=0), self.mass.sum(axis=0), self.counts.sum(axis=0), changed)

    def use(self, dtype: Any) -> None:
        """Compute in this precision from now on."""
        self.dtype = dtype
        if not self.copy:
            return
        self.W = np.empty((self.n, self.d), dtype=dtype)
        self.norms = np.empty(self.n, dtype=dtype)

        def fill(lo: int, hi: int) -> None:
            round_rows(self.X[lo:hi], self.origin, self.scale, self.W[lo:hi], self.norms[lo:hi])

        for_blocks(fill, self.n, grain=self.lane)

    def assign(self, centers: np.ndarray) -> Sums:
        """One pass of Lloyd's algorithm, over the rows whose nearest centre may have changed."""
        v = view(centers, self.origin, self.scale, self.dtype)
        moved = self._moves(v.scaled)
        self._prepare(v, moved)

        def one(lo: int, hi: int) -> tuple[int, int]:
            if self.copy:
                W, norms = self.W[lo:hi], self.norms[lo:hi]
            else:
                W, norms = work_rows(self.X[lo:hi], self.origin, self.scale, self.dtype)
            X, lane = self.X[lo:hi], lo // self.lane
            labels, upper, lower = self.labels[lo:hi], self.upper[lo:hi], self.lower[lo:hi]
            rows = np.empty(hi - lo, dtype=np.int32)
            rows = rows[: _kernels.unsettled(labels, moved, upper, lower, rows)]
            rows, found, evaluated = self._settle(lo, rows, W, norms, v, moved)
            changed = _kernels.relabel(
                rows, *found, X, self.origin, self._weights(lo, hi), labels, upper, lower,
                (self.sums[lane], self.mass[lane], self.counts[lane]),
            )  # fmt: skip
            return changed, evaluated

        found = for_blocks(one, self.n, grain=self.lane)
        if self.dtype == np.float32 and sum(evaluated for _, evaluated in found) > self.n:
            self.use(np.float64)  # clusters too tight, or too far apart, for single precision to tell
        return self._totals(sum(changed for changed, _ in found))

    def _prepare(self, v: View, moved: Moves) -> None:
        """What a pass needs of the centres beside the view."""

    def _settle(
        self, lo: int, rows: np.ndarray, W: np.ndarray, norms: np.ndarray, v: View, moved: Moves
    ) -> tuple[np.ndarray, Found, int]:
        """Nearest centres of the listed rows of the lane from `lo` on, for those that had to be compared with others;
        how many distances were computed exactly.
        """
        found = room_for(rows.size)
        return rows, found, settle(W, norms, self.X[lo : lo + self.lane], rows, v, found)

    def _moves(self, scaled: np.ndarray) -> Moves:
        last, self._last = self._last, scaled
        if last is None:
            return no_moves(self.k)
        distances = np.sqrt(np.square(scaled - last).sum(axis=1))
        return moves(distances, scaled, np.einsum("ij,ij->i", scaled, scaled), self.n)

    def recount(self) -> Sums:
        """The sums again from the rows, without what differences have accumulated of rounding."""
        self._forget_sums()
        labels = self.labels
        self.labels = np.full(self.n, -1, dtype=np.int32)

        def one(lo: int, hi: int) -> None:
            lane, upper, lower = lo // self.lane, self.upper[lo:hi], self.lower[lo:hi]
            _kernels.relabel(
                np.arange(hi - lo, dtype=np.int32), labels[lo:hi], upper, lower, self.X[lo:hi], self.origin,
                self._weights(lo, hi), self.labels[lo:hi], upper, lower,
                (self.sums[lane], self.mass[lane], self.counts[lane]),
            )  # fmt: skip

        for_blocks(one, self.n, grain=self.lane)
        return self._totals(None)

    def _errors(self, centers: np.ndarray, lo: int, hi: int) -> np.ndarray:
        out = np.empty(hi - lo)
        _kernels.row_errors(self.X[lo:hi], centers, self.labels[lo:hi], out)
        return out


def _reach(centers: np.ndarray, origin: np.ndarray) -> float:
    """The size of the centres about the origin."""
    return float(np.abs(centers - origin).max())


def worth_compiling(X: Any, k: int) -> bool:
    """Whether these are rows for `dense_labels`."""
    return is_numpy(X) and X.size * k >= COMPILED_WORK and compilation_enabled()  # in this order: asking loads Numba


def dense_labels(X: np.ndarray, centers: np.ndarray, origin: np.ndarray, grain: int = _FEWEST_ROWS) -> np.ndarray:
    """The nearest centre of each of many rows, as `nearest_center` says it."""
    labels = np.empty(X.shape[0], dtype=np.int32)
    scale = scale_of(_reach(centers, origin))
    v = view(centers, origin, scale, np.float32)

    def one(lo: int, hi: int) -> None:
        W, norms = work_rows(X[lo:hi], origin, scale, np.float32)
        found = room_for(hi - lo)._replace(label=labels[lo:hi])
        settle(W, norms, X[lo:hi], np.arange(hi - lo, dtype=np.int32), v, found)

    for_blocks(one, X.shape[0], grain=grain)
    return labels


def dense_inertia(X: np.ndarray, weights: np.ndarray | None, centers: np.ndarray, origin: np.ndarray) -> float:
    """Σ w ‖x − nearest centre‖² of many rows."""
    labels = dense_labels(X, centers, origin)

    def one(lo: int, hi: int) -> float:
        out = np.empty(hi - lo)
        _kernels.row_errors(X[lo:hi], centers, labels[lo:hi], out)
        return float(out.sum() if weights is None else out @ weights[lo:hi])

    return float(np.sum(for_blocks(one, X.shape[0], grain=_FEWEST_ROWS)))


def quick_sums(block: Block, centers: np.ndarray, origin: np.ndarray) -> tuple:
    """`_sums.cluster_sums`, compiled where the block is dense and large enough."""
    X, k = block.X, len(centers)
    if not worth_compiling(X, k):
        return cluster_sums(block, centers, origin)
    X = np.ascontiguousarray(X)
    return labelled_sums(X, block.w, dense_labels(X, centers, origin), k, origin)


def labelled_sums(X: np.ndarray, w: np.ndarray | None, labels: np.ndarray, k: int, origin: np.ndarray) -> tuple:
    """Σ w (x − origin), Σ w and the number of rows with each of k labels."""
    n, d = X.shape
    sums, mass, counts = np.zeros((k, d)), np.zeros(k), np.zeros(k, dtype=np.int64)
    unused = np.empty(n, dtype=np.float32)
    _kernels.relabel(
        np.arange(n, dtype=np.int32), labels, unused, unused, X, origin, _NO_WEIGHTS if w is None else w,
        np.full(n, -1, dtype=np.int32), unused, unused, (sums, mass, counts),
    )  # fmt: skip
    return sums, mass, counts.astype(np.float64)
