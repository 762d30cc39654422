"""The path of least angle regression as functions of arrays: of X and y, or of their products."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from learnt.engine.params import ParameterError
from learnt.linalg.pursuit import KnownRows
from learnt.linear_model.lars._path import Options, follow_path, warn_irregular
from learnt.linear_model.pursuit._gram import make_problem

_EPS = float(np.finfo(float).eps)


def lars_path(
    X: Any,
    y: Any,
    Xy: Any = None,
    *,
    Gram: Any = None,
    max_iter: float = 500,
    alpha_min: float = 0,
    method: str = "lar",
    copy_X: bool = True,
    eps: Any = _EPS,
    copy_Gram: bool = True,
    verbose: bool | int = 0,
    return_path: bool = True,
    return_n_iter: bool = False,
    positive: bool = False,
) -> Any:
    """The path of least angle regression, or of the lasso:  min over w of  1/(2n) ‖y − Xw‖² + α‖w‖₁  at every α.

    Coefficients are linear in α between the bends that are returned. There is no intercept: centre X and y first.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows, with centred columns.
    y : array-like of shape (n_samples,)
        The number to predict for each row, centred.
    Xy : array-like of shape (n_features,), default=None
        Xᵀy, where it is known already.
    Gram : None, bool, "auto" or array-like of shape (n_features, n_features), default=None
        XᵀX, where it is known already. True computes all of it first, None and False only the rows of it that are
        needed, "auto" whichever is less work.
    max_iter : int, default=500
        The most bends; `numpy.inf` for no limit.
    alpha_min : float, default=0
        The α at which the path ends: a larger one stops earlier, at more regularisation.
    method : {"lar", "lasso"}, default="lar"
        "lar" is least angle regression; with "lasso" a column whose coefficient reaches 0 leaves.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    eps : float, default=2.2e-16
        From 1e-7 on, columns in the span of those in use are no longer left out: they enter with this as the pivot of
        the Cholesky factor. Smaller values change nothing.
    copy_Gram : bool, default=True
        Kept for scikit-learn's signature: Gram is never changed.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    return_path : bool, default=True
        Whether to return all bends, and not only the last.
    return_n_iter : bool, default=False
        Whether to return the number of steps too.
    positive : bool, default=False
        Keep coefficients at 0 or more; for the lasso only.

    Returns
    -------
    alphas : ndarray of shape (n_bends,) or (1,)
        The α of each bend, falling.
    active : list of int
        The columns in use at the end, in the order they came.
    coefs : ndarray of shape (n_features, n_bends) or (n_features,)
        The coefficients at each bend, or the last ones without `return_path`.
    n_iter : int
        With `return_n_iter`: the number of steps.

    See Also
    --------
    lars_path_gram : The same from XᵀX and Xᵀy alone.
    lasso_path : The lasso on a grid of penalties, by coordinate descent.
    Lars : Least angle regression as an estimator.
    LassoLars : The lasso by its path as an estimator.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, "Least Angle Regression", Annals of Statistics 32(2),
           2004.

    Examples
    --------
    >>> import numpy as np
    >>> alphas, active, coefs = lars_path(np.eye(2), np.array([4.0, 2.0]), method="lasso")
    >>> alphas, active
    (array([2., 1., 0.]), [0, 1])
    >>> coefs
    array([[0., 2., 4.],
           [0., 0., 2.]])
    """
    if X is None:
        raise ValueError(
            "X and Gram cannot both be unspecified: pass the rows."
            if Gram is None
            else "X cannot be None if Gram is not None: where only XᵀX and Xᵀy are known, use lars_path_gram."
        )
    dtype = np.result_type(*{np.asarray(a).dtype for a in (X, y, Xy) if a is not None}, np.float32)
    X = check_array(X, dtype=[np.float64, np.float32])
    y = check_array(y, dtype=np.float64, ensure_2d=False).ravel()
    if len(y) != len(X):
        raise ValueError(f"X has {len(X)} rows but y has {len(y)}; pass one number for every row of X.")
    options = _options(method, positive, alpha_min, max_iter, eps, return_path)
    known = Gram is not None and not isinstance(Gram, str | bool | np.bool_)
    problem = make_problem(X, y, False, False if known or Gram is None else Gram, None)
    source = KnownRows(square_of(Gram, X.shape[1])) if known else problem.source
    start = problem.starts[0] if Xy is None else np.asarray(Xy, dtype=np.float64).ravel()
    return _returned(source, start, len(X), options, dtype, return_n_iter, "lars_path")


def lars_path_gram(
    Xy: Any,
    Gram: Any,
    *,
    n_samples: int,
    max_iter: float = 500,
    alpha_min: float = 0,
    method: str = "lar",
    copy_X: bool = True,
    eps: Any = _EPS,
    copy_Gram: bool = True,
    verbose: bool | int = 0,
    return_path: bool = True,
    return_n_iter: bool = False,
    positive: bool = False,
) -> Any:
    """The path of least angle regression from products alone: Xy = Xᵀy and Gram = XᵀX.

    For rows that are too many to keep, or whose products are known already.

    Parameters
    ----------
    Xy : array-like of shape (n_features,)
        Xᵀy of centred X and y.
    Gram : array-like of shape (n_features, n_features)
        XᵀX of centred X.
    n_samples : int
        The number of rows, by which penalties are divided.
    max_iter : int, default=500
        The most bends; `numpy.inf` for no limit.
    alpha_min : float, default=0
        The α at which the path ends: a larger one stops earlier, at more regularisation.
    method : {"lar", "lasso"}, default="lar"
        "lar" is least angle regression; with "lasso" a column whose coefficient reaches 0 leaves.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    eps : float, default=2.2e-16
        From 1e-7 on, columns in the span of those in use are no longer left out: they enter with this as the pivot of
        the Cholesky factor. Smaller values change nothing.
    copy_Gram : bool, default=True
        Kept for scikit-learn's signature: Gram is never changed.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    return_path : bool, default=True
        Whether to return all bends, and not only the last.
    return_n_iter : bool, default=False
        Whether to return the number of steps too.
    positive : bool, default=False
        Keep coefficients at 0 or more; for the lasso only.

    Returns
    -------
    alphas : ndarray of shape (n_bends,) or (1,)
        The α of each bend, falling.
    active : list of int
        The columns in use at the end, in the order they came.
    coefs : ndarray of shape (n_features, n_bends) or (n_features,)
        The coefficients at each bend, or the last ones without `return_path`.
    n_iter : int
        With `return_n_iter`: the number of steps.

    See Also
    --------
    lars_path : The same from X and y.
    Lars : Least angle regression as an estimator.
    LassoLars : The lasso by its path as an estimator.
    orthogonal_mp_gram : Columns chosen greedily, from the same products.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, "Least Angle Regression", Annals of Statistics 32(2),
           2004.

    Examples
    --------
    >>> import numpy as np
    >>> lars_path_gram(np.array([4.0, 2.0]), np.eye(2), n_samples=2)[0]
    array([2., 1., 0.])
    """
    dtype = np.result_type(np.asarray(Xy).dtype, np.asarray(Gram).dtype, np.float32)
    start = check_array(Xy, dtype=np.float64, ensure_2d=False).ravel()
    if isinstance(n_samples, bool) or not n_samples > 0:
        raise ParameterError(f"n_samples must be a number above 0, the rows of X; it is {n_samples!r}.")
    options = _options(method, positive, alpha_min, max_iter, eps, return_path)
    source = KnownRows(square_of(Gram, len(start)))
    return _returned(source, start, n_samples, options, dtype, return_n_iter, "lars_path_gram")


def square_of(Gram: Any, d: int) -> np.ndarray:
    """A Gram matrix that was given, checked."""
    Q = check_array(Gram, dtype=np.float64)
    if Q.shape != (d, d):
        raise ValueError(
            f"The shapes of the inputs Gram and Xy do not match: Gram has the shape {Q.shape} instead of {(d, d)}."
        )
    return Q


def _options(method: Any, positive: bool, alpha_min: Any, max_iter: Any, eps: Any, keep: bool) -> Options:
    if method not in ("lar", "lasso"):
        raise ParameterError(f"method must be 'lar' or 'lasso'; it is {method!r}.")
    if method == "lar" and positive:
        raise ValueError("Positive constraint not supported for 'lar' coding method; use method='lasso'.")
    for name, value in (("alpha_min", alpha_min), ("max_iter", max_iter)):
        if isinstance(value, bool) or not np.isreal(value) or not value >= 0:
            raise ParameterError(f"{name} must be a number of at least 0; it is {value!r}.")
    return Options(method == "lasso", bool(positive), float(alpha_min), max_iter, 0.0 if eps is None else eps, keep)


def _returned(
    source: Any, start: np.ndarray, n: float, options: Options, dtype: Any, return_n_iter: bool, name: str
) -> tuple:
    if start.shape != source.where.shape:
        raise ValueError(f"Xy has the shape {start.shape} instead of {source.where.shape}, one number a column of X.")
    path = follow_path(source, start, n, options)
    warn_irregular([path], name)
    coefs = path.coefs.T.astype(dtype) if options.keep else path.coefs[0].astype(dtype)
    alphas = (path.alphas if options.keep else path.alphas[-1:]).astype(dtype)
    found = (alphas, path.active, coefs)
    return (*found, path.n_iter) if return_n_iter else found
