"""Clusters from eigenvectors: a rotation after which each row is near one axis."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from learnt.linalg.decompositions import svd


def by_pivots(V: np.ndarray) -> np.ndarray:
    """Labels by the rows that span the others best, found by QR with pivots (Damle, Minden and Ying, 2019).

    >>> by_pivots(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])).tolist()
    [0, 0, 1]
    """
    k = V.shape[1]
    pivots = qr(V.T, pivoting=True, mode="r")[1][:k]
    U, _, Wt = svd(V[pivots].T)
    return abs(V @ (U @ Wt)).argmax(axis=1)


def by_turns(V: np.ndarray, draw: np.random.RandomState, max_iter: int = 30, restarts: int = 30) -> np.ndarray:
    """Labels nearest to a rotation of the eigenvectors, the rotation nearest to those, and so on (Yu and Shi, 2003).

    >>> V = np.array([[1.0, 1.0], [1.0, 0.9], [1.0, -1.0]])
    >>> len(set(by_turns(V, np.random.RandomState(0)).tolist()))
    2
    """
    n, k = V.shape
    V = V * (np.sqrt(n) / np.maximum(np.linalg.norm(V, axis=0), np.finfo(np.float64).tiny))
    lengths = np.linalg.norm(V, axis=1)
    V = V / np.where(lengths == 0, 1.0, lengths)[:, None]
    for _ in range(restarts):
        # Start from rows as orthogonal to each other as can be found.
        R, seen = np.empty((k, k)), np.zeros(n)
        R[:, 0] = V[draw.randint(n)]
        for j in range(1, k):
            seen += abs(V @ R[:, j - 1])
            R[:, j] = V[seen.argmin()]
        before = -np.inf
        for _ in range(max_iter):
            labels = (V @ R).argmax(axis=1)
            sums = np.zeros((k, k))
            np.add.at(sums, labels, V)
            try:
                U, s, Wt = svd(sums)
            except np.linalg.LinAlgError:
                break  # begin anew at another row
            fit = float(s.sum())
            if abs(fit - before) < np.finfo(np.float64).eps * n:
                return labels
            before, R = fit, Wt.T @ U.T
        else:
            return labels
    raise np.linalg.LinAlgError("SVD did not converge from any start; take assign_labels='kmeans'.")
