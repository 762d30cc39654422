"""Ridge regression as a function of arrays."""

from __future__ import annotations

from typing import Any

from learnt.linear_model.least_squares._ridge import Ridge

# scikit-learn's function fits an intercept by one of its solvers only.
_WITHOUT_INTERCEPT = ("svd", "cholesky", "lsqr", "sparse_cg", "saga", "lbfgs")


def ridge_regression(
    X: Any,
    y: Any,
    alpha: Any,
    *,
    sample_weight: Any = None,
    solver: str = "auto",
    max_iter: int | None = None,
    tol: float = 1e-4,
    verbose: bool | int = 0,
    positive: bool = False,
    random_state: Any = None,
    return_n_iter: bool = False,
    return_intercept: bool = False,
    check_input: bool = True,
) -> Any:
    """Least squares with a squared penalty on the weights:  min over b of  Σᵢ wᵢ (yᵢ − xᵢᵀb)² + α‖b‖².

    The coefficients alone, without an estimator. There is no intercept unless `return_intercept`: centre X and y first.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows to learn from.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The number to predict for each row, or several.
    alpha : float or array-like of shape (n_targets,)
        α, the regularisation strength, at least 0: larger values mean more shrinkage and less overfitting. Several
        numbers are one for each target.
    sample_weight : float or array-like of shape (n_samples,), default=None
        What each row counts: 2 as two rows, 0 as none. None counts every row once.
    solver : str, default="auto"
        How the problem is solved; all ways find the same minimum.

        - "auto" takes "cholesky", or "dual" where rows are fewer than columns, or "lsqr" for wide sparse data.
        - "cholesky" solves the normal equations, and corrects the solution where they are ill-conditioned.
        - "svd" uses singular values: the safest for collinear columns and a tiny α.
        - "qr" and "augmented" factorise the data with √α·I below them.
        - "dual" solves the n × n problem, for fewer rows than columns.
        - "lsqr" only multiplies by X: for large sparse data.
        - "sparse_cg", "sag", "saga" and "lbfgs" are scikit-learn's names of other ways to the same minimum: the first
          means "lsqr" here, the others "auto". "lbfgs" needs `positive=True`.
    max_iter : int or None, default=None
        The most iterations of `solver="lsqr"`; None for twice the number of columns. Direct solvers ignore it.
    tol : float, default=1e-4
        Precision of `solver="lsqr"`, where values above 1e-6 count as 1e-6. Direct solvers ignore it.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense; with solver "auto" or "lbfgs".
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: nothing here is random.
    return_n_iter : bool, default=False
        Whether to return the number of iterations too.
    return_intercept : bool, default=False
        Whether to fit an intercept, and return it too; with solver "auto", "sag", "qr", "augmented" or "dual".
    check_input : bool, default=True
        Kept for scikit-learn's signature: what is passed is checked in any case.

    Returns
    -------
    coef : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients.
    n_iter : ndarray of shape (n_targets,) or None
        With `return_n_iter`: iterations of "lsqr"; 1 where "auto" solved directly; None for a direct solver asked for
        by name.
    intercept : float or ndarray of shape (n_targets,)
        With `return_intercept`: the intercept.

    See Also
    --------
    Ridge : The same as an estimator, with an intercept and predictions.
    RidgeCV : Chooses alpha by leave-one-out.

    Notes
    -----
    The penalty makes the solution unique and well-conditioned whatever X is. Time is O(n d²) for n rows and d columns,
    plus O(d³); O(n² d) where rows are fewer than columns.

    Examples
    --------
    >>> import numpy as np
    >>> ridge_regression(np.array([[1.0], [2.0]]), np.array([3.0, 6.0]), alpha=5.0)
    array([1.5])
    >>> ridge_regression(np.array([[0.0], [1.0]]), np.array([2.0, 6.0]), alpha=0.5, return_intercept=True)
    (array([2.]), np.float64(3.0))
    """
    if positive and solver not in ("auto", "lbfgs"):
        raise ValueError(f"When positive=True, only 'lbfgs' solver can be used, or 'auto'; solver is {solver!r}.")
    if return_intercept and solver in _WITHOUT_INTERCEPT:
        raise ValueError(
            "In Ridge, only 'sag' solver can directly fit the intercept. Please change solver to 'sag' or set "
            f"return_intercept=False; solver is {solver!r}, with which `Ridge` fits one."
        )
    model = Ridge(alpha, fit_intercept=return_intercept, solver=solver, max_iter=max_iter, tol=tol, positive=positive)
    model.fit(X, y, sample_weight)
    coef = model.coef_
    found = (coef, *([model.n_iter_] if return_n_iter else []), *([model.intercept_] if return_intercept else []))
    return found if len(found) > 1 else coef
