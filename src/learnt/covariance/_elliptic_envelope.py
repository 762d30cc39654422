"""Outliers: rows far from the others in units of a robust covariance."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from learnt.covariance._min_cov_det import MinCovDet
from learnt.engine.mixins import OutlierMixin
from learnt.engine.params import check_number
from learnt.engine.schema import Schema, number


class EllipticEnvelope(OutlierMixin, MinCovDet):
    """An ellipsoid around most of the rows; rows outside are outliers.

        score(x) = −(x − m)ᵀ C⁻¹ (x − m),      outlier where  score(x) < offset

    m and C are the location and covariance of `MinCovDet`, which the outliers do not move. Take it for rows that form
    one roughly normal cloud in not too many columns (n_samples > 5 n_features, say). For several clusters, or shapes
    that are no ellipsoid, take `learnt.ensemble.IsolationForest` or `learnt.neighbors.LocalOutlierFactor`.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether to keep the inverse of the covariance. False saves memory and an inversion with many columns;
        `get_precision` then inverts when it is asked.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.
    support_fraction : float in (0, 1] or None, default=None
        The share of rows that the first, raw estimate is made of. None takes (n_samples + n_features + 1) / 2 rows,
        which withstands the most outliers; a larger share is more precise where outliers are known to be few.
    contamination : float in (0, 0.5], default=0.1
        The share of the training rows that is to lie outside. A larger one finds more outliers (recall) and raises more
        false alarms (precision).
    random_state : int, RandomState, Generator or None, default=None
        Where the random subsets of rows come from that the search starts with. Pass an integer for the same result
        every time.

    Attributes
    ----------
    offset_ : float
        The score below which a row is an outlier: the `contamination` quantile of the training rows' scores.
    location_ : ndarray of shape (n_features,)
        The estimated mean of the rows; 0 where `assume_centered`.
    covariance_ : ndarray of shape (n_features, n_features)
        The robust covariance.
    precision_ : ndarray of shape (n_features, n_features) or None
        The inverse of `covariance_`, its pseudo-inverse where it is singular; None where `store_precision` is False.
    raw_location_ : ndarray of shape (n_features,)
        The mean of the rows of least determinant; 0 where `assume_centered`.
    raw_covariance_ : ndarray of shape (n_features, n_features)
        Their covariance, before it is made consistent and reweighted.
    raw_support_ : ndarray of bool of shape (n_samples,)
        Which rows they are.
    support_ : ndarray of bool of shape (n_samples,)
        Which rows `location_` and `covariance_` are estimated from: those within the 97.5 % quantile of χ².
    dist_ : ndarray of shape (n_samples,)
        The squared Mahalanobis distance of each training row from `location_` in units of `covariance_`.

    See Also
    --------
    MinCovDet : The robust covariance behind it.
    learnt.ensemble.IsolationForest : Outliers of any shape, with many columns.
    learnt.neighbors.LocalOutlierFactor : Outliers by the density around their neighbours.

    Notes
    -----
    Distances need a covariance of full rank: with columns that depend on each other, they are measured only in the
    directions in which rows differ, and a warning says so.

    References
    ----------
    .. [1] P. J. Rousseeuw and K. Van Driessen, "A fast algorithm for the minimum covariance determinant estimator",
       Technometrics 41, 1999.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> EllipticEnvelope(random_state=0).fit(X).predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    __learnt_schema__ = Schema(state={**MinCovDet.__learnt_schema__.state, "offset_": number()})

    def __init__(
        self,
        *,
        store_precision: bool = True,
        assume_centered: bool = False,
        support_fraction: float | None = None,
        contamination: float = 0.1,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            store_precision=store_precision,
            assume_centered=assume_centered,
            support_fraction=support_fraction,
            random_state=random_state,
        )
        self.contamination = contamination

    def _check_others(self) -> None:
        check_number(self, "contamination", 0, 0.5, open_low=True)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the ellipsoid: a robust location and covariance, and the score that parts outliers from the rest."""
        super().fit(X)
        self.offset_ = float(np.percentile(-self.dist_, 100.0 * self.contamination))
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Minus the squared Mahalanobis distance of each row; the lower, the more unusual the row."""
        return -self.mahalanobis(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """`score_samples` less `offset_`: negative for outliers.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            How far inside the ellipsoid each row lies; negative outside.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """−1 for outliers, 1 for the others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # type: ignore[override]
        """The share of rows whose prediction is y (accuracy).

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The truth: −1 for outliers, 1 for the others.

        Returns
        -------
        score : float
            Accuracy, in [0, 1].
        """
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))
