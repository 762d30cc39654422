"""Rows of files and Dask collections as a table of bytes: one place for all growers that read bins.

Edges are taken from the same rows as from a table in memory, so that the trees are the same; then the rows are read
once more and every piece becomes codes, one byte a cell, on the machine that has read it. Nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from learnt.engine.memory import room_in_bytes
from learnt.engine.rows import Block, Rows
from learnt.forestry.bins._bins import Bins, bins_by_mass, code_room, find_bins, sampled_rows

_DECODED = 1 << 16  # rows that are decoded at a time
_KEPT_BYTES = 1 << 26  # of decoded rows that are kept


class ChosenRows:
    """Some rows of a file or a cluster, in an order of their own (None: all); they are read where bins need them.

    >>> from learnt.engine.rows import as_rows
    >>> chosen = ChosenRows(as_rows(np.zeros((4, 2))))[np.array([3, 1, 0])]
    >>> chosen.shape, chosen[chosen.order > 0].order.tolist()
    ((3, 2), [3, 1])
    """

    def __init__(self, rows: Rows, order: np.ndarray | None = None) -> None:
        self.rows, self.order = rows, order
        self.shape: tuple[int, ...] = (rows.n_rows if order is None else len(order), rows.n_features)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: np.ndarray) -> ChosenRows:
        order = np.arange(self.shape[0]) if self.order is None else self.order
        return ChosenRows(self.rows, order[index])

    def flags(self) -> np.ndarray | None:
        """Of every row of the table whether it is among these; None: all are."""
        if self.order is None:
            return None
        there = np.zeros(self.rows.n_rows, dtype=bool)
        there[self.order] = True
        return there

    def numbers(self, index: np.ndarray | None) -> np.ndarray:
        """Which of all rows these are: the chosen ones with these numbers, or all."""
        if self.order is None:
            return np.arange(self.shape[0]) if index is None else index
        return self.order if index is None else self.order[index]


class SampledCells:
    """What the bins of chosen rows are found from: the rows that edges are taken from, and the weight of categories.

    `mass` has for each column of categories the weight of the rows of every category.
    """

    def __init__(self, chosen: ChosenRows, by_few: bool, random_state: Any, mass: dict[int, np.ndarray]) -> None:
        self.shape, self._mass = chosen.shape, mass
        index, few = sampled_rows(chosen.shape[0], by_few, random_state)
        self._sample = chosen.rows.take(chosen.numbers(index))
        self._few = None if few is None else chosen.rows.take(chosen.numbers(few))
        self._ends = None if few is None else _ends(chosen)

    def some(self, rows: np.ndarray | None, lo: int, hi: int) -> np.ndarray:
        by_few = self._few is not None and rows is not None and len(rows) == len(self._few)
        cells = self._few if self._few is not None and by_few else self._sample
        return np.array(cells[:, lo:hi].T, order="C")

    def ends(self) -> np.ndarray:
        assert self._ends is not None
        return self._ends

    def missing(self) -> np.ndarray:
        return np.zeros(self.shape[1], dtype=bool)  # known once all rows have codes

    def category_bins(self, j: int, n_categories: int, max_bins: int) -> tuple[np.ndarray, int, bool]:
        return *bins_by_mass(self._mass[j], max_bins), False


def _ends(chosen: ChosenRows) -> np.ndarray:
    """The least and the greatest value of each column; NaN where one is missing."""
    parts = [ends for _, ends in chosen.rows.pieces(_ends_of_piece, chosen.flags()) if ends is not None]
    return np.array([np.min([low for low, _ in parts], axis=0), np.max([high for _, high in parts], axis=0)])


def _ends_of_piece(block: Block, there: np.ndarray | None) -> Any:
    X = block.X if there is None else block.X[there[block.start : block.start + len(block.X)]]
    return (X.min(axis=0), X.max(axis=0)) if len(X) else None


def bin_chosen(
    chosen: ChosenRows,
    *,
    held: ChosenRows | None = None,
    mass: dict[int, np.ndarray] | None = None,
    weights: np.ndarray | None = None,
    by_column: bool = True,
    **options: Any,
) -> tuple[Bins, tuple[np.ndarray, np.ndarray, np.ndarray], CodedRows | None]:
    """Bins of the chosen rows, their codes as `code_room` gives them, and those of rows held out.

    Rows held out are of the same table, which is read twice: for the edges, and for the codes. `mass` is the weight of
    the categories of columns that hold such; the options are those of `find_bins`.
    """
    mass = mass or {}
    by_few = bool(options.get("random_splits")) and weights is None and not mass
    cells = SampledCells(chosen, by_few, options.get("random_state", 0), mass)
    categories = {j: len(column) for j, column in mass.items()}
    bins = find_bins(cells, weights=weights, categories=categories, **options)
    del cells
    n, d = chosen.shape
    room = code_room(n, d, by_column, True, room_in_bytes)
    kept = None if held is None else code_room(len(held), d, True, False, room_in_bytes)[1]
    place = _places(chosen, held)
    for start, codes in chosen.rows.pieces(codes_of_piece, bins):
        stop = start + len(codes)
        if place is None:
            _write(codes, slice(start, stop), *room[1:])
            continue
        at = place[start:stop]
        mine = (at >= 0) & (at < n)
        _write(codes[mine], at[mine], *room[1:])
        if kept is not None:
            _write(codes[at >= n], at[at >= n] - n, kept, np.empty((0, 0), np.uint8))
    seen = [_has(room, j, int(bins.n_bins[j])) for j in range(d)]
    bins = replace(bins, has_missing=np.array(seen, dtype=bool))
    return bins, room, None if kept is None else CodedRows(bins, kept)


def code_chosen(chosen: ChosenRows, bins: Bins) -> CodedRows:
    """The codes of rows of another table in given bins."""
    by_column = code_room(len(chosen), chosen.shape[1], True, False, room_in_bytes)[1]
    place = _places(chosen, None)
    for start, codes in chosen.rows.pieces(codes_of_piece, bins):
        at = np.arange(start, start + len(codes)) if place is None else place[start : start + len(codes)]
        _write(codes[at >= 0], at[at >= 0], by_column, np.empty((0, 0), np.uint8))
    return CodedRows(bins, by_column)


def codes_of_piece(block: Block, bins: Bins) -> np.ndarray:
    """The codes of a piece, (rows, columns)."""
    return np.ascontiguousarray(bins.encode(block.X, columns=False, rows=True)[1][:, : block.X.shape[1]])


def _places(chosen: ChosenRows, held: ChosenRows | None) -> np.ndarray | None:
    """Where the codes of each row of the table go: among those of chosen rows, after them if held out, or −1."""
    if chosen.order is None:
        return None
    place = np.full(chosen.rows.n_rows, -1, dtype=np.int64)
    place[chosen.order] = np.arange(len(chosen))
    if held is not None:
        place[held.order] = len(chosen) + np.arange(len(held))
    return place


def _write(codes: np.ndarray, at: Any, by_column: np.ndarray, by_row: np.ndarray) -> None:
    if by_column.size:
        by_column[:, at] = codes.T
    if by_row.size:
        by_row[at, : codes.shape[1]] = codes


def _has(room: tuple[np.ndarray, np.ndarray, np.ndarray], j: int, code: int) -> bool:
    _, by_column, by_row = room
    return bool(((by_column[j] if by_column.size else by_row[:, j]) == code).any())


class CodedRows:
    """Rows of which only codes are known, and that trees on the same bins traverse as they would the rows themselves.

    A code stands for the upper edge of its bin, or in float32 for the next number below: x ≤ edge if and only if that
    is. `before` are the sums of trees that were grown on other bins, which the rows have been through already.

    >>> bins = find_bins(np.array([[1.0], [2.0], [np.nan]]))
    >>> CodedRows(bins, bins.encode(np.array([[5.0], [0.0], [np.nan]]))[0])[0:3].ravel()
    array([inf, 1.5, nan])
    """

    def __init__(self, bins: Bins, by_column: np.ndarray, dtype: Any = np.float64) -> None:
        self.bins, self.by_column, self.shape, self.dtype = bins, by_column, by_column.shape[::-1], np.dtype(dtype)
        self.before: np.ndarray | None = None
        self._values = bins.edges.astype(dtype)
        above = self._values > bins.edges
        self._values[above] = np.nextafter(self._values[above], self.dtype.type(-np.inf))
        for j, n_bins in enumerate(bins.n_bins):
            if bins.categorical[j]:
                self._values[j] = np.arange(256)
            self._values[j, n_bins:] = np.nan
        self._whole: np.ndarray | None = None

    def __getitem__(self, rows: Any) -> np.ndarray:
        """A value in the bin of each cell of some rows: their numbers, or a slice."""
        codes = [column[rows] for column in self.by_column]
        out = np.empty((self.shape[1], len(codes[0])), dtype=self.dtype)
        for values, column, row in zip(self._values, codes, out):
            np.take(values, column, out=row, mode="clip")
        return out.T

    def parts(self) -> Iterator[tuple[int, np.ndarray]]:
        """All rows decoded, some at a time, and the number of the first of each part; few are decoded once."""
        n, d = self.shape
        if 8 * n * d <= _KEPT_BYTES:
            self._whole = self[0:n] if self._whole is None else self._whole
            yield 0, self._whole
            return
        for lo in range(0, n, _DECODED):
            yield lo, self[lo : lo + _DECODED]


def sum_of_trees(trees: Any, table: np.ndarray | CodedRows, out: np.ndarray | None = None) -> np.ndarray:
    """Σ over packed trees of the value of each row's leaf, added to `out` (n, n_outputs): rows, or codes of rows."""
    if not isinstance(table, CodedRows):
        return trees.sum(table, out=out)
    out = np.zeros((table.shape[0], trees.n_outputs)) if out is None else out
    for lo, part in table.parts():
        trees.sum(part, out=out[lo : lo + len(part)])
    return out


def parts_of_rows(X: Any, rows: np.ndarray) -> list[np.ndarray]:
    """Numbers of rows in pieces of which X has all cells in memory at once: all of them where it has anyway.

    >>> [part.tolist() for part in parts_of_rows(np.eye(3), np.array([0, 2]))]
    [[0, 2]]
    """
    if not isinstance(X, CodedRows):
        return [rows]
    return [rows[lo : lo + _DECODED] for lo in range(0, len(rows), _DECODED)]
