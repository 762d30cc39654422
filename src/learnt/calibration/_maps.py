"""Maps from scores to probabilities, fitted to scores of rows that a classifier has not seen.

A map is an array of two rows. Of a sigmoid 1/(1 + exp(A f + B)): A, then B. Of an isotonic map: scores in increasing
order, then the probability at each of them. Of a temperature: the factor of the scores, then 0.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from learnt.statistics import fit_sigmoid, logistic, monotonic_corners

METHODS = ("sigmoid", "isotonic", "temperature")
_SMALLEST = np.finfo(np.float64).tiny


# --- one class against the others


def fit_one(method: str, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sigmoid or isotonic map of the scores (n,) of one class."""
    if method == "sigmoid":
        return np.array(fit_sigmoid(scores, positive, weights))[:, None]
    return fit_isotonic(scores, positive.astype(np.float64), weights)


def apply_one(method: str, fitted: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The probability of the class at each score."""
    if method == "sigmoid":
        return logistic(-(fitted[0, 0] * scores + fitted[1, 0]))
    return np.interp(scores, fitted[0], fitted[1])


def fit_isotonic(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The increasing function nearest to y in weighted squares, as the corners between which it is linear.

    Equal x share the mean of their y. Inside a constant stretch only its two ends are kept.

    >>> fit_isotonic(np.array([1.0, 2, 3, 4]), np.array([0.0, 1, 0, 1]), np.ones(4))
    array([[1. , 2. , 3. , 4. ],
           [0. , 0.5, 0.5, 1. ]])
    """
    return np.stack(monotonic_corners(x, y, weights, low=0.0, high=1.0))


# --- all classes at once


def fit_temperature(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The factor β > 0 with the lowest log loss of softmax(β·scores), −∞ being the score of a class never seen."""
    own = scores[np.arange(len(codes)), codes]
    known = np.isfinite(own) & (weights > 0)
    gaps = scores[known] - own[known][:, None]  # log loss: log Σ exp(β·gap)
    w = weights[known] / weights[known].sum() if known.any() else weights[known]

    def loss(log_factor: float) -> float:
        z = np.exp(log_factor) * gaps
        top = z.max(axis=1)
        return float(w @ (top + np.log(np.exp(z - top[:, None]).sum(axis=1))))

    best = minimize_scalar(loss, bounds=(-10.0, 10.0), method="bounded", options={"xatol": 1e-12}) if len(w) else None
    return np.array([[1.0 if best is None else float(np.exp(best.x))], [0.0]])


def apply_temperature(fitted: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """softmax(β·scores), (n, K)."""
    z = fitted[0, 0] * scores
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)


# --- the scores of a classifier


def as_logits(scores: np.ndarray, are_probabilities: bool, places: np.ndarray, n_classes: int) -> np.ndarray:
    """Scores of the classes at `places` as logits of all classes (n, K); −∞ for the others."""
    if are_probabilities:
        scores = np.log(np.maximum(scores, _SMALLEST))
    logits = np.full((len(scores), n_classes), -np.inf)
    logits[:, places] = scores
    return logits


def normalised(probability: np.ndarray) -> np.ndarray:
    """Rows that sum to 1; a row of zeros becomes equal shares."""
    total = probability.sum(axis=1, keepdims=True)
    equal = np.full_like(probability, 1.0 / probability.shape[1])
    return np.divide(probability, total, out=equal, where=total > 0)
