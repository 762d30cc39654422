"""Singular vectors of the products of two tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from learnt.cross_decomposition._partial import check_count, shifted, table_of, targets_like, two_tables
from learnt.cross_decomposition._standard import units_of
from learnt.engine.estimator import Estimator, Trial
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_flag, check_number
from learnt.engine.schema import FEATURES, Schema, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_predict


class PLSSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Scores of X and of y with the largest covariance, all at once: the singular vectors of XᵀY.

    X and y are about their means, in units of their standard deviations. The quickest way to what two tables of the
    same rows have in common; unlike those of `PLSCanonical`, later components are not cleared of what earlier ones
    explain.

    Parameters
    ----------
    n_components : int, default=2
        How many components to find; at most the number of rows, and of columns of X and of y. Choose it by
        cross-validation: too many overfit.
    scale : bool, default=True
        Whether columns are divided by their standard deviations, so that units do not matter.
    copy : bool, default=True
        Whether to leave X as it is. False: `fit` may overwrite X with its standardised values, which saves memory.

    Attributes
    ----------
    x_weights_ : ndarray of shape (n_features, n_components)
        Left singular vectors, one a column: directions in X; the largest entry of each is positive.
    y_weights_ : ndarray of shape (n_targets, n_components)
        Right singular vectors, one a column: directions in y.
    x_mean_ : ndarray of shape (n_features,)
        The mean of each column of X.
    x_std_ : ndarray of shape (n_features,)
        The standard deviation that each column of X is divided by; 1 for a constant one, and where `scale` is False.
    y_mean_ : ndarray of shape (n_targets,)
        The mean of each column of y.
    y_std_ : ndarray of shape (n_targets,)
        The standard deviation that each column of y is divided by; 1 for a constant one, and where `scale` is False.

    See Also
    --------
    PLSCanonical : Component by component, each cleared of those before.
    CCA : Largest correlation instead of covariance.

    Notes
    -----
    One product of the two tables, O(n d q) time for n rows, d columns of X and q of y, and the singular vectors of a d
    × q matrix.

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

    def __init__(self, n_components: int = 2, *, scale: bool = True, copy: bool = True) -> None:
        self.n_components = n_components
        self.scale = scale
        self.copy = copy

    def fit(self, X: Any, y: Any) -> PLSSVD:
        """Find the singular vectors of the products of X and y.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets of the rows: one column or several.
        """
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
        """Scores of the rows of X, and those of y if it is given.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets of the same rows.

        Returns
        -------
        x_scores : ndarray of shape (n_samples, n_components)
            The scores of X; where y is given, the first of a pair.
        y_scores : ndarray of shape (n_samples, n_components)
            The scores of y; only where it is given.
        """
        X = check_predict(self, X)
        scores = shifted(X, self.x_mean_, self.x_weights_ / self.x_std_[:, None])
        if y is None:
            return scores
        return scores, shifted(targets_like(y, self), self.y_mean_, self.y_weights_ / self.y_std_[:, None])

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the singular vectors, and return the scores of the rows of X and of y.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets of the rows: one column or several.

        Returns
        -------
        x_scores : ndarray of shape (n_samples, n_components)
            The scores of X.
        y_scores : ndarray of shape (n_samples, n_components)
            The scores of y.
        """
        return self.fit(X, y).transform(X, y)

    @property
    def _n_features_out(self) -> int:
        return self.x_weights_.shape[1]
