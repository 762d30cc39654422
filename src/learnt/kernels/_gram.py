"""Whole kernel matrices, computed some rows at a time, with one block of extra memory for each thread.

Blocks depend on the data only, so that results do not depend on the number of threads.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import device_of, full_precision, is_foreign_array, is_numpy, namespace, native
from learnt.engine.matrices import join, take_rows
from learnt.engine.rows.blocks import widen
from learnt.engine.threads import run_tasks, single_blas
from learnt.kernels._differences import length

_CELLS = 1 << 16  # entries of a block: half a megabyte, which stays in the cache
_ROWS = 64  # fewest rows of a block, and a factor of their number: BLAS takes some rows at a time, rests are slow
_DEVICE_CELLS = 1 << 26
_FEW = 8  # columns of a product that costs less than the entries of the matrix
_BAND, _RUNS = 256, 16  # rows at a time, and separate partial sums


def as_rows_of_kernel(X: Any, anything: bool = False) -> Any:
    """Rows as kernels read them: arrays of two axes, CSR matrices, and lists of anything else as they are.

    A vector is one row, but to kernels of `anything` each of its entries is one.
    """
    if anything and (np.isscalar(X) or X is None):
        raise TypeError(f"Expected sequence or array-like, got {type(X)}; give one entry a row.")
    if is_foreign_array(X):
        return X
    if sparse.issparse(X):
        return X.tocsr()
    if is_numpy(X):
        return X if X.dtype.kind not in "biuf" else native(_two_axes(X, anything))
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return X
    return _two_axes(array, anything)


def _two_axes(X: np.ndarray, anything: bool) -> np.ndarray:
    return X[:, None] if anything and X.ndim == 1 else np.atleast_2d(X)


def gram(kernel: Any, X: Any, Y: Any = None) -> Any:
    """Return k(xᵢ, zⱼ) for all rows of X and Y, or of X with itself.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array-like of shape (n, n_features)
        Rows.
    Y : array-like of shape (m, n_features) or None, default=None
        Rows to compare them with; None for X itself.

    Returns
    -------
    array of shape (n, m)
        The kernel matrix, in the array library of X.

    See Also
    --------
    gram_times : Its product with a matrix, without the whole of it.
    lower_gram : The lower triangle alone.

    Examples
    --------
    >>> from learnt.kernels import RBF
    >>> gram(RBF(1.0), [[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """
    anything = not getattr(kernel, "requires_vector_input", True)
    X = as_rows_of_kernel(X, anything)
    same = Y is None
    Y = X if same else as_rows_of_kernel(Y, anything)
    n, m = length(X), length(Y)
    if not getattr(kernel, "in_blocks", False):
        return _shaped(kernel(X) if same else kernel(X, Y), n, m)
    if is_foreign_array(X):
        starts = _starts(n, max(1, _DEVICE_CELLS // max(m, 1)))
        with full_precision(X):
            if len(starts) == 1:
                return kernel.block(X, Y, 0 if same else None)
            blocks = (kernel.block(X[lo:hi, ...], Y, lo if same else None) for lo, hi in starts)
            return _joined(blocks, starts, n, m, X)
    X, Y = widen(X), widen(Y)
    starts = _starts(n, _rows_of(_CELLS, m))
    if len(starts) == 1:
        with single_blas():
            return kernel.block(X, Y, 0 if same else None)
    out = np.empty((n, m))

    def fill(lo: int, hi: int) -> None:
        out[lo:hi] = kernel.block(X[lo:hi], Y, lo if same else None)

    run_tasks([partial(fill, lo, hi) for lo, hi in starts])
    return out


def _joined(blocks: Any, starts: list[tuple[int, int]], n: int, m: int, X: Any) -> Any:
    """Blocks of rows as one matrix, without a second one where the library can write in its arrays."""
    if type(X).__module__.partition(".")[0] in ("jax", "jaxlib"):
        return namespace(X).concat(list(blocks))
    out = namespace(X).empty((n, m), dtype=X.dtype, device=device_of(X))
    for (lo, hi), block in zip(starts, blocks, strict=True):
        out[lo:hi, ...] = block
    return out


def _shaped(K: Any, n: int, m: int) -> Any:
    if tuple(np.shape(K)) != (n, m):
        raise ValueError(
            f"The kernel returned a matrix of shape {tuple(np.shape(K))} for {n} and {m} rows; it must be {(n, m)}."
        )
    return K


def gram_times(kernel: Any, X: Any, Y: Any, coef: Any) -> Any:
    """Return k(X, Y) times `coef`, without the whole matrix: one block of rows for each thread.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array of shape (n, n_features)
        Rows.
    Y : array of shape (m, n_features)
        Rows to compare them with.
    coef : array of shape (m,) or (m, k)
        What the matrix is multiplied by.

    Returns
    -------
    array of shape (n,) or (n, k)
        The product.

    See Also
    --------
    own_gram_times : The same for X with itself.
    gram : The matrix itself.

    Examples
    --------
    >>> from learnt.kernels import Linear
    >>> gram_times(Linear(), np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]]), np.array([1.0, 1.0]))
    array([4., 8.])
    """
    n, m = length(X), length(Y)
    if not getattr(kernel, "in_blocks", False) or is_foreign_array(X):
        step = max(1, _DEVICE_CELLS // max(m, 1))
        return join([gram(kernel, take_rows(X, slice(lo, hi)), Y) @ coef for lo, hi in _starts(n, step)])
    X, Y = widen(X), widen(Y)
    out = np.empty((n, *coef.shape[1:]))

    def fill(lo: int, hi: int) -> None:
        np.matmul(kernel.block(X[lo:hi], Y, None), coef, out=out[lo:hi])

    run_tasks([partial(fill, lo, hi) for lo, hi in _starts(n, _rows_of(_CELLS, m))])
    return out


def own_gram_times(kernel: Any, X: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Return k(X, X) times `coef`: of a few columns, each pair of rows is compared once, and counts for both.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, n_features)
        Rows.
    coef : ndarray of shape (n, k)
        What the matrix is multiplied by.

    Returns
    -------
    ndarray of shape (n, k)
        The product.

    See Also
    --------
    gram_times : For two tables of rows.

    Examples
    --------
    >>> from learnt.kernels import Linear
    >>> own_gram_times(Linear(), np.array([[1.0], [2.0]]), np.array([[1.0], [1.0]]))
    array([[3.],
           [6.]])
    """
    n, k = coef.shape
    X = widen(X)
    if k > _FEW:
        return np.concatenate(
            run_tasks([partial(_band_times, kernel, X, coef, lo, hi) for lo, hi in _starts(n, _rows_of(_CELLS, n))])
        )
    bands = _starts(n, _BAND)

    def part(own: list[tuple[int, int]]) -> np.ndarray:
        total = np.zeros((n, k))
        for lo, hi in own:
            for first in range(0, hi, 2 * _BAND):
                last = min(first + 2 * _BAND, hi)
                K = kernel.block(X[lo:hi], X[first:last], lo - first if last > lo else None)
                total[lo:hi] += K @ coef[first:last]
                if (end := min(last, lo)) > first:
                    total[first:end] += K[:, : end - first].T @ coef[lo:hi]
        return total

    parts = run_tasks([partial(part, bands[t::_RUNS]) for t in range(min(_RUNS, len(bands)))])
    return np.sum(parts, axis=0)


def _band_times(kernel: Any, X: np.ndarray, coef: np.ndarray, lo: int, hi: int) -> np.ndarray:
    return kernel.block(X[lo:hi], X, lo) @ coef


@single_blas()
def gradient_tensor(kernel: Any, X: Any) -> tuple[Any, Any]:
    """The matrix of X with itself, and its derivatives in `theta`, stacked along a third axis."""
    K, terms = kernel.terms(widen(X), widen(X), 0)
    xp = namespace(X)
    if not terms:
        return K, xp.zeros((*K.shape, 0)) if xp is np else xp.stack([K], axis=2)[:, :, :0]
    return K, xp.stack([term() for term in terms], axis=2)


def lower_gram(kernel: Any, X: Any) -> np.ndarray:
    """Return the lower triangle of the matrix of X with itself; what is above it has no meaning.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array of shape (n, n_features)
        Rows.

    Returns
    -------
    ndarray of shape (n, n)
        A matrix whose lower triangle is that of the kernel matrix.

    See Also
    --------
    gram : The whole matrix.

    Examples
    --------
    >>> from learnt.kernels import Linear
    >>> np.tril(lower_gram(Linear(), np.array([[1.0], [2.0]])))
    array([[1., 0.],
           [2., 4.]])
    """
    n = length(X)
    out = np.zeros((n, n))

    def fill(lo: int, hi: int) -> None:
        out[lo:hi, :hi] = kernel.block(X[lo:hi], X[:hi], lo)

    run_tasks([partial(fill, lo, hi) for lo, hi in _starts(n, _rows_of(2 * _CELLS, n))])
    return out


def pull_back(kernel: Any, X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return Σᵢⱼ Wᵢⱼ ∂k(xᵢ, xⱼ)/∂θ for a symmetric W of which the lower triangle is given, one block of rows at a time.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, n_features)
        Rows.
    W : ndarray of shape (n, n)
        Weights of the derivatives; only the lower triangle is read.

    Returns
    -------
    ndarray of shape (n_dims,)
        One sum for each entry of the kernel's `theta`.

    See Also
    --------
    pull_diagonal : The same for the diagonal alone.

    Examples
    --------
    >>> from learnt.kernels import RBF
    >>> pull_back(RBF(1.0), np.array([[0.0], [1.0]]), np.ones((2, 2))).round(3)  # 2·k(0, 1)
    array([1.213])
    """
    n = len(X)

    def part(lo: int, hi: int) -> np.ndarray:
        weights = 2.0 * W[lo:hi, :hi]
        own = weights[:, lo:]
        own[...] = np.tril(own, -1)
        own[np.arange(hi - lo), np.arange(hi - lo)] = W[np.arange(lo, hi), np.arange(lo, hi)]
        return np.array(kernel.pull(X[lo:hi], X[:hi], lo)[1](weights))

    return np.sum(run_tasks([partial(part, lo, hi) for lo, hi in _starts(n, _rows_of(2 * _CELLS, n))]), axis=0)


def _rows_of(cells: int, columns: int) -> int:
    """How many rows a block of about so many entries has."""
    return max(cells // max(columns, 1) // _ROWS, 1) * _ROWS


def _starts(n: int, step: int) -> list[tuple[int, int]]:
    return [(lo, min(lo + step, n)) for lo in range(0, n, step)] or [(0, 0)]
