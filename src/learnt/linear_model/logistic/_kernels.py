"""Log loss and its gradient over rows, compiled: what `_loss` defines, in one reading of the data.

A chunk of rows that fits in the core's first cache is read for the scores and again for the gradient, so main memory
gives it up once. Arithmetic is float64 whatever the data: the optimum is then as exact for float32 data, at the price
of a conversion in registers.
"""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel
from learnt.linalg.exponential import exp_nonpositive
from learnt.linalg.log_loss import class_loss, log_both

_CHUNK = 4096  # cells: 32 KiB of float64


@kernel(reassociate=True)
def log_link(scores, y, r, n):
    """Σ rᵢ ℓ(yᵢ, scoresᵢ) over the first n rows; weights r become rᵢ (pᵢ − yᵢ). y is 0 or 1."""
    loss = 0.0
    for i in range(n):
        s = scores[i]
        e = exp_nonpositive(-abs(s))
        side = 2.0 * y[i] - 1.0
        value, slope = log_both(side * s, e)
        loss += r[i] * value
        r[i] *= side * slope
    return loss


@kernel(reassociate=True)
def start_weights(y, w, table, lo, n, r):
    """r = the weights of rows lo…lo+n−1: that of the class times that of the row (an empty w: all 1)."""
    low, difference = table[0], table[1] - table[0]
    for i in range(n):
        r[i] = low + difference * y[lo + i]
    if w.size:
        for i in range(n):
            r[i] *= w[lo + i]


@kernel(reassociate=True)
def dense_loss_gradient(X, y, w, table, theta, out):
    """Binary log loss of the rows of X (C order), adding its gradient to out; theta and out end with the intercept."""
    n, d = X.shape
    size = max(8, min(512, _CHUNK // d))
    scores = np.empty(size)
    r = np.empty(size)
    loss = 0.0
    intercept = theta[d]
    for lo in range(0, n, size):
        m = min(size, n - lo)
        i = 0
        while i + 4 <= m:  # four rows at once: four sums in flight, and each weight loaded once
            s0, s1, s2, s3 = intercept, intercept, intercept, intercept
            for j in range(d):
                t = theta[j]
                s0 += X[lo + i, j] * t
                s1 += X[lo + i + 1, j] * t
                s2 += X[lo + i + 2, j] * t
                s3 += X[lo + i + 3, j] * t
            scores[i], scores[i + 1], scores[i + 2], scores[i + 3] = s0, s1, s2, s3
            i += 4
        while i < m:
            s0 = intercept
            for j in range(d):
                s0 += X[lo + i, j] * theta[j]
            scores[i] = s0
            i += 1
        start_weights(y, w, table, lo, m, r)
        loss += log_link(scores, y[lo : lo + m], r, m)
        total = 0.0
        for i in range(m):
            total += r[i]
        out[d] += total
        i = 0
        while i + 4 <= m:
            r0, r1, r2, r3 = r[i], r[i + 1], r[i + 2], r[i + 3]
            for j in range(d):
                out[j] += (r0 * X[lo + i, j] + r1 * X[lo + i + 1, j]) + (r2 * X[lo + i + 2, j] + r3 * X[lo + i + 3, j])
            i += 4
        while i < m:
            for j in range(d):
                out[j] += r[i] * X[lo + i, j]
            i += 1
    return loss


@kernel(reassociate=True)
def dense_curvature_rows(X, y, w, table, theta, shift, unit, out):
    """out (n × (d + 1)) such that outᵀ out is the second derivative in the coefficients of unit · (x − shift) and 1."""
    n, d = X.shape
    r = np.empty(n)
    start_weights(y, w, table, 0, n, r)
    for i in range(n):
        s = theta[d]
        for j in range(d):
            s += X[i, j] * theta[j]
        e = exp_nonpositive(-abs(s))
        root = math.sqrt(r[i] * e) / (1.0 + e)
        for j in range(d):
            out[i, j] = root * unit[j] * (X[i, j] - shift[j])
        out[i, d] = root


@kernel(reassociate=True)
def csr_loss_gradient(data, indices, indptr, y, w, table, theta, out):
    """Binary log loss of CSR rows, adding its gradient to out; theta and out end with the intercept.

    Here and below, indices are unsigned and rows are slices: a signed index would be tested every time for counting
    from the end.
    """
    n, d = y.size, theta.size - 1
    size = 256
    scores = np.empty(size)
    r = np.empty(size)
    loss = 0.0
    for lo in range(0, n, size):
        m = min(size, n - lo)
        for i in range(m):
            x = data[indptr[lo + i] : indptr[lo + i + 1]]
            j = indices[indptr[lo + i] : indptr[lo + i + 1]]
            s = theta[d]
            for k in range(x.size):
                s += x[k] * theta[j[k]]
            scores[i] = s
        start_weights(y, w, table, lo, m, r)
        loss += log_link(scores, y[lo : lo + m], r, m)
        for i in range(m):
            x = data[indptr[lo + i] : indptr[lo + i + 1]]
            j = indices[indptr[lo + i] : indptr[lo + i + 1]]
            residual = r[i]
            out[d] += residual
            for k in range(x.size):
                out[j[k]] += residual * x[k]
    return loss


@kernel(reassociate=True)
def softmax_link(S, codes, w, table):
    """Multinomial log loss of scores S (n × K, C order), which become wᵢ (pᵢₖ − [yᵢ = k]).

    Where a row's class is the likeliest, 1 − p and −log p come from the other classes alone, with all their digits.
    """
    n, K = S.shape
    flat = S.reshape(n * K)
    own = np.empty(n)
    for i in range(n):
        top = S[i, 0]
        for k in range(1, K):
            top = max(top, S[i, k])
        for k in range(K):
            S[i, k] -= top
        own[i] = S[i, codes[i]]
    for i in range(n * K):  # one long loop vectorises; many of length K would not
        flat[i] = exp_nonpositive(flat[i])
    loss = 0.0
    for i in range(n):
        total = S[i, codes[i]]
        S[i, codes[i]] = 0.0
        others = 0.0
        for k in range(K):
            others += S[i, k]
        total += others
        weight = table[codes[i]] * (w[i] if w.size else 1.0)
        loss += weight * class_loss(own[i], others, total)
        factor = weight / total
        for k in range(K):
            S[i, k] *= factor
        S[i, codes[i]] = -factor * others
    return loss


@kernel(reassociate=True)
def csr_scores(data, indices, indptr, weights, out):
    """out += X weights for CSR rows; weights is d × K, out n × K."""
    for i in range(out.shape[0]):
        x = data[indptr[i] : indptr[i + 1]]
        j = indices[indptr[i] : indptr[i + 1]]
        for k in range(x.size):
            for c in range(out.shape[1]):
                out[i, c] += x[k] * weights[j[k], c]


@kernel(reassociate=True)
def csr_gradient(data, indices, indptr, residuals, out):
    """out += Xᵀ residuals for CSR rows; residuals is n × K, out d × K."""
    for i in range(residuals.shape[0]):
        x = data[indptr[i] : indptr[i + 1]]
        j = indices[indptr[i] : indptr[i + 1]]
        for k in range(x.size):
            for c in range(residuals.shape[1]):
                out[j[k], c] += x[k] * residuals[i, c]


@kernel
def csr_column_sums(data, indices, indptr, w, out):
    """out (d × 2) += Σ w x and Σ w x² of each column of CSR rows."""
    for i in range(w.size):
        x = data[indptr[i] : indptr[i + 1]]
        j = indices[indptr[i] : indptr[i + 1]]
        for k in range(x.size):
            out[j[k], 0] += w[i] * x[k]
            out[j[k], 1] += w[i] * x[k] * x[k]
