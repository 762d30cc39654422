"""Images from sinograms: least squares by products with the operator only, and filtered back-projection."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.engine import progress
from learnt.inverse._radon import RadonOperator, is_integer, is_number


@dataclass(frozen=True)
class Reconstruction:
    """An image and how it was reached: what `reconstruct` returns.

    Parameters
    ----------
    image : ndarray of shape (n_rows, n_columns)
        The image.
    residual : float
        ‖Ax − y‖ / ‖y‖: how far its sinogram is from the one that was measured.
    optimality : float
        The length of the gradient against that at zero, projected where x ≥ 0.
    n_iter : int
        How many iterations it took.
    converged : bool
        Whether the gradient fell to the tolerance.

    See Also
    --------
    reconstruct : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> A = RadonOperator(2, [0.0, np.pi / 2], n_detectors=2)
    >>> found = reconstruct(A, A.project([[1.0, 1.0], [1.0, 1.0]]))
    >>> found.converged, found.image.round(3)
    (True, array([[1., 1.],
           [1., 1.]]))
    """

    image: np.ndarray
    residual: float  # ‖Ax − y‖ / ‖y‖
    optimality: float  # length of the gradient against that at zero, projected where x ≥ 0
    n_iter: int
    converged: bool


def reconstruct(
    operator: RadonOperator,
    sinogram: Any,
    *,
    ridge: float = 0.0,
    nonnegative: bool = False,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> Reconstruction:
    """Return the image by least squares:  min over x of  ‖Ax − y‖² + ridge ‖x‖²,  with x ≥ 0 if asked for.

    Better than `filtered_back_projection` where angles are few or uneven, or the data noisy.

    Parameters
    ----------
    operator : RadonOperator
        Which rays there are.
    sinogram : array-like of shape operator.sinogram_shape
        What was measured, angles × detectors.
    ridge : float, default=0.0
        The regularisation strength, a penalty on the squared values; larger where the data are noisy or the angles few.
    nonnegative : bool, default=False
        Whether absorption must not be negative.
    max_iter : int, default=100
        Most iterations. Fewer keep noise out, more show finer detail; a warning says where `tol` was not reached.
    tol : float, default=1e-4
        Stop when the gradient has fallen to this part of its length at x = 0.

    Returns
    -------
    Reconstruction
        The image, its residual, and whether it converged.

    See Also
    --------
    filtered_back_projection : In one step, for many even angles.
    RadonOperator : The operator A.

    Notes
    -----
    Without bounds these are conjugate gradients on the normal equations, in the stable form that never builds them
    (CGLS); with x ≥ 0, accelerated projected gradients in the metric diag(AᵀA1), which bounds AᵀA since no entry of A
    is negative. Stopping early is a regularisation of its own: noise comes in last. An iteration costs two products
    with the operator.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.inverse import RadonOperator, psnr, reconstruct, shepp_logan
    >>> truth = shepp_logan(32)
    >>> A = RadonOperator(32, np.pi * np.arange(60) / 60)
    >>> found = reconstruct(A, A.project(truth), tol=1e-6, max_iter=500)
    >>> psnr(found.image, truth) > 60
    True
    """
    y = _check(operator, sinogram, ridge, max_iter, tol)
    with progress.task("reconstruction", total=int(max_iter)) as bar:
        solve = _projected if nonnegative else _conjugate
        image, gradient, n_iter = solve(operator, y, float(ridge), int(max_iter), float(tol), bar)
    length = float(np.linalg.norm(y))
    residual = float(np.linalg.norm(operator.project(image) - y)) / length if length else 0.0
    found = Reconstruction(image, residual, gradient, n_iter, gradient <= tol)
    if not found.converged and n_iter >= max_iter:
        warnings.warn(
            f"The reconstruction stopped after {n_iter} iterations with a gradient {gradient:.1e} of that at the start "
            f"(tol={tol:g}): raise max_iter above {max_iter}, or tol where that is enough.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return found


def _conjugate(A: RadonOperator, y: np.ndarray, ridge: float, max_iter: int, tol: float, bar: Any) -> tuple:
    x = np.zeros(A.image_shape)
    residual = y.copy()
    gradient = A.back_project(residual)
    direction = gradient.copy()
    square = first = float(np.vdot(gradient, gradient))
    n_iter = 0
    while n_iter < max_iter and square > tol * tol * first:
        image = A.project(direction)
        curvature = float(np.vdot(image, image)) + ridge * float(np.vdot(direction, direction))
        if curvature == 0.0:
            break
        step = square / curvature
        x += step * direction
        residual -= step * image
        gradient = A.back_project(residual)
        if ridge:
            gradient -= ridge * x
        square, before = float(np.vdot(gradient, gradient)), square
        direction *= square / before
        direction += gradient
        n_iter += 1
        bar.advance(1, f"gradient {math.sqrt(square / first):.1e}")
    return x, math.sqrt(square / first) if first else 0.0, n_iter


def _projected(A: RadonOperator, y: np.ndarray, ridge: float, max_iter: int, tol: float, bar: Any) -> tuple:
    bound = A.back_project(A.project(np.ones(A.image_shape))) + ridge
    step = np.divide(1.0, bound, out=np.zeros_like(bound), where=bound > 0)  # a pixel that no ray crosses stays at 0
    first = float(np.linalg.norm(np.maximum(A.back_project(y), 0.0)))
    if first == 0.0:
        return np.zeros(A.image_shape), 0.0, 0
    x = ahead = np.clip(filtered_back_projection(A, y), 0.0, None)  # near enough to save half of the iterations
    gradient = A.back_project(A.project(x) - y) + ridge * x
    momentum, size, n_iter = 1.0, math.inf, 0
    while n_iter < max_iter and size > tol:
        new = np.clip(ahead - step * gradient, 0.0, None)
        if float(np.vdot(gradient, new - x)) > 0.0:  # the momentum points uphill: start it afresh
            momentum = 1.0
        follow = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
        ahead = np.clip(new + (momentum - 1.0) / follow * (new - x), 0.0, None)
        x, momentum = new, follow
        gradient = A.back_project(A.project(ahead) - y) + ridge * ahead
        size = float(np.linalg.norm(np.where(ahead > 0, gradient, np.minimum(gradient, 0.0)))) / first
        n_iter += 1
        bar.advance(1, f"gradient {size:.1e}")
    return ahead, size, n_iter


def filtered_back_projection(operator: RadonOperator, sinogram: Any) -> np.ndarray:
    """Return the classical inversion: every angle's row through the ramp filter |ω|, then back-projected.

    Angles are weighted by their share of the half circle, so that they need not be evenly spread.

    Parameters
    ----------
    operator : RadonOperator
        Which rays there are.
    sinogram : array-like of shape operator.sinogram_shape
        What was measured, angles × detectors.

    Returns
    -------
    ndarray of shape operator.image_shape
        The image.

    See Also
    --------
    reconstruct : By least squares, better for few angles and noise.
    RadonOperator : The operator.

    References
    ----------
    .. [1] Avinash C. Kak and Malcolm Slaney, "Principles of Computerized Tomographic Imaging", IEEE Press, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.inverse import RadonOperator, filtered_back_projection, psnr, shepp_logan
    >>> truth = shepp_logan(64)
    >>> A = RadonOperator(64, np.pi * np.arange(90) / 90)
    >>> psnr(filtered_back_projection(A, A.project(truth)), truth) > 20
    True
    """
    y = _check(operator, sinogram)
    n = operator.sinogram_shape[1]
    size = 2 ** math.ceil(math.log2(max(2 * n, 64)))
    # The filter from its samples in space: |ω| sampled in frequency would lose the mean.
    place = np.minimum(np.arange(size), size - np.arange(size))
    kernel = np.zeros(size)
    kernel[0] = 0.25
    odd = place % 2 == 1
    kernel[odd] = -1.0 / (np.pi * place[odd]) ** 2
    spectrum = np.fft.rfft(kernel).real
    filtered = np.fft.irfft(np.fft.rfft(y, size, axis=1) * spectrum, size, axis=1)[:, :n]
    return operator.back_project(filtered * _angle_shares(operator.angles)[:, None])


def _angle_shares(angles: np.ndarray) -> np.ndarray:
    """The part of the half circle nearest to each angle; together π."""
    turned = np.mod(angles, np.pi)
    order = np.argsort(turned, kind="stable")
    steps = np.diff(turned[order], append=turned[order][0] + np.pi)
    shares = np.empty(len(angles))
    shares[order] = 0.5 * (steps + np.roll(steps, 1))
    return shares


def _check(operator: Any, sinogram: Any, ridge: Any = 0.0, max_iter: Any = 1, tol: Any = 0.0) -> np.ndarray:
    if not isinstance(operator, RadonOperator):
        raise TypeError(
            f"operator must be a RadonOperator, which says where the rays went; got a {type(operator).__name__}."
        )
    y = np.asarray(sinogram, dtype=np.float64)
    if y.shape != operator.sinogram_shape:
        raise ValueError(
            f"The sinogram has the shape {y.shape}, but the operator has {operator.sinogram_shape[0]} angles and "
            f"{operator.sinogram_shape[1]} detectors: angles are rows."
        )
    bad = int((~np.isfinite(y)).sum())
    if bad:
        raise ValueError(f"The sinogram holds {bad} values that are NaN or infinite: replace or leave out those rays.")
    if not (is_number(ridge) and 0 <= ridge < math.inf):
        raise ValueError(f"ridge must be a number of at least 0; got {ridge!r}.")
    if not is_integer(max_iter):
        raise ValueError(f"max_iter must be a whole number of at least 1; got {max_iter!r}.")
    if not (is_number(tol) and tol >= 0):
        raise ValueError(f"tol must be a number of at least 0; got {tol!r}.")
    return y
