"""Piecewise linear losses and penalties, solved exactly as a linear programme."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from learnt.engine.matrices import on_host
from learnt.erm._problem import Problem
from learnt.erm.penalties import L1
from learnt.erm.solvers._base import Solver


@dataclass(frozen=True)
class LinearProgram(Solver):
    """The absolute, quantile, ε-insensitive or hinge loss with an L1 penalty, an L1 constraint or none, at a vertex.

    min Σ shareᵢ tᵢ + alpha Σ(pⱼ + qⱼ)  over t, p ≥ 0, q ≥ 0, b,  with w = p − q and tᵢ above every piece of the loss.

    Parameters
    ----------
    tol : float, default=1e-8
        Convergence tolerance of the run.
    max_iter : int, default=100000
        The most iterations.

    See Also
    --------
    AugmentedLagrangian : The same losses with smooth penalties.
    ADMM : The same losses with any penalty.
    """

    tol: float = 1e-8
    max_iter: int = 100_000

    needs_rows = True

    @staticmethod
    def takes(problem: Problem) -> bool:
        """Whether the loss of a problem has straight pieces and its penalty too, with one score a row, on the CPU.

        Parameters
        ----------
        problem : Problem
            What is to be minimised.

        Returns
        -------
        takes : bool
            Whether this solver can take it.
        """
        straight = isinstance(problem.penalty, L1) or problem.free
        on_cpu = on_host(problem.X)
        return straight and on_cpu and hasattr(problem.loss, "pieces") and problem.n_outputs == 1

    def check(self, problem: Problem) -> None:
        """Refuse a problem that this solver cannot take, in one sentence that names those that could."""
        super().check(problem)
        if not self.takes(problem):
            raise ValueError(
                "LinearProgram takes a loss made of straight pieces with the L1 penalty or none, on the CPU, and got "
                f"{problem.loss!r} with {problem.penalty!r}; use 'admm' or 'sgd'."
            )

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        n, d = problem.X.shape
        X = sparse.csr_array(problem.X)
        ones = sparse.csr_array(np.full((n, int(problem.fit_intercept)), 1.0))
        rows, right = [], []
        for slope, offset in problem.loss.pieces(np.asarray(problem.y, dtype=np.float64)):
            if not slope.any() and not offset.any():
                continue  # t ≥ 0, which the bounds say
            bent = sparse.diags_array(slope) @ sparse.hstack([X, -X, ones])
            rows.append(sparse.hstack([bent, -sparse.eye_array(n)]))
            right.append(-offset)
        if problem.bound is not None and isinstance(problem.penalty, L1):
            rows.append(sparse.csr_array(np.r_[np.ones(2 * d), np.zeros(ones.shape[1] + n)][None]))
            right.append(np.array([problem.bound]))
        price = problem.alpha if isinstance(problem.penalty, L1) and problem.bound is None else 0.0
        share = np.full(n, problem.share) if np.ndim(problem.share) == 0 else problem.share
        cost = np.r_[np.full(2 * d, price), np.zeros(ones.shape[1]), share]
        free = [(0, None)] * (2 * d) + [(None, None)] * ones.shape[1] + [(0, None)] * n
        found = linprog(
            cost,
            A_ub=sparse.vstack(rows, format="csc"),
            b_ub=np.concatenate(right),
            bounds=free,
            method="highs",
            options={"maxiter": self.max_iter},
        )
        if found.x is None:
            return
        theta = np.r_[found.x[:d] - found.x[d : 2 * d], found.x[2 * d : 2 * d + ones.shape[1]]]
        yield theta.astype(np.result_type(problem.X.dtype)), 0.0 if found.status == 0 else 1.0
