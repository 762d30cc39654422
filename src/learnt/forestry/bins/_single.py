"""Bins of a table as it is in single precision, without a copy of the whole table in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.threads import for_blocks
from learnt.forestry.bins._bins import Bins, code_room, find_bins

_COLUMNS, _ROWS = 2, 4096  # that are in single precision at a time; rows, for each thread


def bin_in_single(X: np.ndarray, weights: np.ndarray | None, seed: int) -> tuple[Bins, np.ndarray, np.ndarray]:
    """Bins of X rounded to float32, and the codes by column and by row: as of `X.astype(np.float32)`.

    >>> bins, by_column, by_row = bin_in_single(np.array([[0.5], [1.5], [1.5 + 1e-12]]), None, 0)
    >>> by_column.tolist(), by_row[:, 0].tolist()
    ([[0, 1, 1]], [0, 1, 1])
    """
    (n, d), short = X.shape, np.float32
    parts = [
        find_bins(X[:, lo : lo + _COLUMNS].astype(short), weights=weights, random_state=seed)
        for lo in range(0, d, _COLUMNS)
    ]
    edges, n_bins, has_missing = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("edges", "n_bins", "has_missing")
    )
    bins = Bins(edges, n_bins, has_missing, {})
    _, by_column, by_row = code_room(n, d, True, True)

    def encode(lo: int, hi: int) -> Any:
        by_column[:, lo:hi], by_row[lo:hi] = bins.encode(X[lo:hi].astype(short), rows=True)

    for_blocks(encode, n, grain=_ROWS)
    return bins, by_column, by_row
