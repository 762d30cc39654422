"""A die: the probabilities of several outcomes, with a Dirichlet prior."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from learnt.bayes._conjugate_coin import require_level
from learnt.engine.validation import check_weights


class DirichletMultinomial:
    """Estimate the probabilities θ of K outcomes:  prior Dirichlet(α), posterior Dirichlet(α + counts).

    For shares of several kinds out of few rows, with their uncertainty. Immutable: `fit` and `observe` give a new
    estimate that knows more.

    Parameters
    ----------
    alpha : array-like of shape (K,)
        The prior: α_k − 1 of each outcome that were imagined. All 1 is flat: MAP is maximum likelihood then. Smoothing
        by +m is `DirichletMultinomial.smoothing(K, m)`, all α_k = m + 1.
    counts : array-like of shape (K,), default=None
        How many of each outcome were seen; None: nothing.

    See Also
    --------
    BetaBernoulli : Of two outcomes.
    GaussianEstimate : Of numbers instead of outcomes.

    References
    ----------
    .. [1] Kevin P. Murphy, "Machine Learning: A Probabilistic Perspective", MIT Press, 2012, section 3.4.

    Examples
    --------
    >>> from learnt.bayes import DirichletMultinomial
    >>> die = DirichletMultinomial([1, 1, 1]).observe([3, 0, 1])
    >>> die.mle, die.mean
    (array([0.75, 0.  , 0.25]), array([0.571, 0.143, 0.286]))
    >>> DirichletMultinomial.smoothing(3).observe([3, 0, 1]).map
    array([0.571, 0.143, 0.286])
    """

    def __init__(self, alpha: Any, *, counts: Any = None) -> None:
        self.alpha = np.asarray(alpha, dtype=np.float64)
        if self.alpha.ndim != 1 or len(self.alpha) < 2 or not (self.alpha > 0).all():
            raise ValueError(f"alpha must be two or more numbers greater than 0; it is {alpha!r}.")
        self.counts = np.zeros(len(self.alpha)) if counts is None else np.asarray(counts, dtype=np.float64)
        if self.counts.shape != self.alpha.shape or not (self.counts >= 0).all():
            raise ValueError(f"counts must be {len(self.alpha)} numbers of at least 0; they are {counts!r}.")

    @classmethod
    def smoothing(cls, n_outcomes: int, m: float = 1.0) -> DirichletMultinomial:
        """Return the prior whose MAP counts m of each outcome beforehand.

        Parameters
        ----------
        n_outcomes : int
            K, the number of outcomes.
        m : float, default=1.0
            How many of each: 1 is Laplace's rule.

        Returns
        -------
        DirichletMultinomial
            The prior, with nothing seen.
        """
        return cls(np.full(n_outcomes, m + 1.0))

    def observe(self, counts: Any) -> DirichletMultinomial:
        """Return the estimate with so many more of each outcome.

        Parameters
        ----------
        counts : array-like of shape (K,)
            How many more of each.

        Returns
        -------
        DirichletMultinomial
            A new estimate.
        """
        return type(self)(self.alpha, counts=self.counts + np.asarray(counts, dtype=np.float64))

    def fit(self, x: Any, sample_weight: Any = None) -> DirichletMultinomial:
        """Return the estimate with outcomes x, the integers 0…K−1, besides what was seen before.

        Parameters
        ----------
        x : array-like of int
            Outcomes, from 0 to K − 1.
        sample_weight : array-like of the shape of x, default=None
            What each outcome counts: 2 as two of them. None counts each once.

        Returns
        -------
        DirichletMultinomial
            A new estimate.
        """
        x = np.asarray(x).ravel()
        if x.dtype.kind not in "iub" or (len(x) and not 0 <= int(x.min()) <= int(x.max()) < len(self.alpha)):
            raise ValueError(f"DirichletMultinomial takes outcomes that are integers from 0 to {len(self.alpha) - 1}.")
        w = check_weights(sample_weight, x[:, None])
        return self.observe(np.bincount(x.astype(np.int64), w, minlength=len(self.alpha)))

    @property
    def mle(self) -> np.ndarray:
        """Maximum likelihood: the frequencies; NaN before anything was seen."""
        total = self.counts.sum()
        return self.counts / total if total > 0 else np.full(len(self.counts), np.nan)

    @property
    def map(self) -> np.ndarray:
        """The mode of the posterior; where that has none inside (an α below 1), its mean."""
        a = self.alpha + self.counts
        return (a - 1.0) / (a.sum() - len(a)) if a.min() >= 1.0 and a.sum() > len(a) else self.mean

    @property
    def mean(self) -> np.ndarray:
        """The mean of the posterior."""
        a = self.alpha + self.counts
        return a / a.sum()

    @property
    def posterior(self) -> Any:
        """The distribution of θ (`scipy.stats.dirichlet`)."""
        return stats.dirichlet(self.alpha + self.counts)

    def predictive(self, counts: Any = None) -> Any:
        """Return the probability of each outcome for the next one, or of so many of each; θ is integrated out.

        Parameters
        ----------
        counts : array-like of shape (K,) or None, default=None
            So many of each in the next ones; None for the next one alone.

        Returns
        -------
        ndarray of shape (K,) or float
            The probabilities of the next outcome, or the probability of these counts.
        """
        if counts is None:
            return self.mean
        counts = np.asarray(counts, dtype=np.int64)
        return float(stats.dirichlet_multinomial(self.alpha + self.counts, int(counts.sum())).pmf(counts))

    def credible_interval(self, level: float = 0.95) -> np.ndarray:
        """Return where each θ_k is with this probability, with as much on either side: (K, 2).

        Parameters
        ----------
        level : float, default=0.95
            The probability, between 0 and 1, of each interval by itself.

        Returns
        -------
        ndarray of shape (K, 2)
            The lower and the upper end for each outcome.
        """
        a = self.alpha + self.counts
        return np.stack(stats.beta(a, a.sum() - a).interval(require_level(level)), axis=1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.alpha.tolist()}, counts={self.counts.tolist()})"
