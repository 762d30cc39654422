"""Non-negative matrix factorisation as one call."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.decomposition.nmf._checks import check_not_negative, checked_factor
from learnt.decomposition.nmf._estimator import NMF
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit


def non_negative_factorization(
    X: Any,
    W: Any = None,
    H: Any = None,
    n_components: Any = "auto",
    *,
    init: str | None = None,
    update_H: bool = True,
    solver: str = "cd",
    beta_loss: Any = "frobenius",
    tol: float = 1e-4,
    max_iter: int = 200,
    alpha_W: float = 0.0,
    alpha_H: Any = "same",
    l1_ratio: float = 0.0,
    random_state: Any = None,
    verbose: int = 0,
    shuffle: bool = False,
) -> tuple[np.ndarray, np.ndarray, int]:
    """W and H with X ≈ W H and no entry below 0, in one call.

    min  D(X, W H) + α_W d (ρ ‖W‖₁ + (1 − ρ)/2 ‖W‖²) + α_H n (ρ ‖H‖₁ + (1 − ρ)/2 ‖H‖²),   ρ = l1_ratio

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows, none of their entries below 0.
    W : array-like of shape (n_samples, n_components) or None, default=None
        The weights to start from, with init="custom"; ignored where `update_H` is False.
    H : array-like of shape (n_components, n_features) or None, default=None
        The parts to start from, with init="custom"; the parts to use where `update_H` is False.
    n_components : int, "auto" or None, default="auto"
        How many parts to find; "auto" is the number of columns, or as many as a given H has; None the number of
        columns.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"} or None, default=None
        Where to start: "random" numbers; "nndsvd", non-negative parts of singular vectors, with zeros left, good for
        sparse factors; "nndsvda", the same with zeros filled with the mean of X; "nndsvdar", filled with small random
        numbers; "custom", the W and H given to `fit_transform`. None is "nndsvda", or "random" for more components than
        rows or columns.
    update_H : bool, default=True
        Whether H is found too; else it is the H given, and W alone is found.
    solver : {"cd", "mu"}, default="cd"
        "cd" is coordinate descent, quick, for beta_loss="frobenius" alone; "mu" multiplicative updates, which take any
        `beta_loss`.
    beta_loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float, default="frobenius"
        The β-divergence between X and W H: "frobenius" (β = 2) is half the squared error; "kullback-leibler" (1) suits
        counts; "itakura-saito" (0) suits power spectra, and does not depend on scale. With 0 or less X must have no
        zeros.
    tol : float, default=1e-4
        Stopping tolerance. "cd": stop when the projected gradient is this share of what it was at first, and further
        iterations would, by how fast it falls, take no more than this share off the objective. "mu": when ten
        iterations lower the error by less than this share of what it was.
    max_iter : int, default=200
        The most iterations; raise it after a convergence warning.
    alpha_W : float, default=0.0
        Regularisation strength of W, at least 0; more makes it smaller, and sparser with l1_ratio above 0. It is
        multiplied by the number of columns, so that it means the same for tables of any size.
    alpha_H : float or "same", default="same"
        Regularisation strength of H, multiplied by the number of rows; "same" is `alpha_W`.
    l1_ratio : float, default=0.0
        Share of absolute values in the penalties, in [0, 1]: 0 shrinks all entries (ridge), 1 makes many of them 0
        (lasso).
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from. Pass an integer for the same result every time.
    verbose : int, default=0
        Log each iteration to the logger "learnt" where it is more than 0.
    shuffle : bool, default=False
        Whether "cd" visits coordinates in a random order.

    Returns
    -------
    W : ndarray of shape (n_samples, n_components)
        How much of each part is in every row.
    H : ndarray of shape (n_components, n_features)
        The parts, one a row.
    n_iter : int
        The number of iterations.

    See Also
    --------
    NMF : The same as an estimator, which transforms new rows.
    MiniBatchNMF : In batches of rows.

    References
    ----------
    .. [1] A. Cichocki and A.-H. Phan, "Fast local algorithms for large scale nonnegative matrix and tensor
       factorizations", IEICE Transactions on Fundamentals E92-A, 2009.
    .. [2] C. Févotte and J. Idier, "Algorithms for nonnegative matrix factorization with the β-divergence",
       Neural Computation 23, 2011.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.2], [4.0, 1.0], [5.0, 0.8], [6.0, 1.0]])
    >>> W, H, n_iter = non_negative_factorization(X, n_components=2, init="random", random_state=0)
    >>> bool(np.abs(W @ H - X).max() < 0.1)
    True
    """
    model = NMF(
        n_components, init=init, solver=solver, beta_loss=beta_loss, tol=tol, max_iter=max_iter, alpha_W=alpha_W,
        alpha_H=alpha_H, l1_ratio=l1_ratio, random_state=random_state, verbose=verbose, shuffle=shuffle,
    )  # fmt: skip
    if update_H:
        W = model.fit_transform(X, W=W, H=H)
        return W, model.components_, model.n_iter_
    model._check_parameters()
    X = check_fit(model, X, order="C").X
    check_not_negative(X, "NMF (input X)")
    if W is not None:
        warnings.warn("When update_H=False, the provided initial W is not used.", RuntimeWarning, stacklevel=2)
    H = checked_factor(H, (X.shape[1] if n_components is None else n_components, X.shape[1]), X.dtype, "H")
    with single_blas():
        return model._solve(X, model._rows_for(X, H), H, update_H=False)
