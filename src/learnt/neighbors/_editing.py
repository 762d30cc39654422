"""Nearest-neighbour classifiers that keep few rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from learnt.engine.estimator import Trial
from learnt.engine.matrices import dense
from learnt.engine.schema import Schema, choice, integers
from learnt.neighbors._classification import KNeighborsClassifier
from learnt.neighbors._fewer_rows import condensed, voronoi_edited
from learnt.neighbors._schema import CODES, METRIC, RECALL, SEARCH, votes_rule


class _Edited(KNeighborsClassifier):
    """The nearest neighbour among rows that `fit` keeps."""

    n_neighbors: Any = 1  # not a parameter: what is dropped is what one neighbour can do without
    weights: Any = "uniform"
    kept_indices_: np.ndarray

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the rows to keep; y has one column.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows; with `metric="precomputed"` their distances to each other, (n_samples, n_samples).
        """
        super().fit(X, y)
        if self.outputs_2d_:
            raise ValueError(f"{type(self).__name__} edits rows by one column of classes; y has {self._y.shape[1]}.")
        kept = self._kept()
        self.kept_indices_ = kept
        self._fit_X, self._y = self._fit_X[kept], self._y[kept]
        self.n_samples_fit_ = kept.size
        self._search = self._build()
        return self

    def _kept(self) -> np.ndarray:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        tags.target_tags.multi_output = False
        return tags


class CondensedNearestNeighbor(_Edited):
    """The nearest neighbour among few rows: only what was missed is memorised (Hart, 1968).

    Rows are gone through in their order, and those whose class the nearest memorised row does not have are memorised,
    until none is missed: every training row then has its class (where equal rows do not contradict each other). Take it
    where one neighbour classifies well and the training rows are too many to keep. Noisy labels are memorised too, so
    that it does not help against overfitting.

    Parameters
    ----------
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
    p : float, default=2
        The power of the Minkowski metric: 1 is the Manhattan distance, 2 the Euclidean. Other metrics ignore it.
    metric : str or callable, default="minkowski"
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine", "nan_euclidean" (which takes missing cells) and others of SciPy's; the names are in
        `VALID_METRICS`. "precomputed" means that X holds distances. A function gets two rows and returns a number; it
        is slow. Scale the columns first where they have different units: the largest one decides otherwise.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"w": weights}` for weights of the columns.

    Attributes
    ----------
    kept_indices_ : ndarray of shape (n_kept,)
        The numbers of the rows that were memorised, in order.
    classes_ : ndarray of shape (n_classes,), or list of them
        The class labels, sorted; a list with one array for each column of y where y has several.
    effective_metric_ : str or callable
        The metric that is computed: "euclidean" for `metric="minkowski"` with p = 2.
    effective_metric_params_ : dict
        The parameters that this metric gets.
    n_samples_fit_ : int
        The number of rows that were memorised.
    outputs_2d_ : bool
        Whether y had several columns; always False, as `fit` takes one.
    recall_ : float
        The share of the true neighbours that the search finds, measured on a sample of training rows; only with
        `algorithm="approximate"`.

    See Also
    --------
    VoronoiEditing : Keeps the rows at the boundary between classes, without changing the decisions.
    KNeighborsClassifier : Keeps all rows.
    NearestCentroid : Keeps one row, the mean, for each class.

    Notes
    -----
    Which rows are memorised depends on their order. Each memorised row costs one pass over all rows, so that `fit`
    takes time n·d for every row that is kept. `metric="precomputed"` is refused.

    References
    ----------
    .. [1] P. E. Hart, "The Condensed Nearest Neighbor Rule", IEEE Transactions on Information Theory 14, 1968.

    Examples
    --------
    >>> X = np.arange(8.0)[:, None]
    >>> CondensedNearestNeighbor().fit(X, X[:, 0] > 3).kept_indices_
    array([0, 3, 4])
    """

    __learnt_schema__ = Schema(
        params=METRIC, state={**SEARCH, **CODES, "kept_indices_": integers("n")}, extra=RECALL, rule=votes_rule
    )

    def __init__(
        self,
        *,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: dict | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _kept(self) -> np.ndarray:
        if self._is_precomputed():
            raise ValueError("CondensedNearestNeighbor keeps the rows themselves, and metric='precomputed' has none.")
        return condensed(self._built(), self._y)


class VoronoiEditing(_Edited):
    """The nearest neighbour among the rows at the boundary: those with a Voronoi neighbour of another class.

    Where the rows span one, two or three dimensions, Voronoi's cells are found exactly (Delaunay's triangulation) and
    the decisions are those of all rows. Above, neighbours are those of the Gabriel graph, which has fewer edges: the
    boundary may move a little, and `graph_` says so. Distances are Euclidean.

    Parameters
    ----------
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

    Attributes
    ----------
    kept_indices_ : ndarray of shape (n_kept,)
        The numbers of the rows that were kept, in order.
    graph_ : {"voronoi", "gabriel"}
        Whether neighbours are exactly those of Voronoi's cells.
    classes_ : ndarray of shape (n_classes,), or list of them
        The class labels, sorted; a list with one array for each column of y where y has several.
    effective_metric_ : str or callable
        The metric that is computed: "euclidean" for `metric="minkowski"` with p = 2.
    effective_metric_params_ : dict
        The parameters that this metric gets.
    n_samples_fit_ : int
        The number of rows that were kept.
    outputs_2d_ : bool
        Whether y had several columns; always False, as `fit` takes one.
    recall_ : float
        The share of the true neighbours that the search finds, measured on a sample of training rows; only with
        `algorithm="approximate"`.

    See Also
    --------
    CondensedNearestNeighbor : Keeps what earlier rows miss: quicker, of any metric and many columns.
    KNeighborsClassifier : Keeps all rows.
    NearestCentroid : Keeps one row, the mean, for each class.

    Notes
    -----
    Above three dimensions all pairs of rows are looked at, and for each the rows between them: up to n³·d time. Take it
    for some thousand rows.

    Examples
    --------
    >>> X = np.arange(8.0)[:, None]
    >>> VoronoiEditing().fit(X, X[:, 0] > 3).kept_indices_
    array([3, 4])
    """

    __learnt_schema__ = Schema(
        params=METRIC,
        state={**SEARCH, **CODES, "kept_indices_": integers("n"), "graph_": choice("voronoi", "gabriel")},
        extra=RECALL,
        rule=votes_rule,
    )
    __learnt_trial__ = Trial(most_rows=1000)

    metric, p, metric_params = "euclidean", 2, None

    def __init__(self, *, algorithm: str = "auto", leaf_size: int = 30, n_jobs: int | None = None) -> None:
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs

    def _kept(self) -> np.ndarray:
        X = dense(self._fit_X)
        kept, self.graph_ = voronoi_edited(X, self._y)
        return kept
