"""Rows that are added later are found like those of one fit."""

import numpy as np
import pytest
from scipy import sparse

from learnt.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

rng = np.random.default_rng(0)
X, Q = np.round(rng.random((400, 3)), 1), rng.random((30, 3))


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
def test_neighbors_are_those_of_one_fit(algorithm):
    whole = NearestNeighbors(algorithm=algorithm).fit(X)
    parts = NearestNeighbors(algorithm=algorithm)
    for lo, hi in ((0, 100), (100, 101), (101, 400)):
        parts.partial_fit(X[lo:hi])
        parts.kneighbors(Q)
    assert parts.n_samples_fit_ == 400
    for a, b in zip(parts.kneighbors(Q), whole.kneighbors(Q), strict=True):
        np.testing.assert_array_equal(a, b)
    thin = NearestNeighbors().partial_fit(sparse.csr_array(X[:90])).partial_fit(sparse.csr_array(X[90:]))
    at_once = NearestNeighbors().fit(sparse.csr_array(X))
    np.testing.assert_array_equal(thin.kneighbors(X[:9])[1], at_once.kneighbors(X[:9])[1])


def test_a_graph_takes_more_rows_in():
    T = rng.normal(size=(1500, 8))
    model = NearestNeighbors(algorithm="approximate").partial_fit(T[:1000])
    graph = model._search._index._graph
    model.partial_fit(T[1000:])
    assert model._search._index._graph is graph
    assert model.recall_ >= 0.95
    index = model.kneighbors(T[1200:1300], 1, return_distance=False)
    assert np.mean(index[:, 0] == np.arange(1200, 1300)) > 0.95
    assert model.n_samples_fit_ == 1500


def test_targets_come_along():
    y = np.where(X[:, 0] > 0.5, "right", "left")
    y[-3:] = "new"
    whole, parts = KNeighborsClassifier().fit(X, y), KNeighborsClassifier()
    parts.partial_fit(X[:300], y[:300]).partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(parts.classes_, ["left", "new", "right"])
    np.testing.assert_array_equal(parts.predict_proba(Q), whole.predict_proba(Q))
    z = np.column_stack([X[:, 0], X[:, 1] ** 2])
    whole, parts = KNeighborsRegressor().fit(X, z), KNeighborsRegressor()
    parts.partial_fit(X[:7], z[:7]).partial_fit(X[7:], z[7:])
    np.testing.assert_array_equal(parts.predict(Q), whole.predict(Q))


def test_mistakes_get_one_sentence_and_change_nothing():
    model = KNeighborsRegressor().fit(X, X[:, 0])
    before = model.predict(Q)
    for more, y, words in (
        (X[:5, :2], X[:5, 0], "2 features"),
        (X[:5], X[:4, 0], "4"),
        (X[:5], X[:5, :2], "was fitted on"),
        (np.full((2, 3), np.nan), [0.0, 1.0], "NaN"),
        (sparse.csr_array(X[:5]), X[:5, 0], "dense rows"),
    ):
        with pytest.raises(ValueError, match=words):
            model.partial_fit(more, y)
        np.testing.assert_array_equal(model.predict(Q), before)
    with pytest.raises(AttributeError, match="partial_fit") as told:
        NearestNeighbors(metric="precomputed").fit(np.zeros((3, 3))).partial_fit(np.zeros((3, 3)))
    assert "distances that are given" in str(told.value.__cause__)
