"""The losses of classical gradient boosting, where a tree is fitted to the gradient by least squares and its leaves are
set afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.ensemble.hist_boosting._losses import (
    BinaryLog,
    BoostingLoss,
    ManyLog,
    QuantileLoss,
    SquaredError,
)


def lower_quantile(values: np.ndarray, q: float, w: np.ndarray | None) -> float:
    """The lowest value below or at which a share q of the weight lies: one of the values, as scikit-learn's here."""
    if w is None:
        place = min(max(int(np.ceil(q * len(values) * (1 - 1e-15))) - 1, 0), len(values) - 1)
        return float(np.partition(values, place)[place])
    order = np.argsort(values, kind="stable")
    total = np.cumsum(w[order])
    return float(values[order[min(np.searchsorted(total, q * total[-1] * (1 - 1e-15)), len(w) - 1)]])


class QuantileError(QuantileLoss):
    """The pinball loss, whose best constant is one of the values."""

    def start(self, y, w):
        return np.array([lower_quantile(y, self.leaf_quantile or 0.0, w)])


class HuberError(BoostingLoss):
    """r²/2 for residuals |r| ≤ δ, δ(|r| − δ/2) beyond; δ is a quantile of |r|, taken anew in every iteration."""

    def __init__(self, quantile: float) -> None:
        self.quantile, self.delta = quantile, 1.0

    def start(self, y, w):
        return np.array([lower_quantile(y, 0.5, w)])

    def look(self, y: np.ndarray, scores: np.ndarray, w: np.ndarray | None) -> None:
        """Take δ from the residuals."""
        self.delta = lower_quantile(np.abs(y - scores[0]), self.quantile, w)

    def values(self, y, scores):
        r = np.abs(y - scores[0])
        return np.where(r <= self.delta, 0.5 * r * r, self.delta * (r - 0.5 * self.delta))

    def derivatives(self, y, score):
        return np.clip(score - y, -self.delta, self.delta), np.ones_like(y)


class ExponentialError(BoostingLoss):
    """e^−s for y = 1, e^s for y = 0: AdaBoost's loss; s is half the log-odds."""

    def start(self, y, w):
        p = np.clip(np.average(y, weights=w), 1e-15, 1 - 1e-15)
        return np.array([0.5 * np.log(p / (1 - p))])

    def values(self, y, scores):
        return np.exp(np.where(y > 0.5, -scores[0], scores[0]))

    def derivatives(self, y, score):
        e = np.exp(np.where(y > 0.5, -score, score))
        return np.where(y > 0.5, -e, e), e

    def mean(self, scores):
        p = 1.0 / (1.0 + np.exp(-2.0 * np.clip(scores[:, 0], -300, 300)))
        return np.column_stack([1.0 - p, p])


def leaf_updates(
    loss: BoostingLoss,
    leaves: np.ndarray,
    n_nodes: int,
    y: np.ndarray,
    score: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    w: Any,
) -> np.ndarray:
    """What every leaf adds to the scores of its rows: the constant of least loss, or a Newton step towards it."""
    if isinstance(loss, QuantileError | HuberError):
        out = np.zeros(n_nodes)
        residual = y - score
        order = np.argsort(leaves, kind="stable")
        ends = np.flatnonzero(np.diff(leaves[order])) + 1
        for rows in np.split(order, ends):
            r, weight = residual[rows], None if w is None else w[rows]
            if isinstance(loss, QuantileError):
                out[leaves[rows[0]]] = lower_quantile(r, loss.leaf_quantile or 0.0, weight)
            else:
                middle = lower_quantile(r, 0.5, weight)
                beyond = np.clip(r - middle, -loss.delta, loss.delta)
                out[leaves[rows[0]]] = middle + np.average(beyond, weights=weight)
        return out
    top = 0.0 - np.bincount(leaves, g if w is None else g * w, minlength=n_nodes)
    if isinstance(loss, ManyLog):  # Friedman's factor, which multiplies the learning rate
        top = top * ((loss.n_outputs - 1) / loss.n_outputs)
    bottom = np.bincount(leaves, h if w is None else h * w, minlength=n_nodes)
    safe = np.abs(bottom) > 1e-150
    return np.where(safe, top / np.where(safe, bottom, 1.0), 0.0)


def loss_of(name: str, alpha: float, n_classes: int) -> BoostingLoss:
    """The loss by scikit-learn's name; `n_classes` is 0 for numbers."""
    if n_classes:
        if name == "exponential":
            return ExponentialError()
        return BinaryLog() if n_classes <= 2 else ManyLog(n_classes)
    if name == "absolute_error":
        return QuantileError(0.5, 2.0)
    if name == "quantile":
        return QuantileError(alpha)
    return HuberError(alpha) if name == "huber" else SquaredError()
