"""The neighbours themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.distances import Neighborhoods
from learnt.engine.params import check_number
from learnt.engine.schema import Schema, anyof, count, none, number
from learnt.neighbors._base import KNeighborsMixin, NeighborsBase
from learnt.neighbors._schema import METRIC, SEARCH, metric_rule


class NearestNeighbors(KNeighborsMixin, NeighborsBase):
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
        check_number(self, "radius", 0, also=(None,))
        self._fit_rows(X)
        return self

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """All training rows at most `radius` away from each row of X.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), or None
            None asks for the neighbours of the training rows, which do not count as their own.
        radius : float, optional
            Another radius than the estimator's own.
        return_distance : bool, default=True
        sort_results : bool, default=False
            Nearest first, and not in the order of the training rows.

        Returns
        -------
        distances : array of shape (n_queries,) of arrays, only if asked for
        index : array of shape (n_queries,) of arrays
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        distances, index = self._within(X, radius, sort_results).arrays()
        return (distances, index) if return_distance else index

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: str = "connectivity", sort_results: bool = False
    ) -> Any:
        """All training rows at most `radius` away from each row of X as a sparse matrix (n_queries, n_training rows).

        Parameters
        ----------
        X, radius, sort_results :
            As for `radius_neighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether an entry is 1 or the distance.

        Returns
        -------
        graph : CSR matrix
        """
        if mode not in ("connectivity", "distance"):
            raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')
        found = self._within(X, radius, sort_results)
        values = np.ones(found.indices.size) if mode == "connectivity" else found.distances
        shape = (found.counts.size, self.n_samples_fit_)
        return sparse.csr_matrix((values, found.indices, found.starts), shape=shape)

    def _within(self, X: Any, radius: float | None, nearest_first: bool) -> Neighborhoods:
        Q = self._queries(X)
        radius = self.radius if radius is None else radius
        if radius is None:
            raise ValueError("radius_neighbors needs a radius, and this estimator has none: pass radius.")
        return self._built().within(Q, radius, nearest_first=nearest_first, n_jobs=self.n_jobs)
