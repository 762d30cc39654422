"""The linear programme of quantile regression, solved in its dual by an interior-point method.

    min over v of  Σᵢ upᵢ eᵢ⁺ + downᵢ eᵢ⁻,   e = y − Zv

is the dual of  max yᵀa  over −down ≤ a ≤ up with Zᵀa = 0, which has as many unknowns as rows, each in a box. A step of
the method solves one weighted least-squares problem in the few columns of Z; twenty or so reach a gap of 1e-11 whatever
the number of rows. The solution is then moved to the nearest vertex, at which as many rows as columns are fitted
exactly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from learnt.engine.rows import ArrayRows
from learnt.engine.rows.blocks import Block
from learnt.engine.threads import single_blas
from learnt.erm.solvers import solver_of

_GAP = 1e-11  # relative
_STEPS = 100


class Optimum(NamedTuple):
    """Coefficients, the objective, a bound on its distance from the minimum, the number of steps, and the rows that are
    fitted exactly.

    `met` has as many rows as there are coefficients that are not 0; it is empty where no vertex was found.
    """

    v: np.ndarray
    objective: float
    gap: float
    n_iter: int
    met: np.ndarray = np.empty(0, dtype=np.intp)


def pinball(e: np.ndarray, up: np.ndarray, down: np.ndarray) -> float:
    """Σ up e⁺ + down e⁻."""
    return float(np.where(e > 0, up * e, -down * e).sum())


@single_blas()
def minimise(Z: np.ndarray, y: np.ndarray, up: np.ndarray, down: np.ndarray, penalty: np.ndarray) -> Optimum:
    """The minimum of pinball(y − Zv) + Σⱼ penaltyⱼ |vⱼ|; `penalty` has one entry a column, 0 for none.

    A penalty is a row of its own, eⱼ with y = 0 and up = down: it is added to the sums without being stored.
    """
    n = Z.shape[0]
    bent = np.flatnonzero(penalty > 0)
    y_all = np.concatenate([y, np.zeros(bent.size)])
    top = np.concatenate([up, penalty[bent]])
    low = np.concatenate([down, penalty[bent]])
    width = top + low

    def times(v: np.ndarray) -> np.ndarray:
        return np.concatenate([Z @ v, v[bent]])

    def transposed(a: np.ndarray) -> np.ndarray:
        out = Z.T @ a[:n]
        out[bent] += a[n:]
        return out

    def curvature(theta: np.ndarray) -> np.ndarray:
        (H,) = ArrayRows(Z, theta[:n]).sum(_weighted_gram)
        H[bent, bent] += theta[n:]
        return H

    # A feasible start: a = 0, which is within its bounds, and e split into two positive parts.
    z, t = low.copy(), top.copy()
    v = _solve(curvature(np.ones(n + bent.size)), transposed(y_all))
    e = y_all - times(v)
    room = max(float(np.abs(e).mean()), 1e-12 * float(np.abs(y_all).max(initial=1.0)))
    nu, lam = np.maximum(e, 0) + room, np.maximum(-e, 0) + room
    n_iter, best = 0, np.inf
    for n_iter in range(1, _STEPS + 1):
        gap = float(z @ lam + t @ nu)
        primal = float(np.where(e > 0, top * e, -low * e).sum())
        if gap <= _GAP * max(abs(primal), 1e-3 * room * float(width.sum())) or gap >= 0.999999 * best:
            break
        best = gap if n_iter > 8 else np.inf
        mu = gap / (2 * len(z))
        theta = 1.0 / (lam / z + nu / t)
        solve, box = solver_of(curvature(theta)), (z, t, lam, nu)

        dv, dz, dlam, dnu = _direction(box, theta, -z * lam, -t * nu, solve, times, transposed)
        primal_step, dual_step = _longest(z, t, dz), _longest(lam, nu, dlam, dnu)
        ahead = (z + primal_step * dz) @ (lam + dual_step * dlam) + (t - primal_step * dz) @ (nu + dual_step * dnu)
        target = mu * (float(ahead) / gap) ** 3
        dv, dz, dlam, dnu = _direction(
            box, theta, target - z * lam - dz * dlam, target - t * nu + dz * dnu, solve, times, transposed
        )
        primal_step = min(1.0, 0.9995 * _longest(z, t, dz))
        dual_step = min(1.0, 0.9995 * _longest(lam, nu, dlam, dnu))
        z, t = z + primal_step * dz, t - primal_step * dz
        v, lam, nu = v + dual_step * dv, lam + dual_step * dlam, nu + dual_step * dnu
        e = y_all - times(v)
    theta = 1.0 / (lam / z + nu / t)
    value = float(np.where(e > 0, top * e, -low * e).sum())
    v, value, met = _vertex(Z, y_all, top, low, bent, theta, v, value, times)
    # Σ y a of a feasible a is a lower bound of the minimum; rounding leaves Zᵀa at not quite 0, which counts as much as
    # coefficients can be large.
    a = z - low
    off = float(np.abs(transposed(a)).max(initial=0.0)) * _largest_coefficients(Z, y)
    return Optimum(v, value, max(value - float(y_all @ a), 0.0) + off, n_iter, met)


def _largest_coefficients(Z: np.ndarray, y: np.ndarray) -> float:
    """A bound of the coefficients that can be of use, from the least singular value of Z as far as it is known."""
    values = np.linalg.eigvalsh(Z.T @ Z if Z.shape[0] >= Z.shape[1] else Z @ Z.T)
    least = max(float(values[0]), float(np.finfo(float).eps * values[-1]), np.finfo(float).tiny)
    return 2.0 * float(np.linalg.norm(y)) / float(np.sqrt(least)) if values[-1] > 0 else 0.0


def _direction(
    box: tuple[np.ndarray, ...],
    theta: np.ndarray,
    m1: np.ndarray,
    m2: np.ndarray,
    solve: Any,
    times: Any,
    transposed: Any,
) -> tuple[np.ndarray, ...]:
    """Changes of v, z, λ and ν that make zλ and tν larger by m1 and m2 to first order, and keep both sides feasible."""
    z, t, lam, nu = box
    push = theta * (m1 / z - m2 / t)
    dv = solve(transposed(push))
    dz = push - theta * times(dv)
    return dv, dz, (m1 - lam * dz) / z, (m2 + nu * dz) / t


def _weighted_gram(block: Block) -> tuple:
    A = block.X * np.sqrt(block.y)[:, None]
    return (A.T @ A,)


def _solve(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    return solver_of(H)(g)


def _longest(a: np.ndarray, b: np.ndarray, da: np.ndarray, db: np.ndarray | None = None) -> float:
    """How far a + s·da and b + s·db (−da, if not given) stay positive; at most 1/0.9995."""
    db = -da if db is None else db
    worst = min(float((da / a).min()), float((db / b).min()))
    return 1.0005 if worst >= -0.9995 else -1.0 / worst


def _vertex(
    Z: np.ndarray,
    y: np.ndarray,
    top: np.ndarray,
    low: np.ndarray,
    bent: np.ndarray,
    theta: np.ndarray,
    v: np.ndarray,
    value: float,
    times: Any,
) -> tuple[np.ndarray, float, np.ndarray]:
    """The vertex of rows that are nearly fitted, which have by far the largest θ. Kept if it is as good."""
    n, p = Z.shape
    none = np.empty(0, dtype=np.intp)
    if len(y) < p:
        return v, value, none
    near = np.argsort(-theta, kind="stable")[: min(len(y), 3 * p + 10)]
    rows = np.zeros((near.size, p))
    data = near < n
    rows[data] = Z[near[data]]
    rows[np.flatnonzero(~data), bent[near[~data] - n]] = 1.0
    norms = np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
    # The square root, so that small θ still count where the method could not choose between rows.
    weight = (theta[near] / theta[near].max()) ** 0.15 / norms
    _, R, order = linalg.qr((rows * weight[:, None]).T, mode="economic", pivoting=True)
    chosen = order[:p]
    pivots = np.abs(np.diag(R))
    if pivots.size < p or not pivots.min() > 1e-12 * pivots.max():
        return v, value, none
    scaled = rows[chosen] / norms[chosen, None]
    try:
        corner = linalg.solve(scaled, y[near[chosen]] / norms[chosen])
    except (linalg.LinAlgError, ValueError):
        return v, value, none
    zero = near[chosen][near[chosen] >= n] - n
    corner[bent[zero]] = 0.0
    e = y - times(corner)
    loss = float(np.where(e > 0, top * e, -low * e).sum())
    if loss > value * (1 + 1e-10):
        return v, value, none
    return corner, loss, near[chosen][near[chosen] < n]
