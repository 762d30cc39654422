"""Compiled loops of DBSCAN.

Neighbouring core points are joined, border points are assigned to a core point's cluster.
"""

from __future__ import annotations

from learnt.engine.kernel import kernel


@kernel
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def join_cores(core, lo, starts, indices, parent):
    """Put each core of a block of rows and its core neighbours into one tree, under the smallest of their numbers."""
    for q in range(starts.size - 1):
        if core[lo + q]:
            for at in range(starts[q], starts[q + 1]):
                other = indices[at]
                if other < lo + q and core[other]:
                    a, b = _root(parent, lo + q), _root(parent, other)
                    if a < b:
                        parent[b] = a
                    else:
                        parent[a] = b


@kernel
def label_borders(lo, starts, indices, labels):
    """Give rows the smallest of the labels of these neighbours."""
    for q in range(starts.size - 1):
        for at in range(starts[q], starts[q + 1]):
            label = labels[indices[at]]
            if labels[lo + q] == -1 or label < labels[lo + q]:
                labels[lo + q] = label
