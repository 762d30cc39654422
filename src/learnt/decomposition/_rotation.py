"""Rotations of factors that make their loadings easy to read."""

from __future__ import annotations

import numpy as np

_PASSES, _TOLERANCE = 100, 1e-6


def rotated(W: np.ndarray, method: str) -> np.ndarray:
    """The loadings (k × d) turned to the largest "varimax" or "quartimax" criterion (Kaiser 1958).

    Both are sums of fourth powers of loadings, varimax less the square of each factor's mean square.

    >>> turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    >>> np.abs(rotated(turn @ np.array([[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 3.0]]), "varimax")).max(axis=1).round(6)
    array([3., 2.])
    """
    d = W.shape[1]
    turn = np.eye(len(W))
    best = 0.0
    for _ in range(_PASSES):
        now = W.T @ turn
        centre = now * (now**2).sum(axis=0) / d if method == "varimax" else 0.0
        U, s, Vt = np.linalg.svd(W @ (now**3 - centre))
        turn = U @ Vt
        if best and s.sum() < best * (1 + _TOLERANCE):
            break
        best = float(s.sum())
    return (W.T @ turn).T
