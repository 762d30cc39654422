"""Solvers: minimisation methods. Each is a frozen value; `erm.minimize(problem, solver)` runs any of them.

    GradientDescent  Momentum  Nesterov  Adagrad  Adam     steps along the gradient, on all rows or on mini-batches
    SGD                                                    mini-batches with shrinking steps
    Newton  DiagonalNewton  Hybrid  IRLS                   second derivatives
    SparingNewton                                          second derivatives seldom, for rows read from afar
    LBFGS                                                  second derivatives remembered from the first
    ISTA  FISTA                                            penalties with corners, and constraints
    AugmentedLagrangian  ADMM  LinearProgram               losses with corners
    CoordinateDescent                                      sparse coefficients
    Constant  Decay                                        schedules of steps

`curved.minimize` is the loop of LogisticRegression: Newton, L-BFGS and what lies between, for any value and gradient.
`choose(problem)` is what estimators take for "auto".
"""

from typing import Any

from learnt.engine.arrays import is_numpy as _is_numpy
from learnt.erm._problem import Problem
from learnt.erm.solvers._augmented import AugmentedLagrangian as AugmentedLagrangian
from learnt.erm.solvers._base import Solver as Solver
from learnt.erm.solvers._coordinate import CoordinateDescent as CoordinateDescent
from learnt.erm.solvers._descent import SGD as SGD
from learnt.erm.solvers._descent import Adagrad as Adagrad
from learnt.erm.solvers._descent import Adam as Adam
from learnt.erm.solvers._descent import GradientDescent as GradientDescent
from learnt.erm.solvers._descent import Momentum as Momentum
from learnt.erm.solvers._descent import Nesterov as Nesterov
from learnt.erm.solvers._lbfgs import LBFGS as LBFGS
from learnt.erm.solvers._linear_program import LinearProgram as LinearProgram
from learnt.erm.solvers._newton import IRLS as IRLS
from learnt.erm.solvers._newton import DiagonalNewton as DiagonalNewton
from learnt.erm.solvers._newton import Hybrid as Hybrid
from learnt.erm.solvers._newton import Newton as Newton
from learnt.erm.solvers._proximal import ADMM as ADMM
from learnt.erm.solvers._proximal import FISTA as FISTA
from learnt.erm.solvers._proximal import ISTA as ISTA
from learnt.erm.solvers._schedules import Constant as Constant
from learnt.erm.solvers._schedules import Decay as Decay
from learnt.erm.solvers._sparing import Curvature as Curvature
from learnt.erm.solvers._sparing import SparingNewton as SparingNewton
from learnt.erm.solvers._sparing import Sums as Sums
from learnt.erm.solvers._sparing import positive_solver as positive_solver
from learnt.erm.solvers._sparing import solver_of as solver_of
from learnt.erm.solvers._sparing import sparing_newton as sparing_newton

#: The names that estimators take.
NAMES: dict[str, type[Solver]] = {
    "gd": GradientDescent,
    "momentum": Momentum,
    "nesterov": Nesterov,
    "adagrad": Adagrad,
    "adam": Adam,
    "sgd": SGD,
    "newton": Newton,
    "newton-diagonal": DiagonalNewton,
    "newton-sparing": SparingNewton,
    "hybrid": Hybrid,
    "irls": IRLS,
    "lbfgs": LBFGS,
    "ista": ISTA,
    "fista": FISTA,
    "admm": ADMM,
    "alm": AugmentedLagrangian,
    "cd": CoordinateDescent,
    "lp": LinearProgram,
}

_MOST_FOR_HESSIAN = 500
_MOST_FOR_SUMS = 2000  # where a pass over the rows costs more than a factorisation


def choose(problem: Problem) -> Solver:
    """The quickest solver that reaches the minimum of this problem.

    Parameters
    ----------
    problem : Problem
        What is minimised.

    Returns
    -------
    solver : Solver
        A linear programme or an augmented Lagrangian for losses with corners, Newton's method or L-BFGS for smooth
        problems, coordinate descent or FISTA for penalties with corners.

    See Also
    --------
    as_solver : Takes a name too.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.erm import Problem
    >>> from learnt.erm.losses import Absolute, Log
    >>> X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    >>> type(choose(Problem(X, y, Log()))).__name__, type(choose(Problem(X, y, Absolute()))).__name__
    ('Hybrid', 'LinearProgram')
    """
    loss = problem.loss
    curved = hasattr(loss, "curvature") and (not problem.smooth_penalty or hasattr(problem.penalty, "curvature"))
    few = problem.n_features * problem.n_outputs < _MOST_FOR_HESSIAN
    rounded = hasattr(loss, "prox") and problem.n_outputs == 1 and problem.smooth_penalty and few and problem.in_memory
    if not getattr(loss, "smooth", True):
        if not problem.in_memory:
            raise ValueError(
                f"{loss!r} has corners, and rows that are read in blocks are fitted with smooth losses alone; use one "
                "that is like it (Huber, LogCosh, SquaredHinge, Log), or load X."
            )
        if LinearProgram.takes(problem):
            return LinearProgram()
        if rounded:
            return AugmentedLagrangian()
        return ADMM() if hasattr(loss, "prox") and problem.n_outputs == 1 else FISTA()
    if not getattr(problem.penalty, "convex", True) and not problem.free:
        return ISTA()  # a monotone method: with many minima, momentum jumps between them
    if not problem.in_memory:
        smooth = problem.smooth_penalty or problem.free
        sums = curved and problem.n_features * problem.n_outputs < _MOST_FOR_SUMS
        return FISTA() if not smooth else SparingNewton() if sums else LBFGS()
    if problem.smooth_penalty or problem.free:
        if rounded:  # far from the minimum its gradients saturate, and there is no useful curvature
            return AugmentedLagrangian()
        return Hybrid() if curved and few else LBFGS()
    on_cpu = _is_numpy(problem.X) or hasattr(problem.X, "tocsc")
    separable = getattr(problem.penalty, "parts", None) is not None and problem.bound is None
    return CoordinateDescent() if curved and separable and on_cpu and problem.n_outputs == 1 else FISTA()


def as_solver(solver: Any, problem: Problem) -> Solver:
    """A solver from its name, from "auto", or as it is.

    Parameters
    ----------
    solver : str or Solver
        A name of `NAMES`, "auto", or a solver.
    problem : Problem
        What "auto" chooses for.

    Returns
    -------
    solver : Solver
        The solver, with its default settings where a name was given.

    See Also
    --------
    choose : What "auto" means.
    """
    if isinstance(solver, Solver):
        return solver
    return choose(problem) if solver == "auto" else NAMES[solver]()


__all__ = [
    "ADMM",
    "FISTA",
    "IRLS",
    "ISTA",
    "LBFGS",
    "NAMES",
    "SGD",
    "Adagrad",
    "Adam",
    "AugmentedLagrangian",
    "Constant",
    "CoordinateDescent",
    "Curvature",
    "Decay",
    "DiagonalNewton",
    "GradientDescent",
    "Hybrid",
    "LinearProgram",
    "Momentum",
    "Nesterov",
    "Newton",
    "Solver",
    "SparingNewton",
    "Sums",
    "as_solver",
    "choose",
    "positive_solver",
    "solver_of",
    "sparing_newton",
]
