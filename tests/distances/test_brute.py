"""Brute-force search: exact by every method, ties in order, the same on any number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import learnt
from learnt.distances import Search
from learnt.distances._neighborhoods import joined
from learnt.distances._select import smallest
from learnt.distances.brute import _index as _brute
from learnt.distances.brute import _products
from learnt.distances.brute._direct import euclidean_neighbors
from learnt.distances.brute._index import BruteForce
from learnt.distances.brute._rounded_points import RoundedPoints


@pytest.fixture(autouse=True)
def _threads():
    yield
    learnt.set_threads(None)


def collect(search, T, Q, k):
    squared, index = np.full((len(Q), k), np.nan), np.full((len(Q), k), -1)

    def consume(lo, hi, s, i):
        squared[lo:hi], index[lo:hi] = s, i

    search(np.ascontiguousarray(T), np.ascontiguousarray(Q), k, consume)
    return squared, index


def product_neighbors(T, Q, k, consume):
    _products.product_neighbors(RoundedPoints(T), Q, k, consume)


def naive(T, Q, k):
    """The formula, in double precision, one pair after the other; equal distances in order of the rows."""
    T, Q = T.astype(np.float64), Q.astype(np.float64)
    D = np.zeros((len(Q), len(T)))
    for j in range(T.shape[1]):
        D += (Q[:, j, None] - T[:, j]) ** 2
    index = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, index, axis=1), index


def points(kind, n, d, seed=0):
    rng = np.random.RandomState(seed)
    if kind == "uniform":
        return rng.rand(n, d)
    if kind == "offset":
        return rng.rand(n, d) * 1e-3 + 1e4
    if kind == "tiny":
        return rng.rand(n, d) * 1e-30
    if kind == "huge":
        return rng.rand(n, d) * 1e30
    if kind == "flags":
        return rng.randint(0, 2, (n, d)).astype(float)
    if kind == "decimals":
        return np.round(rng.rand(n, d), 1)
    if kind == "outlier":
        X = rng.rand(n, d)
        X[0] = 1e9
        return X
    if kind == "extreme":  # beyond the range of single precision, whatever the unit
        X = rng.rand(n, d)
        X[::97] *= 1e60
        return X
    if kind == "tight":  # clusters far apart and much too narrow for single precision
        return rng.randn(5, d)[rng.randint(5, size=n)] * 100 + 1e-6 * rng.rand(n, d)
    if kind == "equal":
        return np.tile(rng.rand(1, d), (n, 1))
    raise ValueError(kind)


KINDS = ["uniform", "offset", "tiny", "huge", "flags", "decimals", "outlier", "extreme", "tight", "equal"]


BEYOND_SINGLE_PRECISION = ("tiny", "huge", "extreme")


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(kind, np.float64) for kind in KINDS]
    + [(kind, np.float32) for kind in KINDS if kind not in BEYOND_SINGLE_PRECISION],
)
@pytest.mark.parametrize("search", [product_neighbors, euclidean_neighbors])
@pytest.mark.sweep
def test_neighbours_are_those_of_the_formula(search, kind, dtype):
    T, Q = points(kind, 1201, 7).astype(dtype), points(kind, 390, 7, seed=1).astype(dtype)
    squared, index = collect(search, T, Q, 6)
    expected, order = naive(T, Q, 6)
    np.testing.assert_array_equal(index, order)
    np.testing.assert_array_equal(squared, expected)  # to the last bit


@pytest.mark.parametrize(
    ("n", "m", "d", "k"), [(513, 700, 2, 1), (2000, 300, 40, 60), (9000, 20, 3, 5), (700, 700, 130, 9)]
)
def test_shapes(n, m, d, k):
    T, Q = points("uniform", n, d), points("uniform", m, d, seed=1)
    squared, index = collect(product_neighbors, T, Q, k)
    expected, order = naive(T, Q, k)
    np.testing.assert_array_equal(index, order)
    np.testing.assert_array_equal(squared, expected)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 60), st.integers(1, 30), st.integers(1, 5), st.integers(1, 8), st.integers(0, 10**6), st.booleans()
)
def test_any_small_set(n, m, d, k, seed, whole):
    rng = np.random.RandomState(seed)
    T, Q = rng.randint(-2, 3, (n, d)).astype(float), rng.randint(-2, 3, (m, d)).astype(float)
    if not whole:
        T, Q = T * 0.1, Q * 0.1
    k = min(k, n)
    expected, order = naive(T, Q, k)
    for search in (euclidean_neighbors, product_neighbors):
        squared, index = collect(search, T, Q, k)
        np.testing.assert_array_equal(index, order)
        np.testing.assert_array_equal(squared, expected)


def test_far_queries_and_the_second_answer_are_exercised(monkeypatch):
    again = []
    original = _products._Batch._in_double
    monkeypatch.setattr(
        _products._Batch, "_in_double", lambda self, u, w, c: (again.append(u.size), original(self, u, w, c))
    )
    T, Q = points("tight", 1500, 4), points("tight", 400, 4, seed=2) + 1e5
    np.testing.assert_array_equal(collect(product_neighbors, T, Q, 3)[1], naive(T, Q, 3)[1])
    assert sum(again) > 0
    again.clear()
    T, Q = points("uniform", 3000, 30), points("uniform", 400, 30, seed=2)
    collect(product_neighbors, T, Q, 5)
    assert sum(again) < 8  # hardly ever needed where rows are apart
    again.clear()
    T, Q = points("flags", 3000, 12), points("flags", 400, 12, seed=2)
    collect(product_neighbors, T, Q, 5)
    assert sum(again) == 0  # whole numbers: products are exact, ties and all


def test_the_same_bits_on_any_number_of_threads():
    T, Q = points("decimals", 4000, 6), points("uniform", 1500, 6, seed=1)
    results = []
    for threads in (1, 2, 5):
        learnt.set_threads(threads)
        results.append(collect(product_neighbors, T, Q, 7))
    for squared, index in results[1:]:
        assert np.array_equal(squared, results[0][0])
        assert np.array_equal(index, results[0][1])


def test_a_row_alone_gets_the_answer_it_gets_among_others():
    T, Q = points("decimals", 3000, 8), points("decimals", 600, 8, seed=3)
    search = Search.build(T)
    distances, index = search.nearest(Q, 5)
    for i in range(0, 600, 60):
        one = search.nearest(Q[i : i + 1], 5)
        np.testing.assert_array_equal(one[1][0], index[i])
        np.testing.assert_array_equal(one[0][0], distances[i])


def test_smallest_takes_the_first_of_equals():
    rng = np.random.RandomState(0)
    D = rng.randint(0, 4, (50, 30)).astype(float)
    for k in (1, 5, 29, 30):
        values, index = smallest(D, k)
        order = np.argsort(D, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(index, order)
        np.testing.assert_array_equal(values, np.take_along_axis(D, order, axis=1))


def test_no_table_of_all_pairs():
    import tracemalloc

    T, Q = points("uniform", 20000, 30), points("uniform", 4000, 30, seed=1)
    search = Search.build(T)
    search.nearest_blocks(Q[:300], 5, lambda *block: None)
    tracemalloc.start()
    search.nearest_blocks(Q, 5, lambda *block: None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * len(T) * len(Q)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize(
    "kind", ["normal", "far from 0", "whole numbers", "single precision", "tiny", "huge", "outlier"]
)
def test_within_by_products_is_within_by_differences(metric, kind, monkeypatch):
    draw = np.random.default_rng(5)
    T, Q = draw.normal(size=(300, 7)), draw.normal(size=(60, 7))
    if kind in ("whole numbers", "single precision"):
        T, Q = (np.round(2 * X) if kind == "whole numbers" else X.astype(np.float32) for X in (T, Q))
    scale = {"tiny": 1e-160, "huge": 1e160}.get(kind, 1.0)
    T, Q = (scale * X + (1e6 if kind == "far from 0" else 0.0) for X in (T, Q))
    T[7] = 0.0
    if kind == "outlier":  # beyond single precision in the unit of the others
        T = np.concatenate([T, draw.normal(size=(2700, 7))])
        T[1000], T[1001], Q[5] = 1e30, 1.5e30, 1e30
    monkeypatch.setattr(_brute, "_PLAIN_WORK", 0)
    with np.errstate(over="ignore", invalid="ignore"):  # squares of huge numbers
        plain = BruteForce(T, metric, {})
        radii = np.nan_to_num(np.repeat(plain.finish(plain.matrix()(Q, T))[:, 40], 2)[:60])  # some are met to the bit
        radii[:3] = 0.0, np.inf, np.median(radii)
        by_products = joined(BruteForce(T, metric, {}).within(Q, radii, 2))
        monkeypatch.setattr(_brute, "_FEW_QUERIES", 60)
        by_differences = joined(BruteForce(T, metric, {}).within(Q, radii, 1))
    for a, b in zip(by_products, by_differences, strict=True):
        np.testing.assert_array_equal(a, b)
    assert by_products.counts[1] == len(T)
