"""A mean and a variance, with a normal-inverse-χ² prior, or a mean alone where the variance is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from learnt.bayes._conjugate_coin import require_level
from learnt.engine.rows import as_rows
from learnt.engine.validation import check_weights
from learnt.statistics import Moments, moments


class GaussianEstimate:
    """Estimate the mean μ and the variance σ² of numbers that are normal.

    prior:  μ | σ² ~ N(mean, σ² / weight),   σ² ~ df · variance / χ²(df)

    For the mean of few measurements, with its uncertainty, and with what was known before. Immutable: `fit` gives a new
    estimate that knows more.

    Parameters
    ----------
    mean : float, default=0.0
        Where μ is believed to be.
    weight : float, default=0.0
        How many numbers that belief is worth; 0: none. More of it shrinks the estimate towards `mean`.
    variance : float, default=1.0
        What σ² is believed to be.
    df : float, default=None
        How many numbers that belief is worth. None: nothing is believed of σ², the prior is 1/σ² (and the intervals for
        μ are Student's).
    known_variance : float, default=None
        The variance σ², where it is known: then only μ is estimated, with the prior N(mean, known_variance / weight).
    seen : Moments or None, default=None
        Weight, mean and squares of the numbers seen before; `fit` sets it, and None is nothing.

    See Also
    --------
    BetaBernoulli : The probability of one of two outcomes.
    learnt.density.Gaussian : The density of rows of several columns.

    References
    ----------
    .. [1] Andrew Gelman, John B. Carlin, Hal S. Stern, David B. Dunson, Aki Vehtari and Donald B. Rubin, "Bayesian Data
       Analysis", 3rd edition, CRC Press, 2013, chapters 2 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.bayes import GaussianEstimate
    >>> found = GaussianEstimate().fit([1.0, 2.0, 3.0, 6.0])
    >>> found.mle
    (3.0, 3.5)
    >>> np.array(found.credible_interval())
    array([-0.437,  6.437])
    >>> GaussianEstimate(mean=0.0, weight=4.0).fit([1.0, 2.0, 3.0, 6.0]).map[0]
    1.5
    """

    def __init__(
        self,
        mean: float = 0.0,
        weight: float = 0.0,
        variance: float = 1.0,
        df: float | None = None,
        *,
        known_variance: float | None = None,
        seen: Moments | None = None,
    ) -> None:
        if not weight >= 0 or not variance > 0 or not (df is None or df > 0):
            raise ValueError(
                "GaussianEstimate needs a weight of at least 0, a variance and a df greater than 0; they are "
                f"{weight!r}, {variance!r} and {df!r}."
            )
        if known_variance is not None and not known_variance > 0:
            raise ValueError(f"known_variance must be greater than 0; it is {known_variance!r}.")
        self.prior = (float(mean), float(weight), float(variance), df)
        self.known_variance = known_variance
        self.seen = seen or Moments(0.0, np.zeros(1), np.zeros(1), "diagonal")

    def fit(self, x: Any, sample_weight: Any = None) -> GaussianEstimate:
        """Return the estimate with the numbers x besides what was seen before.

        Parameters
        ----------
        x : array-like
            Finite numbers, at least one.
        sample_weight : array-like of the shape of x, default=None
            What each number counts: 2 as two of them. None counts each once.

        Returns
        -------
        GaussianEstimate
            A new estimate.
        """
        x = np.asarray(x, dtype=np.float64).reshape(-1, 1)
        if not len(x) or not np.isfinite(x).all():
            raise ValueError("GaussianEstimate takes finite numbers, at least one; x holds others, or nothing.")
        found = moments(as_rows(x, None, check_weights(sample_weight, x)))
        mean, weight, variance, df = self.prior
        return type(self)(mean, weight, variance, df, known_variance=self.known_variance, seen=self.seen.merge(found))

    @property
    def mle(self) -> tuple[float, float]:
        """Maximum likelihood: the mean and the variance of the numbers (the known one, where it is)."""
        n = float(self.seen.weight)
        if n == 0:
            return float("nan"), float("nan")
        variance = float(self.seen.scatter[0]) / n if self.known_variance is None else self.known_variance
        return float(self.seen.mean[0]), variance

    @property
    def map(self) -> tuple[float, float]:
        """The mode of the joint posterior of μ and σ²."""
        mean, _, df, scale = self._posterior
        if self.known_variance is not None:
            return mean, self.known_variance
        return mean, scale / (df + 3.0)

    @property
    def _posterior(self) -> tuple[float, float, float, float]:
        """Mean and weight of μ; degrees of freedom and sum of squares of σ²."""
        mean, weight, variance, df = self.prior
        n, seen_mean = float(self.seen.weight), float(self.seen.mean[0])
        total = weight + n
        if total == 0:
            raise ValueError("Nothing is known of the mean yet: give the prior a weight above 0, or numbers to `fit`.")
        between = weight * n / total * (seen_mean - mean) ** 2
        scale = float(self.seen.scatter[0]) + between + (0.0 if df is None else df * variance)
        # The prior 1/σ² replaces a degree of freedom where the prior of the mean is flat.
        degrees = n + (df if df is not None else (-1.0 if weight == 0 else 0.0))
        return (weight * mean + n * seen_mean) / total, total, degrees, scale

    @property
    def posterior(self) -> Any:
        """The distribution of μ: Student's t, or normal where σ² is known (`scipy.stats`)."""
        return self._student(0.0)

    @property
    def variance_posterior(self) -> Any:
        """The distribution of σ² (`scipy.stats.invgamma`)."""
        if self.known_variance is not None:
            raise ValueError("The variance is known: it has no distribution.")
        _, _, df, scale = self._posterior
        return stats.invgamma(self._degrees(df) / 2.0, scale=scale / 2.0)

    def predictive(self) -> Any:
        """Return the distribution of the next number; μ and σ² are integrated out.

        Returns
        -------
        scipy.stats distribution
            Student's t, or normal where the variance is known.
        """
        return self._student(1.0)

    def credible_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return where μ is with this probability, with as much on either side.

        Parameters
        ----------
        level : float, default=0.95
            The probability, between 0 and 1.

        Returns
        -------
        low : float
            The lower end.
        high : float
            The upper end.
        """
        low, high = self.posterior.interval(require_level(level))
        return float(low), float(high)

    def _student(self, own: float) -> Any:
        """The distribution of μ, with the variance of a number itself `own` times."""
        mean, weight, df, scale = self._posterior
        share = own + 1.0 / weight
        if self.known_variance is not None:
            return stats.norm(mean, math.sqrt(self.known_variance * share))
        df = self._degrees(df)
        return stats.t(df, mean, math.sqrt(scale / df * share))

    def _degrees(self, df: float) -> float:
        if not df > 0:
            raise ValueError(
                "One number says nothing of the variance: give more numbers, a prior (`df`, `variance`), or "
                "`known_variance`."
            )
        return df

    def __repr__(self) -> str:
        mean, weight, variance, df = self.prior
        known = "" if self.known_variance is None else f", known_variance={self.known_variance:g}"
        return f"{type(self).__name__}({mean:g}, {weight:g}, {variance:g}, {df}{known})"
