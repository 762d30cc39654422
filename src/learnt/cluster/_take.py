"""A few rows, by number, out of wherever they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_dask, is_foreign_array, like, namespace, to_numpy
from learnt.engine.rows import Rows, Table


def take_rows(rows: Rows, index: np.ndarray) -> np.ndarray:
    """The rows with these numbers, in this order, as NumPy float64.

    >>> from learnt.engine.rows import as_rows
    >>> take_rows(as_rows(np.arange(6.0).reshape(3, 2)), np.array([2, 0]))
    array([[4., 5.],
           [0., 1.]])
    """
    X: Any = rows.X
    order = np.argsort(index, kind="stable")
    wanted = index[order]
    if is_dask(X):
        if not hasattr(X, "rechunk"):
            X = X.to_dask_array(lengths=True)
        if np.isnan(X.chunks[0]).any():
            X.compute_chunk_sizes()
        found = X[wanted].compute()
    elif isinstance(X, Table):
        found = _from_table(X, wanted)
    elif is_foreign_array(X):
        xp = namespace(X)
        found = to_numpy(xp.take(X, like(wanted, X, xp.int64), axis=0))
    else:
        found = X[wanted]
    if sparse.issparse(found):
        found = found.toarray()
    out = np.empty(found.shape)
    out[order] = found
    return out


def _from_table(table: Table, wanted: np.ndarray) -> np.ndarray:
    """One reading of the file in blocks; only the wanted rows are kept."""
    step = table.read_rows
    parts = []
    for lo in range(0, table.n_rows, step):
        here = wanted[(wanted >= lo) & (wanted < lo + step)] - lo
        if here.size:
            parts.append(table.numbers(lo, min(lo + step, table.n_rows))[here])
    return np.concatenate(parts)
