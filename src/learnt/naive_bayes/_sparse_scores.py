"""Scores of sparse rows, compiled: SciPy's product holds the other threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.kernel import kernel


def compiled_sparse_scores(X: Any, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """X W + b of a CSR block, W (columns × K)."""
    out = np.empty((X.shape[0], W.shape[1]))
    data = np.require(X.data, np.float64, ["C", "W"])
    indices, indptr = (np.require(part, np.int32, ["C", "W"]) for part in (X.indices, X.indptr))
    fill_sparse_scores(data, indices, indptr, np.ascontiguousarray(W), b, out)
    return out


@kernel
def fill_sparse_scores(data, indices, indptr, W, b, out):
    """Eight classes at a time, a line of memory of W, whose sums stay in registers; then two, then one."""
    n_classes = W.shape[1]
    for i in range(out.shape[0]):
        first, last = indptr[i], indptr[i + 1]
        k = 0
        while k + 8 <= n_classes:
            s0, s1, s2, s3 = b[k], b[k + 1], b[k + 2], b[k + 3]
            s4, s5, s6, s7 = b[k + 4], b[k + 5], b[k + 6], b[k + 7]
            for at in range(first, last):
                x, j = data[at], indices[at]
                s0 += x * W[j, k]
                s1 += x * W[j, k + 1]
                s2 += x * W[j, k + 2]
                s3 += x * W[j, k + 3]
                s4 += x * W[j, k + 4]
                s5 += x * W[j, k + 5]
                s6 += x * W[j, k + 6]
                s7 += x * W[j, k + 7]
            out[i, k], out[i, k + 1], out[i, k + 2], out[i, k + 3] = s0, s1, s2, s3
            out[i, k + 4], out[i, k + 5], out[i, k + 6], out[i, k + 7] = s4, s5, s6, s7
            k += 8
        while k + 2 <= n_classes:
            s0, s1 = b[k], b[k + 1]
            for at in range(first, last):
                x, j = data[at], indices[at]
                s0 += x * W[j, k]
                s1 += x * W[j, k + 1]
            out[i, k], out[i, k + 1] = s0, s1
            k += 2
        if k < n_classes:
            s0 = b[k]
            for at in range(first, last):
                s0 += data[at] * W[indices[at], k]
            out[i, k] = s0
