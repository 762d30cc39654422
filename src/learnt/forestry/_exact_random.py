"""Extremely randomised trees: at each node one random threshold for each column drawn, and nothing sorted.

Dense numbers, one output, depth first. Rows of a node are read once for four columns, which a cache line often holds
together. So four columns and their thresholds are drawn ahead; where one of the columns turns out to be constant, or
to have missing values, which take a draw of their own, those after it are given back. The draws are then
scikit-learn's, one column after the other.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry._criteria import GINI, class_purity, number_purity
from learnt.forestry._exact_data import (
    CRITERION,
    FEATURE,
    GAP,
    LABEL_BITS,
    LABEL_MASK,
    MAX_FEATURES,
    MIN_LEAF,
    MIN_WEIGHT,
    MISSING_LEFT,
    N_CLASSES,
    N_MISSING,
    NOTHING,
    POSITION,
    ROW_SHIFT,
    RUNNING,
    SCORE,
    SEED,
    THRESHOLD,
    TOTALS,
    WEIGHT_MASK,
)
from learnt.forestry._exact_draws import draw, remember_constants
from learnt.forestry._exact_plain import (
    cut_of,
    encode,
    missing_first,
    missing_last,
)
from learnt.forestry._exact_records import NAN_CODE, record_value

AHEAD = 4  # columns drawn and read at a time
COLUMN, PLACE, STATE, FRACTION, N_DRAWN = range(5)  # of a column drawn: which, from where, the generator then, its draw


@kernel(allocates=False)
def read_four(start, m, shift, a, b, c, d, table, marks, codes):
    """Four columns of the node's rows."""
    for k in range(m):
        row = np.int64(marks[start + k]) >> shift
        codes[0, k] = table[row, a]
        codes[1, k] = table[row, b]
        codes[2, k] = table[row, c]
        codes[3, k] = table[row, d]


@kernel(allocates=False)
def read_one(start, m, shift, column, table, marks, codes):
    for k in range(m):
        codes[0, k] = table[np.int64(marks[start + k]) >> shift, column]


@kernel(allocates=False)
def count_rows(codes, b, m, cut):
    """How many are on the left."""
    n_left = np.int32(0)
    for k in range(m):
        n_left = np.int32(n_left + np.int32(codes[b, k] <= cut))
    return np.int64(n_left)


@kernel(allocates=False)
def count_two(codes, b, marks, start, m, cut):
    """How many rows are on the left, and how many of them have class 1."""
    n_left, ones = np.int32(0), np.int32(0)
    for k in range(m):
        left = np.int32(codes[b, k] <= cut)
        n_left = np.int32(n_left + left)
        ones = np.int32(ones + (left & np.int32(marks[start + k])))
    return np.int64(n_left), np.int64(ones)


@kernel(allocates=False)
def weigh_two(codes, b, marks, start, m, cut, bits, mask):
    """The same with weights: rows, their weight, and the weight of class 1."""
    n_left, weight, ones = np.int32(0), np.int32(0), np.int32(0)
    for k in range(m):
        mark, left = marks[start + k], np.int32(codes[b, k] <= cut)
        w = np.int32(np.int32((mark >> bits) & mask) * left)
        n_left = np.int32(n_left + left)
        weight = np.int32(weight + w)
        ones = np.int32(ones + w * np.int32(mark & np.uint32(1)))
    return np.int64(n_left), np.int64(weight), np.int64(ones)


@kernel(allocates=False)
def weigh_many(codes, b, marks, start, m, cut, bits, mask, label_mask, sums):
    """The weights of the classes on the left into sums[RUNNING]; of all of them together."""
    weight = np.int64(0)
    for k in range(m):
        mark = np.int64(marks[start + k])
        w = ((mark >> bits) & mask if mask else np.int64(1)) * np.int64(codes[b, k] <= cut)
        weight += w
        sums[RUNNING, 0, mark & label_mask] += w
    return np.float64(weight)


@kernel(allocates=False)
def sum_left(codes, b, heaps, m, cut):
    """Weight and sum of y of the rows on the left."""
    weight, total = 0.0, 0.0
    for k in range(m):
        left = np.float64(codes[b, k] <= cut)
        weight += left * heaps[0, k]
        total += left * heaps[1, k]
    return weight, total


@kernel(allocates=False)
def gini_score(wl, ones, weight, all_ones):
    """Both sides' purity of two classes, as `class_purity` has it."""
    zeros, wr, others = wl - ones, weight - wl, all_ones - ones
    rest = wr - others
    left = max(-wl * (1.0 - (zeros * zeros + ones * ones) / (wl * wl)), -np.inf)
    return left + max(-wr * (1.0 - (rest * rest + others * others) / (wr * wr)), -np.inf)


@kernel(allocates=False)
def part_codes(b, start, m, cut, marks, codes):
    """Rows at or below the cut before the others, both in their old order."""
    n_left, n_right = start, 0
    for k in range(m):
        mark, goes = marks[start + k], np.int64(codes[b, k] <= cut)
        marks[n_left] = mark
        codes[AHEAD, n_right] = np.int32(mark)
        n_left += goes
        n_right += 1 - goes
    move_back(n_left, n_right, marks, codes)


@kernel(allocates=False)
def move_back(first, n, marks, codes):
    for k in range(n):
        marks[first + k] = np.uint32(codes[AHEAD, k])


@kernel(allocates=False)
def search_random(
    start, m, known, weight, table, marks, logs, heaps, facts, rules, limits, features, sums, codes, drawn, best, chosen
):
    """The best of the random splits into `best` and `chosen`; how many columns are known as constant, and the row of
    `codes` that has the codes of the column chosen, or −1 where they are gone.
    """
    shift, criterion, n_sums, zero = rules[ROW_SHIFT], rules[CRITERION], sums.shape[2], np.int64(0)
    bits, mask, label_mask = rules[LABEL_BITS], rules[WEIGHT_MASK], rules[LABEL_MASK]
    running, nothing, all_rows = np.int64(RUNNING), np.int64(NOTHING), np.int64(TOTALS)
    two, gini = rules[N_CLASSES] == 2, rules[N_CLASSES] == 2 and criterion == GINI
    undrawn, found, constants, visited = features.shape[1], 0, 0, 0
    resident, gap = np.int64(-1), facts[GAP, 0]
    while undrawn > known + found and (visited < rules[MAX_FEATURES] or visited <= found + constants):
        batch = max(1, min(AHEAD, rules[MAX_FEATURES] - visited, undrawn - found)) if known == 0 else 1
        n_drawn = 0
        while n_drawn < batch:
            visited += 1
            j = constants + draw(chosen) % (undrawn - found - constants)
            if j < known:
                features[0, constants], features[0, j] = features[0, j], features[0, constants]
                constants += 1
                break
            j += found
            undrawn -= 1
            features[0, undrawn], features[0, j] = features[0, j], features[0, undrawn]
            drawn[n_drawn, COLUMN], drawn[n_drawn, PLACE] = features[0, undrawn], j
            drawn[n_drawn, STATE] = chosen[SEED]
            drawn[n_drawn, FRACTION] = draw(chosen)
            n_drawn += 1
        if n_drawn == 0:
            continue
        if n_drawn == 1:
            read_one(start, m, shift, drawn[0, COLUMN], table, marks, codes)
        else:
            last = n_drawn - 1
            read_four(
                start, m, shift, drawn[0, COLUMN], drawn[1, COLUMN], drawn[min(2, last), COLUMN],
                drawn[last, COLUMN], table, marks, codes,
            )  # fmt: skip
        resident = np.int64(-1)
        b = 0
        while b < n_drawn:
            slot = b if b < n_drawn - 1 or n_drawn == 1 else 3
            low, high = encode(codes, slot, m)
            n_missing, missing_left = zero, zero
            if high == NAN_CODE:
                n_missing, high = missing_last(codes, slot, m)
            least, most = record_value(low << 32), record_value(high << 32)
            varies = n_missing < m and (n_missing > 0 or most > np.float32(least + np.float32(gap)))
            fraction = drawn[b, FRACTION]
            if not varies or n_missing > 0:  # the draws after this column were others
                visited -= n_drawn - 1 - b
                while n_drawn > b + 1:
                    n_drawn -= 1
                    j = drawn[n_drawn, PLACE]
                    features[0, undrawn], features[0, j] = features[0, j], features[0, undrawn]
                    undrawn += 1
                chosen[SEED] = drawn[b, STATE]
            if not varies:
                j = drawn[b, PLACE]
                features[0, undrawn], features[0, j] = features[0, j], features[0, undrawn]
                undrawn += 1
                features[0, known + found], features[0, j] = features[0, j], features[0, known + found]
                found += 1
                break
            if n_missing > 0:
                fraction = draw(chosen)
                missing_left = draw(chosen) & 1
                if missing_left:
                    missing_first(codes, slot, m)
            at = (np.float64(most) - np.float64(least)) * fraction / 2147483647.0 + np.float64(least)
            if at == most:
                at = np.float64(least)
            here = cut_of(at)
            wl, score, rows, ones = 0.0, 0.0, zero, zero
            if logs is not None:
                if two and mask == 0:
                    rows, ones = count_two(codes, slot, marks, start, m, here)
                    wl = np.float64(rows)
                elif two:
                    rows, heavy, ones = weigh_two(codes, slot, marks, start, m, here, np.uint32(bits), np.uint32(mask))
                    wl = np.float64(heavy)
                else:
                    rows = count_rows(codes, slot, m, here)
                    for c in range(n_sums):
                        sums[RUNNING, 0, c] = 0.0
                    wl = weigh_many(codes, slot, marks, start, m, here, bits, mask, label_mask, sums)
            if heaps is not None:
                rows = count_rows(codes, slot, m, here)
                wl, sums[RUNNING, 0, 0] = sum_left(codes, slot, heaps, m, here)
            b += 1
            if min(rows, m - rows) < rules[MIN_LEAF] or min(wl, weight - wl) < limits[MIN_WEIGHT]:
                continue
            if logs is not None:
                if gini:
                    score = gini_score(wl, np.float64(ones), weight, sums[TOTALS, 0, 1])
                else:
                    if two:
                        sums[RUNNING, 0, 0], sums[RUNNING, 0, 1] = wl - ones, np.float64(ones)
                    score = class_purity(criterion, sums, running, nothing, wl)
                    score += class_purity(criterion, sums, all_rows, running, weight - wl)
            if heaps is not None:
                score = number_purity(criterion, sums, running, nothing, wl)
                score += number_purity(criterion, sums, all_rows, running, weight - wl)
            if score > best[SCORE]:
                best[SCORE], best[THRESHOLD] = score, at
                chosen[FEATURE], chosen[POSITION], chosen[N_MISSING] = drawn[b - 1, COLUMN], rows, n_missing
                chosen[MISSING_LEFT] = missing_left if n_missing > 0 else (1 if 2 * rows > m else 0)
                resident = slot
    return remember_constants(known, found, features), resident


@kernel(allocates=False)
def part_random(resident, start, m, shift, table, marks, codes, best, chosen):
    """Rows at or below the threshold before the others, both in their old order."""
    b, zero = resident, np.int64(0)
    if resident < 0:
        b = zero
        read_one(start, m, shift, chosen[FEATURE], table, marks, codes)
        encode(codes, zero, m)
        if chosen[N_MISSING] > 0 and chosen[MISSING_LEFT] > 0:
            missing_first(codes, zero, m)
    part_codes(b, start, m, cut_of(best[THRESHOLD]), marks, codes)
