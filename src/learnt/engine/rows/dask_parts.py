"""Partitions of Dask collections: taken apart, read as blocks of numbers, and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_dask_array
from learnt.engine.cells import floats_of, is_frame
from learnt.engine.finite import bad_cells, refuse_bad, rows_as_given
from learnt.engine.matrices import take_rows
from learnt.engine.rows.array_rows import Cells
from learnt.engine.rows.blocks import Block

NO_ROWS = "X has 0 rows in all its partitions; at least 1 is required."
_WHO = "this estimator"  # rows are read for any of them


class Reading(NamedTuple):
    """How a partition becomes a matrix: finite numbers of this type, or what `cells` makes of it."""

    dtype: Any
    cells: Cells | None = None


def partitions(collection: Any) -> list[Any]:
    """The pieces of a collection in order, each with all columns of its rows."""
    if is_dask_array(collection) and collection.ndim == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def known_lengths(collection: Any) -> list[int] | None:
    """How many rows each partition has; None where nobody has counted them."""
    if not is_dask_array(collection) or np.isnan(collection.chunks[0]).any():
        return None
    return [int(n) for n in collection.chunks[0]]


def rows_of_parts(parts: Sequence[Any], lengths: Sequence[int], tail: tuple[int, ...], dtype: Any) -> Any:
    """The lazy array of these rows, of shape (lengths[i], *tail) each; parts without rows stay where they are.

    (`dask.array.concatenate` drops those, and what goes with X by its partitions would no longer fit.)
    """
    import dask.array as da
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph

    pieces = [da.from_delayed(part, (n, *tail), dtype=dtype) for part, n in zip(parts, lengths, strict=True)]
    name, zeros = f"learnt-rows-{tokenize([piece.name for piece in pieces])}", (0,) * len(tail)
    layer = {(name, i, *zeros): (piece.name, 0, *zeros) for i, piece in enumerate(pieces)}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=pieces)
    return da.Array(graph, name, (tuple(lengths), *((width,) for width in tail)), dtype=dtype)


def only_rows(collection: Any, rows: np.ndarray, lengths: Sequence[int], checked: bool) -> Any:
    """The collection of the rows with these numbers, which increase, where each partition has so many rows.

    `checked`: cells are to be finite numbers, and others are refused while rows have the numbers that they have in the
    whole table; a frame is an array of chunks of known lengths then.
    """
    from dask import delayed

    starts = np.cumsum([0, *lengths]).tolist()
    ends = np.searchsorted(rows, starts).tolist()
    spans = [
        Span(n, start, rows[lo:hi] - start) for n, start, (lo, hi) in zip(lengths, starts, pairwise(ends), strict=False)
    ]
    in_frames = not is_dask_array(collection)
    if in_frames and not checked:
        return collection.map_partitions(_rows_of_numbered_part, delayed(spans), meta=collection._meta)
    some = delayed(_finite_rows_of_part if checked else _rows_of_part)
    parts = [some(part, span) for part, span in zip(partitions(collection), spans, strict=True)]
    dtype = np.float64 if in_frames else collection.dtype
    return rows_of_parts(parts, [len(span.rows) for span in spans], collection.shape[1:], dtype)


class Span(NamedTuple):
    """The rows of one partition: how many it has, the number of its first, and which of them are meant."""

    n: int
    start: int
    rows: np.ndarray


def _rows_of_numbered_part(part: Any, spans: list[Span], partition_info: Any = None) -> Any:
    return part if partition_info is None else _rows_of_part(part, spans[partition_info["number"]])


def _finite_rows_of_part(part: Any, span: Span) -> Any:
    some = _rows_of_part(part, span)
    if sparse.issparse(some):
        return some
    matrix = _matrix(some, None, span.start + span.rows)
    return matrix.astype(np.float64, copy=False) if is_frame(some) else some


def _rows_of_part(part: Any, span: Span) -> Any:
    if (n := len_of(part)) != span.n:
        raise ValueError(
            f"A partition of X or y has {n} rows and that of sample_weight {span.n}; repartition them alike."
        )
    return take_rows(part, span.rows)


def len_of(part: Any) -> int:
    """How many rows a partition has, sparse ones too."""
    return part.shape[0] if hasattr(part, "shape") else len(part)


def as_block(X: Any, y: Any, w: Any, reading: Reading, start: int = 0) -> Block:
    """One partition as arrays: finite numbers, or an error that says which are not."""
    if reading.cells is not None:
        with rows_as_given(range(start, start + len_of(X))):
            X = reading.cells(X)
    elif not sparse.issparse(X):
        X = _matrix(X, reading.dtype, range(start, start + len(X)))
    for name, values in (("y", y), ("sample_weight", w)):
        if values is not None and len(values) != X.shape[0]:
            raise ValueError(
                f"A partition of X has {X.shape[0]} rows and that of {name} {len(values)}; repartition them alike."
            )
    return Block(
        X, None if y is None else _values(y), None if w is None else np.asarray(_values(w), dtype=np.float64), start
    )


def _matrix(part: Any, dtype: Any, numbers: Sequence[int] | np.ndarray) -> np.ndarray:
    """A partition's cells; `numbers` are those of its rows in the whole table."""
    X = np.ascontiguousarray(floats_of(part, _WHO), dtype=dtype)
    X = X[:, None] if X.ndim == 1 else X
    bad = bad_cells(X)
    if bad is not None:  # of other partitions nothing is known
        row, *column = bad.position
        columns = [str(name) for name in part.columns] if is_frame(part) else None
        refuse_bad(bad._replace(position=(int(numbers[row]), *column), in_all=1), "X", _WHO, columns)
    return X


def _values(x: Any) -> np.ndarray:
    return x.to_numpy() if hasattr(x, "to_numpy") else np.asarray(x)
