"""Blocks of rows: what one holds, how large it is, and how partial sums are added up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_foreign_array, namespace

# A block that is read twice (scores, then gradient) should still be in the core's own cache the second time.
_BLOCK_BYTES = 1 << 19
_FOREIGN_BLOCK_BYTES = 1 << 28  # on a GPU large products pay; memory stays bounded all the same
_FEWEST, _MOST = 256, 16384
_LANES = 64
# Below this many cells plain NumPy is done before compiled code is even loaded from disk.
COMPILED_CELLS = 1 << 20


class Block(NamedTuple):
    """Some consecutive rows: X (dense of any library, or CSR), y, weights (None: all 1), index of the first row."""

    X: Any
    y: Any = None
    w: Any = None
    start: int = 0


def block_rows(n_rows: int, row_bytes: float, *, foreign: bool = False) -> int:
    """Rows in a block: decided by the data alone, never by the number of threads.

    >>> block_rows(10, 80), block_rows(10**6, 800), block_rows(10**6, 80000)
    (10, 1600, 1024)
    """
    if foreign:
        return max(1, min(n_rows, int(_FOREIGN_BLOCK_BYTES / max(row_bytes, 1))))
    # A block with fewer rows than columns wastes a symmetric product, and adding its d × d result up should cost little
    # beside it: sixteen rows a column, where the block still fits the next larger cache.
    columns = row_bytes / 8
    fewest = max(_FEWEST, min(1024, int(columns)), int(min(16 * columns, 4 * _BLOCK_BYTES / max(row_bytes, 1))))
    return max(1, min(n_rows, _MOST, max(fewest, int(_BLOCK_BYTES / max(row_bytes, 1)))))


def lane_blocks(n_rows: int, rows: int, part_columns: int) -> int:
    """Blocks that one task sums one after the other.

    At most 64 partial sums exist at once, and fewer where a statistic of d × `part_columns` would outweigh the data
    themselves.
    """
    n_blocks = -(-n_rows // rows)
    lanes = max(1, min(_LANES, n_blocks, n_rows // (4 * max(part_columns, 1)) + 1))
    return -(-n_blocks // lanes)


def as_columns(y: Any) -> Any:
    """y as (n, k)."""
    return y[:, None] if y.ndim == 1 else y


def widen(part: Any) -> Any:
    """Rows or a partial sum in the precision that sums are kept in: float64 whatever the data."""
    if isinstance(part, np.ndarray):
        return part.astype(np.float64) if part.dtype == np.float32 else part
    if isinstance(part, np.floating):
        return np.float64(part)
    if is_foreign_array(part):
        xp = namespace(part)
        return xp.astype(part, xp.float64) if part.dtype == xp.float32 else part
    if sparse.issparse(part):
        return part.astype(np.float64) if part.dtype != np.float64 else part
    return part


def kernel_matrix(X: np.ndarray) -> np.ndarray:
    """A block as kernels take it.

    Read-only or column-major blocks are copied, so that they need no machine code of their own.
    """
    if type(X) is np.ndarray and X.flags.c_contiguous and X.flags.writeable:
        return X
    return np.array(X, order="C", subok=False)


def add(total: tuple | None, part: tuple | None) -> tuple | None:
    """Add a block's statistic to the running sum, in place where that is possible; None is an empty sum."""
    if part is None:
        return total
    if total is None:
        return tuple(widen(p) for p in part)
    return tuple(_add_one(t, p) for t, p in zip(total, part, strict=True))


def _add_one(t: Any, p: Any) -> Any:
    if isinstance(t, np.ndarray) and t.ndim > 0 and t.flags.writeable:
        t += p
        return t
    return t + widen(p)
