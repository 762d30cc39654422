"""Leave-one-out residuals of ridge regression in closed form: n fits for the price of one.

With H the hat matrix, the residual of row i under the model fitted without it is eᵢ / (1 − Hᵢᵢ). One spectrum of the
scatter matrix (or of the rows' inner products, where rows are fewer) gives e and diag H for every α at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.blocks import Block, widen
from learnt.engine.rows import Rows
from learnt.engine.threads import run_tasks, single_blas
from learnt.linear_model._centred import CentredRows
from learnt.linear_model._moments import Moments, as_columns, moments

_CORNER = 64  # rows of a matrix that is factorised and inverted whole
_FEW = 8  # penalties up to which a factorisation each is cheaper than one spectrum
_TRUSTED = 1e-9  # reciprocal condition number down to which a factorisation gives the residuals' digits
_SMALLEST = 1e-12  # of 1 − H: a row that the model goes through whatever it is fitted on

_TOO_LARGE = "X holds values too large to be squared in float64; rescale its columns before RidgeCV."


class Spectrum(NamedTuple):
    """All that the leave-one-out residuals of any α need."""

    moments: Moments
    values: np.ndarray  # (d,)
    vectors: np.ndarray  # (d, d)
    center: bool

    def coef(self, alphas: np.ndarray) -> np.ndarray:
        """(d, k, A): the coefficients for every α."""
        rotated = self.vectors.T @ self.moments.cross
        return np.stack([self.vectors @ (rotated * f[:, None]) for f in self.filters(alphas).T], axis=2)

    def filters(self, alphas: np.ndarray) -> np.ndarray:
        """(d, A): 1/(λ + α). Directions in which the data do not vary have nothing to filter but rounding."""
        return _inverse(self.values, alphas)


def spectrum(rows: Rows, center: bool, ask: Callable | None = None) -> Spectrum:
    m = moments(rows, center)
    _require_finite(m.gram, ask)
    with single_blas():
        values, vectors = np.linalg.eigh(m.gram)
    return Spectrum(m, np.clip(values, 0, None), vectors, center)


def _require_finite(gram: np.ndarray, ask: Callable | None) -> None:
    """Where squares are not finite, either cells are not, which `ask` says, or they are too large."""
    if not np.isfinite(gram).all():
        if ask is not None:
            ask()
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
    X = widen(block.X.toarray() if sparse.issparse(block.X) else block.X)
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


@single_blas()
def wide_residuals(rows: Any, center: bool, alphas: np.ndarray, ask: Callable | None = None) -> tuple[np.ndarray, Any]:
    """The same (n, k, A) where rows are fewer than columns, and a function from the chosen α of every
    target (as positions) to coefficients and intercepts."""
    Z = CentredRows(rows, center)
    T, K = Z.target, Z.inner_products()
    _require_finite(K, ask)
    direction = Z.root / np.linalg.norm(Z.root) if center else np.zeros(len(K))
    # The intercept takes the direction √w. Lifted above all other eigenvalues, it can be told from them and left out.
    lift = 2.0 * np.trace(K) + 1.0
    K += lift * np.outer(direction, direction)
    duals = _by_cholesky(K, T, alphas, direction, lift) if len(alphas) <= _FEW else None
    if duals is None:
        duals = _by_eigenvalues(K, T, alphas, center)
    with np.errstate(divide="ignore", invalid="ignore"):  # a row of weight 0 has no residual
        errors = [np.nan_to_num(dual / diagonal[:, None] / Z.root[:, None]) for dual, diagonal in duals]

    def solution(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        coef = Z.transposed_times(np.stack([duals[a][0][:, j] for j, a in enumerate(chosen)], axis=1))
        return coef, Z.y_mean - Z.x_mean @ coef

    return np.stack(errors, axis=2), solution


def _by_cholesky(
    K: np.ndarray, T: np.ndarray, alphas: np.ndarray, direction: np.ndarray, lift: float
) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """(K + αI)⁻¹T and the diagonal of (K + αI)⁻¹ for every α, side by side; None where digits would be lost.

    With K + αI = LLᵀ both come from L⁻¹. NumPy's routines let other threads run meanwhile, LAPACK's from SciPy do not.
    """
    scale = 1.0 / np.sqrt(np.diag(K) + alphas.min())  # so that the units of rows do not matter
    balanced = K * scale
    balanced *= scale[:, None]

    def one(alpha: float) -> tuple[np.ndarray, np.ndarray] | None:
        A = balanced.copy()
        A.flat[:: len(A) + 1] += alpha * scale**2
        try:
            inverse = inverse_factor(A)
        except np.linalg.LinAlgError:
            return None
        squares = np.einsum("ij,ij->j", inverse, inverse)
        # The trace of an inverse bounds its norm, and √n that of a correlation matrix's usual rows.
        if not squares.sum() * np.sqrt(len(K)) < 1.0 / _TRUSTED:
            return None
        dual = inverse.T @ (inverse @ (T * scale[:, None])) * scale[:, None]
        return dual, squares * scale**2 - direction**2 / (lift + alpha)

    found = run_tasks([partial(one, alpha) for alpha in alphas])
    return None if any(pair is None for pair in found) else found  # type: ignore[return-value]


def inverse_factor(A: np.ndarray) -> np.ndarray:
    """L⁻¹ for A = LLᵀ, by halves: all but small corners is products of matrices. Changes A.

    >>> inverse_factor(np.array([[4.0, 2.0], [2.0, 17.0]]))
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]])
    """
    out = np.zeros_like(A)

    def fill(lo: int, hi: int) -> None:
        if hi - lo <= _CORNER:
            out[lo:hi, lo:hi] = np.tril(np.linalg.inv(np.linalg.cholesky(A[lo:hi, lo:hi])))
            return
        middle = (lo + hi) // 2
        fill(lo, middle)
        above = out[lo:middle, lo:middle]
        below = A[middle:hi, lo:middle] @ above.T
        A[middle:hi, middle:hi] -= below @ below.T
        fill(middle, hi)
        np.negative(out[middle:hi, middle:hi] @ (below @ above), out=out[middle:hi, lo:middle])

    fill(0, len(A))
    return out


def _by_eigenvalues(
    K: np.ndarray, T: np.ndarray, alphas: np.ndarray, center: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    with single_blas():
        values, vectors = np.linalg.eigh(K)
        if center:
            values, vectors = values[:-1], vectors[:, :-1]
        values = np.clip(values, 0, None)
        rotated, squares = vectors.T @ T, np.square(vectors)
        return [(vectors @ (rotated / (values + a)[:, None]), squares @ (1.0 / (values + a))) for a in alphas]


def _inverse(values: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """1/(λ + α) for every pair; 0 where λ is rounding error."""
    varies = values > values.max(initial=0.0) * len(values) * np.finfo(float).eps
    return np.where(varies[:, None], 1.0 / (np.where(varies, values, 1.0)[:, None] + alphas), 0.0)
