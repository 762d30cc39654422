"""Numbers and categories as small integers: every column in at most 255 bins, one byte a cell.

A number x has the code  #{k : edge_k < x},  so that "code ≤ k" and "x ≤ edge_k" are the same question. The edges cut
the training rows into bins of equal weight; a value that fills a bin alone gets one of its own, and the others share
what is left. The code after the last bin is that of a missing value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from learnt.engine.cached import cached_property
from learnt.engine.random import generator
from learnt.engine.threads import for_blocks
from learnt.forestry.bins._kernels import Guide, Kinds, encode_rows, equal_weight_edges, guide_to_edges, places_of

MOST_BINS = 255  # a byte less the code for "missing"
_SAMPLE = 200_000  # rows that the edges are taken from: the error of a quantile is then 1/900 of the rows
_CELLS_A_TASK = 1 << 17  # sorted by one thread
_GRAIN, _PIECE = 8192, 1024  # rows
_CELLS_A_BLOCK = 1 << 18  # of a wide table that one thread encodes
_CELLS = 2048  # cells of a column's guide, which gives the start of the search for a bin
_ELSEWHERE = -2  # in place of where a column's table begins: its codes are given
# Bins for random splits are taken from so many rows, where that many have so many values or more, and from values in
# even steps from end to end: rare rows at the ends of a column, which a sample misses, are then in bins as short.
_ENOUGH, _VARIED, _EVEN = 4096, 1024, np.linspace(0.0, 1.0, 128)
_LENGTH = 0.15  # weight of the length of bins relative to that of their rows
_WAY = 65535 - MOST_BINS  # the place of a column's last bin, less one a bin


@dataclass(frozen=True)
class Bins:
    """How columns become codes.

    Attributes
    ----------
    edges : float64 array of shape (n_features, 256)
        The upper ends of all bins but the last, then +inf; for a category column not used.
    n_bins : int32 array of shape (n_features,)
        Bins of values that are not missing. `n_bins[j]` is the code of a missing value in column j.
    has_missing : bool array of shape (n_features,)
        Whether a training row was missing.
    tables : dict of int to int16 array
        For each category column the bin of every category 0…K−1; −1 for one that no training row had.
    places : uint16 array of shape (n_features, 256) or None
        How far along its column a bin is: the mean of its distinct values between those of the first bin and of the
        last. No two bins have the same place; 65535 after the last.
    """

    edges: np.ndarray
    n_bins: np.ndarray
    has_missing: np.ndarray
    tables: dict[int, np.ndarray]
    places: np.ndarray | None = None

    @cached_property
    def categorical(self) -> np.ndarray:
        """Which columns hold categories."""
        mask = np.zeros(len(self.n_bins), dtype=bool)
        mask[list(self.tables)] = True
        return mask

    def encode(
        self, X: np.ndarray, *, columns: bool = True, rows: bool = False, coded: dict[int, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The codes of X as (n_features, n) and as (n, stride), stride a multiple of 32; empty where not asked for.

        `coded`: columns of categories as integers, in place of those of X.
        """
        n, d = X.shape
        _, by_column, by_row = code_room(n, d, columns, rows)
        self.encode_into(X, by_column, by_row, coded)
        return by_column, by_row

    def encode_into(
        self, X: np.ndarray, by_column: np.ndarray, by_row: np.ndarray, coded: dict[int, np.ndarray] | None = None
    ) -> None:
        """The same into given arrays; an empty one is not filled."""
        n, d = X.shape
        flat, row_step, column_step = flat_view(X)
        cells = _CELLS if n > _CELLS else 1  # of few rows a finer guide would take longer to make
        guide = Guide(np.empty((d, cells), dtype=np.uint8), np.empty((d, 2)), np.empty(d, dtype=np.int64))
        guide_to_edges(self.edges, self.n_bins, *guide)
        starts = np.full(d, -1, dtype=np.int64)
        table = np.concatenate([np.empty(0, np.int16), *self.tables.values()])
        sizes = np.zeros(d, dtype=np.int64)
        at = 0
        for j, column_table in self.tables.items():
            starts[j], sizes[j] = at, len(column_table)
            at += len(column_table)
        kinds = Kinds(self.n_bins, starts, sizes, table)

        def work(lo: int, hi: int) -> None:
            encode_rows(flat, row_step, column_step, lo, hi, self.edges, guide, kinds, by_column, by_row)

        for j in coded or ():
            starts[j] = _ELSEWHERE
        for_blocks(work, n, grain=max(1024, min(_GRAIN, _CELLS_A_BLOCK // max(d, 1))))
        for j, column in (coded or {}).items():
            table_j = np.append(self.tables[j], np.int16(-1))  # −1, at its end: missing
            found = table_j[column]
            bins = np.where(found < 0, self.n_bins[j], found).astype(np.uint8)
            if by_column.size:
                by_column[j] = bins
            if by_row.size:
                by_row[:, j] = bins


def flat_view(X: np.ndarray) -> tuple[np.ndarray, int, int]:
    """X in one dimension and the steps from row to row and from column to column: one machine code for both orders."""
    if X.flags.c_contiguous:
        return X.reshape(-1), X.shape[1], 1
    if X.flags.f_contiguous:
        return X.T.reshape(-1), 1, X.shape[0]
    return np.ascontiguousarray(X).reshape(-1), X.shape[1], 1


def code_room(
    n: int, d: int, columns: bool, rows: bool, bytes_for: Callable[[int], np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Room for codes in one piece, and in it that for (d, n) by column and for (n, stride) by row.

    Rows have zeros up to a multiple of 32 and begin at a cache line, so that 32 codes are never in two of them.
    `bytes_for` makes an array of so many bytes, in memory by default.
    """
    by_column, stride = d * n if columns else 0, -(-d // 32) * 32 if rows else 0
    size = by_column + n * stride + 64
    room = np.empty(size, dtype=np.uint8) if bytes_for is None else bytes_for(size)
    begin = -(room.ctypes.data + by_column) % 64
    room = room[begin : begin + by_column + n * stride]
    by_row = room[by_column:].reshape(n if rows else 0, stride)
    if stride > d:
        by_row[:, d:] = 0
    return room, room[:by_column].reshape((d, n) if columns else (0, 0)), by_row


class Cells(Protocol):
    """What bins are found from: a table in memory, or a sample of one that is not."""

    shape: tuple[int, ...]

    def some(self, rows: np.ndarray | None, lo: int, hi: int) -> np.ndarray:
        """A copy of the columns lo…hi of some rows, each in one piece, (hi − lo, number of rows)."""

    def ends(self) -> np.ndarray:
        """The least and the greatest value of each column; NaN where one is missing."""

    def missing(self) -> np.ndarray:
        """Which columns have a missing value; where that is not known yet, none."""

    def category_bins(self, j: int, n_categories: int, max_bins: int) -> tuple[np.ndarray, int, bool]:
        """The bin of every category (−1: not seen), how many bins there are, and whether something was missing."""


class ArrayCells:
    """The cells of a matrix; `coded` are columns of categories as integers, in place of those of X."""

    def __init__(self, X: np.ndarray, weights: np.ndarray | None, coded: dict[int, np.ndarray] | None) -> None:
        self.X, self.weights, self.coded, self.shape = X, weights, coded or {}, X.shape

    def some(self, rows: np.ndarray | None, lo: int, hi: int) -> np.ndarray:
        """Read in pieces that stay in the cache."""
        n = len(self.X) if rows is None else len(rows)
        out = np.empty((hi - lo, n), self.X.dtype)
        for begin in range(0, n, _PIECE):
            part = slice(begin, begin + _PIECE)
            out[:, part] = self.X[part if rows is None else rows[part], lo:hi].T
        return out

    def ends(self) -> np.ndarray:
        X = self.X
        parts = for_blocks(lambda lo, hi: (X[lo:hi].min(axis=0), X[lo:hi].max(axis=0)), X.shape[0], grain=1 << 14)
        lows, highs = zip(*parts)
        return np.array([np.min(lows, axis=0), np.max(highs, axis=0)])

    def missing(self) -> np.ndarray:
        X = self.X
        return np.any(for_blocks(lambda lo, hi: np.isnan(X[lo:hi]).any(axis=0), X.shape[0], grain=1 << 16), axis=0)

    def category_bins(self, j: int, n_categories: int, max_bins: int) -> tuple[np.ndarray, int, bool]:
        column = self.coded[j] if j in self.coded else self.X[:, j]
        return category_bins(column, n_categories, max_bins, self.weights)


def find_bins(
    X: np.ndarray | Cells,
    *,
    max_bins: int = MOST_BINS,
    weights: np.ndarray | None = None,
    categories: dict[int, int] | None = None,
    coded: dict[int, np.ndarray] | None = None,
    random_splits: bool = False,
    random_state: Any = 0,
) -> Bins:
    """Bins for the columns of X: float32 or float64, NaN where missing, or what is known of a table elsewhere.

    Parameters
    ----------
    weights : array of shape (n,) or None
        A row of weight 2 counts as two rows; rows of weight 0 are not looked at.
    categories : dict of int to int
        The category columns and how many categories each may have: codes 0…K−1, anything below 0 is missing. The
        `max_bins - 1` most frequent ones have a bin each where there are more, and the others share the last.
    coded : dict of int to int array
        Columns of categories as whole numbers, where X does not hold them.
    random_splits : bool, default=False
        Whether thresholds will be drawn along the columns: bins are short as well then, so that what is rare at the
        ends of a column is not all in one, and have places.
    random_state : int, RandomState, Generator or None
        Which rows the edges are taken from where there are more than 200,000, or more than 8,192 for random splits.
    """
    cells = ArrayCells(X, weights, coded) if isinstance(X, np.ndarray) else X
    n, d = cells.shape
    categories = categories or {}
    rows, few = sampled_rows(n, random_splits and weights is None and not categories, random_state)
    sampled = None if weights is None else np.ascontiguousarray(weights if rows is None else weights[rows])
    edges = np.full((d, 256), np.inf)
    places = np.full((d, 256), 65535, dtype=np.uint16) if random_splits else None
    length = _LENGTH if random_splits else 0.0
    n_bins = np.zeros(d, dtype=np.int32)
    has_missing = np.zeros(d, dtype=bool)
    tables: dict[int, np.ndarray] = {}

    def number_column(j: int, values: np.ndarray) -> None:
        present = values == values
        has_missing[j] = not present.all()
        if has_missing[j]:
            values = values[present]
        weight = np.empty(0)
        if sampled is None:
            values.sort()
        else:
            order = np.argsort(values, kind="stable")
            values, weight = values[order], sampled[present][order]
        sorted_column(j, values, weight)

    def sorted_column(j: int, values: np.ndarray, weight: np.ndarray) -> None:
        values = values.astype(np.float64, copy=False)  # sorted in single precision where X is: it takes less time
        inner, distinct = equal_weight_edges(values, weight, max_bins, length, edges[j])
        n_bins[j] = 1 + inner
        if places is not None:
            places_of(values[:distinct], edges[j, :inner], _WAY, places[j])

    def category_column(j: int) -> None:
        tables[j], n_bins[j], has_missing[j] = cells.category_bins(j, categories[j], max_bins)

    def columns(lo: int, hi: int) -> None:
        numbers = cells.some(rows, lo, hi)
        for j in range(lo, hi):
            category_column(j) if j in categories else number_column(j, numbers[j - lo])

    def columns_by_few(lo: int, hi: int) -> None:
        """By some rows, the ends and even steps between them; by all where values repeat or are missing."""
        samples = cells.some(few, lo, hi)
        alike = []
        for j in range(lo, hi):
            values = np.sort(samples[j - lo])
            if np.count_nonzero(values[1:] > values[:-1]) < _VARIED or ends[0, j] != ends[0, j]:
                alike.append(j)
            else:
                values = np.concatenate([values, ends[0, j] * (1 - _EVEN) + ends[1, j] * _EVEN])
                values.sort(kind="stable")
                sorted_column(j, values, np.empty(0))
        numbers = cells.some(rows, lo, hi) if alike else samples
        for j in alike:
            number_column(j, numbers[j - lo])

    if few is not None:
        ends = cells.ends()
        for_blocks(columns_by_few, d, grain=max(1, _CELLS_A_TASK // len(few)))
    else:
        for_blocks(columns, d, grain=max(1, _CELLS_A_TASK // max(n if rows is None else len(rows), 1)))
    if rows is not None:  # a rare missing value may not be in the sample
        has_missing |= cells.missing()
    return Bins(edges, n_bins, has_missing, dict(sorted(tables.items())), places)


def category_bins(
    column: np.ndarray, n_categories: int, max_bins: int, weights: np.ndarray | None
) -> tuple[np.ndarray, int, bool]:
    """The bin of every category (−1: not seen), how many bins there are, and whether something was missing."""
    present = column >= 0  # False for NaN
    codes = column[present].astype(np.int64)
    mass = np.bincount(codes, None if weights is None else weights[present], minlength=n_categories)
    return *bins_by_mass(mass, max_bins), not present.all()


def bins_by_mass(mass: np.ndarray, max_bins: int) -> tuple[np.ndarray, int]:
    """The bin of every category (−1: not seen), and how many bins there are, from the weight of its rows."""
    seen = np.flatnonzero(mass > 0)
    table = np.full(len(mass), -1, dtype=np.int16)
    if len(seen) <= max_bins:
        table[seen] = np.arange(len(seen))
        return table, max(1, len(seen))
    # Categories as frequent as the first without a bin have none either: ties are not broken by the order of the codes.
    least = np.partition(mass[seen], len(seen) - max_bins)[len(seen) - max_bins]
    own = seen[mass[seen] > least]
    if not len(own):  # all are equally frequent
        own = seen[: max_bins - 1]
    table[seen] = len(own)
    table[own] = np.arange(len(own))
    return table, len(own) + 1


def sampled_rows(n: int, by_few: bool, random_state: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The rows that edges are taken from (None: all), and those of bins by few rows (None: there are no such bins)."""
    rows = _sample(n, _SAMPLE, random_state)
    return rows, _sample(n, _ENOUGH, random_state) if by_few and n > 2 * _ENOUGH else None


def _sample(n: int, size: int, random_state: Any) -> np.ndarray | None:
    """One row from each of `size` stretches of equal length, or None for all rows."""
    if n <= size:
        return None
    bounds = np.linspace(0, n, size + 1).astype(np.int64)
    return bounds[:-1] + (generator(random_state).random(size) * np.diff(bounds)).astype(np.int64)


def bin_columns(
    X: np.ndarray,
    *,
    max_bins: int = MOST_BINS,
    weights: np.ndarray | None = None,
    categories: dict[int, int] | None = None,
    random_state: Any = 0,
) -> tuple[np.ndarray, Bins]:
    """The codes of X, one row a column of X: uint8 (n_features, n); and the bins.

    >>> codes, bins = bin_columns(np.array([[1.0], [5.0], [np.nan], [2.0]]))
    >>> codes.tolist(), bins.edges[0, :2].tolist()
    ([[0, 2, 3, 1]], [1.5, 3.5])
    """
    bins = find_bins(X, max_bins=max_bins, weights=weights, categories=categories, random_state=random_state)
    return bins.encode(X)[0], bins
