"""Graphs of neighbours as steps of a pipeline, for estimators that take `metric="precomputed"`."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from learnt.engine.estimator import Trial
from learnt.engine.params import check_choice
from learnt.engine.schema import Schema, choice, count, number
from learnt.neighbors._base import KNeighborsMixin, NeighborsBase
from learnt.neighbors._radius import RadiusNeighborsMixin
from learnt.neighbors._schema import METRIC, RECALL, SEARCH, metric_rule


class _GraphTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeighborsBase):
    """Fits rows; the columns of what it makes are the training rows."""

    __learnt_trial__ = Trial(any_order=False, most_rows=6000)  # columns are in the order of the training rows

    mode: str

    def fit(self, X: Any, y: Any = None) -> Any:
        """Remember the rows."""
        check_choice(self, "mode", ("distance", "connectivity"))
        self._fit_rows(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The graph of the training rows, each of which is its own nearest neighbour."""
        return self.fit(X).transform(X)

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_


class KNeighborsTransformer(KNeighborsMixin, _GraphTransformer):
    """The k nearest training rows of each row as a sparse matrix (n_rows × n_training rows).

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Whether an entry is the distance or 1. With distances one neighbour more is found, as a training row is its own.
    n_neighbors : int, default=5
    algorithm, leaf_size, metric, p, metric_params, n_jobs :
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    effective_metric_, effective_metric_params_, n_samples_fit_, n_features_in_ :
        As for `KNeighborsClassifier`.

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
        mode="distance",
        n_neighbors=5,
        algorithm="auto",
        leaf_size=30,
        metric="minkowski",
        p=2,
        metric_params=None,
        n_jobs=None,
    ):
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> Any:
        """The graph from the rows of X to the training rows, a CSR matrix."""
        return self.kneighbors_graph(X, self.n_neighbors + (self.mode == "distance"), self.mode)


class RadiusNeighborsTransformer(RadiusNeighborsMixin, _GraphTransformer):
    """All training rows within a radius of each row as a sparse matrix (n_rows × n_training rows), nearest first.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Whether an entry is the distance or 1.
    radius : float, default=1.0
    algorithm, leaf_size, metric, p, metric_params, n_jobs :
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    effective_metric_, effective_metric_params_, n_samples_fit_, n_features_in_ :
        As for `KNeighborsClassifier`.

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
        mode="distance",
        radius=1.0,
        algorithm="auto",
        leaf_size=30,
        metric="minkowski",
        p=2,
        metric_params=None,
        n_jobs=None,
    ):
        self.mode = mode
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> Any:
        """The graph from the rows of X to the training rows, a CSR matrix."""
        return self.radius_neighbors_graph(X, mode=self.mode, sort_results=True)
