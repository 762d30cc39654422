"""The compiled inner loop of coordinate descent."""

from __future__ import annotations

from learnt.engine.kernel import kernel


@kernel
def descend(W, gram, cross, order):
    """One sweep over the coordinates of each row of W towards the least of ½ w G wᵀ − w·c, w ≥ 0; in place.

    `gram` is G (k × k), `cross` has a row c for each row of W. Gives Σ |projected gradient|, which is 0 at the optimum.
    """
    k = W.shape[1]
    violation = 0.0
    for i in range(W.shape[0]):
        for o in range(k):
            t = order[o]
            slope = -cross[i, t]
            for r in range(k):
                slope += gram[t, r] * W[i, r]
            w = W[i, t]
            projected = min(0.0, slope) if w == 0 else slope
            violation += abs(projected)
            curvature = gram[t, t]
            if projected != 0 and curvature != 0:
                W[i, t] = max(w - slope / curvature, 0.0)
    return violation
