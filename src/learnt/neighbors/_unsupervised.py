"""The neighbours themselves."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if

from learnt.engine.schema import Schema, anyof, count, none, number
from learnt.neighbors._base import KNeighborsMixin, NeighborsBase, takes_more_rows
from learnt.neighbors._radius import RadiusNeighborsMixin
from learnt.neighbors._schema import METRIC, RECALL, SEARCH, metric_rule


class NearestNeighbors(KNeighborsMixin, RadiusNeighborsMixin, NeighborsBase):
    """The k nearest training rows of a row, or all within a radius; exact, and of equal distances the first rows.

    The search that the other estimators of `learnt.neighbors` are built on: for look-alikes, duplicates, record
    linkage, or a graph of neighbours for clustering and manifolds.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbours k that `kneighbors` finds where none is passed.
    radius : float, default=1.0
        How far `radius_neighbors` looks where no radius is passed.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        How to search for neighbours. All but "approximate" give the same neighbours, so this is a choice of speed.

        - "auto": brute force at first; a tree is built once the queries so far would have paid for it.
        - "brute": distances to all training rows; for sparse rows, many columns, and metrics that no tree takes.
        - "kd_tree": nested boxes, for Minkowski distances of dense rows with few columns (up to ten or so).
        - "ball_tree": nested balls, for any true metric of dense rows.
        - "approximate": a graph of near rows (HNSW), which misses some neighbours and is much quicker on many rows of
          many columns. For "euclidean", "sqeuclidean" and "cosine"; needs `pip install learnt[ann]`. `recall_` says
          what share of the true neighbours it finds.
    leaf_size : int, default=30
        The most rows in a leaf of the tree. It changes the speed and the memory of the search, never the neighbours.
    metric : str or callable, default="minkowski"
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine", "nan_euclidean" (which takes missing cells) and others of SciPy's; the names are in
        `VALID_METRICS`. "precomputed" means that X holds distances. A function gets two rows and returns a number; it
        is slow. Scale the columns first where they have different units: the largest one decides otherwise.
    p : float, default=2
        The power of the Minkowski metric: 1 is the Manhattan distance, 2 the Euclidean. Other metrics ignore it.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"w": weights}` for weights of the columns.

    Attributes
    ----------
    effective_metric_ : str or callable
        The metric that is computed: "euclidean" for `metric="minkowski"` with p = 2.
    effective_metric_params_ : dict
        The parameters that this metric gets.
    n_samples_fit_ : int
        The number of training rows.
    recall_ : float
        The share of the true neighbours that the search finds, measured on a sample of training rows; only with
        `algorithm="approximate"`.

    See Also
    --------
    KNeighborsClassifier : The class most neighbours have.
    KNeighborsRegressor : The mean target of the neighbours.
    KNeighborsTransformer : The neighbours as a sparse matrix, as a step of a pipeline.
    KDTree : A tree over points without an estimator.

    Notes
    -----
    `fit` only keeps the rows, so that its cost is small; queries are what costs. Brute force takes time n·d for a
    query, of n training rows and d columns; a tree about log n where columns are few. Queries are answered in blocks:
    no table of all queries by all training rows is in memory.

    Examples
    --------
    >>> model = NearestNeighbors(n_neighbors=1).fit([[0.0, 0.0], [0.0, 0.5], [1.0, 1.0]])
    >>> model.kneighbors([[1.0, 0.5]])
    (array([[0.5]]), array([[2]]))
    >>> model.radius_neighbors([[0.0, 0.2]], radius=0.4, return_distance=False)[0]
    array([0, 1])
    """

    __learnt_schema__ = Schema(
        params={"n_neighbors": anyof(none, count(1)), "radius": anyof(none, number(0, finite=False)), **METRIC},
        state=SEARCH,
        extra=RECALL,
        rule=metric_rule,
    )

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Remember the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows; with `metric="precomputed"` their distances to each other, (n_samples, n_samples).
        """
        self._fit_rows(X)
        return self

    @available_if(takes_more_rows)
    def partial_fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Remember more rows, numbered after those that are known; brute force and graphs are not built anew.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            More rows, dense or sparse as those that are known; they are numbered after them.
        y : Ignored
            Not used; there so that all estimators can be called in the same way.

        Returns
        -------
        self : object
            The fitted estimator itself.
        """
        if not self._knows_rows():
            return self.fit(X)
        self._append(self._more_rows(X))
        return self
