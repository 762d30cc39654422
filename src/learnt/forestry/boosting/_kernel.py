"""Growing one tree: take the open leaf with the largest gain, split it, and so on.

The histogram of the smaller child is summed from its rows, the other's is the parent's less that. Nodes of many rows
are worked on by the whole team, small ones by the leader alone. The leader goes from stage to stage: `decide` reads the
results of the last step and posts the next one. All heavy work is called from one place (`work`), so that it is
compiled once. What comes before and after, passes over all rows, is in `_stages`.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_add, atomic_load
from learnt.forestry.boosting._histogram import BLOCK, clear, running_sums
from learnt.forestry.boosting._search import side_gain, side_value
from learnt.forestry.boosting._share import (
    AGAIN,
    BEGIN,
    BIN,
    COMMAND,
    COPIED,
    COPY,
    DEPTH,
    END,
    FEATURE,
    FRESH,
    GAIN,
    GROWN,
    HC,
    HI,
    HIGH,
    IN_HEAP,
    IN_ORDER,
    L1,
    L2,
    LARGE,
    LARGE_NODE,
    LEFT,
    LEFT_G,
    LEFT_HC,
    LO,
    LOW,
    MAX_DEPTH,
    MAX_LEAVES,
    MIN_LEAF,
    N_FREE,
    N_LEAVES,
    N_NODES,
    NEXT,
    NEXT_ROW,
    NODE,
    ORDER,
    PARENT_SUMMED,
    PART,
    PARTITION,
    PARTITIONED,
    PARTS,
    ROOT_SUMMED,
    SCALE_G,
    SCALE_H,
    SEARCH,
    SEARCH_0,
    SEARCH_SMALL,
    SEARCHED,
    SHIFT,
    SLOT,
    SLOTS,
    SMALL,
    SMALL_NODE,
    SMALL_SUMMED,
    SPLIT,
    STAGE,
    START,
    SUM,
    SUM_AND_SEARCH,
    THREADS,
    TOGETHER,
    TOTALS,
    WAY,
    WIDTH,
    WITH_GRADIENTS,
    G,
    add_parts,
    cell_place,
    layout_of,
    rows_share,
    share,
)
from learnt.forestry.boosting._stages import around
from learnt.forestry.boosting._team import DONE, STOP, gather, join, members, next_step, post

N_INTS, N_FLOATS, N_MEMORY = 12, 3, 13
HALT = 12  # of `memory`: growth is to end
BEST_FIRST, LEVELS, ANY_ORDER = 0, 1, 2
# Work from which several threads pay: updates of a histogram, rows to partition, cells to search.
_TEAM_CELLS, _TEAM_ROWS, _SEARCH_CELLS = 1 << 14, 1 << 12, 1 << 12
_STRETCH_CELLS = 1 << 19
_PART_ROWS = 1 << 13  # below, merging threads' histograms costs more than reading rows twice
_ROUNDING = 1e-12  # a gain below this share of the node's own is rounding


@kernel(allocates=False)
def before(a, b, order, node_ints, node_floats):
    """Whether leaf a is split before leaf b."""
    if order == ANY_ORDER:
        return a > b  # the newest first: few histograms are kept
    if order == LEVELS and node_ints[a, DEPTH] != node_ints[b, DEPTH]:
        return node_ints[a, DEPTH] < node_ints[b, DEPTH]
    if node_floats[a, GAIN] != node_floats[b, GAIN]:
        return node_floats[a, GAIN] > node_floats[b, GAIN]
    return a < b


@kernel(allocates=False)
def push(heap, size, node, order, node_ints, node_floats):
    k = size
    while k > 0:
        up = (k - 1) // 2
        if not before(node, heap[up], order, node_ints, node_floats):
            break
        heap[k] = heap[up]
        k = up
    heap[k] = node


@kernel(allocates=False)
def pop(heap, size, order, node_ints, node_floats):
    top, last = heap[0], heap[size - 1]
    k, size = 0, size - 1
    while 2 * k + 1 < size:
        down = 2 * k + 1
        if down + 1 < size and before(heap[down + 1], heap[down], order, node_ints, node_floats):
            down += 1
        if not before(heap[down], last, order, node_ints, node_floats):
            break
        heap[k] = heap[down]
        k = down
    heap[k] = last
    return top


@kernel(allocates=False)
def choose_features(node, sampling, allowed):
    """allowed[f] = 1 for the features this node may split on: within its groups, and of these a random `sampled`th."""
    groups, alive, sampled, draw, state = sampling
    d = allowed.size
    n = 0
    for f in range(d):
        good = groups.shape[0] == 0
        for k in range(groups.shape[0]):
            good = good or (alive[node, k] and groups[k, f])
        allowed[f] = 1 if good else 0
        if good:
            draw[n] = f
            n += 1
    if sampled >= 1.0 or n == 0:
        return
    keep = max(1, int(np.ceil(sampled * n)))
    for k in range(keep):
        state[0] += np.uint64(0x9E3779B97F4A7C15)
        z = state[0]
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
        other = k + int(z % np.uint64(n - k))
        draw[k], draw[other] = draw[other], draw[k]
    for k in range(keep, n):
        allowed[draw[k]] = 0


@kernel(allocates=False)
def sum_step(node, slot, team, n_features, memory, node_ints):
    """Next: the histogram of a node in `slot`, or in parts that the search adds up."""
    lo, hi = node_ints[node, START], node_ints[node, END]
    together = members(team) if (hi - lo) * n_features > _TEAM_CELLS else 1
    team[LO], team[HI], team[SMALL], team[IN_ORDER] = lo, hi, slot, 0
    blocks = (n_features + BLOCK - 1) // BLOCK
    by_rows = hi - lo > _PART_ROWS or n_features <= 8  # otherwise some features each
    team[PARTS] = together if together > 1 and blocks < 2 * together and by_rows else 1
    team[FRESH] = 1
    memory[TOGETHER] = together
    return SUM


@kernel(allocates=False)
def root_step(team, n_features, ints, memory, node_ints):
    """Next: some more rows of the root's histogram. It is the longest step of all and helpers take a while to come, so
    that it is done in pieces until they have arrived.
    """
    lo, end, threads = memory[NEXT_ROW], node_ints[0, END], ints[THREADS]
    together = members(team) if (end - lo) * n_features > _TEAM_CELLS else 1
    stretch = max(2 * _TEAM_ROWS, _STRETCH_CELLS // n_features)
    hi = end if together == threads or end - lo < 2 * stretch else lo + stretch
    blocks = (n_features + BLOCK - 1) // BLOCK
    team[LO], team[HI], team[SMALL], team[IN_ORDER] = lo, hi, 0, 1 - ints[PART]
    team[PARTS] = threads if threads > 1 and blocks < 2 * threads else 1
    team[FRESH] = 0
    memory[TOGETHER], memory[NEXT_ROW] = together, hi
    return SUM


@kernel(allocates=False)
def search_step(small, large, large_slot, n_cells, team, sampling, room, memory, node_ints, node_floats):
    """Next: the best splits of one node, or of two that share a parent (−1: not wanted)."""
    memory[TOGETHER] = members(team) if n_cells > _SEARCH_CELLS else 1
    team[LARGE] = large_slot
    for child in range(2):
        node = large if child else small
        memory[SEARCH_0 + child] = node
        team[SEARCH_SMALL + child] = 1 if node >= 0 else 0
        if node >= 0:
            team[TOTALS + 2 * child], team[TOTALS + 2 * child + 1] = node_ints[node, G], node_ints[node, HC]
            room.bounds[2 * child], room.bounds[2 * child + 1] = node_floats[node, LOW], node_floats[node, HIGH]
            choose_features(node, sampling, room.allowed[child])
    return SEARCH


@kernel(allocates=False)
def partition_step(node, team, n_bins, categorical, goes_left, memory, node_ints, kinds):
    """Next: the rows of a node that go left before those that go right."""
    f = node_ints[node, SPLIT]
    for b in range(256):
        goes_left[b] = 1 if b <= node_ints[node, BIN] else 0
    goes_left[n_bins[f]] = node_ints[node, WAY]
    if kinds is not None:
        for b in range(256 if categorical[f] else 0):
            goes_left[b] = kinds.sets[node, b]
    lo, hi = node_ints[node, START], node_ints[node, END]
    memory[TOGETHER] = members(team) if hi - lo > _TEAM_ROWS else 1
    team[LO], team[HI], team[FEATURE] = lo, hi, f
    return PARTITION


@kernel(allocates=False)
def turn_of(f, categorical):
    """The place of a feature in the order of search: of equal gains the first is taken, numbers before categories."""
    return f + categorical.size if f >= 0 and categorical[f] else f


@kernel(allocates=False)
def record_split(node, child, together, table, floats, shift, node_ints, node_floats, kinds, found_gain, found):
    """Keep the best of what the threads found for a node; whether there is a gain."""
    n_bins, categorical = table.n_bins, table.categorical
    best = 0
    for k in range(1, together):
        if found_gain[k, child] > found_gain[best, child] or (
            found_gain[k, child] == found_gain[best, child]
            and turn_of(found[k, child, 0], categorical) < turn_of(found[best, child, 0], categorical)
        ):
            best = k
    if found[best, child, 0] < 0:
        return False
    g, h = node_ints[node, G] * floats[SCALE_G], (node_ints[node, HC] >> shift) * floats[SCALE_H]
    own = side_gain(g, h, floats[L1], floats[L2], node_floats[node, LOW], node_floats[node, HIGH])
    gain = found_gain[best, child] - own
    if not gain > _ROUNDING * abs(own):
        return False
    node_floats[node, GAIN] = gain
    f = found[best, child, 0]
    node_ints[node, SPLIT], node_ints[node, BIN], node_ints[node, WAY] = f, found[best, child, 1], found[best, child, 2]
    node_ints[node, LEFT_G], node_ints[node, LEFT_HC] = found[best, child, 3], found[best, child, 4]
    if kinds is not None:
        for b in range(256 if categorical[f] else 0):
            kinds.sets[node, b] = kinds.found_set[best, child, b]
        if categorical[f]:
            node_ints[node, WAY] = kinds.found_set[best, child, n_bins[f]]
    return True


@kernel(allocates=False)
def make_children(node, left, middle, monotone, shift, floats, sampling, node_ints, node_floats):
    """Write down the two children: rows, sums, depth, bounds on their values, groups they may use."""
    groups, alive = sampling.groups, sampling.alive
    f = node_ints[node, SPLIT]
    node_ints[node, LEFT] = left
    middle_value = 0.0
    for side in range(2):
        child = left + side
        node_ints[child, LEFT], node_ints[child, SLOT] = -1, -1
        node_ints[child, SPLIT], node_ints[child, BIN], node_ints[child, WAY] = 0, 0, 0
        node_ints[child, DEPTH] = node_ints[node, DEPTH] + 1
        node_ints[child, START] = node_ints[node, START] if side == 0 else middle
        node_ints[child, END] = middle if side == 0 else node_ints[node, END]
        node_ints[child, G] = node_ints[node, LEFT_G] if side == 0 else node_ints[node, G] - node_ints[node, LEFT_G]
        node_ints[child, HC] = node_ints[node, LEFT_HC] if side == 0 else node_ints[node, HC] - node_ints[node, LEFT_HC]
        node_floats[child, GAIN] = 0.0
        node_floats[child, LOW], node_floats[child, HIGH] = node_floats[node, LOW], node_floats[node, HIGH]
        for k in range(groups.shape[0]):
            alive[child, k] = alive[node, k] & groups[k, f]
        g, h = node_ints[child, G] * floats[SCALE_G], (node_ints[child, HC] >> shift) * floats[SCALE_H]
        middle_value += 0.5 * side_value(g, h, floats[L1], floats[L2], node_floats[node, LOW], node_floats[node, HIGH])
    if monotone[f] != 0:
        low_side = 0 if monotone[f] > 0 else 1
        node_floats[left + low_side, HIGH] = middle_value
        node_floats[left + 1 - low_side, LOW] = middle_value


@kernel(allocates=False)
def splittable(node, ints, memory, node_ints):
    """Whether a leaf may be split at all: not at the leaf limit, not too deep, not too small."""
    count = node_ints[node, HC] & ((np.int64(1) << ints[SHIFT]) - np.int64(1))
    more = memory[N_LEAVES] < ints[MAX_LEAVES]
    return more and node_ints[node, DEPTH] < ints[MAX_DEPTH] and count >= 2 * ints[MIN_LEAF]


@kernel(allocates=False)
def give_back(slot, slots, memory, free):
    """The place of a histogram becomes free."""
    if slot >= 0 and slot < slots:
        free[memory[N_FREE]] = slot
        memory[N_FREE] += 1


@kernel(allocates=False)
def keep_or_free(node, good, slot, ints, memory, node_ints, node_floats, heap, free):
    """Put a node with a split into the heap with its histogram; otherwise free its histogram."""
    if good:
        node_ints[node, SLOT] = slot if slot < ints[SLOTS] else -1
        push(heap, memory[IN_HEAP], node, ints[ORDER], node_ints, node_floats)
        memory[IN_HEAP] += 1
    else:
        give_back(slot, ints[SLOTS], memory, free)


@kernel(allocates=False)
def clear_root(ints, n_features, pool):
    """The cells of the first place and of every thread's own begin at 0."""
    size = cell_place(ints[THREADS], ints[THREADS] * 0, ints, n_features) // ints[THREADS]
    own = (ints[SLOTS] + 2) * size
    clear(0 * size, size, pool)
    clear(own, pool.size, pool)


@kernel(allocates=False)
def root_totals(parts, cells, n_features, ints, pool, left_g, left_hc, node_ints):
    """The sums of all rows, from the histogram of the first feature: its own, or one of each thread."""
    zero = node_ints[0, G]
    for p in range(parts):
        at = cell_place(p + ints[SLOTS] + 2 if parts > 1 else p, zero, ints, n_features)
        running_sums(pool, at, cells, layout_of(ints), node_ints[0, G], node_ints[0, HC], left_g, left_hc)
        node_ints[0, G], node_ints[0, HC] = left_g[cells - 1], left_hc[cells - 1]


@kernel(allocates=False)
def decide(team, table, ints, floats, room, sampling, memory, node_ints, node_floats, kinds, waiting):
    """From what the last step found to the next step; AGAIN where `around` decides."""
    n_bins, categorical, monotone, pool, slots = table.n_bins, table.categorical, table.monotone, room.pool, ints[SLOTS]
    heap, free = waiting
    n_features = n_bins.size
    while True:
        stage = memory[STAGE]
        if stage == BEGIN:
            memory[STAGE], memory[NEXT_ROW] = WITH_GRADIENTS, 0
            memory[N_FREE] = slots - 1
            for k in range(slots):
                free[k] = slots - 1 - k
            clear_root(ints, n_features, pool)
            return AGAIN
        elif stage == ROOT_SUMMED:
            if memory[NEXT_ROW] < node_ints[0, END]:
                return root_step(team, n_features, ints, memory, node_ints)
            root_totals(team[PARTS], n_bins[0] + 1, n_features, ints, pool, room.sums[0, 0], room.sums[0, 1], node_ints)
            if not splittable(memory[NODE], ints, memory, node_ints):
                memory[STAGE] = GROWN
                return AGAIN
            memory[STAGE] = SMALL_SUMMED
            memory[SMALL_NODE], memory[LARGE_NODE], memory[SEARCH_0] = 0, -1, -2
        elif stage == SEARCHED:
            memory[STAGE] = NEXT
            for child in range(2):
                node = memory[SEARCH_0 + child]
                slot = team[LARGE] if child else team[SMALL]
                good = node >= 0 and record_split(
                    node, child, memory[TOGETHER], table, floats, ints[SHIFT], node_ints, node_floats, kinds,
                    room.found_gain, room.found,
                )  # fmt: skip
                keep_or_free(node, good, slot, ints, memory, node_ints, node_floats, heap, free)
        elif stage == NEXT:
            if memory[IN_HEAP] == 0 or memory[N_LEAVES] >= ints[MAX_LEAVES]:
                memory[STAGE] = GROWN
                return AGAIN
            node = pop(heap, memory[IN_HEAP], ints[ORDER], node_ints, node_floats)
            memory[IN_HEAP] -= 1
            memory[STAGE], memory[NODE] = PARTITIONED, node
            return partition_step(node, team, n_bins, categorical, room.goes_left, memory, node_ints, kinds)
        elif stage == PARTITIONED:
            middle = team[LO]
            for k in range(memory[TOGETHER]):
                middle += room.counts[8 * k]
            left = memory[N_NODES]
            make_children(memory[NODE], left, middle, monotone, ints[SHIFT], floats, sampling, node_ints, node_floats)
            small = left if middle - team[LO] <= team[HI] - middle else left + 1
            memory[SMALL_NODE], memory[LARGE_NODE] = small, 2 * left + 1 - small
            memory[N_NODES] += 2
            memory[N_LEAVES] += 1
            memory[STAGE] = COPIED
            return COPY
        elif stage == COPIED:
            node, small, large = memory[NODE], memory[SMALL_NODE], memory[LARGE_NODE]
            if not (splittable(small, ints, memory, node_ints) or splittable(large, ints, memory, node_ints)):
                memory[STAGE] = NEXT
                give_back(node_ints[node, SLOT], slots, memory, free)
            elif node_ints[node, SLOT] < 0:  # its histogram was not kept: sum it again
                memory[STAGE] = PARENT_SUMMED
                return sum_step(node, slots, team, n_features, memory, node_ints)
            else:
                memory[STAGE] = SMALL_SUMMED
        elif stage == PARENT_SUMMED:
            if team[PARTS] > 1:
                zero = memory[NODE] * 0
                place, size = cell_place(slots, zero, ints, n_features), cell_place(zero + 1, zero, ints, n_features)
                add_parts(pool, place, size, team[PARTS], place + 2 * size, size)
            node_ints[memory[NODE], SLOT] = slots
            memory[STAGE] = SMALL_SUMMED
        else:  # SMALL_SUMMED: sums and search, in one step where each thread searches what it has summed itself
            command, together = SEARCH, np.int64(1)
            if memory[SEARCH_0] != -2:
                memory[SEARCH_0] = -2
                slot = slots + 1
                if memory[N_FREE] > 0:
                    memory[N_FREE] -= 1
                    slot = free[memory[N_FREE]]
                sum_step(memory[SMALL_NODE], slot, team, n_features, memory, node_ints)
                if team[PARTS] > 1:
                    return SUM
                command, together = SUM_AND_SEARCH, memory[TOGETHER]
            small, large = memory[SMALL_NODE], memory[LARGE_NODE]
            memory[STAGE] = SEARCHED
            search_step(
                small if splittable(small, ints, memory, node_ints) else -1,
                large if large >= 0 and splittable(large, ints, memory, node_ints) else -1,
                node_ints[memory[NODE], SLOT], n_features * ints[WIDTH], team, sampling, room, memory, node_ints,
                node_floats,
            )  # fmt: skip
            memory[TOGETHER] = max(together, memory[TOGETHER])
            return command


@kernel(allocates=False)
def work(lead, team, table, words, ints, floats, room, sampling, tree, kinds, waiting, data):
    """Lead a team that grows a tree over the rows of node 0, or help in one until the tree is grown."""
    memory, node_ints, node_floats = tree
    me = 0 if lead else join(team)
    last, together = np.int64(0), 1
    while True:
        if lead:
            command = AGAIN
            while command == AGAIN:
                if memory[STAGE] <= SMALL_SUMMED:
                    command = decide(
                        team, table, ints, floats, room, sampling, memory, node_ints, node_floats, kinds, waiting
                    )
                else:
                    command = around(
                        team, ints, floats, memory, node_ints, node_floats, data.blocks, data.sums, data.nodes
                    )
            command = command if atomic_load(memory, HALT) == 0 else STOP
            together = memory[TOGETHER] if command != STOP else 1023
            team[COMMAND] = command
            if together > 1:
                post(team, together)
        else:
            last = next_step(team, last, me)
            together = last & 1023
        if team[COMMAND] == STOP:
            return
        if team[COMMAND] > SUM_AND_SEARCH:
            rows_share(me, together, team, words, ints, floats, room.rows, room.spare, node_ints, data)
        else:
            share(me, together, team, table, words, ints, floats, room, kinds)
        if not lead:
            atomic_add(team, DONE, 1)
        elif together > 1:
            gather(team, together)
