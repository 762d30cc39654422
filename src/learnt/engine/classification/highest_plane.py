"""Which of some planes is the highest at each row: the prediction of a linear classifier, in one pass over the rows.

Compared with a matrix product this saves the matrix of scores, the addition of offsets, the argmax, and a separate
check for cells that are not finite: where there is one, the highest score is not finite either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnt.engine.cells import FLOATS
from learnt.engine.classification.plane_scores import ROWS, plane_scores, plane_table
from learnt.engine.kernel import compilation_enabled, kernel
from learnt.engine.rows.blocks import COMPILED_CELLS, block_rows, kernel_matrix, widen
from learnt.engine.threads import for_blocks

_FEWEST = 4096  # rows of a block, each read once: more than fit a cache, fewer calls


def highest_planes(estimator: Any, X: Any, planes: Callable[[], tuple[Any, Any]]) -> np.ndarray | None:
    """The number of the plane with the largest w·x + b at each row, the first among equals; X not validated yet.

    `planes()` gives W (K × d) and b (K). None where the rows are few, are not a NumPy array of floats of the kind
    that the estimator was fitted on, or where no score is finite: the caller then takes the general code path.
    """
    if not _many_plain_rows(estimator, X) or not compilation_enabled():
        return None
    W, b = planes()
    if type(W) is not np.ndarray or type(b) is not np.ndarray or W.shape != (b.size, X.shape[1]):
        return None
    table, offsets = plane_table(W, b)
    codes = np.empty(X.shape[0], dtype=np.int64)

    def fill(lo: int, hi: int) -> bool:
        return fill_highest(
            kernel_matrix(widen(X[lo:hi])), table, offsets, np.empty((ROWS, offsets.size)), codes[lo:hi]
        )

    finite = for_blocks(fill, X.shape[0], grain=max(_FEWEST, block_rows(X.shape[0], X.shape[1] * X.itemsize)))
    return codes if all(finite) else None


def _many_plain_rows(estimator: Any, X: Any) -> bool:
    fitted = vars(estimator)
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.size >= COMPILED_CELLS
        and X.dtype in FLOATS
        and X.shape[1] == fitted.get("n_features_in_")
        and "feature_names_in_" not in fitted
    )


@kernel(allocates=False)
def fill_highest(X, table, offsets, scores, codes):
    """Four rows at a time; False if a highest score is not finite."""
    n = X.shape[0]
    last = n - 1
    finite = True
    for i in range(0, n, 4):
        for g in range(table.shape[0]):
            plane_scores(X, i, table, g, scores)
        t0, t1, t2, t3 = -np.inf, -np.inf, -np.inf, -np.inf
        k0, k1, k2, k3 = 0, 0, 0, 0
        for k in range(offsets.size):
            b = offsets[k]
            t0, k0 = higher(t0, k0, scores[0, k] + b, k)
            t1, k1 = higher(t1, k1, scores[1, k] + b, k)
            t2, k2 = higher(t2, k2, scores[2, k] + b, k)
            t3, k3 = higher(t3, k3, scores[3, k] + b, k)
        codes[min(i + 3, last)] = k3
        codes[min(i + 2, last)] = k2
        codes[min(i + 1, last)] = k1
        codes[i] = k0
        finite = finite and np.isfinite(t0) and np.isfinite(t1) and np.isfinite(t2) and np.isfinite(t3)
    return finite


@kernel(allocates=False)
def higher(top, best, score, k):
    return (score, k) if score > top else (top, best)
