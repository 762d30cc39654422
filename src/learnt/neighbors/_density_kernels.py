"""The six kernels of a density: shape, volume and how to draw from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammainc, gammaln

COMPACT = ("tophat", "epanechnikov", "linear", "cosine")  # 0 from one bandwidth on
KERNELS = ("gaussian", "exponential", *COMPACT)
# Terms smaller than e^−37 < 2^−53 of the largest, all together, do not change a sum in float64.
NEGLIGIBLE = 37.0

_SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gaussian": lambda u: np.exp(-0.5 * u * u),
    "exponential": lambda u: np.exp(-u),
    "tophat": lambda u: np.where(u < 1.0, 1.0, 0.0),
    "epanechnikov": lambda u: np.maximum(1.0 - u * u, 0.0),
    "linear": lambda u: np.maximum(1.0 - u, 0.0),
    "cosine": lambda u: np.where(u < 1.0, np.cos(0.5 * math.pi * np.minimum(u, 1.0)), 0.0),
}


def log_of_largest(kernel: str, nearest: np.ndarray, bandwidth: float) -> np.ndarray:
    """log K at the nearest distance, which sums are taken relative to; 0 for kernels that end."""
    if kernel in COMPACT:
        return np.zeros(nearest.shape)
    u = nearest / bandwidth
    return -0.5 * u * u if kernel == "gaussian" else -u


def relative_shape(kernel: str, distances: np.ndarray, bandwidth: float, largest: np.ndarray) -> np.ndarray:
    """K(distance / bandwidth) over e^largest, which is 1 for compact kernels."""
    u = distances / bandwidth
    if kernel in COMPACT:
        return _SHAPES[kernel](u)
    return np.exp((-0.5 * u * u if kernel == "gaussian" else -u) - largest)


def reach(kernel: str, nearest: np.ndarray, bandwidth: float, smallest: float) -> np.ndarray:
    """How far a point may be to count, where the nearest is this far: its K is e^(−smallest) of the nearest's.

    >>> float(reach("gaussian", np.array([0.0]), 2.0, 8.0)[0])
    8.0
    """
    if kernel in COMPACT:
        return np.full(nearest.shape, float(bandwidth))
    if kernel == "gaussian":
        return np.sqrt(nearest**2 + 2.0 * smallest * bandwidth**2)
    return nearest + smallest * bandwidth


def log_volume(kernel: str, bandwidth: float, d: int) -> float:
    """log ∫ K(‖x‖ / bandwidth) dx over d dimensions.

    >>> round(math.exp(log_volume("tophat", 2.0, 2)), 3), round(math.exp(log_volume("linear", 1.0, 1)), 3)
    (12.566, 1.0)
    """
    ball = 0.5 * d * math.log(math.pi) - float(gammaln(0.5 * d + 1.0))  # of radius 1
    sphere = math.log(d) + ball
    of_one = {
        "gaussian": lambda: 0.5 * d * math.log(2.0 * math.pi),
        "exponential": lambda: sphere + float(gammaln(d)),
        "tophat": lambda: ball,
        "epanechnikov": lambda: ball + math.log(2.0 / (d + 2.0)),
        "linear": lambda: ball - math.log(d + 1.0),
        "cosine": lambda: sphere + math.log(_cosine_moment(d - 1)),
    }
    return of_one[kernel]() + d * math.log(bandwidth)


def _cosine_moment(m: int) -> float:
    """∫ from 0 to 1 of rᵐ cos(πr/2) dr.

    Its terms by partial integration cancel for large m, so it is summed as a series of positive and falling terms:
    with s = 1 − r, cos(πr/2) = sin(πs/2), and ∫ (1 − s)ᵐ s^j ds is a Beta function.
    """
    total, term = 0.0, 0.5 * math.pi
    for j in range(1, 60, 2):
        total += term * math.exp(float(gammaln(m + 1) + gammaln(j + 1) - gammaln(m + j + 2)))
        term *= -((0.5 * math.pi) ** 2) / ((j + 1) * (j + 2))
    return total


def draw(kernel: str, rng: np.random.RandomState, centers: np.ndarray, bandwidth: float) -> np.ndarray:
    """One draw around each centre; for the Gaussian and the top hat those of scikit-learn for the same seed."""
    n, d = centers.shape
    if kernel == "gaussian":
        return np.atleast_2d(rng.normal(centers, bandwidth))
    direction = rng.normal(size=(n, d))
    squares = np.sum(direction**2, axis=1)
    radii = {
        "tophat": lambda: gammainc(0.5 * d, 0.5 * squares) ** (1.0 / d),
        "epanechnikov": lambda: np.sqrt(rng.beta(0.5 * d, 2.0, size=n)),
        "linear": lambda: rng.beta(d, 2.0, size=n),
        "exponential": lambda: rng.gamma(d, size=n),
        "cosine": lambda: _cosine_radii(rng, n, d),
    }[kernel]()
    return centers + direction * (radii * bandwidth / np.sqrt(squares))[:, None]


def _cosine_radii(rng: Any, n: int, d: int) -> np.ndarray:
    """Radii with density ∝ r^(d−1) cos(πr/2): those of the Epanechnikov kernel, of which at least π/4 are kept."""
    out = np.empty(n)
    left = np.arange(n)
    while left.size:
        squared = rng.beta(0.5 * d, 2.0, size=left.size)
        r = np.sqrt(squared)
        accepted = rng.uniform(size=left.size) * (1.0 - squared) <= np.cos(0.5 * math.pi * r)
        out[left[accepted]] = r[accepted]
        left = left[~accepted]
    return out
