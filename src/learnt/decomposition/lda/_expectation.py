"""The expectation step: shares of the topics in every document, and what the documents add to the topics.

    D. M. Blei, A. Y. Ng and M. I. Jordan, "Latent Dirichlet allocation", 2003
    M. D. Hoffman, D. M. Blei and F. Bach, "Online learning for latent Dirichlet allocation", 2010

Documents are independent of each other, and so are words once the shares are known: both go in blocks on all threads,
and no sum depends on the blocks.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from learnt.decomposition.lda import _kernels
from learnt.decomposition.lda._documents import Documents
from learnt.decomposition.lda._kernels import Rules
from learnt.engine.threads import for_blocks

_WORK = 1 << 17  # products of a word and a topic in a block: milliseconds
_CELLS = 1 << 15


def expected_topics(components: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """exp E log p of the words in every topic.

    >>> expected_topics(np.array([[1.0, 1.0]])).round(4)
    array([[0.3679, 0.3679]])
    """
    out = np.empty(components.shape)
    grain = max(1, _CELLS // components.shape[1])
    for_blocks(partial(_chances_part, components, out), len(components), grain=grain, n_jobs=n_jobs)
    return out


def _chances_part(parameters: np.ndarray, out: np.ndarray, lo: int, hi: int) -> None:
    _kernels.expected_chances(parameters, lo, hi, out)


def document_shares(
    documents: Documents, topics: np.ndarray, rules: Rules, shares: np.ndarray, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Update `shares`, Dirichlet parameters of every document, in place.

    `topics` are the expected chances of the words in every topic. Gives the expected chances of the topics in every
    document, and the counts of words over their chances in it.
    """
    n, k = shares.shape
    chances, ratios = np.empty((n, k)), np.empty(len(documents.by_document.counts))
    by_word = np.ascontiguousarray(topics.T)

    def part(lo: int, hi: int) -> None:
        _kernels.shares_of_documents(documents.by_document, lo, hi, by_word, rules, shares, chances, ratios)

    for_blocks(part, n, grain=max(1, _WORK * n // (k * (len(ratios) + n))), n_jobs=n_jobs)
    return chances, ratios


def added_counts(
    documents: Documents, topics: np.ndarray, chances: np.ndarray, ratios: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """How many times each word is expected in each topic: Σ_d n_dw p(topic | d, w)."""
    n, d = documents.shape
    out, ptr, ratios = np.empty((len(topics), d)), documents.indptr, ratios[documents.places]

    def part(lo: int, hi: int) -> None:
        some = slice(ptr[lo], ptr[hi])
        sums = sparse.csr_array((ratios[some], documents.documents[some], ptr[lo : hi + 1] - ptr[lo]), (hi - lo, n))
        np.multiply((sums @ chances).T, topics[:, lo:hi], out=out[:, lo:hi])

    for_blocks(part, d, grain=max(1, _WORK * 16 * d // (len(topics) * (len(ratios) + d))), n_jobs=n_jobs)
    return out
