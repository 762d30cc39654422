"""The graph that joins points to their nearest."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.distances._search import Search


def nearest_graph(X: Any, k: int, metric: Any = "euclidean", n_jobs: int | None = None) -> sparse.csr_array:
    """Symmetric weights of neighbours: ½ where one of two rows is among the k nearest of the other, 1 where both are.

    A row is the first of its own nearest. Of a sparse matrix of "precomputed" distances what it holds is taken.

    >>> nearest_graph(np.array([[0.0], [1.0], [3.0]]), 2).toarray().tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    index = Search.build(X, metric, algorithm="auto", n_jobs=n_jobs).nearest(X, k, n_jobs=n_jobs)[1]
    n = X.shape[0]
    ones = sparse.csr_array((np.ones(index.size), index.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return sparse.csr_array(0.5 * (ones + ones.T))
