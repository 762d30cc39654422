"""Lloyd's algorithm for sparse rows in memory, with Hamerly's bounds; nothing is centred, so that they stay sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.cluster import _sparse_kernels
from learnt.cluster._bounded import Kept, moves, no_moves, scale_of
from learnt.cluster._lloyd import Sums
from learnt.cluster._row_products import table_shape
from learnt.cluster._sparse_kernels import Cells, SparseView
from learnt.cluster._sums import sparse_lane_rows
from learnt.distances import squared_norms
from learnt.engine.threads import for_blocks

_SUMMING_TASKS = 16
_FEATURES = 1 << 12  # of the centres, that one task arranges


class SparseLloyd(Kept):
    """CSR rows."""

    def __init__(self, X: Any, weights: np.ndarray | None, k: int) -> None:
        super().__init__(X, weights, np.zeros(X.shape[1]), 1.0, k)
        self.lane = sparse_lane_rows(self.n, X.nnz, k)
        self.norms = squared_norms(X)
        self._scale = scale_of(float(np.sqrt(self.norms.max())))
        # One table of sums, whatever the number of lanes: with many features several would not fit in memory.
        self.sums, self.mass, self.counts = np.zeros((k, self.d)), np.zeros(k), np.zeros(k, dtype=np.int64)
        self._table = np.zeros(table_shape(k, self.d), dtype=np.float32)
        self._view: SparseView | None = None

    def assign(self, centers: np.ndarray) -> Sums:
        """One pass of Lloyd's algorithm, over the rows whose nearest centre may have changed."""
        view, moved = self._arranged(centers)
        X, old = self.X, self.labels.copy()

        def one(lo: int, hi: int) -> int:
            cells = Cells(X.data, X.indices, X.indptr[lo : hi + 1])
            return _sparse_kernels.assign_sparse(
                cells, self.norms[lo:hi], view, moved, self.labels[lo:hi], self.upper[lo:hi], self.lower[lo:hi]
            )

        changed = sum(for_blocks(one, self.n, grain=self.lane))
        return self._move(old, changed)

    def _arranged(self, centers: np.ndarray) -> tuple[SparseView, Any]:
        """The centres as the kernels want them, and how far they have moved."""
        last, self._last = self._last, centers
        before = centers if last is None else last

        def some(lo: int, hi: int) -> np.ndarray:
            found = np.zeros((2, self.k))
            _sparse_kernels.arrange(centers, before, self._scale, self._table, lo, hi, *found)
            return found

        shifts, norms = np.sum(for_blocks(some, self.d, grain=_FEATURES), axis=0)
        self._view = SparseView(centers, self._table, norms, float(np.sqrt(norms.max())), self._scale)
        return self._view, no_moves(self.k) if last is None else moves(np.sqrt(shifts), centers, norms, self.n)

    def _move(self, old: np.ndarray, changed: int | None) -> Sums:
        """The sums, which follow the labels by differences, a few centres a task."""
        X = self.X
        cells = Cells(X.data, X.indices, X.indptr)

        def some(first: int, last: int) -> None:
            _sparse_kernels.move_sparse_rows(
                cells, self._weights(0, self.n), old, self.labels, first, last, self.sums, self.mass, self.counts
            )

        for_blocks(some, self.k, grain=-(-self.k // _SUMMING_TASKS))
        return Sums(self.sums, self.mass.copy(), self.counts.copy(), changed)  # the table itself: it may be large

    def recount(self) -> Sums:
        """The sums again from the rows, without what differences have accumulated of rounding."""
        self._forget_sums()
        return self._move(np.full(self.n, -1, dtype=np.int32), None)

    def _errors(self, centers: np.ndarray, lo: int, hi: int) -> np.ndarray:
        """Of the centres of the last assignment, whose norms are known."""
        X, out, view = self.X, np.empty(hi - lo), self._view
        assert view is not None
        assert view.centers is centers
        cells = Cells(X.data, X.indices, X.indptr[lo : hi + 1])
        _sparse_kernels.sparse_row_errors(cells, self.norms[lo:hi], centers, view.extra, self.labels[lo:hi], out)
        return out
