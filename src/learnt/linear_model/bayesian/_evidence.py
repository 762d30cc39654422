"""What Bayesian linear regression computes from the data: moments, their spectrum, and the evidence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from learnt.engine.arrays import is_foreign_array, like, namespace, to_numpy
from learnt.engine.matrices import double
from learnt.engine.rows import Rows, scores
from learnt.engine.rows.blocks import Block, widen
from learnt.engine.threads import single_blas
from learnt.statistics import JointMoments, joint_moments

# a residual sum of squares below this share of Σ(y − ȳ)² is computed from the data, not from the moments
_DIGITS = 1e-4


class Evidence:
    """Moments of one target about the means, and what follows from them at any coefficients."""

    def __init__(self, rows: Rows, fit_intercept: bool) -> None:
        self.rows = rows
        self.moments: JointMoments = joint_moments(rows, fit_intercept)
        self.weight = self.moments.weight
        self.gram, self.cross = self.moments.gram, self.moments.cross[:, 0]
        self.x_mean, self.y_mean = self.moments.x_mean, self.moments.y_mean
        dtype = widen(rows.reference).dtype
        self._like = lambda a: like(a, rows.reference, dtype)
        self.squares = float(to_numpy(rows.sum(_squares, None, None, float(self.y_mean[0]))[0]))
        # The variance of y whether or not there is an intercept.
        self.y_variance = self.squares / self.weight
        if not fit_intercept:
            mean = float(to_numpy(rows.sum(_mean)[0])) / self.weight
            self.y_variance = max(self.squares / self.weight - mean**2, 0.0)

    def residual(self, coef: np.ndarray) -> float:
        """Σ w (y − ȳ − (x − x̄)ᵀb)²."""
        value = self.squares - 2.0 * float(coef @ self.cross) + float(coef @ self.gram @ coef)
        if value > _DIGITS * self.squares:
            return value
        found = self.rows.sum(_squares, self._like(self.x_mean), self._like(coef), float(self.y_mean[0]))
        return float(to_numpy(found[0]))

    def intercept(self, coef: np.ndarray) -> np.ndarray:
        return self.y_mean - self.x_mean @ coef[:, None]


def _squares(block: Block, x_mean: Any, coef: Any, y_mean: float) -> tuple:
    e = double(block.y) - y_mean
    xp = namespace(e)
    if coef is not None:
        X = widen(block.X)
        e = e - (X @ coef - x_mean @ coef)
    return (xp.sum(e * e) if block.w is None else widen(block.w) @ (e * e),)


def _mean(block: Block) -> tuple:
    y = widen(block.y)
    return (namespace(y).sum(y) if block.w is None else widen(block.w) @ y,)


@single_blas()
def inverse(A: np.ndarray) -> np.ndarray:
    """A⁻¹ of a positive definite matrix, in units where its diagonal is 1; its pseudo-inverse where that fails."""
    scale = 1.0 / np.sqrt(np.diag(A))
    triangle, failed = linalg.lapack.dpotrf(A * scale * scale[:, None], lower=1, clean=1)
    if failed or not np.isfinite(scale).all():
        return linalg.pinvh(A)
    half, failed = linalg.lapack.dpotri(triangle, lower=1)
    if failed:
        return linalg.pinvh(A)
    half = np.tril(half) + np.tril(half, -1).T
    return half * scale * scale[:, None]


class Marginal(NamedTuple):
    """−2 log evidence of y = Xb + noise, b ~ N(0, τ²I), as a function of the two variances.

    The covariance of y is σ²I + τ²XXᵀ; `values` are the eigenvalues of XXᵀ, `shares` the squares of y along them.
    """

    values: np.ndarray
    shares: np.ndarray
    squares: float
    n: float

    def __call__(self, noise: float, prior: float) -> float:
        along = noise + prior * self.values
        rest = max(self.squares - float(self.shares.sum()), 0.0)
        rest = rest if rest > 1e-13 * self.squares else 0.0
        logs = float(np.log(along).sum()) + (self.n - len(self.values)) * np.log(noise)
        return self.n * np.log(2 * np.pi) + logs + float((self.shares / along).sum()) + rest / noise

    def slopes(self, noise: float, prior: float) -> tuple[float, float]:
        """Derivatives by log σ² and log τ²."""
        share = noise / (noise + prior * self.values)
        rest = max(self.squares - float(self.shares.sum()), 0.0)
        rest = rest if rest > 1e-13 * self.squares else 0.0
        pull = 1.0 - self.shares / (noise + prior * self.values)
        by_noise = float((share * pull).sum()) + self.n - len(self.values) - rest / noise
        return by_noise, float(((1.0 - share) * pull).sum())

    def best_noise(self, ratio: float) -> float:
        """The best σ² where τ² = σ²/ratio."""
        rest = max(self.squares - float(self.shares.sum()), 0.0)
        rest = rest if rest > 1e-13 * self.squares else 0.0
        return (float((self.shares / (1.0 + self.values / ratio)).sum()) + rest) / self.n


def predictive_deviation(X: np.ndarray, x_mean: np.ndarray, covariance: np.ndarray, noise: float) -> np.ndarray:
    """√(σ² + (x − x̄)ᵀ Σ (x − x̄)) for each row."""
    Z = np.asarray(X, dtype=np.float64) - x_mean
    return np.sqrt(np.einsum("ij,ij->i", Z @ covariance, Z) + noise)


def mean_and_deviation(model: Any, X: Any, x_mean: Any, covariance: Any, noise: float) -> tuple[Any, Any]:
    """A prediction and the standard deviation of a new y, in the library of X."""
    mean = scores(X, model.coef_, model.intercept_)
    if isinstance(X, np.ndarray):
        return mean, predictive_deviation(X, to_numpy(x_mean), to_numpy(covariance), noise).astype(mean.dtype)
    if not is_foreign_array(X):
        raise TypeError(f"Deviations are made for rows in memory and X is a {type(X).__name__}; pass them in parts.")
    deviation = predictive_deviation(to_numpy(X), to_numpy(x_mean), to_numpy(covariance), noise)
    return mean, like(deviation, mean)
