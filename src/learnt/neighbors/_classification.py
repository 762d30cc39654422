"""Classification by the nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from learnt.engine.schema import Schema, anyof, choice, count
from learnt.explanation import Explained
from learnt.neighbors._base import KNeighborsMixin, NeighborsBase, takes_more_rows
from learnt.neighbors._choice_of_k import ChoiceOfK
from learnt.neighbors._leave_one_out import error_rates
from learnt.neighbors._schema import CHOSEN, CODES, METRIC, SEARCH, chosen, votes_rule
from learnt.neighbors._targets import LabelTargets
from learnt.neighbors._vote import check_weights_parameter, neighbor_weights, shares, votes


class KNeighborsClassifier(ChoiceOfK, KNeighborsMixin, LabelTargets, ClassifierMixin, NeighborsBase, Explained):
    """A row's class is the one most of its k nearest training rows have.

        P(y = c | x) = Σ over the k nearest xᵢ of  vᵢ [yᵢ = c]  /  Σ vᵢ,     vᵢ = 1, or 1 / distance

    The neighbours are exact. Of equal distances the first training rows count, and of equal votes the first class wins,
    so the answer is the same in every run. Votes are counted as neighbours are found: no table of queries × training
    rows is made.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        The number of neighbours k. "auto" takes the k with the smallest leave-one-out error among 1, 2, … 4 √n, found
        by one search for the training rows' neighbours (of at most 5,000 of them).
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        What a neighbour's vote counts: the same, one over its distance, or a function of the distances (n_queries, k).
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How to search; every way gives the same neighbours. "kd_tree" is for Minkowski distances, "ball_tree" for any
        true metric, both of dense rows; sparse rows are searched by brute force. "auto" counts fit and queries
        together: brute force answers the first, and a tree is built when the queries so far would have paid for it.
    leaf_size : int, default=30
        Rows of a leaf of the tree.
    p : float, default=2
        The power of the Minkowski metric.
    metric : str or callable, default="minkowski"
        The distance: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "sqeuclidean", "hamming" and others
        of SciPy's, "haversine", "nan_euclidean", "precomputed" (X holds distances), or a function of two rows.
    metric_params : dict, optional
        More parameters of the metric.
    n_jobs : int, optional
        Threads; few pairs are always searched by one.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or a list of them where y has several columns
    effective_metric_ : str or callable
        The metric that is meant: "euclidean" for "minkowski" with p = 2, say.
    effective_metric_params_ : dict
    n_samples_fit_ : int
        The number of training rows.
    n_neighbors_, left_out_errors_ : int, array
        With n_neighbors="auto": the k that was taken, and the error of k = 1, 2, …: the share of wrong classes.
    outputs_2d_ : bool
        Whether y had several columns.
    n_features_in_ : int

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = KNeighborsClassifier(n_neighbors=3).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[1.1]])
    array(['a'], dtype='<U1')
    >>> model.predict_proba([[0.9]])
    array([[0.667, 0.333]])
    """

    __learnt_schema__ = Schema(
        params={
            "n_neighbors": anyof(count(1), choice("auto")),
            "weights": choice(None, "uniform", "distance"),
            **METRIC,
        },
        state={**SEARCH, **CODES},
        extra=CHOSEN,
        rule=chosen(votes_rule),
    )

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> KNeighborsClassifier:
        """Remember the rows and their classes; y may have several columns, each a question of its own."""
        check_weights_parameter(self)
        self._fit_labels(self._fit_rows(X), y)
        self._choose(self._errors)
        return self

    @available_if(takes_more_rows)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> KNeighborsClassifier:
        """Remember more rows and their classes; brute force and graphs are not built anew.

        Classes that are new are added; `classes` is scikit-learn's and not needed.
        """
        if not self._knows_rows():
            return self.fit(X, y)
        X = self._more_rows(X)
        self._add_labels(X, y)
        self._append(X)
        self._choose(self._errors)
        return self

    def _errors(self) -> tuple[np.ndarray, np.ndarray]:
        classes, codes = self._outputs()
        sizes = [names.size for names in classes]
        return error_rates(self._built(), codes, sizes, self.weights, self.n_jobs)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row; X = None asks for the training rows, each by its other rows (leave-one-out)."""
        Q, m, k = self._checked_queries(X)
        classes, codes = self._outputs()
        winners = np.empty((m, len(classes)), dtype=np.int64)

        def consume(lo: int, hi: int, distances: np.ndarray, index: np.ndarray) -> None:
            weights = neighbor_weights(distances, self.weights)
            for j, names in enumerate(classes):
                winners[lo:hi, j] = votes(codes[index, j], names.size, weights).argmax(axis=1)

        self._built().nearest_blocks(Q, k, consume, n_jobs=self.n_jobs)
        return self._named(winners)

    def predict_proba(self, X: Any) -> Any:
        """The share of the votes for each class, in the order of `classes_`; a list where y had several columns."""
        Q, m, k = self._checked_queries(X)
        classes, codes = self._outputs()
        out = [np.empty((m, names.size)) for names in classes]

        def consume(lo: int, hi: int, distances: np.ndarray, index: np.ndarray) -> None:
            weights = neighbor_weights(distances, self.weights)
            for j, names in enumerate(classes):
                out[j][lo:hi] = shares(votes(codes[index, j], names.size, weights))

        self._built().nearest_blocks(Q, k, consume, n_jobs=self.n_jobs)
        return out if self.outputs_2d_ else out[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted; X = None: of the training rows, each by its other rows."""
        return super().score(X, y, sample_weight)
