"""Dictionary learning from a few rows at a time."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from learnt.decomposition.dictionary._coder import CodingTransformer
from learnt.decomposition.dictionary._coding import encode
from learnt.decomposition.dictionary._estimator import checked_start
from learnt.decomposition.dictionary._schema import CODING, atoms
from learnt.decomposition.dictionary._update import cost, leading_rows, refresh
from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, count, instance, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit


class MiniBatchDictionaryLearning(CallbackSupportMixin, CodingTransformer, Estimator):
    """`DictionaryLearning` in small batches of rows, the atoms improved after each: for many rows.

    Parameters
    ----------
    n_components : int or None, default=None
        The number of atoms; None is the number of columns. There may be more atoms than columns.
    alpha : float, default=1
        Regularisation strength: the price of a code's absolute values. The larger, the sparser the codes.
    max_iter : int, default=1000
        The most passes over the rows.
    fit_algorithm : {"lars", "cd"}, default="lars"
        Kept for scikit-learn's signature: both find the same codes, in the same way.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    batch_size : int, default=256
        Rows of a batch. Larger batches make steadier progress; smaller ones update the atoms more often.
    shuffle : bool, default=True
        Whether rows are put into random order first.
    dict_init : array-like of shape (n_components, n_features) or None, default=None
        The atoms to start from; None takes singular vectors of X.
    transform_algorithm : {"omp", "lasso_lars", "lasso_cd", "lars", "threshold"}, default="omp"
        How `transform` codes rows:
        "omp", orthogonal matching pursuit with a number of atoms for each row; "lasso_lars" and "lasso_cd", both the
        exact lasso  min ½‖x − wD‖² + alpha‖w‖₁;  "lars", least angle regression with a number of atoms; "threshold"
        shrinks the products with the atoms, the quickest and least exact.
    transform_n_nonzero_coefs : int or None, default=None
        How many atoms make up a row, for "omp" and "lars"; None is a tenth of the number of columns. More reconstruct
        rows better, with less sparse codes.
    transform_alpha : float or None, default=None
        Regularisation strength of the lassos in `transform`, and threshold of "threshold"; None is `alpha`.
    verbose : bool, default=False
        Kept for scikit-learn's signature, and without effect.
    split_sign : bool, default=False
        Whether to return the positive and the negative part of a code in columns of their own, for classifiers that
        take the sign to mean something.
    random_state : int, RandomState, Generator or None, default=None
        Where the order of rows comes from, and rows that take the place of unused atoms. Pass an integer for the same
        result every time.
    positive_code : bool, default=False
        Whether to keep codes at 0 or more; not with "lars".
    positive_dict : bool, default=False
        Whether to keep atoms at 0 or more.
    transform_max_iter : int, default=1000
        The most rounds of the lassos, for one row.
    callback : callable or None, default=None
        Called after every batch with a dict of `step`, `batch_cost` and `dictionary`.
    tol : float, default=1e-3
        Stop when a batch moves the atoms by less than this; 0 never does.
    max_no_improvement : int or None, default=10
        Stop when so many batches in a row did not lower the smoothed objective; None never does.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The atoms, one a row.
    n_iter_ : int
        How many passes were made over the rows, the last perhaps not whole.
    n_steps_ : int
        How many batches were learnt.

    See Also
    --------
    DictionaryLearning : All rows in every round, more exact.
    SparseCoder : Codes by atoms that are known.
    MiniBatchSparsePCA : Components of few columns.
    MiniBatchNMF : Parts and weights that are never negative.

    Notes
    -----
    A batch is coded by the atoms so far; WᵀW and WᵀX are kept as averages that forget old batches slowly, and in `fit`
    codes older than one pass over the rows sooner; the atoms are the best for these averages [1]_. Memory for d columns
    and k atoms is O(k² + k d) besides the rows.

    References
    ----------
    .. [1] J. Mairal, F. Bach, J. Ponce and G. Sapiro, "Online dictionary learning for sparse coding", ICML, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.exponential(size=(600, 1)) * np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])[np.arange(600) % 2]
    >>> model = MiniBatchDictionaryLearning(2, alpha=0.01, positive_code=True, positive_dict=True, random_state=0)
    >>> np.sort(model.fit(X).components_, axis=0).round(2)
    array([[0. , 0. , 0. ],
           [0.6, 0.8, 1. ]])
    """

    __learnt_schema__ = Schema(
        params={**CODING, "alpha": number(0)},
        state={**FEATURES, "components_": atoms, "n_steps_": count()},
        extra={
            "n_iter_": count(),
            "_A": real("k", "k"),
            "_B": real("k", "d"),
            "_random_state": instance(np.random.RandomState, "a source of random numbers"),
        },
    )
    __learnt_trial__ = Trial(
        quick={"batch_size": 50, "max_iter": 5, "random_state": 0, "transform_algorithm": "lasso_lars"},
        warmup=(Warm("none", {"n_components": 4, "max_iter": 2}),),
        any_order=False,
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 1,
        max_iter: int = 1_000,
        fit_algorithm: str = "lars",
        n_jobs: int | None = None,
        batch_size: int = 256,
        shuffle: bool = True,
        dict_init: Any = None,
        transform_algorithm: str = "omp",
        transform_n_nonzero_coefs: int | None = None,
        transform_alpha: float | None = None,
        verbose: Any = False,
        split_sign: bool = False,
        random_state: Any = None,
        positive_code: bool = False,
        positive_dict: bool = False,
        transform_max_iter: int = 1000,
        callback: Any = None,
        tol: float = 1e-3,
        max_no_improvement: int | None = 10,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.max_iter = max_iter
        self.fit_algorithm = fit_algorithm
        self.n_jobs = n_jobs
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.dict_init = dict_init
        self.transform_algorithm = transform_algorithm
        self.transform_n_nonzero_coefs = transform_n_nonzero_coefs
        self.transform_alpha = transform_alpha
        self.verbose = verbose
        self.split_sign = split_sign
        self.random_state = random_state
        self.positive_code = positive_code
        self.positive_dict = positive_dict
        self.transform_max_iter = transform_max_iter
        self.callback = callback
        self.tol = tol
        self.max_no_improvement = max_no_improvement

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> MiniBatchDictionaryLearning:
        """Learn the atoms from the rows of X, in batches."""
        self._check_params()
        X, _, _ = check_fit(self, X)
        self._random_state = random_state_of(self.random_state)
        n = len(X)
        size = min(self.batch_size, n)
        per_pass = math.ceil(n / size)
        with single_blas():
            D = self._begin(X)
            order = self._random_state.permutation(n) if self.shuffle else np.arange(n)
            watch = Watch(self.tol, self.max_no_improvement, n)
            with fit_loop(self, self.max_iter * per_pass, X) as loop:
                for step in range(self.max_iter * per_pass):
                    lo = (step % per_pass) * size
                    batch = X[order[lo : lo + size]].astype(np.float64)
                    before = D.copy()
                    price = self._batch(batch, D, per_pass)
                    done = watch.still(price, len(batch), float(np.linalg.norm(D - before)) / len(D), self.n_steps_)
                    state = lambda: {"components_": D.astype(X.dtype), "n_steps_": self.n_steps_}  # noqa: E731
                    if loop.step(f"cost of the batch {price:.4g}", state) or done:
                        break
                    if self.callback is not None:
                        self.callback({"step": step, "batch_cost": price, "dictionary": D})
        self.components_ = D.astype(X.dtype)
        self.n_iter_ = math.ceil(self.n_steps_ / per_pass)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> MiniBatchDictionaryLearning:
        """Improve the atoms with one batch of rows more."""
        first = not hasattr(self, "components_")
        self._check_params()
        X, _, _ = check_fit(self, X, reset=first)
        with single_blas():
            if first:
                self._random_state = random_state_of(self.random_state)
                D = self._begin(X)
            else:
                D = self.components_.astype(np.float64)
            self._batch(X.astype(np.float64), D)
        self.components_ = D.astype(X.dtype)
        return self

    def _check_params(self) -> None:
        self._check_coding()
        check_number(self, "n_components", 1, integer=True, also=(None,))
        check_number(self, "alpha", 0)
        check_number(self, "max_iter", 0, integer=True)
        check_number(self, "batch_size", 1, integer=True)
        check_number(self, "tol", 0)
        check_number(self, "max_no_improvement", 0, integer=True, also=(None,))
        check_choice(self, "fit_algorithm", ("lars", "cd"))
        check_flag(self, "positive_dict", "shuffle")

    def _begin(self, X: np.ndarray) -> np.ndarray:
        """Initial atoms, and empty averages."""
        size = X.shape[1] if self.n_components is None else self.n_components
        D = np.zeros((size, X.shape[1]))
        if self.dict_init is None:
            given = leading_rows(X.astype(np.float64, copy=False), size)
        else:
            given = checked_start(self.dict_init, "dict_init", (None, X.shape[1]))[:size]
        D[: len(given)] = given
        self._A, self._B = np.zeros((size, size)), np.zeros((size, X.shape[1]))
        self.n_steps_ = 0
        return D

    def _batch(self, X: np.ndarray, D: np.ndarray, memory: int | None = None) -> float:
        """Code a batch, average it in, improve D in place; returns the batch's mean objective before that."""
        n = len(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = encode(
                X, D, "lasso_cd", None, self.alpha, max_iter=self.transform_max_iter,
                positive=bool(self.positive_code), n_jobs=self.n_jobs,
            )  # fmt: skip
        price = cost(X, code, D, self.alpha) / n
        # As if batches had one row: early batches are soon forgotten, later ones count nearly equally.
        seen = (self.n_steps_ + 1) * n if self.n_steps_ < n - 1 else n**2 + self.n_steps_ + 1 - n
        keep = (seen + 1 - n) / (seen + 1)
        if memory is not None and self.n_steps_ >= memory:  # these rows were here before, with worse codes
            keep = min(keep, 1.0 - 1.0 / memory)
        self._A = keep * self._A + code.T @ code / n
        self._B = keep * self._B + code.T @ X / n
        refresh(X, code, self._A, self._B, bool(self.positive_dict), self._random_state, D)
        self.n_steps_ += 1
        return price


class Watch:
    """Whether learning in batches has converged: the atoms hardly move, or the smoothed objective no longer falls.

    `skipped` are the batches at first that say nothing: by default one pass, at most a hundred.
    """

    def __init__(self, tol: float, patience: int | None, n: int, skipped: int | None = None) -> None:
        self._tol, self._patience, self._n, self._skipped = tol, patience, n, skipped
        self._smooth: float | None = None
        self._best = math.inf
        self._worse = 0

    def still(self, price: float, rows: int, moved: float, step: int) -> bool:
        """After batch number `step` (from 1) of so many rows."""
        skipped = min(100, self._n / rows) if self._skipped is None else self._skipped
        if step <= skipped:  # the first ones are too far off to compare with
            return False
        share = min(rows / (self._n + 1), 1.0)
        self._smooth = price if self._smooth is None else self._smooth * (1 - share) + price * share
        if self._tol > 0 and moved <= self._tol:
            return True
        self._worse = 0 if self._smooth < self._best else self._worse + 1
        self._best = min(self._best, self._smooth)
        return self._patience is not None and self._worse >= self._patience
