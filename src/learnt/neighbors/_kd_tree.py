"""A KD-tree to be asked directly."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.distances import KD_TREE_METRICS, Search, resolve_metric, tree_takes
from learnt.engine.finite import require_finite


class KDTree:
    """Points in nested boxes, split at the median of the feature that varies most: the answers of brute force, sooner.

    Time per query grows like log n where features are few (up to ten or so); above, brute force is quicker.

    Parameters
    ----------
    X : array of shape (n, d)
    leaf_size : int, default=40
        Points up to which a box is not split.
    metric : str, default="minkowski"
        "euclidean", "manhattan", "chebyshev", "sqeuclidean" or "minkowski" with a power `p`.
    **kwargs :
        Parameters of the metric.

    Attributes
    ----------
    data : array of shape (n, d)

    Examples
    --------
    >>> tree = KDTree([[0.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
    >>> tree.query([[0.0, 0.4]], k=2)
    (array([[0.4, 0.6]]), array([[0, 1]]))
    >>> tree.query_radius([[0.0, 0.4]], 0.5)[0]
    array([0])
    """

    valid_metrics = list(KD_TREE_METRICS)

    def __init__(self, X: Any, leaf_size: int = 40, metric: str = "minkowski", **kwargs: Any) -> None:
        if isinstance(leaf_size, bool) or not isinstance(leaf_size, int | np.integer) or leaf_size < 1:
            raise ValueError(f"leaf_size must be greater than or equal to 1, a whole number; KDTree got {leaf_size!r}.")
        self.data = _table(X, "X")
        if self.data.shape[0] == 0 or self.data.shape[1] == 0:
            raise ValueError(f"KDTree needs at least one point and one feature; X has the shape {self.data.shape}.")
        name, params = resolve_metric(metric, 2, kwargs)
        if not tree_takes(self.data, name, params):
            raise ValueError(
                f"KDTree has the metrics {', '.join(KD_TREE_METRICS)} with p >= 1, and not {metric!r} with {kwargs}; "
                "use NearestNeighbors(algorithm='brute') for others."
            )
        self._search = Search.build(self.data, name, params, algorithm="kd_tree", leaf_size=int(leaf_size))

    def query(
        self,
        X: Any,
        k: int = 1,
        return_distance: bool = True,
        dualtree: bool = False,
        breadth_first: bool = False,
        sort_results: bool = True,
    ) -> Any:
        """The k nearest points of each row of X, nearest first; of equal distances the smaller index first.

        `dualtree`, `breadth_first` and `sort_results` are scikit-learn's; they change no answer here.
        """
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= self.data.shape[0]:
            raise ValueError(
                f"k must be less than or equal to the number of training points, {self.data.shape[0]}, and at least 1; "
                f"KDTree.query got {k!r}."
            )
        distances, index = self._search.nearest(self._queries(X), int(k))
        return (distances, index) if return_distance else index

    def query_radius(
        self, X: Any, r: Any, return_distance: bool = False, count_only: bool = False, sort_results: bool = False
    ) -> Any:
        """The points at most r (one number, or one for each row of X) away: indices, then distances if asked for."""
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True")
        if count_only and return_distance:
            raise ValueError("count_only and return_distance cannot both be true")
        Q = self._queries(X)
        radii = np.asarray(r, dtype=np.float64)
        if radii.ndim and radii.shape != (Q.shape[0],):
            raise ValueError(
                f"r must be one number or one for each of the {Q.shape[0]} rows; its shape is {radii.shape}."
            )
        if np.isnan(radii).any():
            raise ValueError("r must not be NaN; give a distance.")
        found = self._search.within(Q, radii, nearest_first=sort_results)
        if count_only:
            return found.counts
        distances, index = found.arrays()
        return (index, distances) if return_distance else index

    def _queries(self, X: Any) -> np.ndarray:
        Q = _table(X, "The query X")
        if Q.shape[1] != self.data.shape[1]:
            raise ValueError(
                f"query data dimension must match training data dimension: X has {Q.shape[1]} features, and this "
                f"KDTree {self.data.shape[1]}."
            )
        return Q


def _table(X: Any, what: str) -> np.ndarray:
    """Finite numbers in C order, in float64 unless they are float32."""
    X = np.asarray(X)
    X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
    if X.ndim != 2:
        raise ValueError(f"{what} must have two dimensions, rows and features, for KDTree; it has {X.ndim}.")
    require_finite(X, what, "KDTree")
    return X
