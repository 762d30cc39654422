"""Regression by the nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from learnt.engine.mixins import RegressorMixin
from learnt.engine.schema import Schema, anyof, choice, count
from learnt.explanation import Explained
from learnt.neighbors._base import KNeighborsMixin, NeighborsBase, takes_more_rows
from learnt.neighbors._choice_of_k import ChoiceOfK
from learnt.neighbors._leave_one_out import squared_errors
from learnt.neighbors._schema import AMOUNTS, CHOSEN, METRIC, SEARCH, chosen, metric_rule
from learnt.neighbors._targets import NumberTargets
from learnt.neighbors._vote import check_weights_parameter, means, neighbor_weights


class KNeighborsRegressor(ChoiceOfK, KNeighborsMixin, NumberTargets, RegressorMixin, NeighborsBase, Explained):
    """The mean target of a row's k nearest training rows.

        ŷ(x) = Σ over the k nearest xᵢ of  vᵢ yᵢ  /  Σ vᵢ,     vᵢ = 1, or 1 / distance

    A simple regressor without a training step that follows functions of any shape, and never predicts beyond the
    targets it has seen. Take it where columns are few and comparable, and scale them first.

    The neighbours are exact, and of equal distances the first training rows count, so the answer is the same in every
    run.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        The number of neighbours k. A small k follows every detail of the training rows (low bias, high variance:
        overfitting); a large k smooths them (underfitting). "auto" tries k = 1, 2, … up to 4 √n (up to 50 where rows
        are few) and takes the one with the smallest leave-one-out error; one search among the training rows gives the
        errors of every k, of at most 5,000 left-out rows.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        What each neighbour counts.

        - "uniform" or None: all the same.
        - "distance": 1 / distance, so that near neighbours count more; a neighbour at distance 0 decides alone.
        - callable: a function of the array of distances that returns weights of the same shape.
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
    effective_metric_ : str or callable
        The metric that is computed: "euclidean" for `metric="minkowski"` with p = 2.
    effective_metric_params_ : dict
        The parameters that this metric gets.
    n_samples_fit_ : int
        The number of training rows.
    n_neighbors_ : int
        The k that was taken; only with `n_neighbors="auto"`.
    left_out_errors_ : ndarray of shape (n_tried,)
        The mean squared error of k = 1, 2, … neighbours for left-out rows, over the variance of y; only with
        `n_neighbors="auto"`.
    recall_ : float
        The share of the true neighbours that the search finds, measured on a sample of training rows; only with
        `algorithm="approximate"`.

    See Also
    --------
    KNeighborsClassifier : Predicts classes: the votes of the neighbours.
    RadiusNeighborsRegressor : The mean of all rows within a radius, however many they are.
    NearestNeighbors : The neighbours themselves.
    learnt.gaussian_process.GaussianProcessRegressor : Smooth predictions with a standard deviation.

    Notes
    -----
    `fit` only keeps the rows, so that its cost is small; queries are what costs. Brute force takes time n·d for a
    query, of n training rows and d columns; a tree about log n where columns are few. Queries are answered in blocks:
    no table of all queries by all training rows is in memory. Weights of rows are not taken by `fit`.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> KNeighborsRegressor(n_neighbors=2).fit(X, [0.0, 0.0, 1.0, 1.0]).predict([[1.5], [0.2]])
    array([0.5, 0. ])
    """

    __learnt_schema__ = Schema(
        params={
            "n_neighbors": anyof(count(1), choice("auto")),
            "weights": choice(None, "uniform", "distance"),
            **METRIC,
        },
        state={**SEARCH, **AMOUNTS},
        extra=CHOSEN,
        rule=chosen(metric_rule),
    )

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: dict | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> KNeighborsRegressor:
        """Remember the rows and their targets; y may have several columns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows; with `metric="precomputed"` their distances to each other, (n_samples, n_samples).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The numbers to predict, in one or several columns.
        """
        check_weights_parameter(self)
        self._fit_numbers(self._fit_rows(X), y)
        self._choose(self._errors)
        return self

    @available_if(takes_more_rows)
    def partial_fit(self, X: Any, y: Any) -> KNeighborsRegressor:
        """Remember more rows and their targets; brute force and graphs are not built anew.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            More rows, dense or sparse as those that are known; they are numbered after them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets, with as many columns as before.

        Returns
        -------
        self : object
            The fitted estimator itself.
        """
        if not self._knows_rows():
            return self.fit(X, y)
        X = self._more_rows(X)
        self._add_numbers(X, y)
        self._append(X)
        self._choose(self._errors)
        return self

    def _errors(self) -> tuple[np.ndarray, np.ndarray]:
        errors = squared_errors(self._built(), self._columns(), self.weights, self.n_jobs)
        return errors, errors

    def predict(self, X: Any) -> np.ndarray:
        """The mean target of each row's neighbours; X = None asks for the training rows, each by its other rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            Rows to predict; with `metric="precomputed"` their distances to the training rows. None asks for the
            training rows, each predicted by its other rows (leave-one-out).

        Returns
        -------
        y_pred : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            Predicted numbers, in the shape of y.
        """
        Q, m, k = self._checked_queries(X)
        y = self._columns()
        out = np.empty((m, y.shape[1]))

        def consume(lo: int, hi: int, distances: np.ndarray, index: np.ndarray) -> None:
            out[lo:hi] = means(y[index], neighbor_weights(distances, self.weights))

        self._built().nearest_blocks(Q, k, consume, n_jobs=self.n_jobs)
        return self._shaped(out)
