"""The largest singular vectors of a matrix as it is: latent semantic analysis of sparse text, say."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.decomposition._principal import dense_scores, project, with_positive_peaks
from learnt.decomposition.spectrum._centre import Centre, NotFiniteError, centre
from learnt.decomposition.spectrum._exact import Spectrum
from learnt.decomposition.spectrum._krylov import arpack, randomized
from learnt.decomposition.spectrum._products import about
from learnt.engine.arrays import is_foreign_array, is_numpy, like, namespace, to_device_of
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_choice, check_number
from learnt.engine.random import random_state_of
from learnt.engine.rows import Block, Rows, as_rows, transform
from learnt.engine.schema import FEATURES, Schema, real
from learnt.engine.validation import check_fit, check_predict


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """The k largest singular values and vectors of X:  X ≈ U diag(s) V,  without centring, so that X may stay sparse.

    Of counts of words, or their tf-idf, this is latent semantic analysis. Take it to reduce sparse rows to a few dense
    columns; for dense ones `PCA` is the better choice.

    Parameters
    ----------
    n_components : int, default=2
        How many components to keep; at most the number of columns ("arpack": fewer than rows and columns). About 100 is
        usual for text.
    algorithm : {"randomized", "arpack"}, default="randomized"
        "randomized" is a block Krylov space from a random start, quick and of as many digits as `n_iter` allows;
        "arpack" is a Lanczos iteration to the tolerance `tol`.
    n_iter : int, default=5
        How many passes over the data "randomized" makes after the first; raise it where singular values fall slowly.
    n_oversamples : int, default=10
        How many vectors "randomized" iterates beyond n_components; more are more exact.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Kept for scikit-learn's signature: "randomized" always orthonormalises, by QR.
    random_state : int, RandomState, Generator or None, default=None
        The start of both algorithms. Pass an integer for the same result every time.
    tol : float, default=0.0
        Convergence tolerance of "arpack"; 0 is machine precision.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Right singular vectors, one a row, by falling singular value; the largest entry of each is positive.
    singular_values_ : ndarray of shape (n_components,)
        The singular values, falling: the lengths of the columns of scores.
    explained_variance_ : ndarray of shape (n_components,)
        The variance of the scores X v (divisor n).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Its share of the total variance of X.

    See Also
    --------
    PCA : The same for centred rows.
    NMF : Parts that are never negative, easier to interpret.
    randomized_svd : The same of one matrix, as a function.

    Notes
    -----
    Each step is one pass over the rows: O(nnz k) time for k components and nnz entries that are not 0. Rows may be an
    array, a SciPy matrix, a memory map, a `learnt.scan` table, a Dask collection or an array on a GPU.

    References
    ----------
    .. [1] N. Halko, P. G. Martinsson and J. A. Tropp, "Finding structure with randomness: probabilistic algorithms for
       constructing approximate matrix decompositions", SIAM Review 53, 2011.
    .. [2] C. Musco and C. Musco, "Randomized block Krylov methods for stronger and faster approximate singular value
       decomposition", NIPS, 2015.

    Examples
    --------
    >>> from scipy import sparse
    >>> X = sparse.csr_array(np.diag([3.0, 2.0, 1.0]))
    >>> svd = TruncatedSVD(n_components=2, random_state=0).fit(X)
    >>> svd.singular_values_.round(6)
    array([3., 2.])
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "components_": real("k", "d"),
            "singular_values_": real("k", low=0),
            "explained_variance_": real("k", low=0),
            "explained_variance_ratio_": real("k", low=0),
        }
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)
    __learnt_trial__ = Trial(
        quick={"n_components": 2, "random_state": 0}, warmup=(Warm("none", {"n_components": 2, "random_state": 0}),)
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        tol: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> TruncatedSVD:
        """Find the singular vectors of X."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the singular vectors of X, and return its scores X v."""
        return self._scores(self._fit(X))

    def _fit(self, X: Any) -> Any:
        self._check_parameters()
        if self.algorithm == "arpack" and is_foreign_array(X):
            raise ValueError(
                "TruncatedSVD with algorithm='arpack' is not supported for Array API inputs; "
                "use 'randomized', which runs on the device."
            )
        X = check_fit(self, X).X
        rows = as_rows(X)
        _check_count(self.n_components, rows, self.algorithm)
        try:
            middle = centre(rows)
        except NotFiniteError:
            raise ValueError(
                "X has values so large that their squares are infinite; scale the columns before TruncatedSVD."
            ) from None
        self._record(self._solve(rows, middle), middle, rows, X)
        return X

    def _check_parameters(self) -> None:
        check_number(self, "n_components", 1, integer=True)
        check_choice(self, "algorithm", ("arpack", "randomized"))
        check_number(self, "n_iter", 0, integer=True)
        check_number(self, "n_oversamples", 1, integer=True)
        check_choice(self, "power_iteration_normalizer", ("auto", "QR", "LU", "none"))
        check_number(self, "tol", 0)

    def _solve(self, rows: Rows, middle: Centre) -> Spectrum:
        about = Centre(middle.n, 0.0 * middle.mean, middle.total)
        draw = random_state_of(self.random_state)
        if self.algorithm == "arpack":
            return arpack(rows, int(self.n_components), float(self.tol), draw, about)
        return randomized(rows, int(self.n_components), int(self.n_oversamples), int(self.n_iter), draw, about)

    def _record(self, spectrum: Spectrum, middle: Centre, rows: Rows, X: Any) -> None:
        V = with_positive_peaks(spectrum.components)
        xp = namespace(V)
        dtype = xp.float32 if str(getattr(X, "dtype", "")).endswith("float32") else xp.float64

        def kept(values: Any) -> Any:
            return np.array(values, dtype=dtype, order="C") if is_numpy(values) else like(values, V, dtype)

        squares, sums = rows.sum(score_sums, like(V.T, rows.reference, _wide(rows)), _row(middle.mean @ V.T, rows))
        n = max(middle.n, 1)
        variance = like(squares, V) / n - (like(sums, V) / n) ** 2
        variance = xp.where(variance > 0, variance, xp.zeros_like(variance))
        total = middle.total * (middle.n - 1) / n
        self.components_ = kept(V)
        self.singular_values_ = kept((spectrum.variance * max(middle.n - 1, 1)) ** 0.5)
        self.explained_variance_ = kept(variance)
        self.explained_variance_ratio_ = kept(variance / (total if total > 0 else 1.0))

    def transform(self, X: Any) -> Any:
        """Scores X v of each row (n × n_components); those of a scan table are one again."""
        return self._scores(check_predict(self, X))

    def _scores(self, X: Any) -> Any:
        V = to_device_of(self.components_, X).T
        return transform(X, self.get_feature_names_out, project, V, 0.0)

    def inverse_transform(self, X: Any) -> Any:
        """Rows from their scores: Σ_k score_k v_k."""
        check_is_fitted(self)
        Z = dense_scores(X)
        if Z.ndim != 2 or Z.shape[1] != self.components_.shape[0]:
            raise ValueError(
                f"X has shape {tuple(Z.shape)}, and inverse_transform takes one column for each of the "
                f"{self.components_.shape[0]} components."
            )
        return Z @ to_device_of(self.components_, Z)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def score_sums(block: Block, V: Any, mean: Any) -> tuple:
    """Σz² and Σz of the scores z = x v − mean."""
    Z = about(block, None) @ V - mean
    xp = namespace(Z)
    return xp.sum(Z * Z, axis=0), xp.sum(Z, axis=0)


def _check_count(k: int, rows: Rows, algorithm: str) -> None:
    d = rows.n_features
    if k > d:
        raise ValueError(f"n_components({k}) must be <= n_features({d}); ask for fewer components.")
    if algorithm == "arpack" and k >= min(d, rows.n_rows):
        raise ValueError(
            f"n_components={k} must be strictly less than min(n_samples, n_features)={min(d, rows.n_rows)} with "
            "algorithm='arpack'; ask for fewer components or use 'randomized'."
        )


def _wide(rows: Rows) -> Any:
    """float64 in the rows' own library."""
    return namespace(rows.reference).float64


def _row(values: Any, rows: Rows) -> Any:
    return like(values, rows.reference, _wide(rows))
