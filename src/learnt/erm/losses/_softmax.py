"""The loss of one class among many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learnt.engine.arrays import device_of, is_numpy, namespace
from learnt.erm.losses._base import Loss


@dataclass(frozen=True)
class Softmax(Loss):
    """log Σₖ e^sₖ − s_y: y is 0…K−1, a row of scores has K entries.

    `value` has one entry a row, `gradient` K, and `curvature` is a K × K block: diag(p) − ppᵀ.

    >>> Softmax().gradient(np.array([1]), np.zeros((1, 2)))
    array([[ 0.5, -0.5]])
    """

    target = "class"
    steepest = 0.5  # the largest eigenvalue of diag(p) − ppᵀ

    def value(self, y: Any, score: Any) -> Any:
        xp = namespace(score)
        shifted = score - xp.max(score, axis=1, keepdims=True)
        return xp.log(xp.sum(xp.exp(shifted), axis=1)) - xp.sum(shifted * _indicator(y, score), axis=1)

    def gradient(self, y: Any, score: Any) -> Any:
        return self.mean(score) - _indicator(y, score)

    def curvature(self, y: Any, score: Any) -> Any:
        xp = namespace(score)
        p = self.mean(score)
        eye = xp.eye(p.shape[1], dtype=p.dtype, device=device_of(p)) if not is_numpy(p) else np.eye(p.shape[1])
        return p[:, :, None] * eye[None, :, :] - p[:, :, None] * p[:, None, :]

    def mean(self, score: Any) -> Any:
        """The probabilities of the classes."""
        xp = namespace(score)
        e = xp.exp(score - xp.max(score, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)


def _indicator(y: Any, score: Any) -> Any:
    """1 in the column of the class that was seen."""
    xp = namespace(score)
    columns = xp.arange(score.shape[1], device=device_of(score)) if not is_numpy(score) else np.arange(score.shape[1])
    return xp.astype(y[:, None] == columns[None, :], score.dtype) if xp is not np else (y[:, None] == columns) * 1.0
