"""Clusters of a graph: k-means, or a rotation, of the first eigenvectors of its Laplacian."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from learnt.cluster._kmeans import KMeans
from learnt.cluster.spectral._rotations import by_pivots, by_turns
from learnt.distances import nearest_graph
from learnt.engine.documentation import documented
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.mixins import ClusterMixin
from learnt.engine.params import ParameterError, check_choice, check_number, check_verbose
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, integers, table
from learnt.engine.validation import check_fit
from learnt.engine.verbose import tell
from learnt.kernels import KERNEL_NAMES, gram, kernel_of, require_room
from learnt.linalg.laplacian import check_solver, checked_weights, node_coordinates

_GRAPHS = ("nearest_neighbors", "precomputed", "precomputed_nearest_neighbors")
_LABELS = ("kmeans", "discretize", "cluster_qr")


@documented
def spectral_clustering(
    affinity: Any,
    *,
    n_clusters: int = 8,
    n_components: int | None = None,
    eigen_solver: str | None = None,
    random_state: Any = None,
    n_init: int = 10,
    eigen_tol: float | str = "auto",
    assign_labels: str = "kmeans",
    verbose: bool = False,
) -> np.ndarray:
    """Clusters by cuts of a graph, from a matrix of weights; `SpectralClustering` as a function.

    Parameters
    ----------
    affinity : {array-like, sparse matrix} of shape (n_samples, n_samples)
        The weights between all rows, symmetric and not negative: the larger, the more alike.
    n_clusters : int, default=8
        The number of clusters.
    n_components : int or None, default=None
        How many eigenvectors; None for as many as clusters.
    eigen_solver : {"arpack", "lobpcg"} or None, default=None
        How eigenvectors are found; None for "arpack". "amg" needs a package that is not used here, and is refused. Up
        to 400 nodes all of the matrix is decomposed.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from: starts of the eigenvectors, of k-means, and of "discretize".
    n_init : int, default=10
        How many starts k-means has; the one with the lowest inertia is kept.
    eigen_tol : float or "auto", default="auto"
        The tolerance of the eigenvectors; "auto": machine precision for "arpack", and for "lobpcg" what that takes.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        How labels are found: by k-means; by labels and a rotation in turn ("discretize"); by one rotation, from QR with
        pivots, which has nothing to tune ("cluster_qr").
    verbose : bool, default=False
        Whether to log how labels are found.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The cluster of each row.

    See Also
    --------
    SpectralClustering : The same as a class, for rows too.
    learnt.manifold.spectral_embedding : The coordinates in which clusters are found.

    Notes
    -----
    A dense matrix of weights takes n² numbers, and its eigenvectors about n² time for each; "nearest_neighbors" makes
    it sparse. Cuts that are normalised favour parts of like weight; the graph should be connected.

    References
    ----------
    .. [1] J. Shi, J. Malik, "Normalized cuts and image segmentation", IEEE Transactions on Pattern Analysis and Machine
       Intelligence 22, 2000.
    .. [2] A. Y. Ng, M. I. Jordan, Y. Weiss, "On Spectral Clustering: Analysis and an Algorithm", Advances in Neural
       Information Processing Systems 14, 2001.
    .. [3] S. X. Yu, J. Shi, "Multiclass spectral clustering", ICCV, 2003.
    .. [4] A. Damle, V. Minden, L. Ying, "Simple, direct and efficient multi-way spectral clustering", Information and
       Inference 8, 2019.

    Examples
    --------
    >>> W = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    >>> labels = spectral_clustering(W, n_clusters=2, random_state=0)
    >>> len(set(labels[:3].tolist())), bool(labels[0] != labels[3])
    (1, True)
    """
    if isinstance(affinity, np.matrix):
        raise TypeError("np.matrix is not supported. Please convert to a numpy array with np.asarray.")
    model = SpectralClustering(
        n_clusters,
        n_components=n_components,
        eigen_solver=eigen_solver,
        random_state=random_state,
        n_init=n_init,
        eigen_tol=eigen_tol,
        assign_labels=assign_labels,
        affinity="precomputed",
        verbose=verbose,
    )
    model._check()
    W = check_array(affinity, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_min_samples=2)
    return model._labels(checked_weights(W, "spectral_clustering"))


class SpectralClustering(ClusterMixin, Estimator):
    """Clusters of any shape, by cuts of a graph of the rows (Shi and Malik, 2000; Ng, Jordan and Weiss, 2001).

    Rows become the nodes of a graph with weights W; the first eigenvectors of its normalised Laplacian are coordinates
    in which nodes with many heavy edges between them lie together, and k-means or a rotation finds those groups. Take
    it for rings, spirals and graphs, where the number of clusters is known.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    eigen_solver : {"arpack", "lobpcg"} or None, default=None
        How eigenvectors are found; None for "arpack". "amg" needs a package that is not used here, and is refused. Up
        to 400 nodes all of the matrix is decomposed.
    n_components : int or None, default=None
        How many eigenvectors; None for as many as clusters.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from: starts of the eigenvectors, of k-means, and of "discretize".
    n_init : int, default=10
        How many starts k-means has; the one with the lowest inertia is kept.
    gamma : float, default=1.0
        How fast "rbf", "laplacian" and other kernels with a width fall with the distance: the larger, the more local.
    affinity : str or callable, default="rbf"
        What the weights of the graph are.

        - "rbf", or another kernel's name, such as "laplacian" or "cosine": weights of all pairs.
        - "nearest_neighbors": each row is joined to its `n_neighbors` nearest; sparse, and for more rows.
        - "precomputed": X holds the weights.
        - "precomputed_nearest_neighbors": X is a sparse graph of distances, whose nearest are joined.
        - callable: a function of two rows.
    n_neighbors : int, default=10
        To how many nearest rows each is joined, for the graphs of neighbours. Too few leave the graph in parts.
    eigen_tol : float or "auto", default="auto"
        The tolerance of the eigenvectors; "auto": machine precision for "arpack", and for "lobpcg" what that takes.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        How labels are found: by k-means; by labels and a rotation in turn ("discretize"); by one rotation, from QR with
        pivots, which has nothing to tune ("cluster_qr").
    degree : float, default=3
        The degree of the polynomial kernel.
    coef0 : float, default=1
        The constant of the polynomial and the sigmoid kernel.
    kernel_params : dict or None, default=None
        Parameters of a kernel that is a function.
    n_jobs : int or None, default=None
        The most threads that search neighbours; None or -1 for all that this process may.
    verbose : bool, default=False
        Whether to log how labels are found.

    Attributes
    ----------
    affinity_matrix_ : ndarray or sparse matrix of shape (n_samples, n_samples)
        The weights W.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.

    See Also
    --------
    spectral_clustering : The same as a function of weights.
    learnt.manifold.SpectralEmbedding : The coordinates in which clusters are found.
    HDBSCAN : Clusters of any shape, whose number need not be given.
    KMeans : Compact clusters of many rows.

    Notes
    -----
    A dense matrix of weights takes n² numbers, and its eigenvectors about n² time for each; "nearest_neighbors" makes
    it sparse. Cuts that are normalised favour parts of like weight; the graph should be connected.

    References
    ----------
    .. [1] J. Shi, J. Malik, "Normalized cuts and image segmentation", IEEE Transactions on Pattern Analysis and Machine
       Intelligence 22, 2000.
    .. [2] A. Y. Ng, M. I. Jordan, Y. Weiss, "On Spectral Clustering: Analysis and an Algorithm", Advances in Neural
       Information Processing Systems 14, 2001.
    .. [3] S. X. Yu, J. Shi, "Multiclass spectral clustering", ICCV, 2003.
    .. [4] A. Damle, V. Minden, L. Ying, "Simple, direct and efficient multi-way spectral clustering", Information and
       Inference 8, 2019.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 0.0], [4.0, 7.0], [3.0, 5.0], [3.0, 6.0]])
    >>> labels = SpectralClustering(2, assign_labels="cluster_qr", random_state=0).fit_predict(X)
    >>> bool((labels[:3] == labels[0]).all() and (labels[3:] == 1 - labels[0]).all())
    True
    """

    __learnt_schema__ = Schema(state={**FEATURES, "affinity_matrix_": table("n", "n"), "labels_": integers("n")})
    # Labels are given to rows, so that they come in the order of the rows.
    __learnt_trial__ = Trial(
        quick={"n_clusters": 3, "gamma": 0.1, "random_state": 0, "n_init": 3}, any_order=False, most_rows=300
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: str | None = None,
        n_components: int | None = None,
        random_state: Any = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: Any = "rbf",
        n_neighbors: int = 10,
        eigen_tol: float | str = "auto",
        assign_labels: str = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        n_jobs: int | None = None,
        verbose: Any = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True)

    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Find the clusters of the rows of X, or of nodes whose weights X holds."""
        self._check()
        X = check_fit(self, X, min_rows=2, order="C").X
        self.affinity_matrix_ = self._weights(X)
        self.labels_ = self._labels(checked_weights(self.affinity_matrix_, "SpectralClustering"))
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """The cluster of each row of X."""
        return self.fit(X).labels_

    def _check(self) -> None:
        check_number(self, "n_clusters", 1, integer=True)
        check_choice(self, "eigen_solver", ("arpack", "lobpcg", "amg", None))
        check_number(self, "n_components", 1, integer=True, also=(None,))
        check_number(self, "n_init", 1, integer=True)
        check_number(self, "gamma", 0)
        check_number(self, "n_neighbors", 1, integer=True)
        check_number(self, "eigen_tol", 0, also=("auto",))
        check_choice(self, "assign_labels", _LABELS)
        check_number(self, "degree", 0)
        check_number(self, "coef0")
        check_verbose(self)
        if not callable(self.affinity):
            check_choice(self, "affinity", (*_GRAPHS, *KERNEL_NAMES))

    def _weights(self, X: Any) -> Any:
        n = X.shape[0]
        name = self.affinity if isinstance(self.affinity, str) else ""
        if name.startswith("precomputed") and n != X.shape[1]:
            raise ValueError(f"SpectralClustering(affinity={name!r}) takes a square matrix; X has shape {X.shape}.")
        if name == "precomputed":
            return X
        if name in _GRAPHS:
            if self.n_neighbors > n:
                raise ParameterError(
                    f"n_neighbors={self.n_neighbors} of SpectralClustering is more than there are rows, {n}; ask for "
                    "fewer."
                )
            return nearest_graph(
                X, self.n_neighbors, "euclidean" if name == "nearest_neighbors" else "precomputed", self.n_jobs
            )
        require_room("SpectralClustering", n, n)
        meant = SimpleNamespace(
            kernel=self.affinity,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
        )
        return np.asarray(gram(kernel_of(meant, X.shape[1]), X))

    def _labels(self, W: Any) -> np.ndarray:
        k = self.n_clusters if self.n_components is None else self.n_components
        if self.n_clusters > W.shape[0]:
            raise ValueError(
                f"n_clusters is {self.n_clusters} and there are {W.shape[0]} rows; ask for fewer clusters or give "
                "more rows."
            )
        draw, solver = random_state_of(self.random_state), check_solver(self.eigen_solver)
        V = node_coordinates(W, k, solver=solver, tol=self.eigen_tol, draw=draw, drop_first=False)
        if self.verbose:
            tell("Computing label assignment using %s", self.assign_labels)
        if self.assign_labels == "discretize":
            return by_turns(V, draw)
        if self.assign_labels == "cluster_qr":
            return by_pivots(V)
        return KMeans(self.n_clusters, n_init=self.n_init, random_state=draw, verbose=self.verbose).fit(V).labels_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity in ("precomputed", "precomputed_nearest_neighbors")
        return tags
