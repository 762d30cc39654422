"""One tree on binned features, whole, in one call: frontier, choice of features, split, partition.

Rows, their weights and targets lie in the order of the frontier: a node is a range lo…hi of positions, and splitting
it is one stable pass without branches. The frontier is a stack (depth first) or a heap by gain (best first, with
`max_leaves`): a node that has not been searched yet comes before all others.

Two children lie next to each other and after their parent: right = left + 1.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry._binned_forest_search import (
    gather,
    pair_at,
    pair_counted,
    pair_sorted,
    slots_at,
    slots_counted,
    slots_sorted,
    sort_keys,
    x_log_x,
)

_MASK = (1 << 32) - 1
_UNSEARCHED = np.inf
_PAIR_ROWS = 400  # from here on sums a bin are quicker than sorting
_LN2 = 0.6931471805599453


@kernel
def draw(state, n):
    """A whole number in 0…n−1: xorshift and a Weyl sequence, 32 bits each."""
    x = state[0]
    x ^= (x << 13) & _MASK
    x ^= x >> 17
    x ^= (x << 5) & _MASK
    c = (state[1] + 362437) & _MASK
    state[0], state[1] = x, c
    return (((x + c) & _MASK) * n) >> 32


@kernel
def push(heap, gains, size, node, best_first):
    """Put a node on the frontier: on top of the stack, or into the heap by gain."""
    heap[size] = node
    if best_first:
        i = size
        while i > 0 and gains[heap[(i - 1) // 2]] < gains[heap[i]]:
            heap[i], heap[(i - 1) // 2] = heap[(i - 1) // 2], heap[i]
            i = (i - 1) // 2
    return size + 1


@kernel
def pop(heap, gains, size, best_first):
    """The node that is next."""
    if not best_first:
        return heap[size - 1], size - 1
    top = heap[0]
    size -= 1
    heap[0] = heap[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and gains[heap[child + 1]] > gains[heap[child]]:
            child += 1
        if gains[heap[i]] >= gains[heap[child]]:
            break
        heap[i], heap[child] = heap[child], heap[i]
        i = child
    return top, size


@kernel
def partition(codes, row_step, offset, missing, cut, lo, hi, rows, w, y, slots, spare, spare_w, spare_y, spare_slots):
    """Rows that go left first, in the order they had; where the right ones begin. `missing` = a code that goes left."""
    nl, nr = lo, 0
    for i in range(lo, hi):
        r, u = rows[i], w[i]
        b = np.int64(codes[r * row_step + offset])
        go = (b <= cut) | (b == missing)
        rows[nl] = r
        spare[nr] = r
        w[nl] = u
        spare_w[nr] = u
        if y is not None:
            for o in range(y.shape[0]):
                v = y[o, i]
                y[o, nl] = v
                spare_y[o, nr] = v
        if slots is not None:
            for o in range(slots.shape[0]):
                k = slots[o, i]
                slots[o, nl] = k
                spare_slots[o, nr] = k
        nl += go
        nr += 1 - go
    for i in range(nr):
        rows[nl + i] = spare[i]
        w[nl + i] = spare_w[i]
        if y is not None:
            for o in range(y.shape[0]):
                y[o, nl + i] = spare_y[o, i]
        if slots is not None:
            for o in range(slots.shape[0]):
                slots[o, nl + i] = spare_slots[o, i]
    return nl


@kernel
def pair_totals(w, y, lo, hi, classes, value):
    """Weight, weighted target, impurity and purity of a node of one target; its value."""
    wt, st, Q = 0.0, 0.0, 0.0
    low, high = y[lo], y[lo]
    for i in range(lo, hi):
        v = y[i]
        st += w[i] * v
        wt += w[i]
        Q += w[i] * v * v
        low = v if v < low else low
        high = v if v > high else high
    pure = low == high
    mean = low if pure else st / wt
    if classes:
        value[0], value[1] = 1.0 - mean, mean
        return wt, st, 2.0 * mean * (1.0 - mean), pure
    value[0] = mean
    spread = Q / wt - mean * mean
    return wt, st, 0.0 if pure or spread < 0.0 else spread, pure


@kernel
def slot_totals(w, y, slots, lo, hi, entropy, totals, value):
    """The same for many classes or outputs; `totals` = what the node has in every slot, and the sum of its squares."""
    outputs = slots.shape[0]
    wt, Q = 0.0, 0.0
    for k in range(totals.size):
        totals[k] = 0.0
    pure = True
    for i in range(lo, hi):
        wt += w[i]
        for o in range(outputs):
            amount = w[i]
            if y is not None:
                amount *= y[o, i]
                Q += amount * y[o, i]
                pure &= y[o, i] == y[o, lo]
            else:
                pure &= slots[o, i] == slots[o, lo]
            totals[slots[o, i]] += amount
    squares, logs, base = 0.0, 0.0, 0.0
    for k in range(totals.size):
        v = totals[k] / wt
        value[k] = v
        squares += v * v
        if entropy:
            logs += x_log_x(v)
            base += x_log_x(totals[k])
        else:
            base += totals[k] * totals[k]
    if y is not None:
        spread = (Q / wt - squares) / outputs
        return wt, base, 0.0 if pure or spread < 0.0 else spread, pure
    return wt, base, (-logs / _LN2 if entropy else outputs - squares) / outputs, pure


@kernel
def cut_at_random(edges, f, small, large, absent, state):
    """(last bin left, first bin right, missing goes left): a threshold drawn evenly, at the bin edge below it."""
    missing_left = 0
    if absent > 0:
        if small == large or draw(state, large - small + 1) == 0:
            return large, 256, 0
        missing_left = draw(state, np.int64(2))
    low, high = edges[f, small], edges[f, large - 1]
    t = low + (high - low) * (draw(state, np.int64(1 << 30)) / (1 << 30))
    a, b = small, large - 1
    while a < b:  # the last edge ≤ t
        mid = (a + b + 1) // 2
        if edges[f, mid] <= t:
            a = mid
        else:
            b = mid - 1
    return a, a + 1, missing_left


@kernel
def grow(
    codes,
    row_step,
    column_step,
    edges,
    n_bins,
    classes,
    entropy,
    at_random,
    max_features,
    max_depth,
    min_split,
    min_leaf,
    min_weight,
    min_decrease,
    max_leaves,
    state,
    rows,
    w,
    y,
    slots,
    features,
    left,
    feature,
    threshold,
    missing_left,
    impurity,
    count,
    weight,
    value,
):
    """Grow the tree; the number of its nodes. `left` is −1 at a leaf.

    Without `slots` there is one target `y` of shape (1, n), a number or 0 and 1. With `slots` and without `y` there are
    classes, with both several numbers. What is None is left out when this is compiled.
    """
    n, d = rows.size, edges.shape[0]
    capacity, width = value.shape
    best_first = max_leaves > 0
    frontier = np.empty(capacity, np.int32)
    gains = np.empty(capacity if best_first else 1, np.float64)
    begin = np.empty(capacity, np.int32)
    end = np.empty(capacity, np.int32)
    depth = np.empty(capacity, np.int32)
    cuts = np.empty(capacity, np.uint8)
    bins = np.empty(n, np.uint8)
    keys = np.empty(n, np.int64)
    counts = np.empty(257, np.int32)
    spare = np.empty(n, np.uint32)
    spare_w = np.empty(n, np.float64)
    spare_y, spare_slots = None, None
    if y is not None:
        spare_y = np.empty((y.shape[0], n), np.float64)
    if slots is not None:
        spare_slots = np.empty((slots.shape[0], n), np.uint32)
        hist = np.empty(256 * width, np.float64)
        totals = np.zeros(width, np.float64)
        scratch = np.empty(width, np.float64)
        outputs = slots.shape[0]
    if y is not None:
        hw = np.empty(256, np.float64)
        hs = np.empty(256, np.float64)
        target = y[0]

    slot_rows = _PAIR_ROWS * width // 2
    nothing = -1.0 if slots is None else -1e300  # no split is worse
    nodes, leaves, size = 1, 1, 1
    begin[0], end[0], depth[0], frontier[0] = 0, n, 0, 0
    if best_first:
        gains[0] = _UNSEARCHED
    root_weight = 0.0
    for i in range(n):
        root_weight += w[i]
    while size > 0:
        node, size = pop(frontier, gains, size, best_first)
        lo, hi = np.int64(begin[node]), np.int64(end[node])
        m = hi - lo
        if not best_first or gains[node] == _UNSEARCHED:
            wt, st, base, here, pure = 0.0, 0.0, 0.0, 0.0, False
            if slots is not None:
                wt, base, here, pure = slot_totals(w, y, slots, lo, hi, entropy, totals, value[node])
            elif y is not None:
                wt, st, here, pure = pair_totals(w, target, lo, hi, classes, value[node])
            left[node], feature[node], threshold[node], missing_left[node] = -1, -2, -2.0, 0
            impurity[node], count[node], weight[node] = here, m, wt
            if (
                pure
                or depth[node] >= max_depth
                or m < min_split
                or m < 2 * min_leaf
                or wt < 2 * min_weight
                or (best_first and leaves >= max_leaves)
            ):
                continue
            remaining, visited, useful = d, 0, 0
            best, below, chosen, cut, right_bin, way = nothing, 1.0, -1, 0, 0, 0
            while remaining > 0 and (visited < max_features or useful == 0):
                j = draw(state, remaining)
                remaining -= 1
                f = features[j]
                features[j] = features[remaining]
                features[remaining] = f
                visited += 1
                small, large, absent = gather(
                    codes, row_step, np.uint64(f) * column_step, n_bins[f], rows, lo, hi, bins
                )
                if large < 0 or (small == large and absent == 0):
                    continue
                useful += 1
                top, bottom, a, b, m_left = nothing, 1.0, 0, 0, 0
                if at_random:
                    a, b, m_left = cut_at_random(edges, f, small, large, absent, state)
                    if slots is not None:
                        top, bottom = slots_at(
                            bins, m, a, m_left, w, y, slots, entropy, lo, wt, min_leaf, min_weight, totals, scratch
                        )
                    elif y is not None:
                        top, bottom = pair_at(bins, m, a, m_left, w, target, lo, wt, st, min_leaf, min_weight)
                elif slots is not None:
                    if classes and outputs == 1 and m >= slot_rows:
                        top, bottom, a, b, m_left = slots_counted(
                            bins, m, small, large, absent, w, slots, entropy, lo, wt, min_leaf, min_weight,
                            totals, base, scratch, hist, counts,
                        )  # fmt: skip
                    else:
                        sort_keys(bins, m, small, counts, keys)
                        top, bottom, a, b, m_left = slots_sorted(
                            keys, m, absent, w, y, slots, entropy, lo, wt, min_leaf, min_weight, totals, base, scratch
                        )
                elif y is not None:
                    if m >= _PAIR_ROWS:
                        top, bottom, a, b, m_left = pair_counted(
                            bins, m, small, large, absent, w, target, lo, wt, st, min_leaf, min_weight, hw, hs, counts
                        )
                    else:
                        sort_keys(bins, m, small, counts, keys)
                        top, bottom, a, b, m_left = pair_sorted(
                            keys, m, absent, w, target, lo, wt, st, min_leaf, min_weight
                        )
                if top * below > best * bottom:
                    best, below, chosen, cut, right_bin, way = top, bottom, f, a, b, m_left
                    if absent == 0:
                        way = 2  # decided by the sizes of the children
            if chosen < 0:
                continue
            gain = best / below / wt * (2.0 if classes else 1.0)
            if slots is not None:
                if entropy:
                    gain = (best - base + outputs * x_log_x(wt)) / (_LN2 * outputs)
                else:
                    gain = (best / below - base / wt) / outputs
            if gain / root_weight + 2.220446049250313e-16 < min_decrease:
                continue
            feature[node], cuts[node], missing_left[node] = chosen, cut, way
            if right_bin == 256:
                threshold[node] = np.inf
            else:  # half way between the upper edge of the left bins and the lower edge of the right ones
                low, high = edges[chosen, cut], edges[chosen, right_bin - 1]
                middle = low + 0.5 * (high - low)
                threshold[node] = middle if middle < high else low
            if best_first:
                gains[node] = gain
                size = push(frontier, gains, size, node, best_first)
                continue
        if best_first and leaves >= max_leaves:
            feature[node], threshold[node], missing_left[node] = -2, -2.0, 0
            continue
        f = feature[node]
        middle_row = partition(
            codes, row_step, np.uint64(f) * column_step, n_bins[f] if missing_left[node] == 1 else -1,
            np.int64(cuts[node]), lo, hi, rows, w, y, slots, spare, spare_w, spare_y, spare_slots,
        )  # fmt: skip
        if missing_left[node] == 2:
            missing_left[node] = 1 if middle_row - lo > hi - middle_row else 0
        left[node] = nodes
        begin[nodes], end[nodes] = lo, middle_row
        begin[nodes + 1], end[nodes + 1] = middle_row, hi
        depth[nodes] = depth[nodes + 1] = depth[node] + 1
        leaves += 1
        nodes += 2
        if best_first:
            gains[nodes - 2] = gains[nodes - 1] = _UNSEARCHED
        size = push(frontier, gains, size, np.int32(nodes - 1), best_first)
        size = push(frontier, gains, size, np.int32(nodes - 2), best_first)
    return nodes
