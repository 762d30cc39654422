"""Where to cut a table so that a plane fits each side best.

Sums of products are additive: the left side of every candidate cut is the sum of the bins before it, and the right side
is what is left. A first look at up to 64 cuts between quantiles, then at every cut between the rows next to the best.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

_LOOKS = 64
_RIDGE = 1e-12  # of the largest diagonal entry: keeps products of repeated columns solvable


class Cut(NamedTuple):
    """Rows with x ≤ threshold in the column go left; the squared error of both sides together."""

    feature: int
    threshold: float
    error: float


class Half:
    """Least squares on some rows: the weighted squared error that is left."""

    def __init__(self, Z: np.ndarray, y: np.ndarray, w: np.ndarray) -> None:
        self.error = max(float(_errors(_moments(Z, y, w)[None])[0]), 0.0)


def _augmented(Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(y)), Z, y])


def _moments(Z: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """[1, z, y]ᵀ W [1, z, y]."""
    A = _augmented(Z, y)
    return (A * w[:, None]).T @ A


def _errors(moments: np.ndarray) -> np.ndarray:
    """The squared error of least squares from moment matrices (m, p + 1, p + 1) whose last row belongs to y."""
    G, b, total = moments[:, :-1, :-1], moments[:, :-1, -1], moments[:, -1, -1]
    size = np.maximum(np.einsum("mii->mi", G).max(axis=1), 1e-300)
    lifted = G + (_RIDGE * size)[:, None, None] * np.eye(G.shape[1])
    explained = np.einsum("mi,mi->m", b, np.linalg.solve(lifted, b[:, :, None])[:, :, 0])
    return total - explained


def best_cut(X: np.ndarray, Z: np.ndarray, y: np.ndarray, w: np.ndarray, first: np.ndarray, least: int) -> Cut | None:
    """The cut of least squared error; None where no column can be cut.

    Both sides have `least` rows and as many different ones as a plane needs; `first` marks the first of equal rows.
    """
    A = _augmented(Z, y)
    different = int(first.sum())
    best: Cut | None = None
    for feature in range(X.shape[1]):
        order = np.argsort(X[:, feature], kind="stable")
        x = X[order, feature]
        cuts = np.flatnonzero(x[1:] > x[:-1]) + 1  # rows on the left
        cuts = cuts[(cuts >= least) & (cuts <= len(x) - least)]
        left = np.cumsum(first[order])[cuts - 1]
        cuts = cuts[(left > Z.shape[1]) & (different - left > Z.shape[1])]
        if not len(cuts):
            continue
        rows, weights = A[order], w[order]
        looks = cuts[np.unique(np.linspace(0, len(cuts) - 1, _LOOKS).astype(int))]
        errors = _sides(rows, weights, looks)
        at = int(errors.argmin())
        low, high = looks[max(at - 1, 0)], looks[min(at + 1, len(looks) - 1)]
        near = cuts[(cuts >= low) & (cuts <= high)]
        errors = _sides(rows, weights, near)
        at = int(errors.argmin())
        if best is None or errors[at] < best.error:
            k = near[at]
            best = Cut(feature, float(x[k - 1] / 2 + x[k] / 2), float(errors[at]))
            if not x[k - 1] <= best.threshold < x[k]:
                best = best._replace(threshold=float(x[k - 1]))
    return best


def _sides(rows: np.ndarray, weights: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """The squared error of both sides of each cut; `rows` are sorted, `cuts` say how many lie on the left."""
    ends = np.concatenate([[0], cuts, [len(rows)]])
    parts = np.stack([(rows[a:b] * weights[a:b, None]).T @ rows[a:b] for a, b in pairwise(ends)])
    left = np.cumsum(parts, axis=0)[:-1]
    right = np.cumsum(parts[::-1], axis=0)[::-1][1:]
    return np.maximum(_errors(left), 0.0) + np.maximum(_errors(right), 0.0)


def meeting_point(a: np.ndarray, a0: float, b: np.ndarray, b0: float, feature: int) -> float | None:
    """Where two planes that differ along one column alone meet; None if they differ along others, or not at all."""
    difference = a - b
    slope = difference[feature]
    others = np.delete(difference, feature)
    scale = max(float(np.abs(a).max()), float(np.abs(b).max()))
    if abs(slope) <= 1e-9 * scale or (others.size and np.abs(others).max() > 1e-6 * abs(slope)):
        return None
    return float((b0 - a0) / slope)
