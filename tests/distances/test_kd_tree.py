"""The KD-tree gives the answers of brute force, to the last bit: ties, duplicates, every metric, any thread count."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnt.distances import Search

rng = np.random.default_rng(0)
METRICS = [("euclidean", {}), ("sqeuclidean", {}), ("manhattan", {}), ("chebyshev", {}), ("minkowski", {"p": 3})]


def both(T, metric="euclidean", params=None, **how):
    return Search.build(T, metric, params), Search.build(T, metric, params, algorithm="kd_tree", **how)


def same(a, b):
    for one, other in zip(a, b, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("metric", "params"), METRICS, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("kind", ["random", "grid", "single precision", "far from 0"])
def test_equals_brute_force(metric, params, kind):
    T, Q = rng.random((3000, 3)), rng.random((200, 3)) * 1.4
    if kind == "grid":
        T, Q = np.round(T * 6), np.round(Q * 12) / 2  # thousands of duplicates and ties
    elif kind == "single precision":
        T, Q = T.astype(np.float32), Q.astype(np.float32)
    elif kind == "far from 0":
        T, Q = T + 1e6, Q + 1e6
    brute, tree = both(T, metric, params, leaf_size=7)
    for k in (1, 10, 60):
        same(tree.nearest(Q, k), brute.nearest(Q, k))
    same(tree.nearest(None, 4), brute.nearest(None, 4))
    distances, _ = brute.nearest(Q, 9)
    radii = np.where(np.arange(200) % 3 == 0, 0.0, distances[:, 8])
    same(tree.within(Q, radii), brute.within(Q, radii))
    same(tree.within(Q, 0.2, nearest_first=True), brute.within(Q, 0.2, nearest_first=True))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 70), st.integers(1, 4), st.integers(1, 9), st.integers(1, 5), st.integers(0, 10**6))
def test_any_small_set(n, d, k, leaf_size, seed):
    draw = np.random.default_rng(seed)
    T, Q = draw.integers(-2, 3, (n, d)) * 0.1, draw.integers(-2, 3, (6, d)) * 0.1
    brute, tree = both(T, leaf_size=leaf_size)
    same(tree.nearest(Q, min(k, n)), brute.nearest(Q, min(k, n)))
    same(tree.within(Q, 0.2), brute.within(Q, 0.2))


def test_constant_and_single_columns_and_all_points():
    for T in (np.ones((500, 2)), np.linspace(0, 1, 300)[:, None], np.column_stack([np.zeros(90), rng.random(90)])):
        brute, tree = both(T)
        same(tree.nearest(T[:20], len(T)), brute.nearest(T[:20], len(T)))
        same(tree.within(T[:20], np.inf), brute.within(T[:20], np.inf))


def test_the_tree_is_the_same_on_any_number_of_threads_and_after_pickling():
    T = rng.random((5000, 4))
    trees = [Search.build(T, algorithm="kd_tree", n_jobs=jobs)._index for jobs in (1, 2, 5)]
    for tree in trees[1:]:
        same(tree._tree[1:4], trees[0]._tree[1:4])
    search = Search.build(T, algorithm="kd_tree")
    again = pickle.loads(pickle.dumps(search))
    same(again.nearest(T[:50], 3, n_jobs=1), search.nearest(T[:50], 3, n_jobs=3))


def test_boxes_hold_their_points_and_leaves_are_small():
    T = rng.random((1000, 3))
    tree = Search.build(T, algorithm="kd_tree", leaf_size=20)._index
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(1000))
    for (lo, hi), (low, high) in zip(tree.starts, tree.boxes, strict=True):
        np.testing.assert_array_equal(tree.points[lo:hi].min(axis=0), low)
        np.testing.assert_array_equal(tree.points[lo:hi].max(axis=0), high)
    leaves = tree.starts[len(tree.starts) // 2 :]
    assert np.diff(leaves, axis=1).max() <= 20
    assert np.diff(leaves, axis=1).min() >= 10


def test_what_a_tree_cannot_do_is_one_sentence():
    with pytest.raises(ValueError, match="not by cosine here; use algorithm='brute'"):
        Search.build(rng.random((9, 2)), "cosine", algorithm="kd_tree")
