"""What the two sparse PCAs share: rows to scores and back, by components that need not be orthogonal."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.utils import check_array
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_choice, check_number, check_verbose
from learnt.engine.schema import FEATURES, Schema, count, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict


class SparseComponents(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Components found by dictionary learning on the columns: their codes are few entries of each component."""

    __learnt_schema__ = Schema(
        params={"ridge_alpha": number(0)},
        state={**FEATURES, "components_": real("k", "d"), "mean_": real("d"), "n_components_": count(1, name="k")},
        extra={"n_iter_": count()},
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the sparse components of X."""
        self._check_parameters()
        X = check_fit(self, X).X
        self.mean_ = X.mean(axis=0)
        code = self._loadings(np.ascontiguousarray((X - self.mean_).T))
        length = np.linalg.norm(code, axis=0)
        self.components_ = np.ascontiguousarray((code / np.where(length > 0, length, 1.0)).T, dtype=X.dtype)
        self.n_components_ = len(self.components_)
        return self

    def _loadings(self, columns: np.ndarray) -> np.ndarray:
        """The codes of the centred columns (d × k)."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        check_number(self, "n_components", 1, integer=True, also=(None,))
        check_number(self, "alpha", 0)
        check_number(self, "ridge_alpha", 0)
        check_number(self, "max_iter", 0, integer=True)
        check_number(self, "tol", 0)
        check_choice(self, "method", ("lars", "cd"))
        check_verbose(self)

    def transform(self, X: Any) -> np.ndarray:
        """Scores that make up each row best, with the penalty `ridge_alpha`:  (x − mean) Cᵀ (C Cᵀ + α I)⁻¹."""
        X = check_predict(self, X)
        C = self.components_.astype(np.float64, copy=False)
        with single_blas():
            gram, across = C @ C.T + self.ridge_alpha * np.eye(len(C)), (X - self.mean_) @ C.T
            if self.ridge_alpha > 0:
                scores = cho_solve(cho_factor(gram), across.T).T
            else:  # components may be 0, or depend on each other
                scores = across @ np.linalg.pinv(gram, hermitian=True)
        return np.ascontiguousarray(scores, dtype=X.dtype)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The rows that scores stand for:  scores @ components + mean."""
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32])
        if X.shape[1] != len(self.components_):
            raise ValueError(
                f"X has {X.shape[1]} columns, and inverse_transform takes one for each of the {len(self.components_)} "
                "components."
            )
        return X @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def with_signs(code: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The codes with the largest entry of each component positive."""
    return svd_flip(code, scores, u_based_decision=True)[0]
