"""One tree on binned features, whole, in one call: frontier, choice of features, split, partition.

Rows lie in the order of the frontier: a node is a range lo…hi of positions, and splitting it is one stable pass without
branches. Weights and targets of a node are fetched once. Whole weights and classes are bytes and are summed as whole
numbers. The frontier is a stack (depth first) or a heap by gain (best first, with
`max_leaves`): a node that has not been searched yet comes before all others.

Two children lie next to each other and after their parent: right = left + 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.forestry.binned._pairs import (
    FEW,
    STOP,
    Histogram,
    Nodes,
    Place,
    draw,
    draw_column,
    last_edge,
    open_node,
    pair_few,
    pair_random,
    pair_sums,
)
from learnt.forestry.binned._search import (
    MISSING,
    ONLY_MISSING,
    Codes,
    Sides,
    clear,
    code_range,
    count_left,
    gather_few,
    gather_many,
    mark_missing,
    pair_best,
    pair_gain,
    pair_left,
    slot_best,
    slot_left,
    slot_score,
    slot_sums,
    x_log_x,
)

_UNSEARCHED = np.inf
_CLOSE = 16
_PAIR_ROWS = 160  # from here on sums a bin are quicker than sorting
_BELOW_1 = 1.0 / (1 << 30)
_LN2 = 0.6931471805599453


@kernel(allocates=False)
def push(heap, gains, size, node, best_first):
    """Put a node on the frontier: on top of the stack, or into the heap by gain."""
    heap[size] = node
    i = size if best_first else 0
    while i > 0 and gains[heap[(i - 1) // 2]] < gains[heap[i]]:
        heap[i], heap[(i - 1) // 2] = heap[(i - 1) // 2], heap[i]
        i = (i - 1) // 2
    return size + 1


@kernel(allocates=False)
def pop(heap, gains, size):
    """The node of the largest gain."""
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


@kernel(allocates=False)
def part_rows(codes, row_step, offset, missing, cut, lo, hi, rows, spare):
    """Rows that go left first, in the order they had; where the right ones begin. `missing` = a code that goes left."""
    nl, nr = lo, 0
    for i in range(lo, hi):
        r = rows[i]
        b = np.int64(codes[r * row_step + offset])
        go = (b <= cut) | (b == missing)
        rows[nl] = r
        spare[nr] = r
        nl += go
        nr += 1 - go
    return nl


@kernel(allocates=False)
def copy_rows(spare, n, rows, at):
    """The right ones behind the left ones."""
    for i in range(n):
        rows[at + i] = spare[i]


@kernel(allocates=False)
def middle_edge(edges, f, first, last, classes):
    """Which of the edges first…last to cut at, between which no row of the node is.

    For classes the one nearest to the middle, as exact trees cut in the middle of two values; for numbers the one with
    as many bins on either side. Each was a little more accurate on new rows than the other, on tables of 100,000 rows:
    seven classes by 0.0006 ± 0.00015 over 24 of them, a number by 0.0005 ± 0.00003 of R² over 20.
    """
    a, b = first, last
    middle = 0.5 * edges[f, first] + 0.5 * edges[f, last]
    while classes and b - a > 1:
        half = (a + b) // 2
        if edges[f, half] <= middle:
            a = half
        else:
            b = half
    if classes:
        return a if middle - edges[f, a] <= edges[f, b] - middle else b
    return (a + b) // 2


@kernel(allocates=False)
def fetch(source, rows, lo, n, out):
    """The entries of a node's rows."""
    for i in range(n):
        out[i] = source[rows[lo + i]]


@kernel(allocates=False)
def slot_totals(w, y, slots, n, totals):
    """Weight and weighted squares of a node; whether all rows are alike; `totals` = what it has in every slot."""
    wt, squares, pure = 0.0, 0.0, True
    for i in range(n):
        wt += w[i]
        for o in range(slots.shape[0]):
            amount = 1.0 * w[i]
            pure &= slots[o, i] == slots[o, 0]
            if y is not None:
                amount *= y[o, i]
                squares += amount * y[o, i]
                pure &= y[o, i] == y[o, 0]
            totals[slots[o, i]] += amount
    return wt, squares, pure


@kernel(allocates=False)
def slot_values(totals, wt, entropy, value, node):
    """Values of a node from its totals; sums of squares and logarithms of the values, and of the totals."""
    squares, logs, base = 0.0, 0.0, 0.0
    for k in range(totals.size):
        v = totals[k] / wt
        value[node, k] = v
        squares += v * v
        if entropy:
            logs += x_log_x(v)
            base += x_log_x(totals[k])
        else:
            base += totals[k] * totals[k]
    return squares, logs, base


class Table(NamedTuple):
    """Codes of column 0, then 1, …, and from `rows_begin` on (0: alone) the same by rows of length `row_step`."""

    codes: np.ndarray
    row_step: np.uint64
    rows_begin: np.uint64
    edges: np.ndarray
    n_bins: np.ndarray


class Kind(NamedTuple):
    """What is learnt. One of `plain` (no slots, and nothing is missing) and `general` is None."""

    plain: np.ndarray | None
    general: np.ndarray | None
    at_random: np.ndarray | None  # None: cuts drawn at random are not compiled
    random_splits: bool  # cuts are drawn, else every cut is looked at
    integer_weights: bool  # weights are bytes
    classes: bool
    entropy: bool


class Sample(NamedTuple):
    """The rows of every node side by side, and what each row of the table has.

    Without `slots` there is one target `y` of shape (1, n), a number or 0 and 1. With `slots` and without `y`, or with
    ones, there are classes, with both several numbers.
    """

    rows: np.ndarray
    w: np.ndarray
    y: np.ndarray | None
    slots: np.ndarray | None


class Work(NamedTuple):
    """Memory that growth works with: what nodes that wait have, and what the rows of one node have."""

    frontier: np.ndarray
    gains: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    depth: np.ndarray
    cuts: np.ndarray
    sums_w: np.ndarray
    sums_s: np.ndarray
    bins: np.ndarray
    keys: np.ndarray
    few_keys: np.ndarray
    spare: np.ndarray
    w: np.ndarray
    y: np.ndarray | None
    v: np.ndarray | None  # weights times y
    slots: np.ndarray | None
    hist: np.ndarray | None
    totals: np.ndarray | None
    scratch: np.ndarray | None


def work_for(sample: Sample, nodes: Nodes, best_first: bool, histogram: Histogram) -> Work:
    """Room for a tree of these rows."""
    n, (capacity, width), slots = len(sample.rows), nodes.value.shape, sample.slots
    summed = capacity if slots is None else 1
    return Work(
        frontier=np.empty(capacity, np.int32),
        gains=np.empty(capacity if best_first else 1),
        begin=np.empty(capacity, np.int32),
        end=np.empty(capacity, np.int32),
        depth=np.empty(capacity, np.int32),
        cuts=np.empty(capacity, np.uint8),
        sums_w=np.empty(summed, histogram.weights.dtype),
        sums_s=np.empty(summed, histogram.targets.dtype),
        bins=np.empty(n, np.uint8),
        keys=np.empty(n, np.int64),
        few_keys=np.empty(FEW, np.uint64),
        spare=np.empty(n, np.uint32),
        w=np.empty(n, sample.w.dtype),
        y=None if sample.y is None else np.empty((len(sample.y), n), sample.y.dtype),
        v=None if sample.y is None else np.empty(n, sample.y.dtype),
        slots=None if slots is None else np.empty((len(slots), n), np.uint32),
        hist=None if slots is None else np.empty(256 * width),
        totals=None if slots is None else np.zeros(width),
        scratch=None if slots is None else np.empty(width),
    )


@kernel(allocates=False)
def grow(table, kind, limits, draws, sample, histogram, work, nodes):
    """Grow the tree; the number of its nodes."""
    edges, n_bins, codes = table.edges, table.n_bins, table.codes
    row_step, rows_begin = table.row_step, table.rows_begin
    classes, entropy = kind.classes, kind.entropy
    min_leaf, min_weight, max_leaves = limits.min_leaf, limits.min_weight, limits.max_leaves
    state, features = draws.state, draws.features
    rows, w = sample.rows, sample.w
    y = sample.y
    slots = sample.slots
    hw, hs = histogram.weights, histogram.targets
    frontier, gains, depth = work.frontier, work.gains, work.depth
    begin, end, cuts = work.begin, work.end, work.cuts
    sums_w, sums_s = work.sums_w, work.sums_s
    bins, keys, spare = work.bins, work.keys, work.spare
    w_node = work.w
    y_node = work.y
    slots_node = work.slots
    left, feature, threshold = nodes.left, nodes.feature, nodes.threshold
    missing_left, impurity, value = nodes.missing_left, nodes.impurity, nodes.value
    n, d = rows.size, edges.shape[0]
    column_length = rows_begin // np.uint64(d)
    width = value.shape[1]
    best_first = max_leaves > 0
    if y is not None:
        target, target_node = y[0], y_node[0]
    if slots is not None:
        outputs, totals = slots.shape[0], work.totals
        sides = Sides(totals, work.scratch, entropy)

    slot_rows = _PAIR_ROWS * width // 2
    no_gain = -1.0 if slots is None else -1e300  # no split is worse
    made, leaves, size = 1, 1, 1
    begin[0], end[0], depth[0], frontier[0] = 0, n, 0, 0
    if best_first:
        gains[0] = _UNSEARCHED
    root_weight, alike = 0.0, True
    for i in range(n):
        root_weight += w[rows[i]]
        alike &= w[rows[i]] == 1
    # Sums of integers are exact: those of a child follow from the split, and a leaf is never looked at.
    in_bytes = classes and kind.integer_weights
    known = kind.plain is not None and in_bytes and not best_first
    while size > 0 and atomic_load(state, STOP) == 0:
        if best_first:
            node, size = pop(frontier, gains, size)
        else:
            size -= 1
            node = frontier[size]
        lo, hi = np.int64(begin[node]), np.int64(end[node])
        m = hi - lo
        # Many rows: their codes of one column lie close together. Few: all codes of a row do.
        close = _CLOSE * m >= n and rows_begin > np.uint64(0)
        start = np.uint64(0) if close else rows_begin
        step = np.uint64(1) if close else row_step
        jump = column_length if close else np.uint64(1)
        if not best_first or gains[node] == _UNSEARCHED:
            base, here, pure = 0.0, 0.0, False
            st, best_w, best_s = hs[0], hw[0], hs[0]
            if slots is not None:
                fetch(w, rows, lo, m, w_node)
                for o in range(outputs):
                    fetch(slots[o], rows, lo, m, slots_node[o])
                    if y is not None:
                        fetch(y[o], rows, lo, m, y_node[o])
                clear(totals, 0, width)
                wt, squares, pure = slot_totals(w_node, y_node, slots_node, m, totals)
                inner, logs, base = slot_values(totals, wt, entropy, value, node)
                if not classes:
                    here = (squares / wt - inner) / outputs
                else:
                    here = (-logs / _LN2 if entropy else outputs - inner) / outputs
            elif y is not None:
                if known and node > 0:
                    wt, st = sums_w[node], sums_s[node]
                else:
                    wt, st, squares, low, high = open_node(
                        w, target, rows, np.uint64(lo), np.uint64(m), w_node, target_node, work.v
                    )
                mean = st / wt
                if classes:
                    pure = st == 0 or st == wt
                    value[node, 0], value[node, 1] = (wt - st) / wt, mean
                    here = 2.0 * mean * (1.0 - mean)
                else:
                    pure = low == high
                    value[node, 0] = np.float64(low) if pure else mean
                    here = squares / wt - mean * mean
            here = 0.0 if pure or here < 0.0 else here
            left[node], feature[node], threshold[node], missing_left[node] = -1, -2, -2.0, 0
            impurity[node], nodes.rows[node], nodes.weight[node] = here, m, wt
            if (
                pure
                or depth[node] >= limits.max_depth
                or m < limits.min_split
                or m < 2 * min_leaf
                or wt < 2 * min_weight
                or (best_first and leaves >= max_leaves)
            ):
                continue
            remaining, visited, useful = d, 0, 0
            best, below, chosen, cut, right_bin, way = no_gain, 1.0, -1, 0, 0, 0
            if kind.general is not None:
                while remaining > 0 and (visited < limits.max_features or useful == 0):
                    f = draw_column(state, features, remaining)
                    remaining -= 1
                    visited += 1
                    offset = start + np.uint64(f) * jump
                    if m < 16:
                        small, large = gather_few(codes, step, offset, rows, lo, m, bins)
                    else:
                        gather_many(codes, step, offset, rows, lo, m, bins)
                        small, large = code_range(bins, m)
                    absent = 0
                    if large == n_bins[f]:
                        large, absent = mark_missing(bins, m, n_bins[f], MISSING)
                    if large < 0 or (small == large and absent == 0):
                        continue
                    useful += 1
                    top, bottom, a, b, m_left = no_gain, 1.0, 0, 0, 0
                    if kind.at_random is not None and kind.random_splits:
                        only_missing = absent > 0 and (small == large or draw(state, large - small + 1) == 0)
                        a, b = large, ONLY_MISSING
                        if not only_missing:
                            low, high = edges[f, small], edges[f, large - 1]
                            t = low + (high - low) * (draw(state, np.int64(1 << 30)) * _BELOW_1)
                            a = last_edge(edges, f, small, large, t)
                            b = a + 1
                            if absent > 0:
                                m_left = draw(state, np.int64(2))
                                if m_left == 1:
                                    mark_missing(bins, m, MISSING, 0)
                        count_a = count_left(bins, m, a) if min_leaf > 1 else 1
                        count_b = m - count_a if min_leaf > 1 else 1
                        if slots is not None:
                            clear(work.scratch, 0, width)
                            wl = slot_left(bins, m, a, w_node, y_node, slots_node, work.scratch)
                            gl, gr = slot_sums(totals, work.scratch, entropy)
                            if count_a >= min_leaf and count_b >= min_leaf and min(wl, wt - wl) >= min_weight:
                                top, bottom = slot_score(gl, gr, wl, wt - wl, entropy, outputs)
                        elif y is not None:
                            wl, sl = pair_left(bins, m, a, w_node, target_node, 0 * wt)
                            top, bottom = pair_gain(wl, sl, wt, st, count_a, count_b, min_leaf, min_weight)
                    elif slots is not None:
                        many = classes and outputs == 1 and m >= slot_rows
                        column = Codes(bins, m, small, large, absent)
                        top, bottom, a, b, m_left = slot_best(
                            column, w_node, y_node, slots_node, wt, base, limits, sides, many, keys,
                            histogram.counts, work.hist,
                        )  # fmt: skip
                    elif y is not None:
                        column = Codes(bins, m, small, large, absent)
                        top, bottom, a, b, m_left = pair_best(
                            column, w_node, target_node, wt, st, limits, m >= _PAIR_ROWS, keys, histogram
                        )
                    if top * below > best * bottom:
                        best, below, chosen, cut, right_bin, way = top, bottom, f, a, b, m_left
                        if absent == 0:
                            way = 2  # decided by the sizes of the children
                        if m == 2:
                            visited = (
                                limits.max_features
                            )  # every other column parts the two rows as well, and none better
            elif kind.plain is not None:
                remaining, way = 0, 2
                if known and node > 0:
                    open_node(w, target, rows, np.uint64(lo), np.uint64(m), w_node, target_node, work.v)
                place = Place(codes, start, step, jump, rows, np.uint64(lo))
                if kind.at_random is not None and kind.random_splits:
                    best, below, chosen, cut, right_bin, best_w, best_s = pair_random(
                        place, m, w_node, work.v, wt, st, alike, in_bytes, limits, draws, edges, bins
                    )
                elif m <= FEW:
                    best, below, chosen, cut, right_bin, best_w, best_s = pair_few(
                        place, m, w_node, work.v, wt, st, limits, draws, work.few_keys
                    )
                else:
                    best, below, chosen, cut, right_bin, best_w, best_s = pair_sums(
                        place, m, w_node, work.v, wt, st, limits, draws, n_bins, histogram
                    )
            if chosen < 0:
                continue
            gain = best / below / wt * (2.0 if classes else 1.0)
            if slots is not None:
                if entropy:
                    gain = (best - base + outputs * x_log_x(wt)) / (_LN2 * outputs)
                else:
                    gain = (best / below - base / wt) / outputs
            if gain / root_weight + 2.220446049250313e-16 < limits.min_decrease:
                continue
            feature[node], cuts[node], missing_left[node] = chosen, cut, way
            if right_bin == ONLY_MISSING:
                threshold[node] = np.inf
            else:
                threshold[node] = edges[chosen, middle_edge(edges, chosen, cut, right_bin - 1, classes)]
            if best_first:
                gains[node] = gain
                size = push(frontier, gains, size, node, best_first)
                continue
        if best_first and leaves >= max_leaves:
            feature[node], threshold[node], missing_left[node] = -2, -2.0, 0
            continue
        f = feature[node]
        offset = start + np.uint64(f) * jump
        goes_left = n_bins[f] if missing_left[node] == 1 else -1
        middle = part_rows(codes, step, offset, goes_left, np.int64(cuts[node]), lo, hi, rows, spare)
        copy_rows(spare, hi - middle, rows, middle)
        if missing_left[node] == 2:
            missing_left[node] = 1 if middle - lo > hi - middle else 0
        left[node] = made
        begin[made], end[made] = lo, middle
        begin[made + 1], end[made + 1] = middle, hi
        if slots is None and known:
            sums_w[made], sums_s[made] = best_w, best_s
            sums_w[made + 1], sums_s[made + 1] = wt - best_w, st - best_s
        depth[made] = depth[made + 1] = depth[node] + 1
        leaves += 1
        made += 2
        if best_first:
            gains[made - 2] = gains[made - 1] = _UNSEARCHED
        size = push(frontier, gains, size, np.int32(made - 1), best_first)
        size = push(frontier, gains, size, np.int32(made - 2), best_first)
    return made
