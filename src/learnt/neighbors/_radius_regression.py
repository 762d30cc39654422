"""Regression by all neighbours within a radius."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.distances import BallSums
from learnt.engine.mixins import RegressorMixin
from learnt.engine.schema import Schema, anyof, choice, none, number
from learnt.neighbors._base import NeighborsBase
from learnt.neighbors._radius import RadiusNeighborsMixin, RadiusSums
from learnt.neighbors._schema import AMOUNTS, METRIC, RECALL, SEARCH, metric_rule
from learnt.neighbors._targets import NumberTargets
from learnt.neighbors._vote import all_count_the_same, check_weights_parameter, radius_means, radius_weights


class RadiusNeighborsRegressor(RadiusSums, RadiusNeighborsMixin, NumberTargets, RegressorMixin, NeighborsBase):
    """The mean target of all training rows within a radius of a row.

        ŷ(x) = Σ over xᵢ with distance(x, xᵢ) ≤ r of  vᵢ yᵢ  /  Σ vᵢ,     vᵢ = 1, or 1 / distance

    Take it instead of a fixed number of neighbours where a distance has a meaning of its own (metres, hours). A row
    without neighbours gets NaN, and a warning says so.

    Parameters
    ----------
    radius : float, default=1.0
        How far a neighbour may be. Too small a radius leaves rows without neighbours (overfitting); too large a one
        averages over rows that are not alike (underfitting). Its scale is that of the distances, so look at a few
        first.
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
    recall_ : float
        The share of the true neighbours that the search finds, measured on a sample of training rows; only with
        `algorithm="approximate"`.

    See Also
    --------
    KNeighborsRegressor : The mean of a fixed number of neighbours, as near or far as they are.
    RadiusNeighborsClassifier : Predicts classes: the votes of all rows within a radius.
    KernelDensity : How dense the rows are around a point.

    Notes
    -----
    Means are taken block by block, so that never all pairs of neighbours are in memory. With equal weights and a search
    by trees, the targets inside whole nodes of the tree are added up beforehand, and a large radius costs little more
    than a small one.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> RadiusNeighborsRegressor(radius=1.0).fit(X, [0.0, 0.0, 1.0, 1.0]).predict([[1.5], [0.2]])
    array([0.5, 0. ])
    """

    __learnt_schema__ = Schema(
        params={
            "radius": anyof(none, number(0, finite=False)),
            "weights": choice(None, "uniform", "distance"),
            **METRIC,
        },
        state={**SEARCH, **AMOUNTS},
        extra=RECALL,
        rule=metric_rule,
    )

    def __init__(
        self,
        radius: float | None = 1.0,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: dict | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> RadiusNeighborsRegressor:
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
        self._renew_sums()
        return self

    def _make_sums(self) -> list[BallSums | None]:
        return [self._built().ball_sums(self._columns())]

    def predict(self, X: Any) -> np.ndarray:
        """The mean target around each row; X = None asks for the training rows, each by its other rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            Rows to predict; with `metric="precomputed"` their distances to the training rows. None asks for the
            training rows, each predicted by its other rows (leave-one-out).

        Returns
        -------
        y_pred : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            Predicted numbers, in the shape of y; NaN for rows without neighbours.
        """
        Q = self._queries(X)
        sums = self._kept_sums(Q)
        if sums is not None:
            counts, totals = sums[0].within(Q, self._radius(None), self.n_jobs)
            out = np.where(counts[:, None] > 0, totals / np.maximum(counts, 1)[:, None], np.nan)
        else:
            out = self._means(Q)
        if np.isnan(out).any():
            warnings.warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.",
                UserWarning,
                stacklevel=2,
            )
        return self._shaped(out)

    def _means(self, Q: Any) -> np.ndarray:
        """The means from the neighbours themselves."""
        y = self._columns()
        out = np.empty((self.n_samples_fit_ if Q is None else Q.shape[0], y.shape[1]))
        same = all_count_the_same(self.weights)
        blocks = self._built().within_blocks(Q, self._radius(None), distances=not same, n_jobs=self.n_jobs)
        for lo, hi, found in blocks:
            out[lo:hi] = radius_means(y, found, radius_weights(found, self.weights))
        return out
