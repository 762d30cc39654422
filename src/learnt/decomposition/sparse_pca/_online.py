"""Sparse principal components, from a few columns at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.decomposition.dictionary._online import MiniBatchDictionaryLearning
from learnt.decomposition.sparse_pca._base import SparseComponents
from learnt.engine.estimator import Trial, Warm
from learnt.engine.params import check_flag, check_number


class MiniBatchSparsePCA(SparseComponents):
    """`SparsePCA` in small batches of columns, the scores improved after each: for many columns.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to find; None is the number of columns.
    alpha : float, default=1
        Regularisation strength: the price of an entry's absolute value. The larger, the more entries are 0.
    ridge_alpha : float, default=0.01
        Ridge penalty of the scores that `transform` finds; it keeps them stable where components are alike.
    max_iter : int, default=1000
        The most passes over the columns.
    callback : callable or None, default=None
        Called after every batch with a dict of `step`, `batch_cost` and `dictionary`.
    batch_size : int, default=3
        Columns of a batch. Larger batches make steadier progress.
    verbose : bool, default=False
        Kept for scikit-learn's signature, and without effect.
    shuffle : bool, default=True
        Whether columns are put into random order first.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    method : {"lars", "cd"}, default="lars"
        Kept for scikit-learn's signature: both find the same codes, in the same way.
    random_state : int, RandomState, Generator or None, default=None
        Where the order of columns comes from, and scores that take the place of those of unused components. Pass an
        integer for the same result every time.
    tol : float, default=1e-3
        Stop when a batch moves the scores by less than this; 0 never does.
    max_no_improvement : int or None, default=10
        Stop when so many batches in a row did not lower the smoothed objective; None never does.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The components, of length 1, or 0 where one is not needed.
    n_components_ : int
        How many components there are.
    n_iter_ : int
        How many passes were made over the columns, the last perhaps not whole.
    mean_ : ndarray of shape (n_features,)
        The mean of each column, which is subtracted from rows.

    See Also
    --------
    SparsePCA : All columns in every round, more exact.
    PCA : Components of all columns, much quicker.
    IncrementalPCA : Dense components from batches of rows.

    References
    ----------
    .. [1] J. Mairal, F. Bach, J. Ponce and G. Sapiro, "Online dictionary learning for sparse coding", ICML, 2009.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> parts = np.repeat(np.eye(2), 10, axis=1)
    >>> X = rng.normal(size=(100, 2)) @ parts + 0.01 * rng.normal(size=(100, 20))
    >>> model = MiniBatchSparsePCA(2, alpha=0.5, random_state=0).fit(X)
    >>> (np.abs(model.components_ @ parts.T).max(axis=1) / 10**0.5).round(2)
    array([1., 1.])
    """

    __learnt_trial__ = Trial(
        quick={"n_components": 3, "alpha": 0.5, "random_state": 0, "max_iter": 5},
        warmup=(Warm("none", {"n_components": 2, "max_iter": 2, "random_state": 0}),),
        any_order=False,
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 1,
        ridge_alpha: float = 0.01,
        max_iter: int = 1_000,
        callback: Any = None,
        batch_size: int = 3,
        verbose: Any = False,
        shuffle: bool = True,
        n_jobs: int | None = None,
        method: str = "lars",
        random_state: Any = None,
        tol: float = 1e-3,
        max_no_improvement: int | None = 10,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.ridge_alpha = ridge_alpha
        self.max_iter = max_iter
        self.callback = callback
        self.batch_size = batch_size
        self.verbose = verbose
        self.shuffle = shuffle
        self.n_jobs = n_jobs
        self.method = method
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "batch_size", 1, integer=True)
        check_number(self, "max_no_improvement", 0, integer=True, also=(None,))
        check_flag(self, "shuffle")

    def _loadings(self, columns: np.ndarray) -> np.ndarray:
        learning = MiniBatchDictionaryLearning(
            len(columns) if self.n_components is None else self.n_components, alpha=self.alpha, max_iter=self.max_iter,
            fit_algorithm=self.method, n_jobs=self.n_jobs, batch_size=self.batch_size, shuffle=self.shuffle,
            transform_algorithm=f"lasso_{self.method}", transform_alpha=self.alpha, random_state=self.random_state,
            callback=self.callback, tol=self.tol, max_no_improvement=self.max_no_improvement,
        ).fit(columns)  # fmt: skip
        self.n_iter_ = learning.n_iter_
        return learning.set_output(transform="default").transform(columns)
