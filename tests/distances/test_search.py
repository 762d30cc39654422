"""The protocol: built once, asked often; itself left out; radii; pickles and model files."""

import pickle
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import learnt
from learnt.distances import Neighborhoods, Search
from learnt.distances.brute import _rounded_points
from learnt.distances.brute._index import BruteForce
from learnt.distances.trees._index import TreeIndex
from learnt.neighbors import KNeighborsClassifier, NearestNeighbors

rng = np.random.default_rng(0)
GRID = np.array([[i, j] for i in range(6) for j in range(5)], dtype=float)  # ties everywhere


def sorted_pairs(D, k):
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "precomputed"])
def test_nearest_and_within_are_those_of_the_distances(metric):
    names = {"manhattan": "cityblock", "precomputed": "euclidean"}
    D = cdist(GRID, GRID, names.get(metric, metric))
    points = D if metric == "precomputed" else GRID
    search = Search.build(points, metric)
    distances, index = search.nearest(points, 7)
    np.testing.assert_array_equal(distances, sorted_pairs(D, 7)[0])
    np.testing.assert_array_equal(index, sorted_pairs(D, 7)[1])
    found = search.within(points, 2.0)
    np.testing.assert_array_equal(found.counts, (D <= 2).sum(axis=1))
    np.testing.assert_array_equal(found.indices, np.nonzero(D <= 2)[1])
    np.testing.assert_array_equal(found.distances, D[D <= 2])
    first = search.within(points, 2.0, nearest_first=True)
    for d, i, row in zip(*first.lists(), D, strict=True):
        order = np.argsort(row, kind="stable")[: d.size]
        np.testing.assert_array_equal(i, order)
        np.testing.assert_array_equal(d, row[order])


def test_points_are_not_their_own_neighbours_even_among_equals():
    X = np.repeat(GRID[:3], 3, axis=0)
    search = Search.build(X)
    _, index = search.nearest(None, 2)
    np.testing.assert_array_equal(index[:3], [[1, 2], [0, 2], [0, 1]])
    found = search.within(None, 0.5)
    np.testing.assert_array_equal(found.counts, 2)
    assert not (found.indices == found.query).any()


def test_a_radius_for_each_query_and_none_inside():
    search = Search.build(GRID)
    found = search.within(GRID[:3] + 0.25, np.array([0.1, 0.4, 1.0]))
    D = cdist(GRID[:3] + 0.25, GRID)
    np.testing.assert_array_equal(found.counts, (np.array([[0.1], [0.4], [1.0]]) >= D).sum(axis=1))
    assert found.counts[0] == 0
    empty = search.within(np.zeros((0, 2)), 1.0)
    assert empty.counts.size == empty.indices.size == 0


def test_a_distance_that_equals_the_radius_is_within():
    """The distance that is reported is the one that is compared: 0.3 squared is rounded, its root is not 0.3 ± 1."""
    X = np.array([[0.0], [0.3], [0.1 + 0.2]])
    for radius in (0.3, 0.1 + 0.2):
        found = Search.build(X).within(X[:1], radius)
        np.testing.assert_array_equal(found.indices, np.flatnonzero(X[:, 0] <= radius))


def test_neighborhoods_lists():
    found = Neighborhoods(np.array([0, 2, 1]), np.array([3, 1, 0]), np.array([0.2, 0.2, 0.0]))
    assert [part.tolist() for part in found.lists()[1]] == [[], [3, 1], [0]]
    assert [part.tolist() for part in found.nearest_first().lists()[1]] == [[], [1, 3], [0]]
    assert [part.tolist() for part in found.without(found.indices == 3).lists()[1]] == [[], [1], [0]]


def test_what_queries_need_is_made_once(monkeypatch):
    T, Q = rng.normal(size=(4000, 6)), rng.normal(size=(600, 6))
    rounded = []
    original = _rounded_points.RoundedPoints._chunk
    monkeypatch.setattr(
        _rounded_points.RoundedPoints,
        "_chunk",
        lambda self, how, lo, hi, jobs: rounded.append(hi - lo) or original(self, how, lo, hi, jobs),
    )
    model = NearestNeighbors(n_neighbors=3, algorithm="brute").fit(T)
    first = model.kneighbors(Q)
    assert rounded == [4000]
    again = model.kneighbors(Q)
    few = model.kneighbors(Q[:100])  # by another code path, from the same rounded points
    assert rounded == [4000]
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(few[1], first[1][:100])


def test_integers_and_others_may_alternate():
    """Whole queries are scored without an origin, others about one: what is kept for one is not used for the other."""
    T = rng.integers(0, 6, size=(3000, 5)).astype(float)
    search = Search.build(T)
    for shift in (0.0, 0.25, 0.0, 0.25):
        Q = rng.integers(0, 6, size=(500, 5)) + shift
        _, index = search.nearest(Q, 4)
        np.testing.assert_array_equal(index, sorted_pairs(cdist(Q, T, "sqeuclidean"), 4)[1])


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "cosine"])
def test_pickles_and_model_files_answer_the_same(tmp_path, metric):
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    model = KNeighborsClassifier(3, metric=metric).fit(X, y)
    before = model.kneighbors(X[:9])
    learnt.save(model, tmp_path / "m.learnt")
    for other in (pickle.loads(pickle.dumps(model)), learnt.load(tmp_path / "m.learnt")):
        for a, b in zip(other.kneighbors(X[:9]), before, strict=True):
            np.testing.assert_array_equal(a, b)
        learnt.save(other, tmp_path / "again.learnt")  # after a query, which has built the search
        assert (tmp_path / "again.learnt").read_bytes() == (tmp_path / "m.learnt").read_bytes()
    assert len(pickle.dumps(model)) < 1.5 * X.nbytes + 4000  # the rows are in it once


def test_cosine_queries_with_and_without_rows_of_zeros():
    T = rng.normal(size=(800, 4))
    T[5] = 0
    search = Search.build(T[6:], "cosine")
    Q = rng.normal(size=(300, 4))
    plain = search.nearest(Q, 3)
    Q[7] = 0
    with_zero = search.nearest(Q, 3)
    np.testing.assert_array_equal(with_zero[0][7], 1.0)
    np.testing.assert_array_equal(with_zero[1][7], [0, 1, 2])
    np.testing.assert_array_equal(np.delete(with_zero[1], 7, axis=0), np.delete(plain[1], 7, axis=0))


def test_sparse_points_and_dense_queries():
    T = np.where(rng.random((80, 12)) < 0.3, rng.normal(size=(80, 12)), 0.0)
    for metric in ("euclidean", "manhattan", "cosine"):
        dense, thin = Search.build(T, metric), Search.build(sparse.csr_array(T), metric)
        np.testing.assert_array_equal(thin.nearest(T, 4)[1], dense.nearest(T, 4)[1])
        np.testing.assert_array_equal(thin.within(T, 0.9).indices, dense.within(sparse.csr_array(T), 0.9).indices)


SPREADS = {
    "even": lambda n: rng.random(n),
    "equal by the hundred": lambda n: rng.integers(0, 3, n).astype(float),
    "crowded": lambda n: rng.random(n) ** 40,
    "one far away": lambda n: np.where(np.arange(n) == 0, 1e300, rng.random(n)),
    "some infinite": lambda n: np.where(rng.random(n) < 0.3, np.inf, rng.random(n)),
    "range overflows": lambda n: rng.choice([-1.0, 1.0], n) * 1.7e308 * rng.random(n),
    "subnormal": lambda n: rng.integers(0, 9, n) * 5e-324,
    "two zeros": lambda n: np.where(rng.random(n) < 0.5, -0.0, 0.0),
    "in order": lambda n: np.linspace(0.0, 1.0, n),
}


@pytest.mark.parametrize("spread", SPREADS)
def test_nearest_first_is_the_order_of_distance_and_index(spread):
    counts = np.concatenate([[0, 1, 2, 24, 25, 26, 700, 0], rng.integers(0, 90, 40)])
    distances = np.concatenate([SPREADS[spread](n) for n in counts])
    indices = np.concatenate([rng.permutation(1000)[:n] for n in counts])
    found = Neighborhoods(counts, indices, distances)
    order = np.lexsort((indices, distances, found.query))
    before = distances.copy(), indices.copy()
    first = found.nearest_first()
    np.testing.assert_array_equal(first.indices, indices[order])
    assert first.distances.tobytes() == distances[order].tobytes()
    np.testing.assert_array_equal(distances, before[0])
    np.testing.assert_array_equal(indices, before[1])


def chosen(points, queries, k=10, **more):
    """What "auto" searches with when these queries come: "brute", "kd_tree" or "ball_tree"."""
    index = Search.build(points, algorithm="auto", **more).expect(queries, k)
    if not isinstance(index, TreeIndex):
        return "brute"
    return "ball_tree" if index.tree.radii.size else "kd_tree"


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_the_choice_counts_leaves_in_any_unit(scale):
    """A curved sheet of two dimensions among many features is searched by a tree, a cloud in all of them is not."""
    draw = np.random.default_rng(0)
    inner = draw.random((6000, 2))
    sheet = np.sin(inner @ draw.normal(size=(2, 40)))
    cloud = draw.normal(size=(6000, 40))
    assert chosen(scale * sheet, None, 1) != "brute"
    assert chosen(scale * np.ascontiguousarray(inner), None, 1) == "kd_tree"
    assert chosen(scale * cloud, None, 1) == "brute"
    assert chosen(np.full((6000, 40), scale), None, 1) in ("brute", "kd_tree", "ball_tree")


def test_a_tree_is_built_when_queries_have_paid_for_it():
    """Few queries are answered by brute force, also where a tree is quicker for many; the answers are equal."""
    draw = np.random.default_rng(1)
    X, Q = draw.random((20_000, 3)), draw.random((4000, 3))
    search = Search.build(X, algorithm="auto")
    first = search.nearest(Q[:1], 5)
    assert type(search.expect(Q[:1], 5)) is BruteForce
    for a in range(0, 4000, 500):
        search.nearest(Q[a : a + 500], 5)
    assert type(search.expect(Q, 5)) is TreeIndex
    for a, b in zip(first, search.nearest(Q[:1], 5), strict=True):
        np.testing.assert_array_equal(a, b)


# Milliseconds of processor time (a quiet Xeon) of fit and queries for brute force, boxes and balls, by
# benchmarks/auto_choice.py: 20,000 points of its surfaces (dimension, features, k, queries).
MEASURED = {
    (2, 2, 1, 500): (5.7, 2.9, 4.5),
    (2, 2, 1, 10000): (103.0, 10.1, 11.4),
    (2, 2, 10, 500): (7.3, 3.2, 5.3),
    (2, 2, 10, 10000): (143.9, 16.4, 17.5),
    (5, 5, 1, 500): (6.1, 4.5, 7.2),
    (5, 5, 1, 10000): (113.2, 25.9, 35.7),
    (5, 5, 10, 500): (7.8, 6.1, 9.7),
    (5, 5, 10, 10000): (142.3, 61.8, 91.0),
    (8, 8, 1, 500): (6.9, 9.4, 15.6),
    (8, 8, 1, 10000): (118.0, 107.7, 204.4),
    (8, 8, 10, 500): (8.3, 16.1, 28.6),
    (8, 8, 10, 10000): (148.0, 233.4, 465.0),
    (12, 12, 1, 500): (7.3, 26.9, 47.3),
    (12, 12, 1, 10000): (134.9, 411.6, 758.2),
    (12, 12, 10, 500): (8.8, 45.0, 68.3),
    (12, 12, 10, 10000): (164.8, 785.7, 1207.1),
    (20, 20, 1, 500): (8.6, 110.4, 112.5),
    (20, 20, 1, 10000): (154.5, 2064.7, 2167.8),
    (20, 20, 10, 500): (11.2, 132.3, 128.3),
    (20, 20, 10, 10000): (202.0, 2400.7, 2295.7),
    (2, 50, 1, 500): (14.7, 24.7, 32.5),
    (2, 50, 1, 10000): (362.3, 89.0, 71.4),
    (2, 50, 10, 500): (25.0, 32.8, 43.0),
    (2, 50, 10, 10000): (374.4, 106.5, 91.3),
    (5, 50, 1, 500): (23.2, 36.9, 45.8),
    (5, 50, 1, 10000): (389.5, 202.1, 140.3),
    (5, 50, 10, 500): (24.5, 51.4, 56.7),
    (5, 50, 10, 10000): (438.8, 373.7, 245.7),
    (2, 200, 1, 500): (59.9, 127.4, 170.9),
    (2, 200, 1, 10000): (1089.7, 316.3, 252.7),
    (2, 200, 10, 500): (72.5, 139.0, 163.1),
    (2, 200, 10, 10000): (963.6, 452.8, 352.2),
    (5, 200, 1, 500): (70.5, 156.5, 193.3),
    (5, 200, 1, 10000): (1158.5, 912.7, 487.7),
    (5, 200, 10, 500): (74.2, 229.8, 225.6),
    (5, 200, 10, 10000): (1149.9, 1427.5, 866.7),
}


surface = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks/auto_choice.py"))["surface"]


@pytest.mark.parametrize(("dimension", "features", "k", "queries"), MEASURED)
def test_the_choice_is_the_quickest_where_it_was_measured(dimension, features, k, queries):
    X = surface(30_000, dimension, features)
    times = dict(zip(("brute", "kd_tree", "ball_tree"), MEASURED[dimension, features, k, queries], strict=True))
    assert times[chosen(X[:20_000], X[20_000 : 20_000 + queries], k)] <= 1.3 * min(times.values())
