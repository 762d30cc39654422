"""BIRCH: the estimator."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from learnt.cluster.agglomerative._estimator import AgglomerativeClustering
from learnt.cluster.birch._nodes import linked_nodes
from learnt.cluster.birch._tree import CFTree, grown, is_whole, seedling
from learnt.distances import Search, distance_function
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import dense_parts
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from learnt.engine.params import ParameterError, check_flag, check_number
from learnt.engine.progress import task
from learnt.engine.schema import FEATURES, Dims, Schema, count, instance, integers, real
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict

_CELLS = 1 << 16  # of rows that are inserted before Ctrl-C is looked for


def _tree_fits(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    tree = state["_tree"]
    if not is_whole(tree, dims["d"]):
        return "holds a tree that is none"
    entries = int(tree.filled[tree.leaves()].sum())
    return None if entries == dims["k"] else "has a tree of other subclusters"


class Birch(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, Estimator):
    """Rows summed up in small clusters as they come, which are then clustered (Zhang, Ramakrishnan and Livny, 1996).

    A tree of sums leads each row to the nearest subcluster; it joins if that subcluster's radius,
    (Σ ‖x − mean‖² / n)^½, stays within the threshold, and begins another if not. Rows are read once, and none is kept:
    for streams, and to make a large table small before a clustering that many rows are too much for.

    Parameters
    ----------
    threshold : float, default=0.5
        The largest radius of a subcluster, in the unit of the columns: the parameter to choose. Smaller values give
        more subclusters, and need more memory.
    branching_factor : int, default=50
        The most entries of a node; fuller ones are split.
    n_clusters : int, clusterer or None, default=3
        What becomes of the subclusters: `AgglomerativeClustering` into so many; any clusterer with `fit_predict`;
        None: each is a cluster.
    compute_labels : bool, default=True
        Whether `fit` gives labels to the rows.

    Attributes
    ----------
    subcluster_centers_ : ndarray of shape (n_subclusters, n_features)
        The means of the subclusters.
    subcluster_labels_ : ndarray of shape (n_subclusters,)
        The cluster of each subcluster.
    labels_ : ndarray of shape (n_samples,)
        The clusters of the rows of the last `fit` or `partial_fit`.
    root_ : node
        The root of the tree: a copy, made when it is asked for.
    dummy_leaf_ : node
        What stands before the first leaf: a copy, made when it is asked for.

    See Also
    --------
    MiniBatchKMeans : From batches too, with a given number of centres.
    KMeans : From all rows at once.
    AgglomerativeClustering : What clusters the subclusters.

    Notes
    -----
    A row takes time in proportion to d · branching_factor · the depth of the tree; memory grows with the subclusters,
    not with the rows. The subclusters depend on the order of the rows.

    References
    ----------
    .. [1] T. Zhang, R. Ramakrishnan, M. Livny, "BIRCH: An Efficient Data Clustering Method for Very Large Databases",
       ACM SIGMOD, 1996.

    Examples
    --------
    >>> model = Birch(n_clusters=None).fit([[0.0, 1.0], [0.3, 1.0], [-0.3, 1.0], [0.0, -1.0], [0.3, -1.0]])
    >>> model.labels_, model.subcluster_centers_
    (array([0, 0, 0, 1, 1]), array([[ 0.  ,  1.  ],
           [ 0.15, -1.  ]]))
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "subcluster_centers_": real("k", "d"),
            "_n_features_out": count(1, name="k"),
            "subcluster_labels_": integers("k", low=-1),
            "_tree": instance(CFTree, "a tree of clusters"),
        },
        extra={"labels_": integers(None, low=-1)},
        rule=_tree_fits,
    )
    __learnt_takes__ = Takes(sparse=True)
    # Subclusters are made of the rows as they come.
    __learnt_trial__ = Trial(any_order=False)

    labels_: np.ndarray
    _tree: CFTree

    def __init__(
        self,
        *,
        threshold: float = 0.5,
        branching_factor: int = 50,
        n_clusters: Any = 3,
        compute_labels: bool = True,
    ) -> None:
        self.threshold = threshold
        self.branching_factor = branching_factor
        self.n_clusters = n_clusters
        self.compute_labels = compute_labels

    def fit(self, X: Any, y: Any = None) -> Birch:
        """Build the tree of the rows of X, and cluster its subclusters."""
        return self._grow(X, False)

    def partial_fit(self, X: Any = None, y: Any = None) -> Birch:
        """Add rows to the tree, and cluster again; without X only the latter.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or None, default=None
            More rows. None only clusters the subclusters again, after `set_params(n_clusters=…)` say.
        """
        if X is not None:
            return self._grow(X, hasattr(self, "_tree"))
        check_is_fitted(self, msg=NOT_FITTED)
        self._check_parameters()
        self._cluster()
        return self

    @property
    def root_(self) -> Any:
        """The root of the tree, whose nodes can be walked."""
        return linked_nodes(self._tree)[0]

    @property
    def dummy_leaf_(self) -> Any:
        """What stands before the first leaf: `next_leaf_` leads through all of them."""
        return linked_nodes(self._tree)[1]

    def _grow(self, X: Any, more: bool) -> Birch:
        self._check_parameters()
        X = check_fit(self, X, order="C", reset=not more).X
        n, d = X.shape
        tree = self._tree if more else seedling(d, int(self.branching_factor))
        tree = CFTree._make(array.copy() for array in tree)  # an interrupted call leaves the old one as it was
        step = max(1, _CELLS // d)
        with task(f"{type(self).__name__} fit", n) as bar:
            for lo in range(0, n, step):
                for part in dense_parts(X[lo : lo + step], _CELLS):
                    tree = grown(tree, np.ascontiguousarray(part, dtype=np.float64), float(self.threshold))
                bar.advance(min(step, n - lo))
        self._tree = tree
        self.subcluster_centers_ = np.ascontiguousarray(tree.centers(), dtype=X.dtype)
        self._n_features_out = len(self.subcluster_centers_)
        self._cluster()
        if self.compute_labels:
            self.labels_ = self._labels(X)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "threshold", 0, open_low=True)
        check_number(self, "branching_factor", 2, integer=True)
        check_flag(self, "compute_labels")
        if not hasattr(self.n_clusters, "fit_predict") or isinstance(self.n_clusters, type):
            if not isinstance(self.n_clusters, Integral | None):
                raise ParameterError(
                    f"The 'n_clusters' parameter of {type(self).__name__} must be None, a whole number of at least 1, "
                    f"or a clusterer with fit_predict. Got {self.n_clusters!r:.80} instead."
                )
            check_number(self, "n_clusters", 1, integer=True, also=(None,))

    def _cluster(self) -> None:
        """A cluster for each subcluster."""
        C, wanted = self.subcluster_centers_, self.n_clusters
        k, most = len(C), int(wanted) if isinstance(wanted, Integral) else None
        if most is not None and k < most:
            warnings.warn(
                f"Number of subclusters found ({k}) by BIRCH is less than ({most}). Decrease the threshold.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if wanted is None or (most is not None and (k < most or k == 1)):
            self.subcluster_labels_ = np.arange(k)
            return
        clusterer = clone(wanted) if most is None else AgglomerativeClustering(most)
        self.subcluster_labels_ = np.asarray(clusterer.fit_predict(C))

    def _labels(self, X: Any) -> np.ndarray:
        search = Search.build(np.asarray(self.subcluster_centers_, dtype=np.float64))
        parts = [np.asarray(part, dtype=np.float64) for part in dense_parts(X, 16 * _CELLS)]
        return self.subcluster_labels_[np.concatenate([search.nearest(part, 1)[1][:, 0] for part in parts])]

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of the nearest subcluster of each row."""
        check_is_fitted(self, msg=NOT_FITTED)
        return self._labels(check_predict(self, X, order="C"))

    def transform(self, X: Any) -> np.ndarray:
        """The distance of each row to each subcluster (n × n_subclusters).

        Returns
        -------
        distances : ndarray of shape (n_samples, n_subclusters)
            Distances to the means of the subclusters, in the order of `subcluster_centers_`.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        X = check_predict(self, X, order="C")
        centers = np.asarray(self.subcluster_centers_, dtype=X.dtype)
        parts = [distance_function(centers, "euclidean")(part, centers) for part in dense_parts(X, 16 * _CELLS)]
        return np.concatenate(parts).astype(X.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
