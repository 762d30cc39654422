"""Dask collections as rows: one statistic a partition, summed in a tree, one computation a pass.

The same block function runs on the workers as in memory; only the sums are sent to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from learnt.engine.arrays import is_dask_array
from learnt.engine.matrices import dense
from learnt.engine.rows.array_rows import ArrayRows, Cells, Merge, Rows, Statistic
from learnt.engine.rows.blocks import Block
from learnt.engine.rows.dask_parts import NO_ROWS, Reading, as_block, known_lengths, partitions, rows_of_parts

_FAN_IN = 8
_AT_ONCE = 64  # partitions


class DaskRows(Rows):
    """Rows of a Dask array or data frame; y and weights are Dask collections with the same partitions, or arrays."""

    def __init__(
        self, X: Any, y: Any = None, w: Any = None, n_jobs: int | None = None, cells: Cells | None = None
    ) -> None:
        import dask

        self._dask = dask
        self.X, self.y, self.w, self.n_jobs, self.cells = X, y, w, n_jobs, cells
        self.n_features = X.shape[1] if X.ndim == 2 else 1
        float32 = is_dask_array(X) and X.dtype == np.float32
        self.dtype = np.dtype(np.float32 if float32 else np.float64)
        self.reference = np.empty(0, dtype=self.dtype)
        self._parts_X = partitions(X)
        self._parts_y = self._align(y)
        self._parts_w = self._align(w)

    def again(self, y: Any, w: Any, cells: Cells | None) -> DaskRows:
        """Rows are not counted again."""
        rows = copy(self)
        rows.y, rows.w, rows.cells = y, w, cells
        rows._parts_y, rows._parts_w = rows._align(y), rows._align(w)
        return rows

    def _align(self, values: Any) -> list[Any]:
        """One piece of y or of the weights per partition of X."""
        n_parts = len(self._parts_X)
        if values is None:
            return [None] * n_parts
        if isinstance(values, np.ndarray):
            ends = np.cumsum(self.lengths)
            if ends[-1] != len(values):
                raise ValueError(f"X has {ends[-1]} rows but y or sample_weight has {len(values)}; pass equal lengths.")
            return list(np.split(values, ends[:-1]))
        lengths, theirs = known_lengths(self.X), known_lengths(values)
        if lengths and theirs and lengths != theirs:
            if sum(lengths) != sum(theirs):
                raise ValueError(
                    f"X has {sum(lengths)} rows but y or sample_weight has {sum(theirs)}; pass equal lengths."
                )
            values = values.rechunk({0: tuple(lengths)})
        parts = partitions(values)
        if len(parts) != n_parts:
            raise ValueError(
                f"X has {n_parts} partitions but y or sample_weight has {len(parts)}; repartition them alike first."
            )
        return parts

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """How many rows there are in all; those of a data frame are counted, once."""
        return sum(self.lengths)

    @cached_property
    def lengths(self) -> list[int]:
        """The number of rows of each partition."""
        for known in (self.X, self.y, self.w):  # of partitions that fit: reading a block compares their lengths
            lengths = known_lengths(known)
            if lengths and len(lengths) == len(self._parts_X):
                return lengths
        return list(self._dask.compute(*[self._dask.delayed(len)(part) for part in self._parts_X]))

    def reduce(self, statistic: Statistic, merge: Merge, *state: Any) -> Any:
        delayed = self._dask.delayed
        shared = delayed(state)  # sent to each worker once
        sums = [
            delayed(reduce_partition)(X, y, w, start, self._reading, self.n_jobs, statistic, merge, shared)
            for X, y, w, start in self._parts()
        ]
        while len(sums) > 1:
            sums = [delayed(merge_all)(sums[i : i + _FAN_IN], merge) for i in range(0, len(sums), _FAN_IN)]
        total = self._dask.compute(sums[0])[0]
        if total is None:
            raise ValueError(NO_ROWS)
        return total

    @property
    def _reading(self) -> Reading:
        return Reading(self.dtype, self.cells)

    def pieces(self, function: Callable[..., Any], *state: Any) -> Iterator[tuple[int, Any]]:
        """Several partitions are computed at a time: an eighth of all, and at most 64."""
        delayed, shared = self._dask.delayed, self._dask.delayed(state)
        parts = [part for part, n in zip(self._parts(), self.lengths, strict=True) if n > 0]
        step = min(_AT_ONCE, -(-len(parts) // 8)) if parts else 1
        for first in range(0, len(parts), step):
            some = parts[first : first + step]
            results = self._dask.compute(
                *[delayed(piece)(X, y, w, start, self._reading, function, shared) for X, y, w, start in some]
            )
            yield from zip((start for _, _, _, start in some), results, strict=True)

    def _parts(self) -> Iterator[tuple[Any, Any, Any, int]]:
        """X, y and weights of each partition, and the number of its first row."""
        starts = np.cumsum([0, *self.lengths[:-1]]).tolist()
        yield from zip(self._parts_X, self._parts_y, self._parts_w, starts, strict=True)

    def map(self, function: Callable[..., Any], *state: Any) -> Any:
        """One entry a row, as a lazy Dask array with X's chunks."""
        probe = function(Block(np.zeros((1, self.n_features), dtype=self.dtype)), *state)
        shared = self._dask.delayed(state)
        applied, nothing = self._dask.delayed(partition_map), probe[:0]
        parts = [
            applied(X, start, self._reading, self.n_jobs, function, shared, nothing) for X, _, _, start in self._parts()
        ]
        return rows_of_parts(parts, self.lengths, probe.shape[1:], probe.dtype)

    def take(self, index: np.ndarray) -> np.ndarray:
        delayed, starts = self._dask.delayed, np.cumsum([0, *self.lengths])
        order = np.argsort(index, kind="stable")
        edges = np.searchsorted(index[order], starts)
        places = [order[lo:hi] for lo, hi in pairwise(edges)]
        parts = [
            delayed(some_rows)(X, y, w, self._reading, start, index[found] - start)
            for (X, y, w, start), found in zip(self._parts(), places, strict=True)
            if found.size
        ]
        out = np.empty((len(index), self.n_features))
        for found, rows in zip((found for found in places if found.size), self._dask.compute(*parts), strict=True):
            out[found] = rows
        return out

    def head(self, n: int) -> Block:
        for X, y, w in zip(self._parts_X, self._parts_y, self._parts_w, strict=True):
            block = self._dask.compute(self._dask.delayed(first_rows)(X, y, w, self._reading, n))[0]
            if block.X.shape[0]:
                return block
        raise ValueError(NO_ROWS)


def some_rows(X: Any, y: Any, w: Any, reading: Reading, start: int, index: np.ndarray) -> np.ndarray:
    return dense(as_block(X, y, w, reading, start).X[index])


def piece(X: Any, y: Any, w: Any, start: int, reading: Reading, function: Callable[..., Any], state: tuple) -> Any:
    return function(as_block(X, y, w, reading, start), *state)


def reduce_partition(
    X: Any,
    y: Any,
    w: Any,
    start: int,
    reading: Reading,
    n_jobs: int | None,
    statistic: Statistic,
    merge: Merge,
    state: tuple,
) -> Any:
    block = as_block(X, y, w, reading, start)
    return ArrayRows(*block[:3], n_jobs, start).reduce(statistic, merge, *state) if block.X.shape[0] else None


def partition_map(
    X: Any,
    start: int,
    reading: Reading,
    n_jobs: int | None,
    function: Callable[..., Any],
    state: tuple,
    nothing: np.ndarray,
) -> Any:
    """One entry for each row of a partition; `nothing` where it has none, which no model is asked about."""
    block = as_block(X, None, None, reading, start)
    return ArrayRows(block.X, n_jobs=n_jobs, start=start).map(function, *state) if block.X.shape[0] else nothing


def first_rows(X: Any, y: Any, w: Any, reading: Reading, n: int) -> Block:
    block = as_block(X, y, w, reading)
    X, y, w = (None if part is None else part[:n] for part in block[:3])
    return Block(X, y, w)


def merge_all(parts: list[Any], merge: Merge) -> Any:
    """All parts in order; None, of a partition without rows, adds nothing."""
    total = None
    for part in parts:
        total = total if part is None else merge(total, part)
    return total
