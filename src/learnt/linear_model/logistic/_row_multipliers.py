"""Two classes over fewer rows than columns: Newton's method in the multipliers of the rows.

At the minimum  coef = Zᵀt/α  with one multiplier a row, Z being the centred rows; all that is asked of Z is then in the
n × n products  G = ZZᵀ/α:

    scores  s = Gt + c,      objective  Σ w ℓ(y, s) + tᵀGt/2

The loss has the derivatives r and D = diag(q²) in the scores. A step (δ, γ) of t and c solves
δ + D(Gδ + γ) = b = −(r + t)  with  Σ(t + δ) = 0.  With δ = b − qz that is
(I + qGq) z = q(Gb + γ),  Σ qz = −Σr:  conjugate gradients among the z of that sum, in units of the diagonal. G is in
single precision and only chooses the steps; scores are computed anew from X at the end, and where they show that the
minimum is not reached, the iteration continues from there.

Reference: Gould, Hribar & Nocedal, On the solution of equality constrained quadratic programming problems (2001),
doi:10.1137/S1064827598345667.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from learnt.erm.solvers.curved import Flat, Outcome, Point, search
from learnt.linear_model.least_squares._centred import CentredTable
from learnt.linear_model.logistic._margins import margin_losses

_SHARE, _POWER = 0.1, 0.2  # residual of the equations at first, relative; shrinks with the gradient, by this power
_CLOSE = 0.1  # of the tolerance: no equation is solved more closely
_MOST = 30  # products a step: where that is not enough, factorising the matrix is faster
_GAIN = 0.1  # a pass over X must leave at most this share of the distance that the pass before it found
_STEPS = 40  # more steps are a sign of too few digits
_LARGEST = 1e7  # of an inner product: scores made of larger ones have too few digits


class State(NamedTuple):
    """Multipliers and intercept, what they make of the scores and the penalty, and the derivatives in the scores."""

    t: np.ndarray
    c: float
    Gt: np.ndarray
    pull: float  # tᵀGt / 2
    value: float
    r: np.ndarray
    curve: np.ndarray


class Step(NamedTuple):
    """A change of t and c, of Gt, and  left = −gᵀstep:  twice the estimated excess over the minimum."""

    t: np.ndarray
    c: float
    Gt: np.ndarray
    left: float


class RowProblem:
    """The objective over dense rows; `y` is 0 or 1, `w` the rows' weights."""

    def __init__(self, Z: CentredTable, y: np.ndarray, w: np.ndarray, alpha: float, fit_intercept: bool) -> None:
        self.Z, self.y, self.w, self.alpha, self.fit_intercept = Z, y, w, alpha, fit_intercept
        with np.errstate(over="ignore"):
            self.G = (Z.inner_products() / alpha).astype(np.float32)
        self.diagonal = self.G.diagonal().astype(np.float64)
        self._begun, self._factors = 1e-300, False

    @property
    def usable(self) -> bool:
        """Whether single precision is enough."""
        return bool((self.diagonal * self.w < _LARGEST).all())

    def coefficients(self, state: State) -> np.ndarray:
        """(1, d + 1), the intercept last."""
        coef = self.Z.transposed_times(state.t) / self.alpha
        return np.append(coef, state.c - coef @ self.Z.mean)[None, :]

    def look(self, t: np.ndarray, c: float, Gt: np.ndarray, pull: float) -> State:
        side = 2.0 * self.y - 1.0
        losses, wrong, curve = margin_losses(side * (Gt + c))
        return State(t, c, Gt, pull, float(self.w @ losses) + pull, -self.w * side * wrong, self.w * curve)

    def read(self, state: State) -> State:
        """The same multipliers, with scores computed from X in double precision."""
        theta = self.coefficients(state)
        Gt = self.Z.times(theta[0, :-1])
        return self.look(state.t, state.c, Gt, 0.5 * self.alpha * float(theta[0, :-1] @ theta[0, :-1]))

    def step(self, here: State, close: float) -> Step | None:
        """Newton's step, but for a share of `left` or for `close` of it; None where that cannot be had."""
        q = np.sqrt(here.curve)
        if not self._factors:
            units = 1.0 + here.curve * self.diagonal
            found = self._equations(here, q, lambda v: v / units, close)
            if found is not None:
                return found
            self._factors = True
        M = q.astype(np.float32)[:, None] * self.G * q.astype(np.float32)
        M.ravel()[:: q.size + 1] += 1.0
        factor, failed = lapack.spotrf(M, lower=1, overwrite_a=1)
        if failed:
            return None
        return self._equations(here, q, lambda v: lapack.spotrs(factor, v.astype(np.float32), lower=1)[0], close)

    def _equations(self, here: State, q: np.ndarray, units: Any, close: float) -> Step | None:
        """With ρ = q(Gb + γ) − (I + qGq) z left unsolved, `left` is no more than ρᵀρ from what it should be."""
        b, total = -(here.r + here.t), float(here.r.sum())
        along = units(q).astype(np.float64) if self.fit_intercept else np.zeros_like(q)  # z that change the sum
        size = float(q @ along) or 1.0
        Gb = self._product(b)
        z = (-total / size) * along
        Gqz = self._product(q * z)
        rest = q * Gb - z - q * Gqz
        p, before = np.zeros_like(q), np.inf
        for _ in range(_MOST):
            c = -float(along @ rest) / size
            left = float(b @ (Gb - Gqz)) - c * total
            rho = rest + c * q
            self._begun = max(self._begun, left)
            if rho @ rho <= max(_SHARE**2 * left * (max(left, 0.0) / self._begun) ** _POWER, close):
                return Step(b - q * z, c, Gb - Gqz, left)
            v = units(rho)
            energy = float(rho @ v)
            p = v + (energy / before) * p
            Gqp = self._product(q * p)
            Mp = p + q * Gqp
            length = energy / float(p @ Mp)
            z += length * p
            Gqz += length * Gqp
            rest -= length * Mp
            before = energy
        return None

    def along(self, here: State, step: Step) -> State | None:
        """Where a search along the step ends; None where it finds nothing lower."""
        found = here
        slope, bend = float(here.t @ step.Gt), float(step.t @ step.Gt)

        def evaluate(place: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal found
            k = float(place[0])
            pull = here.pull + k * slope + 0.5 * k * k * bend
            found = self.look(here.t + k * step.t, here.c + k * step.c, here.Gt + k * step.Gt, pull)
            return found.value, np.array([found.r @ (step.Gt + step.c) + slope + k * bend])

        start = Point(np.zeros(1), here.value, np.array([-step.left]))
        lower = search(evaluate, start, np.ones(1), -step.left)
        if lower is None:
            return None
        if lower.value != found.value:
            evaluate(lower.theta)
        return found

    def _product(self, v: np.ndarray) -> np.ndarray:
        return (self.G @ v.astype(np.float32)).astype(np.float64)


def descend(problem: RowProblem, *, tol: float, enough: float, max_iter: int, watch: Any) -> Outcome | None:
    """Minimise until  left ≤ 2 max(tol · f, enough)  by scores from X; None where single precision does not do.

    `watch` is a callback for every step: a function for the coefficients there, the value, and the number of steps.
    """
    n = problem.y.size
    here, known = problem.look(np.zeros(n), 0.0, np.zeros(n), 0.0), True
    last = np.inf
    n_iter, stop = 0, False
    while True:
        goal = 2 * max(tol * here.value, enough)
        step = problem.step(here, _CLOSE * goal)
        if step is None or not step.left >= -goal or n_iter > _STEPS:
            return None
        if step.left <= goal and not known:
            here, known = problem.read(here), True
            continue
        if known and n_iter:
            if step.left > max(goal, _GAIN * last):
                return None
            last = step.left
        for status, ended in (("converged", step.left <= goal), ("stopped", stop), ("iterations", n_iter >= max_iter)):
            if ended:
                return Outcome(problem.coefficients(here), here.value, max(step.left, 0.0) / 2, n_iter, status, Flat())
        lower = problem.along(here, step)
        if lower is None:
            return None
        here, known = lower, False
        n_iter += 1
        stop = watch is not None and watch(partial(problem.coefficients, here), here.value, n_iter)
