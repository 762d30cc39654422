"""Search trees as public classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.distances import (
    BALL_TREE_METRICS,
    KD_TREE_METRICS,
    SAME_METRICS,
    Search,
    Visits,
    metric_tree_takes,
    resolve_metric,
    tree_nodes,
    tree_takes,
    visits,
)
from learnt.engine.finite import require_finite
from learnt.engine.params import ParameterError
from learnt.neighbors._density_kernels import KERNELS, log_volume
from learnt.neighbors._density_sums import log_sums


def _with_other_names(metrics: tuple[str, ...]) -> list[str]:
    return sorted({*metrics, *(name for name, other in SAME_METRICS.items() if other in metrics)})


_NODE = np.dtype([("idx_start", np.intp), ("idx_end", np.intp), ("is_leaf", np.intp), ("radius", np.float64)])


class PointTree:
    """Points, an index over them, and the questions that both trees answer."""

    _algorithm: str
    _visits: Visits | None = None
    valid_metrics: list[str]

    def __init__(self, X: Any, leaf_size: int = 40, metric: Any = "minkowski", **kwargs: Any) -> None:
        name = type(self).__name__
        if isinstance(leaf_size, bool) or not isinstance(leaf_size, int | np.integer) or leaf_size < 1:
            raise ValueError(f"leaf_size must be greater than or equal to 1, a whole number; {name} got {leaf_size!r}.")
        self.data = _table(X, "X", name)
        if self.data.shape[0] == 0 or self.data.shape[1] == 0:
            raise ValueError(f"{name} needs at least one point and one feature; X has the shape {self.data.shape}.")
        if callable(metric) and "func" in kwargs:
            raise ValueError(f"{name} got two functions as its metric: give one.")
        if metric == "pyfunc":
            metric = kwargs.pop("func", None)
        of, params = resolve_metric(metric, 2, kwargs)
        if not self._takes(of, params):
            raise ValueError(
                f"{name} has the metrics {', '.join(self.valid_metrics)} with p >= 1, and not {metric!r} with {kwargs}"
                "; use NearestNeighbors(algorithm='brute') for others."
            )
        self._metric, self._params = of, params
        self._search = Search.build(self.data, of, params, algorithm=self._algorithm, leaf_size=int(leaf_size))

    def _takes(self, metric: Any, params: dict) -> bool:
        return tree_takes(self.data, metric, params)

    def points_for(self, name: str, metric: Any, params: dict) -> np.ndarray:
        """The points, for an estimator of this name with the same metric.

        Parameters
        ----------
        name : str
            The estimator's name, for the message of an error.
        metric : str or callable
            The metric that the estimator measures by.
        params : dict
            The parameters of that metric.

        Returns
        -------
        data : ndarray of shape (n_samples, n_features)
            The points of the tree.

        Raises
        ------
        ValueError
            If the tree is by another metric.
        """
        given, own = ((SAME_METRICS.get(m, m) if isinstance(m, str) else m) for m in (metric, self._metric))
        same = params.keys() == self._params.keys() and all(np.array_equal(params[k], self._params[k]) for k in params)
        if given != own or not same:
            raise ValueError(
                f"X is a {type(self).__name__} by the metric {self._metric!r} with {self._params}, and {name} measures "
                f"by {metric!r} with {params}; give both the same metric."
            )
        return self.data

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

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points to ask about.
        k : int, default=1
            How many neighbours to find.
        return_distance : bool, default=True
            Whether to return the distances too.
        dualtree : bool, default=False
            Kept for scikit-learn's signature: it changes no answer here.
        breadth_first : bool, default=False
            Kept for scikit-learn's signature: it changes no answer here.
        sort_results : bool, default=True
            Kept for scikit-learn's signature: neighbours are sorted in any case.

        Returns
        -------
        distances : ndarray of shape (n_queries, k)
            Distances to the neighbours; only with `return_distance=True`.
        index : ndarray of shape (n_queries, k)
            The numbers of the neighbours among the points.
        """
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= self.data.shape[0]:
            raise ValueError(
                f"k must be less than or equal to the number of training points, {self.data.shape[0]}, and at least 1; "
                f"{type(self).__name__}.query got {k!r}."
            )
        Q = self._queries(X)
        distances, index = self._search.nearest(Q, int(k))
        self._count(Q, distances[:, -1])
        return (distances, index) if return_distance else index

    def query_radius(
        self, X: Any, r: Any, return_distance: bool = False, count_only: bool = False, sort_results: bool = False
    ) -> Any:
        """The points at most r (one number, or one for each row of X) away: indices, then distances if asked for.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points to ask about.
        r : float or array-like of shape (n_queries,)
            How far to look, or how far for each row of X.
        return_distance : bool, default=False
            Whether to return the distances too.
        count_only : bool, default=False
            Whether to return only how many points there are, which is quicker. Not with `return_distance`.
        sort_results : bool, default=False
            Whether the nearest come first; needs `return_distance=True`.

        Returns
        -------
        index : ndarray of shape (n_queries,) of arrays, or of int
            The numbers of the points within the radius of each row; with `count_only=True` how many they are.
        distances : ndarray of shape (n_queries,) of arrays
            Their distances; only with `return_distance=True`.
        """
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
        self._count(Q, np.broadcast_to(radii, Q.shape[:1]))
        if count_only:
            return self._search.count_within(Q, np.atleast_1d(radii)[:, None])[:, 0]
        found = self._search.arrays_within(Q, radii, nearest_first=sort_results, distances=return_distance)
        return found[::-1] if return_distance else found

    def two_point_correlation(self, X: Any, r: Any, dualtree: bool = False) -> np.ndarray:
        """How many pairs of a row of X and a point are at most r[i] away from each other, for each entry of r.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points to ask about.
        r : array-like of shape (n_radii,)
            The distances to count up to.
        dualtree : bool, default=False
            Kept for scikit-learn's signature: it changes no answer here.

        Returns
        -------
        counts : ndarray of int, of the shape of r
            The number of pairs for each distance.
        """
        radii = np.asarray(r, dtype=np.float64)
        if np.isnan(radii).any():
            raise ValueError("r must not be NaN; give distances.")
        flat = np.atleast_1d(radii).ravel()
        order = np.argsort(flat, kind="stable")
        out, Q = np.empty(flat.size, dtype=np.int64), self._queries(X)
        out[order] = self._search.count_within(Q, flat[order][None, :]).sum(axis=0)
        self._count(Q, np.full(Q.shape[0], flat.max(initial=0.0)))
        return out.reshape(np.atleast_1d(radii).shape)

    def kernel_density(
        self,
        X: Any,
        h: Any,
        kernel: str = "gaussian",
        atol: float = 0,
        rtol: float = 1e-8,
        breadth_first: bool = True,
        return_log: bool = False,
    ) -> np.ndarray:
        """Σ over the points t of K(distance(x, t) / h) / ∫ K(‖u‖ / h) du, for each row x of X.

        Divided by the number of points it is the density of `KernelDensity`.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points to ask about.
        h : float
            The bandwidth of the kernel, above 0: larger values smooth more.
        kernel : str, default="gaussian"
            The shape K: "gaussian", "tophat", "epanechnikov", "exponential", "linear" or "cosine".
        atol : float, default=0
            Kept for scikit-learn's signature: sums are exact here, which meets every absolute tolerance.
        rtol : float, default=1e-8
            Kept for scikit-learn's signature: sums are exact here, which meets every relative tolerance.
        breadth_first : bool, default=True
            Kept for scikit-learn's signature: it changes no answer here.
        return_log : bool, default=False
            Whether to return the logarithms of the sums, which do not underflow far from all points.

        Returns
        -------
        density : ndarray of shape (n_queries,)
            The sum at each row, or its logarithm.
        """
        name = f"{type(self).__name__}.kernel_density"
        if kernel not in KERNELS:
            raise ParameterError(f"kernel must be one of {', '.join(KERNELS)}; {name} got {kernel!r}.")
        if isinstance(h, bool) or not isinstance(h, int | float | np.number) or not h > 0:
            raise ParameterError(f"h must be a number above 0; {name} got {h!r}.")
        Q = self._queries(X).astype(np.float64, copy=False)
        euclidean = isinstance(self._metric, str) and self._metric in ("euclidean", "l2")
        logs = log_sums(self._search, kernel, Q, None, float(h), euclidean) - log_volume(kernel, float(h), Q.shape[1])
        return logs if return_log else np.exp(logs)

    def get_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The points, their order in the tree, its nodes, and their bounds.

        Returns
        -------
        data : ndarray of shape (n_samples, n_features)
            The points.
        order : ndarray of shape (n_samples,)
            The numbers of the points in the order of the tree.
        nodes : ndarray of shape (n_nodes,)
            Records (idx_start, idx_end, is_leaf, radius): the place of a node in that order, and its size.
        bounds : ndarray of shape (2 or 1, n_nodes, n_features)
            The lower and the upper corners of boxes, or the centres of balls.
        """
        nodes = tree_nodes(self._search)
        table = np.empty(nodes.is_leaf.size, dtype=_NODE)
        table["idx_start"], table["idx_end"] = nodes.starts.T
        table["is_leaf"], table["radius"] = nodes.is_leaf, nodes.radii
        return self.data, nodes.order, table, nodes.corners

    def reset_n_calls(self) -> None:
        """Count from now on what `get_n_calls` and `get_tree_stats` tell; until the first call nothing is counted."""
        self._visits = Visits()

    def get_n_calls(self) -> int:
        """Distances to points that the queries since `reset_n_calls` could not do without.

        Those are the points of all leaves that may hold one of a query's answers; a search looks at some more.

        Returns
        -------
        n_calls : int
            The number of distances; 0 before the first call of `reset_n_calls`.
        """
        return self._visits.distances if self._visits else 0

    def get_tree_stats(self) -> tuple[int, int, int]:
        """Of the same queries, the nodes that need not be opened below those that must, and the leaves and others.

        Returns
        -------
        n_trims : int
            Nodes that need not be opened, below nodes that must.
        n_leaves : int
            Leaves that must be opened.
        n_splits : int
            Other nodes that must be opened.
        """
        return self._visits[1:] if self._visits else (0, 0, 0)

    def _count(self, Q: np.ndarray, radii: np.ndarray) -> None:
        if self._visits is not None:
            self._visits = self._visits.with_more(visits(self._search, Q, radii))

    def _queries(self, X: Any) -> np.ndarray:
        name = type(self).__name__
        Q = _table(X, "The query X", name)
        if Q.shape[1] != self.data.shape[1]:
            raise ValueError(
                f"query data dimension must match training data dimension: X has {Q.shape[1]} features, and this "
                f"{name} {self.data.shape[1]}."
            )
        return Q


class KDTree(PointTree):
    """Points in nested boxes, split at the median of the feature that varies most: the answers of brute force, sooner.

    Time per query grows like log n where features are few (up to ten or so); above, brute force is quicker.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points, finite numbers.
    leaf_size : int, default=40
        The most points of a box that is not split. It changes the speed and the memory, never the answers.
    metric : str, default="minkowski"
        The distance: "euclidean", "manhattan", "chebyshev", "sqeuclidean" or "minkowski" with a power `p`.
    **kwargs : dict
        Parameters of the metric, such as `p=3`.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        The points. `get_arrays` has the nodes too, `get_n_calls` and `get_tree_stats` what queries since
        `reset_n_calls` took.
    valid_metrics : list of str
        The names of metrics that the tree takes; an attribute of the class.

    See Also
    --------
    BallTree : For any true metric, and better in many columns.
    NearestNeighbors : An estimator that chooses the search by itself.
    KernelDensity : A density from a kernel around every point.

    Notes
    -----
    Building takes about n log n time and keeps one copy of the points. Queries run on several threads.

    Examples
    --------
    >>> tree = KDTree([[0.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
    >>> tree.query([[0.0, 0.4]], k=2)
    (array([[0.4, 0.6]]), array([[0, 1]]))
    >>> tree.query_radius([[0.0, 0.4]], 0.5)[0]
    array([0])
    >>> tree.two_point_correlation([[0.0, 0.0], [3.0, 2.0]], [0.5, 1.0])
    array([1, 3])
    """

    _algorithm = "kd_tree"
    valid_metrics = _with_other_names(KD_TREE_METRICS)


class BallTree(PointTree):
    """Points in nested balls about their means, split at the median between two far ends: the answers of brute force.

    A point of a ball of radius r about c is at least distance(q, c) − r away from q. That holds for every metric, and
    where points lie on a surface of few dimensions among many features, balls are as small as the surface lets them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points, finite numbers.
    leaf_size : int, default=40
        The most points of a ball that is not split. It changes the speed and the memory, never the answers.
    metric : str or callable, default="minkowski"
        A metric of `BallTree.valid_metrics`, or a function of two rows that is one. Trees by Minkowski distances
        without weights are compiled.
    **kwargs : dict
        Parameters of the metric, such as `p=3`.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        The points. `get_arrays` has the nodes too, `get_n_calls` and `get_tree_stats` what queries since
        `reset_n_calls` took.
    valid_metrics : list of str
        The names of metrics that the tree takes; an attribute of the class.

    See Also
    --------
    KDTree : Quicker for Minkowski distances and few columns.
    NearestNeighbors : An estimator that chooses the search by itself.
    KernelDensity : A density from a kernel around every point.

    Notes
    -----
    Building takes about n log n distances and keeps one copy of the points. Haversine distances want latitude and
    longitude in radians and come in radians: times 6371 they are kilometres.

    Examples
    --------
    >>> tree = BallTree([[0.0, 0.0], [0.0, 1.0], [3.0, 3.0]], metric="haversine")
    >>> tree.query([[0.0, 0.9]])
    (array([[0.1]]), array([[1]]))
    """

    _algorithm = "ball_tree"
    valid_metrics = _with_other_names((*BALL_TREE_METRICS, *KD_TREE_METRICS))

    def _takes(self, metric: Any, params: dict) -> bool:
        return tree_takes(self.data, metric, params) or metric_tree_takes(self.data, metric, params)


def _table(X: Any, what: str, name: str) -> np.ndarray:
    """Finite numbers in C order, in float64 unless they are float32."""
    X = np.asarray(X)
    X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
    if X.ndim != 2:
        raise ValueError(f"{what} must have two dimensions, rows and features, for {name}; it has {X.ndim}.")
    require_finite(X, what, name)
    return X
