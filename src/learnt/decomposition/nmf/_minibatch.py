"""Non-negative matrix factorisation from a few rows at a time: the estimator."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.decomposition.dictionary._online import Watch
from learnt.decomposition.nmf._base import Factorisation, refuse_zeros
from learnt.decomposition.nmf._checks import check_not_negative
from learnt.decomposition.nmf._divergence import LOSSES, beta_of, distance
from learnt.decomposition.nmf._online import (
    Sums,
    better_rows,
    first_sums,
    mean_objective,
    solved_rows,
    update_parts,
)
from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.params import check_flag, check_number
from learnt.engine.progress import fit_loop, with_callbacks
from learnt.engine.schema import FEATURES, Schema, anyof, choice, count, flag, none, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict
from learnt.engine.verbose import tell


class MiniBatchNMF(Factorisation):
    """`NMF` in small batches of rows, the parts improved after each: for many rows, or rows that keep coming.

    W of a batch is updated for the parts so far, and H from sums over all batches that forget old ones,

        A ← ρ A + H ∘ (gradient's negative part),   B ← ρ B + (its positive part),   H = A / B.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        How many parts to find. "auto" is the number of columns, or as many as a given H has; None the number of
        columns. Usually far fewer than columns: too many make parts that mean nothing.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"} or None, default=None
        Where to start: "random" numbers; "nndsvd", non-negative parts of singular vectors, with zeros left, good for
        sparse factors; "nndsvda", the same with zeros filled with the mean of X; "nndsvdar", filled with small random
        numbers; "custom", the W and H given to `fit_transform`. None is "nndsvda", or "random" for more components than
        rows or columns.
    batch_size : int, default=1024
        Rows of a batch. Larger batches make steadier progress; smaller ones update the parts more often.
    beta_loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float, default="frobenius"
        The β-divergence between X and W H: "frobenius" (β = 2) is half the squared error; "kullback-leibler" (1) suits
        counts; "itakura-saito" (0) suits power spectra, and does not depend on scale. With 0 or less X must have no
        zeros.
    tol : float, default=1e-4
        Stop when a batch changes H by less than this share of its norm; 0 never does.
    max_no_improvement : int or None, default=10
        Stop when so many batches in a row did not lower the smoothed objective; None never does.
    max_iter : int, default=200
        The most passes over the rows.
    alpha_W : float, default=0.0
        Regularisation strength of W, at least 0; more makes it smaller, and sparser with l1_ratio above 0. It is
        multiplied by the number of columns, so that it means the same for tables of any size.
    alpha_H : float or "same", default="same"
        Regularisation strength of H, multiplied by the number of rows; "same" is `alpha_W`.
    l1_ratio : float, default=0.0
        Share of absolute values in the penalties, in [0, 1]: 0 shrinks all entries (ridge), 1 makes many of them 0
        (lasso).
    forget_factor : float, default=0.7
        What counts of the sums after a pass, in [0, 1]: 1 for rows of one source that keep coming, less where old rows,
        or early parts, should be forgotten sooner.
    fresh_restarts : bool, default=False
        Whether W of a batch is solved for from the start, instead of updated once: slower, and more exact.
    fresh_restarts_max_iter : int, default=30
        The most updates of W then.
    transform_max_iter : int or None, default=None
        The most updates of W in `transform`; None is `max_iter`.
    random_state : int, RandomState, Generator or None, default=None
        Where the start comes from. Pass an integer for the same result every time.
    verbose : int, default=0
        Log each batch to the logger "learnt" where it is more than 0.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The parts H, one a row.
    n_components_ : int
        How many parts there are.
    reconstruction_err_ : float
        √(2 D(X, W H)) of the training rows; for "frobenius" ‖X − W H‖.
    n_iter_ : int
        How many passes were made over the rows, the last perhaps not whole.
    n_steps_ : int
        How many batches were learnt.

    See Also
    --------
    NMF : All rows at once; more exact.
    MiniBatchDictionaryLearning : Sparse codes, whose entries may be negative.

    Notes
    -----
    A batch of m rows takes O(m d k) time, for k parts of d columns. The sums of old batches stand in for the rows
    themselves [1]_, so that memory does not grow with the rows seen by `partial_fit`.

    References
    ----------
    .. [1] A. Lefèvre, F. Bach and C. Févotte, "Online algorithms for nonnegative matrix factorization with the
       Itakura-Saito divergence", WASPAA, 2011.

    Examples
    --------
    >>> X = np.random.default_rng(0).exponential(size=(500, 2)) @ np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    >>> model = MiniBatchNMF(n_components=2, batch_size=50, max_no_improvement=None, random_state=0)
    >>> W = model.fit_transform(X)
    >>> bool(np.abs(W @ model.components_ - X).mean() < 0.05 * X.mean())
    True
    """

    __learnt_schema__ = Schema(
        params={
            "batch_size": count(1),
            "beta_loss": anyof(choice(*LOSSES), number()),
            "tol": number(0),
            "max_iter": count(1),
            "alpha_W": number(0),
            "alpha_H": anyof(choice("same"), number(0)),
            "l1_ratio": number(0, 1),
            "fresh_restarts": flag,
            "fresh_restarts_max_iter": count(1),
            "transform_max_iter": anyof(none, count(1)),
        },
        state={**FEATURES, "n_components_": count(1, name="k"), "components_": real("k", "d", low=0)},
        extra={
            "reconstruction_err_": number(0),
            "n_iter_": count(),
            "n_steps_": count(),
            "_numerator": real("k", "d", low=0),
            "_denominator": real("k", "d", low=0),
            "_forget": number(0, 1),
        },
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(
        # solved for from the start, as `transform` does it
        quick={
            "n_components": 2,
            "random_state": 0,
            "batch_size": 20,
            "fresh_restarts": True,
            "tol": 0,
            "max_iter": 40,
        },
        warmup=(Warm("none", {"n_components": 2, "random_state": 0}),),
        any_order=False,
    )

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        init: str | None = None,
        batch_size: int = 1024,
        beta_loss: Any = "frobenius",
        tol: float = 1e-4,
        max_no_improvement: int | None = 10,
        max_iter: int = 200,
        alpha_W: float = 0.0,
        alpha_H: Any = "same",
        l1_ratio: float = 0.0,
        forget_factor: float = 0.7,
        fresh_restarts: bool = False,
        fresh_restarts_max_iter: int = 30,
        transform_max_iter: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.batch_size = batch_size
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.max_iter = max_iter
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.forget_factor = forget_factor
        self.fresh_restarts = fresh_restarts
        self.fresh_restarts_max_iter = fresh_restarts_max_iter
        self.transform_max_iter = transform_max_iter
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit_transform(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> np.ndarray:
        """Find the parts of X, and return how much of each is in every row.

        Parameters
        ----------
        W : array-like of shape (n_samples, n_components), default=None
            The weights to start from, with init="custom"; else ignored, with a warning.
        H : array-like of shape (n_components, n_features), default=None
            The parts to start from, with init="custom"; else ignored, with a warning.

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
            The weights of the parts in each row.
        """
        self._check_parameters()
        X = check_fit(self, X, order="C").X
        with single_blas():
            W, H, sums = self._begin(X, W, H)
            W = self._steps(X, W, H, sums)
            if self.fresh_restarts:
                W = self._solved(X, H)
            self.reconstruction_err_ = distance(X, W, H, beta_of(self.beta_loss))
        self._record(H, sums)
        if self.n_iter_ == self.max_iter and self.tol > 0:
            warnings.warn(
                f"Maximum number of iterations {self.max_iter} reached. Increase it to improve convergence.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return W

    def partial_fit(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> MiniBatchNMF:
        """Learn from one batch of rows more; the first may bring W and H to start from, with init="custom".

        Parameters
        ----------
        W : array-like of shape (n_samples, n_components), default=None
            The weights to start from, with init="custom"; only for the first batch.
        H : array-like of shape (n_components, n_features), default=None
            The parts to start from, with init="custom"; only for the first batch.
        """
        self._check_parameters()
        first = not hasattr(self, "components_")
        X = check_fit(self, X, order="C", reset=first).X
        with single_blas():
            if first:
                _, H, sums = self._begin(X, W, H)
                self.n_steps_ = 0
            else:
                check_not_negative(X, f"{type(self).__name__} (input X)")
                refuse_zeros(X, beta_of(self.beta_loss))
                H, sums = self.components_.copy(), Sums(self._numerator.copy(), self._denominator.copy())
            self._step(X, None, H, sums)
        self._record(H, sums)
        self.n_steps_ += 1
        return self

    def _check_parameters(self) -> None:
        self._check_common()
        check_number(self, "max_no_improvement", 1, integer=True, also=(None,))
        check_number(self, "batch_size", 1, integer=True)
        check_number(self, "forget_factor", 0, 1)
        check_flag(self, "fresh_restarts")
        check_number(self, "fresh_restarts_max_iter", 1, integer=True)
        check_number(self, "transform_max_iter", 1, integer=True, also=(None,))

    def _begin(self, X: Any, W: Any, H: Any) -> tuple[np.ndarray, np.ndarray, Sums]:
        refuse_zeros(X, beta_of(self.beta_loss))
        W, H = self._first(X, W, H)
        self._forget = float(self.forget_factor) ** (min(self.batch_size, X.shape[0]) / X.shape[0])
        return W, H, first_sums(H)

    def _steps(self, X: Any, W: np.ndarray, H: np.ndarray, sums: Sums) -> np.ndarray:
        """Batch after batch until it has converged; W, H and the sums are changed in place."""
        n = X.shape[0]
        size = min(self.batch_size, n)
        per_pass = math.ceil(n / size)
        batches = [slice(lo, lo + size) for lo in range(0, n, size)]
        rows = [X[some] for some in batches]
        watch = Watch(self.tol, self.max_no_improvement, n, skipped=1)
        with fit_loop(self, self.max_iter * per_pass, X) as loop:
            for step in range(self.max_iter * per_pass):
                i, before = step % per_pass, H.copy()
                price = self._step(rows[i], W[batches[i]], H, sums)
                moved = float(np.linalg.norm(H - before)) / (float(np.linalg.norm(H)) or 1.0)
                if self.verbose:
                    tell("%s: batch %d, mean objective %.6g", type(self).__name__, step + 1, price)
                done = watch.still(price, rows[i].shape[0], moved, step + 1)
                if loop.step(f"objective of the batch {price:.4g}", lambda: {"components_": H}) or done:
                    break
        self.n_steps_, self.n_iter_ = step + 1, math.ceil((step + 1) / per_pass)
        return W

    def _step(self, X: Any, W: np.ndarray | None, H: np.ndarray, sums: Sums) -> float:
        """One batch: its rows of W (None: not known), then H; the mean objective in between."""
        beta, penalties = beta_of(self.beta_loss), self._penalties((X.shape[0], H.shape[1]))
        if W is None or self.fresh_restarts:
            W = solved_rows(X, H, penalties, beta, tol=self.tol, max_iter=self.fresh_restarts_max_iter)
        else:
            W = better_rows(X, W, H, penalties, beta)
        price = mean_objective(X, W, H, penalties, beta)
        update_parts(X, W, H, sums, penalties, beta, self._forget)
        return price

    def _record(self, H: np.ndarray, sums: Sums) -> None:
        self.n_components_, self.components_ = len(H), H
        self._numerator, self._denominator = sums

    def transform(self, X: Any) -> np.ndarray:
        """How much of each part is in every row: W for the parts H that were found."""
        X = check_predict(self, X, order="C")
        check_not_negative(X, f"{type(self).__name__} (input X)")
        with single_blas():
            return self._solved(X, np.ascontiguousarray(self.components_, dtype=X.dtype))

    def _solved(self, X: Any, H: np.ndarray) -> np.ndarray:
        most = self.max_iter if self.transform_max_iter is None else self.transform_max_iter
        penalties = self._penalties((X.shape[0], H.shape[1]))
        return solved_rows(X, H, penalties, beta_of(self.beta_loss), tol=self.tol, max_iter=most)
