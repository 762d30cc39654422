"""Latent Dirichlet allocation: the estimator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from learnt.decomposition.lda._bound import evidence_bound
from learnt.decomposition.lda._documents import Documents, documents
from learnt.decomposition.lda._expectation import added_counts, document_shares, expected_topics
from learnt.decomposition.lda._kernels import Rules
from learnt.decomposition.nmf._checks import check_not_negative
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_choice, check_number, check_verbose
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, count, instance, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict
from learnt.engine.verbose import tell

_INIT = 100.0, 0.01  # shape and scale of the gamma distribution that everything begins with: 1 ± 0.1


class LatentDirichletAllocation(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Topics of documents: of every word of a document first a topic is drawn, then the word by the topic.

    θ_d ~ Dirichlet(α),  β_t ~ Dirichlet(η);   of each word  t ~ θ_d,  w ~ β_t

    Take it to find what a collection of texts is about, from counts of words (`CountVectorizer`; not tf-idf, which are
    no counts).

    Parameters
    ----------
    n_components : int, default=10
        How many topics to find. Compare `perplexity` of documents left out, and whether topics make sense.
    doc_topic_prior : float or None, default=None
        α, the Dirichlet prior of the topics of a document, in [0, 1]; None is 1 / n_components. Smaller: documents of
        fewer topics.
    topic_word_prior : float or None, default=None
        η, the Dirichlet prior of the words of a topic, in [0, 1]; None is 1 / n_components. Smaller: topics of fewer
        words.
    learning_method : {"batch", "online"}, default="batch"
        "batch" updates the topics once a pass, from all documents; "online" after each batch of them, much faster for
        many documents.
    learning_decay : float, default=0.7
        κ of "online": batch number i, from 1, has the weight (learning_offset + i) ** −κ. Above 0.5 and at most 1 for
        convergence; the larger, the less later batches count.
    learning_offset : float, default=10.0
        At least 1; a larger one makes the first batches of "online" count less.
    max_iter : int, default=10
        Passes over the documents.
    batch_size : int, default=128
        Documents of a batch, in "online" and `partial_fit`.
    evaluate_every : int, default=-1
        Every how many passes the perplexity is computed, to stop early; it takes about as long as a pass. 0 or less is
        never.
    total_samples : float, default=1e6
        How many documents there are in all, for `partial_fit` and `perplexity(sub_sampling=True)`.
    perp_tol : float, default=0.1
        Stop when the perplexity changes by less; only with `evaluate_every`.
    mean_change_tol : float, default=1e-3
        Stopping tolerance for one document: its topic shares stand still when they change by less than this on average.
    max_doc_update_iter : int, default=100
        The most iterations for one document.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    verbose : int, default=0
        Log each pass to the logger "learnt" where it is more than 0.
    random_state : int, RandomState, Generator or None, default=None
        Where the first topics come from, and the shares that every document begins with. Pass an integer for the same
        topics every time.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        λ: how often each word was found in each topic, plus η. Divided by their sums, rows are distributions of words.
    exp_dirichlet_component_ : ndarray of shape (n_components, n_features)
        exp E log β, which the shares of documents are computed from.
    n_batch_iter_ : int
        The number of the next update of the topics, from 1.
    n_iter_ : int
        The number of passes.
    bound_ : float
        The perplexity of the training documents after the last pass.
    doc_topic_prior_ : float
        The α that was taken.
    topic_word_prior_ : float
        The η that was taken.
    random_state_ : RandomState
        The source of random numbers, which `partial_fit` goes on from.

    See Also
    --------
    NMF : Quicker parts of counts or tf-idf.
    TruncatedSVD : Latent semantic analysis.
    sklearn.feature_extraction.text.CountVectorizer : Counts of words from texts.

    Notes
    -----
    Variational Bayes [1]_: θ and β have Dirichlet distributions of their own, γ_d and λ_t, that maximise the evidence
    bound. For given topics each document is iterated by itself to a fixed point,

        γ_dt = α + Σ_w n_dw p_dwt,   p_dwt ∝ exp(E log θ_dt + E log β_tw),

    and then  λ_tw = η + Σ_d n_dw p_dwt,  over all documents or, weighted, over a batch of them [2]_. The compiled loop
    goes over a document's own words only, documents on all threads; results are the same for any number of them, and
    those of scikit-learn with one job for the same seed.

    References
    ----------
    .. [1] D. M. Blei, A. Y. Ng and M. I. Jordan, "Latent Dirichlet allocation", Journal of Machine Learning Research 3,
       2003.
    .. [2] M. D. Hoffman, D. M. Blei and F. Bach, "Online learning for latent Dirichlet allocation", NIPS, 2010.

    Examples
    --------
    >>> counts = np.array([[8, 7, 0, 0], [0, 0, 9, 4], [6, 9, 1, 0], [0, 0, 5, 7]])
    >>> model = LatentDirichletAllocation(n_components=2, random_state=0).fit(counts)
    >>> shares = model.transform(counts)
    >>> bool(shares[0].argmax() == shares[2].argmax() != shares[1].argmax() == shares[3].argmax())
    True
    """

    __learnt_schema__ = Schema(
        params={"max_doc_update_iter": count(), "mean_change_tol": number(0), "total_samples": number(above=0)},
        state={
            **FEATURES,
            "components_": real("k", "d", low=0),
            "exp_dirichlet_component_": real("k", "d", low=0),
            "doc_topic_prior_": number(0),
            "topic_word_prior_": number(0),
        },
        extra={
            "n_batch_iter_": count(1),
            "n_iter_": count(),
            "bound_": number(finite=False),
            "random_state_": instance(np.random.RandomState, "a source of random numbers"),
        },
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(
        quick={"n_components": 3, "random_state": 0, "max_iter": 5},
        warmup=(Warm("none", {"n_components": 2, "max_iter": 1, "random_state": 0}),),
        any_order=False,  # documents begin with random shares
    )

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: float | None = None,
        topic_word_prior: float | None = None,
        learning_method: str = "batch",
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        max_iter: int = 10,
        batch_size: int = 128,
        evaluate_every: int = -1,
        total_samples: float = 1e6,
        perp_tol: float = 1e-1,
        mean_change_tol: float = 1e-3,
        max_doc_update_iter: int = 100,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.learning_method = learning_method
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.evaluate_every = evaluate_every
        self.total_samples = total_samples
        self.perp_tol = perp_tol
        self.mean_change_tol = mean_change_tol
        self.max_doc_update_iter = max_doc_update_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> LatentDirichletAllocation:
        """Find the topics of the documents X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Counts: how often each word (column) is in each document (row).
        """
        self._check_parameters()
        X = check_fit(self, X).X
        check_not_negative(X, f"{type(self).__name__}.fit")
        online = self.learning_method == "online"
        with single_blas():
            self._begin(X)
            batches = self._batches(X) if online else [documents(X)]
            last: float | None = None
            with fit_loop(self, self.max_iter, X) as loop:
                for i in range(self.max_iter):
                    for batch in batches:
                        self._step(batch, X.dtype, self._weight() if online else 1.0, X.shape[0])
                    said = f"pass {i + 1} of {self.max_iter}"
                    if self.evaluate_every > 0 and (i + 1) % self.evaluate_every == 0:
                        before, last = last, self._perplexity(X, 1.0)
                        said += f", perplexity {last:.4f}"
                        if before is not None and abs(before - last) < self.perp_tol:
                            break
                    if self.verbose:
                        tell("%s: %s", type(self).__name__, said)
                    self.n_iter_ += 1
                    if loop.step(said):
                        break
            self.bound_ = self._perplexity(X, 1.0)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> LatentDirichletAllocation:
        """Learn from some documents more, of `total_samples`, in batches.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Counts: how often each word (column) is in each document (row).
        """
        self._check_parameters()
        first = not hasattr(self, "components_")
        X = check_fit(self, X, reset=first).X
        check_not_negative(X, f"{type(self).__name__}.partial_fit")
        with single_blas():
            if first:
                self._begin(X)
            for batch in self._batches(X):
                self._step(batch, self.components_.dtype, self._weight(), self.total_samples)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "n_components", 1, integer=True)
        check_number(self, "doc_topic_prior", 0, 1, also=(None,))
        check_number(self, "topic_word_prior", 0, 1, also=(None,))
        check_choice(self, "learning_method", ("batch", "online"))
        check_number(self, "learning_decay", 0, 1)
        check_number(self, "learning_offset", 1)
        check_number(self, "max_iter", 0, integer=True)
        check_number(self, "batch_size", 1, integer=True)
        check_number(self, "evaluate_every", integer=True)
        check_number(self, "total_samples", 0, open_low=True)
        check_number(self, "perp_tol", 0)
        check_number(self, "mean_change_tol", 0)
        check_number(self, "max_doc_update_iter", 0, integer=True)
        check_verbose(self)

    def _begin(self, X: Any) -> None:
        """Topics of nearly equal words."""
        even = 1.0 / self.n_components
        self.doc_topic_prior_ = even if self.doc_topic_prior is None else self.doc_topic_prior
        self.topic_word_prior_ = even if self.topic_word_prior is None else self.topic_word_prior
        self.random_state_ = random_state_of(self.random_state)
        self.n_batch_iter_, self.n_iter_ = 1, 0
        self._record(self.random_state_.gamma(*_INIT, (self.n_components, X.shape[1])), X.dtype)

    def _record(self, components: np.ndarray, dtype: Any) -> None:
        self.components_ = components.astype(dtype, copy=False)
        self.exp_dirichlet_component_ = expected_topics(components, self.n_jobs).astype(dtype, copy=False)

    def _batches(self, X: Any) -> list[Documents]:
        return [documents(X[some]) for some in gen_batches(X.shape[0], self.batch_size)]

    def _weight(self) -> float:
        return float((self.learning_offset + self.n_batch_iter_) ** -self.learning_decay)

    def _step(self, batch: Documents, dtype: Any, share: float, of: float) -> None:
        """Shares of the topics in a batch, and the topics anew, of which `share` is from this batch.

        The batch counts as all `of` documents.
        """
        n = batch.shape[0]
        topics = self.exp_dirichlet_component_.astype(np.float64, copy=False)
        shares = self.random_state_.gamma(*_INIT, (n, self.n_components)).astype(dtype).astype(np.float64, copy=False)
        chances, ratios = document_shares(batch, topics, self._rules(dtype), shares, self.n_jobs)
        found = added_counts(batch, topics, chances, ratios, self.n_jobs)
        if share == 1.0 and of == n:
            found += self.topic_word_prior_
        else:
            found *= share * float(of) / n
            found += share * self.topic_word_prior_
            found += (1.0 - share) * self.components_
        self._record(found, dtype)
        self.n_batch_iter_ += 1

    def _rules(self, dtype: Any) -> Rules:
        return Rules(
            float(self.doc_topic_prior_),
            float(np.finfo(dtype).eps),
            float(self.mean_change_tol),
            int(self.max_doc_update_iter),
        )

    def _shares(self, X: Any) -> np.ndarray:
        """Dirichlet parameters of the topics in every document, from an even start."""
        shares = np.ones((X.shape[0], len(self.components_)))
        topics = self.exp_dirichlet_component_.astype(np.float64, copy=False)
        document_shares(documents(X), topics, self._rules(self.components_.dtype), shares, self.n_jobs)
        return shares

    def transform(self, X: Any, *, normalize: bool = True) -> np.ndarray:
        """The share of each topic in every document.

        Parameters
        ----------
        normalize : bool, default=True
            Whether to return shares, which add up to 1; False returns the parameters of their Dirichlet distribution.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_components)
            One row for each document, one column for each topic.
        """
        X = self._checked(X, "transform")
        shares = self._shares(X)
        if normalize:
            shares /= shares.sum(axis=1)[:, None]
        return shares.astype(self.components_.dtype, copy=False)

    def fit_transform(self, X: Any, y: Any = None, *, normalize: bool = True) -> np.ndarray:
        """Find the topics of X, and return their shares in every document.

        Parameters
        ----------
        normalize : bool, default=True
            Whether to return shares, which add up to 1; False returns the parameters of their Dirichlet distribution.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_components)
            One row for each document, one column for each topic.
        """
        return self.fit(X, y).transform(X, normalize=normalize)

    def score(self, X: Any, y: Any = None) -> float:
        """The evidence bound of the documents, which lies below their log probability; the higher, the better.

        Returns
        -------
        score : float
            The bound, of all documents together.
        """
        return self._bound(self._checked(X, "score"), 1.0)

    def perplexity(self, X: Any, sub_sampling: bool = False) -> float:
        """exp(−bound / words): as uncertain as a word drawn from so many equally likely ones; the lower, the better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Counts of words, best of documents left out.
        sub_sampling : bool, default=False
            Whether the documents stand for `total_samples` like them.

        Returns
        -------
        perplexity : float
            The perplexity per word.
        """
        X = self._checked(X, "perplexity")
        return self._perplexity(X, float(self.total_samples) / X.shape[0] if sub_sampling else 1.0)

    def _checked(self, X: Any, method: str) -> Any:
        check_is_fitted(self)
        X = check_predict(self, X)
        check_not_negative(X, f"{type(self).__name__}.{method}")
        return X

    def _bound(self, X: Any, times: float) -> float:
        priors = float(self.doc_topic_prior_), float(self.topic_word_prior_)
        return evidence_bound(X, self._shares(X), self.components_, priors, times, self.n_jobs)

    def _perplexity(self, X: Any, times: float) -> float:
        words = float(X.sum(dtype=np.float64)) * times
        with np.errstate(over="ignore"):
            return float(np.exp(-self._bound(X, times) / words)) if words else math.inf

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
