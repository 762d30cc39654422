"""`lasso_path` and `enet_path`: coefficients at every penalty of a grid."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from learnt.engine.matrices import dense
from learnt.engine.threads import single_blas
from learnt.linear_model.coordinate._path import make_problem, penalty_grid, solve_path, unpacked
from learnt.linear_model.coordinate._problem import Products

_OTHERS = ("X_offset", "X_scale", "sample_weight", "random_state", "selection", "do_screening")


def lasso_path(
    X: Any,
    y: Any,
    *,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: Any = "warn",
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: bool | int = False,
    return_n_iter: bool = False,
    positive: bool = False,
    **params: Any,
) -> Any:
    """The lasso at every penalty of a grid:  min over w of  1/(2n) ‖y − Xw‖² + α‖w‖₁.

    To plot how coefficients come in one after the other as the regularisation weakens, or to choose a penalty by a rule
    of your own.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows, with centred columns.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The number to predict for each row, centred; or several.
    eps : float, default=1e-3
        The smallest penalty of the grid, as a share of the largest, which is the least that makes all coefficients 0.
    n_alphas : int, default="deprecated"
        Deprecated; kept for scikit-learn's signature: `alphas=n` says the same.
    alphas : int or array-like of shape (n_alphas,), default=100
        The number of penalties, spaced evenly in their logarithms, or the penalties themselves.
    precompute : bool, "auto" or array-like of shape (n_features, n_features), default="auto"
        XᵀX, where it is known already; otherwise the shape of X decides which inner products are computed.
    Xy : array-like of shape (n_features,) or (n_features, n_targets), default=None
        Xᵀy, where it is known; used with an array for `precompute`.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    coef_init : array-like of shape (n_features,) or (n_targets, n_features), default=None
        The coefficients to start from at the largest penalty; None for zeros.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.
    return_n_iter : bool, default=False
        Whether to return the number of sweeps too.
    positive : bool, default=False
        Keep coefficients at 0 or more; for one target only.
    **params : dict
        `tol`, the duality gap to reach relative to ‖y‖²/n (1e-4), and `max_iter`, the most sweeps for each penalty
        (1000). `selection`, `random_state` and others that scikit-learn takes change nothing.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The penalties, falling.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        The coefficients at each penalty.
    dual_gaps : ndarray of shape (n_alphas,)
        How far each objective is above its minimum at most.
    n_iters : list of int
        With `return_n_iter`: sweeps for each penalty.

    See Also
    --------
    Lasso : One penalty, as an estimator.
    LassoCV : Chooses the penalty by cross-validation.
    enet_path : The same for the elastic net.
    lars_path : The exact path, by its bends.

    Notes
    -----
    Coordinate descent, from the largest penalty to the smallest, each solution starting from the one before. There is
    no intercept: centre X and y first. Where y has several columns, the targets share their columns of X: a column has
    a coefficient for all of them or for none.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> alphas, coefs, gaps = lasso_path(X, np.array([4.0, 2.0]), alphas=[1.5, 0.5])
    >>> coefs
    array([[1., 3.],
           [0., 1.]])
    """
    return enet_path(
        X,
        y,
        l1_ratio=1.0,
        eps=eps,
        n_alphas=n_alphas,
        alphas=alphas,
        precompute=precompute,
        Xy=Xy,
        copy_X=copy_X,
        coef_init=coef_init,
        verbose=verbose,
        return_n_iter=return_n_iter,
        positive=positive,
        **params,
    )


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: Any = "warn",
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: bool | int = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    **params: Any,
) -> Any:
    """The elastic net at every penalty:  min over w of  1/(2n) ‖y − Xw‖² + α (ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²).

    To plot how coefficients come in one after the other as the regularisation weakens, or to choose a penalty by a rule
    of your own.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows, with centred columns.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The number to predict for each row, centred; or several.
    l1_ratio : float, default=0.5
        ρ, the share of the absolute in the penalty, between 0 and 1: 1 is the lasso. 0 needs penalties listed in
        `alphas`.
    eps : float, default=1e-3
        The smallest penalty of the grid, as a share of the largest, which is the least that makes all coefficients 0.
    n_alphas : int, default="deprecated"
        Deprecated; kept for scikit-learn's signature: `alphas=n` says the same.
    alphas : int or array-like of shape (n_alphas,), default=100
        The number of penalties, spaced evenly in their logarithms, or the penalties themselves.
    precompute : bool, "auto" or array-like of shape (n_features, n_features), default="auto"
        XᵀX, where it is known already; otherwise the shape of X decides which inner products are computed.
    Xy : array-like of shape (n_features,) or (n_features, n_targets), default=None
        Xᵀy, where it is known; used with an array for `precompute`.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    coef_init : array-like of shape (n_features,) or (n_targets, n_features), default=None
        The coefficients to start from at the largest penalty; None for zeros.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.
    return_n_iter : bool, default=False
        Whether to return the number of sweeps too.
    positive : bool, default=False
        Keep coefficients at 0 or more; for one target only.
    check_input : bool, default=True
        Kept for scikit-learn's signature: what is passed is checked in any case.
    **params : dict
        `tol`, the duality gap to reach relative to ‖y‖²/n (1e-4), and `max_iter`, the most sweeps for each penalty
        (1000). `selection`, `random_state` and others that scikit-learn takes change nothing.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The penalties, falling.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        The coefficients at each penalty.
    dual_gaps : ndarray of shape (n_alphas,)
        How far each objective is above its minimum at most.
    n_iters : list of int
        With `return_n_iter`: sweeps for each penalty.

    See Also
    --------
    ElasticNet : One penalty, as an estimator.
    ElasticNetCV : Chooses the penalty by cross-validation.
    MultiTaskElasticNet : The model that is fitted where y has several columns.
    lasso_path : The same for the lasso.

    Notes
    -----
    Coordinate descent, from the largest penalty to the smallest, each solution starting from the one before. There is
    no intercept: centre X and y first. Where y has several columns, the targets share their columns of X: a column has
    a coefficient for all of them or for none.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> alphas, coefs, gaps = enet_path(X, np.array([4.0, 2.0]), alphas=[1.0])
    >>> coefs
    array([[1.5],
           [0.5]])
    """
    grid = _grid(n_alphas, alphas)
    tol, max_iter = params.pop("tol", 1e-4), params.pop("max_iter", 1000)
    unknown = [key for key in params if key not in _OTHERS]
    if unknown:
        raise ValueError(f"Unexpected parameters in params: {', '.join(unknown)}; see enet_path for those it takes.")
    if params.get("selection", "cyclic") not in ("cyclic", "random"):
        raise ValueError(f"selection should be either random or cyclic; it is {params['selection']!r}.")
    # products of all columns show cells that are not finite
    shown = np.ndim(precompute) != 2 and not sparse.issparse(X)
    X = check_array(X, accept_sparse="csc", dtype=[np.float64, np.float32], copy=False, ensure_all_finite=not shown)
    X, y = unpacked(X), dense(y)
    y = check_array(y, dtype=X.dtype.type, ensure_2d=False)
    if y.ndim > 1 and positive:
        raise ValueError("positive=True is not allowed for multi-output (y.ndim != 1); solve the targets one by one.")
    single = y.ndim == 1
    Y = y[:, None] if single else y
    with single_blas():
        try:
            problem = _make_problem(X, Y, precompute, Xy, grid if isinstance(grid, Integral) else len(grid), not single)
        except ValueError:
            check_array(X, accept_sparse="csc")
            raise
        if isinstance(grid, Integral):
            grid = penalty_grid(problem.q, problem.weight, l1_ratio, eps, int(grid), positive)
        grid = np.sort(np.asarray(grid, dtype=np.float64))[::-1]
        start = None if coef_init is None else np.asarray(coef_init, dtype=np.float64).T
        path = solve_path(
            problem,
            0 if single else None,
            grid,
            float(l1_ratio),
            positive=positive,
            start=start,
            tol=tol,
            max_iter=max_iter,
            name="the path",
        )
    coefs = (path.coefs if single else path.coefs.transpose(1, 0, 2)).astype(X.dtype)
    return (grid, coefs, path.gaps, path.n_iters) if return_n_iter else (grid, coefs, path.gaps)


def _grid(n_alphas: Any, alphas: Any) -> Any:
    if not (isinstance(n_alphas, str) and n_alphas == "deprecated"):
        warnings.warn(
            "'n_alphas' was deprecated in 1.9 and will be removed in 1.11 of scikit-learn; say alphas=n instead.",
            FutureWarning,
            stacklevel=4,
        )
        count = n_alphas
    else:
        count = 100
    if alphas is None:
        warnings.warn(
            "'alphas=None' is deprecated and will be removed in 1.11 of scikit-learn; say alphas=100 instead.",
            FutureWarning,
            stacklevel=4,
        )
        return count
    return count if isinstance(alphas, str) and alphas == "warn" else alphas


def _make_problem(X: Any, Y: np.ndarray, precompute: Any, Xy: Any, n_penalties: Any, tasks: bool) -> Any:
    if isinstance(precompute, bool | str | None.__class__) or np.ndim(precompute) != 2:
        return make_problem(X, Y, None, False, n_penalties, tasks)
    q = X.T @ Y if Xy is None else np.asarray(Xy, dtype=np.float64).reshape(X.shape[1], -1)
    Y = Y.astype(np.float64, copy=False)
    Q = np.ascontiguousarray(precompute, dtype=np.float64)
    return Products(Q, np.asarray(q, dtype=np.float64), np.einsum("ij,ij->j", Y, Y), float(X.shape[0]))
