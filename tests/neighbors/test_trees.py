"""KDTree, BallTree and the algorithms of these names against scikit-learn and brute force."""

import pickle

import numpy as np
import pytest
from sklearn import neighbors as oracles

import learnt
from learnt.neighbors import BallTree, KDTree, KNeighborsClassifier, NearestNeighbors

rng = np.random.default_rng(0)
T, Q = rng.random((2000, 3)), rng.random((60, 3))


@pytest.mark.parametrize(
    ("metric", "params"),
    [("euclidean", {}), ("l1", {}), ("manhattan", {}), ("chebyshev", {}), ("minkowski", {"p": 3}), ("minkowski", {})],
)
@pytest.mark.parametrize("kind", ["KDTree", "BallTree"])
def test_queries_equal_scikit_learn(kind, metric, params):
    kinds = {"KDTree": KDTree, "BallTree": BallTree}[kind], getattr(oracles, kind)
    ours, theirs = (tree(T, leaf_size=15, metric=metric, **params) for tree in kinds)
    for a, b in zip(ours.query(Q, k=7), theirs.query(Q, k=7), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    index, distances = ours.query_radius(Q, 0.2, return_distance=True, sort_results=True)
    their_index, their_distances = theirs.query_radius(Q, 0.2, return_distance=True, sort_results=True)
    for i in range(60):
        np.testing.assert_array_equal(index[i], their_index[i])
        np.testing.assert_allclose(distances[i], their_distances[i], rtol=1e-12)
    np.testing.assert_array_equal(
        ours.query_radius(Q, 0.2, count_only=True), theirs.query_radius(Q, 0.2, count_only=True)
    )

    for a, b in zip(ours.query_radius(Q, 0.1), theirs.query_radius(Q, 0.1), strict=True):
        np.testing.assert_array_equal(a, np.sort(b))
    radii = np.array([0.05, 0.2, 0.3, 1.0])
    pairs = ours.two_point_correlation(Q, radii)
    np.testing.assert_array_equal(pairs, theirs.two_point_correlation(Q, radii))
    np.testing.assert_array_equal(ours.two_point_correlation(Q, radii[::-1]), pairs[::-1])


@pytest.mark.parametrize("kernel", ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_kernel_densities_equal_scikit_learn(kernel, metric):
    for ours, theirs in ((KDTree, oracles.KDTree), (BallTree, oracles.BallTree)):
        ours, theirs = ours(T, metric=metric), theirs(T, metric=metric)
        # scikit-learn stops at a relative error of 1e-8.
        np.testing.assert_allclose(
            ours.kernel_density(Q, 0.2, kernel), theirs.kernel_density(Q, 0.2, kernel, rtol=1e-8), rtol=1e-7
        )
    np.testing.assert_allclose(
        np.exp(ours.kernel_density(Q, 0.2, kernel, return_log=True)), ours.kernel_density(Q, 0.2, kernel), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("metric", "params"),
    [("haversine", {}), ("canberra", {}), ("hamming", {}), ("mahalanobis", {"V": [[1.0, 0.3], [0.3, 2.0]]})],
)
def test_a_ball_tree_by_other_metrics_equals_scikit_learn(metric, params):
    X = np.round(T[:300, :2], 1) if metric == "hamming" else T[:300, :2]
    if params:
        params = {"V": np.array(params["V"])}
    ours, theirs = BallTree(X, metric=metric, **params), oracles.BallTree(X, metric=metric, **params)
    a, b = ours.query(X[:20] + 0.001, k=5)[0], theirs.query(X[:20] + 0.001, k=5)[0]
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(
        ours.query_radius(X[:9], 0.4, count_only=True), [len(row) for row in theirs.query_radius(X[:9], 0.4)]
    )


@pytest.mark.parametrize("kind", [KDTree, BallTree])
def test_pickled_trees_answer_the_same(kind):
    tree = kind(T)
    again = pickle.loads(pickle.dumps(tree))
    for a, b in zip(tree.query(Q, 3), again.query(Q, 3), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
def test_estimators_use_the_tree_and_answer_as_brute_force_does(tmp_path, algorithm):
    X = np.round(T, 1)  # ties
    brute, tree = (NearestNeighbors(n_neighbors=6, algorithm=name).fit(X) for name in ("brute", algorithm))
    assert (tree._search._index.tree.radii.size > 0) == (algorithm == "ball_tree")
    assert type(tree._search._index).__name__ == "TreeIndex"
    for queries in (Q, None):
        for a, b in zip(tree.kneighbors(queries), brute.kneighbors(queries), strict=True):
            np.testing.assert_array_equal(a, b)
    y = rng.integers(0, 3, 2000)
    model = KNeighborsClassifier(algorithm=algorithm).fit(X, y)
    np.testing.assert_array_equal(
        model.predict_proba(Q), KNeighborsClassifier(algorithm="brute").fit(X, y).predict_proba(Q)
    )
    learnt.save(model, tmp_path / "m.learnt")
    loaded = learnt.load(tmp_path / "m.learnt")
    np.testing.assert_array_equal(loaded.predict_proba(Q), model.predict_proba(Q))
    assert type(loaded._search._index).__name__ == "TreeIndex"


def test_mistakes_get_one_sentence():
    tree = KDTree(T)
    for call, words in (
        (lambda: KDTree(T, metric="cosine"), "KDTree has the metrics"),
        (lambda: KDTree(T, metric="minkowski", p=0.5), "p >= 1"),
        (lambda: BallTree(T, metric="braycurtis"), "BallTree has the metrics"),
        (lambda: BallTree(T, metric=lambda a, b: ((a - b) ** 2).sum()), "not a metric"),
        (lambda: tree.kernel_density(Q, 0.0), "above 0"),
        (lambda: tree.kernel_density(Q, 0.1, "round"), "kernel must be one of"),
        (lambda: tree.two_point_correlation(Q, [np.nan]), "must not be NaN"),
        (lambda: KDTree(T, leaf_size=0), "leaf_size must be"),
        (lambda: KDTree(T[:0]), "at least one point"),
        (lambda: KDTree(T[0]), "two dimensions"),
        (lambda: KDTree(np.full((3, 2), np.nan)), "NaN"),
        (lambda: tree.query(Q, k=2001), "k must be less than or equal"),
        (lambda: tree.query(Q, k=0), "at least 1"),
        (lambda: tree.query(Q[:, :2]), "X has 2 features"),
        (lambda: tree.query_radius(Q, [0.1, 0.2]), "one for each of the 60 rows"),
        (lambda: tree.query_radius(Q, np.nan), "must not be NaN"),
        (lambda: tree.query_radius(Q, 0.1, sort_results=True), "return_distance must be True"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [KDTree, BallTree])
def test_estimators_take_the_points_of_a_tree_by_the_same_metric(kind):
    for params in ({}, {"metric": "l1"}, {"metric": "minkowski", "p": 3}):
        ours, plain = (NearestNeighbors(**params).fit(X) for X in (kind(T, **params), T))
        for a, b in zip(ours.kneighbors(Q), plain.kneighbors(Q), strict=True):
            np.testing.assert_array_equal(a, b)
    y = np.arange(2000) % 3
    model = KNeighborsClassifier().fit(kind(T), y)
    np.testing.assert_array_equal(model.predict(Q), KNeighborsClassifier().fit(T, y).predict(Q))
    for other in ({"metric": "chebyshev"}, {"p": 3}):
        with pytest.raises(ValueError, match="give both the same metric"):
            NearestNeighbors(**other).fit(kind(T))


def test_a_tree_is_not_given_a_metric_that_it_cannot_bound():
    for metric in ("cosine", "canberra", lambda a, b: abs(a - b).sum()):
        with pytest.raises(ValueError, match="invalid metric for a KD-tree"):
            NearestNeighbors(algorithm="kd_tree", metric=metric).fit(T)
    for metric in ("braycurtis", "canberra"):  # balls bound the second, and the first is searched in full
        by_tree, by_all = (NearestNeighbors(algorithm=name, metric=metric).fit(T) for name in ("ball_tree", "brute"))
        for a, b in zip(by_tree.kneighbors(Q[:9]), by_all.kneighbors(Q[:9]), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", [KDTree, BallTree])
def test_every_valid_metric_is_one(kind):
    more = {"seuclidean": {"V": np.ones(2)}, "mahalanobis": {"VI": np.eye(2)}}
    for metric in kind.valid_metrics:
        tree = kind(T[:50, :2], metric=metric, **more.get(metric, {}))
        assert (tree.query(T[:50, :2])[0] == 0).all(), metric
    assert {"l1", "l2", "cityblock", "p", "infinity"} <= set(kind.valid_metrics)


def test_auto_measures_how_many_dimensions_there_are():
    draw = np.random.default_rng(3)
    sheet = draw.random((6000, 2)) @ draw.normal(size=(2, 30))
    for X, in_a_tree in ((sheet, True), (draw.normal(size=(6000, 30)), False), (draw.random((6000, 3)), True)):
        model = NearestNeighbors().fit(X)
        model.kneighbors(X)
        assert (type(model._search.expect(X)).__name__ == "TreeIndex") == in_a_tree
        for a, b in zip(
            model.kneighbors(X[:40]), NearestNeighbors(algorithm="brute").fit(X).kneighbors(X[:40]), strict=True
        ):
            np.testing.assert_array_equal(a, b)


TREES = [(KDTree, {}), (KDTree, {"metric": "chebyshev"}), (BallTree, {}), (BallTree, {"metric": "canberra"})]


@pytest.mark.parametrize(("kind", "options"), TREES, ids=str)
def test_arrays_of_the_nodes(kind, options):
    """Every point lies in one leaf, and within the bounds of each node that holds it."""
    tree = kind(T[:300], leaf_size=10, **options)
    data, order, nodes, bounds = tree.get_arrays()
    assert bounds.shape == (2 if kind is KDTree else 1, len(nodes), 3)
    assert nodes.dtype.names == getattr(oracles, kind.__name__)(T[:300]).get_arrays()[2].dtype.names
    np.testing.assert_array_equal(np.sort(order), np.arange(300))
    leaves = nodes[nodes["is_leaf"] == 1]
    places = np.concatenate([np.arange(a, b) for a, b in zip(leaves["idx_start"], leaves["idx_end"], strict=True)])
    np.testing.assert_array_equal(np.sort(places), np.arange(300))
    assert (leaves["idx_end"] - leaves["idx_start"] <= 10).all()
    for node, at in zip(nodes, np.moveaxis(bounds, 1, 0), strict=True):
        rows = data[order[node["idx_start"] : node["idx_end"]]]
        if kind is KDTree:
            assert (at[0] <= rows).all()
            assert (rows <= at[1]).all()
        else:
            far = tree._search._index.distances(rows, at) if options else np.linalg.norm(rows - at, axis=1)
            assert far.max() <= node["radius"] * (1 + 1e-12)


@pytest.mark.parametrize(("kind", "options"), TREES, ids=str)
def test_queries_are_counted_after_a_reset(kind, options):
    """Of all points a query needs its neighbours at least, and no more than there are; the counts add up."""
    tree = kind(T, leaf_size=10, **options)
    tree.query(Q)
    assert tree.get_n_calls() == 0
    assert tree.get_tree_stats() == (0, 0, 0)
    tree.reset_n_calls()
    tree.query(Q, k=5)
    first, (trims, leaves, splits) = tree.get_n_calls(), tree.get_tree_stats()
    assert 5 * len(Q) <= first < len(Q) * len(T) / 2
    assert leaves + trims == splits + len(Q)  # each node that is opened has two below it, and each query one root
    tree.query_radius(Q, 0.1)
    assert tree.get_n_calls() > first
    before = tree.get_n_calls()
    tree.two_point_correlation(Q, [0.05, 0.1])
    assert tree.get_n_calls() - before == before - first
    tree.reset_n_calls()
    assert tree.get_n_calls() == 0
