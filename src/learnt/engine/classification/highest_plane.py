"""Which of some planes is the highest at each row: the prediction of a linear classifier, in one pass over the rows.

Compared with a matrix product this saves the matrix of scores, the addition of offsets, the argmax, and a separate
check for cells that are not finite: where there is one, the highest score is not finite either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnt.engine.kernel import compilation_enabled, kernel
from learnt.engine.rows.blocks import COMPILED_CELLS, block_rows, kernel_matrix, widen
from learnt.engine.threads import for_blocks
from learnt.engine.validation import FLOATS


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
    W, b = (np.array(part, dtype=np.float64, order="C", ndmin=1) for part in (W, b))
    codes = np.empty(X.shape[0], dtype=np.int64)

    def fill(lo: int, hi: int) -> bool:
        return fill_highest(kernel_matrix(widen(X[lo:hi])), W, b, codes[lo:hi])

    finite = for_blocks(fill, X.shape[0], grain=block_rows(X.shape[0], X.shape[1] * X.itemsize))
    return codes if all(finite) else None


def _many_plain_rows(estimator: Any, X: Any) -> bool:
    fitted = vars(estimator)
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.size >= COMPILED_CELLS
        and X.dtype.type in FLOATS
        and X.shape[1] == fitted.get("n_features_in_")
        and "feature_names_in_" not in fitted
    )


@kernel(reassociate=True, allocates=False)
def fill_highest(X, W, b, codes):
    """Two rows and four planes at a time, whose sums stay in registers; False if a highest score is not finite.

    Past the end, the last plane or row is used again.
    """
    n, d = X.shape
    last = b.size - 1
    finite = True
    for i in range(0, n, 2):
        other = min(i + 1, n - 1)
        top, other_top = -np.inf, -np.inf
        best, other_best = 0, 0
        for k0 in range(0, b.size, 4):
            k1, k2, k3 = min(k0 + 1, last), min(k0 + 2, last), min(k0 + 3, last)
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            for j in range(d):
                x, z = X[i, j], X[other, j]
                w0, w1, w2, w3 = W[k0, j], W[k1, j], W[k2, j], W[k3, j]
                s0 += x * w0
                s1 += x * w1
                s2 += x * w2
                s3 += x * w3
                t0 += z * w0
                t1 += z * w1
                t2 += z * w2
                t3 += z * w3
            top, best = higher(top, best, s0 + b[k0], k0)
            top, best = higher(top, best, s1 + b[k1], k1)
            top, best = higher(top, best, s2 + b[k2], k2)
            top, best = higher(top, best, s3 + b[k3], k3)
            other_top, other_best = higher(other_top, other_best, t0 + b[k0], k0)
            other_top, other_best = higher(other_top, other_best, t1 + b[k1], k1)
            other_top, other_best = higher(other_top, other_best, t2 + b[k2], k2)
            other_top, other_best = higher(other_top, other_best, t3 + b[k3], k3)
        codes[i] = best
        codes[other] = other_best
        finite = finite and np.isfinite(top) and np.isfinite(other_top)
    return finite


@kernel(allocates=False)
def higher(top, best, score, k):
    return (score, k) if score > top else (top, best)
