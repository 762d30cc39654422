"""Columns in the layout that coordinate descent reads: the entries of a sparse table, the transpose of a dense one.

Each is scaled by one number a row (√h for second derivatives h): a copy, so that only the residual is read at random.
Columns are read in plain loops of each kernel: a slice of an array, or a call with one, costs more than a thin column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel

_THIN = 0.2  # density, from which a sparse product costs more than a dense one

Compressed = tuple[np.ndarray, np.ndarray, np.ndarray]


def compressed(X: Any) -> Compressed:
    """Values, indices and index pointer of a CSC or CSR matrix, as the kernels take them."""
    data, indices, indptr = X.data, X.indices, X.indptr
    # unsigned: a signed index would be tested for being negative at every access
    places = np.require(indices, np.int32, ["C", "W"]).view(np.uint32)
    return np.require(data, data.dtype, ["C", "W"]), places, indptr.astype(np.uint64)


class Entries:
    """Some columns of a sparse table, each times √h."""

    def __init__(self, parts: Compressed, columns: np.ndarray, root: np.ndarray) -> None:
        data, indices, indptr = parts
        self.sizes = (indptr[columns + 1] - indptr[columns]).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self.shape = len(root), len(columns)
        self.parts = np.empty(starts[-1]), np.empty(starts[-1], dtype=np.uint32), starts.astype(np.uint64)
        self.squares = np.empty(len(columns))
        gather(data, indices, indptr, columns.astype(np.uint64), root, *self.parts[:2], self.squares)

    def sweep(self, *others: Any) -> float:
        return sweep(*self.parts, *others)

    def add(self, which: np.ndarray, change: np.ndarray, out: np.ndarray) -> None:
        """out += Σ change · x."""
        add_columns(*self.parts, which.view(np.uint64), change, out)

    def matrix(self, which: np.ndarray) -> Any:
        values, rows, starts = self.parts
        A = sparse.csc_array((values, rows.view(np.int32), starts.astype(np.int64)), shape=self.shape)[:, which]
        return A.toarray() if A.nnz > _THIN * A.shape[0] * A.shape[1] else A


class Table:
    """Columns of a dense table, each times √h, as rows."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows, self.shape = rows, rows.shape[::-1]
        self.squares = np.einsum("ij,ij->i", rows, rows)
        self.sizes = np.full(len(rows), rows.shape[1])

    def sweep(self, *others: Any) -> float:
        return sweep_rows(self.rows, *others)

    def add(self, which: np.ndarray, change: np.ndarray, out: np.ndarray) -> None:
        """out += Σ change · x."""
        every = np.zeros(len(self.rows))
        every[which] = change
        out += every @ self.rows

    def matrix(self, which: np.ndarray) -> Any:
        return self.rows[which].T


@kernel
def gather(data, indices, indptr, columns, root, values, rows, curves):
    """The columns x√h one after the other, and their squares."""
    place = np.uint64(0)
    for k in range(columns.size):
        total = 0.0
        for e in range(indptr[columns[k]], indptr[columns[k] + np.uint64(1)]):
            x = data[e] * root[indices[e]]
            values[place] = x
            rows[place] = indices[e]
            place += np.uint64(1)
            total += x * x
        curves[k] = total


@kernel(reassociate=True)
def sweep(values, rows, starts, curves, inverse, l1, l2, which, v, r, steps):
    """Minimise over each coordinate of `which`; returns by how much the objective fell."""
    fell = 0.0
    for t in range(which.size):
        k = which[t]
        lo, hi, old = starts[k], starts[k + np.uint64(1)], v[k]
        aim = (curves[k] - l2) * old
        for e in range(lo, hi):
            aim += values[e] * r[rows[e]]
        new = (max(aim - l1, 0.0) + min(aim + l1, 0.0)) * inverse[k]
        step = new - old
        steps[t] = step
        if step != 0.0:
            v[k] = new
            fell += 0.5 * curves[k] * step * step
            for e in range(lo, hi):
                r[rows[e]] -= step * values[e]
    return fell


@kernel(reassociate=True)
def sweep_rows(values, curves, inverse, l1, l2, which, v, r, steps):
    """The same for columns that are the rows of an array."""
    fell = 0.0
    for t in range(which.size):
        k = which[t]
        old = v[k]
        aim = (curves[k] - l2) * old
        for n in range(r.size):
            aim += values[k, n] * r[n]
        new = (max(aim - l1, 0.0) + min(aim + l1, 0.0)) * inverse[k]
        step = new - old
        steps[t] = step
        if step != 0.0:
            v[k] = new
            fell += 0.5 * curves[k] * step * step
            for n in range(r.size):
                r[n] -= step * values[k, n]
    return fell


@kernel
def add_columns(data, indices, indptr, columns, change, out):
    """out += Σ change · x over some columns of a CSC matrix, or rows of a CSR matrix."""
    for k in range(columns.size):
        for e in range(indptr[columns[k]], indptr[columns[k] + np.uint64(1)]):
            out[indices[e]] += change[k] * data[e]


@kernel(reassociate=True)
def column_dots(data, indices, indptr, columns, u, out):
    """out ← x·u of some columns of a CSC matrix, or rows of a CSR matrix."""
    for k in range(columns.size):
        total = 0.0
        for e in range(indptr[columns[k]], indptr[columns[k] + np.uint64(1)]):
            total += data[e] * u[indices[e]]
        out[k] = total
