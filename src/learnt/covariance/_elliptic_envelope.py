"""Outliers: rows far from the others in units of a robust covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from learnt.covariance._min_cov_det import MinCovDet
from learnt.engine.params import check_number
from learnt.engine.schema import Schema, number


class EllipticEnvelope(OutlierMixin, MinCovDet):
    """An ellipsoid around most of the rows; rows outside are outliers.

        score(x) = −(x − m)ᵀ C⁻¹ (x − m),      outlier where  score(x) < offset

    m and C are `MinCovDet`'s, which the outliers do not move.

    Parameters
    ----------
    store_precision, assume_centered, support_fraction, random_state
        As in `MinCovDet`.
    contamination : float in (0, 0.5], default=0.1
        The share of the training rows that is to lie outside.

    Attributes
    ----------
    offset_ : float
        That quantile of the training rows' scores.
    location_, covariance_, precision_, support_, dist_, raw_location_, raw_covariance_, raw_support_
        As in `MinCovDet`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        store_precision=True,
        assume_centered=False,
        support_fraction=None,
        contamination=0.1,
        random_state=None,
    ):
        super().__init__(
            store_precision=store_precision,
            assume_centered=assume_centered,
            support_fraction=support_fraction,
            random_state=random_state,
        )
        self.contamination = contamination

    def _check_others(self) -> None:
        check_number(self, "contamination", 0, 0.5, open_low=True)

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the ellipsoid; y is not used."""
        super().fit(X)
        self.offset_ = float(np.percentile(-self.dist_, 100.0 * self.contamination))
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Minus the square distance of each row in units of the covariance."""
        return -self.mahalanobis(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """`score_samples` less `offset_`: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """−1 for outliers, 1 for the others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # type: ignore[override]
        """The share of rows whose prediction is y, −1 or 1."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))
