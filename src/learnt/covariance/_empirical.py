"""The covariance of the rows as they are, and what every model of a covariance does."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from scipy.linalg import svdvals
from sklearn.utils.validation import check_is_fitted

from learnt.covariance._gauss import inverse, log_likelihood, square_distances
from learnt.covariance._sample import Sample, checked_table, sample
from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import Route, route
from learnt.engine.params import ParameterError, check_flag
from learnt.engine.rows import as_rows
from learnt.engine.schema import FEATURES, Check, Schema, anyof, none, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict

# What all models of this room hold.
STATE: dict[str, Check] = {
    **FEATURES,
    "location_": real("d"),
    "covariance_": real("d", "d"),
    "precision_": anyof(none, real("d", "d")),
}


def empirical_covariance(X: Any, *, assume_centered: bool = False) -> np.ndarray:
    """The covariance of the rows, divided by their number: the maximum-likelihood estimate for a normal distribution.

        S = Σ (x − m)(x − m)ᵀ / n,      m the mean, or 0 where `assume_centered`

    Take it where there are many more rows than columns; else a shrunk estimate (`ledoit_wolf`, `oas`) has less error.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows; a list of numbers is taken for a single row.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.

    Returns
    -------
    covariance : ndarray of shape (n_features, n_features)
        The covariance S.

    See Also
    --------
    EmpiricalCovariance : The same as an estimator, with log-likelihood and Mahalanobis distances.
    ledoit_wolf : Covariance with optimal shrinkage, for few rows.

    Examples
    --------
    >>> empirical_covariance([[0.0, 0.0], [2.0, 4.0]]).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    name = "empirical_covariance"
    return sample(checked_table(X, name, one_row=True), assume_centered, name).covariance


class EmpiricalCovariance(Estimator):
    """The covariance of the rows, divided by their number: the maximum-likelihood estimate for a normal distribution.

        m = Σ x / n,      S = Σ (x − m)(x − m)ᵀ / n

    The plain estimate, good where there are many more rows than columns. With few rows its small eigenvalues are too
    small and its inverse is noisy: take `LedoitWolf` or `OAS`. A few outliers spoil it: take `MinCovDet`.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether to keep the inverse of the covariance. False saves memory and an inversion with many columns;
        `get_precision` then inverts when it is asked.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        The estimated mean of the rows; 0 where `assume_centered`.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance S.
    precision_ : ndarray of shape (n_features, n_features) or None
        The inverse of `covariance_`, its pseudo-inverse where it is singular; None where `store_precision` is False.

    See Also
    --------
    LedoitWolf : Chooses a shrinkage from the rows; the better choice with few rows.
    OAS : Shrinkage for rows that are close to normal.
    MinCovDet : A robust covariance, which outliers do not move.
    GraphicalLasso : A covariance with a sparse inverse.

    Notes
    -----
    One pass over the rows: O(n d²) time and O(d²) memory for n rows of d columns, and O(d³) for the inverse.

    Examples
    --------
    >>> model = EmpiricalCovariance().fit([[0.0, 1.0], [2.0, 1.0], [0.0, 3.0], [2.0, 3.0]])
    >>> model.covariance_.tolist(), model.mahalanobis([[3.0, 2.0]]).tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [4.0])
    """

    __learnt_schema__ = Schema(state=STATE)
    __learnt_takes__ = Takes(tensors=True, lazy=True)
    __learnt_trial__ = Trial()

    def __init__(self, *, store_precision: bool = True, assume_centered: bool = False) -> None:
        self.store_precision = store_precision
        self.assume_centered = assume_centered

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the location and the covariance of the rows of X."""
        check_flag(self, "store_precision", "assume_centered")
        self._check_others()
        X = check_fit(self, X).X
        found = sample(X, self.assume_centered, type(self).__name__)
        self._set(found.location, self._estimate(found))
        keep_beside(self, X)
        return self

    def _check_others(self) -> None: ...

    def _estimate(self, found: Sample) -> np.ndarray:
        """The covariance that the class makes of the sample's."""
        return found.covariance

    def _set(self, location: np.ndarray, covariance: np.ndarray, precision: np.ndarray | None = None) -> None:
        self.location_, self.covariance_ = location, covariance
        self.precision_ = None
        if self.store_precision:
            self.precision_ = inverse(covariance) if precision is None else precision

    def get_precision(self) -> Any:
        """The inverse of the covariance, computed now if it was not stored."""
        check_is_fitted(self, msg=NOT_FITTED)
        return (
            like(inverse(to_numpy(self.covariance_)), self.covariance_) if self.precision_ is None else self.precision_
        )

    def mahalanobis(self, X: Any) -> Any:
        """The squared Mahalanobis distance of each row:  (x − location)ᵀ precision (x − location).

        For normal rows it follows a χ² distribution with n_features degrees of freedom, so that large ones are
        outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the columns it was fitted to.

        Returns
        -------
        distances : ndarray of shape (n_samples,)
            The squared distance of each row.
        """
        X = check_predict(self, X)
        rows = as_rows(X)
        location, precision = (beside(part, rows.reference) for part in (self.location_, self.get_precision()))
        return rows.map(square_distances, location, precision)

    def score(self, X_test: Any, y: Any = None) -> float:
        """The mean log-likelihood of rows under the normal distribution with this location and covariance.

        Parameters
        ----------
        X_test : array-like of shape (n_samples, n_features)
            Rows of the columns it was fitted to, which need not be those of `fit`.
        y : Ignored
            Not used; there so that all estimators can be called in the same way.

        Returns
        -------
        score : float
            The mean log density of a row; the higher, the better the covariance describes the rows.
        """
        X = check_predict(self, X_test)
        found = sample(X, False, type(self).__name__, quiet=True)
        off = found.location - to_numpy(self.location_)
        return log_likelihood(found.covariance + np.outer(off, off), to_numpy(self.get_precision()))

    def error_norm(self, comp_cov: Any, norm: str = "frobenius", scaling: bool = True, squared: bool = True) -> float:
        """How far another covariance is from this one, as a norm of their difference.

        Parameters
        ----------
        comp_cov : array-like of shape (n_features, n_features)
            The covariance to compare with, such as the true one of a simulation.
        norm : {"frobenius", "spectral"}, default="frobenius"
            "frobenius" is the root of the sum of squares of the difference, "spectral" its largest singular value.
        scaling : bool, default=True
            Whether to divide the squared norm by the number of features.
        squared : bool, default=True
            Whether to return the squared norm instead of the norm.

        Returns
        -------
        error : float
            The (squared) norm of the difference; 0 where the two are equal.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        own, other = to_numpy(self.covariance_), np.asarray(to_numpy(comp_cov), dtype=np.float64)
        if other.shape != own.shape:
            raise ValueError(
                f"comp_cov has the shape {other.shape}, and error_norm compares it with one of {own.shape}."
            )
        error = other - own
        if norm == "frobenius":
            square = float((error**2).sum())
        elif norm == "spectral":
            with single_blas():
                square = float(svdvals(error)[0] ** 2)
        else:
            raise _UnknownNorm(f"norm must be 'spectral' or 'frobenius' in error_norm. Got {norm!r} instead.")
        square = square / len(error) if scaling else square
        return square if squared else math.sqrt(square)


class _UnknownNorm(ParameterError, NotImplementedError):
    """scikit-learn raises NotImplementedError here."""


def keep_beside(model: Any, X: Any) -> None:
    """What was learnt from rows on a device is there too."""
    if route(X) is Route.DEVICE:
        for name in ("location_", "covariance_", "precision_"):
            if getattr(model, name) is not None:
                setattr(model, name, beside(getattr(model, name), X))


def beside(values: Any, X: Any) -> Any:
    """`values` in float64 where the rows X lie."""
    return like(to_numpy(values), X, namespace(X).float64)
