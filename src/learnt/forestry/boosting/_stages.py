"""What comes before and after the growth of a tree: the leader's stages that pass over all rows.

Gradients and their scales, rounding; then, with the tree grown, the leaf of every row, the values of leaves, and new
scores. In between the stages are those of `_kernel`.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.boosting._histogram import CONSTANT, EXACT
from learnt.forestry.boosting._rows import NOISE_G, NOISE_H, ROWS, TOP_G, TOP_H, node_sums, node_values, power
from learnt.forestry.boosting._share import (
    AGAIN,
    FORM,
    GRADIENT_BITS,
    GRADIENTS,
    GROWN,
    HC,
    HESSIAN_BITS,
    HI,
    HIGH,
    L1,
    L2,
    LEAF_G,
    LEAF_H,
    LEAF_SUMS,
    LEAVES,
    LEAVES_SUMMED,
    LEFT,
    LO,
    LOW,
    N_NODES,
    N_ROWS,
    NAMED,
    NEXT_ROW,
    NO_LEAVES,
    NOISE,
    NOISY,
    PART,
    QUANTISE,
    RATE,
    ROOT_SUMMED,
    ROUNDED,
    SCALE_G,
    SCALE_H,
    SHIFT,
    STAGE,
    SUM_AGAIN,
    THREADS,
    TO_G,
    TO_H,
    TO_NAME,
    TO_UPDATE,
    TOGETHER,
    UPDATE,
    WITH_GRADIENTS,
    G,
)
from learnt.forestry.boosting._team import STOP, members

_STRETCH_BLOCKS = 4
_TEAM_ROWS = 1 << 12  # rows from which several threads pay
_TINY = float(np.finfo(np.float64).tiny)


@kernel(allocates=False)
def rows_step(team, ints, memory):
    """Next: some more blocks of a pass over all rows; all remaining ones once every helper has arrived."""
    lo, end = memory[NEXT_ROW], n_blocks(ints[N_ROWS])
    together = members(team) if end - lo > 1 else 1
    hi = end if together == ints[THREADS] or end - lo < 4 * _STRETCH_BLOCKS else lo + _STRETCH_BLOCKS
    team[LO], team[HI] = lo, hi
    memory[TOGETHER], memory[NEXT_ROW] = together, hi


@kernel(allocates=False)
def n_blocks(n_rows):
    return (n_rows + ROWS - 1) // ROWS


@kernel(allocates=False)
def set_scales(blocks, ints, floats):
    """The scales that turn gradients and hessians into integers, from the statistics of all blocks."""
    top_g, top_h, noise_g, noise_h = 0.0, 0.0, 0.0, 0.0
    for b in range(blocks.shape[0]):
        top_g, top_h = max(top_g, blocks[b, TOP_G]), max(top_h, blocks[b, TOP_H])
        noise_g += blocks[b, NOISE_G]
        noise_h += blocks[b, NOISE_H]
    spare = np.int64(62)
    while ints[N_ROWS] >> (np.int64(62) - spare) > 0:  # bits that sums of all rows leave
        spare -= 1
    to_g, to_h = 1.0, 1.0
    if ints[FORM] == EXACT:
        to_g, to_h = power(min(np.int64(52), spare), top_g), power(min(np.int64(52), spare - ints[SHIFT]), top_h)
    elif ints[FORM] == CONSTANT:
        to_g, to_h = power(ints[GRADIENT_BITS] - 1, top_g), 1.0 / top_h
    else:
        if top_g > 0.0:
            to_g = ((1 << (ints[GRADIENT_BITS] - 1)) - 2) / top_g
        if top_h > 0.0:
            to_h = ((1 << ints[HESSIAN_BITS]) - 2) / top_h
    floats[TO_G], floats[TO_H], floats[SCALE_G], floats[SCALE_H] = to_g, to_h, 1.0 / to_g, 1.0 / to_h
    floats[LEAF_G], floats[LEAF_H] = power(spare, top_g), power(spare, top_h)
    floats[NOISE] = noise_g / max(noise_h, _TINY) if ints[NOISY] else 0.0


@kernel(allocates=False)
def clear_sums(n_nodes, sums):
    for k in range(sums.shape[1]):
        for node in range(n_nodes):
            sums[0, k, node], sums[1, k, node] = 0, 0


@kernel(allocates=False)
def known_sums(n_nodes, ints, floats, node_ints, out):
    """Sums of gradients and hessians of nodes as they were grown with."""
    for node in range(n_nodes):
        out[1, node] = node_ints[node, G] * floats[SCALE_G]
        out[2, node] = (node_ints[node, HC] >> ints[SHIFT]) * floats[SCALE_H]


@kernel(allocates=False)
def around(team, ints, floats, memory, node_ints, node_floats, blocks, sums, nodes):
    """The next step before or after the growth; AGAIN where `decide` decides, STOP when all is done."""
    more = memory[NEXT_ROW] < n_blocks(ints[N_ROWS])
    stage = memory[STAGE]
    if stage == WITH_GRADIENTS:
        if more:
            rows_step(team, ints, memory)
            return GRADIENTS
        set_scales(blocks, ints, floats)
        memory[STAGE], memory[NEXT_ROW] = ROUNDED, 0
    elif stage == ROUNDED:
        if more:
            rows_step(team, ints, memory)
            return QUANTISE
        memory[STAGE], memory[NEXT_ROW] = ROOT_SUMMED, 0
    elif stage == GROWN:
        memory[NEXT_ROW] = 0 if ints[PART] else n_blocks(ints[N_ROWS])
        memory[STAGE] = TO_NAME
    elif stage == TO_NAME:
        if more:
            rows_step(team, ints, memory)
            return NO_LEAVES
        team[HI] = memory[N_NODES]
        memory[TOGETHER] = members(team) if ints[N_ROWS] > _TEAM_ROWS else 1
        memory[STAGE], memory[NEXT_ROW] = NAMED, 0
        clear_sums(memory[N_NODES], sums)
        return LEAVES
    elif stage == NAMED:
        if ints[SUM_AGAIN] and more:
            rows_step(team, ints, memory)
            return LEAF_SUMS
        known_sums(memory[N_NODES], ints, floats, node_ints, nodes)
        for which in range(0 if not ints[SUM_AGAIN] else 1 if ints[FORM] == CONSTANT else 2):
            scale = floats[LEAF_H] if which else floats[LEAF_G]
            node_sums(memory[N_NODES], node_ints[:, LEFT], scale, sums[which], nodes[1 + which])
        node_values(
            memory[N_NODES], floats[RATE], floats[L1], floats[L2], node_floats[:, LOW], node_floats[:, HIGH], nodes
        )
        memory[STAGE], memory[NEXT_ROW] = LEAVES_SUMMED, 0
    else:
        if ints[TO_UPDATE] == 0 or not more:
            return STOP
        rows_step(team, ints, memory)
        return UPDATE
    return AGAIN
