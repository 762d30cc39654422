"""What is asked of the coordinates around each row: a quadratic form of it and its neighbours.

Each function takes the neighbours of some rows relative to them, Z (rows, k, d), and gives a matrix over each row and
its k neighbours, (rows, k + 1, k + 1). Their sum over all rows is zero for the constant, and small for coordinates of
the surface on which the rows lie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_REGULAR = 1e-3  # of the trace, for the weights that the modified form starts from


class Local(NamedTuple):
    """How the forms are made."""

    n_components: int
    reg: float = 1e-3
    hessian_tol: float = 1e-4
    modified_tol: float = 1e-12


def weights_of(Z: np.ndarray, reg: float) -> np.ndarray:
    """Weights of neighbours, which add up to 1, whose sum is nearest to 0: G w ∝ 1 with G = ZZᵀ + reg tr(ZZᵀ) I.

    >>> weights_of(np.array([[[1.0], [-1.0]]]), 1e-3).round(3).tolist()
    [[0.5, 0.5]]
    """
    Z = np.ldexp(Z, -np.frexp(np.abs(Z).max(initial=0.0))[1])  # weights have no unit, and squares may vanish in one
    G = Z @ np.swapaxes(Z, 1, 2)
    k = G.shape[1]
    traces = np.trace(G, axis1=1, axis2=2)
    G[:, np.arange(k), np.arange(k)] += np.where(traces > 0, reg * traces, reg)[:, None]
    w = np.linalg.solve(G, np.ones((*G.shape[:2], 1)))[:, :, 0]
    return w / w.sum(axis=1, keepdims=True)


def standard(Z: np.ndarray, how: Local) -> np.ndarray:
    """(y − Σ wⱼ yⱼ)² with the weights that reconstruct the row from its neighbours (Roweis and Saul, 2000)."""
    a = np.concatenate([np.ones((len(Z), 1)), -weights_of(Z, how.reg)], axis=1)
    return a[:, :, None] * a[:, None, :]


def spread(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, falling, and eigenvectors of ZZᵀ."""
    values, vectors = np.linalg.eigh(Z @ np.swapaxes(Z, 1, 2))
    return np.maximum(values[:, ::-1], 0.0), vectors[:, :, ::-1]


def excess(values: np.ndarray, n_components: int) -> np.ndarray:
    """What the neighbours spread beyond their first directions, as a share of these."""
    first = values[:, :n_components].sum(axis=1)
    rest = values[:, n_components:].sum(axis=1)
    return rest / np.where(first > 0, first, 1.0)


def modified(Z: np.ndarray, how: Local, usual: float) -> np.ndarray:
    """The same for several vectors of weights, as many as are nearly as good (Zhang and Wang, 2007).

    `usual` is the median `excess` of all rows: directions that together spread less than that are free.
    """
    values, vectors = spread(Z)
    n, k, _ = Z.shape
    regular = np.where(values.sum(axis=1) > 0, values.sum(axis=1), 1.0) * _REGULAR
    w = (vectors @ (vectors.sum(axis=1) / (values + regular[:, None]))[:, :, None])[:, :, 0]
    w /= w.sum(axis=1, keepdims=True)
    sums = np.cumsum(values, axis=1)
    forms = np.zeros((n, k + 1, k + 1))
    for i in range(n):
        # s free directions: the last s eigenvalues are less than `usual` of the others; one at least.
        shares = sums[i, -1] / np.where(sums[i, :-1] > 0, sums[i, :-1], 1.0) - 1.0
        s = max(int(np.searchsorted(shares[::-1], usual)), 1)
        V = vectors[i][:, k - s :]
        along = V.sum(axis=0)
        alpha = float(np.linalg.norm(along)) / np.sqrt(s)
        h = alpha - along
        length = float(np.linalg.norm(h))
        h = h / length if length >= how.modified_tol else np.zeros(s)
        W = V - 2.0 * np.outer(V @ h, h) + (1.0 - alpha) * w[i][:, None]  # columns that add up to 1
        A = np.vstack([-np.ones((1, s)), W])
        forms[i] = A @ A.T
    return forms


def tangents(Z: np.ndarray, n_components: int) -> np.ndarray:
    """Coordinates of the neighbours on the plane nearest to them: orthonormal columns, (rows, k, n_components)."""
    return np.linalg.svd(Z - Z.mean(axis=1, keepdims=True), full_matrices=False)[0][:, :, :n_components]


def hessian(Z: np.ndarray, how: Local) -> np.ndarray:
    """Second derivatives along the plane of the neighbours (Donoho and Grimes, 2003).

    Only directions of products of two coordinates: with all that is no linear function this would be `tangent_space`.
    """
    U = tangents(Z, how.n_components)
    n, k, c = U.shape
    i, j = np.triu_indices(c)
    Q = np.linalg.qr(np.concatenate([np.ones((n, k, 1)), U, U[:, :, i] * U[:, :, j]], axis=2))[0][:, :, c + 1 :]
    sums = Q.sum(axis=1)
    sums[abs(sums) < how.hessian_tol] = 1.0
    Q = Q / sums[:, None, :]
    forms = np.zeros((n, k + 1, k + 1))
    forms[:, 1:, 1:] = Q @ np.swapaxes(Q, 1, 2)
    return forms


def tangent_space(Z: np.ndarray, how: Local) -> np.ndarray:
    """What is no linear function of the coordinates on the plane of the neighbours (Zhang and Zha, 2004)."""
    U = tangents(Z, how.n_components)
    n, k, _ = U.shape
    forms = np.zeros((n, k + 1, k + 1))
    forms[:, 1:, 1:] = np.eye(k) - 1.0 / k - U @ np.swapaxes(U, 1, 2)
    return forms
