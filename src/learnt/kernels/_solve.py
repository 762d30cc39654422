"""c = (K + αW⁻¹)⁻¹y: the weights of the rows of a ridge in the space of a kernel."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from learnt.engine.arrays import namespace, to_numpy
from learnt.engine.threads import single_blas
from learnt.kernels._positive import is_positive_semidefinite
from learnt.linalg.any_array import cholesky_anywhere, solve_lower, solve_upper
from learnt.linalg.tiles import cholesky_in_place


def solve_dual(matrix: Callable[[], Any], Y: Any, alpha: np.ndarray, root: Any) -> Any:
    """Return the weights of the rows of a ridge in the space of a kernel: c = (K + αW⁻¹)⁻¹y.

    Parameters
    ----------
    matrix : callable
        Computes the kernel matrix at every call, since it is factored in place; of NumPy's the lower triangle is
        enough.
    Y : array of shape (n, n_outputs)
        The targets.
    alpha : ndarray of shape (1,) or (n_outputs,)
        The regularisation strength α: one for all outputs, or one for each.
    root : array of shape (n,) or None
        Square roots of the weights W of rows; None where all are 1.

    Returns
    -------
    array of shape (n, n_outputs)
        The dual coefficients c.

    See Also
    --------
    learnt.kernel_ridge.KernelRidge : The model.

    Notes
    -----
    A Cholesky factorisation, O(n³) time. Where the matrix is not positive definite, the minimum-norm solution is
    returned with a warning; on a GPU that is an error.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> solve_dual(lambda: K.copy(), np.array([[1.0], [1.0]]), np.array([1.0]), None)
    array([[0.25],
           [0.25]])
    """

    def weighted() -> Any:
        K = matrix()
        return K if root is None else K * root[:, None] * root[None, :]

    if root is not None:
        Y = Y * root[:, None]
    if alpha.size == 1:
        dual = _solve(weighted, Y, float(alpha.reshape(-1)[0]))
    else:
        columns = [_solve(weighted, Y[:, j : j + 1], float(a)) for j, a in enumerate(alpha)]
        dual = namespace(Y).concat(columns, axis=1)
    return dual if root is None else dual * root[:, None]


def _solve(matrix: Callable[[], Any], Y: Any, alpha: float) -> Any:
    K = matrix()
    xp, n = namespace(K), K.shape[0]
    if xp is np:
        K.ravel()[:: n + 1] += alpha
        if cholesky_in_place(K):
            with single_blas():
                return linalg.cho_solve((K.T, False), Y, check_finite=False)  # columns in a row: no copy
        return _least_squares(matrix(), Y, alpha)
    L = cholesky_anywhere(K, alpha)
    if L is None:
        raise ValueError(
            f"{_why(to_numpy(matrix()) + alpha * np.eye(n), alpha)}; increase alpha, or take another kernel."
        )
    return solve_upper(L.T, solve_lower(L, Y))


def _least_squares(K: np.ndarray, Y: np.ndarray, alpha: float) -> np.ndarray:
    """The minimum-norm solution, where the matrix is not positive definite; warns with its smallest eigenvalue."""
    K = np.tril(K) + np.tril(K, -1).T
    K.ravel()[:: len(K) + 1] += alpha
    warnings.warn(
        f"Singular matrix in solving dual problem. Using least-squares solution instead: {_why(K, alpha)}.",
        stacklevel=5,
    )
    with single_blas():
        return linalg.lstsq(K, Y, check_finite=False)[0]


def _why(K: Any, alpha: float) -> str:
    verdict = is_positive_semidefinite(K)
    return f"the kernel matrix with alpha = {alpha:g} on its diagonal is not positive definite ({verdict.reason})"
