"""Dictionary learning as functions, with scikit-learn's names and returns."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.decomposition.dictionary._estimator import DictionaryLearning
from learnt.decomposition.dictionary._online import MiniBatchDictionaryLearning


def dict_learning(
    X: Any,
    n_components: int | None,
    *,
    alpha: float,
    max_iter: int = 100,
    tol: float = 1e-8,
    method: str = "lars",
    n_jobs: int | None = None,
    dict_init: Any = None,
    code_init: Any = None,
    callback: Any = None,
    verbose: bool = False,
    random_state: Any = None,
    return_n_iter: bool = False,
    positive_dict: bool = False,
    positive_code: bool = False,
    method_max_iter: int = 1000,
) -> tuple:
    """Atoms and codes of X in one call:  min over W, D of  ½‖X − WD‖² + α Σ|w|  with ‖dₖ‖ ≤ 1.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows to learn from.
    n_components : int or None
        The number of atoms; None is the number of columns.
    alpha : float
        Regularisation strength: the price of a code's absolute values. The larger, the sparser the codes.
    max_iter : int, default=100
        The most rounds.
    tol : float, default=1e-8
        Stop when a round lowers the objective by less than this share of it.
    method : {"lars", "cd"}, default="lars"
        Kept for scikit-learn's signature: both find the same codes, in the same way.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    dict_init : array-like of shape (n_components, n_features) or None, default=None
        Atoms to start from; None takes singular vectors of X.
    code_init : array-like of shape (n_samples, n_components) or None, default=None
        Codes to start from; None takes singular vectors of X.
    callback : callable or None, default=None
        Called every five rounds with a dict of `iteration`, `code`, `dictionary` and `errors`.
    verbose : bool, default=False
        Kept for scikit-learn's signature, and without effect.
    random_state : int, RandomState, Generator or None, default=None
        Where rows come from that take the place of unused atoms. Pass an integer for the same result every time.
    return_n_iter : bool, default=False
        Whether to return the number of rounds too.
    positive_dict : bool, default=False
        Whether to keep atoms at 0 or more.
    positive_code : bool, default=False
        Whether to keep codes at 0 or more.
    method_max_iter : int, default=1000
        The most rounds of the lasso, for one row.

    Returns
    -------
    code : ndarray of shape (n_samples, n_components)
        How much of each atom is in every row.
    dictionary : ndarray of shape (n_components, n_features)
        The atoms, one a row.
    errors : list of float
        The objective after every round.
    n_iter : int
        The number of rounds; only where `return_n_iter`.

    See Also
    --------
    DictionaryLearning : The same as an estimator, which codes new rows.
    dict_learning_online : In batches of rows, for many of them.
    sparse_encode : Codes by atoms that are known.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20, 4))
    >>> code, dictionary, errors = dict_learning(X, 3, alpha=0.1, random_state=0)
    >>> code.shape, dictionary.shape, errors[-1] < errors[0]
    ((20, 3), (3, 4), True)
    """
    model = DictionaryLearning(
        n_components, alpha=alpha, max_iter=max_iter, tol=tol, fit_algorithm=method, n_jobs=n_jobs, code_init=code_init,
        dict_init=dict_init, callback=callback, verbose=verbose, random_state=random_state,
        positive_code=positive_code, positive_dict=positive_dict, transform_max_iter=method_max_iter,
    )  # fmt: skip
    code = model.fit_transform(X)
    found = code, model.components_, model.error_
    return (*found, model.n_iter_) if return_n_iter else found


def dict_learning_online(
    X: Any,
    n_components: int | None = 2,
    *,
    alpha: float = 1,
    max_iter: int = 100,
    return_code: bool = True,
    dict_init: Any = None,
    callback: Any = None,
    batch_size: int = 256,
    verbose: bool = False,
    shuffle: bool = True,
    n_jobs: int | None = None,
    method: str = "lars",
    random_state: Any = None,
    positive_dict: bool = False,
    positive_code: bool = False,
    method_max_iter: int = 1000,
    tol: float = 1e-3,
    max_no_improvement: int | None = 10,
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Atoms of X learnt in small batches of rows, in one call.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows to learn from.
    n_components : int or None, default=2
        The number of atoms; None is the number of columns.
    alpha : float, default=1
        Regularisation strength: the price of a code's absolute values. The larger, the sparser the codes.
    max_iter : int, default=100
        The most passes over the rows.
    return_code : bool, default=True
        Whether to return the codes of X too.
    dict_init : array-like of shape (n_components, n_features) or None, default=None
        The atoms to start from; None takes singular vectors of X.
    callback : callable or None, default=None
        Called after every batch with a dict of `step`, `batch_cost` and `dictionary`.
    batch_size : int, default=256
        Rows of a batch. Larger batches make steadier progress; smaller ones update the atoms more often.
    verbose : bool, default=False
        Kept for scikit-learn's signature, and without effect.
    shuffle : bool, default=True
        Whether rows are put into random order first.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    method : {"lars", "cd"}, default="lars"
        Kept for scikit-learn's signature: both find the same codes, in the same way.
    random_state : int, RandomState, Generator or None, default=None
        Where the order of rows comes from, and rows that take the place of unused atoms. Pass an integer for the same
        result every time.
    positive_dict : bool, default=False
        Whether to keep atoms at 0 or more.
    positive_code : bool, default=False
        Whether to keep codes at 0 or more.
    method_max_iter : int, default=1000
        The most rounds of the lasso, for one row.
    tol : float, default=1e-3
        Stop when a batch moves the atoms by less than this; 0 never does.
    max_no_improvement : int or None, default=10
        Stop when so many batches in a row did not lower the smoothed objective; None never does.

    Returns
    -------
    code : ndarray of shape (n_samples, n_components)
        How much of each atom is in every row; only where `return_code`.
    dictionary : ndarray of shape (n_components, n_features)
        The atoms, one a row; all that is returned where `return_code` is False.

    See Also
    --------
    MiniBatchDictionaryLearning : The same as an estimator, which codes new rows.
    dict_learning : All rows in every round, more exact.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> code, dictionary = dict_learning_online(X, 3, alpha=0.1, random_state=0)
    >>> code.shape, dictionary.shape
    ((50, 3), (3, 4))
    """
    model = MiniBatchDictionaryLearning(
        n_components, alpha=alpha, max_iter=max_iter, fit_algorithm=method, n_jobs=n_jobs, batch_size=batch_size,
        shuffle=shuffle, dict_init=dict_init, transform_algorithm="lasso_" + method, transform_alpha=alpha,
        verbose=verbose, random_state=random_state, positive_code=positive_code, positive_dict=positive_dict,
        transform_max_iter=method_max_iter, callback=callback, tol=tol, max_no_improvement=max_no_improvement,
    ).fit(X)  # fmt: skip
    return (model.transform(X), model.components_) if return_code else model.components_
