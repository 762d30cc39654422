"""One pass of dual coordinate descent over rows in random order, compiled.

A row's multiplier is set to its best value given all others; the coefficients w = Aᵀβ are updated. Rows that stay at a
bound are left out of later passes (shrinking; they are checked again before the end).

Reference: Hsieh et al., A dual coordinate descent method for large-scale linear SVM, ICML 2008,
doi:10.1145/1390156.1390208.
"""

from __future__ import annotations

from learnt.engine.kernel import kernel


@kernel(reassociate=True)
def sweep(csr, bias, terms, epsilon, beyond, order, firm, beta, w, active, out):
    """Visit the rows in `order`; `out` gets the largest change of a residual and the gap seen.

    `terms` has a row's numbers side by side: target, bounds, 1/stiffness, stiffness (0 for infinite), the dual's
    curvature and its inverse. A row at a bound whose pull outwards is above `firm` becomes inactive. The gap is what
    each row had before its step, so an estimate. Indices are unsigned: a signed one would be tested every time for
    counting from the end.
    """
    data, indices, indptr = csr
    d = w.size - 1
    largest, gap = 0.0, 0.0
    intercept = w[d]
    for k in range(order.size):
        i = order[k]
        start, end = indptr[i], indptr[i + 1]
        y, lo, hi, soft, stiff = terms[i, 0], terms[i, 1], terms[i, 2], terms[i, 3], terms[i, 4]
        curve, inverse = terms[i, 5], terms[i, 6]
        old = beta[i]
        score = bias * intercept
        for e in range(start, end):
            score += data[e] * w[indices[e]]
        residual = y - score
        pull = residual - soft * old
        here = old + pull * inverse  # the best multiplier without bounds, then with ε and bounds
        edge = epsilon * inverse
        new = min(max(here - edge, 0.0), hi) + max(min(here + edge, 0.0), lo)
        further = min(max(new + beyond * (new - old), lo), hi)
        if epsilon == 0.0 or further * new > 0.0:
            new = further
        excess = max(residual - epsilon, 0.0) + min(residual + epsilon, 0.0)
        if stiff > 0.0:
            top = min(max(excess * stiff, lo), hi)
            gap += top * (excess - 0.5 * soft * top)
        else:
            gap += max(hi * excess, lo * excess)
        gap -= old * residual - epsilon * abs(old) - 0.5 * soft * old * old
        step = new - old
        if step == 0.0:
            outwards = abs(pull) - epsilon if old != 0.0 else max(abs(abs(pull) - epsilon), -pull * y)
            if outwards > firm:
                active[i] = False
        else:
            largest = max(largest, abs(step) * curve)
            beta[i] = new
            for e in range(start, end):
                w[indices[e]] += step * data[e]
            intercept += step * bias
    w[d] = intercept
    out[0], out[1] = largest, gap
