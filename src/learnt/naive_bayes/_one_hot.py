"""Categories and bins as columns of 0 and 1: a column for each category of each feature, side by side.

On NumPy rows they are CSR matrices with one entry a feature, so that counting and scoring are sparse products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_numpy, like, namespace, to_numpy
from learnt.engine.rows import Block


def category_indicators(block: Block, sizes: np.ndarray, whose: str) -> Any:
    """The indicators of categories that X holds as the integers 0…size−1 of each feature."""
    X = block.X
    require_categories(X, whose)
    X = namespace(X).floor(X)
    unseen = like(sizes, X) <= X
    if bool(namespace(X).any(unseen)):
        row, j = (int(i[0]) for i in np.nonzero(to_numpy(unseen)))
        raise ValueError(
            f"Column {j} of X holds category {float(X[row, j]):g}, which was not there in fit (0 to {sizes[j] - 1}); "
            f"give `min_categories` at least {float(X[row, j]) + 1:g} and fit again, or map it to a known category."
        )
    return indicators(X, sizes)


def require_categories(X: Any, whose: str) -> None:
    """Refuse negative numbers; others are truncated to integers, as in scikit-learn."""
    xp = namespace(X)
    if X.shape[0] and float(xp.min(X)) < 0:
        raise ValueError(
            f"Negative values in data passed to {whose}: the lowest is {float(xp.min(X)):g}, and categories are "
            "0, 1, 2, …; number them from 0."
        )


def bin_indicators(block: Block, edges: list[np.ndarray]) -> Any:
    """The indicators of the bins that the cells fall into; beyond the outer edges, of the outer bins."""
    X = block.X
    sizes = np.array([len(e) - 1 for e in edges])
    if is_numpy(X):
        codes = np.empty(X.shape, dtype=np.int64)
        for j, inner in enumerate(e[1:-1] for e in edges):
            codes[:, j] = np.searchsorted(inner, X[:, j], side="right")
        return indicators(codes, sizes)
    xp = namespace(X)
    # Columns are copied: PyTorch warns of arrays that are not contiguous.
    columns = [xp.asarray(X[:, j], copy=True) for j in range(X.shape[1])]
    places = [xp.searchsorted(like(e[1:-1], X), x, side="right") for x, e in zip(columns, edges, strict=True)]
    return indicators(like(xp.stack(places, axis=1), X), sizes)


def indicators(codes: Any, sizes: np.ndarray) -> Any:
    """Columns of 0 and 1 from the category of each row and feature."""
    n, d = codes.shape
    if is_numpy(codes):
        places = codes.astype(np.int32) + (np.cumsum(sizes) - sizes).astype(np.int32)
        entries = np.ones(n * d), places.ravel(), np.arange(0, n * d + 1, d)
        return sparse.csr_array(entries, shape=(n, int(sizes.sum())))
    columns = [codes[:, j : j + 1] == like(np.arange(size), codes)[None, :] for j, size in enumerate(sizes.tolist())]
    return like(namespace(codes).concat(columns, axis=1), codes)


def by_feature(flat: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """What belongs to each feature of an array with a column for each category."""
    return [np.ascontiguousarray(part) for part in np.split(flat, np.cumsum(sizes)[:-1], axis=1)]
