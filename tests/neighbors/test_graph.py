"""Graphs of neighbours and the transformers that make them, against scikit-learn."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import neighbors as oracle
from sklearn.exceptions import EfficiencyWarning
from sklearn.pipeline import make_pipeline

from learnt.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    NearestNeighbors,
    RadiusNeighborsRegressor,
    RadiusNeighborsTransformer,
    kneighbors_graph,
    radius_neighbors_graph,
    sort_graph_by_row_values,
)

X = np.random.default_rng(0).normal(size=(120, 3))


def assert_same_graph(ours, theirs):
    assert ours.shape == theirs.shape
    assert ours.nnz == theirs.nnz  # entries that are 0 are there
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), atol=1e-7)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("include_self", [True, False, "auto"])
@pytest.mark.parametrize("metric", ["minkowski", "manhattan"])
def test_graphs_equal_scikit_learn(metric, include_self, mode):
    settings = {"mode": mode, "include_self": include_self, "metric": metric}
    assert_same_graph(kneighbors_graph(X, 4, **settings), oracle.kneighbors_graph(X, 4, **settings))
    assert_same_graph(radius_neighbors_graph(X, 0.9, **settings), oracle.radius_neighbors_graph(X, 0.9, **settings))


def test_graphs_of_a_fitted_estimator():
    model = NearestNeighbors().fit(X)
    assert_same_graph(kneighbors_graph(model, 3), kneighbors_graph(X, 3))
    assert_same_graph(
        radius_neighbors_graph(model, 0.5, include_self=True), radius_neighbors_graph(X, 0.5, include_self=True)
    )
    with pytest.raises(ValueError, match="Got manhattan for metric, while the estimator has minkowski") as caught:
        kneighbors_graph(model, 3, metric="manhattan")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_transformers_equal_scikit_learn(mode):
    for name, settings in (
        ("KNeighborsTransformer", {"n_neighbors": 6}),
        ("RadiusNeighborsTransformer", {"radius": 0.7}),
    ):
        kind = {
            "KNeighborsTransformer": KNeighborsTransformer,
            "RadiusNeighborsTransformer": RadiusNeighborsTransformer,
        }[name]
        ours, theirs = kind(mode=mode, **settings).fit(X[:80]), getattr(oracle, name)(mode=mode, **settings).fit(X[:80])
        assert_same_graph(ours.transform(X[80:]), theirs.transform(X[80:]))
        assert_same_graph(ours.fit_transform(X), theirs.fit_transform(X))
        np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


def test_estimators_on_a_graph_are_those_on_the_rows():
    y = (X[:, 0] > 0).astype(int)
    for step, last, plain in (
        (KNeighborsTransformer(n_neighbors=9), KNeighborsClassifier(5, metric="precomputed"), KNeighborsClassifier(5)),
        (KNeighborsTransformer(n_neighbors=9), KNeighborsRegressor(5, metric="precomputed"), KNeighborsRegressor(5)),
        (
            RadiusNeighborsTransformer(radius=2.0),
            RadiusNeighborsRegressor(1.5, weights="distance", metric="precomputed"),
            RadiusNeighborsRegressor(1.5, weights="distance"),
        ),
    ):
        piped = make_pipeline(step, last).fit(X[:80], y[:80])
        near = X[80:][np.abs(X[80:]).max(axis=1) < 1]
        np.testing.assert_allclose(piped.predict(near), plain.fit(X[:80], y[:80]).predict(near), rtol=1e-12)


def test_mistakes_get_one_sentence():
    for call, words in (
        (lambda: kneighbors_graph(X, 120), "Expected n_neighbors < n_samples_fit"),
        (lambda: kneighbors_graph(X, 3, mode="far"), "Unsupported mode"),
        (lambda: KNeighborsTransformer(mode="far").fit(X), "'mode' parameter"),
        (lambda: KNeighborsTransformer(n_neighbors=120).fit_transform(X), "Expected n_neighbors <= n_samples_fit"),
        (lambda: RadiusNeighborsTransformer(radius=-1).fit(X), "'radius' parameter"),
        (lambda: RadiusNeighborsTransformer().fit(X).transform(X[:, :2]), "2 features"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_graphs_are_sorted_by_value(kind):
    rng = np.random.default_rng(0)
    thin = sparse.random_array((40, 40), density=0.2, rng=rng, format="csr")
    thin.data = np.round(thin.data, 1)  # ties: the first stored stays first
    given = kind(thin)
    with pytest.warns(EfficiencyWarning, match="not sorted by row values"):
        found = sort_graph_by_row_values(given, copy=True)
    expected = oracle.sort_graph_by_row_values(kind(thin), copy=True, warn_when_not_sorted=False)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.toarray(), thin.toarray())
    np.testing.assert_array_equal(given.toarray(), thin.toarray())
    assert sort_graph_by_row_values(found) is found


def test_graphs_are_sorted_in_place_or_refused():
    graph = sparse.csr_array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]])
    data = graph.data
    assert sort_graph_by_row_values(graph, warn_when_not_sorted=False).data is data
    with pytest.raises(ValueError, match="not in CSR format"):
        sort_graph_by_row_values(graph.tocsc(), warn_when_not_sorted=False)
    with pytest.raises(TypeError, match="'dok' format is not supported"):
        sort_graph_by_row_values(graph.todok())
    with pytest.raises(ValueError, match="must be a sparse matrix"):
        sort_graph_by_row_values(graph.toarray())
    empty = sparse.csr_array((3, 3))
    assert sort_graph_by_row_values(empty) is empty
