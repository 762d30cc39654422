"""Platt's scaling: the sigmoid of a score that predicts which rows are positive."""

from __future__ import annotations

import numpy as np


def fit_sigmoid(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """A and B such that 1 / (1 + exp(A f + B)) is the probability of the positive class: Platt's fit, by Newton steps.

    Targets are a little inside 0 and 1, as if one more row of each class had been seen.
    """
    ones, zeros = weights[positive].sum(), weights[~positive].sum()
    target = np.where(positive, (ones + 1) / (ones + 2), 1 / (zeros + 2))
    A, B = 0.0, float(np.log((zeros + 1) / (ones + 1)))
    value = _log_loss(scores, target, weights, A, B)
    for _ in range(100):
        p = logistic(A * scores + B)  # of the negative class
        d1 = weights * (target - (1 - p))
        d2 = weights * p * (1 - p)
        gradient = np.array([d1 @ scores, d1.sum()])
        if np.abs(gradient).max() < 1e-10 * max(weights.sum(), 1.0):
            break
        H = np.array([[d2 @ scores**2 + 1e-12, d2 @ scores], [d2 @ scores, d2.sum() + 1e-12]])
        step = -np.linalg.solve(H, gradient)
        size = 1.0
        while size > 1e-10:
            tried = _log_loss(scores, target, weights, A + size * step[0], B + size * step[1])
            if tried < value + 1e-4 * size * (gradient @ step):
                A, B, value = A + size * step[0], B + size * step[1], tried
                break
            size /= 2
        else:
            break
    return A, B


def logistic(z: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(−z)), without an overflow."""
    e = np.exp(-np.abs(z))
    return np.where(z > 0, 1 / (1 + e), e / (1 + e))


def _log_loss(f: np.ndarray, target: np.ndarray, weights: np.ndarray, A: float, B: float) -> float:
    z = A * f + B
    return float(weights @ (np.maximum(z, 0) - (1 - target) * z + np.log1p(np.exp(-np.abs(z)))))
