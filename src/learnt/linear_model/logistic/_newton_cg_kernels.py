"""What Newton's method by conjugate gradients computes from CSR rows, compiled; see `_newton_cg`.

Rows are read a stretch at a time and twice, both times from the caches; a stretch is long, so that the two vectors that
columns point into, each as wide as the table, change places there seldom.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.linear_model.logistic._kernels import log_link, start_weights

_STRETCH = 2048


@kernel(reassociate=True)
def csr_look(data, indices, indptr, y, w, table, coef, intercept, curve, sums):
    """Binary log loss of CSR rows, whose derivatives in the scores are r and c.

    `curve` takes the c; to `sums` (d + 1 × 2) are added Σ r x and Σ c x² of every column, and last Σ r and Σ c.
    """
    n, last = y.size, coef.size
    scores, r, weight = np.empty(_STRETCH), np.empty(_STRETCH), np.empty(_STRETCH)
    loss = 0.0
    for lo in range(0, n, _STRETCH):
        m = min(_STRETCH, n - lo)
        for i in range(m):
            x = data[indptr[lo + i] : indptr[lo + i + 1]]
            j = indices[indptr[lo + i] : indptr[lo + i + 1]]
            s = intercept
            for k in range(x.size):
                s += x[k] * coef[j[k]]
            scores[i] = s
        start_weights(y, w, table, lo, m, weight)
        r[:m] = weight[:m]
        loss += log_link(scores, y[lo : lo + m], r, m)
        for i in range(m):
            x = data[indptr[lo + i] : indptr[lo + i + 1]]
            j = indices[indptr[lo + i] : indptr[lo + i + 1]]
            residual = r[i]
            c = abs(residual) * (1.0 - abs(residual) / weight[i]) if weight[i] > 0.0 else 0.0  # w p (1 − p)
            curve[lo + i] = c
            sums[last, 0] += residual
            sums[last, 1] += c
            for k in range(x.size):
                sums[j[k], 0] += residual * x[k]
                sums[j[k], 1] += c * x[k] * x[k]
    return loss


@kernel(reassociate=True)
def csr_product(data, indices, indptr, curve, coef, intercept, out):
    """out = Xᵀ diag(curve) (X coef + intercept) for CSR rows, and the sum of diag(curve) (X coef + intercept)."""
    n = curve.size
    scores = np.empty(_STRETCH)
    out[:] = 0.0
    total = 0.0
    for lo in range(0, n, _STRETCH):
        m = min(_STRETCH, n - lo)
        for i in range(m):
            x = data[indptr[lo + i] : indptr[lo + i + 1]]
            j = indices[indptr[lo + i] : indptr[lo + i + 1]]
            s = intercept
            for k in range(x.size):
                s += x[k] * coef[j[k]]
            scores[i] = s * curve[lo + i]
            total += scores[i]
        for i in range(m):
            x = data[indptr[lo + i] : indptr[lo + i + 1]]
            j = indices[indptr[lo + i] : indptr[lo + i + 1]]
            s = scores[i]
            for k in range(x.size):
                out[j[k]] += s * x[k]
    return total


@kernel(reassociate=True)
def gather_product(parts, total, mean, alpha, p, q):
    """q = Hp from the products of all parts of the rows, and pᵀq; the intercept's entry, last, is set already."""
    d = mean.size
    for j in range(d):
        q[j] = alpha * p[j] - total * mean[j]
    for part in range(parts.shape[0]):
        for j in range(d):
            q[j] += parts[part, j]
    pq = p[d] * q[d]
    for j in range(d):
        pq += p[j] * q[j]
    return pq


@kernel(reassociate=True)
def advance(length, p, q, diagonal, step, r):
    """A length along p: step += length p, r −= length q; rᵀr in the units of the diagonal."""
    size = 0.0
    for j in range(p.size):
        step[j] += length * p[j]
        r[j] -= length * q[j]
        size += r[j] * r[j] / diagonal[j]
    return size


@kernel(reassociate=True)
def turn(share, r, diagonal, mean, p):
    """The next direction, p = r/diagonal + share p, and its product with the mean."""
    d = mean.size
    p[d] = r[d] / diagonal[d] + share * p[d]
    product = 0.0
    for j in range(d):
        p[j] = r[j] / diagonal[j] + share * p[j]
        product += p[j] * mean[j]
    return product
