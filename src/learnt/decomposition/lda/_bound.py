"""The evidence lower bound of documents, which is at most their log probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import digamma, gammaln, logsumexp

from learnt.decomposition.nmf._divergence import product_at
from learnt.engine.threads import for_blocks

_ENTRIES = 1 << 15
_SMALL = 1e-250  # smaller chances are summed as logarithms


def evidence_bound(
    X: Any, shares: np.ndarray, components: np.ndarray, priors: tuple[float, float], times: float, n_jobs: int | None
) -> float:
    """E log p(documents, θ, β) − E log q(θ, β), the documents taken `times` times.

    `priors` are those of the topics in a document and of the words in a topic.
    """
    log_shares, log_topics = expected_log(shares), expected_log(components)
    score = words_given_topics(sparse.csr_array(X), log_shares, log_topics, n_jobs)
    score += _gain(priors[0], shares, log_shares)
    return times * score + _gain(priors[1], components, log_topics)


def expected_log(parameters: np.ndarray) -> np.ndarray:
    """E log p of a Dirichlet distribution a row.

    >>> expected_log(np.array([[1.0, 1.0]]))
    array([[-1., -1.]])
    """
    parameters = parameters.astype(np.float64, copy=False)
    return digamma(parameters) - digamma(parameters.sum(axis=1))[:, None]


def _gain(prior: float, parameters: np.ndarray, logs: np.ndarray) -> float:
    """E log p − E log q of Dirichlet distributions, the rows of `parameters`, with a symmetric prior."""
    parameters = parameters.astype(np.float64, copy=False)
    n, size = parameters.shape
    score = float(np.sum((prior - parameters) * logs)) + float(gammaln(parameters).sum()) - n * size * gammaln(prior)
    return float(score + n * gammaln(prior * size) - gammaln(parameters.sum(axis=1)).sum())


def words_given_topics(
    X: sparse.csr_array, log_shares: np.ndarray, log_topics: np.ndarray, n_jobs: int | None
) -> float:
    """Σ n_dw log Σ_t exp(E log θ_dt + E log β_tw)."""
    tops = log_shares.max(axis=1), log_topics.max(axis=0)
    shares, topics = np.exp(log_shares - tops[0][:, None]), np.exp(log_topics - tops[1])
    step = max(1, _ENTRIES * X.shape[0] // max(X.nnz, 1))

    def part(lo: int, hi: int) -> float:
        some = X[lo:hi]
        rows = np.repeat(np.arange(lo, hi), np.diff(some.indptr))
        chances = product_at(some, shares[lo:hi], topics)
        logs = tops[0][rows] + tops[1][some.indices] + np.log(np.maximum(chances, _SMALL))
        small = np.flatnonzero(chances < _SMALL)
        logs[small] = logsumexp(log_shares[rows[small]] + log_topics[:, some.indices[small]].T, axis=1)
        return float(some.data @ logs)

    return sum(for_blocks(part, X.shape[0], grain=step, n_jobs=n_jobs))
