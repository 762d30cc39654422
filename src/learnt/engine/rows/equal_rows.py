"""Which rows of a table are the first of their kind."""

from __future__ import annotations

import numpy as np


def first_of_equal_rows(X: np.ndarray) -> np.ndarray:
    """True for every row that equals none before it.

    Column by column: rows that a column distinguishes from all others are not compared further, so that most tables are
    done after the first column. Sorting whole rows takes several times as long, in one call that Ctrl-C does not stop.

    >>> first_of_equal_rows(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]))
    array([ True,  True, False])
    """
    first = np.zeros(len(X), dtype=bool)
    rows, group = np.arange(len(X)), np.zeros(len(X), dtype=np.int64)
    for column in X.T:
        codes = np.unique(column[rows], return_inverse=True)[1]
        pairs = group * (len(rows) + 1) + codes
        _, index, group, counts = np.unique(pairs, return_index=True, return_inverse=True, return_counts=True)
        first[rows[index[counts == 1]]] = True
        again = counts[group] > 1
        rows, group = rows[again], group[again]
        if not len(rows):
            return first
    first[rows[np.unique(group, return_index=True)[1]]] = True
    return first
