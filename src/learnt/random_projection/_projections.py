"""Projections by a random matrix R, of which E[RᵀR] = I: lengths of rows are kept on average."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataDimensionalityWarning
from sklearn.utils import check_array
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from learnt.engine.arrays import to_device_of
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import Route, cast, dense, route
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import Block
from learnt.engine.schema import FEATURES, Schema, count, csr, flag, number, real
from learnt.engine.threads import for_blocks
from learnt.engine.validation import check_fit, check_predict
from learnt.linalg.decompositions import svd
from learnt.linalg.spectrum import rounding
from learnt.random_projection._lemma import johnson_lindenstrauss_min_dim

_CELLS = 1 << 16  # of a sparse table, below which one thread is quick
_PARTS = 8  # of its rows


def project(block: Block, matrix: Any) -> Any:
    """The rows of a block times a dense matrix (d, k)."""
    return block.X @ matrix


def project_sparsely(block: Block, matrix: Any) -> Any:
    """The rows of a dense block times the transpose of a CSR matrix (k, d), dense."""
    return np.ascontiguousarray((matrix @ block.X.T).T)


def sparse_product(X: Any, matrix: Any) -> Any:
    """The product of two CSR matrices, some rows on each thread."""
    if len(X.data) < _CELLS:
        return X @ matrix
    rows = -(-X.shape[0] // _PARTS)
    return sparse.vstack(for_blocks(lambda lo, hi: X[lo:hi] @ matrix, X.shape[0], grain=rows), format="csr")


def pseudo_inverse(matrix: Any) -> np.ndarray:
    """Of a matrix (k, d), dense or sparse: (d, k). Singular values that are rounding alone count as 0.

    >>> pseudo_inverse(np.array([[2.0, 0.0]])).tolist()
    [[0.5], [0.0]]
    """
    matrix = np.asarray(dense(matrix))
    U, values, Vt = svd(matrix.astype(np.float64))
    least = rounding(min(matrix.shape)) * values.max(initial=0.0)
    found = values > least
    return ((Vt[found].T / values[found]) @ U[:, found].T).astype(matrix.dtype)


class _Projection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the matrix; of X only its shape and precision count."""
        check_number(self, "n_components", 1, integer=True, also=("auto",))
        check_number(self, "eps", 0, open_low=True)
        check_flag(self, "compute_inverse_components")
        self._check_others()
        X, _, _ = check_fit(self, X)
        n, d = X.shape
        self.n_components_ = self._safe_components(n, d) if isinstance(self.n_components, str) else self.n_components
        if self.n_components_ > d:
            warnings.warn(
                f"The number of components is higher than the number of features: n_features < n_components ({d} < "
                f"{self.n_components_}). The dimensionality of the problem will not be reduced.",
                DataDimensionalityWarning,
                stacklevel=2,
            )
        dtype = np.float32 if str(X.dtype).endswith("float32") else np.float64
        self.components_ = self._draw(self.n_components_, d, random_state_of(self.random_state)).astype(dtype)
        if self.compute_inverse_components:
            self.inverse_components_ = pseudo_inverse(self.components_)
        elif hasattr(self, "inverse_components_"):  # of an earlier fit
            del self.inverse_components_
        return self

    def _safe_components(self, n: int, d: int) -> int:
        """What the lemma asks for, where that is fewer features than there are."""
        k = int(johnson_lindenstrauss_min_dim(n, eps=self.eps))
        name = type(self).__name__
        if k <= 0:
            raise ValueError(
                f"eps={self.eps:f} and n_samples={n} lead to a target dimension of {k} which is invalid: give "
                f"{name} n_components as a number."
            )
        if k > d:
            raise ValueError(
                f"eps={self.eps:f} and n_samples={n} lead to a target dimension of {k} which is larger than the "
                f"original space with n_features={d}: give {name} a larger eps, or n_components as a number."
            )
        return k

    def _check_others(self) -> None: ...

    def _draw(self, k: int, d: int, random: Any) -> Any:
        raise NotImplementedError

    def inverse_transform(self, X: Any) -> Any:
        """The shortest rows that are projected on these, in the space of the columns there were.

        Without `compute_inverse_components=True` the pseudo-inverse is computed anew at each call.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_components)
            Projected rows.
        """
        check_is_fitted(self)
        if route(X) is not Route.DEVICE:
            X = check_array(X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32])
        if X.ndim != 2 or X.shape[1] != self.n_components_:
            raise ValueError(
                f"X has shape {tuple(X.shape)}, and inverse_transform takes one column for each of the "
                f"{self.n_components_} components."
            )
        matrix = getattr(self, "inverse_components_", None)
        matrix = pseudo_inverse(self.components_) if matrix is None else matrix
        return as_rows(X).map(project, to_device_of(matrix.T, X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


_STATE = {**FEATURES, "n_components_": count(1, name="k")}


class GaussianRandomProjection(_Projection):
    """Projection by a matrix of normal numbers of variance 1/k.

    Take it to reduce very many columns while distances between rows stay nearly the same, without looking at the data.
    `SparseRandomProjection` does so faster.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many columns to project to, k. "auto" is what `johnson_lindenstrauss_min_dim` says for the rows at hand and
        `eps`, which is careful: a smaller number is often enough.
    eps : float, default=0.1
        How far squared distances may be off, as a share, where n_components is "auto". Smaller keeps more columns.
    compute_inverse_components : bool, default=False
        Whether `fit` computes the pseudo-inverse, which `inverse_transform` needs; else that computes it at each call.
    random_state : int, RandomState, Generator or None, default=None
        Where the matrix comes from. Pass an integer for the same projection every time.

    Attributes
    ----------
    n_components_ : int
        How many columns rows are projected to.
    components_ : ndarray of shape (n_components, n_features)
        The random matrix R.
    inverse_components_ : ndarray of shape (n_features, n_components)
        The pseudo-inverse of `components_`; only with `compute_inverse_components`.

    See Also
    --------
    SparseRandomProjection : As accurate, with less time and memory.
    johnson_lindenstrauss_min_dim : How many columns keep distances.
    learnt.decomposition.PCA : The best projection, which has to look at the data.

    Notes
    -----
    Lengths are kept on average, E[RᵀR] = I, and nearly kept for all pairs of rows with k large enough [1]_. A row of d
    columns takes O(d k) time.

    References
    ----------
    .. [1] S. Dasgupta and A. Gupta, "An elementary proof of a theorem of Johnson and Lindenstrauss", Random Structures
       and Algorithms 22, 2003.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 5000))
    >>> Z = GaussianRandomProjection(n_components=1000, random_state=0).fit_transform(X)
    >>> bool(abs(np.linalg.norm(Z[0] - Z[1]) / np.linalg.norm(X[0] - X[1]) - 1) < 0.1)
    True
    """

    __learnt_schema__ = Schema(
        state={**_STATE, "components_": real("k", "d")}, extra={"inverse_components_": real("d", "k")}
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True)
    __learnt_trial__ = Trial(quick={"n_components": 2, "random_state": 0})

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        eps: float = 0.1,
        compute_inverse_components: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.eps = eps
        self.compute_inverse_components = compute_inverse_components
        self.random_state = random_state

    def _draw(self, k: int, d: int, random: Any) -> np.ndarray:
        return random.normal(loc=0.0, scale=1.0 / math.sqrt(k), size=(k, d))

    def transform(self, X: Any) -> Any:
        """R x of each row: its k random combinations of columns."""
        X = check_predict(self, X)
        # In C order: SciPy would copy another one for every block of rows
        return as_rows(X).map(project, to_device_of(np.ascontiguousarray(self.components_.T), X))


class SparseRandomProjection(_Projection):
    """Projection by a matrix most of whose entries are 0, the others ±√(1/(density k)) with equal chance.

    As accurate as a normal matrix [1]_ with fewer operations: √n_features of each row and component at the default
    density. Sparse rows stay sparse. Take it to reduce very many columns, such as words of texts, without looking at
    the data.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many columns to project to, k. "auto" is what `johnson_lindenstrauss_min_dim` says for the rows at hand and
        `eps`, which is careful: a smaller number is often enough.
    density : float or "auto", default="auto"
        Share of entries that are not 0, in (0, 1]; "auto" is 1/√n_features. 1/3 is Achlioptas' choice [2]_: more exact
        for few columns, and slower.
    eps : float, default=0.1
        How far squared distances may be off, as a share, where n_components is "auto". Smaller keeps more columns.
    dense_output : bool, default=False
        Whether sparse rows become dense ones.
    compute_inverse_components : bool, default=False
        Whether `fit` computes the pseudo-inverse, which `inverse_transform` needs; else that computes it at each call.
    random_state : int, RandomState, Generator or None, default=None
        Where the matrix comes from. Pass an integer for the same projection every time.

    Attributes
    ----------
    n_components_ : int
        How many columns rows are projected to.
    components_ : sparse matrix of shape (n_components, n_features)
        The random matrix R, in CSR format.
    density_ : float
        The share of its entries that are not 0, by which it was drawn.
    inverse_components_ : ndarray of shape (n_features, n_components)
        The pseudo-inverse of `components_`; only with `compute_inverse_components`.

    See Also
    --------
    GaussianRandomProjection : With a dense matrix.
    johnson_lindenstrauss_min_dim : How many columns keep distances.
    learnt.decomposition.TruncatedSVD : The best projection of sparse rows, which has to look at the data.

    References
    ----------
    .. [1] P. Li, T. J. Hastie and K. W. Church, "Very sparse random projections", KDD, 2006.
    .. [2] D. Achlioptas, "Database-friendly random projections: Johnson-Lindenstrauss with binary coins", Journal of
       Computer and System Sciences 66, 2003.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 5000))
    >>> projection = SparseRandomProjection(n_components=1000, random_state=0).fit(X)
    >>> round(projection.density_, 4), projection.transform(X).shape
    (0.0141, (30, 1000))
    """

    __learnt_schema__ = Schema(
        params={"dense_output": flag},
        state={**_STATE, "components_": csr("k", "d"), "density_": number(0, 1, above=0)},
        extra={"inverse_components_": real("d", "k")},
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True)
    __learnt_trial__ = Trial(quick={"n_components": 2, "density": 0.5, "random_state": 0})

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        density: Any = "auto",
        eps: float = 0.1,
        dense_output: bool = False,
        compute_inverse_components: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.density = density
        self.eps = eps
        self.dense_output = dense_output
        self.compute_inverse_components = compute_inverse_components
        self.random_state = random_state

    def _check_others(self) -> None:
        check_number(self, "density", 0, 1, open_low=True, also=("auto",))
        check_flag(self, "dense_output")

    def _draw(self, k: int, d: int, random: Any) -> Any:
        self.density_ = 1.0 / math.sqrt(d) if isinstance(self.density, str) else float(self.density)
        if self.density_ == 1.0:
            signs = random.binomial(1, 0.5, (k, d)) * 2.0 - 1.0
            return sparse.csr_array(signs / math.sqrt(k))
        columns = []
        for _ in range(k):  # one row after the other, in the order in which scikit-learn draws
            found = random.binomial(d, self.density_)
            columns.append(sample_without_replacement(d, found, random_state=random))
        ends = np.cumsum([0, *map(len, columns)])
        signs = random.binomial(1, 0.5, size=ends[-1]) * 2.0 - 1.0
        signs *= math.sqrt(1.0 / self.density_) / math.sqrt(k)
        matrix = sparse.csr_array(
            (signs, np.concatenate(columns).astype(np.int32), ends.astype(np.int32)), shape=(k, d)
        )
        matrix.sort_indices()
        return matrix

    def transform(self, X: Any) -> Any:
        """R x of each row; sparse rows give a CSR matrix unless `dense_output`."""
        X = check_predict(self, X)
        kind = route(X)
        if kind is Route.SPARSE:
            found = sparse_product(X, self.components_.T.tocsr())
            return dense(found) if self.dense_output else found
        if kind is Route.DEVICE:
            return as_rows(X).map(project, to_device_of(dense(self.components_).T, X))
        return as_rows(X).map(project_sparsely, cast(self.components_, X.dtype))
