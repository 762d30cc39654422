"""Leave-one-out residuals of ridge regression in closed form: n fits for the cost of one.

With H the hat matrix, the residual of row i under the model fitted without it is eᵢ / (1 − Hᵢᵢ). One spectrum of the
scatter matrix gives e and diag H for every α at once. (Where rows are fewer than columns: `_leave_one_out_wide`.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.matrices import dense
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block, as_columns, widen
from learnt.engine.threads import single_blas
from learnt.linalg.spectrum import scatter_spectrum
from learnt.statistics import JointMoments, joint_moments

_SMALLEST = 1e-12  # of 1 − H: below, the model passes through the row whatever its y

_TOO_LARGE = "X holds values too large to be squared in float64; rescale its columns before RidgeCV."


class Spectrum(NamedTuple):
    """All that the leave-one-out residuals of any α need."""

    moments: JointMoments
    values: np.ndarray  # (d,)
    vectors: np.ndarray  # (d, d)
    center: bool

    def coef(self, alphas: np.ndarray) -> np.ndarray:
        """(d, k, A): the coefficients for every α."""
        rotated = self.vectors.T @ self.moments.cross
        return np.stack([self.vectors @ (rotated * f[:, None]) for f in self.filters(alphas).T], axis=2)

    def filters(self, alphas: np.ndarray) -> np.ndarray:
        """(d, A): 1/(λ + α). 0 in directions in which the data do not vary but for rounding."""
        return _inverse(self.values, alphas)


def spectrum(rows: Rows, center: bool, check_cells: Callable | None = None) -> Spectrum:
    m = joint_moments(rows, center)
    require_finite(m.gram, check_cells)
    with single_blas():
        return Spectrum(m, *scatter_spectrum(m.gram), center)


def require_finite(gram: np.ndarray, check_cells: Callable | None) -> None:
    """Where squares are not finite, either cells are not, which `check_cells` reports, or they are too large."""
    if not np.isfinite(gram).all():
        if check_cells is not None:
            check_cells()
        raise ValueError(_TOO_LARGE)


def mean_squared_errors(rows: Rows, s: Spectrum, alphas: np.ndarray) -> np.ndarray:
    """(k, A): Σ w (leave-one-out residual)² / n in one pass over the data."""
    n, total = rows.sum(_squared_error_block, *_state(rows, s, alphas))
    return to_numpy(total) / n


def residuals(rows: Rows, s: Spectrum, alphas: np.ndarray) -> np.ndarray:
    """(n, k, A): every leave-one-out residual."""
    return rows.map(_residual_block, *_state(rows, s, alphas))


def _state(rows: Rows, s: Spectrum, alphas: np.ndarray) -> tuple:
    m = s.moments
    coef = s.coef(alphas)
    d, k, A = coef.shape
    dtype = widen(rows.reference).dtype
    arrays = (m.x_mean, m.y_mean, s.vectors, s.filters(alphas), s.vectors.T @ coef.reshape(d, k * A))
    return *(like(a, rows.reference, dtype) for a in arrays), float(m.weight) if s.center else 0.0


def _residual_block(
    block: Block, x_mean: Any, y_mean: Any, vectors: Any, filters: Any, rotated_coef: Any, weight: float
) -> Any:
    X = widen(dense(block.X))
    Y = widen(as_columns(block.y)) - y_mean
    xp = namespace(X)
    n, k, A = X.shape[0], Y.shape[1], filters.shape[1]
    Q = X @ vectors  # the rows in the directions of the spectrum
    Q -= x_mean @ vectors
    errors = Y[:, :, None] - xp.reshape(Q @ rotated_coef, (n, k, A))
    Q *= Q
    kept = 1.0 - (1.0 / weight if weight else 0.0) - Q @ filters  # (n, A): 1 − leverage, for weight 1
    if block.w is not None:
        kept = 1.0 - (1.0 - kept) * widen(block.w)[:, None]
    kept = xp.where(kept > _SMALLEST, kept, xp.full_like(kept, _SMALLEST))
    return errors / kept[:, None, :]


def _squared_error_block(block: Block, *state: Any) -> tuple:
    errors = _residual_block(block, *state)
    xp = namespace(errors)
    squared = errors * errors
    if block.w is not None:
        squared = squared * widen(block.w)[:, None, None]
    return errors.shape[0], xp.sum(squared, axis=0)


def _inverse(values: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """1/(λ + α) for every pair; 0 where λ is."""
    varies = values > 0
    return np.where(varies[:, None], 1.0 / (np.where(varies, values, 1.0)[:, None] + alphas), 0.0)
