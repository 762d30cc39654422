"""Clusters of rows and clusters of columns that make a checkerboard."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from learnt.cluster.bicluster._base import EXEMPT, Biclusters, not_negative, too_small
from learnt.cluster.bicluster._scaling import bistochastic, log_interactions, roots, scaled
from learnt.engine.estimator import Trial
from learnt.engine.params import check_choice, check_number


class SpectralBiclustering(Biclusters):
    """Groups of rows and groups of columns such that X is nearly constant where two meet (Kluger and others, 2003).

    Of a matrix whose rows and columns are scaled to like sizes, singular vectors are nearly constant over the groups.
    Those that k-means in one dimension explains best are kept, rows and columns projected onto them, and grouped by
    k-means. Take it for a checkerboard: genes by conditions, say.

    Parameters
    ----------
    n_clusters : int or tuple (n_row_clusters, n_column_clusters), default=3
        The number of groups of rows and of columns.
    method : {"bistochastic", "scale", "log"}, default="bistochastic"
        How X is scaled: until all sums are alike; once, by roots of the sums; or take what is left of the logarithm
        without the means of rows and columns, which X must be dense for.
    n_components : int, default=6
        Singular vectors that are looked at.
    n_best : int, default=3
        How many of them are kept.
    svd_method : {"randomized", "arpack"}, default="randomized"
        How singular vectors are found: a few products with a random start, or Lanczos iteration, which is more exact.
    n_svd_vecs : int or None, default=None
        Vectors that are iterated beyond those needed ("randomized"; None for 10), or all ("arpack").
    mini_batch : bool, default=False
        Whether `MiniBatchKMeans` finds the groups: quicker for very many rows or columns.
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
        The group of each row.
    column_labels_ : ndarray of shape (n_features,)
        The group of each column.
    rows_ : ndarray of bool of shape (n_row_clusters · n_column_clusters, n_samples)
        Which rows each square of the checkerboard has; squares go along the groups of columns first.
    columns_ : ndarray of bool of shape (n_row_clusters · n_column_clusters, n_features)
        Which columns each square has.
    biclusters_ : tuple of ndarray
        Both, `rows_` and `columns_`.

    See Also
    --------
    SpectralCoclustering : Each row and column in one block only.
    sklearn.metrics.consensus_score : How alike two sets of biclusters are.
    SpectralClustering : Clusters of rows alone.

    References
    ----------
    .. [1] Y. Kluger, R. Basri, J. T. Chang, M. Gerstein, "Spectral biclustering of microarray data: coclustering genes
       and conditions", Genome Research 13, 2003.

    Examples
    --------
    >>> X = np.kron([[1.0, 5.0], [7.0, 2.0]], np.ones((4, 3)))
    >>> model = SpectralBiclustering(2, method="log", n_components=2, n_best=1, random_state=0).fit(X)
    >>> bool((model.row_labels_[:4] == 1 - model.row_labels_[4:]).all())
    True
    """

    __learnt_trial__ = Trial(
        quick={"n_clusters": 2, "n_components": 2, "n_best": 1, "random_state": 0, "n_init": 3},
        any_order=False,
        exempt=EXEMPT,
    )

    def __init__(
        self,
        n_clusters: Any = 3,
        *,
        method: str = "bistochastic",
        n_components: int = 6,
        n_best: int = 3,
        svd_method: str = "randomized",
        n_svd_vecs: int | None = None,
        mini_batch: bool = False,
        init: Any = "k-means++",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.n_components = n_components
        self.n_best = n_best
        self.svd_method = svd_method
        self.n_svd_vecs = n_svd_vecs
        self.mini_batch = mini_batch
        self.init = init
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice(self, "method", ("bistochastic", "scale", "log"))
        check_number(self, "n_components", 1, integer=True)
        check_number(self, "n_best", 1, integer=True)
        super()._check_parameters()
        if self.n_best > self.n_components:
            raise ValueError(f"n_best={self.n_best} must be <= n_components={self.n_components}.")

    def _check_counts(self, n: int) -> None:
        if not all(isinstance(k, Integral) and 1 <= int(k) <= n for k in self._groups()):
            raise ValueError(
                f"Incorrect parameter n_clusters has value: {self.n_clusters}. It should either be a single integer "
                "or a pair (n_row_clusters, n_column_clusters), of numbers from 1 to the number of rows; n_clusters "
                f"should be <= n_samples={n}."
            )

    def _groups(self) -> tuple[Any, Any]:
        given = self.n_clusters
        return tuple(given) if isinstance(given, tuple | list) and len(given) == 2 else (given, given)

    def _find(self, X: Any, seed: Any) -> None:
        n_rows, n_columns = (int(k) for k in self._groups())
        U, V = self._vectors(*self._scaled(X), seed)
        if self.method != "log":  # the first is that of sums, the same whatever the groups
            U, V = U[:, 1:], V[:, 1:]
        if not U.shape[1]:
            raise ValueError(too_small(X, type(self).__name__))
        left, right = self._best(U, n_rows, seed), self._best(V, n_columns, seed)
        self.row_labels_ = self._means(np.asarray(X @ right), n_rows, seed).labels_
        self.column_labels_ = self._means(np.asarray(X.T @ left), n_columns, seed).labels_
        self.rows_ = self.row_labels_ == np.repeat(np.arange(n_rows), n_columns)[:, None]
        self.columns_ = self.column_labels_ == np.tile(np.arange(n_columns), n_rows)[:, None]

    def _scaled(self, X: Any) -> tuple[Any, int]:
        """The matrix, and how many of its singular vectors are needed."""
        k = int(self.n_components)
        if self.method == "log":
            if not isinstance(X, np.ndarray):
                raise ValueError(
                    "Cannot compute log of a sparse matrix, because its zeros would become -infinity; take "
                    "method='bistochastic' or 'scale', or give X.toarray()."
                )
            return log_interactions(X), k
        X = not_negative(X, type(self).__name__)
        return bistochastic(X) if self.method == "bistochastic" else scaled(X, *roots(X)), k + 1

    def _best(self, vectors: np.ndarray, k: int, seed: Any) -> np.ndarray:
        """The vectors that are nearest to having k values only."""
        left = []
        for v in vectors.T:
            means = self._means(v[:, None], k, seed)
            left.append(float(np.linalg.norm(v - means.cluster_centers_[means.labels_, 0])))
        return vectors[:, np.argsort(left)[: self.n_best]]
