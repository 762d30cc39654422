"""Stress of points whose distances should be given numbers, and its descent by majorisation (de Leeuw, 1977).

A step replaces X by n⁻¹ B(X) X, row by row x ← n⁻¹ Σⱼ (δᵢⱼ / dᵢⱼ) (x − xⱼ), the minimum of a quadratic above the stress
that touches it at X; so the stress never rises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import check_array, check_symmetric

from learnt.engine import progress
from learnt.engine.kernel import kernel
from learnt.engine.random import random_state_of
from learnt.engine.threads import for_blocks
from learnt.engine.verbose import tell

_PAIRS = 1 << 17  # of a task


class Scaling(NamedTuple):
    """Points, their stress (normalised, if that was asked for) and the number of steps."""

    points: np.ndarray
    stress: float
    n_iter: int


@kernel
def guttman_rows(X, wanted, lo, hi, out, errors, squares):
    """The next points lo…hi−1; of each, the sums over the others of (d − δ)² and of d² where it is."""
    n, k = X.shape
    for i in range(lo, hi):
        out[i, :] = 0.0
        error, total = 0.0, 0.0
        for j in range(n):
            square = 0.0
            for c in range(k):
                gap = X[i, c] - X[j, c]
                square += gap * gap
            d = math.sqrt(square)
            error += (d - wanted[i, j]) ** 2
            total += square
            if d > 0.0:
                ratio = wanted[i, j] / d
                for c in range(k):
                    out[i, c] += ratio * (X[i, c] - X[j, c])
        for c in range(k):
            out[i, c] /= n
        errors[i], squares[i] = error, total


class Monotone:
    """Disparities: the numbers nearest to the distances that rise with the dissimilarities; those of 0 are missing."""

    def __init__(self, dissimilarities: np.ndarray) -> None:
        flat = squareform(dissimilarities, checks=False)
        self._known = flat != 0
        self._group, self._sizes = np.unique(flat[self._known], return_inverse=True, return_counts=True)[1:]
        n = len(dissimilarities)
        self._length = n * (n - 1) / 2

    def __call__(self, X: np.ndarray) -> np.ndarray:
        distances = pdist(X)
        if self._sizes.size:
            means = np.bincount(self._group, distances[self._known]) / self._sizes
            distances[self._known] = isotonic_regression(means, weights=self._sizes).x[self._group]
        total = float((distances**2).sum())
        if total > 0:  # the length of all is fixed: points in one place are no solution
            distances *= math.sqrt(self._length / total)
        return squareform(distances, checks=False)


def majorise(
    X: np.ndarray,
    wanted: Callable[[np.ndarray], np.ndarray],
    max_iter: int,
    eps: float,
    normalized: bool,
    verbose: bool = False,
) -> Scaling:
    """Steps from X until the stress, as a share of the sum of square distances, falls by less than `eps`."""
    n = len(X)

    def look(X: np.ndarray) -> tuple[np.ndarray, float, float]:
        targets, out, errors, squares = wanted(X), np.empty_like(X), np.empty(n), np.empty(n)

        def rows(lo: int, hi: int) -> None:
            guttman_rows(X, targets, lo, hi, out, errors, squares)

        for_blocks(rows, n, grain=max(1, _PAIRS // n))
        return out, float(errors.sum()) / 2, float(squares.sum()) / 2

    following, before, _ = look(X)
    stress, done = before, 0
    with progress.task("SMACOF", max_iter) as bar:
        for done in range(1, max_iter + 1):
            X = following
            following, stress, total = look(X)
            bar.advance()
            if verbose:
                tell("SMACOF step %d: stress %.6g", done, stress)
            if done > 1 and before - stress < eps * max(total, np.finfo(np.float64).tiny):
                break
            before = stress
    if normalized:
        total = float((pdist(X) ** 2).sum())
        stress = math.sqrt(stress / total) if total > 0 else 0.0
    return Scaling(X, stress, done)


def checked_dissimilarities(D: Any) -> np.ndarray:
    """A symmetric square matrix of finite numbers."""
    D = check_array(D, dtype=np.float64)
    if D.shape[0] != D.shape[1]:
        raise ValueError(
            f"array must be 2-dimensional and square. shape = {D.shape}: give one dissimilarity for each two rows."
        )
    try:
        return check_symmetric(D, raise_exception=True)
    except ValueError:
        raise ValueError("Array must be symmetric: some dissimilarities differ by direction; average them.") from None


def smacof(
    dissimilarities: Any,
    *,
    metric: bool = True,
    n_components: int = 2,
    init: Any = None,
    n_init: int = 1,
    n_jobs: int | None = None,
    max_iter: int = 300,
    verbose: int = 0,
    eps: float = 1e-6,
    random_state: Any = None,
    return_n_iter: bool = False,
    normalized_stress: bool | str = "auto",
) -> Any:
    """Points whose distances are near to given dissimilarities δ: the least stress Σᵢ<ⱼ (dᵢⱼ − δᵢⱼ)².

    Parameters
    ----------
    dissimilarities : array-like of shape (n_samples, n_samples)
        The dissimilarities δ; symmetric.
    metric : bool, default=True
        Whether the dissimilarities count as numbers. False: only their order counts (nonmetric MDS), and those of 0 are
        missing.
    n_components : int, default=2
        The number of dimensions of the embedding; 2 for a map to look at.
    init : array-like of shape (n_samples, n_components) or None, default=None
        Points to start from; None draws uniform numbers.
    n_init : int, default=1
        How many starts to make, of which the best end is kept; one where `init` is given.
    n_jobs : int or None, default=None
        Kept for scikit-learn's signature: a step runs on all threads.
    max_iter : int, default=300
        The most steps from each start.
    verbose : int, default=0
        Log the stress of each step to the logger "learnt" where it is more than 0.
    eps : float, default=1e-6
        Stopping tolerance: by how much less the stress must become in a step, as a share of the sum of squared
        distances.
    random_state : int, RandomState, Generator or None, default=None
        Where random starts come from. Pass an integer for the same points every time.
    return_n_iter : bool, default=False
        Whether to return the number of steps too.
    normalized_stress : bool or "auto", default="auto"
        Whether the stress returned is √(Σ (d − δ)² / Σ d²) (Kruskal's); "auto" is True where `metric` is False.

    Returns
    -------
    points : ndarray of shape (n_samples, n_components)
        The points.
    stress : float
        Their stress; the smaller, the better.
    n_iter : int
        How many steps were made from the best start; only where `return_n_iter`.

    See Also
    --------
    MDS : The same of rows, as an estimator.
    ClassicalMDS : By eigenvectors, without a start or iterations.

    Notes
    -----
    Majorisation [2]_: each step moves to the minimum of a quadratic that lies above the stress and touches it, so that
    the stress never rises. A step takes O(n²) time.

    References
    ----------
    .. [1] I. Borg and P. J. F. Groenen, "Modern Multidimensional Scaling", Springer, 2005.
    .. [2] J. de Leeuw, "Applications of convex analysis to multidimensional scaling", Recent Developments in
       Statistics, 1977.
    .. [3] J. B. Kruskal, "Nonmetric multidimensional scaling: a numerical method", Psychometrika 29, 1964.

    Examples
    --------
    >>> D = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> points, stress = smacof(D, random_state=0, eps=1e-12)
    >>> bool(stress < 1e-6), round(float(np.linalg.norm(points[1] - points[2])), 2)
    (True, 5.0)
    """
    D = checked_dissimilarities(dissimilarities)
    draw, n = random_state_of(random_state), len(D)
    normalized = not metric if isinstance(normalized_stress, str) else normalized_stress
    wanted: Callable[[np.ndarray], np.ndarray] = (lambda X: D) if metric else Monotone(D)
    if init is not None:
        start = np.ascontiguousarray(check_array(init, dtype=np.float64))
        if len(start) != n:
            raise ValueError(f"init of smacof has the shape {start.shape}; give a row for each of the {n} points.")
        starts = [start]
    else:
        starts = [draw.uniform(size=n * n_components).reshape(n, n_components) for _ in range(n_init)]
    best = min(
        (majorise(start, wanted, max_iter, eps, bool(normalized), bool(verbose)) for start in starts),
        key=lambda run: run.stress,
    )
    return best if return_n_iter else best[:2]
