"""Clusters of a graph: k-means, or a rotation, of the first eigenvectors of its Laplacian."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import check_array

from learnt.cluster._kmeans import KMeans
from learnt.cluster.spectral._rotations import by_pivots, by_turns
from learnt.distances import nearest_graph
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.params import ParameterError, check_choice, check_number, check_verbose
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, integers, table
from learnt.engine.validation import check_fit
from learnt.engine.verbose import tell
from learnt.kernels import KERNEL_NAMES, gram, kernel_of, require_room
from learnt.linalg.laplacian import check_solver, checked_weights, node_coordinates

_GRAPHS = ("nearest_neighbors", "precomputed", "precomputed_nearest_neighbors")
_LABELS = ("kmeans", "discretize", "cluster_qr")


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
    """`labels_` of `SpectralClustering` from a matrix of weights, as a function.

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
    in which nodes with many heavy edges between them lie together, and k-means or a rotation finds those groups.

    Parameters
    ----------
    n_clusters : int, default=8
    eigen_solver, eigen_tol :
        As for `learnt.manifold.spectral_embedding`.
    n_components : int or None
        How many eigenvectors; None: as many as clusters.
    random_state : None, int, RandomState or Generator
        Starts of the eigenvectors, of k-means, and of "discretize".
    n_init : int, default=10
        Starts of k-means.
    gamma : float, default=1.0
        Of kernels with a width.
    affinity : str or callable, default="rbf"
        The weights: the name of a kernel (as in `KernelRidge`), a function of two rows, "nearest_neighbors",
        "precomputed": X holds them, or "precomputed_nearest_neighbors": X is a sparse graph of distances.
    n_neighbors : int, default=10
        To how many nearest rows each is joined.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        How labels are found: k-means; labels and a rotation in turn; one rotation by QR with pivots.
    degree, coef0, kernel_params :
        Of kernels that have them.
    n_jobs : int or None
        Threads that search neighbours.
    verbose : bool, default=False

    Attributes
    ----------
    affinity_matrix_ : array or sparse matrix of shape (n_samples, n_samples)
    labels_ : array of shape (n_samples,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        n_clusters=8,
        *,
        eigen_solver=None,
        n_components=None,
        random_state=None,
        n_init=10,
        gamma=1.0,
        affinity="rbf",
        n_neighbors=10,
        eigen_tol="auto",
        assign_labels="kmeans",
        degree=3,
        coef0=1,
        kernel_params=None,
        n_jobs=None,
        verbose=False,
    ):
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
