"""All components, or the first k of them, to working precision.

Squaring the data (scatter, Gram) is fast and costs small singular values half their digits; QR keeps them.
`to_six_digits` checks the result of the fast algorithm, and uses QR where too many digits were lost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from learnt.decomposition.spectrum._centre import WIDE_WORK, Centre, centre, scatter, single, starting_point
from learnt.decomposition.spectrum._choice import resolve_count
from learnt.decomposition.spectrum._products import columns_times, gram_of_columns, sum_thin
from learnt.decomposition.spectrum._triangle import joined, triangles
from learnt.engine.arrays import is_numpy, like, namespace, to_numpy
from learnt.engine.matrices import Route
from learnt.engine.rows import ArrayRows, Rows
from learnt.engine.threads import single_blas
from learnt.linalg import decompositions

# A variance below this share of the largest has lost more than about 6 of its 16 digits by squaring (float64).
_FAINT = 1e-10


class Spectrum(NamedTuple):
    """Components (one a row) by decreasing variance, with statistics of all the data."""

    centre: Centre
    variance: Any
    components: Any


def to_six_digits(rows: Rows, wanted: Any) -> Spectrum:
    """The fast algorithm where it is accurate enough for the components wanted, else QR or a refinement."""
    wide = isinstance(rows, ArrayRows) and rows.n_rows <= rows.n_features
    spectrum = from_gram(rows, first_of(wanted)) if wide else from_scatter(rows, first_of(wanted))
    n, variance = spectrum.centre.n, to_numpy(spectrum.variance)
    k = min(resolve_count(wanted, variance, spectrum.centre.total, n), len(variance))
    if wide and k == n:
        k -= 1  # the last is known to have none
    if k < 1 or variance[k - 1] >= _FAINT * variance[0]:
        return spectrum
    return from_triangle(rows) if wide else refined(rows, spectrum)


def first_of(wanted: Any) -> int | None:
    """How many components to compute: as many as wanted, or all where that is decided by their variances."""
    return int(wanted) if isinstance(wanted, int | np.integer) else None


def from_scatter(rows: Rows, k: int | None) -> Spectrum:
    """Eigenvectors of the scatter matrix."""
    middle, S = scatter(in_blocks(rows))
    values, vectors = largest_eigen(S, k)
    return Spectrum(middle, values / max(middle.n - 1, 1), vectors.T)


def from_gram(rows: Any, k: int | None) -> Spectrum:
    """Eigenvectors of the Gram matrix of the rows, for fewer rows than columns."""
    middle = centre(rows)
    centred = starting_point(rows) is not None
    columns = in_blocks(ArrayRows(rows.X.T, n_jobs=rows.n_jobs))
    mean = single(middle.mean, rows) if middle.n**2 * rows.n_features > WIDE_WORK else middle.mean
    gram, along = sum_thin(columns, gram_of_columns, mean, centred, part_bytes=8 * middle.n**2)
    xp = namespace(gram)
    if not centred:
        gram = gram - along[:, None] - along[None, :] + xp.sum(middle.mean**2)
    _, U = largest_eigen(gram, k)
    V = like(columns.map(columns_times, mean, like(U, mean), centred).T, middle.mean)
    length = row_lengths(V)
    none_left = length <= 1e-8 * length[0]
    V = V / xp.where(none_left, xp.ones_like(length), length)[:, None]
    if k == middle.n and bool(none_left[-1]):
        # Centring takes one dimension away, so that with all components the last is an arbitrary orthogonal direction.
        V = joined(V[:-1, :], left_over(V[:-1, :])[None, :], axis=0)
    return Spectrum(middle, length**2 / max(middle.n - 1, 1), V)


def row_lengths(V: Any) -> Any:
    return namespace(V).sum(V * V, axis=1) ** 0.5


def left_over(V: Any) -> Any:
    """A unit vector orthogonal to the orthonormal rows of V, from the axis they use least."""
    xp = namespace(V)
    axis = int(xp.argmin(xp.sum(V * V, axis=0)))
    v = like(np.eye(1, V.shape[1], axis)[0], V)
    for _ in range(2):  # once for the mathematics, once for rounding
        v = v - V.T @ (V @ v)
    return v / xp.sum(v * v) ** 0.5


def from_triangle(rows: Rows) -> Spectrum:
    """Singular vectors of the centred data, by way of the triangle that QR leaves of them."""
    middle = centre(rows)
    R = in_blocks(rows).sum(triangles, middle.mean)[0].R
    s, Vt = singular(R)
    return Spectrum(middle, s**2 / max(middle.n - 1, 1), Vt)


def in_blocks(rows: Rows) -> Rows:
    """Rows in larger blocks: each makes a d × d statistic and is read once, so that it need not stay in a cache.

    Eight of them or a multiple, so that two, four or eight threads have equal shares.
    """
    if isinstance(rows, ArrayRows) and rows.route is not Route.SPARSE:
        largest = max(8 * rows.block_size, rows.n_features)
        n_blocks = 8 * -(-rows.n_rows // (8 * largest)) if rows.n_rows > largest else 1
        rows.block_size = -(-rows.n_rows // n_blocks)
    return rows


def refined(rows: Rows, spectrum: Spectrum) -> Spectrum:
    """Refine the small components of `from_scatter`, from the projected rows and not from their squares."""
    middle, variance, components = spectrum
    xp = namespace(variance)
    # Well above the smallest, so that rounding errors of the large components hardly affect it.
    strong = int(xp.sum(variance > 1e-6 * variance[0]))
    if strong <= variance.shape[0] // 2:
        return from_triangle(rows)
    R = rows.sum(triangles, middle.mean, components[strong:, :].T)[0].R
    s, Vt = singular(R)
    return Spectrum(
        middle,
        joined(variance[:strong], s**2 / max(middle.n - 1, 1), axis=0),
        joined(components[:strong, :], Vt @ components[strong:, :], axis=0),
    )


def singular(R: Any) -> tuple[Any, Any]:
    """Singular values and right singular vectors, in float64."""
    if is_numpy(R):
        with single_blas():
            return decompositions.svd(R.astype(np.float64, copy=False))[1:]
    xp = namespace(R)
    return tuple(xp.linalg.svd(like(R, R, xp.float64), full_matrices=False))[1:]


def largest_eigen(S: Any, k: int | None) -> tuple[Any, Any]:
    """The k largest eigenvalues (at least 0) of a symmetric matrix, falling, and eigenvectors in columns; None: all."""
    xp = namespace(S)
    if not is_numpy(S):
        values, vectors = xp.linalg.eigh(S)
    else:
        with single_blas():
            values, vectors = _some_eigen(S, k)
    values, vectors = xp.flip(values, axis=0), xp.flip(vectors, axis=1)
    values = xp.where(values > 0, values, xp.zeros_like(values))
    return (values, vectors) if k is None else (values[:k], vectors[:, :k])


def _some_eigen(S: np.ndarray, k: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, rising: all, or at least the k largest where that is less work."""
    size = S.shape[0]
    if k is None or k > size // 4:
        return decompositions.eigh(S)
    if 0 < k <= size // 20 and size >= 400:
        from scipy.sparse.linalg import ArpackError, eigsh

        try:
            # A start that is no eigenvector of anything likely; fixed, for the same answer every time.
            return eigsh(S, k=k, which="LA", v0=np.cos(np.arange(1.0, size + 1)))
        except ArpackError:  # no convergence: eigenvalues too close together
            pass
    return linalg.eigh(S, subset_by_index=[size - max(k, 1), size - 1], check_finite=False)
