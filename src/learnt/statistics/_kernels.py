"""Sums of each class in one pass over a NumPy block, compiled."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.rows.blocks import Block, kernel_matrix
from learnt.statistics._groups import require_known


def compiled_class_sums(block: Block, codes: np.ndarray, point: np.ndarray) -> tuple:
    """Σw, Σwz and Σwz² of each class, z = x − the point of its class (K × d)."""
    n_classes, n_features = point.shape
    sums = np.zeros(n_classes), np.zeros((n_classes, n_features)), np.zeros((n_classes, n_features))
    weights = np.empty(0) if block.w is None else np.ascontiguousarray(block.w, dtype=np.float64)
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    if not add_class_sums(kernel_matrix(block.X), codes, weights, point, *sums):
        require_known(int(codes.min()), int(codes.max()), n_classes)
    return sums


@kernel
def add_class_sums(X, codes, weights, shift, count, sums, squares):
    n_features = X.shape[1]
    for i in range(X.shape[0]):
        k = codes[i]
        if k < 0 or k >= count.size:  # or the sums would be written out of bounds
            return False
        w = weights[i] if weights.size > 0 else 1.0
        count[k] += w
        for j in range(n_features):
            z = X[i, j] - shift[k, j]
            sums[k, j] += w * z
            squares[k, j] += w * z * z
    return True


def compiled_sparse_class_sums(block: Block, codes: np.ndarray, n_classes: int) -> tuple:
    """Σw and Σwx of each class of a CSR block."""
    X = block.X
    sums = np.zeros(n_classes), np.zeros((n_classes, X.shape[1]))
    weights = np.empty(0) if block.w is None else np.ascontiguousarray(block.w, dtype=np.float64)
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    data = np.require(X.data, np.float64, ["C", "W"])
    indices, indptr = (np.require(part, np.int32, ["C", "W"]) for part in (X.indices, X.indptr))
    if not add_sparse_class_sums(data, indices, indptr, codes, weights, *sums):
        require_known(int(codes.min()), int(codes.max()), n_classes)
    return sums


@kernel
def add_sparse_class_sums(data, indices, indptr, codes, weights, count, sums):
    for i in range(codes.size):
        k = codes[i]
        if k < 0 or k >= count.size:  # or the sums would be written out of bounds
            return False
        w = weights[i] if weights.size > 0 else 1.0
        count[k] += w
        for at in range(indptr[i], indptr[i + 1]):
            sums[k, indices[at]] += w * data[at]
    return True
