"""Decisions from known probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


def bayes_rule(priors: Any, likelihoods: Any) -> np.ndarray:
    """Return p(c | x) = p(x | c) p(c) / Σ p(x | c) p(c):  of one x, likelihoods (K,), or of many, (n, K).

    Where all likelihoods are 0 the posterior is the prior.

    Parameters
    ----------
    priors : array-like of shape (K,)
        The probabilities p(c) of the classes, adding up to 1.
    likelihoods : array-like of shape (K,) or (n, K)
        The likelihoods p(x | c), at least 0.

    Returns
    -------
    ndarray of the shape of `likelihoods`
        The posterior probabilities p(c | x).

    See Also
    --------
    GenerativeClassifier : Learns the likelihoods from rows.
    bayes_optimal : Weighs hypotheses by their posterior.

    Examples
    --------
    >>> bayes_rule([0.5, 0.5], [2 / 7, 5 / 7])              # a ball pen: red or blue?
    array([0.286, 0.714])
    >>> bayes_rule([0.01, 0.99], [0.9, 0.05])               # a rare illness, and a test that says yes
    array([0.154, 0.846])
    """
    priors, likelihoods = np.asarray(priors, dtype=np.float64), np.asarray(likelihoods, dtype=np.float64)
    require_probabilities(priors, "priors")
    if likelihoods.shape[-1:] != priors.shape or not (likelihoods >= 0).all():
        raise ValueError(
            f"likelihoods must be numbers of at least 0, one for each of the {len(priors)} priors; they have the shape "
            f"{likelihoods.shape}."
        )
    joint = likelihoods * priors
    total = joint.sum(axis=-1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), priors)


class BayesClassifier:
    """The best classifier there can be, where p(y | x) is known:  argmax over c of p(c | x).

    For data that you generate: it shows how far a learnt classifier is from the best.

    Parameters
    ----------
    posterior : callable
        Gives p(c | x) of each row of its argument, (n, n_classes).
    classes : array-like of shape (n_classes,), default=None
        The labels, in the order of the columns; None for 0, 1, 2 and so on.

    See Also
    --------
    bayes_rule : The posterior from priors and likelihoods.
    GenerativeClassifier : Learns the posterior from rows.

    Examples
    --------
    Two densities on [0, 1], p(x | 0) = 2 − 2x and p(x | 1) = 2x, equally probable: the error is a quarter at best.

    >>> import numpy as np
    >>> from learnt.bayes import BayesClassifier
    >>> known = BayesClassifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]))
    >>> x = (np.arange(1000) + 0.5)[:, None] / 1000
    >>> known.predict([[0.3], [0.8]])
    array([0, 1])
    >>> round(known.error(x), 6)
    0.25
    """

    def __init__(self, posterior: Callable[[Any], Any], classes: Any = None) -> None:
        if not callable(posterior):
            raise TypeError(f"posterior must be a function of rows that gives p(c | x); it is {posterior!r}.")
        self.posterior = posterior
        self.classes = classes

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return p(c | x) of each row, (n, n_classes).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities that `posterior` gives.
        """
        X = np.asarray(X)
        p = np.asarray(self.posterior(X), dtype=np.float64)
        if p.ndim != 2 or len(p) != len(X) or (self.classes is not None and p.shape[1] != len(self.classes)):
            raise ValueError(f"posterior must give a row of probabilities for each row of X; it gave {p.shape}.")
        if not (p >= 0).all() or not np.allclose(p.sum(axis=1), 1.0):
            raise ValueError("posterior must give probabilities: at least 0, and 1 in all for each row.")
        return p

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row, the first among equals.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        p = self.predict_proba(X)
        return (np.arange(p.shape[1]) if self.classes is None else np.asarray(self.classes))[p.argmax(axis=1)]

    def error(self, X: Any, sample_weight: Any = None) -> float:
        """Return the mean of 1 − max p(c | x): the Bayes error, if the rows are drawn from p(x) or weighted by it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts. None counts every row once.

        Returns
        -------
        float
            The share of errors that no classifier can avoid.
        """
        return float(np.average(1.0 - self.predict_proba(X).max(axis=1), weights=sample_weight))


class Vote(NamedTuple):
    """What `bayes_optimal` gives: the labels, their probabilities, and the probabilities of all `classes`.

    Parameters
    ----------
    label : scalar or ndarray of shape (n,)
        The most probable label, of one x or of each.
    probability : float or ndarray of shape (n,)
        Its probability.
    classes : ndarray of shape (n_classes,)
        All labels that a hypothesis says, sorted.
    probabilities : ndarray of shape (n_classes,) or (n, n_classes)
        The probability of each of them.

    See Also
    --------
    bayes_optimal : Makes it.

    Examples
    --------
    >>> from learnt.bayes import bayes_optimal
    >>> vote = bayes_optimal(["rain", "sun", "sun"], [0.4, 0.3, 0.3])
    >>> vote.classes, vote.probabilities.round(2)
    (array(['rain', 'sun'], dtype='<U4'), array([0.4, 0.6]))
    """

    label: Any
    probability: Any
    classes: np.ndarray
    probabilities: np.ndarray


def bayes_optimal(hypotheses: Sequence[Any], weights: Any, X: Any = None) -> Vote:
    """Return the most probable label by hypotheses h of probability P(h | D):  argmax_y Σ_h P(y | h) P(h | D).

    Parameters
    ----------
    hypotheses : sequence
        What each hypothesis says: a label, or an array of one label for each row. With X: functions of X that give
        labels, or fitted classifiers, whose `predict_proba` is used where they have it.
    weights : array-like of shape (n_hypotheses,)
        The probabilities P(h | D), adding up to 1.
    X : array-like, default=None
        The rows that the hypotheses are asked about.

    Returns
    -------
    Vote
        `label` and `probability` (of one x, or arrays of many), `classes`, `probabilities`.

    See Also
    --------
    learnt.ensemble.VotingClassifier : The same of classifiers that it fits.
    bayes_rule : Posteriors from likelihoods, for the weights.

    Examples
    --------
    The best hypothesis says 1 and has more weight than any other; the most probable label is −1 all the same.

    >>> vote = bayes_optimal([1, -1, -1], [0.4, 0.3, 0.3])
    >>> int(vote.label), round(float(vote.probability), 3)
    (-1, 0.6)
    """
    try:
        weights = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"weights must be probabilities that add up to 1; they are {weights!r}. The hypotheses come first."
        ) from None
    require_probabilities(weights, "weights")
    hypotheses = list(hypotheses)
    if len(hypotheses) != len(weights):
        raise ValueError(
            f"There are {len(hypotheses)} hypotheses and {len(weights)} weights; give one weight for each."
        )
    said = [_said(h, X) for h in hypotheses]
    classes = np.unique(np.concatenate([np.asarray(labels).ravel() for labels, _ in said]))
    probabilities = sum(w * _spread(labels, p, classes) for w, (labels, p) in zip(weights, said, strict=True))
    best = probabilities.argmax(axis=-1)
    return Vote(classes[best], probabilities.max(axis=-1), classes, probabilities)


def _said(hypothesis: Any, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """The labels that a hypothesis gives, or its classes and their probabilities."""
    if X is None:
        return np.asarray(hypothesis), None
    if hasattr(hypothesis, "predict_proba"):
        return np.asarray(hypothesis.classes_), np.asarray(hypothesis.predict_proba(X), dtype=np.float64)
    if hasattr(hypothesis, "predict"):
        return np.asarray(hypothesis.predict(X)), None
    if not callable(hypothesis):
        raise TypeError(f"With X a hypothesis is a function or a fitted classifier; one is {hypothesis!r}.")
    return np.asarray(hypothesis(X)), None


def _spread(labels: np.ndarray, p: np.ndarray | None, classes: np.ndarray) -> np.ndarray:
    """P(y | h) of all classes, one hypothesis a column."""
    if p is None:
        return (labels[..., None] == classes).astype(np.float64)
    out = np.zeros((len(p), len(classes)))
    out[:, np.searchsorted(classes, labels)] = p
    return out


def require_probabilities(values: np.ndarray, name: str) -> None:
    """Refuse arrays that are not probability distributions."""
    if values.ndim != 1 or not len(values) or not (values >= 0).all() or not np.isclose(values.sum(), 1.0):
        raise ValueError(f"{name} must be probabilities that add up to 1; they are {values.tolist()}.")
