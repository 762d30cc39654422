"""Partial least squares, component by component (Wegelin 2000; Höskuldsson 1988).

    w, v      weights: first singular vectors of XₖᵀYₖ, or the first canonical pair (`leading`)
    t, u      scores  Xₖ w  and  Yₖ v
    p, q      loadings  Xₖᵀt / tᵀt  and  Yₖᵀz / zᵀz,  z = t for regression, u where both sides count alike
    Xₖ₊₁ = Xₖ − t pᵀ,   Yₖ₊₁ = Yₖ − z qᵀ

X is neither copied nor changed: with orthonormal scores T so far, Xₖ = X − T TᵀX, so that Xₖ w takes one product with X
and Xₖᵀt another. C = XₖᵀYₖ (features × targets) is kept up to date from these two; iterations take place in it.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.cross_decomposition._leading import Pair, by_power, by_svd, pseudo_inverse
from learnt.cross_decomposition._standard import Table

_EPS = float(np.finfo(np.float64).eps)


class How(NamedTuple):
    """Which components, and how they are found."""

    n_components: int
    regression: bool  # whether Y is explained by scores of X, or by its own
    leading: str  # "nipals", "svd", or "canonical"
    max_iter: int
    tol: float
    name: str


class Components(NamedTuple):
    """Weights, loadings and scores, a component a column, and how many steps each took."""

    W: np.ndarray
    V: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    T: np.ndarray
    U: np.ndarray
    n_iter: list[int]


def components(X: Table, Y: np.ndarray, how: How, step: Any) -> Components:
    """All components of two standardised tables; Y is overwritten. Those that do not exist are 0."""
    (n, d), q, k = X.shape, Y.shape[1], how.n_components
    W, V, P, Q, T, U = (np.zeros((size, k)) for size in (d, q, d, q, n, n))
    found = Components(W, V, P, Q, T, U, [])
    orthonormal = np.empty((n, k), order="F")
    slow = False
    C = X.transposed_times(Y)
    y_size, c_size = np.linalg.norm(Y, axis=0), np.linalg.norm(C)
    x_size = 0.0
    for j in range(k):
        basis = orthonormal[:, :j]
        gone = np.linalg.norm(Y, axis=0) <= 10 * _EPS * y_size
        Y[:, gone], C[:, gone] = 0.0, 0.0
        if gone.all():
            _tell("y residual is constant", j, how)
            break
        pair = None
        if how.leading == "canonical" or np.linalg.norm(C) > 10 * _EPS * c_size:
            pair = _leading(X, Y, C, basis, int(np.argmin(gone)), how)
        t = np.zeros(n) if pair is None else _off(basis, X.times(pair.w))
        x_size = max(x_size, float(np.linalg.norm(t)))
        if pair is None or np.linalg.norm(t) <= 100 * _EPS * x_size:
            _tell("X and y have nothing left in common", j, how)
            break
        w, v = pair.w, pair.v
        if how.leading != "svd":
            found.n_iter.append(pair.n_iter)
        if w[np.abs(w).argmax()] < 0:  # signs are arbitrary: the largest weight of X is positive
            w, v, t = -w, -v, -t
        C = _deflate(X, Y, C, basis, found, j, (w, v, t), how)
        orthonormal[:, j] = t / np.linalg.norm(t)
        slow = slow or not pair.converged
        step()
    if slow:
        warnings.warn(
            f"Maximum number of iterations reached: {how.name} did not converge in max_iter={how.max_iter} steps for "
            "every component; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return found


def _tell(what: str, j: int, how: How) -> None:
    warnings.warn(
        f"{what} at iteration {j}: {how.name} has {j} components instead of {how.n_components}; ask for fewer.",
        UserWarning,
        stacklevel=5,
    )


def _leading(X: Table, Y: np.ndarray, C: np.ndarray, basis: np.ndarray, start: int, how: How) -> Pair | None:
    if how.leading == "svd":
        return by_svd(C)
    if how.leading == "nipals":
        return by_power(C, C, start, how.max_iter, how.tol)
    Xk = X.all_values()
    Xk = Xk - basis @ (basis.T @ Xk)
    return by_power(pseudo_inverse(Xk) @ Y, (pseudo_inverse(Y) @ Xk).T, start, how.max_iter, how.tol)


def _deflate(
    X: Table, Y: np.ndarray, C: np.ndarray, basis: np.ndarray, found: Components, j: int, pair: tuple, how: How
) -> np.ndarray:
    """Record component j; what is left of Y, in place, and of XᵀY."""
    w, v, t = pair
    tt = t @ t
    if how.regression:
        p, q = X.transposed_times(t) / tt, t @ Y / tt
        v = q
        vv = v @ v
        z = t
        u = Y @ v / (vv if vv > 0 else 1.0)
        C = C - np.outer(p, tt * q)
    else:
        u = z = Y @ v
        q = u @ Y / (u @ u)
        if how.leading == "canonical":
            p = X.transposed_times(t) / tt
        else:
            both = X.transposed_times(np.stack([t, _off(basis, u)], axis=1))
            p = both[:, 0] / tt
            C = C - np.outer(p, t @ Y) - np.outer(both[:, 1] - (t @ u) * p, q)
    Y -= np.outer(z, q)
    for whole, column in zip(found[:6], (w, v, p, q, t, u), strict=True):
        whole[:, j] = column
    return C


def _off(basis: np.ndarray, x: np.ndarray) -> np.ndarray:
    """x without its part in the space of orthonormal columns, to the last digit: hence twice."""
    for _ in range(2 if basis.shape[1] else 0):
        x = x - basis @ (basis.T @ x)
    return x
