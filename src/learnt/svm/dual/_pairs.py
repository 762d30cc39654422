"""Many classes as pairs of two: votes, decision values, and probabilities that agree with those of all pairs."""

from __future__ import annotations

import numpy as np


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """(0, 1), (0, 2), …, (1, 2), …"""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def votes_of(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """How many pairs each class wins; a decision above 0 is for the first of its pair."""
    votes = np.zeros((len(decisions), n_classes))
    for column, (i, j) in enumerate(pairs_of(n_classes)):
        first = decisions[:, column] > 0
        votes[:, i] += first
        votes[:, j] += ~first
    return votes


def one_vs_rest(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """Votes, and within equal votes the sum of decision values, squeezed so that it never outweighs a vote."""
    votes, confidence = votes_of(decisions, n_classes), np.zeros((len(decisions), n_classes))
    for column, (i, j) in enumerate(pairs_of(n_classes)):
        confidence[:, i] += decisions[:, column]
        confidence[:, j] -= decisions[:, column]
    return votes + confidence / (3 * (np.abs(confidence) + 1))


def sigmoid_of(decisions: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """A and B such that 1 / (1 + exp(A f + B)) is the probability of the positive class: Platt's fit, by Newton steps.

    Targets are a little inside 0 and 1, as if one more row of each class had been seen.
    """
    ones, zeros = weights[positive].sum(), weights[~positive].sum()
    target = np.where(positive, (ones + 1) / (ones + 2), 1 / (zeros + 2))
    A, B = 0.0, float(np.log((zeros + 1) / (ones + 1)))
    value = _log_loss(decisions, target, weights, A, B)
    for _ in range(100):
        p = _logistic(A * decisions + B)  # of the negative class
        d1 = weights * (target - (1 - p))
        d2 = weights * p * (1 - p)
        gradient = np.array([d1 @ decisions, d1.sum()])
        if np.abs(gradient).max() < 1e-10 * max(weights.sum(), 1.0):
            break
        H = np.array([[d2 @ decisions**2 + 1e-12, d2 @ decisions], [d2 @ decisions, d2.sum() + 1e-12]])
        step = -np.linalg.solve(H, gradient)
        size = 1.0
        while size > 1e-10:
            tried = _log_loss(decisions, target, weights, A + size * step[0], B + size * step[1])
            if tried < value + 1e-4 * size * (gradient @ step):
                A, B, value = A + size * step[0], B + size * step[1], tried
                break
            size /= 2
        else:
            break
    return A, B


def _logistic(z: np.ndarray) -> np.ndarray:
    e = np.exp(-np.abs(z))
    return np.where(z > 0, 1 / (1 + e), e / (1 + e))


def _log_loss(f: np.ndarray, target: np.ndarray, weights: np.ndarray, A: float, B: float) -> float:
    z = A * f + B
    return float(weights @ (np.maximum(z, 0) - (1 - target) * z + np.log1p(np.exp(-np.abs(z)))))


def pair_probabilities(decisions: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The probability of the first class of every pair, kept off 0 and 1."""
    return np.clip(1 - _logistic(A * decisions + B), 1e-7, 1 - 1e-7)


def couple(pair: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities p of all classes whose pairs are nearest to the given ones:

    min Σ over pairs of (r_ji p_i − r_ij p_j)².

    The minimum with Σp = 1 solves one small linear system for each row.
    """
    n = len(pair)
    if n_classes == 2:
        return np.column_stack([pair[:, 0], 1 - pair[:, 0]])
    r = np.zeros((n, n_classes, n_classes))
    for column, (i, j) in enumerate(pairs_of(n_classes)):
        r[:, i, j], r[:, j, i] = pair[:, column], 1 - pair[:, column]
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    Q = -r * r.transpose(0, 2, 1)
    diagonal = (r**2).sum(axis=1)  # Σ over s of r_st², for each t
    Q[:, np.arange(n_classes), np.arange(n_classes)] = diagonal
    system[:, :n_classes, :n_classes] = Q
    system[:, :n_classes, n_classes] = system[:, n_classes, :n_classes] = 1.0
    right = np.zeros((n, n_classes + 1, 1))
    right[:, n_classes] = 1.0
    p = np.linalg.solve(system, right)[:, :n_classes, 0]
    p = np.maximum(p, 0.0)
    return p / p.sum(axis=1, keepdims=True)
