"""Principal coordinates of distances."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from learnt.engine.interrupts import abandonable
from learnt.engine.threads import single_blas

_LONG = 1500  # rows from which on eigenvectors may take more than a fraction of a second


def principal_coordinates(D: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues of −½ H D² H, falling, and points of which they are the sums of squares.

    There are no more than n eigenvalues; beyond them, and where one is below 0, coordinates are 0. Of each the largest
    is positive.

    >>> principal_coordinates(np.array([[0.0, 2.0], [2.0, 0.0]]), 1)[0].tolist()
    [2.0]
    """
    n = len(D)
    B = -0.5 * D**2
    B -= B.mean(axis=0)
    B -= B.mean(axis=1)[:, None]
    most = min(k, n)
    with single_blas():
        values, vectors = abandonable(lambda: linalg.eigh(B, subset_by_index=[n - most, n - 1]), long=n > _LONG)
    values, vectors = values[::-1], vectors[:, ::-1]
    peaks = np.take_along_axis(vectors, abs(vectors).argmax(axis=0)[None], axis=0)
    points = vectors * np.where(peaks < 0, -1.0, 1.0) * np.sqrt(np.maximum(values, 0.0))
    return np.pad(values, (0, k - most)), np.ascontiguousarray(np.pad(points, ((0, 0), (0, k - most))))
