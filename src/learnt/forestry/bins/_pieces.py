"""Pieces of files and partitions as matrices, and the categories that are in them: text, missing cells and all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from learnt.engine.arrays import is_dask
from learnt.engine.cells import frame_matrix, is_frame
from learnt.engine.matrices import dense
from learnt.engine.rows import Block, Rows, Table, as_rows
from learnt.engine.single import require_float32
from learnt.forestry.bins._categories import (
    category_mask,
    column_cells,
    factorised,
    reads_as_number,
    with_codes,
)


@dataclass(frozen=True)
class PieceCells:
    """Makes a matrix of a piece: NaN where a cell is missing, codes in place of categories.

    Parameters
    ----------
    name : str
        The estimator, for errors.
    columns : list of str or int
        The names of the columns that every piece must have, or their number.
    categories : dict of int to array
        The values of each column of categories.
    single : bool, default=False
        Whether the matrix is one of float32; what that cannot hold is refused.
    non_negative : bool, default=True
        Whether a negative number in a column of categories is a missing value.
    """

    name: str
    columns: Any
    categories: dict[int, np.ndarray] = field(default_factory=dict)
    single: bool = False
    non_negative: bool = True

    def __call__(self, piece: Any) -> np.ndarray:
        matrix = self._matrix(piece)
        if not self.single:
            return matrix
        require_float32(matrix, self.name)
        return matrix.astype(np.float32, copy=False)

    def _matrix(self, piece: Any) -> np.ndarray:
        if not is_frame(piece):
            piece = np.asarray(dense(piece))
            if piece.shape[1] != self._n_columns:
                raise ValueError(
                    f"A piece of X has {piece.shape[1]} columns and {self.name} was given {self._n_columns}; "
                    "give all partitions the same columns."
                )
            matrix = with_codes(piece, self.categories, non_negative=self.non_negative)
            return np.ascontiguousarray(matrix, dtype=None if matrix.dtype == np.float32 else np.float64)
        if isinstance(self.columns, list) and (found := list(map(str, piece.columns))) != self.columns:
            other = next((c for c in (*found, *self.columns) if (c in found) != (c in self.columns)), "their order")
            raise ValueError(
                f"A piece of X differs in its columns ({other}) from the first; give all partitions the same columns, "
                "in the same order."
            )
        return frame_matrix(with_codes(piece, self.categories, non_negative=self.non_negative), self.name)

    @property
    def _n_columns(self) -> int:
        return self.columns if isinstance(self.columns, int) else len(self.columns)


def piece_cells(X: Any, name: str, categories: dict[int, np.ndarray], **options: bool) -> PieceCells:
    """How pieces of a `learnt.scan` table or a Dask collection become matrices."""
    names = list(getattr(X, "columns", []))
    return PieceCells(name, list(map(str, names)) if names else int(X.shape[1]), categories, **options)


@dataclass(frozen=True)
class Seen:
    """The values of one column in increasing order, and the weight of the rows that have each."""

    values: np.ndarray
    mass: np.ndarray

    def mass_of(self, known: np.ndarray) -> np.ndarray:
        """The weight of the rows that have each of the known values."""
        mass = dict(zip(self.values.tolist(), self.mass.tolist()))
        return np.array([mass.get(value, 0.0) for value in known.tolist()])


def category_columns(given: Any, X: Any, name: str) -> dict[int, bool]:
    """The columns that may hold categories by the parameter `categorical_features`, and whether they do for certain.

    Text is not a category where all of it reads as numbers, which is known once it has been read.
    """
    empty: Any = X._meta if is_dask(X) and hasattr(X, "columns") else X.empty() if hasattr(X, "empty") else None
    if not is_frame(empty):
        empty = np.empty((0, X.shape[1]))
    mask = category_mask(given, empty, name)
    certain = {} if mask is None else dict.fromkeys(np.flatnonzero(mask).tolist(), True)
    if isinstance(given, str) and is_frame(empty):
        import narwhals as nw

        for j, dtype in enumerate(nw.from_native(empty).schema.values()):
            if dtype in (nw.String, nw.Object):
                certain.setdefault(j, False)
    return certain


def seen_values(
    rows: Rows, columns: dict[int, bool], there: np.ndarray | None = None, w: np.ndarray | None = None
) -> dict[int, Seen]:
    """The values of columns that hold categories, and the weight of the rows that have each.

    `there` flags the rows that are looked at (None: all); `columns` are those of `category_columns`.
    """
    if not columns:
        return {}
    places = list(columns)
    parts, read = rows.again(there, w, _as_it_is), places
    if isinstance(rows.X, Table):  # only these columns of the file
        some = rows.X[[rows.X.columns[j] for j in places]]
        parts, read = as_rows(some, there, w, cells=_as_it_is), list(range(len(places)))
    totals: list[dict[Any, float]] = [{} for _ in places]
    for _, found in parts.pieces(_values_of_piece, read):
        for total, (values, mass) in zip(totals, found, strict=True):
            for value, weight in zip(values, mass):
                total[value] = total.get(value, 0.0) + weight
    out = {}
    for j, total in zip(places, totals):
        kinds = {isinstance(value, str) for value in total}
        if len(kinds) > 1:
            raise ValueError(
                f"Column {j} of X holds text in some pieces and numbers in others; give it one type in all of them."
            )
        if not columns[j] and all(map(reads_as_number, total)):
            continue
        ordered = sorted(total)
        dtype = object if True in kinds else np.float64
        out[j] = Seen(np.array(ordered, dtype=dtype), np.array([total[v] for v in ordered]))
    return out


def _as_it_is(piece: Any) -> Any:
    return piece if is_frame(piece) else np.asarray(dense(piece))


def _values_of_piece(block: Block, places: list[int]) -> list[tuple[list[Any], np.ndarray]]:
    """The values of some columns of a piece and the weight of the rows that have each."""
    return [_values_of_column(column_cells(block.X, j), block) for j in places]


def _values_of_column(column: np.ndarray, block: Block) -> tuple[list[Any], np.ndarray]:
    numbers = column.dtype.kind == "f"
    known = column >= 0 if numbers else np.array([v is not None for v in column.tolist()], dtype=bool)
    there = known if block.y is None else known & block.y
    values, inverse = np.unique(column[there], return_inverse=True) if numbers else factorised(column[there])
    mass = np.bincount(inverse, None if block.w is None else block.w[there], minlength=len(values))
    return list(values), mass.astype(np.float64)
