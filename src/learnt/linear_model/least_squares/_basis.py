"""A factor R of the centred data, RᵀR = ZᵀZ, from sums over rows, also where columns are nearly or exactly collinear.

A scatter matrix holds squares: for a column that differs from a combination of others by a relative 1e-8 no digit is
left. Such a column is replaced by the difference, x_j − Σ c_i x_i, computed row by row, and the sums are taken again.
With T for all replacements, ZT has a scatter matrix of good condition, ZT = QL, and

    Z = Q L T⁻¹,        R = L T⁻¹.

A column of which only rounding is left is a combination of the others, and is left out of Q. This costs two or three
products with the data, where a QR would be ten times as much work, and is as exact: errors are relative to the columns
themselves, not to their squares.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.matrices import dense
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block, as_columns, widen
from learnt.linear_model.least_squares._triangle import Triangle
from learnt.statistics import JointMoments

_ALIKE = 1e-2  # share of a column's square not explained by the others, below which it is replaced
_PASSES = 5
_EPS = float(np.finfo(np.float64).eps)


def factor_by_basis(rows: Rows, m: JointMoments) -> Triangle | None:
    """R (r × d) and Qᵀy (r × k) of the centred data; None where the replacements do not converge."""
    d = len(m.gram)
    T, gram, cross = np.eye(d), m.gram, m.cross
    lengths = np.sqrt(np.clip(np.diag(m.gram), 0.0, None))
    for passes in range(_PASSES):
        if not np.isfinite(gram).all():
            return None
        length = np.sqrt(np.clip(np.diag(gram), 0.0, None))
        # A sum of d products is rounded d times; one more for the row's own.
        nonzero = length > 4 * _EPS * (d + 1) * (lengths @ np.abs(T))
        if passes == 0:
            nonzero = length > 0
        good, weak, shares = _alike(gram, length, np.flatnonzero(nonzero))
        if weak.size == 0:
            return Triangle(*_factor(gram, cross, T, good), m.x_mean, m.y_mean, m.weight)
        T = T.copy()
        T[:, weak] -= T[:, good] @ shares
        gram, cross = (to_numpy(part) for part in rows.sum(basis_moments, m.x_mean, m.y_mean, T))
    return None


def _alike(gram: np.ndarray, length: np.ndarray, those: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A well-conditioned set of columns, the other columns, and the coefficients of the latter in the former."""
    if those.size == 0:
        return those, those, np.empty((0, 0))
    scale = 1.0 / length[those]
    S = gram[np.ix_(those, those)] * scale * scale[:, None]
    triangle, pivots, rank, _ = linalg.lapack.dpstrf(S, tol=_ALIKE, lower=0)
    order, rank = pivots - 1, int(rank)
    good, weak = those[order[:rank]], those[order[rank:]]
    upper = np.triu(triangle)
    shares = linalg.solve_triangular(upper[:rank, :rank], upper[:rank, rank:])
    return good, weak, shares * scale[order[:rank], None] / scale[order[rank:]]


def _factor(gram: np.ndarray, cross: np.ndarray, T: np.ndarray, good: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = 1.0 / np.sqrt(np.diag(gram)[good])
    S = gram[np.ix_(good, good)] * scale * scale[:, None]
    L = np.linalg.cholesky(S)
    upper = (L / scale[:, None]).T  # the factor of ZT, unscaled
    inverse = np.linalg.solve(T, np.eye(len(T)))
    return upper @ inverse[good], linalg.solve_triangular(L, cross[good] * scale[:, None], lower=True)


def basis_moments(block: Block, x_mean: np.ndarray, y_mean: np.ndarray, T: np.ndarray) -> tuple:
    """Σ w z zᵀ and Σ w z (y − ȳ)ᵀ with z = Tᵀ(x − x̄)."""
    X = widen(dense(block.X))
    Y = widen(as_columns(block.y)) - like(y_mean, block.y, widen(block.y[:1]).dtype)
    Z = (X - like(x_mean, X)) @ like(T, X)
    if block.w is not None:
        root = namespace(Z).sqrt(widen(block.w))[:, None]
        Z, Y = Z * root, Y * root
    return Z.T @ Z, Z.T @ Y
