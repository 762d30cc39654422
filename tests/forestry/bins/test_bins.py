"""Binning: codes and edges say the same, bins weigh the same, weights are repetitions."""

import numpy as np
import pytest

from learnt.engine.threads import set_threads
from learnt.forestry.bins._bins import bin_columns, code_room, find_bins


@pytest.fixture(autouse=True)
def _threads():
    yield
    set_threads(None)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    X[:, 1] = np.where(rng.random(3000) < 0.9, 0.0, X[:, 1])  # one value fills most of the column
    X[:, 2] = rng.integers(0, 300, 3000)
    X[rng.random(3000) < 0.1, 3] = np.nan
    X[:, 4] = np.nan
    X[:, 5] = 7.0
    return X


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_a_code_counts_the_edges_below(table, order, dtype, max_bins):
    X = np.asarray(table, dtype=dtype, order=order)
    codes, bins = bin_columns(X, max_bins=max_bins)
    rows = bins.encode(X, rows=True)[1]
    for j in range(X.shape[1]):
        edges = bins.edges[j, : bins.n_bins[j] - 1]
        assert (np.diff(edges) > 0).all()
        assert np.isinf(bins.edges[j, bins.n_bins[j] - 1 :]).all()
        expected = np.where(np.isnan(X[:, j]), bins.n_bins[j], np.searchsorted(edges, X[:, j].astype(float)))
        np.testing.assert_array_equal(codes[j], expected)
        np.testing.assert_array_equal(rows[:, j], expected)
        assert bins.n_bins[j] <= max_bins
    assert bins.has_missing.tolist() == [False, False, False, True, True, False]
    assert bins.n_bins[4] == bins.n_bins[5] == 1
    assert rows.shape[1] % 32 == 0
    assert rows.ctypes.data % 64 == 0


def test_bins_weigh_the_same():
    x = np.random.default_rng(1).exponential(size=(20000, 1)) ** 3
    codes, _ = bin_columns(x)
    counts = np.bincount(codes[0])
    assert len(counts) == 255
    assert counts.max() - counts.min() <= 2


def test_a_frequent_value_has_its_own_bin(table):
    codes, bins = bin_columns(table)
    zero = codes[1][table[:, 1] == 0]
    assert len(set(zero)) == 1
    assert (table[codes[1] == zero[0], 1] == 0).all()
    assert bins.n_bins[1] > 240  # the other tenth of the rows has nearly all the bins


def test_a_weight_is_a_number_of_rows(table):
    weights = np.random.default_rng(2).integers(0, 4, len(table))
    weighted = find_bins(table, weights=weights.astype(float))
    repeated = find_bins(np.repeat(table, weights, axis=0))
    np.testing.assert_array_equal(weighted.edges, repeated.edges)


def test_threads_and_row_order_change_nothing(table):
    set_threads(1)
    one = find_bins(table)
    set_threads(3)
    other = find_bins(table[::-1])
    np.testing.assert_array_equal(one.edges, other.edges)


def test_large_tables_are_sampled():
    x = np.random.default_rng(3).random((450_000, 1))
    x[17] = np.nan
    bins = find_bins(x)
    assert bins.has_missing[0]
    np.testing.assert_allclose(bins.edges[0, :254], np.arange(1, 255) / 255, atol=0.005)


def test_infinities_are_numbers():
    x = np.array([[-np.inf], [0.0], [1.0], [np.inf], [np.nan]])
    codes, _ = bin_columns(x)
    assert codes[0].tolist() == [0, 1, 2, 3, 4]


def test_neighbouring_floats_are_distinguished():
    x = np.array([[1.0], [np.nextafter(1.0, 2.0)], [-1e308], [1e308]])
    codes, _ = bin_columns(x)
    assert codes[0].tolist() == [1, 2, 0, 3]


def test_categories_have_a_bin_each_and_unseen_ones_are_missing():
    x = np.array([[3.0], [0.0], [3.0], [np.nan], [-1.0]])
    codes, bins = bin_columns(x, categories={0: 5})
    assert codes[0].tolist() == [1, 0, 1, 2, 2]
    assert bins.categorical.tolist() == [True]
    assert bins.encode(np.array([[1.0], [4.0], [7.0], [0.0]]))[0].tolist() == [[2, 2, 2, 0]]


def test_rare_categories_share_the_last_bin_whatever_their_codes():
    rng = np.random.default_rng(4)
    names = rng.permutation(2000)
    x = names[np.minimum(rng.geometric(0.01, size=30000), 1999)].astype(float)[:, None]
    codes, bins = bin_columns(x, categories={0: 2000})
    assert bins.n_bins[0] <= 255
    again, _ = bin_columns(1999 - x, categories={0: 2000})
    groups = {tuple(np.flatnonzero(codes[0] == c)) for c in range(255)}
    assert groups == {tuple(np.flatnonzero(again[0] == c)) for c in range(255)}


def test_codes_given_apart_are_those_in_the_table():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=500), rng.integers(-1, 300, 500)]).astype(np.float32)
    coded = {1: X[:, 1].astype(np.int32)}
    spoilt = np.column_stack([X[:, 0], rng.normal(size=500)]).astype(np.float32)
    one = find_bins(X, categories={1: 300})
    other = find_bins(spoilt, categories={1: 300}, coded=coded)
    np.testing.assert_array_equal(one.n_bins, other.n_bins)
    np.testing.assert_array_equal(one.has_missing, other.has_missing)
    np.testing.assert_array_equal(one.tables[1], other.tables[1])
    for a, b in zip(one.encode(X, rows=True), other.encode(spoilt, rows=True, coded=coded), strict=True):
        np.testing.assert_array_equal(a, b)


def test_places_are_along_the_values():
    """The mean of a bin's distinct values between those of the first and of the last, but that no two are the same."""
    x = np.random.default_rng(0).lognormal(sigma=2.0, size=3000)
    for column in (x, np.round(x), x.astype(np.float32), np.array([3.0, 4.0, 13.0])):
        bins = find_bins(column[:, None], random_splits=True)
        codes = bins.encode(column[:, None])[0][0]
        n = bins.n_bins[0]
        means = np.array([np.unique(column[codes == k]).astype(float).mean() for k in range(n)])
        places = bins.places[0, :n].astype(float)
        np.testing.assert_allclose(places / places[-1], (means - means[0]) / (means[-1] - means[0]), atol=5e-3)
        assert (np.diff(places) > 0).all()
        assert (bins.places[0, n:] == 65535).all()
    assert find_bins(x[:, None]).places is None
    assert (find_bins(np.ones((5, 1)), random_splits=True).places[0] == np.r_[0, np.full(255, 65535)]).all()


def test_bins_for_random_splits_are_short_as_well():
    """No bin has more than its part of the rows and of the way from end to end together, and rare ends have bins."""
    x = np.random.default_rng(1).normal(size=(20_000, 1))
    bins = find_bins(x, random_splits=True)
    codes = bins.encode(x)[0][0]
    ends = np.array([(x[codes == k].min(), x[codes == k].max()) for k in range(bins.n_bins[0])])
    part = np.bincount(codes) / len(x) + 0.15 * (ends[:, 1] - ends[:, 0]) / np.ptp(x)
    assert bins.n_bins[0] > 245
    assert part.max() < 2 * 1.15 / 250  # single values that are far from the next count for more than one bin
    heaviest_end = [np.bincount(b.encode(x)[0][0])[[0, -1]].max() for b in (bins, find_bins(x))]
    assert heaviest_end[0] < 0.1 * heaviest_end[1]
    huge = np.array([-1.7e308, 1.7e308, 0.0])[:, None] * np.linspace(0.5, 1.0, 300)
    assert np.isfinite(find_bins(huge.reshape(-1, 1), random_splits=True).places).all()


@pytest.mark.parametrize("kind", ["even", "skewed", "whole", "tiny", "huge", "far", "missing", "constant"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_are_the_edges_below(kind, dtype):
    """However edges lie: searches begin at a guide of even steps, which must never be past the bin of a value."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(3000, 2))
    made = {
        "even": x,
        "skewed": np.exp(4 * x),
        "whole": np.round(100 * x),
        "tiny": x * (1e-38 if dtype == np.float32 else 1e-300),
        "huge": np.clip(x, -3, 3) * (1e38 if dtype == np.float32 else 5e307),
        "far": 1e6 + x,
        "missing": np.where(x > 1, np.nan, x),
        "constant": np.ones_like(x),
    }[kind].astype(dtype)
    bins = find_bins(made)
    asked = np.concatenate([made, bins.edges[:, :254].T.astype(dtype), [[-np.inf, np.inf], [0.0, -0.0]]]).astype(dtype)
    for X in (asked, np.asfortranarray(asked), asked[:7]):  # few rows go without a guide
        by_column, by_row = bins.encode(X, rows=True)
        for j in range(2):
            below = np.searchsorted(bins.edges[j, : bins.n_bins[j] - 1], X[:, j].astype(np.float64))
            want = np.where(np.isnan(X[:, j]), bins.n_bins[j], below)
            np.testing.assert_array_equal(by_column[j], want)
            np.testing.assert_array_equal(by_row[:, j], want)


def test_bins_for_random_splits_from_some_rows():
    """Of many rows some are looked at: bins have nearly equal weight, rare ends have bins of their own, and columns
    whose values repeat, or are missing, have the bins that all rows give.
    """
    rng = np.random.default_rng(6)
    x = rng.normal(size=(30_000, 4))
    x[:, 1] = np.round(20 * x[:, 1])
    x[rng.random(len(x)) < 0.001, 2] = np.nan
    x[:3, 3] = [40.0, 44.0, -50.0]
    bins, weights = find_bins(x, random_splits=True), np.ones(len(x))
    whole = find_bins(x, random_splits=True, weights=weights)
    for j in (1, 2):
        np.testing.assert_array_equal(bins.edges[j], whole.edges[j])
        np.testing.assert_array_equal(bins.places[j], whole.places[j])
    np.testing.assert_array_equal(bins.has_missing, [False, False, True, False])
    codes = bins.encode(x)[0]
    assert len(bins.edges[0][np.isfinite(bins.edges[0])]) > 245
    assert np.bincount(codes[0]).max() < 2 * len(x) / 250
    assert len(set(codes[3, :3].tolist())) == 3
    assert np.isin(codes[3, 3:], codes[3, :3]).sum() == 0
    places = bins.places[[0, 3], :250].astype(np.int64)
    assert (np.diff(places) > 0).all()


def test_room_for_codes_begins_rows_at_a_cache_line():
    for n, d in ((7, 3), (33, 70)):
        room, by_column, by_row = code_room(n, d, True, True)
        assert by_row.ctypes.data % 64 == 0
        assert by_row.shape == (n, -(-d // 32) * 32)
        assert np.shares_memory(room, by_row)
        assert by_column.size == n * d == len(room) - by_row.size
        assert not by_row[:, d:].any()
