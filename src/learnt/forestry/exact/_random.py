"""Extremely randomised trees: at each node one random threshold for each column drawn, and nothing sorted.

Dense numbers, one output. Rows of a node are read once for four columns, whose values lie side by side from then on
(`_four_columns`). So four columns and their thresholds are drawn ahead; where one of the columns turns out to be
constant, or to have missing values, which take a draw of their own, those after it are given back. The draws are then
scikit-learn's, one column after the other.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.forestry.exact._criteria import GINI, class_purity, number_purity
from learnt.forestry.exact._data import (
    EMPTY_SUMS,
    FEATURE,
    GAP,
    MANY,
    MISSING_LEFT,
    N_MISSING,
    POSITION,
    RUNNING,
    SCORE,
    SEED,
    STOP,
    THRESHOLD,
    TOTALS,
)
from learnt.forestry.exact._draws import draw, remember_constants
from learnt.forestry.exact._four_columns import (
    ABSENT,
    COLUMN,
    CUT,
    FOUR,
    FRACTION,
    HIGH,
    LOW,
    PLACE,
    ROWS,
    STATE,
    TOTAL,
    WEIGHT,
    count_four,
    put_missing_first,
    read_four,
    sum_four,
    value_of,
)
from learnt.forestry.exact._four_columns import N_DRAWN as N_DRAWN

AHEAD = FOUR  # columns drawn and read at a time


@kernel(allocates=False)
def gini_score(wl, ones, weight, all_ones):
    """Both sides' purity of two classes, as `class_purity` has it."""
    zeros, wr, others = wl - ones, weight - wl, all_ones - ones
    rest = wr - others
    left = max(-wl * (1.0 - (zeros * zeros + ones * ones) / (wl * wl)), -np.inf)
    return left + max(-wr * (1.0 - (rest * rest + others * others) / (wr * wr)), -np.inf)


@kernel(allocates=False)
def number(drawn, b, name):
    """A float32 that is there by its bits."""
    return np.int32(drawn[b, name]).view(np.float32)


@kernel(allocates=False)
def threshold_of(drawn, b):
    """The threshold drawn for a column."""
    least, most = np.float64(number(drawn, b, LOW)), np.float64(number(drawn, b, HIGH))
    at = (most - least) * drawn[b, FRACTION] / 2147483647.0 + least
    return least if at == most else at


@kernel(allocates=False)
def cut_bits(threshold):
    """The bits of the largest float32 at or below the threshold, by sums: which way it is rounded cannot be guessed."""
    rounded = np.float32(threshold)
    bits = np.int64(rounded.view(np.int32))
    return bits - np.int64(rounded > threshold) * ((bits >> 63) | 1)


@kernel(allocates=False)
def draw_ahead(known, found, constants, undrawn, batch, features, drawn, chosen):
    """Draw up to `batch` columns that are not known as constant; how many, and whether one that is ended it."""
    n = np.int64(0)
    while n < batch:
        j = constants + draw(chosen) % (undrawn - found - constants)
        if j < known:
            features[0, constants], features[0, j] = features[0, j], features[0, constants]
            return n, True
        j += found
        undrawn -= 1
        features[0, undrawn], features[0, j] = features[0, j], features[0, undrawn]
        drawn[n, COLUMN], drawn[n, PLACE], drawn[n, STATE] = features[0, undrawn], j, chosen[SEED]
        drawn[n, FRACTION] = draw(chosen)
        n += 1
    return n, False


@kernel(allocates=False)
def give_back(first, n, undrawn, features, drawn):
    """Columns first…n − 1 of those drawn are not; how many are undrawn then."""
    for b in range(n - 1, first - 1, -1):
        j = drawn[b, PLACE]
        features[0, undrawn], features[0, j] = features[0, j], features[0, undrawn]
        undrawn += 1
    return undrawn


@kernel(allocates=False)
def split_score(b, wl, weight, gini, rules, logs, sums, drawn):
    """The purity of both sides of a column's cut."""
    running, empty, all_rows = np.int64(RUNNING), np.int64(EMPTY_SUMS), np.int64(TOTALS)
    if logs is not None:
        if gini:
            return gini_score(wl, np.float64(drawn[b, TOTAL]), weight, sums[TOTALS, 0, 1])
        if rules.n_classes == 2:
            sums[RUNNING, 0, 0], sums[RUNNING, 0, 1] = wl - drawn[b, TOTAL], np.float64(drawn[b, TOTAL])
        score = class_purity(rules.criterion, sums, running, empty, wl)
        return score + class_purity(rules.criterion, sums, all_rows, running, weight - wl)
    sums[RUNNING, 0, 0] = np.int64(drawn[b, TOTAL]).view(np.float64)
    score = number_purity(rules.criterion, sums, running, empty, wl)
    return score + number_purity(rules.criterion, sums, all_rows, running, weight - wl)


@kernel(allocates=False)
def weigh_classes(b, start, m, bits, mask, label_mask, marks, codes, drawn, sums):
    """The weights of many classes at or below the cut of one column into sums[RUNNING]."""
    cut = number(drawn, b, CUT)
    for c in range(sums.shape[2]):
        sums[RUNNING, 0, c] = 0.0
    for k in range(m):
        mark = np.int64(marks[start + k])
        w = (mark >> bits) & mask if mask else np.int64(1)
        sums[RUNNING, 0, mark & label_mask] += np.float64(w) if value_of(codes, b, k) <= cut else 0.0


@kernel(allocates=False)
def search_random(start, m, known, weight, table, marks, logs, rules, work, best, chosen):
    """The best of the random splits into `best` and `chosen`; how many columns are known as constant, and which of the
    four columns in `codes` is the one chosen, or −1 where it is not there any more.
    """
    features, sums, codes = work.features, work.sums, work.codes
    drawn, heaps = work.drawn, work.heaps
    shift, zero, one = rules.row_shift, np.int64(0), np.int64(1)
    bits, mask, label_mask = rules.label_bits, rules.weight_mask, rules.label_mask
    two, gini = rules.n_classes == 2, rules.n_classes == 2 and rules.criterion == GINI
    undrawn, found, constants, visited = features.shape[1], zero, zero, zero
    resident, gap = np.int64(-1), np.float32(rules.facts[GAP, 0])
    while undrawn > known + found and (visited < rules.max_features or visited <= found + constants):
        if m > MANY and atomic_load(chosen, STOP) != 0:
            break
        batch = max(one, min(np.int64(AHEAD), rules.max_features - visited, undrawn - found)) if known == 0 else one
        n_drawn, again = draw_ahead(known, found, constants, undrawn, batch, features, drawn, chosen)
        visited += n_drawn + again
        constants += again
        undrawn -= n_drawn
        if n_drawn == 0:
            continue
        for b in range(n_drawn, AHEAD):
            drawn[b, COLUMN] = drawn[0, COLUMN]
        read_four(table, np.int64(table.shape[1]), marks, start, m, shift, codes, drawn)
        resident, missing_left, n_cuts = np.int64(-1), zero, zero
        while n_cuts < n_drawn:
            b = n_cuts
            n_missing = drawn[b, ABSENT]
            most, least = number(drawn, b, HIGH), number(drawn, b, LOW)
            varies = n_missing < m and (n_missing > 0 or most > np.float32(least + gap))
            if not varies or n_missing > 0:  # the draws after this column were others
                undrawn = give_back(b + 1, n_drawn, undrawn, features, drawn)
                visited -= n_drawn - 1 - b
                n_drawn = b + 1
                chosen[SEED] = drawn[b, STATE]
            if not varies:
                undrawn = give_back(b, n_drawn, undrawn, features, drawn)
                j, first = drawn[b, PLACE], known + found
                features[0, first], features[0, j] = features[0, j], features[0, first]
                found += 1
                break
            if n_missing > 0:
                drawn[b, FRACTION] = draw(chosen)
                missing_left = draw(chosen) & 1
                if missing_left:
                    put_missing_first(codes, b, m)
            drawn[b, CUT] = cut_bits(threshold_of(drawn, b))
            n_cuts += 1
        if n_cuts == 0:
            continue
        if logs is not None:
            count_four(codes, marks, start, m, bits, mask, label_mask, one, drawn)
        if heaps is not None:
            sum_four(codes, heaps, np.int64((heaps.shape[0] - 1) * heaps.shape[1]), m, drawn)
        for b in range(n_cuts):
            rows, wl = drawn[b, ROWS], 0.0
            if logs is not None:
                wl = np.float64(drawn[b, WEIGHT])
            if heaps is not None:
                wl = np.int64(drawn[b, WEIGHT]).view(np.float64)
            if min(rows, m - rows) < rules.min_leaf or min(wl, weight - wl) < rules.min_weight:
                continue
            if logs is not None and not two:
                weigh_classes(b, start, m, bits, mask, label_mask, marks, codes, drawn, sums)
            score = split_score(b, wl, weight, gini, rules, logs, sums, drawn)
            if score > best[SCORE]:
                n_missing = drawn[b, ABSENT]
                best[SCORE], best[THRESHOLD] = score, threshold_of(drawn, b)
                chosen[FEATURE], chosen[POSITION], chosen[N_MISSING] = drawn[b, COLUMN], rows, n_missing
                chosen[MISSING_LEFT] = missing_left if n_missing > 0 else (1 if 2 * rows > m else 0)
                resident = np.int64(b)
    return remember_constants(known, found, features), resident


@kernel(allocates=False)
def part_random(resident, start, m, shift, table, marks, codes, best, chosen):
    """Rows at or below the threshold before the others, both in their old order."""
    threshold, missing_left = best[THRESHOLD], chosen[N_MISSING] > 0 and chosen[MISSING_LEFT] > 0
    n_left, n_right = start, np.int64(0)
    for k in range(m):
        mark = marks[start + k]
        if resident >= 0:
            x = value_of(codes, resident, k)
        else:
            x = np.int32(table[np.int64(mark) >> shift, chosen[FEATURE]]).view(np.float32)
        goes = np.int64(x <= threshold) | np.int64(missing_left and x != x)
        marks[n_left] = mark
        codes[AHEAD, n_right] = np.int32(mark)
        n_left += goes
        n_right += 1 - goes
    move_back(n_left, n_right, marks, codes)


@kernel(allocates=False)
def move_back(first, n, marks, codes):
    for k in range(n):
        marks[first + k] = np.uint32(codes[AHEAD, k])
