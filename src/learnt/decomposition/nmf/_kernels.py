"""The compiled inner loop of coordinate descent."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

LANES = 8  # rows that are updated together: as many independent sums


@kernel
def descend(W, gram, cross, order, sweeps):
    """Sweep over the coordinates of each row of W towards the least of ½ w G wᵀ − w·c, w ≥ 0; in place.

    `gram` is G (k × k), `cross` has a row c for each row of W. Gives Σ |projected gradient| of the first
    sweep, which is 0 at the optimum, and by how much all sweeps lowered the sum.
    """
    n, k = W.shape
    w, c = np.zeros((k, LANES), W.dtype), np.zeros((k, LANES), W.dtype)
    slope, violation, gain = np.zeros(LANES, W.dtype), np.zeros(LANES, W.dtype), np.zeros(LANES)
    found, gained = 0.0, 0.0
    for start in range(0, n, LANES):
        m = min(LANES, n - start)
        if m < LANES:
            w[:], c[:] = 0.0, 0.0  # as good as solved
        for i in range(m):
            for r in range(k):
                w[r, i], c[r, i] = W[start + i, r], cross[start + i, r]
        gain[:] = 0.0
        for sweep in range(sweeps):
            violation[:] = 0.0
            for o in range(k):
                sweep_lanes(w, c, gram, order[o], slope, violation, gain)
            for i in range(LANES):
                found += violation[i] if sweep == 0 else 0.0
        for i in range(m):
            gained += gain[i]
            for r in range(k):
                W[start + i, r] = w[r, i]
    return found, gained


@kernel
def sweep_lanes(w, c, gram, t, slope, violation, gain):
    """One coordinate of all lanes."""
    a0, a1, a2, a3, a4, a5, a6, a7 = -c[t, 0], -c[t, 1], -c[t, 2], -c[t, 3], -c[t, 4], -c[t, 5], -c[t, 6], -c[t, 7]
    for r in range(w.shape[0]):
        g = gram[t, r]
        a0 += g * w[r, 0]
        a1 += g * w[r, 1]
        a2 += g * w[r, 2]
        a3 += g * w[r, 3]
        a4 += g * w[r, 4]
        a5 += g * w[r, 5]
        a6 += g * w[r, 6]
        a7 += g * w[r, 7]
    slope[0], slope[1], slope[2], slope[3], slope[4], slope[5], slope[6], slope[7] = a0, a1, a2, a3, a4, a5, a6, a7
    curvature, zero = gram[t, t], w.dtype.type(0)
    inverse = w.dtype.type(1) / curvature
    for i in range(LANES):
        old, down = w[t, i], slope[i]
        projected = old if old == 0 and down > 0 else down
        violation[i] += abs(projected)
        new = old - down * inverse
        new = new if new > 0 else zero
        new = old if projected == 0 or curvature == 0 else new
        moved = new - old
        gain[i] -= moved * (down + moved * curvature / 2)
        w[t, i] = new
