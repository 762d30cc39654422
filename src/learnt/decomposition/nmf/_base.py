"""What non-negative factorisations share: parameters, where they begin, penalties, the way back to rows."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.decomposition.nmf._checks import check_not_negative, checked_factor
from learnt.decomposition.nmf._descent import Penalties
from learnt.decomposition.nmf._divergence import LOSSES
from learnt.decomposition.nmf._starts import first_factors
from learnt.engine.estimator import Estimator
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_choice, check_number, check_verbose
from learnt.engine.progress import CallbackSupportMixin
from learnt.engine.rows import as_rows

_INITS = ("random", "nndsvd", "nndsvda", "nndsvdar", "custom", None)


class Factorisation(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """X ≈ W H with no entry below 0."""

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Find the parts H of X; W and H to start from may be given, with init="custom".

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from, none of their entries below 0.
        y : Ignored
            Not used; there so that all estimators can be called in the same way.
        **params : dict
            `W` and `H`, arrays to start from, which need init="custom".
        """
        self.fit_transform(X, **params)
        return self

    def _check_common(self) -> None:
        check_number(self, "n_components", 1, integer=True, also=("auto", None))
        check_choice(self, "init", _INITS)
        if isinstance(self.beta_loss, str):
            check_choice(self, "beta_loss", tuple(LOSSES))
        else:
            check_number(self, "beta_loss")
        check_number(self, "tol", 0)
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "alpha_W", 0)
        check_number(self, "alpha_H", 0, also=("same",))
        check_number(self, "l1_ratio", 0, 1)
        check_verbose(self)

    def _first(self, X: Any, W: Any, H: Any) -> tuple[np.ndarray, np.ndarray]:
        check_not_negative(X, f"{type(self).__name__} (input X)")
        rows = as_rows(X)
        d = rows.n_features
        k = d if self.n_components is None else self.n_components
        if self.init == "custom":
            H = checked_factor(H, (k, d), rows.dtype, "H")
            W = checked_factor(W, (rows.n_rows, len(H)), rows.dtype, "W")
            return W.copy(), H.copy()
        if W is not None or H is not None:
            warnings.warn(
                "When init!='custom', provided W or H are ignored. Set  init='custom' to use them as initialization.",
                RuntimeWarning,
                stacklevel=4,
            )
        return first_factors(rows, d if k == "auto" else int(k), self.init, self.random_state)

    def _penalties(self, shape: tuple[int, int]) -> Penalties:
        n, d = shape
        W, H = self.alpha_W, self.alpha_W if self.alpha_H == "same" else self.alpha_H
        rest = 1.0 - self.l1_ratio
        return Penalties(d * W * self.l1_ratio, n * H * self.l1_ratio, d * W * rest, n * H * rest)

    def inverse_transform(self, X: Any) -> Any:
        """Rows from how much of each part is in them: W H.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_components)
            The weights W, as `transform` returns them.
        """
        check_is_fitted(self)
        return X @ self.components_

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def refuse_zeros(X: Any, beta: float) -> None:
    """Divergences of β ≤ 0 have a pole where X is 0."""
    if beta <= 0 and X.min() == 0:
        raise ValueError(
            "When beta_loss <= 0 and X contains zeros, the solver may diverge. Please add small values to X, or "
            "use a positive beta_loss."
        )
