"""The cosine for loops over rows: plain arithmetic, so that the compiler vectorises it."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

_PI = 3.141592653589793
_SHIFT = 6755399441055744.0  # 1.5·2⁵²: adding it leaves the nearest integer in the last bits


@kernel
def cosines_in_place(P, offset, scale):
    """scale·cos(x + offset) in the place of x, one offset a column, as exact as x + offset is.

    cos(x) = (−1)ᵏ cos(r) with x = kπ + r; cos(r) = 1 − q/2 + q² h(q) with q = r² and h of degree 6, fitted at
    Chebyshev's points of |r| ≤ π/2 (off by less than 1e-17). One constant π is enough: its error is that of x in its
    last place. Beyond |x| = 2⁵¹, where x has no digits after the point, the result is 1.
    """
    for i in range(len(P)):
        row = P[i]
        for t in range(len(row)):
            x = row[t] + offset[t]
            shifted = x * (1.0 / _PI) + _SHIFT
            r = x - (shifted - _SHIFT) * _PI
            q = r * r if abs(r) < 2.0 else 0.0
            q2 = q * q
            low = (0.04166666666666666 - 0.0013888888888884767 * q) + q2 * (
                2.4801587298913547e-05 - 2.7557318573365657e-07 * q
            )
            high = (2.0876681558822446e-09 - 1.1466252257937559e-11 * q) + q2 * 4.646435932869834e-14
            value = scale * (1.0 - (0.5 * q - q2 * (low + q2 * q2 * high)))
            odd = np.int64(np.float64(shifted).view(np.int64) << 63)  # k's last bit becomes the sign
            row[t] = np.int64(np.float64(value).view(np.int64) ^ odd).view(np.float64)
