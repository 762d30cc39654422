"""Orthogonal matching pursuit as functions of arrays: of X and y, or of their products."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_array

from learnt.engine.params import ParameterError
from learnt.linalg.pursuit import Codes, KnownRows, solve
from learnt.linear_model.pursuit._gram import make_problem


def warn_spent(codes: Codes, limit: int, tol: float | None) -> None:
    """One warning for all targets that ended before the columns or the error wanted were reached."""
    if not codes.spent.any():
        return
    fewest = int(codes.n_iter[codes.spent].min())
    aim = f"{limit} columns" if tol is None else f"a squared residual of {tol:g}"
    warnings.warn(
        "Orthogonal matching pursuit ended prematurely due to linear dependence in the dictionary. The requested "
        "precision might not have been met. It ended "
        f"for {int(codes.spent.sum())} of {len(codes.spent)} targets, after {fewest} columns, where the aim was {aim}: "
        "no other column explains more of y; ask for fewer columns (n_nonzero_coefs) or allow more error (tol).",
        RuntimeWarning,
        stacklevel=3,
    )


def most_atoms(n_nonzero_coefs: Any, tol: Any, d: int) -> int | None:
    """How many columns may be used: None where `tol` decides, a tenth of them by default."""
    if tol is not None:
        if not np.isreal(tol) or tol < 0:
            raise ParameterError(f"tol must be a number of at least 0 or None; it is {tol!r}.")
        return None
    if n_nonzero_coefs is None:
        return max(d // 10, 1)
    if isinstance(n_nonzero_coefs, bool) or int(n_nonzero_coefs) != n_nonzero_coefs or n_nonzero_coefs < 1:
        raise ParameterError(f"n_nonzero_coefs must be a whole number of at least 1 or None; it is {n_nonzero_coefs}.")
    if n_nonzero_coefs > d:
        raise ValueError(
            f"The number of atoms cannot be more than the number of features: n_nonzero_coefs={n_nonzero_coefs} and "
            f"there are {d} columns."
        )
    return int(n_nonzero_coefs)


def orthogonal_mp(
    X: Any,
    y: Any,
    *,
    n_nonzero_coefs: int | None = None,
    tol: float | None = None,
    precompute: Any = False,
    copy_X: bool = True,
    return_path: bool = False,
    return_n_iter: bool = False,
    positive: bool = False,
) -> Any:
    """Orthogonal matching pursuit:  min ‖y − Xw‖²  with at most `n_nonzero_coefs` entries of w not 0, greedily.

    For sparse coding of signals y in a dictionary X. There is no intercept: centre X and y first.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Columns should have equal norms: the one with the largest product with the residual is taken next.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        What is to be made of few columns; each of several targets has its own.
    n_nonzero_coefs : int or None, default=None
        How many columns to take; a tenth of them (at least one) where neither this nor `tol` is given.
    tol : float or None, default=None
        Take columns until ‖y − Xw‖² is at most this; `n_nonzero_coefs` is then not looked at.
    precompute : bool or "auto", default=False
        Whether to compute all of XᵀX first, which is quicker for many targets; "auto" where it is less work.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    return_path : bool, default=False
        Whether to return the coefficients after every step, in the last axis, and not only the last.
    return_n_iter : bool, default=False
        Whether to return the number of columns taken too.
    positive : bool, default=False
        Keep all coefficients at 0 or more.

    Returns
    -------
    coef : ndarray of shape (n_features,) or (n_features, n_targets)
        The coefficients; with another axis of steps where `return_path`.
    n_iters : int or list of int
        With `return_n_iter`: the number of columns taken, for each target.

    See Also
    --------
    OrthogonalMatchingPursuit : The same as an estimator, with an intercept and predictions.
    orthogonal_mp_gram : The same from XᵀX and Xᵀy alone.
    lars_path : A path of coefficients that grow a little at a time.

    Notes
    -----
    Each step takes the column with the largest product with the residual, and fits all columns taken so far again, by
    one more row of a Cholesky factor. A step costs O(n d) for n rows and d columns, or O(d k) with k columns taken once
    XᵀX is known. Columns should have equal norms (`StandardScaler`), since they compete by their products.

    References
    ----------
    .. [1] S. Mallat and Z. Zhang, "Matching Pursuits with Time-Frequency Dictionaries", IEEE Transactions on Signal
           Processing 41(12), 1993.
    .. [2] Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, "Orthogonal Matching Pursuit: Recursive Function
           Approximation with Applications to Wavelet Decomposition", Asilomar Conference on Signals, Systems and
           Computers, 1993.

    Examples
    --------
    >>> import numpy as np
    >>> orthogonal_mp(np.eye(3), np.array([1.0, -5.0, 2.0]), n_nonzero_coefs=2)
    array([ 0., -5.,  2.])
    """
    X = check_array(X, dtype=[np.float64, np.float32])
    Y = check_array(np.asarray(y)[:, None] if np.ndim(y) == 1 else y, dtype=np.float64)
    if len(Y) != len(X):
        raise ValueError(f"X has {len(X)} rows but y has {len(Y)}; pass one row of targets for every row of X.")
    atoms = most_atoms(n_nonzero_coefs, tol, X.shape[1])
    limit = min(X.shape) if atoms is None else atoms
    problem = make_problem(X, Y, False, precompute, atoms)
    codes = solve(problem.source, problem.starts, problem.energies, limit, tol, positive, return_path)
    warn_spent(codes, limit, tol)
    return _as_returned(codes, X.dtype, return_path, return_n_iter)


def orthogonal_mp_gram(
    Gram: Any,
    Xy: Any,
    *,
    n_nonzero_coefs: int | None = None,
    tol: float | None = None,
    norms_squared: Any = None,
    copy_Gram: bool = True,
    copy_Xy: bool = True,
    return_path: bool = False,
    return_n_iter: bool = False,
    positive: bool = False,
) -> Any:
    """Orthogonal matching pursuit from products alone: Gram = XᵀX and Xy = Xᵀy.

    For many signals in one dictionary, or rows that are too many to keep.

    Parameters
    ----------
    Gram : array-like of shape (n_features, n_features)
        XᵀX, of columns that should have equal norms.
    Xy : array-like of shape (n_features,) or (n_features, n_targets)
        Xᵀy, a column for each target.
    n_nonzero_coefs : int or None, default=None
        How many columns to take; a tenth of them (at least one) where neither this nor `tol` is given.
    tol : float or None, default=None
        Take columns until ‖y − Xw‖² is at most this; `n_nonzero_coefs` is then not looked at.
    norms_squared : array-like of shape (n_targets,) or None, default=None
        The ‖y‖²; needed where `tol` is given.
    copy_Gram : bool, default=True
        Kept for scikit-learn's signature: Gram is never changed.
    copy_Xy : bool, default=True
        Kept for scikit-learn's signature: Xy is never changed.
    return_path : bool, default=False
        Whether to return the coefficients after every step, in the last axis, and not only the last.
    return_n_iter : bool, default=False
        Whether to return the number of columns taken too.
    positive : bool, default=False
        Keep all coefficients at 0 or more.

    Returns
    -------
    coef : ndarray of shape (n_features,) or (n_features, n_targets)
        The coefficients; with another axis of steps where `return_path`.
    n_iters : int or list of int
        With `return_n_iter`: the number of columns taken, for each target.

    See Also
    --------
    orthogonal_mp : The same from X and y.
    OrthogonalMatchingPursuit : The same as an estimator.
    lars_path_gram : Least angle regression from the same products.

    Notes
    -----
    Each step takes the column with the largest product with the residual, and fits all columns taken so far again, by
    one more row of a Cholesky factor. A step costs O(n d) for n rows and d columns, or O(d k) with k columns taken once
    XᵀX is known. Columns should have equal norms (`StandardScaler`), since they compete by their products.

    References
    ----------
    .. [1] S. Mallat and Z. Zhang, "Matching Pursuits with Time-Frequency Dictionaries", IEEE Transactions on Signal
           Processing 41(12), 1993.
    .. [2] Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, "Orthogonal Matching Pursuit: Recursive Function
           Approximation with Applications to Wavelet Decomposition", Asilomar Conference on Signals, Systems and
           Computers, 1993.

    Examples
    --------
    >>> import numpy as np
    >>> orthogonal_mp_gram(np.eye(3), np.array([1.0, -5.0, 2.0]), n_nonzero_coefs=2)
    array([ 0., -5.,  2.])
    """
    G = check_array(Gram, dtype=[np.float64, np.float32])
    if G.shape[0] != G.shape[1]:
        raise ValueError(f"Gram must be a square matrix, XᵀX; it has the shape {G.shape}.")
    products = np.asarray(Xy, dtype=np.float64)
    starts = np.ascontiguousarray(products[None, :] if products.ndim == 1 else products.T)
    if starts.shape[1] != len(G):
        raise ValueError(f"Gram has {len(G)} rows but Xy has {starts.shape[1]}; they must be of the same X.")
    atoms = most_atoms(n_nonzero_coefs, tol, len(G))
    source = KnownRows(G)
    if norms_squared is not None:
        energies = np.broadcast_to(np.asarray(norms_squared, dtype=np.float64), (len(starts),)).copy()
    elif tol is not None:
        raise ValueError("Gram OMP needs the squared norms of y to know the error: pass norms_squared, or leave tol.")
    else:  # the energy explained by one column is a lower bound of ‖y‖², of which only the magnitude matters
        some = source.square > 0
        energies = (starts[:, some] ** 2 / source.square[some]).max(axis=1, initial=0.0)
    codes = solve(source, starts, energies, len(G) if atoms is None else atoms, tol, positive, return_path)
    warn_spent(codes, len(G) if atoms is None else atoms, tol)
    return _as_returned(codes, G.dtype, return_path, return_n_iter)


def _as_returned(codes: Codes, dtype: Any, path: bool, n_iter: bool) -> Any:
    """In scikit-learn's axes: features, targets (if several), steps (if asked for)."""
    coef = np.moveaxis(codes.path, 2, 0) if path and codes.path is not None else codes.coef.T
    coef = np.ascontiguousarray(coef[:, 0] if coef.shape[1] == 1 else coef, dtype=dtype)
    counts = codes.n_iter.tolist()
    return (coef, counts[0] if len(counts) == 1 else counts) if n_iter else coef
