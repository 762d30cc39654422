"""Whether a split could be chance: the χ² test of branch against class, the F test of equal means of the branches.

The tail of χ² is an incomplete gamma function, that of F an incomplete beta function; both by series or continued
fraction, whichever converges, callable from compiled growth.
"""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel

_TINY = 1e-300
_STEPS = 10_000
_CLOSE = 1e-15


@kernel
def chi2_tail(x, df):
    """P(χ² with df degrees of freedom > x)."""
    a, z = df / 2.0, x / 2.0
    if z <= 0.0 or a <= 0.0:
        return 1.0
    front = math.exp(a * math.log(z) - z - math.lgamma(a))
    if z < a + 1.0:  # 1 − P by its series
        term = 1.0 / a
        total = term
        for k in range(1, _STEPS):
            term *= z / (a + k)
            total += term
            if term < total * _CLOSE:
                break
        return max(0.0, 1.0 - front * total)
    b = z + 1.0 - a  # Q by its continued fraction
    c, d = 1.0 / _TINY, 1.0 / b
    h = d
    for k in range(1, _STEPS):
        step = -k * (k - a)
        b += 2.0
        d = step * d + b
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = b + step / c
        c = c if abs(c) > _TINY else _TINY
        h *= d * c
        if abs(d * c - 1.0) < _CLOSE:
            break
    return front * h


@kernel
def beta_fraction(a, b, x):
    """The continued fraction of the incomplete beta function."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    h = d
    for k in range(1, _STEPS):
        for part in range(2):
            step = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
            if part == 1:
                step = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
            d = 1.0 + step * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + step / c
            c = c if abs(c) > _TINY else _TINY
            h *= d * c
        if abs(d * c - 1.0) < _CLOSE:
            break
    return h


@kernel
def f_tail(f, df_above, df_below):
    """P(F with df_above and df_below degrees of freedom > f)."""
    if f <= 0.0:
        return 1.0
    a, b = df_below / 2.0, df_above / 2.0
    x = df_below / (df_below + df_above * f)
    if x <= 0.0:
        return 0.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * beta_fraction(a, b, x) / a
    return max(0.0, 1.0 - front * beta_fraction(b, a, 1.0 - x) / b)


@kernel
def split_p_value(begins, n_branches, n_classes, y, weights, orders):
    """The p-value of a split into the rows begins[b]…begins[b + 1]; several outputs are tested together."""
    width = max(1, n_classes)
    sums, mass = np.zeros((n_branches + 1, width)), np.zeros(n_branches + 1)
    statistic, freedom, between, within = 0.0, 0.0, 0.0, 0.0
    w = 1.0
    for o in range(y.shape[1]):
        for b in range(n_branches + 1):
            mass[b] = 0.0
            for c in range(width):
                sums[b, c] = 0.0
        for b in range(n_branches):
            for p in range(begins[b], begins[b + 1]):
                row = orders[0, p]
                if weights.size:
                    w = weights[row]
                mass[b] += w
                mass[n_branches] += w
                c = np.int64(y[row, o]) if n_classes > 0 else 0
                value = w if n_classes > 0 else w * y[row, o]
                sums[b, c] += value
                sums[n_branches, c] += value
        if n_classes > 0:
            present = 0
            for c in range(width):
                present += 1 if sums[n_branches, c] > 0.0 else 0
                for b in range(n_branches):
                    expected = sums[n_branches, c] * mass[b] / mass[n_branches]
                    if expected > 0.0:
                        statistic += (sums[b, c] - expected) * (sums[b, c] - expected) / expected
            freedom += (n_branches - 1.0) * (present - 1.0)
            continue
        for b in range(n_branches):
            mean = sums[b, 0] / mass[b]
            distance = mean - sums[n_branches, 0] / mass[n_branches]
            between += mass[b] * distance * distance
            for p in range(begins[b], begins[b + 1]):
                row = orders[0, p]
                if weights.size:
                    w = weights[row]
                within += w * (y[row, o] - mean) * (y[row, o] - mean)
    if n_classes > 0:
        return chi2_tail(statistic, freedom)
    above = y.shape[1] * (n_branches - 1.0)
    below = y.shape[1] * (mass[n_branches] - n_branches)
    if below <= 0.0:
        return 1.0  # one row a branch: no degrees of freedom left
    return f_tail(between / above / (within / below), above, below) if within > 0.0 else 0.0
