"""Agglomerative clustering: the estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_memory

from learnt.cluster.agglomerative._linkage import EUCLIDEAN, free_tree, graph_tree
from learnt.cluster.agglomerative._tree import Tree, cut, roots
from learnt.distances import METRIC_NAMES
from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.mixins import ClusterMixin
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.schema import FEATURES, Schema, count, integers, real
from learnt.engine.validation import check_fit


class Agglomeration(Estimator):
    """Clusters of the rows of a matrix, which are rows of X or its columns."""

    n_clusters: int | None
    distance_threshold: float | None
    memory: Any
    connectivity: Any
    compute_full_tree: Any
    linkage: str
    metric: Any
    compute_distances: bool
    labels_: np.ndarray
    n_clusters_: int

    def _cluster(self, X: np.ndarray) -> None:
        """Merge the rows of X, and record the tree."""
        n = len(X)
        if self.n_clusters is not None and self.n_clusters > n:
            raise ValueError(
                f"Cannot extract more clusters than samples: {self.n_clusters} clusters were given for a tree with {n} "
                "leaves; ask for fewer clusters."
            )
        self._record(self._tree(X), n)

    def _check_parameters(self) -> None:
        check_number(self, "n_clusters", 1, integer=True, also=(None,))
        check_number(self, "distance_threshold", 0, also=(None,))
        check_choice(self, "linkage", ("ward", "complete", "average", "single"))
        check_choice(self, "compute_full_tree", ("auto", True, False))
        check_flag(self, "compute_distances")
        if not callable(self.metric):
            check_choice(self, "metric", METRIC_NAMES)
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ParameterError(
                "Exactly one of n_clusters and distance_threshold has to be set, and the other needs to be None."
            )
        if self.distance_threshold is not None and not self.compute_full_tree:
            raise ParameterError("compute_full_tree must be True if distance_threshold is set.")
        if self.linkage == "ward" and self.metric not in EUCLIDEAN:
            raise ParameterError(
                f"{self.metric} was provided as metric. Ward can only work with euclidean distances (i.e. 'euclidean' "
                "and 'l2'); use another linkage."
            )

    def _tree(self, X: np.ndarray) -> Tree:
        memory = check_memory(self.memory)
        if self.connectivity is None:
            return memory.cache(free_tree)(X, self.linkage, self.metric)
        graph = self.connectivity(X) if callable(self.connectivity) else self.connectivity
        graph = graph if sparse.issparse(graph) else np.asarray(graph)
        stop_at = 1 if self._whole(len(X)) else self.n_clusters
        return memory.cache(graph_tree)(X, self.linkage, self.metric, graph, stop_at)

    def _whole(self, n: int) -> bool:
        """Whether the tree is merged to the end."""
        if self.connectivity is None or self.n_clusters is None:
            return True
        if self.compute_full_tree == "auto":
            return self.n_clusters < max(100, 0.02 * n)
        return bool(self.compute_full_tree)

    def _record(self, tree: Tree, n: int) -> None:
        self.children_, self.n_leaves_, self.n_connected_components_ = tree.children, n, tree.n_components
        if self.distance_threshold is not None or self.compute_distances:
            self.distances_ = tree.distances
        elif hasattr(self, "distances_"):  # of a fit with other settings
            del self.distances_
        if self.distance_threshold is None:
            self.n_clusters_ = int(self.n_clusters)  # type: ignore[arg-type]
        else:
            self.n_clusters_ = int(np.count_nonzero(tree.distances >= self.distance_threshold)) + 1
        self.labels_ = cut(tree.children, n, self.n_clusters_) if self._whole(n) else roots(tree.children, n)


class AgglomerativeClustering(ClusterMixin, Agglomeration):
    """Clusters merged two at a time, the nearest first, from single rows to one: a tree, cut where it is wanted.

    Take it for a hierarchy of clusters, for any distances, or where only neighbours may be merged.

    Parameters
    ----------
    n_clusters : int or None, default=2
        How many clusters; None where `distance_threshold` decides.
    metric : str or callable, default="euclidean"
        The distance of two rows by name, such as "manhattan" or "cosine"; "precomputed" (X is a matrix of distances);
        or a function of all rows that gives such a matrix. Ward's linkage is Euclidean.
    memory : None, str or joblib.Memory, default=None
        Where trees are kept from call to call, for other cuts of the same tree.
    connectivity : {array-like, sparse matrix} of shape (n_samples, n_samples), callable or None, default=None
        Which rows are neighbours: only neighbours are merged, as in `learnt.neighbors.kneighbors_graph`. Or a function
        of X that says so.
    compute_full_tree : "auto" or bool, default="auto"
        Whether a tree with `connectivity` is merged to the end; False saves time. "auto" is for few clusters and
        thresholds.
    linkage : {"ward", "complete", "average", "single"}, default="ward"
        The distance between two clusters.

        - "ward": by how much their merge raises the sum of squares about the centroids; compact clusters of like size.
        - "average": the mean distance of the rows of both.
        - "complete": their largest distance; compact clusters, moved by outliers.
        - "single": their smallest distance; clusters of any shape, which a chain of rows joins.
    distance_threshold : float or None, default=None
        Clusters at this distance or farther are not merged; then `n_clusters` must be None.
    compute_distances : bool, default=False
        Whether `distances_` is kept where no threshold needs it, for a dendrogram say.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    children_ : ndarray of shape (n_merges, 2)
        The clusters merged into cluster n_samples + i; clusters below n_samples are rows.
    distances_ : ndarray of shape (n_merges,)
        The distance of each merge; only with `distance_threshold` or `compute_distances`.
    n_clusters_ : int
        The number of clusters.
    n_leaves_ : int
        The number of rows.
    n_connected_components_ : int
        The number of parts of the graph of `connectivity`; 1 without it.

    See Also
    --------
    FeatureAgglomeration : The same of the columns.
    ward_tree : The tree alone, by Ward's linkage.
    linkage_tree : The tree alone, by other linkages.
    HDBSCAN : Cuts a tree of single linkage where clusters last, and leaves noise out.
    BisectingKMeans : A tree from the top down, for many rows.

    Notes
    -----
    Ward's linkage and single linkage of Euclidean distances keep numbers in proportion to the rows; the others, and
    other metrics, keep one distance for each pair of rows. The time is about n²·d.

    References
    ----------
    .. [1] J. H. Ward, "Hierarchical Grouping to Optimize an Objective Function", Journal of the American Statistical
       Association 58, 1963.
    .. [2] D. Müllner, "Modern hierarchical, agglomerative clustering algorithms", arXiv:1109.2378, 2011.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [4.0, 2.0], [4.0, 4.0], [4.0, 0.0]])
    >>> AgglomerativeClustering(linkage="average").fit_predict(X)
    array([1, 1, 1, 0, 0, 0])
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "n_leaves_": count(2, name="n"),
            "n_clusters_": count(1, name="k"),
            "n_connected_components_": count(1),
            "labels_": integers("n", below="k"),
            "children_": integers("m", 2),
        },
        extra={"distances_": real("m", low=0)},
    )
    __learnt_trial__ = Trial(
        most_rows=1500,
        quick={"n_clusters": 3},
        warmup=(
            Warm("none", {"n_clusters": 3}),
            Warm("none", {"linkage": "single"}),
            Warm("none", {"linkage": "average"}),
        ),
        any_order=False,
    )

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Any = "euclidean",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: Any = "auto",
        linkage: str = "ward",
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

    def fit(self, X: Any, y: Any = None) -> AgglomerativeClustering:
        """Merge the rows of X, or rows whose distances X holds."""
        self._check_parameters()
        X = check_fit(self, X, min_rows=2, order="C").X
        self._cluster(X)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Merge the rows, and give their clusters."""
        return self.fit(X).labels_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
