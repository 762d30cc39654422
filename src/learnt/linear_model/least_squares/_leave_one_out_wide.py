"""Leave-one-out residuals of ridge regression where rows are fewer than columns.

With K the rows' inner products, T the targets and A = (K + αI)⁻¹, the residual of row i under the model fitted without
it is (AT)ᵢ / Aᵢᵢ. A factorisation for each of a few α is cheaper than one spectrum for all. Those of the smallest and
of the largest α are often enough in single precision: where α is small beside K, entries of A are smooth between them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.threads import run_tasks, single_blas
from learnt.linalg import decompositions
from learnt.linalg.positive import inverse_factor, inverse_from_factor
from learnt.linear_model.least_squares._centred import CentredRows
from learnt.linear_model.least_squares._leave_one_out import require_finite
from learnt.linear_model.least_squares._mixed_precision import corrected

_FEW = 8  # penalties up to which a factorisation each is cheaper than one spectrum
_TRUSTED = 1e-9  # reciprocal condition number down to which a factorisation is accurate enough for the residuals
_ENOUGH = 4.0  # mean of the diagonal of an inverse up to which one in single precision gives six digits
_MANY = 256  # rows from which single precision pays
_SAME = 1e-7  # the most by which two accurate interpolations differ


@single_blas()
def wide_residuals(
    rows: Any, center: bool, alphas: np.ndarray, check_cells: Callable | None = None, exact: bool = True
) -> tuple[np.ndarray, Any]:
    """The residuals (n, k, A), and a function from the chosen α of every target (as positions) to coefficients and
    intercepts.

    Unless they are to be `exact`, residuals of many rows have six digits: enough to choose by. Coefficients have all.
    """
    Z = CentredRows(rows, center)
    duals = None
    if not exact and len(Z.target) >= _MANY and len(alphas) <= _FEW:
        duals = _in_single(Z, alphas, center)
    if duals is None:
        duals = _in_double(Z, alphas, center, check_cells)
    with np.errstate(divide="ignore", invalid="ignore"):  # a row of weight 0 has no residual
        errors = [np.nan_to_num(dual.rough / dual.diagonal[:, None] / Z.root[:, None]) for dual in duals]

    def solution(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        final = {a: duals[a].final() for a in set(chosen.tolist())}
        coef = Z.transposed_times(np.stack([final[a][:, j] for j, a in enumerate(chosen)], axis=1))
        return coef, Z.y_mean - Z.x_mean @ coef

    return np.stack(errors, axis=2), solution


class Dual(NamedTuple):
    """For one α: AT, possibly approximate, the diagonal of A, and a function that makes AT exact."""

    rough: np.ndarray
    diagonal: np.ndarray
    final: Callable[[], np.ndarray]


class Inverse(NamedTuple):
    """A as an operator, its diagonal, and that of A² where it is known."""

    times: Callable[[np.ndarray], np.ndarray]
    diagonal: np.ndarray
    square: np.ndarray | None = None


def _in_single(Z: CentredRows, alphas: np.ndarray, center: bool) -> list[Dual] | None:
    """From products and factorisations in single precision; None where they have too few digits."""
    K = Z.rough_products()
    if K is None:
        return None
    fill = Z.fill(K)
    direction, lift = Z.root * np.sqrt(fill), fill * float(Z.root @ Z.root)
    found = _rough_inverses(K, Z.target, alphas)
    if found is None:
        return None

    def exact(alpha: float, solve: Callable, rough: np.ndarray) -> np.ndarray:
        refined = corrected(solve, partial(Z.dual_gradient, alpha, fill), rough)
        if refined is not None:
            return refined
        return _in_double(Z, np.array([alpha]), center, None)[0].final()

    duals = []
    for alpha, inverse in zip(alphas.tolist(), found, strict=True):
        rough = inverse.times(Z.target)
        diagonal = inverse.diagonal - (direction**2 / (lift * (lift + alpha)) if lift else 0.0)
        duals.append(Dual(rough, diagonal, partial(exact, alpha, inverse.times, rough)))
    return duals


def _in_double(Z: CentredRows, alphas: np.ndarray, center: bool, check_cells: Callable | None) -> list[Dual]:
    T, K = Z.target, Z.inner_products()
    require_finite(K, check_cells)
    direction = Z.root / np.linalg.norm(Z.root) if center else np.zeros(len(K))
    # The intercept takes the direction √w. Its eigenvalue is raised above all others, so that it can be identified and
    # left out.
    lift = 2.0 * np.trace(K) + 1.0
    K += lift * np.outer(direction, direction)
    # The trace of an inverse bounds its norm, and √n that of a correlation matrix's usual rows.
    found = _factors(K, alphas, 1.0 / (_TRUSTED * len(K) ** 1.5)) if len(alphas) <= _FEW else None
    if found is None:
        pairs = _by_eigenvalues(K, T, alphas, center)
    else:
        pairs = [(A.times(T), A.diagonal - direction**2 / (lift + a)) for a, A in zip(alphas, found, strict=True)]
    return [Dual(dual, diagonal, partial(np.asarray, dual)) for dual, diagonal in pairs]


def _rough_inverses(K: np.ndarray, T: np.ndarray, alphas: np.ndarray) -> list[Inverse] | None:
    """For every α, interpolated from those of the smallest and the largest where that is accurate."""
    ends = np.array([alphas.min(), alphas.max()])
    inside = alphas[(alphas > ends[0]) & (alphas < ends[1])]
    if not inside.size:
        return _factors(K, alphas, _ENOUGH)
    known = _factors(K, ends, _ENOUGH, square=True)
    if known is None:
        return None
    between = Between(ends, known, T)
    rest = [between.at(a) for a in inside.tolist()] if between.smooth(inside) else _factors(K, inside, _ENOUGH)
    if rest is None:
        return None
    every = dict(zip([*ends.tolist(), *inside.tolist()], [*known, *rest], strict=True))
    return [every[alpha] for alpha in alphas.tolist()]


class Between:
    """A for an α between two, by cubic Hermite interpolation: dA/dα = −A²."""

    def __init__(self, ends: np.ndarray, known: list[Inverse], T: np.ndarray) -> None:
        self._start, self._length = float(ends[0]), float(ends[1] - ends[0])
        self._known = known
        self._diagonals: list[Any] = [d for A in known for d in (A.diagonal, A.square)]
        self._T, self._of_T = T, self._at_ends(T)

    def at(self, alpha: float) -> Inverse:
        return Inverse(partial(self._times, alpha), self._flatter(alpha, self._diagonals))

    def smooth(self, alphas: np.ndarray) -> bool:
        """Whether interpolating diag A and TᵀAT agrees with interpolating their reciprocals, which are smoother."""
        x, _, y, _ = self._of_T
        sums = [np.einsum("ij,ij->j", u, v) for u, v in ((self._T, x), (x, x), (self._T, y), (y, y))]
        varies = sums[0] > 0.0
        curves = [np.append(d, s[varies]) for d, s in zip(self._diagonals, sums, strict=True)]
        for alpha in alphas.tolist():
            flatter = self._flatter(alpha, curves)
            if not (np.abs(self._cubic(alpha, curves) - flatter) <= _SAME * flatter).all():
                return False
        return True

    def _times(self, alpha: float, right: np.ndarray) -> np.ndarray:
        return self._cubic(alpha, self._of_T if right is self._T else self._at_ends(right))

    def _at_ends(self, right: np.ndarray) -> list[np.ndarray]:
        first, last = self._known
        x, y = first.times(right), last.times(right)
        return [x, first.times(x), y, last.times(y)]

    def _cubic(self, alpha: float, curves: list) -> Any:
        """The cubic with given values and negative slopes at both ends."""
        f, df, g, dg = curves
        t = (alpha - self._start) / self._length
        r, h = 1.0 - t, self._length
        return r * r * ((1.0 + 2.0 * t) * f - t * h * df) + t * t * ((3.0 - 2.0 * t) * g + r * h * dg)

    def _flatter(self, alpha: float, curves: list) -> Any:
        f, df, g, dg = curves
        return 1.0 / self._cubic(alpha, [1.0 / f, -df / f**2, 1.0 / g, -dg / g**2])


def _factors(K: np.ndarray, alphas: np.ndarray, most: float, square: bool = False) -> list[Inverse] | None:
    """A of every α, in parallel, from K + αI = LLᵀ by L⁻¹; None where ill-conditioned."""
    scale = 1.0 / np.sqrt(np.diag(K).astype(np.float64) + alphas.min())  # so that the units of rows do not matter
    balanced = K * scale.astype(K.dtype)
    balanced *= scale.astype(K.dtype)[:, None]

    def one(alpha: float) -> Inverse | None:
        A = balanced.copy()
        A.flat[:: len(A) + 1] += alpha * scale**2
        inverse = inverse_factor(A)
        if inverse is None:
            return None
        sums = np.einsum("ij,ij->j", inverse, inverse)
        if not sums.mean() < most:
            return None

        def times(right: np.ndarray) -> np.ndarray:
            return inverse.T @ (inverse @ (right * scale[:, None]).astype(K.dtype)) * scale[:, None]

        if not square:
            return Inverse(times, sums * scale**2)
        triangle = inverse_from_factor(inverse.copy())
        triangle *= triangle
        parts = (scale**2).astype(K.dtype)
        squares = triangle @ parts + parts @ triangle - parts * triangle.diagonal()
        return Inverse(times, sums * scale**2, squares * scale**2)

    found = run_tasks([partial(one, alpha) for alpha in alphas])
    return None if any(inverse is None for inverse in found) else found  # type: ignore[return-value]


def _by_eigenvalues(
    K: np.ndarray, T: np.ndarray, alphas: np.ndarray, center: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    with single_blas():
        values, vectors = decompositions.eigh(K)
        if center:
            values, vectors = values[:-1], vectors[:, :-1]
        values = np.clip(values, 0, None)
        rotated, squares = vectors.T @ T, np.square(vectors)
        return [(vectors @ (rotated / (values + a)[:, None]), squares @ (1.0 / (values + a))) for a in alphas]
