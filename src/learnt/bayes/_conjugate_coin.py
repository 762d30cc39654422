"""A coin: the probability of one of two outcomes, with a Beta prior."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from learnt.engine.validation import check_weights


class BetaBernoulli:
    """Estimate the probability θ of heads:  prior Beta(a, b), posterior Beta(a + heads, b + tails).

    For rates out of few trials, such as conversions and defects, with their uncertainty. Immutable: `fit` and `observe`
    give a new estimate that knows more.

    Parameters
    ----------
    a : float, default=1.0
        The prior: a − 1 heads that were imagined. Beta(1, 1) is flat: MAP is maximum likelihood then.
    b : float, default=1.0
        The prior: b − 1 tails that were imagined. Smoothing by +m is `BetaBernoulli.smoothing(m)`, Beta(m + 1, m + 1).
    heads : float, default=0.0
        How many heads were seen; may be weighted.
    tails : float, default=0.0
        How many tails were seen.

    See Also
    --------
    DirichletMultinomial : Of more than two outcomes.
    GaussianEstimate : Of numbers instead of outcomes.

    References
    ----------
    .. [1] Kevin P. Murphy, "Machine Learning: A Probabilistic Perspective", MIT Press, 2012, section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.bayes import BetaBernoulli
    >>> coin = BetaBernoulli().observe(heads=4, tails=6)
    >>> coin.mle, coin.map, coin.mean                       # +1 smoothing: 5/12
    (0.4, 0.4, 0.4166666666666667)
    >>> BetaBernoulli.smoothing(1).observe(4, 6).map
    0.4166666666666667
    >>> np.array(coin.credible_interval(0.9))
    array([0.1996, 0.6502])
    >>> coin.predictive()                                   # the probability that the next one is heads
    0.4166666666666667
    """

    def __init__(self, a: float = 1.0, b: float = 1.0, *, heads: float = 0.0, tails: float = 0.0) -> None:
        if not (a > 0 and b > 0):
            raise ValueError(f"a and b of a Beta prior must be greater than 0; they are {a!r} and {b!r}.")
        if not (heads >= 0 and tails >= 0):
            raise ValueError(f"heads and tails are counted and at least 0; they are {heads!r} and {tails!r}.")
        self.a, self.b, self.heads, self.tails = float(a), float(b), float(heads), float(tails)

    @classmethod
    def smoothing(cls, m: float = 1.0) -> BetaBernoulli:
        """Return the prior whose MAP counts m heads and m tails beforehand.

        Parameters
        ----------
        m : float, default=1.0
            How many of each: 1 is Laplace's rule.

        Returns
        -------
        BetaBernoulli
            Beta(m + 1, m + 1), with nothing seen.
        """
        return cls(m + 1.0, m + 1.0)

    def observe(self, heads: float = 0.0, tails: float = 0.0) -> BetaBernoulli:
        """Return the estimate with so many more heads and tails.

        Parameters
        ----------
        heads : float, default=0.0
            More heads.
        tails : float, default=0.0
            More tails.

        Returns
        -------
        BetaBernoulli
            A new estimate.
        """
        return type(self)(self.a, self.b, heads=self.heads + heads, tails=self.tails + tails)

    def fit(self, x: Any, sample_weight: Any = None) -> BetaBernoulli:
        """Return the estimate with outcomes x, 1 for heads and 0 for tails, besides what was seen before.

        Parameters
        ----------
        x : array-like
            Outcomes, each 0 or 1.
        sample_weight : array-like of the shape of x, default=None
            What each outcome counts: 2 as two of them. None counts each once.

        Returns
        -------
        BetaBernoulli
            A new estimate.
        """
        x = np.asarray(x, dtype=np.float64).ravel()
        if not np.isin(x, (0.0, 1.0)).all():
            raise ValueError("BetaBernoulli takes outcomes that are 0 (tails) or 1 (heads); x holds others.")
        w = check_weights(sample_weight, x[:, None])
        w = np.ones(len(x)) if w is None else w
        return self.observe(float(w @ x), float(w @ (1.0 - x)))

    @property
    def mle(self) -> float:
        """Maximum likelihood: heads / all; NaN before anything was seen."""
        n = self.heads + self.tails
        return self.heads / n if n > 0 else float("nan")

    @property
    def map(self) -> float:
        """The mode of the posterior; where that has none inside (a or b below 1), its mean."""
        a, b = self.a + self.heads, self.b + self.tails
        return (a - 1.0) / (a + b - 2.0) if min(a, b) >= 1.0 and a + b > 2.0 else self.mean

    @property
    def mean(self) -> float:
        """The mean of the posterior."""
        return (self.a + self.heads) / (self.a + self.b + self.heads + self.tails)

    @property
    def posterior(self) -> Any:
        """The distribution of θ (`scipy.stats.beta`)."""
        return stats.beta(self.a + self.heads, self.b + self.tails)

    def predictive(self, heads: int | None = None, n: int = 1) -> float:
        """Return the probability of so many heads in the next n, or that the next one is heads; θ is integrated out.

        Parameters
        ----------
        heads : int or None, default=None
            How many heads; None for the probability that the next one is heads.
        n : int, default=1
            Out of how many.

        Returns
        -------
        float
            The probability.
        """
        if heads is None:
            return self.mean
        return float(stats.betabinom(n, self.a + self.heads, self.b + self.tails).pmf(heads))

    def credible_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return where θ is with this probability, with as much on either side.

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

    def __repr__(self) -> str:
        seen = f", heads={self.heads:g}, tails={self.tails:g}" if self.heads or self.tails else ""
        return f"{type(self).__name__}({self.a:g}, {self.b:g}{seen})"


BetaBinomial = BetaBernoulli  # the same estimate, by the name of its predictive distribution


def require_level(level: float) -> float:
    """The probability of a credible interval."""
    if not 0 < level < 1:
        raise ValueError(f"The level of a credible interval is between 0 and 1; it is {level!r}.")
    return level
