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

    A batch is coded by the atoms so far; WᵀW and WᵀX are kept as averages that forget old batches slowly, and in `fit`
    codes older than one pass over the rows sooner; the atoms are the best for these averages.
    Reference: Mairal, Bach, Ponce & Sapiro, Online dictionary learning for sparse coding, ICML 2009.

    Parameters
    ----------
    n_components : int or None
        The number of atoms; the number of columns by default.
    alpha : float, default=1
        The price of a code's absolute values.
    max_iter : int, default=1000
        The most passes over the rows.
    fit_algorithm : {"lars", "cd"}, default="lars"
        scikit-learn's two ways to the same codes; here both mean the same.
    n_jobs : int or None
        Threads; None is all there are.
    batch_size : int, default=256
        Rows of a batch.
    shuffle : bool, default=True
        Whether rows are put into random order first.
    dict_init : array of shape (n_components, n_features) or None
        The atoms to start from; singular vectors of X by default.
    transform_algorithm, transform_n_nonzero_coefs, transform_alpha, split_sign, transform_max_iter
        How `transform` codes rows, as in `SparseCoder`; the penalty is `alpha` where `transform_alpha` is None.
    verbose : bool
        Kept for scikit-learn's signature; see `learnt.engine.progress` for progress.
    random_state : int, RandomState, Generator or None
        For the order of rows, and for rows that take the place of unused atoms.
    positive_code, positive_dict : bool, default=False
        Keep codes, or atoms, at 0 or more.
    callback : callable or None
        Called after every batch with a dict of `step`, `batch_cost` and `dictionary`.
    tol : float, default=1e-3
        Stop when a batch moves the atoms by less than this; 0 never does.
    max_no_improvement : int or None, default=10
        Stop when so many batches in a row did not lower the smoothed objective.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The atoms.
    n_iter_ : int
        Passes over the rows, the last perhaps not whole.
    n_steps_ : int
        The number of batches.

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
        n_components=None,
        *,
        alpha=1,
        max_iter=1_000,
        fit_algorithm="lars",
        n_jobs=None,
        batch_size=256,
        shuffle=True,
        dict_init=None,
        transform_algorithm="omp",
        transform_n_nonzero_coefs=None,
        transform_alpha=None,
        verbose=False,
        split_sign=False,
        random_state=None,
        positive_code=False,
        positive_dict=False,
        transform_max_iter=1000,
        callback=None,
        tol=1e-3,
        max_no_improvement=10,
    ):
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
        """Learn the atoms."""
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
        """Learn from one batch of rows more."""
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
