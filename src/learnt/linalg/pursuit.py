"""Orthogonal matching pursuit of many signals: what `linear_model` and `decomposition` share of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.threads import for_blocks, single_blas
from learnt.linalg.pursuit_alone import pursue_alone
from learnt.linalg.pursuit_kernels import Work, pursue, pursue_positive

_CELLS = 1 << 21  # multiplications from which another thread pays
_FLOOR = 16 * float(np.finfo(np.float64).eps)  # relative size of a remainder of a column or of y that is rounding only


class KnownRows:
    """A G that is known as a whole.

    `rows[where[j]]` is row j, without the part of `done` atoms, and `own[j]` its entry j.
    """

    def __init__(self, G: np.ndarray) -> None:
        self.rows = np.ascontiguousarray(G, dtype=np.float64)
        self.where = np.arange(len(G))
        self.own = self.square = np.diag(self.rows).copy()
        self.done = np.zeros(len(G), dtype=np.int64)


@single_blas()
def resume(source: Any, correlation: np.ndarray, step: Any) -> int:
    """Run `step(rows, where)`, a resumable kernel, fetching rows of G until it ends; returns how it ended."""
    while True:
        end = step(source.rows, source.where)
        if end < 0:
            return int(end)
        source.fetch(int(end), correlation)


class Codes(NamedTuple):
    """The result: coefficients (t, d), atoms of each target, whether it ran out of columns, paths (t, steps, d)."""

    coef: np.ndarray
    n_iter: np.ndarray
    spent: np.ndarray
    path: np.ndarray | None


def solve(
    source: Any, starts: np.ndarray, energies: np.ndarray, limit: int, tol: float | None, positive: bool, path: bool
) -> Codes:
    """Orthogonal matching pursuit of t signals: starts = YᵀX of shape (t, d), energies = the ‖y‖²."""
    t, d = starts.shape
    if t == 1 and not positive:
        with single_blas():
            bound = -1.0 if tol is None else float(tol)
            coef, count, spent = pursue_alone(source, starts[0], float(energies[0]), limit, bound, _FLOOR, path)
        last = coef[-1:] if len(coef) else np.zeros((1, d))
        return Codes(last, np.array([count]), np.array([spent]), coef[None] if path else None)
    go = pursue_positive if positive else pursue
    out, counts = np.empty((t, d)), np.empty(t, dtype=np.int64)
    paths = np.zeros((t if path else 0, limit if path else 0, d))

    def run(lo: int, hi: int) -> None:
        # The system allocates memory only when it is written to, so a limit that is never reached costs nothing.
        one_each = (np.empty(limit), np.empty(limit, dtype=np.int64), np.empty(limit), np.empty(limit))
        work = Work(np.empty(d), np.empty((limit, d)), np.empty((limit, limit)), *one_each)
        progress = np.array([0, -1, 0])

        def step(rows: np.ndarray, where: np.ndarray) -> int:
            return go(
                rows, where, starts[lo:hi], energies[lo:hi], limit, -1.0 if tol is None else float(tol),
                _FLOOR, work, progress, paths[lo:hi], out[lo:hi], counts[lo:hi],
            )  # fmt: skip

        resume(source, work.correlation, step)

    if isinstance(source, KnownRows):
        for_blocks(run, t, grain=max(1, _CELLS // (d * limit)))
    else:  # they share the rows that they fetch
        run(0, t)
    n_iter = np.where(counts < 0, -1 - counts, counts)
    return Codes(out, n_iter, counts < 0, paths[:, : n_iter.min()] if path else None)
