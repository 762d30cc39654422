"""Rows of anything: arrays of every library, data frames, sparse matrices, lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.matrices import Route, route, take_rows
from learnt.engine.threads import for_blocks
from learnt.engine.validation import refuse_unnumbered

_BLOCK_BYTES = 1 << 20  # the smallest block of rows for a task


def count_rows(x: Any, name: str = "an array") -> int:
    """How many rows `x` has."""
    shape = getattr(x, "shape", None)
    if isinstance(x, str) or (shape is not None and len(shape) == 0):
        raise TypeError(f"Expected arrays or tables to split, and {name} is a single value: {x!r}.")
    refuse_unnumbered(x, "A split")
    try:
        return int(shape[0]) if shape is not None else len(x)
    except TypeError:
        raise TypeError(f"Expected arrays or tables to split, and {name} is a {type(x).__name__}.") from None


def take(x: Any, rows: np.ndarray) -> Any:
    """The given rows of `x`, in that order, in the same kind of container; always a copy, never a view.

    >>> take(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if x is None:
        return None
    if isinstance(x, np.ndarray):
        return take_array(x, rows)
    path = route(x)
    if path is Route.SPARSE:
        return x.tocsr()[rows]  # whatever the format was, as scikit-learn does
    if path is Route.DEVICE:
        return take_rows(x, rows)
    if hasattr(x, "take") and (hasattr(x, "iloc") or type(x).__module__.partition(".")[0] == "pyarrow"):
        return x.take(rows)
    if isinstance(x, list | tuple):
        return [x[i] for i in rows.tolist()]
    if hasattr(x, "__getitem__") and hasattr(x, "shape"):  # polars, Dask, xarray and the like
        return x[rows]
    if hasattr(x, "__array__"):
        return take_array(np.asarray(x), rows)
    return [x[i] for i in rows.tolist()]


def take_array(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows of a NumPy array (or memory map) on all threads; columns stay together where they were."""
    x = x.view(np.ndarray)  # a memory map's rows are an ordinary array
    if rows.size and rows[-1] - rows[0] == rows.size - 1 and bool((rows[1:] - rows[:-1] == 1).all()):
        return x[rows[0] : rows[-1] + 1].copy(order="K")
    if x.ndim == 2 and x.flags.f_contiguous and not x.flags.c_contiguous:
        out = np.empty((rows.size, x.shape[1]), dtype=x.dtype, order="F")
        grain = max(1, _BLOCK_BYTES // max(1, rows.size * x.dtype.itemsize))
        for_blocks(lambda lo, hi: _fill(x.T[lo:hi], rows, out.T[lo:hi], 1), x.shape[1], grain=grain)
        return out
    out = np.empty((rows.size, *x.shape[1:]), dtype=x.dtype)
    width = max(1, x.dtype.itemsize * (x[:1].size if x.shape[0] else 1))
    grain = max(1024, _BLOCK_BYTES // width)
    for_blocks(lambda lo, hi: _fill(x, rows[lo:hi], out[lo:hi], 0), rows.size, grain=grain)
    return out


def _fill(x: np.ndarray, rows: np.ndarray, out: np.ndarray, axis: int) -> None:
    # "clip" spares NumPy a buffer of the size of the result; the rows are ours and inside.
    np.take(x, rows, axis=axis, out=out, mode="clip")
