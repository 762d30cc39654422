"""Functions of a matrix with the same result whatever holds it: NumPy, SciPy's sparse formats, a tensor.

Estimators call these and do not test what kind of data they have. Where two kinds need two algorithms (a kernel over
CSR, a loop over blocks) `route` names the four code paths there are.

    dense(X)  stored(X)  n_stored(X)   an array of all cells; the cells that are stored, and how many
    product(A, B)  affine(X, coef, b)  products, dense
    square(X)  row_squares(X)          x² and Σⱼ xᵢⱼ²; column_sum, column_squares likewise
    double(x)  cast(x, dtype)          float64, or another dtype, without a copy where it is that already
    take_rows(X, rows)                 some rows of anything that has rows
    join(parts, axis)  identity(x, n)  what the Array API and older NumPy call differently
    route(X)  on_host(X)               the code path
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import device_of, is_foreign_array, is_lazy, is_numpy, like, namespace, to_numpy


class Route(Enum):
    """The code paths: how the cells of X can be read."""

    DENSE = "dense"  # NumPy: kernels and BLAS
    SPARSE = "sparse"  # SciPy: kernels over the stored cells
    DEVICE = "device"  # another library's namespace, on the tensor's device
    BLOCKS = "blocks"  # never whole in memory: sums over blocks of rows


def route(X: Any) -> Route:
    """Which code path X takes; determined once in a fit.

    >>> route(np.zeros((2, 2))), route(sparse.csr_array((2, 2)))
    (<Route.DENSE: 'dense'>, <Route.SPARSE: 'sparse'>)
    """
    if is_numpy(X):
        return Route.DENSE
    if sparse.issparse(X):
        return Route.SPARSE
    if is_lazy(X):
        return Route.BLOCKS
    return Route.DEVICE if is_foreign_array(X) else Route.DENSE


def on_host(X: Any) -> bool:
    """Whether X is an array of NumPy or SciPy, which compiled code can read in place.

    >>> on_host(np.zeros(2)), on_host([0, 0])
    (True, False)
    """
    return is_numpy(X) or sparse.issparse(X)


def dense(X: Any) -> Any:
    """X with all its cells: a sparse matrix as a NumPy array, anything else as it is.

    >>> dense(sparse.csr_array([[0.0, 1.0]]))
    array([[0., 1.]])
    """
    return X.toarray() if sparse.issparse(X) else X


def stored(X: Any) -> Any:
    """The cells that are stored: the others are 0.

    >>> stored(sparse.csr_array([[0.0, 1.0]]))
    array([1.])
    """
    return X.data if sparse.issparse(X) else X


def n_stored(X: Any) -> int:
    """How many cells are stored.

    >>> n_stored(sparse.csr_array([[0.0, 1.0]])), n_stored(np.zeros((3, 2)))
    (1, 6)
    """
    if sparse.issparse(X):
        return int(X.nnz)
    return int(X.size) if is_numpy(X) else int(np.prod(X.shape))


def product(A: Any, B: Any) -> Any:
    """A @ B, dense also where both are sparse."""
    return dense(A @ B)


def affine(X: Any, coef: Any, intercept: Any) -> Any:
    """X coefᵀ + intercept of rows in memory: (n,) for one vector of coefficients, (n, k) for several.

    >>> affine(sparse.csr_array([[1.0, 2.0]]), np.array([1.0, 1.0]), 0.5)
    array([3.5])
    """
    return X @ (coef if coef.ndim == 1 else coef.T) + intercept


def curved_gram(X: Any, w: Any) -> Any:
    """Xᵀ diag(w) X for weights of at least 0, dense d × d: as AᵀA with A = √w X, a symmetric product of half the cost.

    >>> curved_gram(sparse.csr_array([[1.0, 2.0]]), np.array([4.0]))
    array([[ 4.,  8.],
           [ 8., 16.]])
    """
    if sparse.issparse(X):
        return (X.T @ sparse.diags_array(w) @ X).toarray()
    A = X * namespace(X).sqrt(w)[:, None]
    return A.T @ A


def square(X: Any) -> Any:
    """x² of every cell, sparse where X is."""
    return X.power(2) if sparse.issparse(X) else X**2


def dense_parts(X: Any, cells: int) -> list[Any]:
    """X as dense pieces of rows: a sparse matrix in parts of about `cells` cells, anything else as it is.

    >>> [part.shape for part in dense_parts(sparse.csr_array((5, 10)), 20)]
    [(2, 10), (2, 10), (1, 10)]
    """
    if not sparse.issparse(X):
        return [X]
    step = max(1, cells // max(1, X.shape[1]))
    return [X[lo : lo + step].toarray() for lo in range(0, X.shape[0], step)]


def row_squares(X: Any) -> Any:
    """Σⱼ xᵢⱼ² of every row.

    >>> row_squares(np.array([[3.0, 4.0]]))
    array([25.])
    """
    if is_numpy(X):
        return np.einsum("ij,ij->i", X, X)
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return namespace(X).sum(X * X, axis=1)


def column_sum(Z: Any) -> Any:
    """Σ of the rows; as a product with NumPy, which is slow at sums over rows where there are few columns."""
    return np.ones(Z.shape[0], dtype=Z.dtype) @ Z if is_numpy(Z) else namespace(Z).sum(Z, axis=0)


def column_squares(Z: Any) -> Any:
    """Σᵢ zᵢⱼ² of every column."""
    return np.einsum("ij,ij->j", Z, Z) if is_numpy(Z) else namespace(Z).sum(Z * Z, axis=0)


def diagonals(S: Any) -> Any:
    """The diagonals of one matrix or of a stack of them."""
    return np.diagonal(S, axis1=-2, axis2=-1) if is_numpy(S) else namespace(S).linalg.diagonal(S)


def stable_order(x: Any) -> Any:
    """The order that sorts x, equal ones as they came."""
    return np.argsort(x, kind="stable") if is_numpy(x) else namespace(x).argsort(x, stable=True)


def cast(x: Any, dtype: Any) -> Any:
    """x in another dtype, without a copy where it has that dtype already."""
    return namespace(x).astype(x, dtype, copy=False) if is_foreign_array(x) else x.astype(dtype, copy=False)


def double(x: Any) -> Any:
    """x as float64, in its library: cells of a sparse matrix, integers and float32 alike."""
    return cast(x, namespace(x).float64)


def in_numpy(values: Any) -> Any:
    """Arrays of other libraries as NumPy's; everything else, sparse matrices and frames too, as it is."""
    return to_numpy(values) if is_foreign_array(values) else values


def to_device_of_as_double(values: Any, X: Any) -> Any:
    """A model's arrays in the library and on the device of the rows X, in float64 whatever the rows' dtype."""
    return like(to_numpy(values), X, namespace(X).float64) if is_foreign_array(X) else to_numpy(values)


def result_dtype(X: Any) -> Any:
    """The dtype of results for the rows X: that of a tensor, float64 for all that NumPy computes."""
    return X.dtype if is_foreign_array(X) else np.dtype(np.float64)


def join(parts: list[Any], axis: int = 0) -> Any:
    """Matrices of one library below (axis 0) or beside (axis 1) each other; a single one as it is."""
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr") if axis == 0 else sparse.hstack(parts, format="csr")
    return namespace(parts[0]).concat(parts, axis=axis) if is_foreign_array(parts[0]) else np.concatenate(parts, axis)


def row_by_row(X: Any) -> Any:
    """A NumPy or SciPy matrix as kernels that walk rows read it: in C order, or CSR.

    >>> row_by_row(np.zeros((2, 3)).T).flags.c_contiguous
    True
    """
    return X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)


def identity(reference: Any, n: int | None = None) -> Any:
    """The n × n identity matrix in the library, dtype and device of `reference`, by default with as many rows."""
    n = reference.shape[0] if n is None else n
    if is_numpy(reference):
        return np.eye(n, dtype=reference.dtype)
    return namespace(reference).eye(n, dtype=reference.dtype, device=device_of(reference))


def take_rows(table: Any, rows: Any) -> Any:
    """Some rows of an array, a sparse matrix, a list, or a frame or series of any library: numbers, flags or a slice.

    >>> take_rows(["a", "b", "c"], np.array([0, 2]))
    ['a', 'c']
    """
    if isinstance(table, np.ndarray):
        return table[rows]
    if is_foreign_array(table):
        if isinstance(rows, slice):
            return table[rows, ...]
        places = like(np.arange(table.shape[0])[rows], table, namespace(table).int64)
        return namespace(table).take(table, places, axis=0)
    if sparse.issparse(table):
        return (table if table.format in ("csr", "csc") else table.tocsr())[rows]
    import narwhals as nw

    if isinstance(rows, np.ndarray) and rows.dtype.kind == "b":
        rows = np.flatnonzero(rows)
    native = nw.from_native(table, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native[rows].to_native()
    if isinstance(table, list | tuple):
        return table[rows] if isinstance(rows, slice) else [table[i] for i in rows]
    return np.asarray(table)[rows]
