"""Is this a kernel? Yes by construction, no by a direction that proves it, or undecidable from points only."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnt.engine.arrays import to_numpy
from learnt.engine.random import generator
from learnt.engine.threads import single_blas
from learnt.kernels._base import Kernel, is_kernel_object
from learnt.kernels._gram import gram
from learnt.kernels._named import FromFunction

_POINTS, _TRIES = 40, 5
_SAMPLE = 200  # rows on which a fit checks the eigenvalues
_CLEARLY = 1e-6  # of the largest entry: more than single precision or a sum of many terms may be off


@dataclass(frozen=True)
class Verdict:
    """An answer to "is this a kernel?" with its reason.

    It is true where the answer is "yes", and prints as answer and reason. `is_kernel` and `is_positive_semidefinite`
    return it.

    Parameters
    ----------
    answer : str
        "yes", "no" or "don't know".
    reason : str
        Why, in words.
    eigenvalue : float or None, default=None
        Of a "no", a negative eigenvalue; None where the matrix is not symmetric.
    direction : ndarray or None, default=None
        Of a "no", a vector v of length 1 with vᵀKv = eigenvalue.
    points : ndarray or None, default=None
        Of a "no", the rows on which K was computed.

    See Also
    --------
    is_kernel : Answers for a kernel or a function.
    is_positive_semidefinite : Answers for a matrix.

    Examples
    --------
    >>> verdict = is_positive_semidefinite([[1.0, 2.0], [2.0, 1.0]])
    >>> bool(verdict), round(verdict.eigenvalue, 6)
    (False, -1.0)
    >>> print(verdict)
    no: the smallest eigenvalue is -1
    """

    answer: str
    reason: str
    eigenvalue: float | None = None
    direction: np.ndarray | None = None
    points: np.ndarray | None = None

    def __bool__(self) -> bool:
        return self.answer == "yes"

    def __str__(self) -> str:
        return f"{self.answer}: {self.reason}"


def is_positive_semidefinite(K: Any) -> Verdict:
    """Return whether a matrix is one of inner products: symmetric, no eigenvalue below 0 by more than rounding.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The matrix.

    Returns
    -------
    Verdict
        "yes", or "no" with a negative eigenvalue and its direction.

    Raises
    ------
    ValueError
        Where K is not square, or holds NaN or infinity.

    See Also
    --------
    is_kernel : The same of a kernel or a function.

    Notes
    -----
    O(n³) time for the eigenvalues.

    Examples
    --------
    >>> print(is_positive_semidefinite([[1.0, 2.0], [2.0, 1.0]]))
    no: the smallest eigenvalue is -1
    """
    K = np.asarray(to_numpy(K), dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A kernel matrix is square, a row and a column for each point; this one has shape {K.shape}.")
    if not np.isfinite(K).all():
        raise ValueError(
            "The kernel matrix holds NaN or infinity; look for them in the rows, or in the kernel function."
        )
    size = np.abs(K).max(initial=0.0)
    rounding = 1e-12 * max(size, np.finfo(float).tiny)
    gap = np.abs(K - K.T)
    if gap.max(initial=0.0) > rounding:
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        return Verdict("no", f"K is not symmetric: K[{i}, {j}] = {K[i, j]:g} and K[{j}, {i}] = {K[j, i]:g}")
    if not len(K):
        return Verdict("yes", "there are no points")
    with single_blas():
        values, vectors = np.linalg.eigh(K)
    if values[0] < -10 * len(K) * np.finfo(float).eps * np.abs(values).max() - rounding:
        return Verdict("no", f"the smallest eigenvalue is {values[0]:.6g}", float(values[0]), vectors[:, 0])
    return Verdict(
        "yes",
        f"the smallest eigenvalue is {values[0]:.6g}, 0 up to rounding"
        if values[0] < 0
        else "no eigenvalue is negative",
    )


def is_kernel(k: Any, X: Any = None, *, n_features: int = 3, random_state: Any = 0) -> Verdict:
    """Return whether `k` is a kernel: positive semidefinite on any points.

    A kernel built from known ones by the rules of the algebra is one: "yes". Of others the matrix on points is
    computed: a negative eigenvalue is a proof of "no"; if there is none, the answer is "don't know". A matrix is
    decided for its own points.

    Parameters
    ----------
    k : Kernel, callable or array-like of shape (n, n)
        A kernel, a function of two rows, or a square matrix.
    X : array-like of shape (n_samples, n_features) or None, default=None
        Points to try; None: random ones, at several scales.
    n_features : int, default=3
        How many columns random points have.
    random_state : int, RandomState, Generator or None, default=0
        Where random points come from. Pass another integer to try other points.

    Returns
    -------
    Verdict
        "yes", "no" with a proof, or "don't know".

    See Also
    --------
    is_positive_semidefinite : The same of a matrix.
    FromFunction : A kernel from a function of two rows.

    Examples
    --------
    >>> from learnt.kernels import RBF, Linear, is_kernel
    >>> print(is_kernel(2 * RBF(1.0) + Linear()))
    yes: it is built from kernels by rules that keep them positive semidefinite
    >>> print(is_kernel(lambda x, z: float(abs(x - z).sum()), [[0.0], [1.0]]))
    no: the smallest eigenvalue is -1
    """
    if not (is_kernel_object(k) or callable(k)):
        return is_positive_semidefinite(k)
    if isinstance(k, Kernel) and k.proven:
        return Verdict("yes", "it is built from kernels by rules that keep them positive semidefinite")
    kernel = k if is_kernel_object(k) else FromFunction(k)
    random = generator(random_state)
    if X is None:
        tried = [10.0**scale * random.normal(size=(_POINTS, n_features)) for scale in np.linspace(-1, 1, _TRIES)]
        tried = [np.abs(points) for points in tried] if _needs_counts(kernel, tried[0]) else tried
    else:
        tried = [np.asarray(to_numpy(X), dtype=np.float64)]
    for points in tried:
        verdict = is_positive_semidefinite(gram(kernel, points))
        if verdict.answer == "no":
            return Verdict("no", verdict.reason, verdict.eigenvalue, verdict.direction, points)
    n = sum(len(points) for points in tried)
    return Verdict("don't know", f"no negative eigenvalue on {n} points, which proves nothing about others")


def _needs_counts(kernel: Any, points: np.ndarray) -> bool:
    try:
        gram(kernel, points[:2])
    except ValueError:
        return True
    return False


def require_psd(K: Any, what: str) -> None:
    """Raise where a matrix is not positive semidefinite, with its smallest eigenvalue.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The matrix.
    what : str
        What it is called in the message.

    Raises
    ------
    ValueError
        Where it has a negative eigenvalue, or is not symmetric.

    See Also
    --------
    is_positive_semidefinite : Answers instead of raising.

    Examples
    --------
    >>> require_psd([[1.0, 2.0], [2.0, 1.0]], "The matrix A")
    Traceback (most recent call last):
    ValueError: The matrix A is not positive semidefinite: the smallest eigenvalue is -1; see learnt.kernels.is_kernel.
    """
    verdict = is_positive_semidefinite(K)
    if not verdict:
        raise ValueError(f"{what} is not positive semidefinite: {verdict.reason}; see learnt.kernels.is_kernel.")


def sample_places(n: int) -> np.ndarray:
    """Return some of n rows, evenly spread, for `warn_unless_positive`.

    Parameters
    ----------
    n : int
        How many rows there are.

    Returns
    -------
    ndarray of shape (at most 200,)
        Places of rows, rising; all of them where there are no more than 200.

    See Also
    --------
    warn_unless_positive : Checks the kernel on these rows.

    Examples
    --------
    >>> sample_places(4).tolist(), len(sample_places(10_000))
    ([0, 1, 2, 3], 200)
    """
    return np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp))


def warn_unless_positive(K: Any, places: np.ndarray, name: str, stacklevel: int = 3) -> None:
    """Warn that a kernel is not positive semidefinite, where its matrix on the rows `places` proves it.

    For kernels that are not positive semidefinite by construction. A fit still ends with a negative eigenvalue, in a
    minimum that may not be the least one, so that it is a warning; without symmetry there is nothing to minimise.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The kernel matrix of these rows.
    places : ndarray of shape (n,)
        Where the rows are in their table, for the message.
    name : str
        What the kernel belongs to, for the message.
    stacklevel : int, default=3
        How many calls up the warning is shown to come from.

    Raises
    ------
    ValueError
        Where K is not symmetric, or holds NaN or infinity.

    See Also
    --------
    sample_places : Which rows to take.
    is_kernel : Tells of any kernel.

    Examples
    --------
    >>> warn_unless_positive(np.eye(3), sample_places(3), "SVC")  # fine: says nothing
    """
    K = np.asarray(K, dtype=np.float64)
    if not np.isfinite(K).all():
        raise ValueError(
            f"The kernel of {name} gave NaN or infinity; look for them in the rows, or in the kernel function."
        )
    gap, clearly = np.abs(K - K.T), _CLEARLY * np.abs(K).max(initial=0.0)
    if gap.max(initial=0.0) > clearly:
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"The kernel of {name} is not symmetric: {K[i, j]:g} for rows {places[i]} and {places[j]}, {K[j, i]:g} for "
            "the same rows the other way round; give one that is the same both ways."
        )
    verdict = is_positive_semidefinite((K + K.T) / 2)
    if verdict.eigenvalue is not None and verdict.eigenvalue < -clearly:
        warnings.warn(
            f"The kernel of {name} is not positive semidefinite: on {len(places)} of the rows {verdict.reason}; the "
            "fit may not be the best one, so take another kernel (learnt.kernels.is_kernel tells of any).",
            stacklevel=stacklevel + 1,
        )
