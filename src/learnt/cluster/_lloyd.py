"""Lloyd's algorithm, whatever the rows are and wherever they lie.

    assign   every row to its nearest centre
    update   every centre to the mean of its rows

until no row changes its centre, or the centres move by less than a tolerance. `lloyd` is the algorithm; a *problem*
does one assignment and returns the sums the update needs. `RowsLloyd` is the plain one, from sums over rows; the
problems of `_bounded.py` give the same answers faster for arrays in memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.cluster._sums import cluster_sums, error_block, inertia_sum, label_block
from learnt.engine.arrays import to_numpy
from learnt.engine.matrices import to_device_of_as_double
from learnt.engine.rows import Rows, in_memory

_SOME_CELLS = 1 << 16
_ROUNDING = 16 * np.finfo(float).eps  # of a centre, as a share of its rows' cells


class Sums(NamedTuple):
    """What one assignment gives: for each centre, over its rows, Σ w (x − origin), Σ w and how many have weight."""

    sums: np.ndarray
    mass: np.ndarray
    counts: np.ndarray
    changed: int | None  # labels that changed; None where labels are not kept


class Run(NamedTuple):
    """One run of k-means from one start."""

    centers: np.ndarray  # in the precision of the rows
    labels: Any
    inertia: float
    n_iter: int
    n_used: int  # centres with rows at the last assignment
    converged: bool
    stopped: bool  # by a callback


class RowsLloyd:
    """Assignments as sums over rows: arrays of any library, files, clusters. Keeps no label and no copy."""

    def __init__(self, rows: Rows, weights: Any, origin: np.ndarray, statistic: Any = cluster_sums) -> None:
        self.rows, self.weights, self.statistic = rows, weights, statistic
        self.origin = origin  # NumPy float64
        self._origin = to_device_of_as_double(origin, rows.reference)

    def start(self) -> None:
        """Forget the last run."""

    def _centers(self, centers: np.ndarray) -> Any:
        return to_device_of_as_double(centers, self.rows.reference)

    def assign(self, centers: np.ndarray) -> Sums:
        sums, mass, counts = self.rows.sum(self.statistic, self._centers(centers), self._origin)
        return Sums(to_numpy(sums), to_numpy(mass), to_numpy(counts), None)

    def recount(self) -> Sums | None:
        """The same sums again without accumulated rounding; None where none accumulates."""
        return None

    def farthest(self, centers: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The m rows with weight farthest from their centres: rows, weights, centres, squared distances."""
        state = (self._centers(centers), self._origin)
        error = in_memory(self.rows.map(error_block, *state)).astype(np.float64)
        weights = None if self.weights is None else in_memory(self.weights)
        index = farthest_rows(error, weights, m)
        X = self.rows.take(index)
        labels = in_memory(self.rows.map(label_block, *state))[index]
        return X, np.ones(index.size) if weights is None else weights[index], labels, error[index]

    def finish(self, centers: np.ndarray) -> tuple[Any, float]:
        """Labels and inertia for the centres found."""
        state = (self._centers(centers), self._centers(centers.mean(axis=0)))  # the origin that `predict` takes
        return self.rows.map(label_block, *state), float(self.rows.sum(inertia_sum, *state)[0])


def lloyd(
    problem: Any,
    centers: np.ndarray,
    dtype: Any,
    max_iter: int,
    tol: float,
    step: Callable[[int, float, Callable[[], dict]], bool],
) -> Run:
    """Run to convergence; `step(iteration, squared shift of the centres, state)` reports, and may ask to stop."""
    problem.start()
    converged = stopped = False
    n_iter = 0
    for n_iter in range(1, max_iter + 1):
        found = problem.assign(centers)
        new, moved = update(problem, found, centers)
        shift = squared_shift(new, centers)
        centers = new
        converged = found.changed == 0 or shift <= tol
        stopped = step(n_iter, shift, functools.partial(_state, centers, dtype))
        if converged or stopped:
            break
    if not moved and (exact := problem.recount()) is not None:
        centers = means(exact.sums, exact.mass, problem.origin, centers)
    # Centres are kept in the precision of the rows; the labels are those of the centres that are kept.
    centers = centers.astype(dtype)
    labels, inertia = problem.finish(centers.astype(np.float64))
    return Run(centers, labels, inertia, n_iter, int(np.count_nonzero(found.counts)), converged, stopped)


def _state(centers: np.ndarray, dtype: Any) -> dict[str, Any]:
    return {"cluster_centers_": centers.astype(dtype)}


def means(sums: np.ndarray, mass: np.ndarray, origin: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The centres: the means of their rows; a centre without rows stays where it was.

    >>> means(np.array([[2.0], [0.0]]), np.array([4.0, 0.0]), np.array([1.0]), np.array([[0.0], [7.0]]))
    array([[1.5],
           [7. ]])
    """
    full = mass > 0
    if full.all():
        new = sums / mass[:, None]
        return np.add(new, origin, out=new)
    new = old.copy()
    new[full] = origin + sums[full] / mass[full, None]
    return new


def squared_shift(new: np.ndarray, old: np.ndarray) -> float:
    """The sum of the squared movements of the centres; some at a time, so that no other large table is made.

    >>> squared_shift(np.array([[1.0, 2.0], [3.0, 3.0]]), np.array([[1.0, 0.0], [3.0, 0.0]]))
    13.0
    """
    step = max(1, _SOME_CELLS // new.shape[1])
    return float(sum(np.square(new[lo : lo + step] - old[lo : lo + step]).sum() for lo in range(0, len(new), step)))


def update(problem: Any, found: Sums, centers: np.ndarray) -> tuple[np.ndarray, bool]:
    """New centres, and whether an empty one was given a row that lay far from its own centre."""
    empty = np.flatnonzero(found.counts == 0)
    if empty.size == 0:
        return means(found.sums, found.mass, problem.origin, centers), False
    sums, mass, counts = found.sums.copy(), found.mass.copy(), found.counts.copy()
    mass[empty] = 0.0
    # A row alone with its centre is no gain; such rows are passed over, so ask for more than are needed.
    rows, weights, owners, errors = problem.farthest(centers, 2 * empty.size + 8)
    # Nor is one whose distance is the rounding of a mean: it would be given back in the next step, for ever.
    least = (_ROUNDING * np.abs(rows).max(axis=1, initial=0.0)) ** 2 * rows.shape[1]
    order = iter(range(errors.size))
    for target in empty:
        for i in order:
            if errors[i] > least[i] and counts[owners[i]] > 1:
                point = weights[i] * (rows[i] - problem.origin)
                sums[owners[i]] -= point
                mass[owners[i]] -= weights[i]
                counts[owners[i]] -= 1
                sums[target], mass[target], counts[target] = point, weights[i], 1
                break
    return means(sums, mass, problem.origin, centers), True


def farthest_rows(error: np.ndarray, weights: np.ndarray | None, m: int) -> np.ndarray:
    """The m rows of largest error among those with weight, largest first, the first of equals first.

    >>> farthest_rows(np.array([1.0, 5.0, 3.0, 5.0]), None, 3).tolist()
    [1, 3, 2]
    """
    if weights is not None:
        error = np.where(weights > 0, error, -1.0)
    m = min(m, error.size)
    some = np.argpartition(-error, m - 1)[:m] if m < error.size else np.arange(error.size)
    some = np.flatnonzero(error >= error[some].min())  # all that tie with the last, so that order decides
    return some[np.lexsort((some, -error[some]))][:m]
