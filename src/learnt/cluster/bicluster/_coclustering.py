"""Clusters of rows and columns together, blocks on a diagonal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from learnt.cluster.bicluster._base import EXEMPT, Biclusters, not_negative, too_small
from learnt.cluster.bicluster._scaling import roots, scaled
from learnt.engine.estimator import Trial
from learnt.engine.params import check_number


class SpectralCoclustering(Biclusters):
    """Rows and columns that belong together, each in one cluster: documents with their words (Dhillon, 2001).

    X holds the weights of a graph between rows and columns. Its normalised cut into k parts has a relaxation, singular
    vectors 2 to 1 + log₂ k of  R^(−½) X C^(−½), with R and C the sums of rows and columns; scaled by the same roots
    they are coordinates of rows and columns alike, in which k-means finds the clusters. Rows and columns without any
    weight are put at 0.

    Parameters
    ----------
    n_clusters : int, default=3
        The number of clusters.
    svd_method : {"randomized", "arpack"}, default="randomized"
        How singular vectors are found: a few products with a random start, or Lanczos iteration, which is more exact.
    n_svd_vecs : int or None, default=None
        Vectors that are iterated beyond those needed ("randomized"; None for 10), or all ("arpack").
    mini_batch : bool, default=False
        Whether `MiniBatchKMeans` finds the clusters: quicker for very many rows or columns.
    init : {"k-means++", "random"}, callable or array, default="k-means++"
        Where k-means starts.
    n_init : int, default=10
        How many starts k-means has; the one with the lowest inertia is kept.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from: for singular vectors and k-means. Pass an integer to get the same result every
        time.

    Attributes
    ----------
    row_labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    column_labels_ : ndarray of shape (n_features,)
        The cluster of each column.
    rows_ : ndarray of bool of shape (n_clusters, n_samples)
        Which rows each cluster has.
    columns_ : ndarray of bool of shape (n_clusters, n_features)
        Which columns each cluster has.
    biclusters_ : tuple of ndarray
        Both, `rows_` and `columns_`.

    See Also
    --------
    SpectralBiclustering : A checkerboard: each group of rows meets each group of columns.
    sklearn.metrics.consensus_score : How alike two sets of biclusters are.
    SpectralClustering : Clusters of rows alone.

    References
    ----------
    .. [1] I. S. Dhillon, "Co-clustering documents and words using bipartite spectral graph partitioning", KDD, 2001.

    Examples
    --------
    >>> X = np.array([[5, 4, 0, 0], [4, 6, 1, 0], [0, 0, 7, 5], [0, 1, 4, 5]])
    >>> model = SpectralCoclustering(2, random_state=0).fit(X)
    >>> model.get_submatrix(int(model.row_labels_[0]), X)
    array([[5, 4],
           [4, 6]])
    """

    __learnt_trial__ = Trial(quick={"n_clusters": 2, "random_state": 0, "n_init": 3}, any_order=False, exempt=EXEMPT)

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        svd_method: str = "randomized",
        n_svd_vecs: int | None = None,
        mini_batch: bool = False,
        init: Any = "k-means++",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.svd_method = svd_method
        self.n_svd_vecs = n_svd_vecs
        self.mini_batch = mini_batch
        self.init = init
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "n_clusters", 1, integer=True)
        super()._check_parameters()

    def _check_counts(self, n: int) -> None:
        if self.n_clusters > n:
            raise ValueError(f"n_clusters should be <= n_samples={n}. Got {self.n_clusters} instead.")

    def _find(self, X: Any, seed: Any) -> None:
        n, k = X.shape[0], int(self.n_clusters)
        labels = np.zeros(sum(X.shape), dtype=np.int32)
        if k > 1:
            X = not_negative(X, type(self).__name__)
            by_row, by_column = roots(X)
            U, V = self._vectors(scaled(X, by_row, by_column), 1 + math.ceil(math.log2(k)), seed)
            if U.shape[1] < 2:
                raise ValueError(too_small(X, type(self).__name__))
            Z = np.concatenate([by_row[:, None] * U[:, 1:], by_column[:, None] * V[:, 1:]])
            labels = self._means(Z, k, seed).labels_
        self.row_labels_, self.column_labels_ = labels[:n].copy(), labels[n:].copy()
        self.rows_ = self.row_labels_ == np.arange(k)[:, None]
        self.columns_ = self.column_labels_ == np.arange(k)[:, None]
