"""Rows in memory: the interface of rows in the summation form, and its implementation for arrays and memory maps."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import full_precision, namespace, to_numpy
from learnt.engine.matrices import Route, affine, dense, double, n_stored, route, take_rows
from learnt.engine.rows import blocks
from learnt.engine.rows.blocks import Block
from learnt.engine.threads import run_tasks, single_blas

Statistic = Callable[..., Any]
Merge = Callable[[Any, Any], Any]
# What makes a matrix of a piece of a file or of a partition, where it may hold more than finite numbers.
Cells = Callable[[Any], np.ndarray]


class Rows(ABC):
    """The interface: X (n × d) stored anywhere, and y and weights where they were given."""

    n_features: int
    dtype: Any
    # An empty array of the library, device and dtype that results belong to.
    reference: Any
    # What was given: whole arrays where `in_memory`, with the number of rows and the threads to use.
    X: Any
    y: Any
    w: Any
    n_rows: int
    n_jobs: int | None

    @abstractmethod
    def reduce(self, statistic: Statistic, merge: Merge, *state: Any) -> Any:
        """`statistic(block, *state)` of all blocks, put together in order by `merge(total or None, part)`."""

    def sum(self, statistic: Statistic, *state: Any) -> tuple:
        """Σ over blocks of `statistic(block, *state)`, a tuple of arrays and numbers; sums are float64."""
        return self.reduce(statistic, blocks.add, *state)

    @abstractmethod
    def map(self, function: Callable[..., Any], *state: Any) -> Any:
        """`function(block, *state)`, an array with one entry a row, for all rows in order."""

    @abstractmethod
    def pieces(self, function: Callable[..., Any], *state: Any) -> Iterator[tuple[int, Any]]:
        """The number of the first row and `function(block, *state)`, piece by piece in order, a few in memory at once.

        A piece is as much as is read at once: a partition, or part of a file.
        """

    @abstractmethod
    def again(self, y: Any, w: Any, cells: Cells | None) -> Rows:
        """The same rows with other targets and weights, read by other cells where they are read in pieces."""

    @abstractmethod
    def head(self, n: int) -> Block:
        """About the first `n` rows, in memory: for a provisional mean, say."""

    @abstractmethod
    def take(self, index: np.ndarray) -> np.ndarray:
        """The rows of X with these numbers, in this order, as NumPy float64.

        For a few rows, such as starting points.
        """

    def scores(self, coef: Any, intercept: Any) -> Any:
        """X coefᵀ + intercept of all rows.

        `coef` and `intercept` are in the library and on the device of `reference`.
        """
        return self.map(block_scores, coef, intercept)

    @property
    def route(self) -> Route:
        """The code path that reads these rows: one of four, chosen once in a fit."""
        return Route.BLOCKS

    @property
    def on_host(self) -> bool:
        """Whether `X` is whole and NumPy's or SciPy's, so that compiled code reads it in place."""
        return self.route in (Route.DENSE, Route.SPARSE)

    @property
    def n_stored(self) -> int:
        """How many cells of X are stored: what a pass over the rows costs."""
        return self.n_rows * self.n_features

    @property
    def in_memory(self) -> bool:
        """Whether `X`, `y` and `w` are whole arrays that a direct method may use."""
        return self.route is not Route.BLOCKS

    def first_mean(self) -> Any:
        """A provisional mean of X to subtract before squaring, so that large means do not cancel."""
        X = self.head(256).X
        if sparse.issparse(X):
            return np.zeros(X.shape[1])
        xp = namespace(X)
        return blocks.widen(xp.mean(blocks.widen(X), axis=0))


class ArrayRows(Rows):
    """Rows of an array in memory or a memory map (NumPy, SciPy CSR), or of any Array API library."""

    def __init__(self, X: Any, y: Any = None, w: Any = None, n_jobs: int | None = None, start: int = 0) -> None:
        self.X, self.y, self.w, self.n_jobs = X, y, w, n_jobs
        self.start = start  # the number of the first row, where these are part of others
        self.n_rows, self.n_features = X.shape
        self.part_columns = self.n_features  # a partial sum has at most this many cells for each column
        self.dtype = X.dtype
        self._route = route(X)
        self._foreign = self._route is Route.DEVICE
        self._sparse = self._route is Route.SPARSE
        if self._sparse:
            row_bytes = 12.0 * X.nnz / max(self.n_rows, 1)
            self.reference = np.empty(0, dtype=X.dtype)
        else:
            row_bytes = float(self.n_features * (4 if "32" in str(X.dtype) else 8))
            self.reference = X[:0, 0]
        self.block_size = blocks.block_rows(self.n_rows, row_bytes, foreign=self._foreign)

    @property
    def route(self) -> Route:
        return self._route

    @property
    def n_stored(self) -> int:
        return n_stored(self.X)

    def take(self, index: np.ndarray) -> np.ndarray:
        return double(to_numpy(dense(take_rows(self.X, index))))

    def block(self, lo: int, hi: int) -> Block:
        """The rows lo…hi−1, without a copy."""
        # the Array API standard requires an index for every axis
        X = csr_rows(self.X, lo, hi) if self._sparse else self.X[lo:hi, ...]
        return Block(
            X, None if self.y is None else self.y[lo:hi], None if self.w is None else self.w[lo:hi], self.start + lo
        )

    def blocks(self) -> Iterator[Block]:
        for lo in range(0, self.n_rows, self.block_size):
            yield self.block(lo, min(lo + self.block_size, self.n_rows))

    def pieces(self, function: Callable[..., Any], *state: Any) -> Iterator[tuple[int, Any]]:
        for block in self.blocks():
            yield block.start, function(block, *state)

    def again(self, y: Any, w: Any, cells: Cells | None) -> ArrayRows:
        return ArrayRows(self.X, y, w, self.n_jobs, self.start)

    def head(self, n: int) -> Block:
        return self.block(0, min(n, self.n_rows))

    def reduce(self, statistic: Statistic, merge: Merge, *state: Any) -> Any:
        if self._foreign:
            total = None
            with full_precision(self.X):
                for block in self.blocks():
                    total = merge(total, statistic(block, *state))
            return total
        size = self.block_size
        if self.n_rows <= size:
            with single_blas():
                return merge(None, statistic(self.block(0, self.n_rows), *state))
        lane = size * blocks.lane_blocks(self.n_rows, size, self.part_columns)

        def reduce_lane(start: int) -> Any:
            total = None
            for lo in range(start, min(start + lane, self.n_rows), size):
                total = merge(total, statistic(self.block(lo, min(lo + size, self.n_rows)), *state))
            return total

        parts = run_tasks([partial(reduce_lane, s) for s in range(0, self.n_rows, lane)], n_jobs=self.n_jobs)
        total = None
        for part in parts:
            total = merge(total, part)
        return total

    def map(self, function: Callable[..., Any], *state: Any) -> Any:
        if self._foreign:
            with full_precision(self.X):
                parts = [function(block, *state) for block in self.blocks()]
            return parts[0] if len(parts) == 1 else namespace(self.X).concat(parts)
        if self.n_rows <= self.block_size:
            return function(self.block(0, self.n_rows), *state)
        out: list[np.ndarray] = []  # the array, once a first block has shown its shape
        making = threading.Lock()

        def fill(lo: int) -> None:
            hi = min(lo + self.block_size, self.n_rows)
            part = function(self.block(lo, hi), *state)
            with making:
                if not out:
                    out.append(np.empty((self.n_rows, *part.shape[1:]), dtype=part.dtype))
            out[0][lo:hi] = part

        starts = range(0, self.n_rows, self.block_size)
        run_tasks([partial(fill, lo) for lo in starts], n_jobs=self.n_jobs)
        return out[0]


def block_scores(block: Block, coef: Any, intercept: Any) -> Any:
    """X coefᵀ + intercept of one block."""
    return affine(block.X, coef, intercept)


def csr_rows(X: Any, lo: int, hi: int) -> Any:
    """The rows lo…hi−1 of a CSR matrix, sharing its data.

    SciPy's constructor copies slices that it is given, but attributes assigned afterwards are not copied.
    """
    start, end = X.indptr[lo], X.indptr[hi]
    part = type(X)((hi - lo, X.shape[1]), dtype=X.dtype)
    part.data, part.indices, part.indptr = X.data[start:end], X.indices[start:end], X.indptr[lo : hi + 1] - start
    part.has_canonical_format = X.has_canonical_format
    return part
