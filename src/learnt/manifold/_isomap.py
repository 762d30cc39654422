"""Isomap: distances along the surface on which rows lie."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from learnt.decomposition import KernelPCA
from learnt.distances import Search, resolve_metric
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.matrices import Route, route
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.schema import FEATURES, Dims, Schema, anyof, count, estimator, none, number, real
from learnt.engine.threads import for_blocks
from learnt.engine.validation import check_fit, check_predict
from learnt.manifold._paths import joined_pieces, shortest_paths
from learnt.neighbors import NearestNeighbors

_CELLS = 1 << 20  # distances of a block of new rows


def _fits_together(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    neighbours, components = state["nbrs_"], state["kernel_pca_"]
    if not (isinstance(neighbours, NearestNeighbors) and isinstance(components, KernelPCA)):
        return "is not of neighbours and components"
    if not (hasattr(neighbours, "n_samples_fit_") and hasattr(components, "X_fit_")):
        return "has parts that are not fitted"
    if neighbours.n_samples_fit_ != dims["n"] or components.X_fit_.shape != (dims["n"], dims["n"]):
        return "has parts of different sizes"
    if (model.n_neighbors is None) == (model.radius is None):
        return "does not say which rows are neighbours"
    return None


class Isomap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Coordinates whose distances are those along the surface on which rows lie (Tenenbaum et al., 2000).

    Rows are joined to their neighbours, D holds the lengths of the shortest paths, and the coordinates are the first
    eigenvectors of the centred matrix −½ H D² H, H = I − 11ᵀ/n, times the roots of their eigenvalues.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        To how many nearest rows each is joined; None where `radius` decides.
    radius : float or None
        Up to which distance rows are joined.
    n_components : int, default=2
    eigen_solver : {"auto", "dense", "arpack"}, default="auto"
    tol : float, default=0
        Of "arpack"; 0 is machine precision.
    max_iter : int or None
        Of "arpack".
    path_method : {"auto", "FW", "D"}, default="auto"
        The algorithm for paths: Floyd and Warshall's or Dijkstra's, which "auto" takes.
    neighbors_algorithm, metric, p, metric_params :
        As `algorithm` and the others of `learnt.neighbors.NearestNeighbors`. "precomputed": X holds distances or a
        sparse graph of them.
    n_jobs : int or None
        Threads.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
    kernel_pca_ : KernelPCA
        Of the matrix −½ D².
    nbrs_ : NearestNeighbors
    dist_matrix_ : array of shape (n_samples, n_samples)
        D.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Rows on a spiral are unrolled into a line:

    >>> turn = np.sqrt(np.linspace(4, 60, 50))
    >>> X = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)])
    >>> along = Isomap(n_neighbors=2, n_components=1).fit_transform(X).ravel()
    >>> bool((np.diff(along) > 0).all() or (np.diff(along) < 0).all())
    True
    """

    __learnt_schema__ = Schema(
        params={"n_neighbors": anyof(none, count(1)), "radius": anyof(none, number(0, finite=False))},
        state={
            **FEATURES,
            "embedding_": real("n", "k"),
            "dist_matrix_": real("n", "n", low=0),
            "nbrs_": estimator("kneighbors"),
            "kernel_pca_": estimator("transform"),
        },
        rule=_fits_together,
    )
    # All rows are neighbours where laws are tried: which are is not a smooth function of the rows.
    __learnt_trial__ = Trial(
        quick={"n_neighbors": None, "radius": 1e6, "eigen_solver": "dense"},
        warmup=(Warm("none", {"n_neighbors": 12}),),
        most_rows=300,
    )

    def __init__(
        self,
        *,
        n_neighbors=5,
        radius=None,
        n_components=2,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        path_method="auto",
        neighbors_algorithm="auto",
        n_jobs=None,
        metric="minkowski",
        p=2,
        metric_params=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.path_method = path_method
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs
        self.metric = metric
        self.p = p
        self.metric_params = metric_params

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True)

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def fit(self, X: Any, y: Any = None) -> Isomap:
        """Find the coordinates of the rows of X, or of rows whose distances X holds."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """The coordinates of the rows of X."""
        self._fit(X)
        return self.embedding_

    def _fit(self, X: Any) -> None:
        self._check()
        X = check_fit(self, X, order="C").X
        self.nbrs_ = NearestNeighbors(
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            algorithm=self.neighbors_algorithm,
            metric=self.metric,
            p=self.p,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        ).fit(X)
        if self.n_neighbors is None:
            graph = self.nbrs_.radius_neighbors_graph(mode="distance")
        else:
            if self.n_neighbors >= X.shape[0]:
                raise ValueError(
                    f"n_neighbors={self.n_neighbors} of Isomap must be less than n_samples = {X.shape[0]}, since no "
                    "row is its own neighbour; ask for fewer neighbors or give more rows."
                )
            graph = self.nbrs_.kneighbors_graph(mode="distance")
        D = shortest_paths(joined_pieces(graph, self._nearest(X), "Isomap", 5), self.path_method, self.n_jobs)
        self.dist_matrix_ = D.astype(X.dtype, copy=False)
        self.kernel_pca_ = KernelPCA(
            n_components=self.n_components,
            kernel="precomputed",
            eigen_solver=self.eigen_solver,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=0,
            copy_X=False,
        ).set_output(transform="default")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # paths on a curved surface are no Euclidean distances
            self.embedding_ = self.kernel_pca_.fit_transform(-0.5 * self.dist_matrix_**2)

    def _check(self) -> None:
        check_number(self, "n_neighbors", 1, integer=True, also=(None,))
        check_number(self, "radius", 0, also=(None,))
        check_number(self, "n_components", 1, integer=True)
        check_choice(self, "eigen_solver", ("auto", "arpack", "dense"))
        check_number(self, "tol", 0)
        check_number(self, "max_iter", 1, integer=True, also=(None,))
        check_choice(self, "path_method", ("auto", "FW", "D"))
        if self.n_neighbors is not None and self.radius is not None:
            raise ParameterError(
                f"Both n_neighbors and radius are provided. Use Isomap(radius={self.radius}, n_neighbors=None) if "
                "intended to use radius-based neighbors."
            )
        if self.n_neighbors is None and self.radius is None:
            raise ParameterError("Isomap needs n_neighbors or radius, both are None; give one of them.")

    @property
    def _given(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _nearest(self, X: Any) -> Any:
        """Distances of some rows to the nearest of others; None where they are not known."""
        if self._given and route(X) is Route.SPARSE:
            return None
        metric, params = resolve_metric(self.metric, self.p, self.metric_params)

        def nearest(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            if self._given:
                D = X[np.ix_(a, b)]
                return D.min(axis=1), D.argmin(axis=1)
            distances, index = Search.build(X[b], metric, params).nearest(X[a], 1)
            return distances[:, 0], index[:, 0]

        return nearest

    def transform(self, X: Any) -> np.ndarray:
        """The coordinates of new rows: paths to the training rows begin with a step to a neighbour."""
        X = check_predict(self, X, order="C")
        n = X.shape[0]
        if self.n_neighbors is None:
            distances, index = self.nbrs_.radius_neighbors(X, return_distance=True)
        else:
            distances, index = self.nbrs_.kneighbors(X, return_distance=True)
        counts = np.array([len(near) for near in index])
        if n and counts.min() == 0:
            raise ValueError(
                f"Row {int(counts.argmin())} of X has no training row within the radius {self.radius} of Isomap; fit "
                "with a larger radius or leave it out."
            )
        paths = np.empty((n, len(self.dist_matrix_)), dtype=self.dist_matrix_.dtype)

        def fill(lo: int, hi: int) -> None:
            for i in range(lo, hi):
                paths[i] = (self.dist_matrix_[index[i]] + np.asarray(distances[i])[:, None]).min(axis=0)

        for_blocks(fill, n, grain=max(1, _CELLS // paths.shape[1]), n_jobs=self.n_jobs)
        return self.kernel_pca_.transform(-0.5 * paths**2).astype(paths.dtype, copy=False)

    def reconstruction_error(self) -> float:
        """‖K(D) − K(D_fit)‖ / n, of the centred matrices of D and of the distances between the coordinates."""
        K = -0.5 * np.square(self.dist_matrix_, dtype=np.float64)
        K -= K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
        lost = float((K**2).sum() - (np.asarray(self.kernel_pca_.eigenvalues_, dtype=np.float64) ** 2).sum())
        return float(np.sqrt(max(lost, 0.0)) / len(K))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self._given
        return tags
