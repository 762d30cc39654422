"""Singular vectors of the products of two tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from learnt.cross_decomposition._partial import check_count, shifted, table_of, targets_like, two_tables
from learnt.cross_decomposition._standard import units_of
from learnt.engine.estimator import Estimator, Trial
from learnt.engine.params import check_flag, check_number
from learnt.engine.schema import FEATURES, Schema, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_predict


class PLSSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Scores of X and of y with the largest covariance, all at once: the singular vectors of XᵀY.

    X and y are about their means, in units of their standard deviations.

    Parameters
    ----------
    n_components : int, default=2
        At most the number of rows, and of columns of X and of y.
    scale : bool, default=True
        Whether columns are divided by their standard deviations.
    copy : bool, default=True
        False: `fit` may overwrite X with its standardised values.

    Attributes
    ----------
    x_weights_ : array of shape (n_features, n_components)
        Left singular vectors; the largest entry of each is positive.
    y_weights_ : array of shape (n_targets, n_components)
    x_mean_, x_std_, y_mean_, y_std_ : arrays
        Means and units of the columns.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [2.0, 5.0, 4.0]]
    >>> y = [[0.1, -0.2], [0.9, 1.1], [6.2, 5.9], [11.9, 12.3]]
    >>> import numpy as np
    >>> t, u = PLSSVD(n_components=1).fit_transform(X, y)
    >>> np.cov(t.T, u.T)[0, 1].round(2)
    np.float64(2.28)
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "x_weights_": real("d", "k"),
            "y_weights_": real("q", "k"),
            "x_mean_": real("d"),
            "x_std_": real("d", above=0),
            "y_mean_": real("q"),
            "y_std_": real("q", above=0),
        }
    )
    __learnt_trial__ = Trial(quick={"n_components": 1}, target="amount")

    def __init__(self, n_components=2, *, scale=True, copy=True):
        self.n_components = n_components
        self.scale = scale
        self.copy = copy

    def fit(self, X: Any, y: Any) -> PLSSVD:
        """Find the singular vectors."""
        check_number(self, "n_components", 1, integer=True)
        check_flag(self, "scale", "copy")
        X, Y, _ = two_tables(self, X, y)
        k = int(self.n_components)
        check_count(k, (*X.shape, Y.shape[1]))
        x_units, y_units = units_of(X, self.scale, "X"), units_of(Y, self.scale, "y")
        with single_blas():
            C = table_of(X, x_units, in_place=not self.copy).transposed_times(y_units.apply(Y))
            U, _, Vt = linalg.svd(C, full_matrices=False, check_finite=False)
        U, V = U[:, :k], Vt[:k].T
        signs = np.where(np.take_along_axis(U, np.abs(U).argmax(axis=0)[None], axis=0) < 0, -1.0, 1.0)
        self.x_weights_, self.y_weights_ = U * signs, V * signs
        self.x_mean_, self.x_std_, self.y_mean_, self.y_std_ = *x_units[:2], *y_units[:2]
        return self

    def transform(self, X: Any, y: Any = None) -> Any:
        """Scores of the rows of X (n × n_components), and those of y if it is given."""
        X = check_predict(self, X)
        scores = shifted(X, self.x_mean_, self.x_weights_ / self.x_std_[:, None])
        if y is None:
            return scores
        return scores, shifted(targets_like(y, self), self.y_mean_, self.y_weights_ / self.y_std_[:, None])

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the singular vectors, and give the scores of the rows of X and of y."""
        return self.fit(X, y).transform(X, y)

    @property
    def _n_features_out(self) -> int:
        return self.x_weights_.shape[1]
