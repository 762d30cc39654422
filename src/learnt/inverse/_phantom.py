"""A head made of ellipses (Shepp and Logan's, with Toft's contrasts), as pixels and as exact line integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.inverse._radon import is_integer

# Value, half axes, centre and rotation in degrees, on a square from −1 to 1.
_ELLIPSES = (
    (1.0, 0.69, 0.92, 0.0, 0.0, 0.0),
    (-0.8, 0.6624, 0.874, 0.0, -0.0184, 0.0),
    (-0.2, 0.11, 0.31, 0.22, 0.0, -18.0),
    (-0.2, 0.16, 0.41, -0.22, 0.0, 18.0),
    (0.1, 0.21, 0.25, 0.0, 0.35, 0.0),
    (0.1, 0.046, 0.046, 0.0, 0.1, 0.0),
    (0.1, 0.046, 0.046, 0.0, -0.1, 0.0),
    (0.1, 0.046, 0.023, -0.08, -0.605, 0.0),
    (0.1, 0.023, 0.023, 0.0, -0.606, 0.0),
    (0.1, 0.023, 0.046, 0.06, -0.605, 0.0),
)
_FINE = 4  # samples along each side of a pixel


def shepp_logan(n: int = 256) -> np.ndarray:
    """Return the Shepp–Logan phantom on n × n pixels, each the mean over its area; values from 0 to 1.

    Parameters
    ----------
    n : int, default=256
        Pixels along a side.

    Returns
    -------
    ndarray of shape (n, n)
        A head made of ellipses, with Toft's contrasts, its first row on top.

    See Also
    --------
    shepp_logan_sinogram : Its exact line integrals.
    psnr : How close an image comes to it.

    References
    ----------
    .. [1] Lawrence A. Shepp and Benjamin F. Logan, "The Fourier Reconstruction of a Head Section", IEEE Transactions on
       Nuclear Science, 1974.

    Examples
    --------
    >>> image = shepp_logan(64)
    >>> image.shape, float(image.max()), float(image[52, 32].round(2))
    ((64, 64), 1.0, 0.2)
    """
    if not is_integer(n):
        raise ValueError(f"n must be the number of pixels along a side, a whole number of at least 1; got {n!r}.")
    ticks = (np.arange(n * _FINE) + 0.5) * 2.0 / (n * _FINE) - 1.0
    x, y = ticks[None, :], -ticks[:, None]
    image = np.zeros((n * _FINE, n * _FINE))
    for value, a, b, x0, y0, degrees in _ELLIPSES:
        c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
        along, across = (x - x0) * c + (y - y0) * s, (y - y0) * c - (x - x0) * s
        image[(along / a) ** 2 + (across / b) ** 2 <= 1.0] += value
    image = image.reshape(n, _FINE, n, _FINE).mean(axis=(1, 3))
    return np.clip(image, 0.0, None)  # 1 − 0.8 − 0.2 is not quite 0


def shepp_logan_sinogram(n: int, angles: Any, n_detectors: int, spacing: float = 1.0) -> np.ndarray:
    """Return its exact line integrals, in units of pixels: what a perfect scanner would measure, angles × detectors.

    An ellipse with half axes a, b cuts a chord of  2ab √(r² − t²) / r²  from a line at distance t from its centre,
    r² = a² cos² φ + b² sin² φ with φ the angle between the line's normal and the first axis.

    Parameters
    ----------
    n : int
        Pixels along a side of the image that it belongs to.
    angles : array-like of shape (n_angles,)
        Directions of the detector axis, in radians.
    n_detectors : int
        Parallel rays for each angle.
    spacing : float, default=1.0
        Distance of neighbouring rays, in pixels.

    Returns
    -------
    ndarray of shape (n_angles, n_detectors)
        The sinogram.

    See Also
    --------
    shepp_logan : The image.
    RadonOperator : The line integrals of an image of pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.inverse import RadonOperator
    >>> A = RadonOperator(64, np.pi * np.arange(90) / 90)
    >>> exact = shepp_logan_sinogram(64, A.angles, A.sinogram_shape[1])
    >>> bool(np.abs(A.project(shepp_logan(64)) - exact).mean() < 0.01 * exact.max())
    True
    """
    theta = np.asarray(angles, dtype=np.float64)[:, None]
    s = (np.arange(n_detectors) - 0.5 * (n_detectors - 1))[None, :] * (spacing * 2.0 / n)
    total = np.zeros((theta.size, n_detectors))
    for value, a, b, x0, y0, degrees in _ELLIPSES:
        phi = theta - np.deg2rad(degrees)
        squared = (a * np.cos(phi)) ** 2 + (b * np.sin(phi)) ** 2
        distance = s - x0 * np.cos(theta) - y0 * np.sin(theta)
        total += value * 2.0 * a * b * np.sqrt(np.clip(squared - distance**2, 0.0, None)) / squared
    return total * (n / 2.0)


def psnr(image: Any, truth: Any) -> float:
    """Return the peak signal-to-noise ratio in decibels: 20 log₁₀(range of the truth / root mean squared error).

    Parameters
    ----------
    image : array-like
        An image.
    truth : array-like of the same shape
        What it should be.

    Returns
    -------
    float
        Decibels: the more, the closer; infinity where they are equal.

    See Also
    --------
    shepp_logan : An image to compare with.

    Examples
    --------
    >>> psnr([0.0, 0.9], [0.0, 1.0])
    23.01
    """
    image, truth = np.asarray(image, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if image.shape != truth.shape:
        raise ValueError(f"The image has the shape {image.shape} and the truth {truth.shape}: compare equal grids.")
    error = float(np.sqrt(np.mean((image - truth) ** 2)))
    return float("inf") if error == 0.0 else 20.0 * float(np.log10(np.ptp(truth) / error))
