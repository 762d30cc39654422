"""OPTICS: the estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_memory

from learnt.cluster.optics._extraction import check_xi_params, cluster_optics_dbscan, cluster_optics_xi
from learnt.cluster.optics._graph import check_graph_params, reachability
from learnt.cluster.optics._sizes import rows_of
from learnt.distances import warn_of_conversion
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import ClusterMixin
from learnt.engine.params import check_choice, check_number
from learnt.engine.schema import FEATURES, Schema, integers, real
from learnt.engine.validation import check_fit


class _Settings:
    """What decides the order, for a cache of its results: equal settings are equal bytes."""

    def __init__(self, model: Any) -> None:
        self.min_samples, self.max_eps, self.metric, self.p = model.min_samples, model.max_eps, model.metric, model.p
        self.algorithm, self.leaf_size = model.algorithm, model.leaf_size


class OPTICS(ClusterMixin, Estimator):
    """Clusters of any shape at every density, from one order of the rows (Ankerst et al., 1999).

        core(x)     = distance of x to its `min_samples`-th nearest row, itself counted
        reach(x, o) = max(core(o), distance(x, o))

    The order begins at the first row; next comes always the row with the smallest reachability from those before. In
    this order dense clusters are valleys of the reachabilities, which a plot of `reachability_[ordering_]` shows. They
    are cut at one height (`cluster_method="dbscan"`), or taken between steep edges, which finds clusters inside others
    ("xi").

    Parameters
    ----------
    min_samples : int or float, default=5
        Neighbours of the core distance; a float is a share of the rows. Larger values smooth the reachabilities. Also
        the most rows in a row of a steep edge that are not steep.
    max_eps : float, default=inf
        The largest distance of neighbours: a smaller one saves time and leaves sparse rows out.
    metric : str or callable, default="minkowski"
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine" and others of SciPy's. "precomputed" means that X holds distances. A function gets two
        rows and returns a number; it is slow.
    p : float, default=2
        The power of the Minkowski metric: 1 is the Manhattan distance, 2 the Euclidean.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"w": weights}` for weights of the columns.
    cluster_method : {"xi", "dbscan"}, default="xi"
        How clusters are found in the order: between steep edges, or by a cut at one height.
    eps : float or None, default=None
        The height of the cut with "dbscan"; None for `max_eps`.
    xi : float, default=0.05
        By which share the reachability falls or rises at a steep edge, from 0 to 1. Larger values want clearer borders,
        and find fewer clusters.
    predecessor_correction : bool, default=True
        Whether a valley ends with a row that was reached from inside it.
    min_cluster_size : int, float or None, default=None
        The fewest rows of a cluster with "xi"; a float is a share of the rows, None is `min_samples`.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How to search for neighbours; the clusters are the same. "brute": all distances; "kd_tree": nested boxes, for
        Minkowski distances and few columns; "ball_tree": nested balls, for any true metric; "auto": a tree where it
        pays.
    leaf_size : int, default=30
        The most rows in a leaf of the tree. It changes the speed and the memory, never the clusters.
    memory : None, str or joblib.Memory, default=None
        Where orders are kept from call to call, for other clusters of the same order.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row; −1 for noise.
    ordering_ : ndarray of shape (n_samples,)
        The rows in their order.
    reachability_ : ndarray of shape (n_samples,)
        The reachability of each row, in the order of X; inf for rows that nothing reached.
    core_distances_ : ndarray of shape (n_samples,)
        The core distance of each row, in the order of X; inf for rows with too few neighbours.
    predecessor_ : ndarray of shape (n_samples,)
        The row that reached each; −1 for none.
    cluster_hierarchy_ : ndarray of shape (n_clusters, 2)
        With "xi": first and last place in `ordering_` of every cluster, inner ones before those around them.

    See Also
    --------
    HDBSCAN : Chooses clusters of different densities by itself.
    DBSCAN : Clusters of one density.
    cluster_optics_xi : Other clusters of the same order, between steep edges.
    cluster_optics_dbscan : Other clusters of the same order, by a cut.

    Notes
    -----
    Distances of neighbours are kept where they are few, and computed when they are needed where they are many, so that
    memory grows with the rows. The time is n²·d unless `max_eps` leaves few neighbours.

    References
    ----------
    .. [1] M. Ankerst, M. M. Breunig, H.-P. Kriegel, J. Sander, "OPTICS: Ordering Points To Identify the Clustering
       Structure", ACM SIGMOD, 1999.
    .. [2] E. Schubert, M. Gertz, "Improving the Cluster Structure Extracted from OPTICS Plots", LWDA, 2018.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [2.0, 5.0], [3.0, 6.0], [8.0, 7.0], [8.0, 8.0], [7.0, 3.0]])
    >>> OPTICS(min_samples=2).fit(X).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "labels_": integers("n", low=-1),
            "ordering_": integers("n", below="n"),
            "reachability_": real("n", low=0, finite=False),
            "core_distances_": real("n", low=0, finite=False),
            "predecessor_": integers("n", low=-1, below="n"),
        },
        extra={"cluster_hierarchy_": integers(None, 2, below="n")},
    )
    # The order begins at the first row.
    __learnt_trial__ = Trial(warmup=(Warm("none", {}), Warm("none", {"max_eps": 2.0})), any_order=False, most_rows=3000)

    def __init__(
        self,
        *,
        min_samples: float = 5,
        max_eps: float = np.inf,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict | None = None,
        cluster_method: str = "xi",
        eps: float | None = None,
        xi: float = 0.05,
        predecessor_correction: bool = True,
        min_cluster_size: float | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        memory: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.min_samples = min_samples
        self.max_eps = max_eps
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.cluster_method = cluster_method
        self.eps = eps
        self.xi = xi
        self.predecessor_correction = predecessor_correction
        self.min_cluster_size = min_cluster_size
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.memory = memory
        self.n_jobs = n_jobs

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True)

    def fit(self, X: Any, y: Any = None) -> OPTICS:
        """Put the rows in order, and find the clusters."""
        check_graph_params(self)
        check_choice(self, "cluster_method", ("xi", "dbscan"))
        check_number(self, "eps", 0, also=(None,))
        check_xi_params(self)
        warn_of_conversion(self.metric, X, "Data will be converted")
        X = check_fit(self, X, order="C", min_rows=2).X
        eps = self.max_eps if self.eps is None else self.eps
        if self.cluster_method == "dbscan" and eps > self.max_eps:
            raise ValueError(
                f"Specify an epsilon smaller than {self.max_eps}. Got {eps}. OPTICS compares rows up to max_eps only."
            )
        rows_of(self.min_samples, X.shape[0], "min_samples")
        if self.min_cluster_size is not None:
            rows_of(self.min_cluster_size, X.shape[0], "min_cluster_size")
        cached = check_memory(self.memory).cache(reachability, ignore=["n_jobs"])
        found = cached(X, type(self).__name__, _Settings(self), self.metric_params, n_jobs=self.n_jobs)
        self.ordering_, self.core_distances_, self.reachability_, self.predecessor_ = found
        if np.isinf(self.reachability_).all():
            warnings.warn(
                "All reachability values are inf. Set a larger max_eps or all data will be considered outliers: no row "
                f"reaches another within max_eps={self.max_eps:g}.",
                UserWarning,
                stacklevel=2,
            )
        self.__dict__.pop("cluster_hierarchy_", None)
        if self.cluster_method == "xi":
            self.labels_, self.cluster_hierarchy_ = cluster_optics_xi(
                reachability=self.reachability_,
                predecessor=self.predecessor_,
                ordering=self.ordering_,
                min_samples=self.min_samples,
                min_cluster_size=self.min_cluster_size,
                xi=self.xi,
                predecessor_correction=self.predecessor_correction,
            )
        else:
            self.labels_ = cluster_optics_dbscan(
                reachability=self.reachability_,
                core_distances=self.core_distances_,
                ordering=self.ordering_,
                eps=eps,
            )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags
