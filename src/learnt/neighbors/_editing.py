"""Nearest-neighbour classifiers that keep few rows."""

from __future__ import annotations

from typing import Any

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

    def fit(self, X: Any, y: Any) -> Any:
        """Choose the rows to keep; y has one column."""
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
    until none is missed: every training row then has its class (where equal rows do not contradict each other).

    Parameters
    ----------
    algorithm, leaf_size, p, metric, metric_params, n_jobs :
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    kept_indices_ : array of shape (n_kept,)
        The rows that were memorised, in order.
    classes_, effective_metric_, effective_metric_params_, n_features_in_ :
        As for `KNeighborsClassifier`.
    n_samples_fit_ : int
        The number of rows that were memorised.

    Examples
    --------
    >>> X = np.arange(8.0)[:, None]
    >>> CondensedNearestNeighbor().fit(X, X[:, 0] > 3).kept_indices_
    array([0, 3, 4])
    """

    __learnt_schema__ = Schema(
        params=METRIC, state={**SEARCH, **CODES, "kept_indices_": integers("n")}, extra=RECALL, rule=votes_rule
    )

    def __init__(self, *, algorithm="auto", leaf_size=30, p=2, metric="minkowski", metric_params=None, n_jobs=None):
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
    algorithm, leaf_size, n_jobs :
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    kept_indices_ : array of shape (n_kept,)
        The rows that were kept, in order.
    graph_ : {"voronoi", "gabriel"}
        Whether neighbours are exactly those of Voronoi's cells.
    classes_, effective_metric_, effective_metric_params_, n_features_in_ :
        As for `KNeighborsClassifier`.
    n_samples_fit_ : int
        The number of rows that were kept.

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

    def __init__(self, *, algorithm="auto", leaf_size=30, n_jobs=None):
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs

    def _kept(self) -> np.ndarray:
        X = dense(self._fit_X)
        kept, self.graph_ = voronoi_edited(X, self._y)
        return kept
