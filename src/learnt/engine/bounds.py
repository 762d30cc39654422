"""Whether integers that come from outside may be used as indices, counts and offsets.

Every value is compared with its bounds before anything is computed from it: 2⁶³ − 1 plus 1 is negative, and the
difference of two offsets may have the wrong sign.
"""

from __future__ import annotations

import numpy as np


def within(values: np.ndarray, low: int, high: int) -> bool:
    """Whether all values lie in [low, high]; NaN does not.

    >>> within(np.array([0, 5]), 0, 5), within(np.array([2**63 - 1]), 0, 5), within(np.array([]), 0, 5)
    (True, False, True)
    """
    return not values.size or bool(values.min() >= low and values.max() <= high)


def rising(values: np.ndarray) -> bool:
    """Whether every value is larger than the one before."""
    return bool((values[1:] > values[:-1]).all())


def offsets(values: np.ndarray, end: int) -> bool:
    """Whether the values cut [0, end) into pieces: they start at 0, never fall, and end at `end`.

    >>> offsets(np.array([0, 2, 2, 3]), 3), offsets(np.array([0, 2**62, -(2**63) + 2**61, 3]), 3)
    (True, False)
    """
    fits = values.ndim == 1 and values.size > 0 and within(values, 0, end)
    return fits and values[0] == 0 and values[-1] == end and bool((values[1:] >= values[:-1]).all())


def pieces(start: np.ndarray, size: np.ndarray, end: int) -> bool:
    """Whether each piece, from `start` and `size` long, lies in [0, end).

    >>> pieces(np.array([0, 2]), np.array([2, 1]), 3), pieces(np.array([2**63 - 1]), np.array([1]), 3)
    (True, False)
    """
    return within(start, 0, end) and within(size, 0, end) and bool((start <= end - size).all())
