"""Bins of a table in double precision are those of its copy in single precision."""

from __future__ import annotations

import numpy as np
import pytest

from learnt.forestry import bin_in_single, find_bins


@pytest.mark.parametrize("d", [1, 5, 40])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_bins_and_codes_are_those_of_a_copy(d, weighted, order):
    rng = np.random.default_rng(d)
    X = np.asarray(rng.normal(size=(9000, d)), order=order)
    X[:, 0] = np.round(X[:, 0], 1)
    X[rng.random(X.shape) < 0.02] = np.nan
    X[:, -1] += 1e8  # what single precision rounds far
    w = rng.integers(0, 3, 9000).astype(np.float64) if weighted else None
    bins, by_column, by_row = bin_in_single(X, w, 3)
    short = X.astype(np.float32)
    expected = find_bins(short, weights=w, random_state=3)
    for name in ("edges", "n_bins", "has_missing"):
        np.testing.assert_array_equal(getattr(bins, name), getattr(expected, name))
    columns, rows = expected.encode(short, rows=True)
    np.testing.assert_array_equal(by_column, columns)
    np.testing.assert_array_equal(by_row, rows)
    assert by_row.ctypes.data % 64 == 0  # at a cache line
