"""What the leaves of a regression forest know beside their mean: a few of the targets in them.

A leaf in which all targets are equal is its value. Of any other, up to 16 targets are kept, evenly spaced in order, in
proportion to their weights. The targets a new row meets in its leaves, each tree with the same weight, are a sample of
the distribution of y given x (Meinshausen's quantile regression forests, 2006, with bounded memory).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.matrices import dense, join
from learnt.engine.threads import for_blocks
from learnt.forestry import Grove, parts_of_rows

MOST = 16  # targets kept of a leaf
_GRAIN = 256


@dataclass(frozen=True)
class LeafSamples:
    """Targets of the leaves, one behind the other, and how many each leaf has."""

    sizes: np.ndarray  # int32 (n_leaves,), in the order of the leaves of a grove
    targets: np.ndarray  # float64


def leaf_samples(grove: Grove, X: Any, y: np.ndarray, weights: np.ndarray | None) -> LeafSamples | None:
    """Targets of the leaves of one tree; None where every leaf has one target only."""
    leaf = ~grove.inner
    impurity = grove.impurity[leaf] if len(grove.impurity) == len(leaf) else grove.impurity
    if not (impurity > 0).any():
        return None
    rows = np.arange(len(y)) if weights is None else np.flatnonzero(weights > 0)
    w = np.ones(len(rows)) if weights is None else weights[rows].astype(np.float64)
    nodes = join([grove.packed.apply(dense(X[part]))[:, 0] for part in parts_of_rows(X, rows)])
    leaves = (np.cumsum(leaf) - 1)[nodes]
    order = np.lexsort((y[rows], leaves))
    counts = np.bincount(leaves, minlength=len(impurity))
    sizes = np.minimum(counts, MOST).astype(np.int32)
    targets = np.empty(int(sizes.sum()))
    pick_evenly(counts, sizes, y[rows][order], w[order], targets)
    with np.errstate(over="ignore"):
        short = targets.astype(np.float32).astype(np.float64)  # seven digits are enough, and half the room in a file
    return LeafSamples(sizes, np.where(np.isfinite(short), short, targets))


def join_samples(parts: list[LeafSamples | None], groves: list[Grove]) -> LeafSamples | None:
    """Of several trees; a tree without samples has its values."""
    if all(part is None for part in parts):
        return None
    full = [
        part if part is not None else LeafSamples(np.ones(len(grove.value), np.int32), grove.value[:, 0])
        for part, grove in zip(parts, groves, strict=True)
    ]
    return LeafSamples(np.concatenate([p.sizes for p in full]), np.concatenate([p.targets for p in full]))


def quantiles(grove: Grove, sizes: np.ndarray, targets: np.ndarray, X: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The quantiles q of what each row meets in its leaves, (n, len(q)); without samples, of the leaves' values."""
    out = np.empty((X.shape[0], len(q)))
    if not len(sizes):
        sizes, targets = np.ones(len(grove.value), np.int32), grove.value[:, 0]
    starts = np.cumsum(sizes, dtype=np.int64) - sizes
    number = np.cumsum(~grove.inner) - 1  # of a node among the leaves
    packed = grove.packed
    levels = np.ascontiguousarray(q, dtype=np.float64)

    def work(lo: int, hi: int) -> None:
        leaves = number[packed.apply(X[lo:hi]) + grove.roots]
        mixture_quantiles(leaves, starts, sizes, targets, levels, out[lo:hi])

    for_blocks(work, X.shape[0], grain=_GRAIN)
    return out


@kernel
def pick_evenly(counts, sizes, y, w, out):
    """Of each leaf's targets, in order, those at the weighted shares (k + ½)/size."""
    at, begin = 0, 0
    for leaf in range(counts.size):
        end = begin + counts[leaf]
        total = 0.0
        for i in range(begin, end):
            total += w[i]
        i, below = begin, 0.0
        for k in range(sizes[leaf]):
            wanted = total * (k + 0.5) / sizes[leaf]
            while i < end - 1 and below + w[i] < wanted:
                below += w[i]
                i += 1
            out[at] = y[i]
            at += 1
        begin = end


@kernel
def mixture_quantiles(leaves, starts, sizes, targets, levels, out):
    """Quantiles of a mixture, each leaf with the same weight: linear between the middles of the steps of its sum."""
    n, trees = leaves.shape
    values = np.empty(trees * MOST)
    weights = np.empty(trees * MOST)
    for row in range(n):
        m = 0
        for t in range(trees):
            leaf = leaves[row, t]
            share = 1.0 / (trees * sizes[leaf])
            for k in range(sizes[leaf]):
                values[m] = targets[starts[leaf] + k]
                weights[m] = share
                m += 1
        order = np.argsort(values[:m])
        for c in range(levels.size):
            below, last, last_value = 0.0, 0.0, values[order[0]]
            found = values[order[m - 1]]
            for k in range(m):
                middle = below + 0.5 * weights[order[k]]
                here = values[order[k]]
                if middle >= levels[c]:
                    step = middle - last
                    found = (
                        here if k == 0 or step <= 0.0 else last_value + (here - last_value) * (levels[c] - last) / step
                    )
                    break
                below += weights[order[k]]
                last, last_value = middle, here
            out[row, c] = found
