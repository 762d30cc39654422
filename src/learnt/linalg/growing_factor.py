"""Cholesky factors G_SS = LLᵀ of a set of columns that grows and shrinks, inside kernels.

`support[:m]` are the columns, in the order they came, and factor[:m, :m] is L.
"""

from __future__ import annotations

import math

from learnt.engine.kernel import kernel

DEPENDENT = 1e-11  # the squared distance of a column from the span of others, as a share of its own, that is rounding


@kernel(allocates=False)
def append(row, support, m, factor):
    """Extend the factor by column support[m], whose row of G this is; False where it lies in the span of the others."""
    own = row[support[m]]
    left = own
    for i in range(m):
        s = row[support[i]]
        for p in range(i):
            s -= factor[m, p] * factor[i, p]
        s /= factor[i, i]
        factor[m, i] = s
        left -= s * s
    if left <= DEPENDENT * own:
        return False
    factor[m, m] = math.sqrt(left)
    return True


@kernel(allocates=False)
def remove(hit, m, factor):
    """The factor of m columns without the one at `hit`: its row is left out, and rotations bring back the triangle."""
    for i in range(hit + 1, m):
        for p in range(i + 1):
            factor[i - 1, p] = factor[i, p]
    for p in range(hit, m - 1):
        a, b = factor[p, p], factor[p, p + 1]
        size = math.hypot(a, b)
        c, s = a / size, b / size
        factor[p, p] = size
        for i in range(p + 1, m - 1):
            u, v = factor[i, p], factor[i, p + 1]
            factor[i, p] = c * u + s * v
            factor[i, p + 1] = c * v - s * u


@kernel(allocates=False)
def substitute(factor, m, x):
    """Solve G_SS x = x in place."""
    for i in range(m):
        s = x[i]
        for p in range(i):
            s -= factor[i, p] * x[p]
        x[i] = s / factor[i, i]
    for i in range(m - 1, -1, -1):
        s = x[i] / factor[i, i]
        x[i] = s
        for p in range(i):
            x[p] -= factor[i, p] * s
