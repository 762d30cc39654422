"""One pass of dual coordinate descent over rows in random order, compiled.

A row's multiplier is set to its best value given all others; the coefficients w = Aᵀβ are kept up to date. Rows that
sit firmly at a bound are left out of later passes (they are looked at again before the end).

Reference: Hsieh et al., A dual coordinate descent method for large-scale linear SVM, ICML 2008,
doi:10.1145/1390156.1390208.
"""

from __future__ import annotations

from learnt.engine.kernel import kernel


@kernel(reassociate=True)
def sweep(data, indices, indptr, bias, y, lo, hi, soft, epsilon, square, order, firm, beta, w, active, out):
    """Visit the rows in `order`; `out` gets the largest change of a residual and the gap seen.

    A row at a bound whose pull outwards is above `firm` becomes inactive. The gap is what each row had before its
    step, so an estimate. Indices are unsigned: a signed one would be tested every time for counting from the end.
    """
    d = w.size - 1
    largest, gap = 0.0, 0.0
    intercept = w[d]
    for k in range(order.size):
        i = order[k]
        x = data[indptr[i] : indptr[i + 1]]
        j = indices[indptr[i] : indptr[i + 1]]
        s = bias * intercept + gathered(x, j, w)
        old, curve = beta[i], square[i] + soft[i]
        residual = y[i] - s
        pull = residual - soft[i] * old
        here = old + pull / curve  # the best multiplier without bounds, then with ε and bounds
        edge = epsilon / curve
        new = here - edge if here > edge else (here + edge if here < -edge else 0.0)
        new = min(max(new, lo[i]), hi[i])
        excess = residual - epsilon if residual > epsilon else (residual + epsilon if residual < -epsilon else 0.0)
        if soft[i] > 0.0:
            top = min(max(excess / soft[i], lo[i]), hi[i])
            gap += top * (excess - 0.5 * soft[i] * top)
        else:
            gap += max(hi[i] * excess, lo[i] * excess)
        gap -= old * residual - epsilon * abs(old) - 0.5 * soft[i] * old * old
        step = new - old
        if step == 0.0:
            outwards = abs(pull) - epsilon if old != 0.0 else max(abs(abs(pull) - epsilon), -pull * y[i])
            if outwards > firm:
                active[i] = False
        else:
            largest = max(largest, abs(step) * curve)
            beta[i] = new
            for t in range(x.size):
                w[j[t]] += step * x[t]
            intercept += step * bias
    w[d] = intercept
    out[0], out[1] = largest, gap


@kernel(reassociate=True)
def gathered(x, j, w):
    """Σ x w[j], four sums in flight."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    t = 0
    while t + 4 <= x.size:
        s0 += x[t] * w[j[t]]
        s1 += x[t + 1] * w[j[t + 1]]
        s2 += x[t + 2] * w[j[t + 2]]
        s3 += x[t + 3] * w[j[t + 3]]
        t += 4
    while t < x.size:
        s0 += x[t] * w[j[t]]
        t += 1
    return (s0 + s1) + (s2 + s3)


@kernel(reassociate=True)
def row_scores(data, indices, indptr, bias, rows, w, out):
    """out = A w of some rows."""
    d = w.size - 1
    for k in range(rows.size):
        i = rows[k]
        out[k] = bias * w[d] + gathered(data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]], w)


@kernel(reassociate=True)
def row_sums(data, indices, indptr, bias, rows, beta, out):
    """out = Aᵀ β of some rows."""
    d = out.size - 1
    out[:] = 0.0
    total = 0.0
    for k in range(rows.size):
        i = rows[k]
        x = data[indptr[i] : indptr[i + 1]]
        j = indices[indptr[i] : indptr[i + 1]]
        b = beta[k]
        for t in range(x.size):
            out[j[t]] += b * x[t]
        total += b
    out[d] = bias * total
