"""Counts of words, by document for the shares of topics and by word for what these add to the topics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.decomposition.lda._kernels import Counts


class Documents(NamedTuple):
    """Counts in the order of documents, and where the entries of each word are among them."""

    by_document: Counts
    indptr: np.ndarray  # of the words
    documents: np.ndarray  # the document of each entry of a word
    places: np.ndarray  # and its place in `by_document`

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words."""
        return len(self.by_document.indptr) - 1, len(self.indptr) - 1


def documents(X: Any) -> Documents:
    """The counts of a matrix, dense or CSR.

    >>> documents(np.array([[0.0, 2.0], [1.0, 3.0]])).places
    array([1, 0, 2])
    """
    X = sparse.csr_array(X)
    by_word = sparse.csr_array((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).tocsc()
    counts = Counts(
        X.indptr.astype(np.int64, copy=False),
        X.indices.astype(np.int32, copy=False),
        X.data.astype(np.float64, copy=False),
    )
    return Documents(counts, by_word.indptr, by_word.indices, by_word.data)
