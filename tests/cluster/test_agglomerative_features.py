"""FeatureAgglomeration: scikit-learn's clusters of columns, their means and back, names, bad input."""

import numpy as np
import pytest
from sklearn import cluster as theirs
from sklearn.feature_extraction.image import grid_to_graph

import learnt
from learnt.cluster import AgglomerativeClustering, FeatureAgglomeration

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 24)) @ (np.eye(24) + np.kron(np.eye(6), np.ones((4, 4))))


@pytest.mark.parametrize("pool", [np.mean, np.median, np.max, lambda A, axis: A.sum(axis=axis)])
@pytest.mark.parametrize(
    "options", [{}, {"linkage": "average", "metric": "cosine"}, {"connectivity": grid_to_graph(4, 6)}]
)
def test_as_scikit_learns(pool, options):
    ours, oracle = (
        cls(6, pooling_func=pool, **options).fit(X) for cls in (FeatureAgglomeration, theirs.FeatureAgglomeration)
    )
    np.testing.assert_array_equal(ours.labels_, oracle.labels_)
    np.testing.assert_allclose(ours.transform(X), oracle.transform(X), rtol=1e-12, atol=1e-12)
    Z = ours.transform(X)
    np.testing.assert_array_equal(ours.inverse_transform(Z), oracle.inverse_transform(Z))
    assert list(ours.get_feature_names_out()) == [f"featureagglomeration{k}" for k in range(6)]


def test_clusters_are_those_of_the_columns_as_rows():
    model = FeatureAgglomeration(None, distance_threshold=30.0, linkage="complete").fit(X)
    rows = AgglomerativeClustering(None, distance_threshold=30.0, linkage="complete").fit(X.T.copy())
    np.testing.assert_array_equal(model.labels_, rows.labels_)
    np.testing.assert_array_equal(model.distances_, rows.distances_)
    assert not hasattr(model, "fit_predict")


def test_means_keep_what_equal_columns_share():
    """Six features four times each: agglomeration finds them, and nothing is lost on the way back."""
    base = RNG.normal(size=(70, 6))
    model = FeatureAgglomeration(6).fit(np.repeat(base, 4, axis=1))
    assert sorted(np.bincount(model.labels_)) == [4] * 6
    back = model.inverse_transform(model.transform(np.repeat(base, 4, axis=1)))
    np.testing.assert_allclose(back, np.repeat(base, 4, axis=1), rtol=1e-14)
    one = model.inverse_transform(np.arange(6.0))
    np.testing.assert_array_equal(one, model.labels_)


@pytest.mark.parametrize("pool", [np.mean, np.median, np.max, np.min, np.sum])
def test_its_pool_is_saved_by_name(pool, tmp_path):
    model = FeatureAgglomeration(3, pooling_func=pool).fit(X)
    learnt.save(model, tmp_path / "model.learnt")
    np.testing.assert_array_equal(learnt.load(tmp_path / "model.learnt").transform(X), model.transform(X))


def test_bad_input():
    with pytest.raises(ValueError, match="'pooling_func' parameter of FeatureAgglomeration"):
        FeatureAgglomeration(pooling_func="mean").fit(X)
    with pytest.raises(ValueError, match="1 feature"):
        FeatureAgglomeration().fit(X[:, :1])
    with pytest.raises(ValueError, match="Cannot extract more clusters"):
        FeatureAgglomeration(25).fit(X)
    with pytest.raises(ValueError, match="has 5 columns, but FeatureAgglomeration has 6"):
        FeatureAgglomeration(6).fit(X).inverse_transform(np.ones((2, 5)))
    assert FeatureAgglomeration(1).fit(X[:1]).transform(X[:1]).shape == (1, 1)
