"""A restricted Boltzmann machine: hidden units that explain zeros and ones, with NumPy alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs
from scipy.special import expit
from sklearn.utils import gen_even_slices
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.matrices import dense
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_number, check_verbose
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.rows import Block, as_rows, in_memory
from learnt.engine.schema import FEATURES, Schema, count, instance, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict
from learnt.engine.verbose import tell


class BernoulliRBM(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Visible units v and hidden units h of 0 and 1, each layer independent given the other.

    p(v, h) ∝ exp(b·v + c·h + hᵀWv),   p(h = 1 | v) = σ(c + Wv),   p(v = 1 | h) = σ(b + Wᵀh)

    The slope of the log likelihood of a row is hvᵀ, on average over p(h | v), less its average over the model, for
    which chains of Gibbs sampling stand that go on from batch to batch (persistent contrastive divergence). Rows may
    also hold chances between 0 and 1. `transform` gives p(h = 1 | v): features for another model.

    Parameters
    ----------
    n_components : int, default=256
        The number of hidden units, and of columns that `transform` returns.
    learning_rate : float, default=0.1
        The size of a step along a batch's mean slope; worth choosing well, in powers of 10.
    batch_size : int, default=10
        Rows of a batch, and the number of chains.
    n_iter : int, default=10
        Passes over the rows.
    verbose : int, default=0
        Above 0, the pseudo-likelihood is logged to the logger named "learnt" after every pass, which takes time.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from: first weights, the chains, and `score_samples`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The weights W.
    intercept_hidden_ : ndarray of shape (n_components,)
        The constants c of the hidden units.
    intercept_visible_ : ndarray of shape (n_features,)
        The constants b of the visible units.
    h_samples_ : ndarray of shape (batch_size, n_components)
        Hidden units of the chains.
    random_state_ : RandomState
        Where `gibbs` and `partial_fit` draw from; made by the first call of one of them.

    See Also
    --------
    learnt.decomposition.PCA : Linear features, in one step.
    learnt.decomposition.NMF : Features of numbers that are not negative.
    MLPClassifier : Learns its features together with the classes.

    Notes
    -----
    A batch takes three products with W, and no matrix of its size besides: a pass costs time n · n_components ·
    n_features.

    References
    ----------
    .. [1] G. E. Hinton, S. Osindero, Y.-W. Teh, "A fast learning algorithm for deep belief nets",
       Neural Computation 18, 2006.
    .. [2] T. Tieleman, "Training restricted Boltzmann machines using approximations to the likelihood gradient",
       ICML, 2008.

    Examples
    --------
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
    >>> model = BernoulliRBM(n_components=2, learning_rate=0.2, n_iter=50, random_state=0).fit(X)
    >>> ours, other = model.score_samples([[1, 1, 0, 0]]), model.score_samples([[1, 0, 1, 0]])
    >>> bool(ours[0] > other[0] + 2)
    True
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "components_": real("k", "d"),
            "intercept_hidden_": real("k"),
            "intercept_visible_": real("d"),
        },
        extra={
            "h_samples_": real(None, "k"),
            "random_state_": instance(np.random.RandomState, "a source of random numbers"),
        },
        params={"learning_rate": number(above=0), "n_iter": count()},
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(
        quick={"n_components": 4, "n_iter": 3, "random_state": 0},
        warmup=(Warm("none", {"n_components": 2, "n_iter": 1, "random_state": 0}),),
        any_order=False,  # rows go by in batches
        exempt=("check_methods_subset_invariance", "check_methods_sample_order_invariance"),  # `score_samples` draws
    )

    components_: np.ndarray
    intercept_hidden_: np.ndarray
    intercept_visible_: np.ndarray

    def __init__(
        self,
        n_components: int = 256,
        *,
        learning_rate: float = 0.1,
        batch_size: int = 10,
        n_iter: int = 10,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> BernoulliRBM:
        """Learn the weights."""
        self._check_parameters()
        X = check_fit(self, X).X
        n, draw = X.shape[0], random_state_of(self.random_state)
        batches = math.ceil(n / self.batch_size)
        slices = list(gen_even_slices(batches * self.batch_size, batches, n_samples=n))
        self._begin(X.shape[1], X.dtype, draw)
        with single_blas(), fit_loop(self, self.n_iter, X) as loop:
            for i in range(self.n_iter):
                for some in slices:
                    self._step(dense(X[some]), draw)
                if self.verbose:
                    score = float(self._score(X).mean())
                    tell("%s: pass %d, pseudo-likelihood %.4g", type(self).__name__, i + 1, score)
                if loop.step(f"pass {i + 1}"):
                    break
        return self

    def partial_fit(self, X: Any, y: Any = None) -> BernoulliRBM:
        """Learn from one batch of rows more."""
        self._check_parameters()
        first = not hasattr(self, "components_")
        X = check_fit(self, X, reset=first).X
        if not hasattr(self, "random_state_"):
            self.random_state_ = random_state_of(self.random_state)
        if first:
            self._begin(X.shape[1], np.float64, self.random_state_)
        else:  # steps change them in place, and they may be others' or read-only
            self.components_ = np.array(self.components_, order="F")
            self.intercept_hidden_ = self.intercept_hidden_.copy()
            self.intercept_visible_ = self.intercept_visible_.copy()
        with single_blas():
            self._step(dense(X), self.random_state_)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "n_components", 1, integer=True)
        check_number(self, "learning_rate", 0, open_low=True)
        check_number(self, "batch_size", 1, integer=True)
        check_number(self, "n_iter", 0, integer=True)
        check_verbose(self)

    def _begin(self, d: int, dtype: Any, draw: np.random.RandomState) -> None:
        k = self.n_components
        self.components_ = np.asarray(draw.normal(0, 0.01, (k, d)), order="F", dtype=dtype)
        self.intercept_hidden_, self.intercept_visible_ = np.zeros(k, dtype=dtype), np.zeros(d, dtype=dtype)
        self.h_samples_ = np.zeros((self.batch_size, k), dtype=dtype)

    def _step(self, batch: np.ndarray, draw: np.random.RandomState) -> None:
        """Move the weights along the slope of a batch, and the chains by one step."""
        W, n = self.components_, len(batch)
        rate = float(self.learning_rate) / n
        means = expit(self.h_samples_ @ W + self.intercept_visible_)
        # Rows above, units of the chains below, which count negatively.
        visible = np.concatenate([batch, draw.uniform(size=means.shape) < means], dtype=W.dtype)
        hidden = expit(visible @ W.T + self.intercept_hidden_)
        chains = (draw.uniform(size=(len(means), len(W))) < hidden[n:]).astype(W.dtype)
        hidden[n:] *= -1.0
        gemm = get_blas_funcs("gemm", (W, hidden, visible))
        self.components_ = gemm(rate, hidden.T, visible.T, 1.0, W, trans_b=True, overwrite_c=True)
        self.intercept_hidden_ += rate * hidden.sum(axis=0)
        self.intercept_visible_ += rate * np.subtract(*(part.sum(axis=0, dtype=float) for part in (batch, visible[n:])))
        self.h_samples_ = chains

    def transform(self, X: Any) -> np.ndarray:
        """p(h = 1 | v) of every row (n_samples × n_components)."""
        X = check_predict(self, X)
        return in_memory(as_rows(X).map(hidden_means, self.components_.T.astype(X.dtype), self.intercept_hidden_))

    def gibbs(self, v: Any) -> np.ndarray:
        """One step of Gibbs sampling: hidden units of the rows v, and from these new rows, of True and False.

        Parameters
        ----------
        v : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to begin from.

        Returns
        -------
        v_new : ndarray of bool of shape (n_samples, n_features)
            The rows after one step.
        """
        check_is_fitted(self)
        if not hasattr(self, "random_state_"):
            self.random_state_ = random_state_of(self.random_state)
        means = self.transform(v)
        hidden = (self.random_state_.uniform(size=means.shape) < means).astype(self.components_.dtype)
        with single_blas():
            means = expit(hidden @ self.components_ + self.intercept_visible_)
        return self.random_state_.uniform(size=means.shape) < means

    def score_samples(self, X: Any) -> np.ndarray:
        """The pseudo-likelihood of every row of 0 and 1: n_features · log p(a feature | all others), for one drawn.

        The same `random_state` draws the same features.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            One number a row; the higher, the more like the training rows.
        """
        return self._score(check_predict(self, X))

    def _score(self, X: Any) -> np.ndarray:
        flipped = random_state_of(self.random_state).randint(0, X.shape[1], X.shape[0])
        gain = in_memory(
            as_rows(X).map(energy_of_flips, flipped, self.components_, self.intercept_hidden_, self.intercept_visible_)
        )
        return -X.shape[1] * np.logaddexp(0.0, -gain)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def hidden_means(block: Block, W: np.ndarray, c: np.ndarray) -> np.ndarray:
    """p(h = 1 | v) of a block of rows."""
    return expit(np.asarray(block.X @ W) + c).astype(W.dtype, copy=False)


def energy_of_flips(block: Block, flipped: np.ndarray, W: np.ndarray, c: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How much the free energy −b·v − Σ log(1 + exp(c + Wv)) rises if one feature of each row is turned round.

    Only one column of W comes or goes with a feature: one product with W does for both energies.
    """
    n = block.X.shape[0]
    j = flipped[block.start : block.start + n]
    change = 1.0 - 2.0 * np.asarray(block.X[np.arange(n), j], dtype=np.float64).ravel()
    inputs = np.asarray(block.X @ W.T) + c
    after = inputs + change[:, None] * W.T[j]
    return np.logaddexp(0.0, inputs).sum(axis=1) - np.logaddexp(0.0, after).sum(axis=1) - change * b[j]
