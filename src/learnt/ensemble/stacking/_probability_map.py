"""A map of probabilities: a power, a floor, offsets of the classes, a share of doubt."""

from __future__ import annotations

from typing import Any

import numpy as np


def recalibrate(
    probability: np.ndarray, exponent: float = 1.0, floor: float = 0.0, offsets: Any = None, doubt: float = 0.0
) -> np.ndarray:
    """(1 − doubt)·p′ + doubt/K  with  p′_c ∝ exp(b_c) · (p_c + floor)^exponent  for each row; K classes.

    >>> recalibrate(np.array([[0.2, 0.8]]), exponent=2.0).round(4)
    array([[0.0588, 0.9412]])
    """
    with np.errstate(divide="ignore"):
        scores = exponent * np.log(np.asarray(probability, dtype=np.float64) + floor)
    if offsets is not None:
        scores = scores + np.asarray(offsets, dtype=np.float64)
    scores -= scores.max(axis=1, keepdims=True)
    bent = np.exp(scores)
    bent /= bent.sum(axis=1, keepdims=True)
    return (1 - doubt) * bent + doubt / bent.shape[1] if doubt else bent
