"""Coordinates of rows from a graph of them: Laplacian eigenmaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from learnt.distances import nearest_graph
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import Route, cast, route
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, count, real, table
from learnt.engine.validation import check_fit
from learnt.kernels import gram, named_kernel, require_room
from learnt.linalg.laplacian import check_solver, checked_weights, node_coordinates

_AFFINITIES = ("nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors")
_SOLVERS = ("arpack", "lobpcg", "amg", None)


def spectral_embedding(
    adjacency: Any,
    *,
    n_components: int = 8,
    eigen_solver: str | None = None,
    random_state: Any = None,
    eigen_tol: float | str = "auto",
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> np.ndarray:
    """Coordinates of the nodes of a graph: the first eigenvectors of its Laplacian.

    Parameters
    ----------
    adjacency : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Symmetric weights of the edges, at least 0; the diagonal does not count.
    n_components : int, default=8
        The number of dimensions of the embedding.
    eigen_solver : {"arpack", "lobpcg"} or None, default=None
        How eigenvectors are found; None is "arpack". "lobpcg" may be quicker for large sparse graphs and less exact.
        "amg" needs a package that is not used here, and is refused. Up to 400 nodes all of the matrix is decomposed.
    random_state : int, RandomState, Generator or None, default=None
        The start of the iteration. Pass an integer for the same result every time.
    eigen_tol : float or "auto", default="auto"
        Convergence tolerance of the iteration; "auto" is machine precision for "arpack", and its own default for
        "lobpcg".
    norm_laplacian : bool, default=True
        Whether the Laplacian is I − D^(−½) W D^(−½), which suits nodes of different degrees; False is D − W.
    drop_first : bool, default=True
        Whether to leave out the first vector, which is constant where the graph is in one piece. False for clustering.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
        The coordinates of the nodes.

    See Also
    --------
    SpectralEmbedding : The same of rows, as an estimator.
    learnt.cluster.SpectralClustering : Clusters of these coordinates.

    Notes
    -----
    Nodes that are joined by large weights get near coordinates [1]_. In a graph of several pieces the first
    eigenvectors tell these apart, and little else.

    References
    ----------
    .. [1] M. Belkin and P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data representation",
       Neural Computation 15, 2003.
    .. [2] U. von Luxburg, "A tutorial on spectral clustering", Statistics and Computing 17, 2007.

    Examples
    --------
    >>> path = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    >>> along = spectral_embedding(path, n_components=1).ravel()
    >>> bool((np.diff(along) > 0).all() or (np.diff(along) < 0).all())
    True
    """
    W = check_array(adjacency, accept_sparse="csr", dtype=(np.float64, np.float32))
    W = checked_weights(W, "spectral_embedding")
    draw, solver = random_state_of(random_state), check_solver(eigen_solver)
    return node_coordinates(
        W, n_components, solver=solver, tol=eigen_tol, draw=draw, normed=norm_laplacian, drop_first=drop_first
    )


class SpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Coordinates that neighbours share: first eigenvectors of a graph's Laplacian (Belkin and Niyogi, 2003).

    The columns y of the embedding have the least Σᵢⱼ wᵢⱼ (yᵢ − yⱼ)² of all that are orthogonal to the constant and to
    each other, and of one length, by the degrees Σⱼ wᵢⱼ. Take it for rows, or a graph, in which only neighbours count;
    it draws clusters together.

    Parameters
    ----------
    n_components : int, default=2
        The number of dimensions of the embedding; 2 for a map to look at.
    affinity : str or callable, default="nearest_neighbors"
        The weights of the graph: "nearest_neighbors" joins neighbours; "rbf" is exp(−γ ‖x − z‖²), for all pairs of
        rows; "precomputed" that X holds them; "precomputed_nearest_neighbors" that X is a sparse graph of distances, of
        which the nearest are taken; or a function of X that returns them.
    gamma : float or None, default=None
        γ of "rbf"; None is 1 / n_features. The larger it is, the more local the graph.
    random_state : int, RandomState, Generator or None, default=None
        The start of the iteration. Pass an integer for the same result every time.
    eigen_solver : {"arpack", "lobpcg"} or None, default=None
        How eigenvectors are found; None is "arpack". "lobpcg" may be quicker for large sparse graphs and less exact.
        "amg" needs a package that is not used here, and is refused. Up to 400 nodes all of the matrix is decomposed.
    eigen_tol : float or "auto", default="auto"
        Convergence tolerance of the iteration; "auto" is machine precision for "arpack", and its own default for
        "lobpcg".
    n_neighbors : int or None, default=None
        How many neighbours are joined; None is a tenth of the rows. Too few break the graph into pieces.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates of the training rows.
    affinity_matrix_ : {ndarray, sparse matrix} of shape (n_samples, n_samples)
        The weights of the graph.
    n_neighbors_ : int
        How many neighbours were joined; only where neighbours are.

    See Also
    --------
    spectral_embedding : The same of a graph, as a function.
    learnt.cluster.SpectralClustering : Clusters of such coordinates.
    Isomap : Keeps distances along a surface.
    LocallyLinearEmbedding : Keeps how each row lies to its neighbours.

    Notes
    -----
    A graph of n rows with k neighbours each is sparse, and takes O(n k) memory; "rbf" takes O(n²). New rows cannot be
    placed: there is no `transform`. X may also be a SciPy sparse matrix.

    References
    ----------
    .. [1] M. Belkin and P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data representation",
       Neural Computation 15, 2003.
    .. [2] U. von Luxburg, "A tutorial on spectral clustering", Statistics and Computing 17, 2007.

    Examples
    --------
    >>> X = np.vstack([np.zeros((5, 2)), np.ones((5, 2))]) + np.random.default_rng(0).normal(scale=0.1, size=(10, 2))
    >>> (SpectralEmbedding(1, affinity="rbf").fit_transform(X).ravel() > 0).sum()
    np.int64(5)
    """

    __learnt_schema__ = Schema(
        state={**FEATURES, "embedding_": real("n", "k"), "affinity_matrix_": table("n", "n")},
        extra={"n_neighbors_": count(1)},
    )
    # Coordinates are given to rows, so that they come in the order of the rows.
    __learnt_trial__ = Trial(quick={"affinity": "rbf", "gamma": 0.1, "random_state": 0}, any_order=False, most_rows=300)

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: Any = "nearest_neighbors",
        gamma: float | None = None,
        random_state: Any = None,
        eigen_solver: str | None = None,
        eigen_tol: float | str = "auto",
        n_neighbors: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True)

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def fit(self, X: Any, y: Any = None) -> SpectralEmbedding:
        """Find the coordinates of the rows of X, or of nodes whose weights X holds."""
        self._check()
        X = check_fit(self, X, min_rows=2, order="C").X
        W = self._weights(X)
        if W.shape != (X.shape[0], X.shape[0]):
            raise ValueError(f"The affinity of SpectralEmbedding has shape {W.shape}; give one for each two rows of X.")
        self.affinity_matrix_ = cast(W, X.dtype)
        found = node_coordinates(
            checked_weights(W, "SpectralEmbedding"),
            self.n_components,
            solver=check_solver(self.eigen_solver),
            tol=self.eigen_tol,
            draw=random_state_of(self.random_state),
        )
        self.embedding_ = found.astype(X.dtype, copy=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the coordinates of the rows of X, and return them."""
        return self.fit(X).embedding_

    def _check(self) -> None:
        check_number(self, "n_components", 1, integer=True)
        check_number(self, "gamma", 0, also=(None,))
        check_choice(self, "eigen_solver", _SOLVERS)
        check_number(self, "eigen_tol", 0, also=("auto",))
        check_number(self, "n_neighbors", 1, integer=True, also=(None,))
        if not callable(self.affinity):
            check_choice(self, "affinity", _AFFINITIES)

    def _weights(self, X: Any) -> Any:
        if callable(self.affinity):
            W = self.affinity(X)
            return W if route(W) is Route.SPARSE else np.asarray(W)
        if self.affinity in ("precomputed", "precomputed_nearest_neighbors") and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"SpectralEmbedding(affinity={self.affinity!r}) takes a square matrix; X has shape {X.shape}."
            )
        if self.affinity == "precomputed":
            return X
        if self.affinity == "rbf":
            require_room("SpectralEmbedding", X.shape[0], X.shape[0])
            return np.asarray(gram(named_kernel("rbf", self.gamma, 3, 1, X.shape[1]), X))
        n = X.shape[0]
        self.n_neighbors_ = max(int(n / 10), 1) if self.n_neighbors is None else self.n_neighbors
        if self.n_neighbors_ > n:
            raise ParameterError(
                f"n_neighbors={self.n_neighbors_} of SpectralEmbedding is more than there are rows, {n}; ask for fewer."
            )
        metric = "euclidean" if self.affinity == "nearest_neighbors" else "precomputed"
        return nearest_graph(X, self.n_neighbors_, metric, self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self.affinity in ("precomputed", "precomputed_nearest_neighbors")
        return tags
