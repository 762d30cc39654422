"""Ridge regression as a function of arrays."""

from __future__ import annotations

from learnt.linear_model.least_squares._ridge import Ridge

# scikit-learn's function fits an intercept by one of its solvers only.
_WITHOUT_INTERCEPT = ("svd", "cholesky", "lsqr", "sparse_cg", "saga", "lbfgs")


def ridge_regression(
    X,
    y,
    alpha,
    *,
    sample_weight=None,
    solver="auto",
    max_iter=None,
    tol=1e-4,
    verbose=0,
    positive=False,
    random_state=None,
    return_n_iter=False,
    return_intercept=False,
    check_input=True,
):
    """Least squares with a squared penalty on the weights:  min over b of  Σᵢ wᵢ (yᵢ − xᵢᵀb)² + α‖b‖².

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,) or (n_samples, n_targets)
    alpha : float or array of shape (n_targets,)
        Strength of the penalty, at least 0; one for each target, if several are given.
    sample_weight : float or array of shape (n_samples,), default=None
    solver, max_iter, tol, positive
        As in `Ridge`.
    return_n_iter : bool, default=False
        Return the iterations as well, as `Ridge` has them in `n_iter_`.
    return_intercept : bool, default=False
        Fit an intercept, and return it as well; with solver "auto", "sag" or one that scikit-learn has not.
    verbose, random_state, check_input
        Kept for scikit-learn's signature: nothing is printed, nothing is random, and all is checked.

    Returns
    -------
    coef : array of shape (n_features,) or (n_targets, n_features)
    n_iter : array of shape (n_targets,) or None, with `return_n_iter`
    intercept : float or array of shape (n_targets,), with `return_intercept`

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
