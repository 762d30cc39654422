"""KDTree and algorithm="kd_tree" against scikit-learn and brute force."""

import pickle

import numpy as np
import pytest
from sklearn.neighbors import KDTree as Oracle

import learnt
from learnt.neighbors import KDTree, KNeighborsClassifier, NearestNeighbors

rng = np.random.default_rng(0)
T, Q = rng.random((2000, 3)), rng.random((60, 3))


@pytest.mark.parametrize(
    ("metric", "params"),
    [("euclidean", {}), ("l1", {}), ("manhattan", {}), ("chebyshev", {}), ("minkowski", {"p": 3}), ("minkowski", {})],
)
def test_queries_equal_scikit_learn(metric, params):
    ours, theirs = (kind(T, leaf_size=15, metric=metric, **params) for kind in (KDTree, Oracle))
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


def test_pickled_trees_answer_the_same():
    tree = KDTree(T)
    again = pickle.loads(pickle.dumps(tree))
    for a, b in zip(tree.query(Q, 3), again.query(Q, 3), strict=True):
        np.testing.assert_array_equal(a, b)


def test_estimators_use_the_tree_and_answer_as_brute_force_does(tmp_path):
    X = np.round(T, 1)  # ties
    brute, tree = (NearestNeighbors(n_neighbors=6, algorithm=name).fit(X) for name in ("brute", "kd_tree"))
    assert type(tree._search._index).__name__ == "KDTreeIndex"
    for queries in (Q, None):
        for a, b in zip(tree.kneighbors(queries), brute.kneighbors(queries), strict=True):
            np.testing.assert_array_equal(a, b)
    y = rng.integers(0, 3, 2000)
    model = KNeighborsClassifier(algorithm="kd_tree").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(Q), KNeighborsClassifier().fit(X, y).predict_proba(Q))
    learnt.save(model, tmp_path / "m.learnt")
    loaded = learnt.load(tmp_path / "m.learnt")
    np.testing.assert_array_equal(loaded.predict_proba(Q), model.predict_proba(Q))
    assert type(loaded._search._index).__name__ == "KDTreeIndex"


def test_mistakes_get_one_sentence():
    tree = KDTree(T)
    for call, words in (
        (lambda: KDTree(T, metric="cosine"), "KDTree has the metrics"),
        (lambda: KDTree(T, metric="minkowski", p=0.5), "p >= 1"),
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
