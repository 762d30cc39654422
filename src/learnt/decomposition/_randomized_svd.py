"""The largest singular values and vectors of one matrix, as a function."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.extmath import svd_flip

from learnt.decomposition.spectrum._centre import Centre
from learnt.decomposition.spectrum._krylov import randomized
from learnt.engine.matrices import row_by_row
from learnt.engine.params import ParameterError
from learnt.engine.random import random_state_of
from learnt.engine.rows import as_rows, in_memory
from learnt.engine.rows.blocks import Block
from learnt.engine.threads import single_blas
from learnt.linalg import decompositions


def randomized_svd(
    M: Any,
    n_components: int,
    *,
    n_oversamples: int = 10,
    n_iter: Any = "auto",
    power_iteration_normalizer: str = "auto",
    transpose: Any = "auto",
    flip_sign: bool = True,
    random_state: Any = None,
    svd_lapack_driver: str = "gesdd",
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, s and V with M ≈ U diag(s) V, for the largest singular values, from products of M with thin matrices.

    Take it for a few singular vectors of a large matrix, dense or sparse, where a full decomposition would cost too
    much.

    Parameters
    ----------
    M : {array-like, sparse matrix} of shape (n_samples, n_features)
        The matrix to decompose; it is not centred.
    n_components : int
        How many singular values to find; never more than rows or columns are returned.
    n_oversamples : int, default=10
        How many vectors are iterated beyond n_components; more are more exact.
    n_iter : int or "auto", default="auto"
        Products with MᵀM after the first; raise it where singular values fall slowly. "auto" stops when the values have
        converged.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Kept for scikit-learn's signature: vectors are always orthonormalised, by QR.
    transpose : bool or "auto", default="auto"
        Whether to work on Mᵀ; "auto" does where that is narrower.
    flip_sign : bool, default=True
        Whether the largest entry of each column of U is made positive, so that signs are not arbitrary.
    random_state : int, RandomState, Generator or None, default=None
        Where the start comes from. Pass an integer for the same result every time.
    svd_lapack_driver : {"gesdd", "gesvd"}, default="gesdd"
        Kept for scikit-learn's signature, and without effect.

    Returns
    -------
    U : ndarray of shape (n_samples, n_components)
        Left singular vectors, one a column.
    s : ndarray of shape (n_components,)
        Singular values, falling.
    V : ndarray of shape (n_components, n_features)
        Right singular vectors, one a row.

    See Also
    --------
    TruncatedSVD : The same as an estimator, which transforms new rows.
    PCA : For centred rows.

    Notes
    -----
    A block Krylov space from a random start holds the images of all products [2]_, so that it has at least the digits
    of the power iteration that keeps the last [1]_; the singular values are those of a product with M, not roots of
    squares.

    References
    ----------
    .. [1] N. Halko, P. G. Martinsson and J. A. Tropp, "Finding structure with randomness: probabilistic algorithms for
       constructing approximate matrix decompositions", SIAM Review 53, 2011.
    .. [2] C. Musco and C. Musco, "Randomized block Krylov methods for stronger and faster approximate singular value
       decomposition", NIPS, 2015.

    Examples
    --------
    >>> U, s, V = randomized_svd(np.diag([3.0, 2.0, 1.0]), 2, random_state=0)
    >>> s.round(6), (U * s @ V).round(6).diagonal()
    (array([3., 2.]), array([3., 2., 0.]))
    """
    _check(n_components, n_oversamples, n_iter, power_iteration_normalizer, transpose, svd_lapack_driver)
    M = check_array(M, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="M")
    turned = M.shape[0] < M.shape[1] if transpose == "auto" else bool(transpose)
    k = min(int(n_components), *M.shape)
    U, s, V = _singular(row_by_row(M.T if turned else M), k, n_oversamples, n_iter, random_state)
    if turned:
        U, V = V.T, U.T
    if flip_sign:
        U, V = svd_flip(U, V)
    return tuple(np.ascontiguousarray(part, dtype=M.dtype) for part in (U, s, V))  # type: ignore[return-value]


def _singular(M: Any, k: int, oversamples: int, n_iter: Any, random_state: Any) -> tuple:
    """Directions from the Krylov space about 0, and the singular vectors of what M makes of them."""
    rows = as_rows(M)
    power = None if isinstance(n_iter, str) else int(n_iter)
    with single_blas():
        about = Centre(M.shape[0], np.zeros(M.shape[1]), 0.0)
        V = np.asarray(randomized(rows, k, int(oversamples), power, random_state_of(random_state), about).components)
        # Values that MᵀM loses come back with one product more: M V has their directions, each at a length of its own.
        Q = np.linalg.qr(in_memory(rows.map(images, V.T)).astype(np.float64, copy=False))[0]
        W, s, V = decompositions.svd(rows.sum(preimages, Q)[0])
        return Q @ W, s, V


def images(block: Block, V: np.ndarray) -> np.ndarray:
    """Rows times thin columns."""
    return np.asarray(block.X @ V)


def preimages(block: Block, Q: np.ndarray) -> tuple[np.ndarray]:
    """QᵀM of a block of rows."""
    return (np.asarray(np.ascontiguousarray(Q[block.start : block.start + block.X.shape[0]].T) @ block.X),)


def _check(k: Any, oversamples: Any, n_iter: Any, normalizer: Any, transpose: Any, driver: Any) -> None:
    def whole(value: Any, low: int) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low

    flag = isinstance(transpose, bool | np.bool_)
    for name, value, good, allowed in (
        ("n_components", k, whole(k, 1), "a whole number of at least 1"),
        ("n_oversamples", oversamples, whole(oversamples, 0), "a whole number of at least 0"),
        ("n_iter", n_iter, n_iter == "auto" or whole(n_iter, 0), "a whole number of at least 0 or 'auto'"),
        ("power_iteration_normalizer", normalizer, normalizer in ("auto", "QR", "LU", "none"), "auto, QR, LU or none"),
        ("transpose", transpose, flag or transpose == "auto", "True, False or 'auto'"),
        ("svd_lapack_driver", driver, driver in ("gesdd", "gesvd"), "'gesdd' or 'gesvd'"),
    ):
        if not good:
            raise ParameterError(f"{name} of randomized_svd must be {allowed}; it is {value!r}.")
