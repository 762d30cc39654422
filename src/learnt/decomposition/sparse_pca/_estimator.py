"""Sparse principal components, all columns in every round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from learnt.decomposition.dictionary._estimator import DictionaryLearning, checked_start
from learnt.decomposition.sparse_pca._base import SparseComponents, with_signs
from learnt.engine.estimator import Trial, Warm
from learnt.engine.schema import count, listof, number


class SparsePCA(SparseComponents):
    """Components with few entries that are not 0:  min over U, C of  ½‖X − UC‖² + α Σ|c|  with ‖uₖ‖ ≤ 1.

    X stands for the centred rows. Take it where components should be easy to interpret: each is made of few columns,
    and may share them with others, since they need not be orthogonal.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to find; None is the number of columns.
    alpha : float, default=1
        Regularisation strength: the price of an entry's absolute value. The larger, the more entries are 0.
    ridge_alpha : float, default=0.01
        Ridge penalty of the scores that `transform` finds; it keeps them stable where components are alike.
    max_iter : int, default=1000
        The most rounds.
    tol : float, default=1e-8
        Stop when a round lowers the objective by less than this share of it.
    method : {"lars", "cd"}, default="lars"
        Kept for scikit-learn's signature: both find the same codes, in the same way.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    U_init : array-like of shape (n_samples, n_components) or None, default=None
        Scores to start from; None takes singular vectors of X.
    V_init : array-like of shape (n_components, n_features) or None, default=None
        Components to start from; None takes singular vectors of X.
    verbose : bool, default=False
        Kept for scikit-learn's signature, and without effect.
    random_state : int, RandomState, Generator or None, default=None
        Where scores come from that take the place of those of unused components. Pass an integer for the same result
        every time.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The components, of length 1, or 0 where one is not needed.
    error_ : list of float
        The objective after every round.
    n_components_ : int
        How many components there are.
    n_iter_ : int
        The number of rounds.
    mean_ : ndarray of shape (n_features,)
        The mean of each column, which is subtracted from rows.

    See Also
    --------
    PCA : Components of all columns, much quicker.
    MiniBatchSparsePCA : In batches of columns, faster and less exact.
    DictionaryLearning : Few atoms for each row, instead of few columns for each component.

    Notes
    -----
    This is dictionary learning on the columns: each is made of few scores, and the codes are the components, which are
    then scaled to length 1.

    References
    ----------
    .. [1] H. Zou, T. Hastie and R. Tibshirani, "Sparse principal component analysis", Journal of Computational and
       Graphical Statistics 15, 2006.
    .. [2] R. Jenatton, G. Obozinski and F. Bach, "Structured sparse principal component analysis", AISTATS, 2010.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ np.array([[3.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]])
    >>> model = SparsePCA(2, alpha=0.1, random_state=0).fit(X + 0.01 * rng.normal(size=(200, 4)))
    >>> model.components_.round(1) + 0.0
    array([[0.6, 0.8, 0. , 0. ],
           [0. , 0. , 0. , 1. ]])
    """

    __learnt_schema__ = replace(
        SparseComponents.__learnt_schema__, extra={"error_": listof(number()), "n_iter_": count()}
    )
    __learnt_trial__ = Trial(
        quick={"n_components": 3, "alpha": 0.5, "random_state": 0, "max_iter": 50},
        warmup=(Warm("none", {"n_components": 2, "max_iter": 2, "random_state": 0}),),
        any_order=False,  # the rounds end before the last digits
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 1,
        ridge_alpha: float = 0.01,
        max_iter: int = 1000,
        tol: float = 1e-8,
        method: str = "lars",
        n_jobs: int | None = None,
        U_init: Any = None,
        V_init: Any = None,
        verbose: Any = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.ridge_alpha = ridge_alpha
        self.max_iter = max_iter
        self.tol = tol
        self.method = method
        self.n_jobs = n_jobs
        self.U_init = U_init
        self.V_init = V_init
        self.verbose = verbose
        self.random_state = random_state

    def _loadings(self, columns: np.ndarray) -> np.ndarray:
        d, n = columns.shape
        scores = None if self.U_init is None else checked_start(self.U_init, "U_init", (n, None)).T
        code = None if self.V_init is None else checked_start(self.V_init, "V_init", (None, d)).T
        learning = DictionaryLearning(
            d if self.n_components is None else self.n_components, alpha=self.alpha, max_iter=self.max_iter,
            tol=self.tol, fit_algorithm=self.method, n_jobs=self.n_jobs, code_init=code, dict_init=scores,
            random_state=self.random_state,
        )  # fmt: skip
        code = learning.fit_transform(columns)
        self.error_, self.n_iter_ = learning.error_, learning.n_iter_
        return with_signs(code, learning.components_)
