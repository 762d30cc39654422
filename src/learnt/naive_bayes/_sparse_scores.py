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


@kernel(allocates=False)
def fill_sparse_scores(data, indices, indptr, W, b, out):
    """Four entries of a row at a time: the lines of W come from memory side by side, not one after the other."""
    n_classes = W.shape[1]
    for i in range(out.shape[0]):
        at, end = indptr[i], indptr[i + 1]
        fours = end - (end - at) % 4
        if n_classes == 1:
            s0, s1, s2, s3 = b[0], 0.0, 0.0, 0.0
            while at < fours:
                s0 += data[at] * W[indices[at], 0]
                s1 += data[at + 1] * W[indices[at + 1], 0]
                s2 += data[at + 2] * W[indices[at + 2], 0]
                s3 += data[at + 3] * W[indices[at + 3], 0]
                at += 4
            out[i, 0] = (s0 + s1) + (s2 + s3)
        else:
            for k in range(n_classes):
                out[i, k] = b[k]
            while at < fours:
                x0, x1, x2, x3 = data[at], data[at + 1], data[at + 2], data[at + 3]
                j0, j1, j2, j3 = indices[at], indices[at + 1], indices[at + 2], indices[at + 3]
                for k in range(n_classes):
                    out[i, k] += x0 * W[j0, k] + x1 * W[j1, k] + x2 * W[j2, k] + x3 * W[j3, k]
                at += 4
        while at < end:
            x, j = data[at], indices[at]
            for k in range(n_classes):
                out[i, k] += x * W[j, k]
            at += 1
