"""Features merged two at a time, the nearest first, and replaced by what each cluster of them has in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.cluster.agglomerative._estimator import Agglomeration
from learnt.engine.estimator import Trial
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import ParameterError
from learnt.engine.schema import FEATURES, Dims, Schema, count, integers, real
from learnt.engine.threads import for_blocks
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict

_CELLS = 1 << 16  # of a block of rows, which stays in the cache
_POOLS = (np.mean, np.median, np.max, np.min, np.sum)  # what a model file may name


def _pools(value: Any, dims: Dims) -> str | None:
    return None if any(value is pool for pool in _POOLS) else "is not a function that pools"


class FeatureAgglomeration(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Agglomeration):
    """Similar features merged into few: `AgglomerativeClustering` of the columns, and the mean of each cluster.

    Makes one column of many that say the same, such as neighbouring pixels or correlated measurements; unlike principal
    components each feature belongs to one of the new columns.

    Parameters
    ----------
    n_clusters : int or None, default=2
        How many features are left; None where `distance_threshold` decides.
    metric : str or callable, default="euclidean"
        The distance of two features by name, such as "manhattan" or "cosine"; "precomputed"; or a function of all
        features that gives a matrix of distances. Ward's linkage is Euclidean.
    memory : None, str or joblib.Memory, default=None
        Where trees are kept from call to call, for other cuts of the same tree.
    connectivity : {array-like, sparse matrix} of shape (n_features, n_features), callable or None, default=None
        Which features are neighbours, the pixels of an image, say: only neighbours are merged. Or a function of the
        columns that says so.
    compute_full_tree : "auto" or bool, default="auto"
        Whether a tree with `connectivity` is merged to the end; False saves time. "auto" is for few clusters and
        thresholds.
    linkage : {"ward", "complete", "average", "single"}, default="ward"
        The distance between two clusters.

        - "ward": by how much their merge raises the sum of squares about the centroids; compact clusters of like size.
        - "average": the mean distance of the features of both.
        - "complete": their largest distance; compact clusters, moved by outliers.
        - "single": their smallest distance; clusters of any shape, which a chain of features joins.
    pooling_func : callable, default=np.mean
        A function of an array and of `axis` that makes one number of the features of a cluster.
    distance_threshold : float or None, default=None
        Clusters at this distance or farther are not merged; then `n_clusters` must be None.
    compute_distances : bool, default=False
        Whether `distances_` is kept where no threshold needs it, for a dendrogram say.

    Attributes
    ----------
    labels_ : ndarray of shape (n_features,)
        The cluster of each feature.
    children_ : ndarray of shape (n_merges, 2)
        The clusters merged into cluster n_features + i; clusters below n_features are features.
    distances_ : ndarray of shape (n_merges,)
        The distance of each merge; only with `distance_threshold` or `compute_distances`.
    n_clusters_ : int
        The number of clusters.
    n_leaves_ : int
        The number of features.
    n_connected_components_ : int
        The number of parts of the graph of `connectivity`; 1 without it.

    See Also
    --------
    AgglomerativeClustering : The same of the rows.
    learnt.decomposition.PCA : New columns that are mixtures of all features.

    Notes
    -----
    Scale the columns first: features of different units are far apart even where they say the same.

    Examples
    --------
    >>> X = np.array([[0.0, 0.2, 5.0], [1.0, 1.2, 5.0], [2.0, 2.2, 4.0]])
    >>> model = FeatureAgglomeration().fit(X)
    >>> model.labels_, model.transform(X)[2]
    (array([0, 0, 1]), array([2.1, 4. ]))
    """

    __learnt_schema__ = Schema(
        params={"pooling_func": _pools},
        state={
            **FEATURES,
            "n_leaves_": count(2, name="d"),
            "n_clusters_": count(1, name="k"),
            "_n_features_out": count(1, name="k"),
            "n_connected_components_": count(1),
            "labels_": integers("d", below="k"),
            "children_": integers("m", 2),
        },
        extra={"distances_": real("m", low=0)},
    )
    __learnt_trial__ = Trial()

    pooling_func: Callable

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Any = "euclidean",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: Any = "auto",
        linkage: str = "ward",
        pooling_func: Callable = np.mean,
        distance_threshold: float | None = None,
        compute_distances: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.metric = metric
        self.compute_distances = compute_distances
        self.pooling_func = pooling_func

    def fit(self, X: Any, y: Any = None) -> FeatureAgglomeration:
        """Merge the columns of X."""
        self._check_parameters()
        if not callable(self.pooling_func):
            raise ParameterError(
                f"The 'pooling_func' parameter of {type(self).__name__} must be a function. Got "
                f"{self.pooling_func!r:.80} instead."
            )
        X = check_fit(self, X).X
        if X.shape[1] < 2:
            raise ValueError(
                f"Found array with 1 feature(s) (shape={X.shape}) while a minimum of 2 is required by "
                f"{type(self).__name__}."
            )
        self._cluster(np.ascontiguousarray(X.T))
        self._n_features_out = self.n_clusters_
        return self

    def transform(self, X: Any) -> np.ndarray:
        """What the features of each cluster have in common (n × n_clusters)."""
        check_is_fitted(self, msg=NOT_FITTED)
        X = check_predict(self, X)
        if self.pooling_func is not np.mean:
            pooled = [self.pooling_func(X[:, self.labels_ == k], axis=1) for k in range(self.n_clusters_)]
            return np.array(pooled).T
        order = np.argsort(self.labels_, kind="stable")
        size = np.bincount(self.labels_, minlength=self.n_clusters_)
        start = np.r_[0, np.cumsum(size)[:-1]]
        out = np.empty((len(X), self.n_clusters_))

        def add(lo: int, hi: int) -> None:
            np.add.reduceat(X[lo:hi, order], start, axis=1, out=out[lo:hi], dtype=np.float64)

        for_blocks(add, len(X), grain=max(1, _CELLS // X.shape[1]))
        out /= size
        return out

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Each feature as what its cluster has in common (n × n_features).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_clusters)
            What `transform` returned.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        X = np.asarray(X)
        if X.shape[-1] != self.n_clusters_:
            raise ValueError(
                f"X has {X.shape[-1]} columns, but {type(self).__name__} has {self.n_clusters_} clusters of features; "
                "give one column for each."
            )
        return X[..., self.labels_]
