"""The exponential function for loops over rows: plain arithmetic, so that the compiler vectorises it.

A call of the C library's `exp` keeps a loop scalar; this one becomes vector instructions.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import at_least

_LOG2_E = 1.4426950408889634
_LN2 = 0.6931471805599453
_SHIFT = 6755399441055744.0  # 1.5·2⁵²: adding it leaves the nearest integer in the last bits


@kernel
def exp_nonpositive(x):
    """exp(x) for x ≤ 0, as exact as x itself is; plain arithmetic, which the compiler vectorises.

    exp(x) = 2ᵏ exp(r) with |r| ≤ ln(2)/2, and exp(r) = 1 + r + r² q(r) with q of degree 9 fitted at Chebyshev's points.
    The last bits of `shifted` are k, which is added to the exponent of exp(r). From −708 on, all is exp(−708).
    """
    x = at_least(x, -708.0)
    shifted = x * _LOG2_E + _SHIFT
    r = x - (shifted - _SHIFT) * _LN2
    r2 = r * r
    r4 = r2 * r2
    low = (0.5000000000000001 + 0.16666666666666669 * r) + r2 * (0.04166666666662416 + 0.008333333333330063 * r)
    middle = (0.0013888888917199863 + 0.00019841269863042963 * r) + r2 * (
        2.4801521317484083e-05 + 2.7557268476553695e-06 * r
    )
    high = 2.7620078203806394e-07 + 2.5100377619606372e-08 * r
    value = (1.0 + r) + r2 * (low + r4 * (middle + r4 * high))
    power = np.float64(shifted).view(np.int64) << 52
    return np.int64(np.float64(value).view(np.int64) + power).view(np.float64)


@kernel(reassociate=True)
def exp_nonpositive_single(x):
    """exp(x) for a float32 x ≤ 0, to single precision: Taylor's polynomial of degree 7 on |r| ≤ ln(2)/2."""
    x = max(x, np.float32(-87.0))
    k = np.rint(x * np.float32(_LOG2_E))
    r = (x - k * np.float32(0.693359375)) + k * np.float32(2.12194440e-4)  # ln 2 in two parts, the first exact
    r2 = r * r
    low = np.float32(1.0) + r + r2 * (np.float32(1 / 2) + np.float32(1 / 6) * r)
    high = np.float32(1 / 24) + np.float32(1 / 120) * r + r2 * (np.float32(1 / 720) + np.float32(1 / 5040) * r)
    return (low + r2 * r2 * high) * np.int32((np.int32(k) + 127) << 23).view(np.float32)
