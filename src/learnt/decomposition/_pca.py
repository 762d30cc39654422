"""Principal component analysis: the estimator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from learnt.decomposition._principal import PrincipalComponents
from learnt.decomposition.spectrum._centre import NotFiniteError
from learnt.decomposition.spectrum._choice import cheapest_solver, check_count, check_parameters, resolve_count
from learnt.decomposition.spectrum._exact import Spectrum, first_of, from_scatter, from_triangle, to_six_digits
from learnt.decomposition.spectrum._krylov import arpack, randomized
from learnt.engine.arrays import is_foreign_array, is_lazy, namespace, to_device_of, to_numpy
from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.matrices import Route
from learnt.engine.random import random_state_of
from learnt.engine.rows import Block, Rows, as_rows
from learnt.engine.schema import FEATURES, Schema, anyof, choice, count, flag, number, real
from learnt.engine.validation import check_fit, check_predict

_SPARSE_SOLVERS = ("auto", "arpack", "covariance_eigh")


class PCA(PrincipalComponents):
    """Principal components: the orthonormal directions v₁, v₂, … of largest variance.

    v_k = argmax ‖(X − mean) v‖²  over unit v at right angles to v₁ … v_{k−1}

    The usual linear dimensionality reduction: to look at rows in two columns, to remove noise and correlations, to make
    later models faster. Columns in different units should be scaled first (`learnt.preprocessing.StandardScaler`),
    since those of large variance come first.

    Parameters
    ----------
    n_components : int, float in (0, 1), "mle" or None, default=None
        How many components to keep: a number; as many as explain this share of the variance, such as 0.95; "mle" for
        Minka's choice by the evidence; None for all min(n, d). Too few lose information, too many keep noise.
    copy : bool, default=True
        Kept for scikit-learn's signature: X is left as it is either way.
    whiten : bool, default=False
        Whether to divide scores by their standard deviations, so that all have variance 1. For models that take
        distances to mean the same in all directions; what the directions of small variance hold is then mostly noise.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        How the components are computed. "covariance_eigh" takes eigenvectors of the scatter, quick for few columns.
        "full" takes singular vectors by QR, which keeps all digits of small ones. "randomized" and "arpack" find a few
        components of a large matrix. "auto" takes the fastest that is exact to about six digits in every component it
        gives, or "randomized" where exactness would cost much more. Of sparse X: "auto", "covariance_eigh" or "arpack".
    tol : float, default=0.0
        Convergence tolerance of "arpack"; 0 is machine precision.
    iterated_power : int or "auto", default="auto"
        How many passes over the data "randomized" makes after the first; more are more exact. "auto" stops when
        converged, after 4 or 5 at most.
    n_oversamples : int, default=10
        How many vectors "randomized" iterates beyond n_components; more are more exact, and as many as there are
        columns make it exact. Where iterated_power is "auto", one more pass replaces them if that is less work.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Kept for scikit-learn's signature: "randomized" always orthonormalises, by QR.
    random_state : int, RandomState, Generator or None, default=None
        The start of "randomized" and "arpack". Pass an integer for the same result every time.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        The directions, one a row, by falling variance; the largest entry of each is positive.
    explained_variance_ : ndarray of shape (n_components_,)
        The variance of the rows along each direction (divisor n − 1).
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Its share of the total variance. Their running sum shows how many components are enough.
    singular_values_ : ndarray of shape (n_components_,)
        ‖(X − mean) v_k‖ of each direction v_k.
    mean_ : ndarray of shape (n_features,)
        The mean of each column, which is subtracted from rows.
    n_components_ : int
        How many components were kept.
    n_samples_ : int
        How many rows it was fitted to.
    noise_variance_ : float
        The mean variance of the directions left out: the noise of probabilistic PCA.

    See Also
    --------
    TruncatedSVD : Without centring, so that sparse rows stay sparse.
    IncrementalPCA : The same components from rows that come in batches.
    KernelPCA : Components that are no linear functions of the columns.
    SparsePCA : Components of few columns each, easier to interpret.
    FactorAnalysis : With a noise of each column's own.

    Notes
    -----
    The mean and the d × d scatter are sums over rows, so X may be an array, sparse (see `svd_solver`), a memory map, a
    `learnt.scan` table, a Dask collection or an array on a GPU, and is neither copied nor centred in place. With
    "covariance_eigh" that is O(n d²) time for n rows of d columns, and O(d³) for the eigenvectors; "randomized" takes
    O(n d k) for each pass, with k components.

    Results are the same to the last bit at any number of threads. `get_covariance` and `score` are those of
    probabilistic PCA [1]_ whether or not scores are whitened.

    References
    ----------
    .. [1] M. E. Tipping and C. M. Bishop, "Probabilistic principal component analysis", Journal of the Royal
       Statistical Society B 61, 1999.
    .. [2] T. P. Minka, "Automatic choice of dimensionality for PCA", NIPS, 2000.
    .. [3] N. Halko, P. G. Martinsson and J. A. Tropp, "Finding structure with randomness: probabilistic algorithms for
       constructing approximate matrix decompositions", SIAM Review 53, 2011.

    Examples
    --------
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> pca = PCA(n_components=1).fit(X)
    >>> pca.explained_variance_ratio_
    array([0.992])
    >>> pca.components_
    array([[0.838, 0.544]])
    """

    __learnt_schema__ = Schema(
        params={"whiten": flag, "svd_solver": choice("auto", "full", "covariance_eigh", "arpack", "randomized")},
        state={
            **FEATURES,
            "n_components_": count(0, name="k"),
            "components_": real("k", "d"),
            "mean_": real("d"),
            **dict.fromkeys(("explained_variance_", "explained_variance_ratio_", "singular_values_"), real("k", low=0)),
            "noise_variance_": anyof(number(0), real()),
            "n_samples_": number(1),
        },
    )
    __learnt_trial__ = Trial(
        warmup=(Warm("none", {"n_components": 2}),), sparse={"n_components": 2, "svd_solver": "covariance_eigh"}
    )

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=self.svd_solver in _SPARSE_SOLVERS, tensors=True, lazy=True)

    def __init__(
        self,
        n_components: Any = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: Any = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> PCA:
        """Find the principal components of X."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the principal components of X, and return its scores."""
        return self._scores(self._fit(X))

    def _fit(self, X: Any) -> Any:
        """Check, choose, solve, record; gives the checked X."""
        check_parameters(self)
        if sparse.issparse(X) and self.svd_solver not in _SPARSE_SOLVERS:
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while '
                f'"{self.svd_solver}" was passed; use one of those, or X.toarray() if it fits in memory.'
            )
        if self.svd_solver == "arpack" and is_foreign_array(X):
            raise ValueError(
                "PCA with svd_solver='arpack' is not supported for Array API inputs; "
                "use 'randomized', which runs on the device."
            )
        # The first sum shows whether all cells are finite; only if not, validation finds which one is not.
        matrix = self._validated(X, allow_nan=True)
        try:
            spectrum, k = self._solve(matrix)
            self.n_samples_ = spectrum.centre.n
            self._keep(spectrum, k, getattr(matrix, "dtype", ""))
        except NotFiniteError:
            self._validated(X, allow_nan=False)
            raise ValueError(
                "X has values so large that their squares are infinite; scale the columns before PCA."
            ) from None
        return matrix

    def _validated(self, X: Any, allow_nan: bool) -> Any:
        return check_fit(self, X, accept_sparse=True, min_rows=2, allow_nan=allow_nan).X

    def _solve(self, X: Any) -> tuple[Spectrum, int]:
        """The spectrum of X, and how many of its components are wanted."""
        rows = as_rows(X)
        d = rows.n_features
        n = rows.n_rows
        solver = self.svd_solver
        is_sparse = rows.route is Route.SPARSE
        if solver == "auto" and is_sparse:
            # The scatter of a wide sparse matrix is a dense d × d.
            solver = "covariance_eigh" if d <= 1000 and X.shape[0] >= d else "arpack"
        elif solver == "auto":
            solver = cheapest_solver(n, d, self.n_components)
        less = int(solver == "arpack" or (is_sparse and self.svd_solver == "auto"))
        if n < 2:
            raise ValueError(f"Found array with n_samples = {n} while a minimum of 2 is required by PCA.")
        wanted = self._wanted(n, d, solver, less)
        spectrum = self._run(rows, wanted, solver)
        return spectrum, resolve_count(wanted, to_numpy(spectrum.variance), spectrum.centre.total, n)

    def _wanted(self, n: int, d: int, solver: str, less: int) -> Any:
        """n_components, with None filled in, if `solver` can give them."""
        wanted = min(n, d) - less if self.n_components is None else self.n_components
        check_count(wanted, n, d, solver)
        return wanted

    def _run(self, rows: Rows, wanted: Any, solver: str) -> Spectrum:
        draw = random_state_of(self.random_state)
        if solver == "randomized":
            power = None if self.iterated_power == "auto" else int(self.iterated_power)
            return randomized(rows, int(wanted), int(self.n_oversamples), power, draw)
        if solver == "arpack":
            return arpack(rows, int(wanted), float(self.tol), draw)
        if solver == "full":
            return from_triangle(rows)
        if self.svd_solver == "auto" and rows.route is not Route.SPARSE:
            return to_six_digits(rows, wanted)
        return from_scatter(rows, first_of(wanted))

    def score_samples(self, X: Any) -> Any:
        """The log density of each row under the normal distribution of probabilistic PCA.

        Where no variance is left over for noise, that is the density within the span of the components.
        """
        X = check_predict(self, X, accept_sparse=False)
        V, mean = self._parameters(X)
        variance, inverse = self._spread()
        noise = self.noise_variance_
        spread = to_numpy(variance)
        spread = spread[spread > 0]
        n_noise = self.components_.shape[1] - self.n_components_ if noise > 0 else 0
        log_det = float(np.log(spread).sum()) + n_noise * math.log(noise or 1.0)
        constant = (len(spread) + n_noise) * math.log(2 * math.pi) + log_det
        rest = 1.0 / noise if noise > 0 else 0.0
        return as_rows(X).map(log_density, mean, V.T, to_device_of(inverse - rest, X), rest, constant)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log density of the rows under probabilistic PCA; its cross-validation can choose n_components."""
        densities = self.score_samples(X)
        return float(densities.mean() if is_lazy(densities) else namespace(densities).mean(densities))


def log_density(block: Block, mean: Any, V: Any, inverse: Any, rest: float, constant: float) -> Any:
    """−½ (zᵀ (V diag(inverse) Vᵀ + rest I) z + constant), z = x − mean."""
    xp = namespace(block.X)
    Z = block.X - mean
    square = (Z @ V) ** 2 @ inverse
    if rest:
        square = square + rest * xp.sum(Z * Z, axis=1)
    return -0.5 * (square + constant)
