"""Locally linear embedding: coordinates in which each row lies to its neighbours as it does in the data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_choice, check_number
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Dims, Schema, count, estimator, number, real
from learnt.engine.threads import for_blocks
from learnt.engine.validation import check_fit, check_predict
from learnt.linalg.laplacian import smallest
from learnt.manifold._local import (
    Local,
    excess,
    hessian,
    modified,
    spread,
    standard,
    tangent_space,
    weights_of,
)
from learnt.neighbors import NearestNeighbors

_GRAIN = 256
_SHIFT = (
    1e-11  # of the largest entry: the matrix plus this is positive definite, and has nearly the same small eigenvalues
)
_FEW, _MANY = 10, 200  # vectors below which, and rows above which "auto" is "arpack"


def alignment(X: np.ndarray, index: np.ndarray, method: str, how: Local) -> sparse.csr_array:
    """The sum of the local forms of all rows: a sparse symmetric matrix M, coordinates minimise yᵀMy."""
    n, k = index.shape

    def around(lo: int, hi: int) -> np.ndarray:
        return X[index[lo:hi]] - X[lo:hi, None, :]

    make: Any = {"standard": standard, "hessian": hessian, "ltsa": tangent_space, "modified": modified}[method]
    if method == "modified":
        shares = for_blocks(lambda lo, hi: excess(spread(around(lo, hi))[0], how.n_components), n, grain=_GRAIN)
        make = partial(modified, usual=float(np.median(np.concatenate(shares))))
    forms = np.concatenate(for_blocks(lambda lo, hi: make(around(lo, hi), how), n, grain=_GRAIN))
    nodes = np.concatenate([np.arange(n)[:, None], index], axis=1)
    rows, columns = np.repeat(nodes, k + 1, axis=1).ravel(), np.tile(nodes, (1, k + 1)).ravel()
    M = sparse.csr_array(sparse.coo_array((forms.ravel(), (rows, columns)), shape=(n, n)))
    return sparse.csr_array(0.5 * (M + M.T))


def embed(
    X: np.ndarray, index: np.ndarray, method: str, how: Local, solver: str, tol: float, max_iter: int, draw: Any
) -> tuple[np.ndarray, float]:
    """The coordinates, columns of length 1 whose largest entry is positive, and the sum of their forms."""
    M = alignment(X, index, method, how)
    k = how.n_components + 1
    if solver == "auto":
        solver = "arpack" if len(X) > _MANY and k < _FEW else "dense"
    top = max(float(abs(M.data).max()), np.finfo(np.float64).tiny)
    values, vectors = smallest(M, k, solver, tol, draw, _SHIFT * top, max_iter)
    vectors = vectors[:, 1:]
    peaks = np.take_along_axis(vectors, abs(vectors).argmax(axis=0)[None], axis=0)
    return vectors * np.where(peaks < 0, -1.0, 1.0), float(values[1:].sum())


def locally_linear_embedding(
    X: Any,
    *,
    n_neighbors: int,
    n_components: int,
    reg: float = 1e-3,
    eigen_solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 100,
    method: str = "standard",
    hessian_tol: float = 1e-4,
    modified_tol: float = 1e-12,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, float]:
    """Coordinates in which each row lies to its neighbours as it does in the data, and their error.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or NearestNeighbors
        The rows; of a fitted `learnt.neighbors.NearestNeighbors`, the rows that it was fitted to.
    n_neighbors : int
        How many neighbours each row has.
    n_components : int
        The number of dimensions of the embedding.
    reg : float, default=1e-3
        Regularisation: what is added to a matrix of neighbours, as a share of its trace, so that weights exist.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        "dense" decomposes the whole matrix, "arpack" finds a few eigenvectors by iteration; "auto" takes "arpack" for
        fewer than 10 vectors of more than 200 rows. Up to 400 rows all is decomposed.
    tol : float, default=1e-6
        Convergence tolerance of "arpack".
    max_iter : int, default=100
        The most iterations of "arpack".
    method : {"standard", "hessian", "modified", "ltsa"}, default="standard"
        What the coordinates of a row and of its neighbours should satisfy: "standard", (y − Σ wⱼ yⱼ)², with the weights
        that reconstruct a row from its neighbours; "modified", the same with several vectors of weights, all that are
        nearly as good, which distorts less; "hessian", second derivatives along the plane nearest to the neighbours are
        small; "ltsa", coordinates are a linear function on that plane.
    hessian_tol : float, default=1e-4
        Sums below it do not scale the derivatives of "hessian".
    modified_tol : float, default=1e-12
        The length of a vector below which "modified" does not reflect by it.
    random_state : int, RandomState, Generator or None, default=None
        The start of "arpack". Pass an integer for the same result every time.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
        The coordinates of the rows.
    error : float
        The sum of the local errors of the coordinates; the smaller, the better.

    See Also
    --------
    LocallyLinearEmbedding : The same as an estimator, which places new rows.

    References
    ----------
    .. [1] S. T. Roweis and L. K. Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science 290,
       2000.
    .. [2] D. L. Donoho and C. Grimes, "Hessian eigenmaps: locally linear embedding techniques for high-dimensional
       data", PNAS 100, 2003.
    .. [3] Z. Zhang and J. Wang, "MLLE: modified locally linear embedding using multiple weights", NIPS, 2006.
    .. [4] Z. Zhang and H. Zha, "Principal manifolds and nonlinear dimensionality reduction via tangent space
       alignment", SIAM Journal on Scientific Computing 26, 2004.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> embedding, error = locally_linear_embedding(X, n_neighbors=6, n_components=2)
    >>> embedding.shape, error > 0
    ((30, 2), True)
    """
    model = LocallyLinearEmbedding(
        n_neighbors=n_neighbors,
        n_components=n_components,
        reg=reg,
        eigen_solver=eigen_solver,
        tol=tol,
        max_iter=max_iter,
        method=method,
        hessian_tol=hessian_tol,
        modified_tol=modified_tol,
        random_state=random_state,
        n_jobs=n_jobs,
    ).fit(X._fit_X if isinstance(X, NearestNeighbors) else X)
    return model.embedding_, model.reconstruction_error_


def _fits_together(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    neighbours = state["nbrs_"]
    if not isinstance(neighbours, NearestNeighbors) or not hasattr(neighbours, "n_samples_fit_"):
        return "has no fitted neighbours"
    if neighbours.n_samples_fit_ != dims["n"] or neighbours.n_features_in_ != dims["d"]:
        return "has neighbours of another table"
    return None if model.n_neighbors <= dims["n"] else "asks for more neighbours than it has rows"


class LocallyLinearEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Coordinates in which each row lies to its neighbours as it does in the data (Roweis and Saul, 2000).

    Take it to unroll a curved surface of many rows: only neighbours count, so that the problem stays sparse. Distances
    between far rows are not kept.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours each row has. Too few break the surface into pieces, too many cut across its folds;
        "hessian" needs more than n_components (n_components + 3) / 2.
    n_components : int, default=2
        The number of dimensions of the embedding; 2 for a map to look at.
    reg : float, default=1e-3
        Regularisation: what is added to a matrix of neighbours, as a share of its trace, so that weights exist.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        "dense" decomposes the whole matrix, "arpack" finds a few eigenvectors by iteration; "auto" takes "arpack" for
        fewer than 10 vectors of more than 200 rows. Up to 400 rows all is decomposed.
    tol : float, default=1e-6
        Convergence tolerance of "arpack".
    max_iter : int, default=100
        The most iterations of "arpack".
    method : {"standard", "hessian", "modified", "ltsa"}, default="standard"
        What the coordinates of a row and of its neighbours should satisfy: "standard", (y − Σ wⱼ yⱼ)², with the weights
        that reconstruct a row from its neighbours; "modified", the same with several vectors of weights, all that are
        nearly as good, which distorts less; "hessian", second derivatives along the plane nearest to the neighbours are
        small; "ltsa", coordinates are a linear function on that plane.
    hessian_tol : float, default=1e-4
        Sums below it do not scale the derivatives of "hessian".
    modified_tol : float, default=1e-12
        The length of a vector below which "modified" does not reflect by it.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How neighbours are searched. All find the same; "auto" takes the one that is likely to be quickest.
    random_state : int, RandomState, Generator or None, default=None
        The start of "arpack". Pass an integer for the same result every time.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates of the training rows.
    reconstruction_error_ : float
        The sum of the local errors of the coordinates; the smaller, the better.
    nbrs_ : NearestNeighbors
        The fitted search for neighbours.

    See Also
    --------
    Isomap : Keeps distances along the surface, near and far.
    SpectralEmbedding : From a graph of neighbours alone.
    TSNE : Maps of clusters, for looking at.
    locally_linear_embedding : The same as a function.

    Notes
    -----
    Around each row the neighbours say what coordinates should satisfy there, as a quadratic form; the coordinates are
    the first eigenvectors of the sum of all forms, without the constant. The forms take O(n d k² + n k³) time for n
    rows of d columns with k neighbours each, besides the search and the eigenvectors of a sparse n × n matrix.

    References
    ----------
    .. [1] S. T. Roweis and L. K. Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science 290,
       2000.
    .. [2] D. L. Donoho and C. Grimes, "Hessian eigenmaps: locally linear embedding techniques for high-dimensional
       data", PNAS 100, 2003.
    .. [3] Z. Zhang and J. Wang, "MLLE: modified locally linear embedding using multiple weights", NIPS, 2006.
    .. [4] Z. Zhang and H. Zha, "Principal manifolds and nonlinear dimensionality reduction via tangent space
       alignment", SIAM Journal on Scientific Computing 26, 2004.

    Examples
    --------
    >>> turn = np.linspace(0, 3, 40)
    >>> X = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> along = LocallyLinearEmbedding(n_neighbors=4, n_components=1).fit_transform(X).ravel()
    >>> bool((np.diff(along) > 0).all() or (np.diff(along) < 0).all())
    True
    """

    __learnt_schema__ = Schema(
        params={"n_neighbors": count(1), "reg": number(0)},
        state={
            **FEATURES,
            "embedding_": real("n", "k"),
            "reconstruction_error_": number(),
            "nbrs_": estimator("kneighbors"),
        },
        rule=_fits_together,
    )
    __learnt_trial__ = Trial(
        quick={"n_neighbors": 5, "eigen_solver": "dense", "random_state": 0},
        start=lambda X: {"n_neighbors": len(X) // 2},  # in several pieces, coordinates would be arbitrary
        warmup=(Warm("none", {"n_neighbors": 5}),),
        most_rows=300,
    )

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        n_components: int = 2,
        reg: float = 1e-3,
        eigen_solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        method: str = "standard",
        hessian_tol: float = 1e-4,
        modified_tol: float = 1e-12,
        neighbors_algorithm: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.hessian_tol = hessian_tol
        self.modified_tol = modified_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def fit(self, X: Any, y: Any = None) -> LocallyLinearEmbedding:
        """Find the coordinates of the rows of X."""
        self._check()
        X = check_fit(self, X, order="C").X
        self._check_size(*X.shape)
        self.nbrs_ = NearestNeighbors(
            n_neighbors=self.n_neighbors, algorithm=self.neighbors_algorithm, n_jobs=self.n_jobs
        ).fit(X)
        index = self.nbrs_.kneighbors(return_distance=False)
        how = Local(self.n_components, float(self.reg), float(self.hessian_tol), float(self.modified_tol))
        found, self.reconstruction_error_ = embed(
            X.astype(np.float64, copy=False),
            index,
            self.method,
            how,
            self.eigen_solver,
            float(self.tol),
            self.max_iter,
            random_state_of(self.random_state),
        )
        self.embedding_ = np.ascontiguousarray(found.astype(X.dtype, copy=False))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the coordinates of the rows of X, and return them."""
        return self.fit(X).embedding_

    def _check(self) -> None:
        check_number(self, "n_neighbors", 1, integer=True)
        check_number(self, "n_components", 1, integer=True)
        check_number(self, "reg", 0)
        check_choice(self, "eigen_solver", ("auto", "arpack", "dense"))
        check_number(self, "tol", 0)
        check_number(self, "max_iter", 1, integer=True)
        check_choice(self, "method", ("standard", "hessian", "modified", "ltsa"))
        check_number(self, "hessian_tol", 0)
        check_number(self, "modified_tol", 0)
        check_choice(self, "neighbors_algorithm", ("auto", "brute", "kd_tree", "ball_tree"))

    def _check_size(self, n: int, d: int) -> None:
        k, c = self.n_neighbors, self.n_components
        if c > d:
            raise ValueError(
                f"n_components is {c} and X has {d} columns, beyond which LocallyLinearEmbedding cannot go; ask for "
                "fewer."
            )
        if k >= n:
            raise ValueError(
                f"n_neighbors is {k} and X has n_samples={n} rows, of which none is its own neighbour; ask for fewer "
                "neighbours or give more rows."
            )
        if self.method == "hessian" and k <= c * (c + 3) // 2:
            raise ValueError(
                f"method='hessian' fits {c * (c + 3) // 2} numbers around a row (n_components is {c}) and "
                f"n_neighbors is {k}; ask for more neighbours than that."
            )
        if self.method == "modified" and k < c:
            raise ValueError(
                f"method='modified' needs {c} neighbours for {c} components, n_neighbors is {k}; ask for more."
            )
        if self.method == "ltsa" and k <= c:
            raise ValueError(
                f"method='ltsa' needs more than {c} neighbours for {c} components, n_neighbors is {k}; ask for more."
            )
        if n <= c:
            raise ValueError(
                f"{n} rows have at most {n - 1} coordinates, {c} were asked for; ask for fewer components."
            )

    def transform(self, X: Any) -> np.ndarray:
        """The coordinates of new rows: sums of those of their neighbours, with the weights that reconstruct the row."""
        X = check_predict(self, X, order="C")
        index = self.nbrs_.kneighbors(X, self.n_neighbors, return_distance=False)
        known, out = self.nbrs_._fit_X, np.empty((len(X), self.embedding_.shape[1]), dtype=self.embedding_.dtype)

        def fill(lo: int, hi: int) -> None:
            Z = known[index[lo:hi]].astype(np.float64) - X[lo:hi, None, :]
            out[lo:hi] = (weights_of(Z, float(self.reg))[:, None, :] @ self.embedding_[index[lo:hi]])[:, 0, :]

        for_blocks(fill, len(X), grain=_GRAIN)
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
