"""What a solver is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from learnt.engine.arrays import namespace
from learnt.engine.matrices import identity
from learnt.erm._problem import Problem


class Solver:
    """Frozen settings and one verb: `iterates(problem, θ)` yields, without end, the next θ and how far it was.

    The residual that comes with an iterate is a pure number, compared with `tol`: the largest entry of the gradient
    over that at θ = 0, or the duality gap over the objective at θ = 0. An iterator that ends cannot improve further.
    The loop, its budget and early stopping belong to `learnt.erm.minimize`.

    Attributes
    ----------
    needs_curvature : bool
        Whether the loss must have second derivatives.
    needs_smooth_loss : bool
        Whether the loss must have no corners.
    needs_smooth_penalty : bool
        Whether the penalty must have no corners, and be no constraint.
    needs_rows : bool
        Whether rows must be in memory, so that sums over them are not enough.
    max_iter : int
        The most iterations.
    tol : float
        The residual at which a run has converged.

    See Also
    --------
    learnt.erm.minimize : Runs a solver on a problem.
    choose : The solver that estimators take for "auto".
    """

    #: What the problem must have beyond the loss's gradient.
    needs_curvature: ClassVar[bool] = False
    needs_smooth_loss: ClassVar[bool] = False
    needs_smooth_penalty: ClassVar[bool] = False
    needs_rows: ClassVar[bool] = False  # and not only sums over them
    max_iter: int
    tol: float

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, without end.

        Parameters
        ----------
        problem : Problem
            What is minimised.
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            Where to start.

        Yields
        ------
        theta : array of the shape of theta
            The next iterate.
        residual : float
            How far it was, as a pure number that `tol` is compared with.
        """
        raise NotImplementedError

    def check(self, problem: Problem) -> None:
        """Refuse before working, in one sentence that names the solvers that could.

        Parameters
        ----------
        problem : Problem
            What is to be minimised.

        Raises
        ------
        ValueError
            Where this solver cannot take the loss, the penalty or the rows of the problem.
        """
        name, loss, penalty = type(self).__name__, type(problem.loss).__name__, type(problem.penalty).__name__
        if not hasattr(problem.loss, "gradient"):
            raise ValueError(
                f"{loss} has no gradient, so nothing can descend it; use Log, Hinge or another that bounds it."
            )
        if not problem.in_memory and (self.needs_rows or getattr(self, "batch_size", None) is not None):
            raise ValueError(
                f"{name} needs all rows in memory, and X is read in blocks; use 'auto', 'newton', 'lbfgs', 'gd' or "
                "'fista'."
            )
        if self.needs_curvature and not hasattr(problem.loss, "curvature"):
            raise ValueError(
                f"{name} needs the curvature of {loss}, which has none; add it, or use 'lbfgs' or 'fista'."
            )
        if self.needs_smooth_loss and not getattr(problem.loss, "smooth", True):
            raise ValueError(f"{name} needs a smooth loss and {loss} has corners; use 'admm', 'irls' or 'sgd'.")
        if self.needs_smooth_penalty and not problem.smooth_penalty and not problem.free:
            form = "is a constraint here" if problem.bound is not None else "has corners"
            raise ValueError(f"{name} cannot take the penalty {penalty}, which {form}; use 'fista', 'ista' or 'gd'.")


def solve_symmetric(H: Any, g: Any) -> Any:
    """H⁻¹g, with H lifted a little where it is singular."""
    xp = namespace(H)
    size, eye, lift = float(xp.max(xp.abs(H))) or 1.0, identity(H), 0.0
    for _ in range(4):
        try:
            step = xp.linalg.solve(H + lift * size * eye, g[:, None])[:, 0]
        except (ArithmeticError, RuntimeError, ValueError):  # each library has its own exception for a singular matrix
            step = g * float("nan")
        if bool(xp.all(xp.isfinite(step))) and float(xp.max(xp.abs(H @ step - g))) <= 1e-4 * float(xp.max(xp.abs(g))):
            return step
        lift = 1e-12 if lift == 0 else 1e3 * lift
    return g / size
