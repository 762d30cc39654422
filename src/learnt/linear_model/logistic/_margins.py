"""The log loss of many margins at once, in NumPy; `linalg.log_loss` is the same for compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class MarginLosses(NamedTuple):
    """For each margin m: log(1 + e⁻ᵐ), the probability p of the other class, and p (1 − p)."""

    losses: np.ndarray
    wrong: np.ndarray
    curve: np.ndarray


def margin_losses(margins: np.ndarray) -> MarginLosses:
    """Loss, slope and curvature in arrays of their own, which the caller may change.

    >>> margin_losses(np.array([0.0, 800.0])).curve
    array([0.25, 0.  ])
    """
    small = np.exp(-np.abs(margins))
    total = small + 1.0
    curve = small / total
    wrong = np.where(margins >= 0, curve, 1.0 - curve)
    curve /= total
    losses = np.log1p(small, out=small)  # small losses with all their digits, which large weights bring out
    losses -= np.minimum(margins, 0.0)
    return MarginLosses(losses, wrong, curve)
