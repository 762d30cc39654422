"""Trees give the answers of brute force, to the last bit: ties, duplicates, every metric, any thread count."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnt.distances import Search
from learnt.distances.trees import _index

rng = np.random.default_rng(0)
METRICS = [("euclidean", {}), ("sqeuclidean", {}), ("manhattan", {}), ("chebyshev", {}), ("minkowski", {"p": 3})]


TREES = ["kd_tree", "ball_tree"]


def both(T, metric="euclidean", params=None, *, algorithm="kd_tree", **how):
    return Search.build(T, metric, params), Search.build(T, metric, params, algorithm=algorithm, **how)


def same(a, b):
    for one, other in zip(a, b, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("metric", "params"), METRICS, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("kind", ["random", "grid", "single precision", "far from 0"])
@pytest.mark.parametrize("algorithm", TREES)
@pytest.mark.sweep(12)
def test_equals_brute_force(algorithm, metric, params, kind):
    T, Q = rng.random((1500, 3)), rng.random((60, 3)) * 1.4
    if kind == "grid":
        T, Q = np.round(T * 6), np.round(Q * 12) / 2  # thousands of duplicates and ties
    elif kind == "single precision":
        T, Q = T.astype(np.float32), Q.astype(np.float32)
    elif kind == "far from 0":
        T, Q = T + 1e6, Q + 1e6
    brute, tree = both(T, metric, params, leaf_size=7, algorithm=algorithm)
    for k in (1, 10, 60):
        same(tree.nearest(Q, k), brute.nearest(Q, k))
    for k in (4, 40):
        same(tree.nearest(None, k), brute.nearest(None, k))
    distances, _ = brute.nearest(Q, 9)
    radii = np.where(np.arange(60) % 3 == 0, 0.0, distances[:, 8])
    same(tree.within(Q, radii), brute.within(Q, radii))
    same(tree.within(Q, 0.2, nearest_first=True), brute.within(Q, 0.2, nearest_first=True))
    found, plain = brute.within(Q, 0.3), tree.within(Q, 0.3, distances=False)
    same((plain.counts, plain.indices), (found.counts, found.indices))
    in_any_order = tree.within(Q, radii, ordered=False)
    same(in_any_order.by_index(), brute.within(Q, radii))
    steps = np.array([[-0.5, 0.0, 0.1, 0.3, 5.0, np.inf]])
    np.testing.assert_array_equal(tree.count_within(Q, steps), brute.count_within(Q, steps))
    np.testing.assert_array_equal(tree.count_within(Q, radii[:, None])[:, 0], brute.within(Q, radii).counts)


@pytest.mark.parametrize("algorithm", TREES)
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (1e8, 1.0), (0.0, 1e-160), (0.0, 1e153), (0.0, 1e200)])
def test_a_sheet_among_many_features_equals_brute_force(algorithm, shift, scale):
    draw = np.random.default_rng(1)
    Z = draw.random((900, 2))
    X = scale * (shift + Z @ draw.normal(size=(2, 60)) + 0.3 * np.sin(3 * Z @ draw.normal(size=(2, 60))))
    with np.errstate(over="ignore", invalid="ignore"):  # squares of 1e200 are infinite, and all neighbours are equal
        brute, tree = both(X[:800], algorithm=algorithm, leaf_size=10)
        for k in (1, 12, 40):
            same(tree.nearest(X[800:], k), brute.nearest(X[800:], k))


def test_the_points_of_a_ball_lie_between_its_ends_along_the_axis_of_its_parent():
    T = np.random.default_rng(2).normal(size=(700, 5)) * [4, 1, 1, 1, 1]
    tree = Search.build(T, algorithm="ball_tree", leaf_size=9)._index.tree
    np.testing.assert_allclose(np.linalg.norm(tree.nodes[: len(tree.starts) // 2, 1], axis=1), 1, rtol=1e-14)
    for node in range(1, len(tree.starts)):
        lo, hi = tree.starts[node]
        along = T[tree.order[lo:hi]] @ tree.nodes[(node - 1) // 2, 1]
        np.testing.assert_allclose(tree.ends[node], [along.min(), along.max()], atol=1e-13)
    for parent in range(len(tree.starts) // 2):  # parted at the median: the halves hardly overlap
        assert tree.ends[2 * parent + 1, 1] <= tree.ends[2 * parent + 2, 0] + 1e-6 * np.ptp(T)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 70), st.integers(1, 4), st.integers(1, 9), st.integers(1, 5), st.integers(0, 10**6))
def test_any_small_set(n, d, k, leaf_size, seed):
    draw = np.random.default_rng(seed)
    algorithm = TREES[seed % 2]
    T, Q = draw.integers(-2, 3, (n, d)) * 0.1, draw.integers(-2, 3, (6, d)) * 0.1
    brute, tree = both(T, leaf_size=leaf_size, algorithm=algorithm)
    same(tree.nearest(Q, min(k, n)), brute.nearest(Q, min(k, n)))
    same(tree.within(Q, 0.2), brute.within(Q, 0.2))
    if n > 1:
        same(tree.nearest(None, min(k, n - 1)), brute.nearest(None, min(k, n - 1)))


@pytest.mark.parametrize("order", [{}, {"distances": False}, {"nearest_first": True}], ids=str)
def test_more_neighbours_than_are_put_in_order_at_once(order, monkeypatch):
    monkeypatch.setattr(_index, "_PAIRS", 50)
    draw = np.random.default_rng(4)
    T, Q = draw.integers(0, 9, (900, 2)) / 4.0, draw.random((40, 2))
    radii = np.where(np.arange(40) % 7 == 0, np.inf, draw.random(40))
    brute, tree = both(T, leaf_size=5)
    wanted = brute.within(Q, radii, **order)
    found = tree.within(Q, radii, **order)
    same((found.counts, found.indices), (wanted.counts, wanted.indices))
    arrays = tree.arrays_within(Q, radii, **order)
    indices = arrays if order == {"distances": False} else arrays[1]
    assert [part.size for part in indices] == wanted.counts.tolist()
    np.testing.assert_array_equal(np.concatenate(list(indices)), wanted.indices)
    if order != {"distances": False}:
        np.testing.assert_array_equal(found.distances, wanted.distances)
        np.testing.assert_array_equal(np.concatenate(list(arrays[0])), wanted.distances)
    others, wanted = tree.within(None, 0.5, **order), brute.within(None, 0.5, **order)
    same((others.counts, others.indices), (wanted.counts, wanted.indices))


def test_a_feature_that_is_constant_among_the_sampled_rows_is_split():
    """Every fourth of 300 rows tells the variance, and these are all the same."""
    T = np.zeros((300, 2))
    T[np.arange(300) % 4 != 0, 1] = np.random.default_rng(6).normal(size=225)
    tree = Search.build(T, algorithm="kd_tree", leaf_size=150)._index.tree
    assert tree.nodes[1, 1, 1] <= tree.nodes[2, 0, 1] < tree.nodes[2, 1, 1]


@pytest.mark.parametrize("algorithm", TREES)
def test_constant_and_single_columns_and_all_points(algorithm):
    for T in (np.ones((500, 2)), np.linspace(0, 1, 300)[:, None], np.column_stack([np.zeros(90), rng.random(90)])):
        brute, tree = both(T, algorithm=algorithm)
        same(tree.nearest(T[:20], len(T)), brute.nearest(T[:20], len(T)))
        same(tree.within(T[:20], np.inf), brute.within(T[:20], np.inf))


@pytest.mark.parametrize("algorithm", TREES)
def test_the_tree_is_the_same_on_any_number_of_threads_and_after_pickling(algorithm):
    T = rng.random((5000, 4))
    trees = [Search.build(T, algorithm=algorithm, n_jobs=jobs)._index.tree for jobs in (1, 2, 5)]
    for tree in trees[1:]:
        same(tree, trees[0])
    search = Search.build(T, algorithm=algorithm)
    again = pickle.loads(pickle.dumps(search))
    same(again.nearest(T[:50], 3, n_jobs=1), search.nearest(T[:50], 3, n_jobs=3))


@pytest.mark.parametrize("algorithm", TREES)
def test_nodes_hold_their_points_and_leaves_are_small(algorithm):
    T = rng.random((5000, 3))
    tree = Search.build(T, algorithm=algorithm, leaf_size=20)._index.tree
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(5000))
    for node, (lo, hi) in enumerate(tree.starts):
        points = T[tree.order[lo:hi]]
        if algorithm == "kd_tree":
            np.testing.assert_array_equal(tree.nodes[node], [points.min(axis=0), points.max(axis=0)])
        else:
            np.testing.assert_allclose(tree.nodes[node, 0], points.mean(axis=0))
            np.testing.assert_allclose(
                tree.radii[node], np.linalg.norm(points - tree.nodes[node, 0], axis=1).max(), rtol=1e-14
            )
    for leaf, (lo, hi) in enumerate(tree.starts[len(tree.starts) // 2 :]):
        assert 9 <= hi - lo <= 20
        np.testing.assert_array_equal(tree.cells[leaf, :, : hi - lo].T, T[tree.order[lo:hi]])


def test_a_node_is_split_at_the_median_of_its_longest_axis():
    T = np.array([[5.0, 1.0], [5.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    for algorithm in TREES:
        tree = Search.build(T, algorithm=algorithm, leaf_size=2)._index.tree
        assert {frozenset(tree.order[lo:hi].tolist()) for lo, hi in tree.starts[1:]} == {
            frozenset({0, 1}),
            frozenset({2, 3}),
        }


VI = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 3.0]])
OTHERS = [
    ("canberra", {}),
    ("hamming", {}),
    ("jaccard", {}),
    ("rogerstanimoto", {}),
    ("russellrao", {}),
    ("seuclidean", {}),
    ("mahalanobis", {"VI": VI}),
    ("minkowski", {"p": 3, "w": [1.0, 2.0, 0.5]}),
    ("haversine", {}),
    (lambda a, b: np.abs(a - b).max(), {}),
]


@pytest.mark.parametrize(("metric", "params"), OTHERS, ids=lambda v: v if isinstance(v, str) else "")
def test_a_ball_tree_takes_every_metric(metric, params):
    draw = np.random.default_rng(1)
    T, Q = draw.random((150, 3)), draw.random((20, 3))
    if metric == "haversine":
        T, Q = T[:, :2], Q[:, :2]
    elif metric in ("hamming", "jaccard", "rogerstanimoto", "russellrao"):
        T, Q = (np.round(X) for X in (T, Q))
    brute, tree = both(T, metric, params, algorithm="ball_tree", leaf_size=6)
    for k in (1, 7, 150):
        same(tree.nearest(Q, k), brute.nearest(Q, k))
    same(tree.nearest(None, 3), brute.nearest(None, 3))
    radius = float(np.median(brute.nearest(Q, 20)[0][:, -1]))
    same(tree.within(Q, radius), brute.within(Q, radius))
    np.testing.assert_array_equal(tree.count_within(Q, np.array([[radius]]))[:, 0], brute.within(Q, radius).counts)


def test_what_a_tree_cannot_do_is_one_sentence():
    with pytest.raises(ValueError, match="'cosine' is an invalid metric"):
        Search.build(rng.random((9, 2)), "cosine", algorithm="kd_tree")
    with pytest.raises(ValueError, match=r"triangle inequality .* not by 'cosine' here; use algorithm='brute'"):
        Search.build(rng.random((9, 2)), "cosine", algorithm="ball_tree")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda a, b: ((a - b) ** 2).sum(), "by way of a third row"),
        (lambda a, b: a[0] - b[0], "negative"),
        (lambda a, b: 1.0 + abs(a[0] - b[0]), "distance 0 from itself"),
        (lambda a, b: abs(a[0] - b[0]) * (1.0 + (a[0] > b[0])), "not that back"),
    ],
)
def test_a_function_that_is_no_metric_is_refused(function, words):
    with pytest.raises(ValueError, match=words) as caught:
        Search.build(rng.random((40, 2)), function, algorithm="ball_tree")
    assert "use algorithm='brute'" in str(caught.value)
