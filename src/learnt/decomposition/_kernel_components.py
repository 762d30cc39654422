"""Eigenvectors of a centred kernel matrix: components in the space of the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from learnt.decomposition._principal import with_positive_peaks
from learnt.decomposition.spectrum._krylov import krylov
from learnt.engine.arrays import is_numpy, like, namespace
from learnt.engine.threads import for_blocks, single_blas

_NOTHING = {8: 1e-12, 4: 2e-7}  # of the largest eigenvalue: what is 0 but for rounding, by bytes of a number
_NEGATIVE = {8: 1e-5, 4: 5e-3}  # the same: what rounding cannot explain
_OVERSAMPLES = 10


def centred(K: Any) -> tuple[Any, Any]:
    """HKH with H = I − 11ᵀ/n, for NumPy in place, and the column means of K."""
    xp, n = namespace(K), K.shape[0]
    if not is_numpy(K):
        means = xp.mean(K, axis=0)
        return K - means[None, :] - xp.mean(K, axis=1)[:, None] + xp.mean(means), means
    means = np.sum(for_blocks(lambda lo, hi: K[lo:hi].sum(axis=0), n, grain=256), axis=0) / n

    def fill(lo: int, hi: int) -> None:
        K[lo:hi] -= means
        K[lo:hi] -= K[lo:hi].mean(axis=1)[:, None]

    for_blocks(fill, n, grain=256)
    return K, means


def components(K: Any, k: int, solver: str, tol: float, max_iter: int | None, power: int | None, draw: Any) -> Any:
    """The k largest eigenvalues of a symmetric matrix, falling, and eigenvectors whose largest entry is positive.

    `solver` is "dense", "arpack" (up to `tol` and `max_iter`) or "randomized" (`power` passes more than one, None: as
    many as convergence needs, five at most).
    """
    n = K.shape[0]
    if solver == "arpack" and k < n:
        values, vectors = _arpack(K, k, tol, max_iter, draw)
    elif solver == "randomized":
        values, vectors = _randomized(K, k, power, draw)
    elif is_numpy(K):
        with single_blas():
            some = None if k == n else [n - k, n - 1]
            values, vectors = linalg.eigh(K, subset_by_index=some, overwrite_a=True, check_finite=False)
    else:
        values, vectors = namespace(K).linalg.eigh(K)
    xp = namespace(K)
    values, vectors = xp.flip(values, axis=0)[:k], xp.flip(vectors, axis=1)[:, :k]
    return without_noise(values), with_positive_peaks(vectors.T).T


def without_noise(values: Any) -> Any:
    """Eigenvalues with those that are rounding set to 0; raises where one is negative beyond that."""
    xp, size = namespace(values), 4 if str(values.dtype).endswith("float32") else 8
    largest, least = float(values[0]), float(values[-1])
    if largest < 0 or least < -_NEGATIVE[size] * largest:
        raise ValueError(
            f"There are significant negative eigenvalues ({least:.6g}, the largest is {largest:.6g}): the centred "
            "kernel matrix is not positive semidefinite; take fewer components or another kernel "
            "(learnt.kernels.is_kernel shows whether it is one)."
        )
    return xp.where(values > _NOTHING[size] * largest, values, xp.zeros_like(values))


def _times(K: Any, Q: Any) -> Any:
    """KQ for a few columns, on all threads."""
    if not is_numpy(K):
        return K @ Q
    out = np.empty(Q.shape)

    def fill(lo: int, hi: int) -> None:
        out[lo:hi] = K[lo:hi] @ Q

    for_blocks(fill, len(K), grain=256)
    return out


def _arpack(K: np.ndarray, k: int, tol: float, max_iter: int | None, draw: Any) -> tuple[np.ndarray, np.ndarray]:
    from scipy.sparse.linalg import LinearOperator, eigsh

    def apply(q: np.ndarray) -> np.ndarray:
        return _times(K, q)

    operator = LinearOperator(K.shape, matvec=apply, matmat=apply, dtype=np.float64)
    return eigsh(operator, k=k, which="LA", tol=tol, maxiter=max_iter, v0=draw.uniform(-1, 1, len(K)))


def _randomized(K: Any, k: int, power: int | None, draw: Any) -> tuple[Any, Any]:
    n = K.shape[0]
    start = like(draw.normal(size=(n, min(k + _OVERSAMPLES, n))), K)
    found = krylov(lambda Q: _times(K, Q), start, k, power)
    xp = namespace(K)
    without_noise(xp.flip(xp.linalg.eigvalsh(found.inside), axis=0))  # raises where the space shows a negative one
    return xp.flip(found.values, axis=0), xp.flip(found.vectors, axis=1)
