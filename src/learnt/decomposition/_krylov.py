"""A few components of a large matrix, from products of the scatter with thin matrices.

Each product is one pass over the rows. The randomised solver keeps the images of all passes, a block Krylov space, and
takes the best components inside it: after as many passes never worse than the power iteration of Halko, Martinsson and
Tropp (2011), which keeps only the last, and mostly much better (Musco and Musco, 2015).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.decomposition._centre import Centre, centre, starting_point
from learnt.decomposition._exact import Spectrum, largest_eigen, singular
from learnt.decomposition._products import scatter_product
from learnt.decomposition._triangle import joined, triangles
from learnt.engine.arrays import like, namespace
from learnt.engine.rows import Rows
from learnt.engine.threads import single_blas

# Passes for iterated_power="auto". scikit-learn makes the reads of 8 such passes (5 for many components).
_PASSES = 5
# A component whose residual is below this share of its variance has converged.
_CONVERGED = 1e-8
_FAINT = 1e-9


def randomized(
    rows: Rows, k: int, oversamples: int, power: int | None, draw: np.random.RandomState, about: Centre | None = None
) -> Spectrum:
    """The first k components, from a random start of k + oversamples vectors; `power` None stops when converged.

    `about` takes the place of the rows' own centre: their singular vectors are the components about 0.
    """
    middle, point = (centre(rows), starting_point(rows)) if about is None else (about, None)
    d = rows.n_features
    width = min(k + oversamples, d)
    # Drawn with NumPy whatever the library: the same start on every device.
    start = like(draw.normal(size=(d, width)), middle.mean)
    values, vectors, basis, images = krylov(lambda Q: scatter_product(rows, middle, point, Q), start, k, power)
    if float(values[k - 1]) < _FAINT * float(values[0]):
        values, vectors = _refined(rows, middle, basis, images, width)
    return Spectrum(middle, values[:k] / max(middle.n - 1, 1), vectors[:, :k].T)


class Krylov(NamedTuple):
    """The best values (at least 0, falling) and directions inside a space, its basis, and the images of that."""

    values: Any
    vectors: Any
    basis: Any
    images: Any


def krylov(product: Callable[[Any], Any], start: Any, k: int, power: int | None) -> Krylov:
    """The k largest eigenvalues of a symmetric matrix, inside the space of a start and its images.

    `product` is the matrix times a thin one; there are `power` + 1 products, None: until k directions have converged,
    but no more than five.
    """
    d = start.shape[0]
    Q = _orthonormal(start)
    basis = images = None
    passes = _PASSES if power is None else power + 1
    for step in range(passes):
        image = product(Q)
        basis = Q if basis is None else joined(basis, Q, axis=1)
        images = image if images is None else joined(images, image, axis=1)
        with single_blas():
            values, vectors, residual = _best_inside(basis, images, k)
        converged = power is None and residual <= _CONVERGED
        if converged or basis.shape[1] == d or step + 1 == passes:
            break
        Q = _new_directions(image[:, : d - basis.shape[1]], basis)
        if Q.shape[1] == 0:
            break
    return Krylov(values, vectors, basis, images)


def _best_inside(basis: Any, images: Any, k: int) -> tuple[Any, Any, float]:
    """Rayleigh and Ritz: the best k directions inside the basis, and the largest relative residual."""
    xp = namespace(basis)
    T = basis.T @ images
    values, small = largest_eigen((T + T.T) / 2, min(k, T.shape[0]))
    values = xp.where(values > 0, values, xp.zeros_like(values))
    vectors = basis @ small
    off = images @ small - vectors * values
    scale = float(values[0]) or 1.0
    return values, vectors, float(xp.max(xp.sum(off * off, axis=0))) ** 0.5 / scale


def _refined(rows: Rows, middle: Centre, basis: Any, images: Any, width: int) -> tuple[Any, Any]:
    """Small components again, from the projected rows themselves and not from their squares."""
    T = basis.T @ images
    inside = basis @ largest_eigen((T + T.T) / 2, min(width, T.shape[0]))[1]
    R = rows.sum(triangles, middle.mean, inside)[0].R
    s, Vt = singular(R)
    return s**2, inside @ Vt.T


def _new_directions(image: Any, basis: Any) -> Any:
    """The image's directions that the basis does not have yet; none of them when there is nothing new but rounding."""
    xp = namespace(image)
    with single_blas():
        scale = float(xp.max(xp.abs(image)))
        for _ in range(2):  # once for the mathematics, once for rounding
            image = image - basis @ (basis.T @ image)
        U, s, _ = xp.linalg.svd(image, full_matrices=False)
        U = U[:, : int(xp.sum(s > 1e-12 * scale))]
        return _orthonormal(U - basis @ (basis.T @ U))


def _orthonormal(A: Any) -> Any:
    with single_blas():
        return namespace(A).linalg.qr(A)[0]


def arpack(rows: Rows, k: int, tol: float, draw: np.random.RandomState, about: Centre | None = None) -> Spectrum:
    """The first k components by ARPACK's Lanczos iteration on the scatter, about the rows' centre or another."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    middle, point = (centre(rows), starting_point(rows)) if about is None else (about, None)
    d = rows.n_features

    def apply(q: np.ndarray) -> np.ndarray:
        return scatter_product(rows, middle, point, q.reshape(d, -1)).reshape(q.shape)

    operator = LinearOperator((d, d), matvec=apply, matmat=apply, dtype=np.float64)
    start = draw.uniform(-1, 1, size=d)
    values, vectors = eigsh(operator, k=k, tol=tol, v0=start, which="LA")
    order = np.argsort(-values)
    # ARPACK's vectors are orthogonal only to its tolerance.
    values, vectors = np.maximum(values[order], 0.0), np.linalg.qr(vectors[:, order])[0]
    return Spectrum(middle, values / max(middle.n - 1, 1), vectors.T)
