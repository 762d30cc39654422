"""Graphs of neighbours as steps of a pipeline, for estimators that take `metric="precomputed"`."""

from __future__ import annotations

from typing import Any, Self

from learnt.engine.estimator import Trial
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_choice
from learnt.engine.schema import Schema, choice, count, number
from learnt.neighbors._base import KNeighborsMixin, NeighborsBase
from learnt.neighbors._radius import RadiusNeighborsMixin
from learnt.neighbors._schema import METRIC, RECALL, SEARCH, metric_rule


class _GraphTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeighborsBase):
    """Fits rows; the columns of what it makes are the training rows."""

    __learnt_trial__ = Trial(any_order=False, most_rows=6000)  # columns are in the order of the training rows

    mode: str

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the rows."""
        check_choice(self, "mode", ("distance", "connectivity"))
        self._fit_rows(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The graph of the training rows, each of which is its own nearest neighbour.

        Returns
        -------
        graph : CSR matrix of shape (n_samples, n_samples)
            Distances, or 1, at the neighbours of each row.
        """
        return self.fit(X).transform(X)

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_


class KNeighborsTransformer(KNeighborsMixin, _GraphTransformer):
    """The k nearest training rows of each row as a sparse matrix (n_rows × n_training rows).

    Put it before an estimator that takes `metric="precomputed"`, such as `learnt.cluster.DBSCAN` or
    `KNeighborsClassifier`: neighbours are then searched once and used for several settings of that estimator.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Whether an entry is the distance or 1. With distances one neighbour more is found, as a training row is its own.
    n_neighbors : int, default=5
        The number of neighbours k of each row. Take as many as the estimator behind it will ask for, or more.
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
    RadiusNeighborsTransformer : All training rows within a radius.
    kneighbors_graph : The graph of one table, without an estimator.
    NearestNeighbors : The neighbours as arrays of indices.
    sort_graph_by_row_values : Puts the nearest first in a graph from elsewhere.

    Notes
    -----
    The columns of the matrix are the training rows, so that its width grows with them; only the k entries of a row are
    stored. In `fit_transform` and `transform` alike, a training row is its own first neighbour.

    Examples
    --------
    >>> KNeighborsTransformer(n_neighbors=1).fit_transform([[0.0], [3.0], [1.0]]).toarray()
    array([[0., 0., 1.],
           [0., 0., 2.],
           [1., 0., 0.]])
    """

    __learnt_schema__ = Schema(
        params={"n_neighbors": count(1), "mode": choice("distance", "connectivity"), **METRIC},
        state=SEARCH,
        extra=RECALL,
        rule=metric_rule,
    )

    _n_neighbors_also = ()

    def __init__(
        self,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> Any:
        """The graph from the rows of X to the training rows, a CSR matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows to find neighbours of; training rows among them are their own.

        Returns
        -------
        graph : CSR matrix of shape (n_queries, n_samples_fit)
            Distances, or 1, at the neighbours of each row, nearest first.
        """
        return self.kneighbors_graph(X, self.n_neighbors + (self.mode == "distance"), self.mode)


class RadiusNeighborsTransformer(RadiusNeighborsMixin, _GraphTransformer):
    """All training rows within a radius of each row as a sparse matrix (n_rows × n_training rows), nearest first.

    Put it before an estimator that takes `metric="precomputed"`, such as `learnt.cluster.DBSCAN` or
    `KNeighborsClassifier`: neighbours are then searched once and used for several settings of that estimator.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Whether an entry is the distance or 1.
    radius : float, default=1.0
        How far a neighbour may be. Take at least the radius that the estimator behind it will ask for; memory grows
        with the number of pairs within it.
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
    KNeighborsTransformer : A fixed number of neighbours for each row.
    radius_neighbors_graph : The graph of one table, without an estimator.
    NearestNeighbors : The neighbours as arrays of indices.

    Examples
    --------
    >>> RadiusNeighborsTransformer(radius=1.5).fit_transform([[0.0], [3.0], [1.0]]).toarray()
    array([[0., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]])
    """

    __learnt_schema__ = Schema(
        params={"radius": number(0, finite=False), "mode": choice("distance", "connectivity"), **METRIC},
        state=SEARCH,
        extra=RECALL,
        rule=metric_rule,
    )

    def __init__(
        self,
        *,
        mode: str = "distance",
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> Any:
        """The graph from the rows of X to the training rows, a CSR matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows to find neighbours of; training rows among them are their own.

        Returns
        -------
        graph : CSR matrix of shape (n_queries, n_samples_fit)
            Distances, or 1, at the neighbours of each row, nearest first.
        """
        return self.radius_neighbors_graph(X, mode=self.mode, sort_results=True)
