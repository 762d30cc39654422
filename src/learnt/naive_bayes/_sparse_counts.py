"""Counts of each class over the rows of a CSR matrix, compiled: in one pass over the entries."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.classification.highest_sparse_plane import Entries
from learnt.engine.kernel import compilation_enabled, kernel
from learnt.engine.threads import run_tasks

_FEWEST_ENTRIES = 1 << 16  # below which compiled code does not pay


class Counted(NamedTuple):
    """Weight and counts of each class, and whether the cells were finite and none of them negative."""

    weight: np.ndarray
    counts: np.ndarray
    fine: bool


def sparse_counts(X: Any, codes: np.ndarray, w: Any, n_classes: int, above: float | None) -> Counted | None:
    """Σ w x of each class; `above`: cells count as 1 where they are greater than it. None where it does not pay.

    The rows of a class are added up in their order and into one line of the counts, which stays in the core's cache.
    """
    entries = Entries.of(X, above)
    if entries is None or X.nnz < _FEWEST_ENTRIES or not compilation_enabled():
        return None
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(n_classes + 1)).tolist()
    weights = np.empty(0) if w is None else np.ascontiguousarray(w, dtype=np.float64)
    counts = np.zeros((n_classes, X.shape[1]))

    def count(k: int) -> tuple[float, bool]:
        rows = order[edges[k] : edges[k + 1]]
        fine = add_sparse_rows(entries, rows, weights, counts[k])
        return float(len(rows) if w is None else weights[rows].sum()), fine

    found = run_tasks([partial(count, k) for k in range(n_classes)])
    fine = all(fine for _, fine in found) and bool(np.isfinite(counts).all())
    return Counted(np.array([weight for weight, _ in found]), counts, fine)


@kernel(allocates=False)
def add_sparse_rows(entries, rows, weights, sums):
    """False if a cell is NaN, infinite where it is compared with a threshold, or negative where it is not."""
    data, indices, indptr, binary, threshold = entries
    wrong = 0
    for r in range(rows.size):
        i = rows[r]
        w = weights[i] if weights.size > 0 else 1.0
        at, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        if binary:
            while at < end:
                x = data[at]
                wrong += not abs(x) < np.inf
                sums[indices[at]] += w if x > threshold else 0.0
                at += np.uint64(1)
        else:
            while at < end:
                x = data[at]
                wrong += not x >= 0.0
                sums[indices[at]] += w * x
                at += np.uint64(1)
    return wrong == 0
