"""The loss of one class among many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learnt.engine.arrays import like, namespace
from learnt.engine.matrices import cast, identity
from learnt.erm.losses._base import Loss


@dataclass(frozen=True)
class Softmax(Loss):
    """log Σₖ e^sₖ − s_y: y is 0…K−1, a row of scores has K entries.

    The log loss of many classes: −log of the probability of the class that was seen. `value` has one entry a row,
    `gradient` K, and `curvature` is a K × K block: diag(p) − ppᵀ.

    See Also
    --------
    Log : The same for two classes, with one score a row.

    Examples
    --------
    >>> Softmax().gradient(np.array([1]), np.zeros((1, 2)))
    array([[ 0.5, -0.5]])
    >>> Softmax().mean(np.zeros((1, 2)))
    array([[0.5, 0.5]])
    """

    target = "class"
    steepest = 0.5  # the largest eigenvalue of diag(p) − ppᵀ

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        xp = namespace(score)
        own = _indicator(y, score)
        _, others, total, below = _odds(score, own)
        return xp.where(below == 0, xp.log1p(others), xp.log(total) - below)

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        own = _indicator(y, score)
        e, others, total, _ = _odds(score, own)
        return ((1 - own) * e - own * others[:, None]) / total[:, None]

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        p = self.mean(score)
        eye = identity(p, p.shape[1])
        return p[:, :, None] * eye[None, :, :] - p[:, :, None] * p[:, None, :]

    def mean(self, score: Any) -> Any:
        """The probabilities of the classes."""
        xp = namespace(score)
        e = xp.exp(score - xp.max(score, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)


def _odds(score: Any, own: Any) -> tuple[Any, Any, Any, Any]:
    """exp(s − max s), its sum over the other classes and over all, and how far the own score is below the largest.

    Where a row's class is the likeliest, 1 − p and −log p come from the others alone, with all their digits.
    """
    xp = namespace(score)
    shifted = score - xp.max(score, axis=1, keepdims=True)
    e = xp.exp(shifted)
    others = xp.sum((1 - own) * e, axis=1)
    return e, others, others + xp.sum(own * e, axis=1), xp.sum(own * shifted, axis=1)


def _indicator(y: Any, score: Any) -> Any:
    """1 in the column of the class that was seen."""
    columns = like(np.arange(score.shape[1]), score, namespace(score).int64)
    return cast(y[:, None] == columns[None, :], score.dtype)
