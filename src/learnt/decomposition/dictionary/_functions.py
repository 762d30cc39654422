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
    """Atoms and codes of X in one call; the parameters are those of `DictionaryLearning`.

    Returns
    -------
    code : array of shape (n_samples, n_components)
    dictionary : array of shape (n_components, n_features)
    errors : list of float
        The objective after every round.
    n_iter : int, where `return_n_iter`

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
    """Atoms of X learned in small batches; the parameters are those of `MiniBatchDictionaryLearning`.

    Returns
    -------
    code : array of shape (n_samples, n_components), where `return_code`
    dictionary : array of shape (n_components, n_features)

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
