"""The spatial median: the point with the smallest sum of distances to others."""

from __future__ import annotations

import numpy as np

_EPS = float(np.finfo(float).eps)


def spatial_median(points: np.ndarray, max_iter: int, tol: float) -> tuple[np.ndarray, int, bool]:
    """The point x that minimises Σ ‖pᵢ − x‖, the steps taken, and whether the last was shorter than `tol`.

    Weiszfeld: the mean of the points with the weights 1/‖pᵢ − x‖, again and again. At one of the points, whose weight
    would be infinite, the step is shortened by what that point holds x back (Vardi and Zhang, 2000).

    >>> spatial_median(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5]]), 10, 1e-9)[0]
    array([0.5, 0.5])
    """
    if points.shape[1] == 1:
        return np.median(points, axis=0), 1, True
    x = points.mean(axis=0)
    for step in range(max_iter):
        away = points - x
        distance = np.sqrt(np.einsum("ij,ij->i", away, away))
        apart = distance >= _EPS
        here = not apart.all()
        if here:
            away, distance = away[apart], distance[apart]
        weight = 1.0 / distance
        pull = weight @ away
        strength = float(np.linalg.norm(pull))
        if strength <= _EPS:  # the pulls are in balance
            return x, step, True
        move = pull / weight.sum()
        if here:
            move *= max(0.0, 1.0 - 1.0 / strength)
        x = x + move
        if move @ move < tol**2:
            return x, step, True
    return x, max(max_iter - 1, 0), False
