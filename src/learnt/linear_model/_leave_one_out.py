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
from learnt.engine.positive import inverse_factor
from learnt.engine.rows import Rows
from learnt.engine.threads import run_tasks, single_blas
from learnt.linear_model._centred import CentredRows
from learnt.linear_model._mixed_precision import corrected
from learnt.linear_model._moments import Moments, as_columns, moments

_FEW = 8  # penalties up to which a factorisation each is cheaper than one spectrum
_TRUSTED = 1e-9  # reciprocal condition number down to which a factorisation gives the residuals' digits
_ENOUGH = 4.0  # mean of the diagonal of an inverse up to which one in single precision gives six digits
_MANY = 256  # rows from which single precision pays
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
def wide_residuals(
    rows: Any, center: bool, alphas: np.ndarray, ask: Callable | None = None, exact: bool = True
) -> tuple[np.ndarray, Any]:
    """The same (n, k, A) where rows are fewer than columns, and a function from the chosen α of every
    target (as positions) to coefficients and intercepts.

    Unless they are to be `exact`, residuals of many rows have six digits: enough to choose by. Coefficients have all.
    """
    Z = CentredRows(rows, center)
    duals = None
    if not exact and len(Z.target) >= _MANY and len(alphas) <= _FEW:
        duals = _in_single(Z, alphas, center)
    if duals is None:
        duals = _in_double(Z, alphas, center, ask)
    with np.errstate(divide="ignore", invalid="ignore"):  # a row of weight 0 has no residual
        errors = [np.nan_to_num(dual.rough / dual.diagonal[:, None] / Z.root[:, None]) for dual in duals]

    def solution(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        final = {a: duals[a].final() for a in set(chosen.tolist())}
        coef = Z.transposed_times(np.stack([final[a][:, j] for j, a in enumerate(chosen)], axis=1))
        return coef, Z.y_mean - Z.x_mean @ coef

    return np.stack(errors, axis=2), solution


class Dual(NamedTuple):
    """Of one α: (K + αI)⁻¹T as far as it is known, the diagonal of (K + αI)⁻¹, and what makes the first exact."""

    rough: np.ndarray
    diagonal: np.ndarray
    final: Callable[[], np.ndarray]


def _in_single(Z: CentredRows, alphas: np.ndarray, center: bool) -> list[Dual] | None:
    """From products and factorisations in single precision; None where they have too few digits."""
    K = Z.rough_products()
    if K is None:
        return None
    fill = Z.fill(K)
    direction, lift = Z.root * np.sqrt(fill), fill * float(Z.root @ Z.root)
    found = _factors(K, alphas, _ENOUGH)
    if found is None:
        return None

    def exact(alpha: float, solve: Callable, rough: np.ndarray) -> np.ndarray:
        refined = corrected(solve, partial(Z.dual_gradient, alpha, fill), rough)
        if refined is not None:
            return refined
        return _in_double(Z, np.array([alpha]), center, None)[0].final()

    duals = []
    for alpha, (solve, squares) in zip(alphas.tolist(), found, strict=True):
        rough = solve(Z.target)
        diagonal = squares - (direction**2 / (lift * (lift + alpha)) if lift else 0.0)
        duals.append(Dual(rough, diagonal, partial(exact, alpha, solve, rough)))
    return duals


def _in_double(Z: CentredRows, alphas: np.ndarray, center: bool, ask: Callable | None) -> list[Dual]:
    T, K = Z.target, Z.inner_products()
    _require_finite(K, ask)
    direction = Z.root / np.linalg.norm(Z.root) if center else np.zeros(len(K))
    # The intercept takes the direction √w. Lifted above all other eigenvalues, it can be told from them and left out.
    lift = 2.0 * np.trace(K) + 1.0
    K += lift * np.outer(direction, direction)
    # The trace of an inverse bounds its norm, and √n that of a correlation matrix's usual rows.
    found = _factors(K, alphas, 1.0 / (_TRUSTED * len(K) ** 1.5)) if len(alphas) <= _FEW else None
    if found is None:
        pairs = _by_eigenvalues(K, T, alphas, center)
    else:
        pairs = [(f[0](T), f[1] - direction**2 / (lift + alpha)) for alpha, f in zip(alphas, found, strict=True)]
    return [Dual(dual, diagonal, partial(np.asarray, dual)) for dual, diagonal in pairs]


def _factors(K: np.ndarray, alphas: np.ndarray, most: float) -> list[tuple[Callable, np.ndarray]] | None:
    """What solves with K + αI, and the diagonal of its inverse, for every α side by side; None if digits are lost.

    With K + αI = LLᵀ both come from L⁻¹.
    """
    scale = 1.0 / np.sqrt(np.diag(K).astype(np.float64) + alphas.min())  # so that the units of rows do not matter
    balanced = K * scale.astype(K.dtype)
    balanced *= scale.astype(K.dtype)[:, None]

    def one(alpha: float) -> tuple[Callable, np.ndarray] | None:
        A = balanced.copy()
        A.flat[:: len(A) + 1] += alpha * scale**2
        inverse = inverse_factor(A)
        if inverse is None:
            return None
        squares = np.einsum("ij,ij->j", inverse, inverse)
        if not squares.mean() < most:
            return None

        def solve(right: np.ndarray) -> np.ndarray:
            return inverse.T @ (inverse @ (right * scale[:, None]).astype(K.dtype)) * scale[:, None]

        return solve, squares * scale**2

    found = run_tasks([partial(one, alpha) for alpha in alphas])
    return None if any(pair is None for pair in found) else found  # type: ignore[return-value]


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
