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

    Of the centred rows. This is dictionary learning on the columns: those are made of few scores each, and the codes
    are the components, which are then scaled to length 1. Reference: Zou, Hastie & Tibshirani, Sparse principal
    component analysis, 2006; Jenatton, Obozinski & Bach, Structured sparse PCA, 2009.

    Parameters
    ----------
    n_components : int or None
        How many; as many as features by default.
    alpha : float, default=1
        The price of an entry's absolute value.
    ridge_alpha : float, default=0.01
        Penalty of the scores that `transform` finds.
    max_iter : int, default=1000
        The most rounds.
    tol : float, default=1e-8
        Stop when a round lowers the objective by less than this share of it.
    method : {"lars", "cd"}, default="lars"
        scikit-learn's two ways to the same codes; here both mean the same.
    n_jobs : int or None
        Threads; None is all there are.
    U_init, V_init : array of shape (n_samples, n_components), (n_components, n_features)
        Scores and components to start from; singular vectors of X by default.
    verbose : bool
        Kept for scikit-learn's signature; see `learnt.engine.progress` for progress.
    random_state : int, RandomState, Generator or None
        For scores that take the place of those of unused components.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Of length 1, or 0 where a component is not needed.
    error_ : list of float
        The objective after every round.
    n_components_, n_iter_ : int
    mean_ : array of shape (n_features,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
