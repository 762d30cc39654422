"""The memory layout of a grove: orders of nodes, records for traversal, and inner nodes' values from their leaves."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.kept._traverse import INNER, MISSING_LEFT

_LEFT, _COLUMN = 2, 3  # the parts of a record as integers of 32 bits


@kernel
def depth_first(left, right, order):
    """order[k] = the node with number k in the order where siblings are adjacent and the left subtree comes first."""
    stack = np.empty(order.size, np.int64)
    order[0] = 0
    stack[0] = 0
    size, nodes = 1, 1
    while size > 0:
        size -= 1
        node = order[stack[size]]
        if left[node] >= 0:
            order[nodes] = left[node]
            order[nodes + 1] = right[node]
            stack[size] = nodes + 1
            stack[size + 1] = nodes
            size += 2
            nodes += 2


@kernel
def parents_first(roots, sizes, left, out):
    """out[k] = the number of node k in its tree where a node comes before its left and then its right subtree."""
    stack = np.empty(out.size + 1, np.int64)
    for t in range(roots.size):
        stack[0] = roots[t]
        size, number = 1, 0
        while size > 0:
            size -= 1
            node = stack[size]
            out[node] = number
            number += 1
            if left[node] != node:
                stack[size] = left[node] + 1
                stack[size + 1] = left[node]
                size += 2


@kernel
def lay_out(sizes, inner, left):
    """left[k] = the left child of an inner node, k itself at a leaf; whether all trees have the size they should."""
    stack = np.empty(inner.size + 1, np.int64)
    begin = 0
    for t in range(sizes.size):
        end = begin + sizes[t]
        stack[0] = begin
        size, nodes = 1, begin + 1
        while size > 0:
            size -= 1
            node = stack[size]
            left[node] = node
            if inner[node]:
                if nodes + 2 > end:
                    return False
                left[node] = nodes
                stack[size] = nodes + 1
                stack[size + 1] = nodes
                size += 2
                nodes += 2
        if nodes != end:
            return False
        begin = end
    return True


@kernel
def lay_nodes(sizes, feature, threshold, missing_left, value, first_node, first_leaf, words, halves):
    """The records of trees, but for tables of categories; whether all trees have the size they should.

    They are the trees of a larger grove from node `first_node` and leaf `first_leaf` on. `words` and `halves` are views
    of the same records as integers and as floats.
    """
    if not lay_out(sizes, feature >= 0, words[:, _LEFT]):
        return False
    inner, leaf = 0, 0
    for node in range(feature.size):
        words[node, _LEFT] += np.uint32(first_node)
        if feature[node] >= 0:
            flags = np.uint32(INNER) | (np.uint32(MISSING_LEFT) if missing_left[inner] else np.uint32(0))
            words[node, _COLUMN] = np.uint32(feature[node]) | flags
            halves[node, 0] = threshold[inner]
            inner += 1
        else:
            words[node, _COLUMN] = np.uint32(0)
            halves[node, 0] = value[leaf, 0] if value.shape[1] == 1 else np.float64(first_leaf + leaf)
            leaf += 1
    return True


@kernel
def add_up(left, count, weight, value, impurity, outputs):
    """Rows, weights, values and squared error of inner nodes from their children."""
    width = value.shape[1]
    sums = np.empty_like(value)  # weights times values: exact for integers
    for node in range(left.size - 1, -1, -1):
        a = left[node]
        if a < 0:
            for k in range(width):
                sums[node, k] = weight[node] * value[node, k]
            continue
        b = a + 1
        count[node] = count[a] + count[b]
        weight[node] = weight[a] + weight[b]
        spread = 0.0
        for k in range(width):
            sums[node, k] = sums[a, k] + sums[b, k]
            mean = sums[node, k] / weight[node]
            value[node, k] = mean
            spread += weight[a] * (value[a, k] - mean) ** 2 + weight[b] * (value[b, k] - mean) ** 2
        within = weight[a] * impurity[a] + weight[b] * impurity[b]
        impurity[node] = (within + spread / outputs) / weight[node]
