"""The posterior of ridge regression at any strength, from one decomposition of the data.

With Z = √w (X − x̄) and T = √w (y − ȳ), coefficients b ~ N(0, I/λ) and noise of precision α have the posterior mean
(ZᵀZ + λ/α I)⁻¹ ZᵀT and the covariance (α ZᵀZ + λI)⁻¹. Both follow from the eigenvectors of ZᵀZ (d × d) or, where rows
are fewer than columns, from those of ZZᵀ (n × n).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.rows import Rows
from learnt.linalg.gram import gram
from learnt.linalg.spectrum import scatter_spectrum
from learnt.linear_model.bayesian._evidence import Evidence
from learnt.linear_model.least_squares._centred import CentredRows


class ColumnSpectrum:
    """By the eigenvectors of the scatter matrix of the columns, for rows stored anywhere."""

    def __init__(self, rows: Rows, fit_intercept: bool) -> None:
        data = self._data = Evidence(rows, fit_intercept)
        self.weight, self.y_variance = data.weight, data.y_variance
        self.x_mean, self.intercept = data.x_mean, data.intercept
        self.values, self._vectors = scatter_spectrum(data.gram)
        self._along = self._vectors.T @ data.cross

    def mean(self, ratio: float) -> np.ndarray:
        """The coefficients at λ/α."""
        return self._vectors @ _shares(self._along, self.values, ratio)

    def residual(self, ratio: float, coef: np.ndarray) -> float:
        """Σ w (y − ȳ − (x − x̄)ᵀb)² for the coefficients at λ/α."""
        return self._data.residual(coef)

    def covariance(self, noise: float, prior: float) -> np.ndarray:
        return gram(self._vectors / np.sqrt(noise * self.values + prior))


class RowSpectrum:
    """By the eigenvectors U of ZZᵀ, for fewer rows than columns in memory.

    The mean is ZᵀU (s + λ/α)⁻¹ UᵀT. The covariance is (I − ZᵀU (s + λ/α)⁻¹ UᵀZ)/λ: nothing is divided by a small s.
    """

    def __init__(self, rows: Any, fit_intercept: bool) -> None:
        centred = CentredRows(rows, fit_intercept)
        self.weight = float(rows.n_rows if rows.w is None else rows.w.sum())
        self.values, vectors = scatter_spectrum(centred.inner_products())
        self._basis = centred.transposed_times(vectors)  # ZᵀU
        self._along = vectors.T @ centred.target[:, 0]
        self.x_mean, self._y_mean = centred.x_mean, centred.y_mean
        share = centred.root**2 / self.weight
        self.y_variance = float(share @ np.square(rows.y - share @ rows.y))

    def mean(self, ratio: float) -> np.ndarray:
        return self._basis @ _shares(self._along, self.values, ratio)

    def residual(self, ratio: float, coef: np.ndarray) -> float:
        left = np.where(self.values > 0, ratio * _shares(self._along, self.values, ratio), self._along)
        return float(left @ left)

    def covariance(self, noise: float, prior: float) -> np.ndarray:
        # Each factor is finite whatever the unit of X, in which `prior` and `values` are a square and its inverse.
        sigma = gram(self._basis * (np.sqrt(1.0 / prior) / np.sqrt(self.values + prior / noise)))
        np.negative(sigma, out=sigma)
        sigma.flat[:: len(sigma) + 1] += 1.0 / prior
        return sigma

    def intercept(self, coef: np.ndarray) -> np.ndarray:
        return self._y_mean - self.x_mean @ coef[:, None]


def spectrum(rows: Any, fit_intercept: bool) -> ColumnSpectrum | RowSpectrum:
    """The smaller of the two decompositions."""
    if rows.in_memory and type(rows.X) is np.ndarray and rows.n_rows < rows.n_features:
        return RowSpectrum(rows, fit_intercept)
    return ColumnSpectrum(rows, fit_intercept)


def _shares(along: np.ndarray, values: np.ndarray, ratio: float) -> np.ndarray:
    """(s + λ/α)⁻¹ of the component along each eigenvector; 0 where s is 0."""
    return np.divide(along, values + ratio, out=np.zeros_like(along), where=values > 0)
