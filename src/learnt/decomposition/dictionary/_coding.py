"""Sparse coding: every row as a combination of few atoms of a given dictionary."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from learnt.decomposition.dictionary._kernels import lasso_codes, least_angle_codes
from learnt.engine.params import ParameterError
from learnt.engine.threads import for_blocks, single_blas
from learnt.linalg.pursuit import KnownRows, solve

ALGORITHMS = ("lasso_lars", "lasso_cd", "lars", "omp", "threshold")
_CELLS = 1 << 16  # codes a task


def sparse_encode(
    X: Any,
    dictionary: Any,
    *,
    gram: Any = None,
    cov: Any = None,
    algorithm: str = "lasso_lars",
    n_nonzero_coefs: int | None = None,
    alpha: float | None = None,
    copy_cov: bool = True,
    init: Any = None,
    max_iter: int = 1000,
    n_jobs: int | None = None,
    check_input: bool = True,
    verbose: int = 0,
    positive: bool = False,
) -> np.ndarray:
    """Codes with few entries that are not 0, such that X ≈ code @ dictionary.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows to code.
    dictionary : array-like of shape (n_components, n_features)
        One atom a row; of norm 1 for "omp", "lars" and "threshold" to mean what they should.
    gram : array-like of shape (n_components, n_components) or None, default=None
        dictionary @ dictionary.T, where it is known already.
    cov : array-like of shape (n_components, n_samples) or None, default=None
        dictionary @ X.T, where it is known already.
    algorithm : {"lasso_lars", "lasso_cd", "lars", "omp", "threshold"}, default="lasso_lars"
        How codes are found. The two lassos both give  min ½‖x − wD‖² + alpha‖w‖₁,  exactly: coordinate descent, then an
        active set; "lars" is least angle regression and "omp" orthogonal matching pursuit with `n_nonzero_coefs` atoms;
        "threshold" shrinks the products with the atoms by `alpha`, the quickest and least exact.
    n_nonzero_coefs : int or None, default=None
        How many atoms make up a row, for "lars" and "omp"; None is a tenth of the number of columns.
    alpha : float or None, default=None
        Regularisation strength of the lassos, and threshold of "threshold"; None is 1. The larger, the sparser the
        codes.
    copy_cov : bool, default=True
        Kept for scikit-learn's signature: `cov` is left as it is either way.
    init : array-like of shape (n_samples, n_components) or None, default=None
        Codes that coordinate descent starts from; None is 0.
    max_iter : int, default=1000
        The most sweeps over the atoms and changes of the active set; raise it after a convergence warning.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    check_input : bool, default=True
        Kept for scikit-learn's signature: what is passed is checked in any case.
    verbose : int, default=0
        Kept for scikit-learn's signature, and without effect.
    positive : bool, default=False
        Whether to keep all entries at 0 or more; not for "lars".

    Returns
    -------
    code : ndarray of shape (n_samples, n_components)
        How much of each atom is in every row.

    See Also
    --------
    SparseCoder : The same as an estimator.
    DictionaryLearning : Learns the atoms too.
    learnt.linear_model.Lasso : The lasso of one target, with an intercept.

    Examples
    --------
    >>> import numpy as np
    >>> D = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> sparse_encode([[3.0, 4.0], [0.0, 2.0]], D, algorithm="omp", n_nonzero_coefs=1)
    array([[0., 0., 5.],
           [0., 2., 0.]])
    """
    if algorithm not in ALGORITHMS:
        raise ParameterError(f"algorithm must be one of {', '.join(map(repr, ALGORITHMS))}; it is {algorithm!r}.")
    dictionary = check_array(dictionary, dtype=[np.float64, np.float32])
    X = check_array(X, dtype=[np.float64, np.float32])
    if dictionary.shape[1] != X.shape[1]:
        raise ValueError(
            f"Dictionary and X have different numbers of features: {dictionary.shape[1]} and {X.shape[1]}."
        )
    return encode(
        X, dictionary, algorithm, n_nonzero_coefs, alpha, init=init, max_iter=max_iter, positive=positive, gram=gram,
        products=None if cov is None else np.asarray(cov).T, n_jobs=n_jobs,
    )  # fmt: skip


def encode(
    X: np.ndarray,
    dictionary: np.ndarray,
    algorithm: str,
    n_nonzero_coefs: int | None,
    alpha: float | None,
    *,
    init: Any = None,
    max_iter: int = 1000,
    positive: bool = False,
    gram: Any = None,
    products: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """`sparse_encode` of what has been checked, in blocks of rows on all threads."""
    if positive and algorithm == "lars":
        raise ValueError("Positive constraint not supported for 'lars' coding method; use 'lasso_lars' or 'omp'.")
    n, size = X.shape[0], dictionary.shape[0]
    D = dictionary.astype(np.float64, copy=False)
    with single_blas():
        G = np.ascontiguousarray(D @ D.T if gram is None else gram, dtype=np.float64)
    penalty = 1.0 if alpha is None else float(alpha)
    limit = min(max(X.shape[1] // 10, 1), size) if n_nonzero_coefs is None else int(n_nonzero_coefs)
    if algorithm in ("lars", "omp") and limit > size:
        raise ValueError(f"n_nonzero_coefs={limit} atoms were asked for, but the dictionary has {size}.")
    code = np.zeros((n, size)) if init is None else np.array(init, dtype=np.float64, order="C")
    if code.shape != (n, size):
        raise ValueError(f"init has the shape {code.shape} instead of {(n, size)}, one row for each row of X.")
    gaps = np.zeros(n)
    known = KnownRows(G) if algorithm == "omp" else None

    def work(lo: int, hi: int) -> None:
        block = X[lo:hi].astype(np.float64, copy=False)
        b = block @ D.T if products is None else np.ascontiguousarray(products[lo:hi], dtype=np.float64)
        if algorithm == "threshold":
            np.multiply(np.sign(b), np.maximum(np.abs(b) - penalty, 0.0), out=code[lo:hi])
            if positive:
                np.maximum(code[lo:hi], 0.0, out=code[lo:hi])
        elif algorithm == "omp":
            energies = np.einsum("ij,ij->i", block, block)
            code[lo:hi] = solve(known, b, energies, limit, None, positive, False).coef
        else:
            g, sign, solution = np.empty(size), np.empty(size), np.empty(size)
            support, factor = np.empty(size, dtype=np.int64), np.empty((size, size))
            if algorithm == "lars":
                along, inside = np.empty(size), np.empty(size, dtype=np.int64)
                least_angle_codes(G, b, limit, g, sign, support, factor, solution, along, inside, code[lo:hi])
            else:
                done = np.empty(hi - lo, dtype=np.int64)
                lasso_codes(G, b, penalty, max_iter, positive, g, sign, support, factor, solution, code[lo:hi], done)
                far = np.flatnonzero(done == 0)
                gaps[lo + far] = _gaps(block[far], b[far], code[lo:hi][far], G, penalty, positive)

    for_blocks(work, n, grain=max(16, _CELLS // size), n_jobs=n_jobs)
    _warn(gaps, max_iter)
    return code.astype(X.dtype, copy=False)


def _gaps(X: np.ndarray, b: np.ndarray, W: np.ndarray, G: np.ndarray, alpha: float, positive: bool) -> np.ndarray:
    """Duality gaps of ½‖x − wD‖² + α‖w‖₁ as shares of ‖x‖²."""
    energy = np.einsum("ij,ij->i", X, X)
    g = b - W @ G
    along = np.einsum("ij,ij->i", W, b)
    left = np.maximum(energy - along - np.einsum("ij,ij->i", W, g), 0.0)
    largest = np.maximum((g if positive else np.abs(g)).max(axis=1, initial=0.0), alpha)
    scale = np.divide(alpha, largest, out=np.ones_like(largest), where=largest > 0)
    gap = 0.5 * left + alpha * np.abs(W).sum(axis=1) - scale * (energy - along) + 0.5 * scale**2 * left
    return np.divide(gap, energy, out=np.zeros_like(gap), where=energy > 0)


def _warn(gaps: np.ndarray, max_iter: int) -> None:
    far = gaps > 1e-6  # share of ‖x‖²: below that it is rounding error
    if far.any():
        warnings.warn(
            f"{int(far.sum())} of {len(gaps)} codes did not converge in {max_iter} rounds; the objective of the worst "
            f"may be {gaps.max():.2g} ‖x‖² too high; raise max_iter (transform_max_iter) or alpha.",
            ConvergenceWarning,
            stacklevel=4,
        )
