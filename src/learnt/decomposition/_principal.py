"""What all models of principal components do once these are found."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from learnt.decomposition.spectrum._exact import Spectrum
from learnt.engine.arrays import is_foreign_array, is_lazy, is_numpy, like, namespace, to_device_of
from learnt.engine.estimator import Estimator
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.rows import Block, as_rows, transform
from learnt.engine.validation import check_predict


class PrincipalComponents(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Scores, rows from scores, and the covariance of the model, from components, their variances and the mean."""

    whiten: bool

    def _keep(self, spectrum: Spectrum, k: int, dtype: Any) -> None:
        """The first k components of a spectrum as fitted attributes, in the precision `dtype` (a name)."""
        centre = spectrum.centre
        xp = namespace(centre.mean)
        d = centre.mean.shape[0]
        dtype = xp.float32 if str(dtype).endswith("float32") else xp.float64
        variance = spectrum.variance[:k]
        components = with_positive_peaks(spectrum.components[:k, :])

        def kept(values: Any) -> Any:
            return (
                like(values, centre.mean, dtype) if not is_numpy(values) else np.array(values, dtype=dtype, order="C")
            )

        self.n_components_ = k
        self.mean_ = kept(centre.mean)
        self.components_ = kept(components)
        self.explained_variance_ = kept(variance)
        self.explained_variance_ratio_ = kept(variance / (centre.total if centre.total > 0 else 1.0))
        self.singular_values_ = kept((variance * (centre.n - 1)) ** 0.5)
        left = min(centre.n, d) - k
        if left > 0:
            rest = spectrum.variance[k:]
            # The residual variance where it is known directly, since the difference of two totals has fewer digits.
            sum_left = float(xp.sum(rest)) if rest.shape[0] == left else centre.total - float(xp.sum(variance))
            self.noise_variance_ = max(sum_left, 0.0) / left
        else:
            self.noise_variance_ = 0.0

    def transform(self, X: Any) -> Any:
        """Scores (X − mean) v_k of each row (n × n_components_); those of a scan table are one again."""
        return self._scores(check_predict(self, X, accept_sparse=True))

    def _scores(self, X: Any) -> Any:
        V, mean = self._parameters(X)
        V = V.T
        if self.whiten:
            xp = namespace(V)
            scale = to_device_of(self.explained_variance_, V) ** 0.5
            least = float(namespace(self.explained_variance_).finfo(self.explained_variance_.dtype).eps)
            V = V / xp.where(scale > least, scale, like(least, V))
        return transform(X, self.get_feature_names_out, project, V, mean @ V)

    def _parameters(self, X: Any) -> tuple[Any, Any]:
        """Components and mean in the library of X."""
        return to_device_of(self.components_, X), to_device_of(self.mean_, X)

    def inverse_transform(self, X: Any) -> Any:
        """Rows from their scores: mean + Σ_k score_k v_k."""
        check_is_fitted(self)
        Z = dense_scores(X)
        if Z.ndim != 2 or Z.shape[1] != self.n_components_:
            raise ValueError(
                f"X has shape {tuple(Z.shape)}, and inverse_transform takes one column for each of the "
                f"{self.n_components_} components."
            )
        V, mean = self._parameters(Z)
        if self.whiten:
            V = V * to_device_of(self.explained_variance_, V)[:, None] ** 0.5
        return as_rows(Z).map(project, V, -mean) if self.n_components_ else like(np.zeros((Z.shape[0], 1)), Z) + mean

    def get_covariance(self) -> Any:
        """The covariance of the fitted model: Σ_k (λ_k − σ²)⁺ v_k v_kᵀ + σ² I."""
        check_is_fitted(self)
        V = self.components_
        covariance = (V.T * self._excess()) @ V
        return covariance + self.noise_variance_ * like(np.eye(V.shape[1]), V)

    def get_precision(self) -> Any:
        """The inverse of `get_covariance`, or its pseudo-inverse where it is singular; no d × d matrix is inverted."""
        check_is_fitted(self)
        V = self.components_
        _, inverse = self._spread()
        rest = 1.0 / self.noise_variance_ if self.noise_variance_ > 0 else 0.0
        return (V.T * (inverse - rest)) @ V + rest * like(np.eye(V.shape[1]), V)

    def _excess(self) -> Any:
        """(λ − σ²)⁺ of each component."""
        xp = namespace(self.components_)
        excess = self.explained_variance_ - self.noise_variance_
        return xp.where(excess > 0, excess, xp.zeros_like(excess))

    def _spread(self) -> tuple[Any, Any]:
        """The model's variance along each component, and its inverse; both 0 where it is negligible."""
        xp = namespace(self.components_)
        variance = self._excess() + self.noise_variance_
        if self.n_components_ == 0:
            return variance, variance
        # Eigenvalues of a d × d matrix are known to about d roundings of the largest.
        some = variance > 10 * self.components_.shape[1] * float(np.finfo(float).eps) * xp.max(variance)
        variance = xp.where(some, variance, xp.zeros_like(variance))
        return variance, xp.where(some, 1.0 / xp.where(some, variance, xp.ones_like(variance)), variance)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def dense_scores(X: Any) -> Any:
    """Scores that rows are made from again: a dense array in memory, of numbers with a fraction."""
    if is_lazy(X) or sparse.issparse(X):
        raise TypeError("inverse_transform needs scores in memory as a dense array; use X.compute() or X.toarray().")
    if is_foreign_array(X):
        return X
    Z = np.asarray(X)
    return Z if Z.dtype.kind == "f" else Z.astype(np.float64)


def with_positive_peaks(V: Any) -> Any:
    """Signs are arbitrary: make the entry of largest absolute value of each row positive."""
    if V.shape[0] == 0:
        return V
    xp = namespace(V)
    peak = xp.max(V, axis=1), xp.min(V, axis=1)
    sign = xp.where(peak[0] >= -peak[1], xp.ones_like(peak[0]), -xp.ones_like(peak[0]))
    return V * sign[:, None]


def project(block: Block, V: Any, offset: Any) -> Any:
    """x V − offset."""
    out = block.X @ V
    out -= offset
    return out
