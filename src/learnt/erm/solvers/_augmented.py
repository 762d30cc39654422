"""Losses with kinks, or with saturating gradients, by Newton's method on smooth lower bounds of them.

    M(a) = min over z of  loss(y, z) + (z − a)²/(2t),      prox(a) the z that is best

is smooth whatever the loss, and rounds its corners over a width of t times its slope. A fit with M is a fit of
scores z that may miss xᵀw + b a little; multipliers u, one a row, remember by how much, and the fit with
M(xᵀw + b + tu) misses by less. t starts as wide as the residuals, where the problem is nearly least squares, and falls
where multipliers alone are slow.
References: Rockafellar, Augmented Lagrangians and applications of the proximal point algorithm, Math. Oper. Res. 1
(1976); Li, Sun, Toh, A highly efficient semismooth Newton augmented Lagrangian method, SIAM J. Optim. 28 (2018).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from learnt.engine.arrays import namespace
from learnt.engine.matrices import identity
from learnt.erm._problem import Problem
from learnt.erm.solvers._base import Solver

_STEPS = 30  # of Newton for one set of multipliers
_HALVINGS = 40
_FALL, _STILL, _NARROWER = 0.1, 0.7, 0.2  # t is reduced where a round leaves more than a tenth of the gap
_NUDGE, _DIGITS = 1e-8, 1e-14  # of t and of the scores, for the slope of prox
_ROUNDING = 1e-15
_ROUNDS = 20  # without any progress


@dataclass(frozen=True)
class AugmentedLagrangian(Solver):
    """Newton's method on the smoothed loss, round after round, until a duality gap is small.

    For losses with corners, or whose gradients saturate, with a smooth penalty. At the end of a round u is a slope of
    the loss at z, which is all that a bound on the minimum needs.

    Parameters
    ----------
    tol : float, default=1e-8
        Convergence tolerance: how large the duality gap may be beside the objective.
    max_iter : int, default=1000
        The most iterations, steps of Newton's method.

    See Also
    --------
    ADMM : Penalties with corners too.
    LinearProgram : Exact, for losses and penalties made of straight pieces.

    References
    ----------
    .. [1] R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm in convex
       programming", Mathematics of Operations Research, 1976.
    .. [2] X. Li, D. Sun, K.-C. Toh, "A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso
       problems", SIAM Journal on Optimization, 2018.
    """

    tol: float = 1e-8
    max_iter: int = 1000

    needs_smooth_penalty = True
    needs_rows = True

    def check(self, problem: Problem) -> None:
        """Refuse a problem that this solver cannot take, in one sentence that names those that could."""
        super().check(problem)
        if not hasattr(problem.loss, "prox") or problem.n_outputs > 1:
            raise ValueError(
                f"AugmentedLagrangian needs the prox of {type(problem.loss).__name__}, which has none; use 'lbfgs' or "
                "'fista'."
            )

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        xp, y = namespace(theta), problem.y
        slope = problem.loss.gradient(y, problem.scores(theta))
        t = problem.risk(theta) / max(float(xp.sum(slope**2 * problem.share)), 1e-300) or 1.0
        gram = problem.bent_gram(0 * y + 1)
        spread = xp.sum(gram * identity(gram), axis=0)
        u, left, best, idle, last = 0 * y, float("inf"), float("inf"), 0, float("inf")
        while idle < _ROUNDS:
            smooth = _Smoothed(problem, u, t, spread)
            for _ in range(_STEPS):
                theta, moved = smooth.step(theta)
                slopes, apart, unsettled = smooth.multipliers(theta)
                height = max(problem.objective(theta), 1e-12 * problem.height)
                settled = unsettled <= 0.1 * max(apart, self.tol * height)
                if settled or not moved:
                    break
                yield theta, left
            left = (apart + unsettled) / height
            yield theta, left
            best, idle = (left, 0) if left < 0.9 * best else (best, idle + 1)
            if not settled:  # kinks too sharp for Newton's method
                t /= _NARROWER
                continue
            if apart > _FALL * last:
                t *= _NARROWER if apart < _STILL * last else _NARROWER**2
            u, last = slopes, apart


class _Smoothed:
    """Σ shareᵢ Mᵢ(xᵢᵀw + b + t uᵢ) + alpha·penalty(w), as a function of θ."""

    def __init__(self, problem: Problem, u: Any, t: float, spread: Any) -> None:
        self._problem, self._u, self._t, self._spread = problem, u, t, spread

    def parts(self, scores: Any) -> tuple[Any, Any]:
        """The scores z that are best for a loss, and its slope there."""
        a = scores + self._t * self._u
        z = self._problem.loss.prox(self._problem.y, a, self._t)
        return z, (a - z) / self._t

    def value(self, theta: Any) -> float:
        return self._at(theta)[0]

    def _at(self, theta: Any) -> tuple[float, Any, Any]:
        problem, t = self._problem, self._t
        scores = problem.scores(theta)
        z, u = self.parts(scores)
        rounded = problem.loss.value(problem.y, z) + 0.5 * t * u**2 - 0.5 * t * self._u**2
        total = float(namespace(z).sum(rounded * problem.share))
        if problem.alpha:
            total += problem.alpha * float(problem.penalty.value(problem.coef(theta)))
        return total, scores, u

    def multipliers(self, theta: Any) -> tuple[Any, float, float]:
        """The slopes u for the next round, and how far the objective can be above its minimum, by Fenchel's inequality:
        loss(s) − loss(z) − u(s − z) of all rows, and the remaining gap between slopes and penalty."""
        problem, xp = self._problem, namespace(theta)
        scores, w = problem.scores(theta), problem.coef(theta)
        z, u = self.parts(scores)
        apart = problem.loss.value(problem.y, scores) - problem.loss.value(problem.y, z) - u * (scores - z)
        pull = problem.pull(u)
        v = problem.coef(pull)
        if problem.alpha and hasattr(problem.penalty, "conjugate"):
            both = problem.alpha * float(problem.penalty.value(w)) + float(xp.sum(v * w))
            unsettled = max(both + problem.penalty.conjugate(-v, problem.alpha), 0.0)
        else:
            unsettled = float(xp.sum(xp.abs((v + problem.alpha * problem.penalty.gradient(w)) * w)))
        if problem.fit_intercept:
            unsettled += abs(float(pull[problem.n_features])) * float(xp.max(scores) - xp.min(scores))
        return u, max(float(xp.sum(apart * problem.share)), 0.0), unsettled

    def step(self, theta: Any) -> tuple[Any, bool]:
        """One of Newton's steps, halved until the value falls, up to its rounding; and whether there was one."""
        problem, t, xp = self._problem, self._t, namespace(theta)
        value, scores, u = self._at(theta)
        a = scores + t * self._u
        nudge = _NUDGE * t + _DIGITS * float(xp.max(xp.abs(a)))
        prox = problem.loss.prox
        moves = (prox(problem.y, a + nudge, t) - prox(problem.y, a - nudge, t)) / (2 * nudge)
        H, g = problem.bent_gram((1 - xp.clip(moves, 0.0, 1.0)) / t), problem.pull(u)
        if problem.alpha:
            w = problem.coef(theta)
            g = problem.join(problem.coef(g) + problem.alpha * problem.penalty.gradient(w), g)
            H = H + identity(H) * problem.join(problem.alpha * problem.penalty.curvature(w), 0 * g)
        move = _solve(H, g, self._spread / t)
        promise = 1e-4 * float(xp.sum(g * move)) - _ROUNDING * abs(value)
        for _ in range(_HALVINGS):
            if self.value(theta - move) <= value - promise:
                return theta - move, True
            move, promise = move / 2, promise / 2
        return theta, False


def _solve(H: Any, g: Any, most: Any) -> Any:
    """H⁻¹g; what too few rows curve is lifted by a little of `most`, the curvature that all rows would have."""
    xp, eye = namespace(H), identity(H)
    units = xp.sqrt(xp.where(most > 0, most, 0 * most + 1))
    scaled, lift = H / units[:, None] / units[None, :], 1e-10
    while True:
        try:
            move = xp.linalg.solve(scaled + lift * eye, (g / units)[:, None])[:, 0] / units
        except (ArithmeticError, RuntimeError, ValueError):  # each library has its own exception for a singular matrix
            move = g * float("nan")
        if bool(xp.all(xp.isfinite(move))) or lift > 1:
            return move
        lift *= 1e3
