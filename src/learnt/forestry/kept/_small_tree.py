"""One grown tree in as few bytes as possible, until its forest is assembled.

While a forest grows, memory holds its binned table and the finished trees. Most numbers of a tree are small integers:
columns, rows and weights of a leaf, the shares of classes in a pure one. A threshold is an edge of its column's bins
and is kept as the number of that edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learnt.forestry.kept._grove import Grove

_WHOLE: tuple[type[np.integer[Any]], ...] = (np.uint8, np.int8, np.uint16, np.int16, np.int32)


@dataclass(frozen=True)
class SmallTree:
    """A tree as the arrays of a `Grove`, each in the smallest type that holds it.

    `edges` (n_features, 256) are those of the table. Where `parts["threshold"]` has bytes, they are indices into
    `edges`.
    """

    n_features: int
    n_classes: np.ndarray
    criterion: str
    edges: np.ndarray
    parts: dict[str, np.ndarray]

    def grove(self) -> Grove:
        """The tree as a grove of one."""
        parts = dict(self.parts)
        feature, threshold = parts["feature"], parts["threshold"]
        if threshold.dtype == np.uint8:
            parts["threshold"] = self.edges[feature[feature >= 0], threshold]
        none = np.empty(0, np.int32)
        sizes = [len(feature)]
        return Grove(self.n_features, self.n_classes, self.criterion, sizes, **parts, table_start=none, table=none)


def narrow(numbers: np.ndarray) -> np.ndarray:
    """The same numbers in the smallest type that holds them exactly: integers of up to 32 bits, float32, float64.

    >>> narrow(np.array([0.0, 200.0])).dtype, narrow(np.array([0.5, -1.0])).dtype, narrow(np.array([-1, 300])).dtype
    (dtype('uint8'), dtype('float32'), dtype('int16'))
    """
    if not numbers.size:
        return numbers
    low, high = numbers.min(), numbers.max()
    for kind in _WHOLE:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            short = numbers.astype(kind)
            if numbers.dtype.kind in "iu" or np.array_equal(short, numbers):
                return short
            break
    if numbers.dtype.kind in "iu":
        return numbers
    with np.errstate(over="ignore", invalid="ignore"):
        single = numbers.astype(np.float32)
    return single if np.array_equal(single, numbers) else numbers
