"""The Gaussian density."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.density._base import Density, check_sample, mapped
from learnt.engine.arrays import namespace
from learnt.engine.estimator import Takes
from learnt.engine.params import check_choice, check_number
from learnt.engine.random import random_state_of
from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import Block
from learnt.engine.schema import FEATURES, Schema, anyof, choice, number, real
from learnt.engine.validation import check_fit
from learnt.statistics import Gaussians, gaussians, inverse_factors, log_densities, moments

_KINDS = ("full", "diag", "spherical")
_SINGULAR = 1e-6  # what is added where a covariance is singular: this share of the largest variance


class Gaussian(Density):
    """The normal density with the mean and the covariance of the rows (maximum likelihood).

    p(x) = |2πΣ|^(−½) exp(−½ (x − μ)ᵀ Σ⁻¹ (x − μ))

    One bell over all rows: the quickest density, the baseline of novelty detection, and the density of each class in
    `learnt.bayes.GenerativeClassifier`. Outliers among the training rows draw both μ and Σ.

    Parameters
    ----------
    covariance_type : {"full", "diag", "spherical"}, default="full"
        Σ as it is, its diagonal, or one variance for all features. Fewer numbers to estimate overfit less.
    reg_covar : float, default=0
        Added to the variances, as regularisation. Where Σ is singular all the same (a constant feature, fewer rows than
        features, one row), 1e-6 times the largest variance is added, and a warning says so.
    contamination : float, default=0.1
        The share of the training rows that `predict` is to call novelties (−1), from 0 to 0.5: what precision and
        recall of novelties are traded by. The density does not depend on it.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        μ: the mean of the rows.
    covariance_ : ndarray of shape (n_features, n_features) or (n_features,), or float
        Σ by `covariance_type`, with all that was added.
    regularization_ : float
        What was added to the variances.
    offset_ : float
        The log density below which a row is a novelty.

    See Also
    --------
    learnt.mixture.GaussianMixture : Several bells.
    DensityForest : A density of any shape.
    learnt.covariance.EllipticEnvelope : The same, robust to outliers among the training rows.
    learnt.neighbors.KernelDensity : A bell on every row.

    Notes
    -----
    `fit` needs one sum over rows: O(n d² + d³) time; "diag" and "spherical" O(n d).

    Examples
    --------
    >>> from learnt.density import Gaussian
    >>> model = Gaussian().fit([[0.0], [2.0], [4.0], [2.0]])
    >>> model.mean_, model.covariance_
    (array([2.]), array([[2.]]))
    >>> model.score_samples([[2.0], [9.0]])
    array([ -1.266, -13.516])
    >>> model.sample(2, random_state=0).shape
    (2, 1)
    """

    __learnt_schema__ = Schema(
        params={"covariance_type": choice(*_KINDS)},
        state={
            **FEATURES,
            "mean_": real("d"),
            "covariance_": anyof(number(above=0.0), real("d", above=0.0), real("d", "d")),
            "regularization_": number(0),
            "offset_": number(),
        },
        rule=lambda model, state, dims: _disproved(model.covariance_type, state["covariance_"]),
    )
    __learnt_takes__ = Takes(tensors=True, lazy=True)

    def __init__(self, *, covariance_type: str = "full", reg_covar: float = 0.0, contamination: float = 0.1) -> None:
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.contamination = contamination

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Gaussian:
        """Estimate the mean and the covariance; a weight of 2 counts a row twice, 0 not at all."""
        check_choice(self, "covariance_type", _KINDS)
        check_number(self, "reg_covar", 0.0)
        self._check_contamination()
        X, _, w = check_fit(self, X, None, sample_weight)
        kind = "full" if self.covariance_type == "full" else "diagonal"
        found = moments(as_rows(X, None, w), scatter=kind).to_numpy()
        covariance = found.covariance()
        if self.covariance_type == "spherical":
            covariance = float(covariance.mean())
        self.mean_ = found.mean
        self.covariance_, self.regularization_ = self._regularised(covariance)
        self._set_offset(X, w)
        return self

    def _regularised(self, covariance: Any) -> tuple[Any, float]:
        """The covariance, made positive definite, and what was added to its variances."""
        added = float(self.reg_covar)
        if _is_singular(_plus(covariance, added)):
            largest = float(np.max(covariance))
            added += _SINGULAR * (largest if largest > 0 else 1.0)
            warnings.warn(
                f"The covariance is singular (a constant or dependent feature, or too few rows), so {added:.3g} was "
                "added to the variances; drop such features, or set reg_covar or covariance_type='diag'.",
                UserWarning,
                stacklevel=3,
            )
        return _plus(covariance, added), added

    def _densities(self) -> Gaussians:
        kind = self.covariance_type
        factor = inverse_factors(kind, np.asarray(self.covariance_)[None])
        return gaussians(kind, self.mean_[None, :], factor)

    def _log_density(self, X: Any) -> Any:
        return mapped(X, _log_density_of_block, self._densities().to_device_of(X))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Return rows drawn from the density, (n_samples, n_features).

        Parameters
        ----------
        n_samples : int, default=1
            How many rows to draw.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        """
        check_sample(self, n_samples)
        noise = random_state_of(random_state).standard_normal((n_samples, self.n_features_in_))
        if self.covariance_type == "full":
            return self.mean_ + noise @ np.linalg.cholesky(self.covariance_).T
        return self.mean_ + noise * np.sqrt(self.covariance_)


def _plus(covariance: Any, added: float) -> Any:
    """The covariance with `added` on its diagonal."""
    if np.ndim(covariance) < 2:
        return covariance + added
    return covariance + added * np.eye(len(covariance))


def _is_singular(covariance: Any) -> bool:
    """Whether the smallest variance in any direction is within rounding errors."""
    C = np.atleast_1d(covariance)
    if C.ndim == 1:
        with np.errstate(over="ignore", divide="ignore"):
            return not C.min() > 0 or not np.isfinite(1.0 / C).all()
    values = np.linalg.eigvalsh(C / (np.abs(C).max() or 1.0))
    return not values[0] > len(C) * np.finfo(np.float64).eps * values[-1]


def _log_density_of_block(block: Block, densities: Gaussians) -> Any:
    values = log_densities(block, densities)
    return values[:, 0] if isinstance(values, np.ndarray) else namespace(values).squeeze(values, axis=1)


def _disproved(kind: str, covariance: Any) -> str | None:
    """What is wrong with the covariance of a model file: it is of another kind, or none at all."""
    if np.ndim(covariance) != {"full": 2, "diag": 1, "spherical": 0}[kind]:
        return "has a covariance of another type"
    return "has a covariance that is not positive definite" if _is_singular(covariance) else None
