"""A few components of a large matrix, from products of the scatter with thin matrices.

Each product is one pass over the rows. The randomised solver keeps the images of all passes, a block Krylov space, and
takes the best components inside it: after as many passes never worse than the power iteration of Halko, Martinsson and
Tropp (2011), which keeps only the last, and mostly much better (Musco and Musco, 2015). Of the last directions only the
scatter among themselves is new, which is half a product: their images would be for directions after them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.decomposition.spectrum._centre import Centre, centre, starting_point
from learnt.decomposition.spectrum._exact import Spectrum, largest_eigen, singular
from learnt.decomposition.spectrum._products import scatter_inside, scatter_product
from learnt.decomposition.spectrum._triangle import joined, triangles
from learnt.engine.arrays import like, namespace
from learnt.engine.rows import Rows
from learnt.engine.threads import single_blas

# Passes for iterated_power="auto". scikit-learn makes the reads of 8 such passes (5 for many components).
_PASSES = 5
_NARROWEST = 16  # vectors whose products cost no more than reading the rows
# A component whose residual is below this share of its variance has converged.
_CONVERGED = 1e-8
_FAINT = 1e-9


def randomized(
    rows: Rows, k: int, oversamples: int, power: int | None, draw: np.random.RandomState, about: Centre | None = None
) -> Spectrum:
    """The first k components, from a random start of k + oversamples vectors; `power` None stops when converged.

    `about` replaces the rows' own centre: their singular vectors are the components about 0.
    """
    middle, point = (centre(rows), starting_point(rows)) if about is None else (about, None)
    d = rows.n_features
    width, passes = _schedule(k, oversamples) if power is None else (k + oversamples, power + 1)
    if k + oversamples >= d:
        width, passes = d, 1  # all directions: no other pass finds more
    # Drawn with NumPy whatever the library: the same start on every device.
    start = like(draw.normal(size=(d, width)), middle.mean)
    values, vectors, basis, inside = krylov(
        lambda Q: scatter_product(rows, middle, point, Q),
        start,
        k,
        power,
        lambda Q: scatter_inside(rows, middle, point, Q),
        passes,
    )
    if float(values[k - 1]) < _FAINT * float(values[0]):
        values, vectors = _refined(rows, middle, basis, inside, k + oversamples)
    return Spectrum(middle, values[:k] / max(middle.n - 1, 1), vectors[:, :k].T)


def _schedule(k: int, oversamples: int) -> tuple[int, int]:
    """Vectors that are multiplied at a time, and the most passes: where that is less work, one pass more with fewer.

    The images of one more pass are worth more than extra vectors. There are never fewer vectors than components, which
    variances that are alike need, nor fewer than products with many rows take in their stride.

    >>> _schedule(20, 10), _schedule(50, 10), _schedule(2, 10)
    ((20, 6), (60, 5), (12, 5))
    """
    wide, narrow = k + oversamples, max(k, _NARROWEST)
    return (narrow, _PASSES + 1) if narrow * (_PASSES + 0.5) < wide * (_PASSES - 0.5) else (wide, _PASSES)


class Krylov(NamedTuple):
    """The best values (at least 0, falling) and directions inside a space, its basis B, and BᵀAB of the matrix A."""

    values: Any
    vectors: Any
    basis: Any
    inside: Any


def krylov(
    product: Callable[[Any], Any],
    start: Any,
    k: int,
    power: int | None,
    square: Callable[[Any], Any] | None = None,
    auto_passes: int = _PASSES,
) -> Krylov:
    """The k largest eigenvalues of a symmetric matrix, inside the space of a start and its images.

    `product` is the matrix A times a thin one, `square` QᵀAQ where that is less work; there are `power` + 1 products,
    None: until k directions have converged, but no more than `auto_passes`.
    """
    d = start.shape[0]
    Q = _orthonormal(start)
    basis: Any = None
    images: Any = None
    inside: Any = None
    passes = auto_passes if power is None else power + 1
    for step in range(passes):
        last = step + 1 == passes
        if last and square is not None:
            inside = _bordered(inside, images, Q, square(Q))
            basis = Q if basis is None else joined(basis, Q, axis=1)
            break
        image = product(Q)
        inside = _bordered(inside, images, Q, Q.T @ image)
        basis = Q if basis is None else joined(basis, Q, axis=1)
        images = image if images is None else joined(images, image, axis=1)
        if last or basis.shape[1] == d or (power is None and _residual(basis, images, inside, k) <= _CONVERGED):
            break
        Q = _new_directions(image[:, : d - basis.shape[1]], basis)
        if Q.shape[1] == 0:
            break
    values, small = largest_eigen(inside, min(k, inside.shape[0]))
    return Krylov(values, basis @ small, basis, inside)


def _symmetric(T: Any) -> Any:
    return (T + T.T) / 2


def _bordered(inside: Any, images: Any, Q: Any, last: Any) -> Any:
    """BᵀAB with a last block of directions Q, from what is known of the others and QᵀAQ."""
    if inside is None:
        return _symmetric(last)
    off_diagonal = images.T @ Q
    return joined(joined(inside, off_diagonal, axis=1), joined(off_diagonal.T, _symmetric(last), axis=1), axis=0)


def _residual(basis: Any, images: Any, inside: Any, k: int) -> float:
    """The largest residual of the best k directions inside the basis, as a share of the largest eigenvalue."""
    xp = namespace(basis)
    with single_blas():
        values, small = largest_eigen(inside, min(k, inside.shape[0]))
        off = images @ small - (basis @ small) * values
    scale = float(values[0]) or 1.0
    return float(xp.max(xp.sum(off * off, axis=0))) ** 0.5 / scale


def _refined(rows: Rows, middle: Centre, basis: Any, inside: Any, width: int) -> tuple[Any, Any]:
    """Refine small components, from the projected rows and not from their squares."""
    best = basis @ largest_eigen(inside, min(width, inside.shape[0]))[1]
    R = rows.sum(triangles, middle.mean, best)[0].R
    s, Vt = singular(R)
    return s**2, best @ Vt.T


def _new_directions(image: Any, basis: Any) -> Any:
    """The image's directions orthogonal to the basis; none where only rounding is left."""
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
    if np.any(apply(start)):
        values, vectors = eigsh(operator, k=k, tol=tol, v0=start, which="LA")
    else:  # all rows are the same, and any directions do
        values, vectors = np.zeros(k), np.eye(d, k)
    order = np.argsort(-values)
    # ARPACK's vectors are orthogonal only to its tolerance.
    values, vectors = np.maximum(values[order], 0.0), np.linalg.qr(vectors[:, order])[0]
    return Spectrum(middle, values / max(middle.n - 1, 1), vectors.T)
