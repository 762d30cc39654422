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
    """W and H with X ≈ W H in one call; the parameters are those of `NMF`.

    update_H : bool, default=True
        Whether H is found too; else it is the H given, and W alone is found.

    Returns
    -------
    W : array of shape (n_samples, n_components)
    H : array of shape (n_components, n_features)
    n_iter : int

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
