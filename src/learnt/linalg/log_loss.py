"""The log loss for compiled loops over rows, which inline these functions.

The loss of a margin m is log(1 + exp(−m)). All functions take e = exp(−|m|), which a loop computes once, by the C
library (`math.exp`) or in vector instructions (`exponential.exp_nonpositive`). `log_value` and `log_slope` are for
single margins, `log_both` for vectorised loops, `log_chances` where the gradient and the hessian are products of the
two probabilities; `class_loss` is the loss of several classes. There is no 1 − p and no overflow: small losses keep all
their digits, which matter where weights are large.
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


@kernel(reassociate=True, allocates=False)
def log_chances(e):
    """The probabilities of the likelier class and of the other: 1 / (1 + e) and e / (1 + e)."""
    large = 1.0 / (1.0 + e)
    return large, e * large


@kernel(reassociate=True, allocates=False)
def log_both(m, e):
    """The loss and its derivative in m, in plain arithmetic: a call of the C library would prevent vectorisation.

    log(1 + e) = 2 artanh(u), u = e/(2 + e) ≤ 1/3, by a polynomial in u². Both quotients come from one division.
    """
    q = 1.0 / ((1.0 + e) * (2.0 + e))
    u = e * q * (1.0 + e)
    v = u * u
    v2 = v * v
    v4 = v2 * v2
    low = (1.0 + 0.33333333333341286 * v) + v2 * (0.199999999976438 + 0.1428571455582858 * v)
    high = (0.11111095430673142 + 0.09091429900236955 * v) + v2 * (0.07681838124445817 + 0.06795652742789947 * v)
    tail = 0.04940394524382393 + 0.08890381913056651 * v
    log1p = 2.0 * u * (low + v4 * high + (v4 * v4) * tail)
    p = q * (2.0 + e)
    return log1p + max(-m, 0.0), -(e * p if m > 0.0 else p)


@kernel(allocates=False)
def class_loss(below, others, total):
    """−log p of the own class, among several.

    `below` is its score less the largest, `total` the sum of the exponentials of all such differences and `others`
    that of the other classes alone, which has all digits where the class is nearly certain.
    """
    return math.log1p(others) if below == 0.0 else math.log(total) - below
