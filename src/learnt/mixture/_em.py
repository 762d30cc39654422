"""One step of expectation: how probable the rows are, and the moments of each component by its shares in them.

    r_ik = p(k | x_i),   N_k = Σ_i r_ik,   m_k = Σ_i r_ik x_i / N_k,   S_k = Σ_i r_ik (x_i − m_k)(x_i − m_k)ᵀ

The log density of a Gaussian is linear in the products z_i z_j and in z, and so are the sums: with the products of
some rows side by side (`_products`), densities and sums of all components are two matrix products; where they share
one covariance, its quadratic form and Σ z zᵀ are two small ones. That costs digits where a component is narrow beside
the whole; an error bound says when, and then differences are squared instead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import is_numpy, namespace, to_numpy
from learnt.engine.matrices import to_device_of_as_double
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block, add, widen
from learnt.statistics import Gaussians, Moments, expected_moments, log_densities, share_sums

SCATTER = {"full": "full", "tied": "pooled", "diag": "diagonal", "spherical": "diagonal"}
_ERROR = 1e-9  # of a log density, within a few standard deviations of the rows
_MOST_FEATURES = 64  # beyond, products of all pairs take more memory than they save time
_CELLS = 1 << 16  # products side by side: half a megabyte, which stays in the core's own cache
_VALUES = 3


class Step(NamedTuple):
    """Σw, Σw log p(x) and, if asked, −Σw Σ_k r log r over the rows; the components' moments; the point."""

    weight: float
    log_likelihood: float
    entropy: float
    found: Moments
    about: Any


class Expanded(NamedTuple):
    """Log densities as polynomials of z = x − point: `square`, `linear` (K, d), `constant` (K,).

    `square` is (K, products), or where the covariance is tied the (d, d) matrix of the one quadratic form.
    """

    kind: str
    square: np.ndarray
    linear: np.ndarray
    constant: np.ndarray


def expectation(rows: Rows, densities: Gaussians, spread: np.ndarray, about: Any, entropy: bool = False) -> Step:
    """One pass over the rows. `spread` has the standard deviation of each feature over all rows."""
    values, found, about = expected_moments(
        rows,
        _block_sums,
        densities.to_device_of(rows.reference),
        _expanded(densities, spread, about) if about.ndim == 1 and is_numpy(rows.reference) else None,
        entropy,
        groups=len(densities.constant),
        scatter=SCATTER[densities.kind],
        about=_where(rows, about),
        values=_VALUES,
    )
    weight, log_likelihood, mixed = (float(value) for value in values)
    return Step(weight, log_likelihood, mixed, found.to_numpy(), to_numpy(about))


def _where(rows: Rows, point: Any) -> Any:
    """The point in the library of the rows, in float64."""
    return to_device_of_as_double(point, rows.reference)


def _block_sums(block: Block, point: Any, densities: Gaussians, expanded: Expanded | None, entropy: bool) -> tuple:
    if expanded is not None and point.ndim == 1:
        return _quick_sums(block, point, expanded, entropy)
    log_p, shares, mixed = _posterior(log_densities(block, densities), 1, entropy)
    return *_values(block.w, log_p, mixed), *share_sums(block, shares, point, SCATTER[densities.kind])


def _values(w: Any, log_p: Any, mixed: Any) -> tuple:
    """Σw, Σw log p and the summed entropy of the shares, where it was asked for."""
    xp = namespace(log_p)
    if w is None:
        return float(log_p.shape[0]), xp.sum(log_p), 0.0 if mixed is None else xp.sum(mixed)
    w = widen(w)
    return xp.sum(w), xp.sum(w * log_p), 0.0 if mixed is None else xp.sum(w * mixed)


def _posterior(joint: Any, axis: int, entropy: bool = False) -> tuple[Any, Any, Any]:
    """log p(x), p(k | x), and the entropy of the latter if asked, from log p(x, k) with the components along `axis`."""
    xp = namespace(joint)
    top = xp.max(joint, axis=axis, keepdims=True)
    below = joint - top
    shares = xp.exp(below)
    total = xp.sum(shares, axis=axis, keepdims=True)
    shares = shares / total
    rest = xp.squeeze(xp.log(total), axis=axis)
    mixed = rest - xp.sum(shares * below, axis=axis) if entropy else None
    return xp.squeeze(top, axis=axis) + rest, shares, mixed


def posterior(block: Block, densities: Gaussians) -> Any:
    """p(k | x) of each row and component."""
    return _posterior(log_densities(block, densities), 1)[1]


# --- by products


def _expanded(densities: Gaussians, spread: np.ndarray, point: np.ndarray) -> Expanded | None:
    """The densities multiplied out about a point; None where that would cost digits, memory or time."""
    kind, mean, factor, constant = densities
    d = mean.shape[1]
    off = mean - point
    if kind in ("diag", "spherical"):
        precision = np.broadcast_to((factor**2)[:, None] if kind == "spherical" else factor**2, off.shape)
        square, linear = -0.5 * precision, precision * off
        size = (precision * spread**2).sum(axis=1)
    else:
        if d > _MOST_FEATURES:
            return None
        F = factor if kind == "full" else factor[None]
        precision = F @ F.transpose(0, 2, 1)
        rows, columns = np.triu_indices(d)
        square = -0.5 * precision[0] if kind == "tied" else -precision[:, rows, columns]
        if kind == "full":
            square[:, rows == columns] *= 0.5
        linear = (precision @ off[:, :, None])[:, :, 0]
        size = spread @ np.abs(precision) @ spread
    # A few deviations squared, in units of the component, have this rounding error.
    if not 16 * size.max() * np.finfo(np.float64).eps < _ERROR:
        return None
    return Expanded(kind, square, linear, constant - 0.5 * (linear * off).sum(axis=1))


def _quick_sums(block: Block, point: np.ndarray, expanded: Expanded, entropy: bool) -> tuple:
    """The sums of a block of NumPy rows, some rows at a time so that their products stay in the cache."""
    n, n_products = block.X.shape[0], expanded.square.shape[1]
    step = max(64, _CELLS // n_products)
    total: tuple | None = None
    for lo in range(0, n, step):
        w = None if block.w is None else block.w[lo : lo + step]
        total = add(total, _sums_of_some(block.X[lo : lo + step], w, point, expanded, entropy))
    weight, log_p, mixed, shares, first, second = total  # type: ignore[misc]
    if expanded.kind == "full":
        second = _matrices(second, len(point))
    return weight, log_p, mixed, shares, first, second


def _sums_of_some(X: np.ndarray, w: Any, point: np.ndarray, expanded: Expanded, entropy: bool) -> tuple:
    """Columns are rows of X here, so that every operation runs along memory."""
    kind, square, linear, constant = expanded
    Z = np.subtract(X.T, point[:, None], order="C")
    joint = linear @ Z
    if kind == "tied":
        joint += np.einsum("ij,ij->j", Z, square @ Z)
    else:
        P = Z * Z if kind != "full" else _products(Z)
        joint += square @ P
    joint += constant[:, None]
    log_p, R, mixed = _posterior(joint, 0, entropy)
    values = _values(w, log_p, mixed)
    if w is not None:
        R *= w
    if kind != "tied":
        return *values, R.sum(axis=1), R @ Z.T, (P @ R.T).T
    # What is tied is summed over the components, whose shares add up to 1.
    root = Z if w is None else Z * np.sqrt(widen(w))
    return *values, R.sum(axis=1), R @ Z.T, root @ root.T


def _products(Z: np.ndarray) -> np.ndarray:
    """z_i z_j of all i ≤ j, in the order of `np.triu_indices`."""
    d, n = Z.shape
    P = np.empty((d * (d + 1) // 2, n))
    at = 0
    for i in range(d):
        np.multiply(Z[i:], Z[i], out=P[at : at + d - i])
        at += d - i
    return P


def _matrices(sums: np.ndarray, d: int) -> np.ndarray:
    """Sums of the products as symmetric matrices."""
    rows, columns = np.triu_indices(d)
    out = np.empty((*sums.shape[:-1], d, d))
    out[..., rows, columns] = sums
    out[..., columns, rows] = sums
    return out
