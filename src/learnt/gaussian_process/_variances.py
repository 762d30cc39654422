"""Variances of many rows asked, through the few training rows that leave little of a smooth kernel unknown.

With Z pivots of a Cholesky factor of k(X, X), LLᵀ = k(Z, Z), φ(x) = L⁻¹k(Z, x) and the rows of Φ those of X,
k(X, x) = Φφ(x) + e. Each |eᵢ| is at most √(ρ(xᵢ)ρ(x)), where ρ(x) = k(x, x) − ‖φ(x)‖² is what Z leaves unknown. So

    v(x) = k(x, x) − k(x, X) K⁻¹ k(X, x) ≈ ρ(x) + φ(x)ᵀ H φ(x)        H = I − Φᵀ K⁻¹ Φ

costs r² operations and not n². The error is known for each row: v(x) is the mean squared error of the predictor aᵀy
with a = K⁻¹k(X, x), to which noise of variance s adds s‖a‖², so that ‖a‖² ≤ v(x)/s, and what is left out,

    2aᵀe − eᵀK⁻¹e, is at most 2b√v(x) + b² with b² = ρ(x) Σᵢρ(xᵢ)/s.

Rows where this is not small beside the variance, far from all others for instance, are left to the caller.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.matrices import row_squares
from learnt.engine.threads import for_blocks
from learnt.gaussian_process._bound import noise_of
from learnt.gaussian_process._likelihood import on_blocks
from learnt.gaussian_process._pivoted import PivotedFactor
from learnt.kernels import Kernel, smooth_part
from learnt.linalg.gram import gram
from learnt.linalg.tiles import solve_rows, triangle_solve

ERROR = 1e-5  # of a variance, relative, at most: five digits of the standard deviation; seven are usual
_MARGIN = 4.0  # by which the training rows are to be better than that, since rows asked are known less well
_ROUNDING = 1e-13  # share of the largest variance that is not told from none
_FEW = 512  # rows, trained on and asked, from which this can pay
_GAIN = 2.0  # how much quicker it has to be
_PIVOT, _ASK = 14.0, 3.0  # a step of the factor and of an answer, in steps of a triangular solution (Neoverse-N1)
_LOOK = 32  # pivots between two looks at the error
_SLOWER = 1.25  # digits are gained more slowly as pivots are added: at least this much, as seen
_QUERIES = 256  # rows of a task


class FewRows(NamedTuple):
    """What variances need of a model."""

    smooth: Any
    Z: np.ndarray
    L: np.ndarray
    H: np.ndarray
    left: float  # Σρ(xᵢ)/s


def few_rows(model: Any, queries: Any) -> FewRows | None:
    """The pivots of an exact model; None where they are not few beside its rows and those asked."""
    X, kernel = model.X_train_, model.kernel_
    if min(len(X), len(queries)) < _FEW or not isinstance(kernel, Kernel):
        return None
    if not all(on_blocks(kernel, rows) and rows.dtype == np.float64 for rows in (X, queries)):
        return None
    smooth = smooth_part(kernel)
    noise, own = noise_of(kernel, smooth, X, model._noise(len(X)))
    least = float(noise.min())
    if least <= _ROUNDING * own.max():
        return None
    shown = float((kernel.diag(queries[:1]) - smooth.diag(queries[:1]))[0])  # noise that is part of the answer
    factor = PivotedFactor(smooth, X, _most(len(X), len(queries)))
    if not _grow(factor, least, shown) or not factor.pivots:  # no pivot: a kernel that is 0
        return None
    Z, L = X[factor.pivots], np.ascontiguousarray(np.tril(factor.V[:, factor.pivots].T))
    H = -gram(solve_rows(model.L_, factor.V.copy()))
    H.ravel()[:: len(H) + 1] += 1.0
    left = np.maximum(factor.left, _ROUNDING * own).sum() / least
    return FewRows(smooth, Z, L, H, float(left))


def _most(n: int, queries: int) -> int:
    """The rank up to which this is quicker than triangular solutions for all rows asked.

    >>> _most(2000, 2000), _most(2000, 10_000)
    (289, 553)
    """
    a = _PIVOT * n + _ASK * queries
    return int((math.sqrt(n**4 + 4 * a * n * n * queries / _GAIN) - n * n) / (2 * a))


def _grow(factor: PivotedFactor, noise: float, shown: float) -> bool:
    """Add pivots until training rows are accurate enough; False as soon as it is clear that they never will be."""
    n, most, before = len(factor.X), factor.most, 0.0
    for rank in range(_LOOK, most + _LOOK, _LOOK):
        factor.grow(min(rank, most), _ROUNDING)
        largest, r = float(factor.left.max()), len(factor.pivots)
        if largest <= _ROUNDING * factor.top:
            return True
        # Averaged over training rows the variance is that of the noise times (effective parameters)/n.
        error = _error(largest * factor.left.sum() / noise, noise * r / n, shown)
        if error <= ERROR / _MARGIN:
            return True
        digits = math.log(factor.top / largest)
        missing = min(math.log(error * _MARGIN / ERROR), math.log(largest / factor.top / _ROUNDING))
        if rank > _LOOK and r + _SLOWER * missing * _LOOK / max(digits - before, 1e-3) > most:
            return False
        before = digits
    return False


def _error(b2: Any, function: Any, shown: Any) -> Any:
    """The bound on the error of a variance, relative to it and to noise that is part of the answer."""
    return (2.0 * np.sqrt(b2 * function) + b2) / (function + shown)


def variances(found: FewRows, kernel: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At rows X, and whether each is within `ERROR`."""
    value, sure = np.empty(len(X)), np.empty(len(X), dtype=bool)
    smooth, Z, L, H, left = found

    def part(lo: int, hi: int) -> None:
        rows = X[lo:hi]
        own = smooth.diag(rows)
        phi = smooth.block(rows, Z, None)
        triangle_solve(L, phi, transposed=True)
        unknown = own - row_squares(phi)
        function = unknown + np.einsum("ij,ij->i", phi @ H, phi)
        shown = kernel.diag(rows) - own
        b2 = np.maximum(unknown, _ROUNDING * own) * left
        sure[lo:hi] = _error(b2, np.maximum(function, _ROUNDING * own), shown) <= ERROR
        value[lo:hi] = function + shown

    for_blocks(part, len(X), grain=_QUERIES)
    return value, sure
