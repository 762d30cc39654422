"""scipy.sparse matrices and arrays: compressed rows, compressed columns, coordinates. Every index is checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import shown
from learnt.persistence._errors import Refused

_FORMATS = ("csr", "csc", "coo")


def parts_of(matrix: Any) -> dict[str, Any]:
    """A sparse container as shape, format and plain arrays."""
    if matrix.format not in _FORMATS or len(matrix.shape) != 2:
        raise Refused(f"is a sparse {matrix.format} container, which a model file cannot hold; call .tocsr() first")
    kind = "array" if type(matrix).__name__.endswith("_array") else "matrix"
    parts: dict[str, Any] = {"format": matrix.format, "kind": kind, "shape": [int(n) for n in matrix.shape]}
    if matrix.format == "coo":
        return {**parts, "data": matrix.data, "row": matrix.row, "col": matrix.col}
    used = int(matrix.indptr[-1])  # more may be allocated than used
    return {**parts, "data": matrix.data[:used], "indices": matrix.indices[:used], "indptr": matrix.indptr}


def _indices(array: Any, below: int, what: str) -> np.ndarray:
    if type(array) is not np.ndarray or array.ndim != 1 or array.dtype not in (np.int32, np.int64):
        raise Refused(f"is a sparse container whose {what} are not a list of integers")
    if array.size and (array.min() < 0 or array.max() >= below):
        raise Refused(f"is a sparse container whose {what} lie outside 0 to {below - 1:,}")
    return array


def from_parts(parts: dict[str, Any]) -> Any:
    """Restore the sparse container."""
    import scipy.sparse

    fmt, kind, shape, data = (parts.get(key) for key in ("format", "kind", "shape", "data"))
    if type(fmt) is not str or fmt not in _FORMATS or type(kind) is not str or kind not in ("array", "matrix"):
        raise Refused(f"is a sparse container of the unknown kind {shown(fmt)}")
    names = ("row", "col") if fmt == "coo" else ("indices", "indptr")
    if parts.keys() != {"format", "kind", "shape", "data", *names}:
        raise Refused("is a sparse container with other parts than it has")
    if type(shape) is not list or len(shape) != 2 or not all(type(n) is int and 0 <= n < 2**40 for n in shape):
        raise Refused(f"is a sparse container of the shape {shown(shape)}")
    if type(data) is not np.ndarray or data.ndim != 1 or data.dtype.kind not in "biufc":
        raise Refused("is a sparse container whose data is not a list of numbers")
    make = getattr(scipy.sparse, f"{fmt}_{kind}")
    if fmt == "coo":
        row, col = _indices(parts["row"], shape[0], "rows"), _indices(parts["col"], shape[1], "columns")
        if not row.size == col.size == data.size or row.dtype != col.dtype:
            raise Refused("is a sparse container whose rows, columns and data differ in length")
        return make((data, (row, col)), shape=tuple(shape))
    major, minor = shape if fmt == "csr" else shape[::-1]
    indices = _indices(parts["indices"], minor, "indices")
    pointers = _indices(parts["indptr"], indices.size + 1, "pointers")
    if data.size != indices.size or pointers.size != major + 1 or pointers.dtype != indices.dtype:
        raise Refused("is a sparse container whose indices, pointers and data differ in length")
    if pointers[0] != 0 or pointers[-1] != indices.size or (np.diff(pointers) < 0).any():
        raise Refused("is a sparse container whose pointers do not rise from 0 to the number of its values")
    return make((data, indices, pointers), shape=tuple(shape))
