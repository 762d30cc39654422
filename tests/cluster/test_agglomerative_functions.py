"""ward_tree and linkage_tree: scikit-learn's trees, parents, partial trees, and metrics of one's own."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import cluster as theirs
from sklearn.cluster._agglomerative import linkage_tree as their_linkage_tree
from sklearn.feature_extraction.image import grid_to_graph

from learnt.cluster import AgglomerativeClustering, linkage_tree, ward_tree

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))  # no ties: every tree is the only one
GRID = grid_to_graph(6, 10)


def assert_same_tree(found, expected):
    np.testing.assert_array_equal(np.sort(found[0], axis=1), np.sort(expected[0], axis=1))
    assert found[1:3] == expected[1:3]
    assert (found[3] is None) == (expected[3] is None)
    if found[3] is not None:
        np.testing.assert_array_equal(found[3], expected[3])
    np.testing.assert_allclose(found[4], expected[4], rtol=1e-10)


@pytest.mark.parametrize("graph", [None, GRID])
def test_ward(graph):
    found = ward_tree(X, connectivity=graph, return_distance=True)
    assert_same_tree(found, theirs.ward_tree(X, connectivity=graph, return_distance=True))
    model = AgglomerativeClustering(connectivity=graph).fit(X)
    np.testing.assert_array_equal(model.children_, found[0])
    assert len(ward_tree(X, connectivity=graph)) == 4


@pytest.mark.parametrize("linkage", ["complete", "average", "single"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
@pytest.mark.parametrize("graph", [None, GRID])
def test_linkages(linkage, metric, graph):
    rows = cdist(X, X) if metric == "precomputed" else X
    options = {"linkage": linkage, "affinity": metric, "return_distance": True}
    assert_same_tree(linkage_tree(rows, graph, **options), their_linkage_tree(rows, graph, **options))


@pytest.mark.parametrize("linkage", ["complete", "average"])
def test_a_function_of_two_rows_where_there_is_a_graph(linkage):
    def far(x, z):
        return float(np.abs(x - z).max())

    found = linkage_tree(X, GRID, linkage=linkage, affinity=far, return_distance=True)
    assert_same_tree(found, linkage_tree(X, GRID, linkage=linkage, affinity="chebyshev", return_distance=True))
    free = linkage_tree(X, linkage=linkage, affinity=lambda rows: cdist(rows, rows), return_distance=True)
    assert_same_tree(free, linkage_tree(X, linkage=linkage, return_distance=True))


@pytest.mark.parametrize("n_clusters", [1, 7, 60])
def test_partial_trees(n_clusters):
    children, _, n, parents = ward_tree(X, connectivity=GRID, n_clusters=n_clusters)
    whole = ward_tree(X, connectivity=GRID)
    np.testing.assert_array_equal(children, whole[0][: n - n_clusters])
    tops = np.flatnonzero(parents == np.arange(len(parents)))
    assert len(tops) == n_clusters
    with pytest.warns(UserWarning, match="the whole tree is built"):
        assert len(ward_tree(X, n_clusters=n_clusters)[0]) == n - 1


def test_bad_input():
    with pytest.raises(ValueError, match="Unknown linkage option"):
        linkage_tree(X, linkage="ward")
    with pytest.raises(ValueError, match="zero vectors"):
        linkage_tree(np.zeros((3, 2)), affinity="cosine")
    with pytest.raises(ValueError, match="Cannot provide more clusters"):
        ward_tree(X, connectivity=GRID, n_clusters=61)
    with pytest.raises(ValueError, match="whole number of at least 1"):
        ward_tree(X, n_clusters=0)
    with pytest.raises(ValueError, match="at least 2 rows"):
        ward_tree([[1.0]])
    with pytest.raises(ValueError, match="contains NaN"):
        ward_tree([[1.0], [np.nan]])
    with pytest.raises(ValueError, match="Wrong shape for connectivity"):
        linkage_tree(X, np.ones((4, 4)))
    assert ward_tree([1.0, 2.0, 9.0])[0].tolist() == [[0, 1], [2, 3]]
