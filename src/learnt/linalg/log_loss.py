"""The log loss of a margin m, log(1 + exp(−m)), for compiled loops over rows, which are inlined into them.

All three are made of e = exp(−|m|), which a loop takes once, by the C library (`math.exp`) or in vector instructions
(`exponential.exp_nonpositive`). Nothing is taken from 1 and nothing overflows: all digits of small losses stay.
Two loops write it out: that of `linear_model/logistic/_kernels`, which has a polynomial in place of log1p and one
division for loss and slope, and that of `forestry/boosting/_rows`, whose gradient and hessian are products of p and
1 − p.
"""

from __future__ import annotations

import math

from learnt.engine.kernel import kernel


@kernel(allocates=False)
def log_value(m, e):
    """The loss."""
    return math.log1p(e) + max(-m, 0.0)


@kernel(allocates=False)
def log_slope(m, e):
    """Its derivative in m, which is p − 1 for the class itself."""
    return -(e if m > 0.0 else 1.0) / (1.0 + e)


@kernel(allocates=False)
def log_curvature(e):
    """Its second derivative, p (1 − p)."""
    return e / ((1.0 + e) * (1.0 + e))
