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

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbours k.
    radius : float, default=1.0
        How far `radius_neighbors` looks.
    algorithm, leaf_size, metric, p, metric_params, n_jobs :
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    effective_metric_ : str or callable
    effective_metric_params_ : dict
    n_samples_fit_ : int
    n_features_in_ : int
    recall_ : float
        Of algorithm="approximate": the share of true neighbours that it finds, measured on a sample.

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
        n_neighbors=5,
        radius=1.0,
        algorithm="auto",
        leaf_size=30,
        metric="minkowski",
        p=2,
        metric_params=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Remember the rows."""
        self._fit_rows(X)
        return self

    @available_if(takes_more_rows)
    def partial_fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Remember more rows, numbered after those that are known; brute force and graphs are not built anew."""
        if not self._knows_rows():
            return self.fit(X)
        self._append(self._more_rows(X))
        return self
