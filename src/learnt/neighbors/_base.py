"""What all estimators by neighbours share: the training rows, and queries."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from learnt.distances import Search, check_metric, chosen_algorithm, resolve_metric
from learnt.engine.estimator import Estimator, Takes
from learnt.engine.finite import require_finite
from learnt.engine.matrices import Route, route, stored
from learnt.engine.params import check_choice, check_number
from learnt.engine.threads import thread_count
from learnt.engine.validation import check_fit, check_predict
from learnt.neighbors._trees import PointTree

_OF_DENSE_ROWS = ("kd_tree", "ball_tree", "approximate")


class NeighborsBase(Estimator):
    """Training rows and their search index.

    Subclasses have the parameters algorithm, leaf_size, p, metric, metric_params and n_jobs, and n_neighbors or radius
    or both.
    """

    _n_neighbors_also: tuple = (None,)  # what n_neighbors may be besides a number

    n_neighbors: Any
    algorithm: str
    leaf_size: int
    metric: Any
    metric_params: dict | None
    p: float
    n_jobs: int | None
    _fit_X: Any

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True, missing=self._is_metric("nan_euclidean"))

    def _fit_rows(self, X: Any) -> Any:
        """Check the parameters and X; remember the rows and the metric that is meant."""
        name = type(self).__name__
        X = X._fit_X if isinstance(X, NeighborsBase) else X
        if hasattr(self, "n_neighbors"):
            check_number(self, "n_neighbors", 1, integer=True, also=self._n_neighbors_also)
        if hasattr(self, "radius"):
            check_number(self, "radius", 0, also=(None,))
        check_number(self, "leaf_size", 1, integer=True)
        check_number(self, "p", 0, open_low=True, also=(None,))
        check_number(self, "n_jobs", integer=True, also=(None,))
        thread_count(self.n_jobs)  # refuses 0, whatever the search will be
        check_choice(self, "algorithm", ("auto", "brute", "kd_tree", "ball_tree", "approximate"))
        check_metric(name, self.metric)
        if self.metric_params is not None and "p" in self.metric_params and self.p is not None:
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
                SyntaxWarning,
                stacklevel=3,
            )
        metric, params = resolve_metric(self.metric, self.p, self.metric_params)
        X = X.points_for(name, metric, params) if isinstance(X, PointTree) else X
        if self._is_precomputed():
            X = _checked_graph(X, name)
        X = check_fit(self, X, order="C").X
        check_metric(name, metric, X)
        if isinstance(metric, str) and metric == "minkowski" and params["p"] < 1:
            if self.algorithm in ("kd_tree", "ball_tree"):
                raise ValueError(
                    f'algorithm="{self.algorithm}" does not support 0 < p < 1 for the Minkowski metric. '
                    'To resolve this problem either set p >= 1 or algorithm="brute".'
                )
            warnings.warn(
                "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing the execution with "
                "`algorithm='brute'`.",
                UserWarning,
                stacklevel=3,
            )
        if self._is_precomputed():
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be square. Input is a {X.shape[0]}x{X.shape[1]} matrix: give the "
                    "distances of all training rows to each other."
                )
            _require_distances(X)
        self.effective_metric_, self.effective_metric_params_ = metric, params
        self._fit_X = X
        self.n_samples_fit_ = X.shape[0]
        self._search = self._build()
        self._remember_recall()
        return X

    def _knows_rows(self) -> bool:
        return hasattr(self, "n_samples_fit_")

    def _more_rows(self, X: Any) -> Any:
        """Rows that are to be added, checked."""
        X, known = check_predict(self, X, order="C"), route(self._fit_X)
        if route(X) is not known:
            raise ValueError(
                f"{type(self).__name__} was fitted on {known.value} rows, and these are not; give the same kind."
            )
        return X

    def _append(self, X: Any) -> None:
        """Take more rows, and keep what the search has of the old ones."""
        search = self._built()
        rows = [self._fit_X, X.astype(self._fit_X.dtype, copy=False)]
        self._fit_X = sparse.vstack(rows, format="csr") if route(X) is Route.SPARSE else np.concatenate(rows)
        self.n_samples_fit_ = self._fit_X.shape[0]
        self._search = search.added(self._fit_X)
        self._remember_recall()

    def _remember_recall(self) -> None:
        self.__dict__.pop("recall_", None)
        if self._search.recall is not None:
            self.recall_ = self._search.recall

    def _build(self) -> Search:
        X, metric, params = self._fit_X, self.effective_metric_, self.effective_metric_params_
        algorithm = chosen_algorithm(X, metric, params, self.algorithm)
        return Search.build(X, metric, params, algorithm=algorithm, leaf_size=self.leaf_size, n_jobs=self.n_jobs)

    def _built(self) -> Search:
        """The search, built by `fit`; a model from a file builds it at its first query."""
        if "_search" not in vars(self):
            self._search = self._build()
        return self._search

    def _is_metric(self, name: str) -> bool:
        return isinstance(self.metric, str) and self.metric == name

    def _is_precomputed(self) -> bool:
        return self._is_metric("precomputed")

    def _queries(self, X: Any) -> Any:
        """Queries, checked; None stands for the training rows themselves."""
        if X is None:
            check_is_fitted(self)
            return None
        if self._is_precomputed():
            X = _checked_graph(X, type(self).__name__)
        X = check_predict(self, X, order="C")
        if self._is_precomputed():
            _require_distances(X)
        elif sparse.issparse(X) and not sparse.issparse(self._fit_X) and self.algorithm in _OF_DENSE_ROWS:
            raise ValueError(
                f"{self.algorithm} does not work with sparse matrices. Densify the data, or set algorithm='brute'."
            )
        return X

    def _checked_queries(self, X: Any, n_neighbors: int | None = None) -> tuple[Any, int, int]:
        """The queries, their number, and how many neighbours each is to have."""
        Q = self._queries(X)
        m = self.n_samples_fit_ if Q is None else Q.shape[0]
        return Q, m, self._count(n_neighbors, m, Q is None)

    def _count(self, n_neighbors: int | None, n_queries: int, itself: bool) -> int:
        k = self._own_count() if n_neighbors is None else n_neighbors
        if not isinstance(k, Integral) or isinstance(k, bool):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}; ask for at least 1.")
        if k + itself > self.n_samples_fit_:
            sign = "<" if itself else "<="
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {k}, n_samples_fit = "
                f"{self.n_samples_fit_}, n_samples = {n_queries}; ask for fewer neighbors or fit more rows."
            )
        return int(k)

    def _own_count(self) -> Any:
        """The estimator's number of neighbours, where it is not given with the question."""
        return self.n_neighbors

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.positive_only = self._is_precomputed()
        return tags


class KNeighborsMixin:
    """The questions `kneighbors` and `kneighbors_graph`."""

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The k nearest training rows of each row of X, nearest first; of equal distances the first rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            Rows to find neighbours of. None asks for the neighbours of the training rows, which do not count as their
            own.
        n_neighbors : int or None, default=None
            How many neighbours to find; None for the estimator's own number.
        return_distance : bool, default=True
            Whether to return the distances too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Distances to the neighbours, rising in each row; only with `return_distance=True`.
        index : ndarray of shape (n_queries, n_neighbors)
            The numbers of the neighbours among the training rows.
        """
        Q, _, k = self._checked_queries(X, n_neighbors)  # type: ignore[attr-defined]
        distances, index = self._built().nearest(Q, k, n_jobs=self.n_jobs)  # type: ignore[attr-defined]
        return (distances, index) if return_distance else index

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """The k nearest training rows of each row of X as a sparse matrix (n_queries, n_training rows).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            Rows to find neighbours of. None asks for the neighbours of the training rows, which do not count as their
            own.
        n_neighbors : int or None, default=None
            How many neighbours to find; None for the estimator's own number.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether an entry is 1 or the distance.

        Returns
        -------
        graph : CSR matrix of shape (n_queries, n_samples_fit)
            Row i has an entry for each neighbour of query i, nearest first.
        """
        check_mode(mode)
        distances, index = self.kneighbors(X, n_neighbors)
        values = np.ones(index.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, index.size + 1, index.shape[1])
        shape = (index.shape[0], self.n_samples_fit_)  # type: ignore[attr-defined]
        return sparse.csr_matrix((values, index.ravel(), starts), shape=shape)


def check_mode(mode: Any) -> None:
    """Raise where the entries of a graph are to be something else than 1 or distances."""
    if not (isinstance(mode, str) and mode in ("connectivity", "distance")):
        raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')


def _checked_graph(X: Any, name: str) -> Any:
    """Formats that keep zeros apart from missing entries: a distance of 0 is a distance."""
    if sparse.issparse(X) and X.format not in ("csr", "csc", "coo", "lil"):
        raise TypeError(
            f"Sparse matrix in {X.format!r} format is not supported due to its handling of explicit zeros; "
            f"give {name} a CSR matrix of distances."
        )
    if not sparse.issparse(X):
        X = np.asarray(X)
        if X.dtype.kind == "f":
            require_finite(X, "X", name)
    return X


def _require_distances(X: Any) -> None:
    values = stored(X)
    if values.size and values.min() < 0:
        raise ValueError("Negative values in data passed to precomputed distance matrix; distances are 0 or more.")


def takes_more_rows(model: Any) -> bool:
    """Whether a model has `partial_fit`."""
    if model._is_precomputed():
        raise AttributeError(
            f"{type(model).__name__} cannot add rows to distances that are given: call fit with all of them."
        )
    return True
