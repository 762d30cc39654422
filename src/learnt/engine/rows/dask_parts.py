"""Partitions of Dask collections: taken apart, read as blocks of numbers, and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_dask_array
from learnt.engine.cells import floats_of, is_frame
from learnt.engine.finite import bad_cells, refuse_bad
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


def as_block(X: Any, y: Any, w: Any, reading: Reading, start: int = 0) -> Block:
    """One partition as arrays: finite numbers, or an error that says which are not."""
    if reading.cells is not None:
        X = reading.cells(X)
    elif not sparse.issparse(X):
        X = _matrix(X, reading.dtype, start)
    for name, values in (("y", y), ("sample_weight", w)):
        if values is not None and len(values) != X.shape[0]:
            raise ValueError(
                f"A partition of X has {X.shape[0]} rows and that of {name} {len(values)}; repartition them alike."
            )
    return Block(
        X, None if y is None else _values(y), None if w is None else np.asarray(_values(w), dtype=np.float64), start
    )


def _matrix(part: Any, dtype: Any, start: int) -> np.ndarray:
    """A partition's cells; `start` is the number of its first row in the whole table."""
    X = np.ascontiguousarray(floats_of(part, _WHO), dtype=dtype)
    X = X[:, None] if X.ndim == 1 else X
    bad = bad_cells(X)
    if bad is not None:  # of other partitions nothing is known
        row, *column = bad.position
        columns = [str(name) for name in part.columns] if is_frame(part) else None
        refuse_bad(bad._replace(position=(start + row, *column), in_all=1), "X", _WHO, columns)
    return X


def _values(x: Any) -> np.ndarray:
    return x.to_numpy() if hasattr(x, "to_numpy") else np.asarray(x)
