"""A dual problem of some hundred variables by an interior point: a few dozen linear systems, whatever the bounds.

Where bounds are large against the kernel, pairs of variables need millions of small steps. Here all variables move at
once, between their bounds; with multipliers z of 0 ≤ x and v of x ≤ top, Newton's method solves

    Qx + p − Aᵀy − z + v = 0,   Ax = b,   x z = μ,   (top − x) v = μ

while μ falls to 0. Variables are measured in their usual bound, those of rows far out in as much less as they bend
more: what a heavy row may take has no share in the multipliers of the others.

Reference: Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Optim. 2 (1992),
doi:10.1137/0802028.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from learnt.engine.interrupts import check_stopped

_STEPS = 80
_LEFT = 1e-30  # of the objective's unit: the least that is asked of the mean product of a variable and its multiplier
_INSIDE = 0.995  # share of the way to the nearest bound that a step goes
_FAR = 10.0  # times the usual length of a row, from which it is far out
_ROUNDING = 1e-13  # of a sum of variables
_ZOOMS, _ZOOM = 10, 10.0  # times that bounds of pairs are moved, and how far above the largest coefficient
_AT_BOUND = 0.99
_RIDGE = 1e-14  # of Q_tt, since variables of equal rows leave Q singular


def interior(
    Q: np.ndarray, linear: np.ndarray, upper: np.ndarray, sums: np.ndarray, start: np.ndarray, tol: float
) -> np.ndarray | None:
    """α with ½αᵀQα + pᵀα least among 0 ≤ α ≤ upper with `sums` @ α as at the start; None where there is none.

    Entries of `sums` (sums, variables) are ±1 or 0, and no variable is in two of them. `tol` is how far slopes may be
    from those of the minimum.
    """
    free = upper > 0.0
    if not free.any():
        return None
    bend = np.abs(np.diag(Q)[free])
    far = np.sqrt(np.maximum(bend, np.finfo(float).tiny) / max(float(np.median(bend)), np.finfo(float).tiny))
    usual = float(np.median(upper[free]))
    unit = usual / np.where(far > _FAR, far, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        Q, p, A = Q[np.ix_(free, free)] * unit * unit[:, None], linear[free] * unit, sums[:, free] * unit
    size = max(float(np.abs(np.diag(Q)).max()), float(np.abs(p).max()))
    if not 0.0 < size < np.inf:
        return None
    least = max(min(tol * usual / size, 1.0) ** 2, _LEFT)
    top = upper[free] / unit
    x = _search(Q / size, p / size, A / usual, A @ (start[free] / unit) / usual, top, least)
    if x is None:
        return None
    alpha, wanted = np.zeros(len(upper)), sums @ start
    alpha[free] = np.where(x == top, upper[free], x * unit)
    freedom = np.zeros(len(upper))
    freedom[free] = (unit / usual) ** 2
    _balance(alpha, upper, freedom, sums, wanted)
    return alpha if (np.abs(sums @ alpha - wanted) <= _ROUNDING * (np.abs(sums) @ upper)).all() else None


def interior_of_twins(
    Q: np.ndarray, linear: np.ndarray, upper: np.ndarray, sums: np.ndarray, tol: float
) -> np.ndarray | None:
    """The same where the variables come in pairs, one for each sign of a coefficient: those of ε-regression.

    An interior point is in the middle of what costs nothing: what both of a pair have, coefficients of rows that are
    combinations of others. Where bounds are far above the coefficients, that drowns them. Bounds are therefore no
    further above the largest coefficient than they have to be, and what both of a pair have is taken away.
    """
    n, bends, best, least = len(upper) // 2, np.diag(Q)[upper > 0.0], None, np.inf
    if not bends.any() or not linear.any():
        return None
    bound = min(float(upper[upper > 0.0].min()), _ZOOM * float(np.abs(linear).max() / np.median(bends[bends > 0.0])))
    for _ in range(_ZOOMS):
        alpha = interior(Q, linear, np.minimum(upper, bound), sums, np.zeros(2 * n), tol)
        if alpha is None:
            break
        alpha -= np.tile(np.minimum(alpha[:n], alpha[n:]), 2)
        _balance(alpha, upper, np.ones(2 * n), sums, np.zeros(1))
        if _left(Q, linear, upper, sums[0], alpha) <= tol:
            return alpha
        value = 0.5 * float(alpha @ Q @ alpha) + float(linear @ alpha)
        if value + np.finfo(float).eps * float(alpha @ np.abs(Q) @ alpha) < least:  # beyond what rounding makes of it
            best, least = alpha, value
        largest = float(alpha.max())
        if (alpha[upper > bound] >= _AT_BOUND * bound).any():
            bound *= _ZOOM**2
        elif 0.0 < largest < bound / _ZOOM**2:
            bound = largest * _ZOOM
        else:
            break
    return best


def _left(Q: np.ndarray, linear: np.ndarray, upper: np.ndarray, sign: np.ndarray, alpha: np.ndarray) -> float:
    """How far apart scores are that should be in order."""
    score = -sign * (Q @ alpha + linear)
    more, less = alpha < upper, alpha > 0.0
    rise, fall = np.where(sign > 0, more, less), np.where(sign > 0, less, more)
    return float(score[rise].max(initial=-np.inf) - score[fall].min(initial=np.inf))


def _search(
    Q: np.ndarray, p: np.ndarray, A: np.ndarray, b: np.ndarray, top: np.ndarray, least: float
) -> np.ndarray | None:
    """argmin of ½xᵀQx + pᵀx with Ax = b, 0 ≤ x ≤ top, whose entries are exactly at a bound where they end there."""
    m = len(p)
    ridge = _RIDGE * np.maximum(np.diag(Q), _RIDGE)
    x, s, y = top / 2, top / 2, np.zeros(len(A))
    z, v = 0.25 / x, 0.25 / s
    for _ in range(_STEPS):
        check_stopped()
        mu = float(x @ z + s @ v) / (2 * m)
        along, missing = Q @ x + p - A.T @ y - z + v, A @ x - b
        if not (mu < np.inf and np.isfinite(along).all()):
            return None
        if mu <= least:
            break
        H = Q.copy()
        H.flat[:: m + 1] += z / x + v / s + ridge
        factor, failed = linalg.lapack.dpotrf(H, lower=1, overwrite_a=1)
        if failed:
            break
        turned = linalg.lapack.dpotrs(factor, np.ascontiguousarray(A.T), lower=1)[0]
        system = _System(factor, A, turned, A @ turned, along, missing, x, s, z, v)
        dx, _, dz, dv = system.step(-x * z, -s * v)
        far = _furthest(x, s, z, v, dx, dz, dv)
        ahead = float((x + far * dx) @ (z + far * dz) + (s - far * dx) @ (v + far * dv)) / (2 * m)
        aim = (ahead / mu) ** 3 * mu
        dx, dy, dz, dv = system.step(aim - x * z - dx * dz, aim - s * v + dx * dv)
        far = min(1.0, _INSIDE * _furthest(x, s, z, v, dx, dz, dv))
        x, y, z, v = x + far * dx, y + far * dy, z + far * dz, v + far * dv
        s = s - far * dx
    return np.where(z > x, 0.0, np.where(v > s, top, np.clip(x, 0.0, top)))


class _System(NamedTuple):
    """Newton's equations at a point, with the Cholesky factor of Q and the diagonal of the multipliers."""

    factor: np.ndarray
    A: np.ndarray
    turned: np.ndarray  # that matrix's inverse times Aᵀ
    corner: np.ndarray  # A times that
    along: np.ndarray  # what is left of the first equation
    missing: np.ndarray  # and of the second
    x: np.ndarray
    s: np.ndarray  # top − x
    z: np.ndarray
    v: np.ndarray

    def step(self, by_z: np.ndarray, by_v: np.ndarray) -> tuple[np.ndarray, ...]:
        """The step of x, y, z and v at which x z and (top − x) v change by so much."""
        x, s, z, v = self.x, self.s, self.z, self.v
        right = linalg.lapack.dpotrs(self.factor, by_z / x - by_v / s - self.along, lower=1)[0]
        dy = np.linalg.lstsq(self.corner, -self.missing - self.A @ right, rcond=None)[0]
        dx = right + self.turned @ dy
        return dx, dy, (by_z - z * dx) / x, (by_v + v * dx) / s


def _furthest(x, s, z, v, dx, dz, dv) -> float:
    """How much of a step may be taken until the first of x, top − x, z and v is 0; at most 1 / _INSIDE."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ways = [np.where(d < 0, -a / d, np.inf).min() for a, d in ((x, dx), (s, -dx), (z, dz), (v, dv))]
    return float(min(1.0 / _INSIDE, *ways))


def _balance(alpha: np.ndarray, upper: np.ndarray, freedom: np.ndarray, sums: np.ndarray, wanted: np.ndarray) -> None:
    """Restore the sums, which rounding and bounds have left by a little: variables between their bounds move first.

    They move in proportion to how far they can and to their `freedom`, little where the kernel is large.
    """
    for signs, total in zip(sums, wanted, strict=True):
        places = np.flatnonzero(signs)
        inside = (alpha[places] > 0) & (alpha[places] < upper[places])
        for some in (places[inside], places[~inside]):
            left = float(total - signs @ alpha)
            if abs(left) <= _ROUNDING * alpha[places].sum():
                break
            rises = signs[some] * left > 0
            room = freedom[some] * np.where(rises, upper[some] - alpha[some], alpha[some])
            share = min(1.0, abs(left) / room.sum()) if room.sum() > 0 else 0.0
            alpha[some] = np.clip(alpha[some] + np.where(rises, share, -share) * room, 0.0, upper[some])
