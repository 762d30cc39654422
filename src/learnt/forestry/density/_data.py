"""What growth and its scores share: indices of records, and the position of a cut."""

from __future__ import annotations

from learnt.engine.kernel import kernel

SQUARED, NON_UNIFORM, ENTROPY, GAUSSIAN, DIAGONAL = range(5)
# places of `rules`; FEWEST: the fewest rows of a node that is split
SCORE, RANDOM, MAX_LEAVES, MIN_LEAF, MAX_DEPTH, MAX_FEATURES, FEWEST, N_RULES = range(8)
# places of a node's integers and numbers; TOTAL: the weight of all rows, in the record that growth starts from
START, END, DEPTH, LEFT, FEATURE, POSITION, N_INTS = range(7)
GAIN, CUT, WEIGHT, LOG_VOLUME, LEFT_WEIGHT, TOTAL, N_FLOATS = range(7)


@kernel(allocates=False)
def between(low, high):
    """A cut between two values, below the upper one."""
    middle = low + 0.5 * (high - low)
    return middle if middle < high else low


@kernel(allocates=False)
def random_cut(node, f, values, start, end, uniform):
    """A cut anywhere among a node's values of a column, and the first place above it."""
    cut = values[f, start] + uniform[node, values.shape[0] + f] * (values[f, end - 1] - values[f, start])
    at, top = start, end
    while at < top:
        middle = (at + top) // 2
        if values[f, middle] <= cut:
            at = middle + 1
        else:
            top = middle
    return cut, at
