"""The first eigenvectors of a graph's Laplacian: coordinates of its nodes, which neighbours share.

L = D − W for symmetric weights W ≥ 0 with degrees D, or normalised I − D^(−½) W D^(−½). W's diagonal does not count.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph
from sklearn.utils import check_symmetric

from learnt.engine.interrupts import abandonable
from learnt.engine.matrices import Route, route
from learnt.engine.threads import single_blas

_DENSE = 400  # nodes up to which all of the matrix is decomposed
_SHIFT = 0.05  # of the largest eigenvalue there can be: L plus this is positive definite, and its inverse shows gaps
_LONG = 1500  # nodes from which on it may take more than a fraction of a second


def laplacian(W: Any, normed: bool) -> tuple[Any, np.ndarray]:
    """L, dense or CSR as W is, and the roots of the degrees (1 for a node without edges; all 1 if not `normed`).

    >>> laplacian(np.array([[0.0, 2.0], [2.0, 0.0]]), False)[0].tolist()
    [[2.0, -2.0], [-2.0, 2.0]]
    """
    n = W.shape[0]
    if route(W) is Route.SPARSE:
        edges = sparse.coo_array(W, dtype=np.float64)
        apart = edges.row != edges.col
        W = sparse.csr_array((edges.data[apart], (edges.row[apart], edges.col[apart])), shape=(n, n))
    else:
        W = np.array(W, dtype=np.float64)
        np.fill_diagonal(W, 0.0)
    degrees = np.asarray(W.sum(axis=0)).ravel()
    if not normed:
        if route(W) is Route.SPARSE:
            return sparse.csr_array(sparse.diags_array(degrees) - W), np.ones(n)
        W *= -1.0
        np.fill_diagonal(W, degrees)
        return W, np.ones(n)
    if degrees.min() < 0:
        worst = int(degrees.argmin())
        raise ValueError(
            f"The affinities of row {worst} to all others add up to {degrees[worst]:.3g}, and a graph has no weights "
            'below 0; take an affinity that has none, as "rbf", or clip those of a matrix of your own at 0.'
        )
    roots = np.sqrt(np.where(degrees == 0, 1.0, degrees))
    if route(W) is Route.SPARSE:
        scaled = sparse.diags_array(1.0 / roots) @ W @ sparse.diags_array(1.0 / roots)
        return sparse.csr_array(sparse.eye_array(n) - scaled), roots
    W /= -roots
    W /= roots[:, None]
    np.fill_diagonal(W, 1.0)
    return W, roots


def smallest(
    A: Any,
    k: int,
    solver: str,
    tol: float | None,
    draw: np.random.RandomState,
    shift: float,
    max_iter: int | None = None,
) -> Any:
    """The k smallest eigenvalues, rising, and eigenvectors of a positive semidefinite matrix, dense or CSR.

    `solver`: "dense", "arpack" (a Krylov space of the inverse of A + `shift`) or "lobpcg". A small matrix is always
    decomposed as a whole.
    """
    n = A.shape[0]
    if solver == "dense" or n <= _DENSE or 5 * k + 1 > n:
        whole = A.toarray() if route(A) is Route.SPARSE else A
        with single_blas():
            return abandonable(lambda: linalg.eigh(whole, subset_by_index=[0, k - 1]), long=n > _LONG)
    if solver == "lobpcg":
        start = draw.standard_normal(size=(n, k + 1))
        with single_blas(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it tells of its accuracy
            values, vectors = abandonable(lambda: _lobpcg(A, start, tol), long=n > _LONG)
        return values[:k], vectors[:, :k]
    start = draw.uniform(-1.0, 1.0, n)
    with single_blas():
        return abandonable(lambda: _inverse(A, k, tol or 0.0, start, shift, max_iter), long=n > _LONG)


def _lobpcg(A: Any, start: np.ndarray, tol: float | None) -> Any:
    from scipy.sparse.linalg import lobpcg

    values, vectors = lobpcg(A, start, tol=tol, largest=False, maxiter=2000)
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]


def _inverse(A: Any, k: int, tol: float, start: np.ndarray, shift: float, max_iter: int | None) -> Any:
    from scipy.sparse.linalg import LinearOperator, eigsh, splu

    n = A.shape[0]
    if route(A) is Route.SPARSE:
        shifted = sparse.csc_matrix(A + shift * sparse.eye_array(n))
        solve = splu(shifted, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve
    else:
        factor = linalg.cho_factor(A + shift * np.eye(n), overwrite_a=True, check_finite=False)

        def solve(b: np.ndarray) -> np.ndarray:
            return linalg.cho_solve(factor, b, check_finite=False)

    operator = LinearOperator((n, n), matvec=solve, dtype=np.float64)
    values, vectors = eigsh(A, k=k, sigma=-shift, which="LM", OPinv=operator, tol=tol, v0=start, maxiter=max_iter)
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]


def checked_weights(W: Any, name: str) -> Any:
    """Symmetric weights, in float64; a warning where the graph is in pieces."""
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(f"{name} takes a square matrix of weights; it got one of shape {tuple(W.shape)}.")
    W = check_symmetric(W)
    if csgraph.connected_components(W, directed=False, return_labels=False) > 1:
        warnings.warn(
            "Graph is not fully connected, spectral embedding may not work as expected: the first coordinates of "
            f"{name} tell only its pieces apart; connect more rows.",
            UserWarning,
            stacklevel=4,
        )
    return W


def check_solver(solver: str | None) -> str:
    """The name of the solver that is meant."""
    if solver == "amg":
        raise ValueError("The eigen_solver was set to 'amg', but pyamg is not available. Take 'arpack' or 'lobpcg'.")
    return "arpack" if solver is None else solver


def node_coordinates(
    W: Any,
    k: int,
    *,
    solver: str = "arpack",
    tol: float | str = "auto",
    draw: np.random.RandomState,
    normed: bool = True,
    drop_first: bool = True,
) -> np.ndarray:
    """The first k eigenvectors of the Laplacian as columns, over the roots of the degrees if it is `normed`.

    The first is constant on each piece of a graph; `drop_first` leaves it out. Of each the largest entry is positive.
    """
    n = W.shape[0]
    wanted = k + 1 if drop_first else k
    if wanted > n:
        raise ValueError(
            f"A graph of {n} nodes has {n - drop_first} coordinates, {k} were asked for; ask for fewer components."
        )
    L, roots = laplacian(W, normed)
    top = 2.0 if normed else 2.0 * max(float(L.diagonal().max()), np.finfo(np.float64).tiny)
    vectors = smallest(L, wanted, solver, None if isinstance(tol, str) else tol, draw, _SHIFT * top)[1]
    vectors = vectors / roots[:, None]
    peaks = np.take_along_axis(vectors, abs(vectors).argmax(axis=0)[None], axis=0)
    vectors = vectors * np.where(peaks < 0, -1.0, 1.0)
    return vectors[:, 1:] if drop_first else vectors
