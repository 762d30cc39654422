"""The Radon transform of an image as a linear operator that is never a matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from learnt.engine.threads import for_blocks
from learnt.inverse._ray_kernels import back_project, project, rays

_ANGLES, _ROWS = 4, 8  # done at a time: fixed, so that results do not depend on the number of threads


class RadonOperator(LinearOperator):
    """X-rays of an image:  (A μ)(θ, s) = Σ over pixels of  μ · (length of the ray x cos θ + y sin θ = s inside it).

    A SciPy `LinearOperator` between the flattened image and the flattened sinogram: `A @ x`, `A.T @ y`, `lsqr(A, y)`.
    Nothing is stored but the angles. Pixels have side 1 and the image lies about the origin, its first row on top.

    Parameters
    ----------
    shape : int or (int, int)
        Rows and columns of the image.
    angles : array-like of shape (n_angles,)
        Directions θ of the detector axis, in radians. Half a circle is enough: π + θ sees the same rays as θ.
    n_detectors : int or None, default=None
        Parallel rays for each angle, about the origin; None for as many as reach every corner of the image.
    spacing : float, default=1.0
        Distance of neighbouring rays.

    Attributes
    ----------
    image_shape : (int, int)
        Rows and columns of the image.
    sinogram_shape : (int, int)
        Angles and detectors.
    shape : (int, int)
        Of the matrix that it stands for.
    angles : ndarray of shape (n_angles,)
        The directions.
    spacing : float
        Distance of neighbouring rays.

    See Also
    --------
    reconstruct : The image of a sinogram, by least squares.
    filtered_back_projection : The image of a sinogram, by the classical formula.

    Notes
    -----
    A product costs O(n_angles · n²) for n × n pixels, on all threads; it does not depend on their number.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.inverse import RadonOperator
    >>> A = RadonOperator((2, 2), [0.0, np.pi / 2], n_detectors=2)
    >>> A.project([[1.0, 2.0], [3.0, 4.0]])
    array([[4., 6.],
           [7., 3.]])
    """

    image_shape: tuple[int, int]
    sinogram_shape: tuple[int, int]
    spacing: float
    _cosines: np.ndarray
    _sines: np.ndarray

    def __init__(self, shape: Any, angles: Any, *, n_detectors: int | None = None, spacing: float = 1.0) -> None:
        self.image_shape = _image_shape(shape)
        self.angles = _angles(angles)
        if not is_number(spacing) or not 0.0 < spacing < math.inf:
            raise ValueError(f"spacing must be a positive number, the distance of neighbouring rays; got {spacing!r}.")
        self.spacing = float(spacing)
        if n_detectors is None:
            n_detectors = math.ceil(math.hypot(*self.image_shape) / self.spacing)
            n_detectors += (
                self.image_shape[1] - n_detectors
            ) % 2  # rays through pixels' middles, not along their edges
        elif not is_integer(n_detectors):
            raise ValueError(f"n_detectors must be a whole number of at least 1, or None; got {n_detectors!r}.")
        self.sinogram_shape = (len(self.angles), int(n_detectors))
        self._cosines, self._sines = np.cos(self.angles), np.sin(self.angles)
        super().__init__(np.float64, (math.prod(self.sinogram_shape), math.prod(self.image_shape)))

    def project(self, image: Any) -> np.ndarray:
        """Return the sinogram of an image, angles × detectors.

        Parameters
        ----------
        image : array-like of shape image_shape
            The image; a flat one is taken too.

        Returns
        -------
        ndarray of shape sinogram_shape
            The line integrals.
        """
        image = _grid(image, self.image_shape, "The image")
        n_angles, n_detectors = self.sinogram_shape
        out = np.zeros((n_angles, n_detectors + rays(self.spacing)))
        arguments = (image, self._cosines, self._sines, self.spacing, n_detectors)
        for_blocks(lambda lo, hi: project(*arguments, lo, hi, out), n_angles, grain=_ANGLES)
        return np.ascontiguousarray(out[:, :n_detectors])

    def back_project(self, sinogram: Any) -> np.ndarray:
        """Return the transpose: every pixel adds up the rays through it, each times its length inside the pixel.

        Parameters
        ----------
        sinogram : array-like of shape sinogram_shape
            A number for each ray; a flat array is taken too.

        Returns
        -------
        ndarray of shape image_shape
            The sums.
        """
        sinogram = _grid(sinogram, self.sinogram_shape, "The sinogram")
        padded = np.zeros((sinogram.shape[0], sinogram.shape[1] + rays(self.spacing)))
        padded[:, : sinogram.shape[1]] = sinogram
        out = np.zeros(self.image_shape)
        arguments = (padded, self._cosines, self._sines, self.spacing, sinogram.shape[1])
        for_blocks(lambda lo, hi: back_project(*arguments, lo, hi, out), len(out), grain=_ROWS)
        return out

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        if np.iscomplexobj(x):
            return self._matvec(x.real) + 1j * self._matvec(x.imag)
        return self.project(x).ravel()

    def _rmatvec(self, x: np.ndarray) -> np.ndarray:
        if np.iscomplexobj(x):
            return self._rmatvec(x.real) + 1j * self._rmatvec(x.imag)
        return self.back_project(x).ravel()

    def _adjoint(self) -> LinearOperator:
        return _Transposed(self)

    def _transpose(self) -> LinearOperator:
        return _Transposed(self)


class _Transposed(LinearOperator):
    def __init__(self, operator: RadonOperator) -> None:
        self._operator = operator
        super().__init__(np.float64, operator.shape[::-1])

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._operator._rmatvec(x)

    def _rmatvec(self, x: np.ndarray) -> np.ndarray:
        return self._operator._matvec(x)

    def _adjoint(self) -> LinearOperator:
        return self._operator

    def _transpose(self) -> LinearOperator:
        return self._operator


def is_integer(value: Any) -> bool:
    """Whether `value` is an integer of at least 1."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _image_shape(shape: Any) -> tuple[int, int]:
    pair = tuple(shape) if isinstance(shape, tuple | list | np.ndarray) else (shape, shape)
    if len(pair) != 2 or not all(is_integer(n) for n in pair):
        raise ValueError(f"shape must be the rows and columns of the image, two whole numbers; got {shape!r}.")
    return int(pair[0]), int(pair[1])


def _angles(angles: Any) -> np.ndarray:
    try:
        found = np.array(angles, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 1 or found.size == 0 or not np.isfinite(found).all():
        raise ValueError(
            "angles must be a list of finite numbers in radians, for example np.pi * np.arange(180) / 180."
        )
    return found


def _grid(values: Any, shape: tuple[int, int], what: str) -> np.ndarray:
    """`values`, flat or not, as a grid of float64."""
    grid = np.asarray(values, dtype=np.float64)
    if grid.shape != shape and not (grid.size == math.prod(shape) and grid.ndim <= 2 and 1 in (grid.ndim, *grid.shape)):
        raise ValueError(f"{what} has the shape {grid.shape}, but this operator is made for {shape}.")
    return np.ascontiguousarray(grid.reshape(shape))
