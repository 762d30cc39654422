"""What Newton's method for many classes computes from scores, compiled; see `_newton_cg_classes`.

Where a row is nearly certain of its class, 1 − p of that class is the sum of the others: nothing is taken from 1.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.linalg.exponential import exp_nonpositive_single
from learnt.linalg.log_loss import class_loss


@kernel(reassociate=True)
def softmax_single(S, tops, codes, w, chances):
    """Multinomial log loss of float32 scores S, which become w (p − [own class]); chances become p.

    `tops` has the largest score of each row.
    """
    n, K = S.shape
    loss = 0.0
    for i in range(n):
        own, top = codes[i], tops[i]
        margin = S[i, own] - top
        for k in range(K):
            chances[i, k] = exp_nonpositive_single(S[i, k] - top)
        mine = chances[i, own]
        chances[i, own] = np.float32(0.0)
        others = np.float32(0.0)
        for k in range(K):
            others += chances[i, k]
        total = others + mine
        unit = np.float32(1.0) / total
        factor = np.float32(w[i]) * unit
        for k in range(K):
            S[i, k] = factor * chances[i, k]
            chances[i, k] *= unit
        S[i, own], chances[i, own] = -factor * others, mine * unit
        loss += w[i] * class_loss(margin, others, total)
    return loss


@kernel
def chances(residuals, codes, w, out):
    """The probabilities p in single precision, from w (p − [own class])."""
    for i in range(out.shape[0]):
        unit = 1.0 / w[i] if w[i] > 0.0 else 0.0
        for k in range(out.shape[1]):
            out[i, k] = np.float32(residuals[i, k] * unit)
        out[i, codes[i]] += np.float32(1.0)


@kernel(reassociate=True)
def curve(p, codes, w, out):
    """out = w p (1 − p)."""
    for i in range(p.shape[0]):
        own = codes[i]
        weight = np.float32(w[i])
        for k in range(p.shape[1]):
            out[i, k] = weight * p[i, k] * (np.float32(1.0) - p[i, k])
        others = np.float32(0.0)
        for k in range(own):
            others += p[i, k]
        for k in range(own + 1, p.shape[1]):
            others += p[i, k]
        out[i, own] = weight * p[i, own] * others


@kernel(reassociate=True)
def curved(p, codes, w, T):
    """T becomes  w (diag(p) − ppᵀ) T,  row by row; in differences from the own class, which are what counts."""
    n, K = p.shape
    for i in range(n):
        own = codes[i]
        weight = np.float32(w[i])
        base = T[i, own]
        mean = np.float32(0.0)
        for k in range(K):
            T[i, k] -= base
            mean += p[i, k] * T[i, k]
        for k in range(K):
            T[i, k] = weight * p[i, k] * (T[i, k] - mean)
