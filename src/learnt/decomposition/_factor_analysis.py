"""Factor analysis: what features have in common, and the noise of each."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from learnt.decomposition._principal import project, with_positive_peaks
from learnt.decomposition._rotation import rotated
from learnt.decomposition.spectrum._centre import NotFiniteError, centre
from learnt.decomposition.spectrum._exact import in_blocks, singular
from learnt.decomposition.spectrum._triangle import triangles
from learnt.engine.arrays import is_lazy, namespace, to_device_of, to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.rows import Block, as_rows, transform
from learnt.engine.schema import FEATURES, Dims, Schema, count, listof, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict

_TOO_LARGE = "X has values so large that their squares are infinite; scale the columns before FactorAnalysis."
_SMALL = 1e-12  # the least noise variance


def _loadings_in_noise(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of model files: loadings in units of the noise are numbers."""
    with np.errstate(all="ignore"):
        scaled = state["components_"] / np.sqrt(state["noise_variance_"])
        sound = np.isfinite(np.linalg.norm(scaled)) if scaled.size else True
    return None if sound else "has loadings that are too large for its noise"


class FactorAnalysis(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Normal factors with a noise of each feature's own:  x = mean + Wᵀ z + e,  z ~ N(0, I),  e ~ N(0, diag(ψ)).

    Take it where columns are measured with noise of different sizes: `PCA` takes a noisy column for an important one,
    factor analysis does not. It also gives a likelihood of rows, and a covariance with few parameters.

    Parameters
    ----------
    n_components : int or None, default=None
        The number of factors; None is the number of columns. Choose it by cross-validation: `score` is the likelihood.
    tol : float, default=1e-2
        Stop when the log-likelihood rises by less than this.
    copy : bool, default=True
        Kept for scikit-learn's signature: X is left as it is either way.
    max_iter : int, default=1000
        The most iterations; raise it after a convergence warning.
    noise_variance_init : array-like of shape (n_features,) or None, default=None
        The noise variances ψ to start from; None is 1 for every column.
    svd_method : {"lapack", "randomized"}, default="randomized"
        Kept for scikit-learn's signature: the decomposition is of a d × d triangle, and exact, with both.
    iterated_power : int, default=3
        Kept for scikit-learn's signature, and without effect.
    rotation : {"varimax", "quartimax"} or None, default=None
        Turn the factors so that loadings are easier to interpret [2]_: "varimax" makes each factor load on few columns,
        "quartimax" each column on few factors. The likelihood does not change.
    random_state : int, RandomState, Generator or None, default=0
        Kept for scikit-learn's signature: nothing is drawn.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The loadings W; the largest of each factor is positive before a rotation.
    noise_variance_ : ndarray of shape (n_features,)
        The noise variance ψ of each column.
    loglike_ : list of float
        The log-likelihood of the rows at each iteration.
    mean_ : ndarray of shape (n_features,)
        The mean of each column, which is subtracted from rows.
    n_iter_ : int
        The number of iterations.

    See Also
    --------
    PCA : One noise for all columns; quicker.
    FastICA : Sources that are independent instead of normal.

    Notes
    -----
    W and ψ maximise the likelihood, by turns: W for given ψ from a singular value decomposition, then ψ for given W
    [1]_. All that is needed of the rows is their mean and the triangle of their QR factorisation, which come from one
    pass, O(n d²) time for n rows of d columns; each iteration then takes O(d³).

    References
    ----------
    .. [1] D. Barber, "Bayesian Reasoning and Machine Learning", Cambridge University Press, 2012, algorithm 21.1.
    .. [2] H. F. Kaiser, "The varimax criterion for analytic rotation in factor analysis", Psychometrika 23, 1958.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 1)) @ [[2.0, 1.0, 0.0]] + 0.1 * rng.normal(size=(500, 3))
    >>> model = FactorAnalysis(n_components=1).fit(X)
    >>> np.abs(model.components_).round(1)
    array([[2., 1., 0.]])
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "components_": real("k", "d"),
            "noise_variance_": real("d", above=0),
            "mean_": real("d"),
        },
        extra={"loglike_": listof(number()), "n_iter_": count()},
        rule=_loadings_in_noise,
    )
    __learnt_takes__ = Takes(tensors=True, lazy=True)
    __learnt_trial__ = Trial(quick={"n_components": 2}, warmup=(Warm("none", {"n_components": 2}),))

    def __init__(
        self,
        n_components: int | None = None,
        *,
        tol: float = 1e-2,
        copy: bool = True,
        max_iter: int = 1000,
        noise_variance_init: Any = None,
        svd_method: str = "randomized",
        iterated_power: int = 3,
        rotation: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.copy = copy
        self.max_iter = max_iter
        self.noise_variance_init = noise_variance_init
        self.svd_method = svd_method
        self.iterated_power = iterated_power
        self.rotation = rotation
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> FactorAnalysis:
        """Find the loadings and the noise variances of largest likelihood."""
        self._check_parameters()
        X = check_fit(self, X).X
        rows = as_rows(X)
        try:
            middle = centre(rows)
        except NotFiniteError:
            raise ValueError(_TOO_LARGE) from None
        R = to_numpy(in_blocks(rows).sum(triangles, middle.mean)[0].R).astype(np.float64)
        psi = self._first_noise(R.shape[1])
        k = R.shape[1] if self.n_components is None else int(self.n_components)
        with single_blas(), fit_loop(self, self.max_iter, X) as loop:
            W, self.noise_variance_ = self._maximise(R / math.sqrt(middle.n), psi, k, middle.n, loop)
        self.mean_ = to_numpy(middle.mean).astype(np.float64)
        self.components_ = W if self.rotation is None else rotated(W, self.rotation)
        self.n_iter_ = len(self.loglike_)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "n_components", 0, integer=True, also=(None,))
        check_number(self, "tol", 0)
        check_flag(self, "copy")
        check_number(self, "max_iter", 1, integer=True)
        check_choice(self, "svd_method", ("randomized", "lapack"))
        check_number(self, "iterated_power", 0, integer=True)
        check_choice(self, "rotation", ("varimax", "quartimax", None))

    def _first_noise(self, d: int) -> np.ndarray:
        if self.noise_variance_init is None:
            return np.ones(d)
        psi = np.array(self.noise_variance_init, dtype=np.float64)
        if psi.shape != (d,):
            raise ValueError(
                f"noise_variance_init dimension does not agree with number of features : {len(psi)} != {d}; give one "
                "variance for each feature."
            )
        if not (np.isfinite(psi).all() and (psi > 0).all()):
            raise ParameterError("noise_variance_init must hold variances above 0; some are not.")
        return psi

    def _maximise(self, R: np.ndarray, psi: np.ndarray, k: int, n: int, loop: Any) -> tuple[np.ndarray, np.ndarray]:
        """W and ψ of largest likelihood; RᵀR is the covariance of the rows."""
        d = R.shape[1]
        variance = np.einsum("ij,ij->j", R, R)
        constant = d * math.log(2.0 * math.pi) + k
        self.loglike_: list[float] = []
        before = -math.inf
        for _ in range(self.max_iter):
            root = np.sqrt(psi) + _SMALL
            s, Vt = singular(R / root)
            with np.errstate(over="ignore"):
                s = s**2
            if not np.isfinite(s.sum()):
                raise ValueError(_TOO_LARGE)
            W = np.sqrt(np.maximum(s[:k] - 1.0, 0.0))[:, None] * Vt[:k] * root
            # Directions that no row has (fewer rows than factors) have no variance to take the logarithm of.
            kept = np.log(np.maximum(s[:k], np.finfo(float).tiny)).sum()
            likelihood = -n / 2.0 * (constant + kept + s[k:].sum() + np.log(psi).sum())
            self.loglike_.append(float(likelihood))
            if loop.step(f"log-likelihood {likelihood:.6g}") or likelihood - before < self.tol:
                break
            before = likelihood
            psi = np.maximum(variance - np.einsum("ij,ij->j", W, W), _SMALL)
        else:
            warnings.warn(
                "FactorAnalysis did not converge. You might want to increase the number of iterations (max_iter).",
                ConvergenceWarning,
                stacklevel=3,
            )
        if W.shape[0] < k:  # fewer rows than factors: the other factors have loadings 0
            W = np.concatenate([W, np.zeros((k - W.shape[0], d))])
        return with_positive_peaks(W), psi

    def _score_matrix(self) -> np.ndarray:
        """The d × k matrix that gives E[z | x] of centred rows: ψ⁻¹ Wᵀ (I + W ψ⁻¹ Wᵀ)⁻¹.

        With the singular values W ψ^(−½) = U S Vᵀ it is  ψ^(−½) V S (I + S²)⁻¹ Uᵀ,  whatever the size of the loadings.
        """
        root = np.sqrt(self.noise_variance_)
        if not len(self.components_):
            return self.components_.T
        U, s, Vt = linalg.svd(self.components_ / root, full_matrices=False)
        return (U * _shrunk(s) @ Vt / root).T

    def transform(self, X: Any) -> Any:
        """The expected factors of each row, E[z | x] (n × n_components)."""
        X = check_predict(self, X)
        V = self._score_matrix()
        return transform(X, self.get_feature_names_out, project, to_device_of(V, X), to_device_of(self.mean_ @ V, X))

    def get_covariance(self) -> np.ndarray:
        """The covariance of the fitted model: WᵀW + diag(ψ)."""
        check_is_fitted(self)
        return self.components_.T @ self.components_ + np.diag(self.noise_variance_)

    def get_precision(self) -> np.ndarray:
        """The inverse of `get_covariance`, by the matrix inversion lemma: only k × k numbers are inverted."""
        check_is_fitted(self)
        scaled = self.components_ / self.noise_variance_
        return np.diag(1.0 / self.noise_variance_) - self._score_matrix() @ scaled

    def score_samples(self, X: Any) -> Any:
        """Log density of each row under the fitted model."""
        X = check_predict(self, X)
        s = linalg.svdvals(self.components_ / np.sqrt(self.noise_variance_)) if len(self.components_) else np.zeros(0)
        log_det = float(np.log(self.noise_variance_).sum() + 2.0 * np.log(np.hypot(1.0, s)).sum())
        constant = X.shape[1] * math.log(2.0 * math.pi) + log_det
        return as_rows(X).map(log_density, to_device_of(self.mean_, X), to_device_of(self.get_precision(), X), constant)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log density of the rows under the fitted model."""
        densities = self.score_samples(X)
        return float(densities.mean() if is_lazy(densities) else namespace(densities).mean(densities))

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]


def _shrunk(s: np.ndarray) -> np.ndarray:
    """s / (1 + s²) without an overflow."""
    large = np.maximum(s, 1.0)
    return np.where(s > 1.0, 1.0 / (large + 1.0 / large), s / (1.0 + np.minimum(s, 1.0) ** 2))


def log_density(block: Block, mean: Any, precision: Any, constant: float) -> Any:
    """−½ (zᵀ P z + constant), z = x − mean."""
    Z = block.X - mean
    return -0.5 * (namespace(Z).sum(Z * (Z @ precision), axis=1) + constant)
