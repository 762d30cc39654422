"""Rows about an origin, in a unit of their size and another precision: what fast distances are computed from."""

from __future__ import annotations

from learnt.engine.kernel import kernel


@kernel(reassociate=True)
def round_rows(X, origin, scale, out, norms):
    """out = (X − origin) · scale, rounded, and the squared norms of its rows before rounding, in one pass."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            v = (X[i, j] - origin[j]) * scale
            out[i, j] = v
            total += v * v
        norms[i] = total
