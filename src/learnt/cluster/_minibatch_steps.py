"""The steps of mini-batch k-means: one batch moves its nearest centres; when to stop; unused centres.

D. Sculley, "Web-scale k-means clustering", WWW 2010.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.cluster._bounded import dense_labels, labelled_sums, scale_of, work_rows, worth_compiling
from learnt.distances import center_errors, nearest_center
from learnt.engine.matrices import dense

_FEWEST_ROWS, _WORK = 256, 4_000_000  # of a thread: rows of a batch, and multiplications


def step(X: Any, w: np.ndarray | None, centers: np.ndarray, counts: np.ndarray) -> float:
    """Move each centre to the mean of all rows it has had, those of this batch among them; `counts` is their weight.

    Both are changed in place. Gives the batch's inertia before the move.
    """
    k, origin = len(centers), centers.mean(axis=0)
    if worth_compiling(X, k):
        labels = dense_labels(X, centers, origin, max(_FEWEST_ROWS, _WORK // (k * X.shape[1])))
        sums, mass, _ = labelled_sums(X, w, labels, k, origin)
    else:
        labels = nearest_center(X, centers, origin)
        values = np.ones(len(labels)) if w is None else w
        members = sparse.csr_array((values, (labels, np.arange(len(labels)))), shape=(k, len(labels)))
        mass = np.bincount(labels, weights=w, minlength=k).astype(np.float64)
        sums = dense(members @ X) - mass[:, None] * origin
    errors = center_errors(X, centers, labels)
    moved = mass > 0
    total = counts[moved] + mass[moved]
    centers[moved] += (sums[moved] - mass[moved, None] * (centers[moved] - origin)) / total[:, None]
    counts[moved] = total
    return float(errors.sum() if w is None else errors @ w)


def rounded_rows(X: Any, k: int) -> tuple[np.ndarray, np.ndarray] | None:
    """A copy of the rows on which k seeds are found quicker, and its norms; None where it does not pay."""
    if not worth_compiling(X, k):
        return None
    origin = X.mean(axis=0, dtype=np.float64)
    return work_rows(X, origin, scale_of(float(np.abs(X - origin).max())), np.float32)


def reassign(X: Any, centers: np.ndarray, counts: np.ndarray, ratio: float, draw: np.random.RandomState) -> int:
    """Put centres that have had less than `ratio` of what the largest has had on rows of this batch; how many."""
    n = X.shape[0]
    weak = counts < ratio * counts.max()
    if np.count_nonzero(weak) > 0.5 * n:  # not more than half the batch
        weak[np.argsort(counts, kind="stable")[int(0.5 * n) :]] = False
    m = int(np.count_nonzero(weak))
    if m:
        rows = X[draw.choice(n, size=m, replace=False)]
        centers[weak] = dense(rows)
        # Not so small that they are put elsewhere at once.
        counts[weak] = counts[~weak].min()
    return m


class Progress:
    """Whether a smoothed inertia of the batches has stopped falling, or the centres stand still."""

    def __init__(self, n: int, batch: int, tol: float, patience: int | None) -> None:
        self.share = min(1.0, 2.0 * batch / (n + 1))
        self.tol, self.patience = tol, patience
        self.smooth: float | None = None
        self.best = np.inf
        self.waited = 0
        self._steps = 0

    def done(self, inertia: float, shift: float) -> bool:
        """After a step with this mean inertia and this squared shift of the centres."""
        self._steps += 1
        if self._steps == 1:  # of the start
            return False
        self.smooth = inertia if self.smooth is None else self.smooth + self.share * (inertia - self.smooth)
        if self.tol > 0 and shift <= self.tol:
            return True
        if self.smooth < self.best:
            self.best, self.waited = self.smooth, 0
        else:
            self.waited += 1
        return self.patience is not None and self.waited >= self.patience
