"""Isomap: distances along the surface on which rows lie."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.decomposition import KernelPCA
from learnt.distances import Search, resolve_metric
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.matrices import Route, route
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
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

    Take it to unroll a curved surface, such as a spiral or the poses of one object, where distances along it matter,
    near and far. It needs rows that cover the surface without holes.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        To how many nearest rows each is joined; None where `radius` decides. Too few break the surface into pieces, too
        many cut across its folds.
    radius : float or None, default=None
        Up to which distance rows are joined, instead of `n_neighbors`.
    n_components : int, default=2
        The number of dimensions of the embedding; 2 for a map to look at.
    eigen_solver : {"auto", "dense", "arpack"}, default="auto"
        "dense" decomposes the whole matrix, "arpack" finds a few eigenvectors by iteration; "auto" takes "arpack" for
        fewer than 10 components of more than 200 rows.
    tol : float, default=0
        Convergence tolerance of "arpack"; 0 is machine precision.
    max_iter : int or None, default=None
        The most iterations of "arpack"; None leaves that to it.
    path_method : {"auto", "FW", "D"}, default="auto"
        How shortest paths are found: "FW" is Floyd and Warshall's algorithm, "D" Dijkstra's, which "auto" takes.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How neighbours are searched. All find the same; "auto" takes the one that is likely to be quickest.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    metric : str or callable, default="minkowski"
        The distance between neighbours: a name such as "euclidean" or "cosine", a function of two rows, or
        "precomputed", where X holds distances or a sparse graph of them.
    p : float, default=2
        The power of the metric "minkowski": 1 is the Manhattan distance, 2 the Euclidean one.
    metric_params : dict or None, default=None
        Keyword arguments of the metric.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates of the training rows.
    kernel_pca_ : KernelPCA
        The fitted components of the matrix −½ D², which place new rows.
    nbrs_ : NearestNeighbors
        The fitted search for neighbours.
    dist_matrix_ : ndarray of shape (n_samples, n_samples)
        D: the lengths of the shortest paths between training rows.

    See Also
    --------
    LocallyLinearEmbedding : Keeps only what is near; a sparse problem, for more rows.
    MDS : Keeps given distances, without a surface.
    TSNE : Maps of clusters, for looking at.
    learnt.decomposition.KernelPCA : Components in the space of a kernel.

    Notes
    -----
    Rows are joined to their neighbours, D holds the lengths of the shortest paths, and the coordinates are the first
    eigenvectors of the centred matrix −½ H D² H, H = I − 11ᵀ/n, times the roots of their eigenvalues. For n rows with k
    neighbours each, paths take O(n² (k + log n)) time, and D O(n²) memory. Where the graph is in several pieces, these
    are joined at their nearest rows, with a warning. X may also be a SciPy sparse matrix.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for nonlinear dimensionality
       reduction", Science 290, 2000.

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
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int = 2,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        path_method: str = "auto",
        neighbors_algorithm: str = "auto",
        n_jobs: int | None = None,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict | None = None,
    ) -> None:
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
        """Find the coordinates of the rows of X, and return them."""
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
        """‖K(D) − K(D_fit)‖ / n, of the centred matrices of D and of the distances between the coordinates.

        Returns
        -------
        error : float
            The smaller, the better the coordinates keep the distances along the surface. Compare it over
            `n_components`.
        """
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
