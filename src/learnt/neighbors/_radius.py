"""Questions for all rows within a radius."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from learnt.distances import BallSums, Search
from learnt.neighbors._base import check_mode
from learnt.neighbors._vote import all_count_the_same


class RadiusNeighborsMixin:
    """The questions `radius_neighbors` and `radius_neighbors_graph`."""

    radius: float | None
    n_jobs: int | None
    n_samples_fit_: int

    def radius_neighbors(
        self, X: Any = None, radius: Any = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """All training rows at most `radius` away from each row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            Rows to find neighbours of. None asks for the neighbours of the training rows, which do not count as their
            own.
        radius : float, array-like of shape (n_queries,) or None, default=None
            How far to look, or how far for each row of X; None for the estimator's own radius.
        return_distance : bool, default=True
            Whether to return the distances too.
        sort_results : bool, default=False
            Whether the nearest come first. Otherwise neighbours are in the order of the training rows.

        Returns
        -------
        distances : ndarray of shape (n_queries,) of arrays
            Distances to the neighbours of each row; only with `return_distance=True`.
        index : ndarray of shape (n_queries,) of arrays
            The numbers of the neighbours of each row among the training rows. The arrays differ in length, and may be
            empty.
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        search, Q, radius = self._search_within(X, radius)
        return search.arrays_within(
            Q, radius, nearest_first=sort_results, distances=return_distance, n_jobs=self.n_jobs
        )

    def radius_neighbors_graph(
        self, X: Any = None, radius: Any = None, mode: str = "connectivity", sort_results: bool = False
    ) -> Any:
        """All training rows at most `radius` away from each row of X as a sparse matrix (n_queries, n_training rows).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            Rows to find neighbours of. None asks for the neighbours of the training rows, which do not count as their
            own.
        radius : float, array-like of shape (n_queries,) or None, default=None
            How far to look, or how far for each row of X; None for the estimator's own radius.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether an entry is 1 or the distance.
        sort_results : bool, default=False
            Whether the entries of a row are in order of distance, nearest first.

        Returns
        -------
        graph : CSR matrix of shape (n_queries, n_samples_fit)
            Row i has an entry for each neighbour of query i.
        """
        check_mode(mode)
        search, Q, radius = self._search_within(X, radius)
        found = search.within(Q, radius, nearest_first=sort_results, distances=mode == "distance", n_jobs=self.n_jobs)
        values = np.ones(found.indices.size) if mode == "connectivity" else found.distances
        shape = (found.counts.size, self.n_samples_fit_)
        return sparse.csr_matrix((values, found.indices, found.starts), shape=shape)

    def _search_within(self, X: Any, radius: Any) -> tuple[Search, Any, Any]:
        """The search, its queries, and the radius or the radii."""
        Q = self._queries(X)  # type: ignore[attr-defined]
        if np.ndim(radius) > 0:
            radius = self._radii(radius, self.n_samples_fit_ if Q is None else Q.shape[0])
        else:
            radius = self._radius(radius)
        return self._built(), Q, radius  # type: ignore[attr-defined]

    def _radii(self, radii: Any, n_queries: int) -> np.ndarray:
        """One radius for each query."""
        radii = np.asarray(radii)
        if radii.dtype.kind not in "fiu" or radii.shape != (n_queries,) or not (radii >= 0).all():
            raise ValueError(
                f"radius must be a number of at least 0, or one for each of the {n_queries} rows; "
                f"{type(self).__name__} got an array of shape {radii.shape} and type {radii.dtype}."
            )
        return radii

    def _radius(self, radius: float | None) -> float:
        """The radius of a query, by default the estimator's."""
        radius = self.radius if radius is None else radius
        if radius is None:
            raise ValueError(f"{type(self).__name__} needs a radius and has none: set radius, or pass it.")
        if not isinstance(radius, Real) or not radius >= 0:
            raise ValueError(f"radius must be a number of at least 0; {type(self).__name__} got {radius!r}.")
        return radius


class RadiusSums:
    """Sums of the targets in balls, where all neighbours count the same and the search is by a tree.

    They are made by `fit`, or when queries come that a tree is built for, and kept beside the search.
    """

    weights: Any

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_sums"}

    def _make_sums(self) -> list[BallSums | None]:
        """The sums of each output."""
        raise NotImplementedError

    def _renew_sums(self) -> None:
        """Those of an earlier fit; new ones are made if they will be wanted."""
        self.__dict__.pop("_sums", None)
        if all_count_the_same(self.weights):
            self._sums = self._make_sums()

    def _kept_sums(self, Q: Any) -> list[BallSums] | None:
        """The sums if they answer these queries: not training rows, which are no neighbours of their own."""
        if Q is None or not all_count_the_same(self.weights):
            return None
        self._built().expect(Q)  # type: ignore[attr-defined]
        if None in vars(self).get("_sums", [None]):
            self._sums = self._make_sums()
        return None if None in self._sums else self._sums  # type: ignore[return-value]
