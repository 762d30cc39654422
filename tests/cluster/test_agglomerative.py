"""AgglomerativeClustering: SciPy's trees, the definition of each linkage, graphs, cuts, bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn import cluster as theirs
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.neighbors import kneighbors_graph

from learnt.cluster import AgglomerativeClustering

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)) + 100.0  # no ties: every tree is the only one
LINKAGES = ("ward", "average", "complete", "single")


MORE = ("braycurtis", "chebyshev", "correlation", "mahalanobis", "minkowski", "seuclidean", "sqeuclidean")


def fitted(X, **settings):
    return AgglomerativeClustering(compute_distances=True, **settings).fit(X)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("n", [2, 3, 10, 200])
@pytest.mark.sweep
def test_the_tree_is_scipys(linkage, n):
    Z = hierarchy.linkage(X[:n], linkage)
    model = fitted(X[:n], linkage=linkage, n_clusters=2)
    # Distances about 1 from rows about 100 from zero: a few roundings of 100.
    np.testing.assert_allclose(model.distances_, Z[:, 2], rtol=1e-11)
    np.testing.assert_array_equal(np.sort(model.children_, axis=1), np.sort(Z[:, :2].astype(int), axis=1))
    assert (model.n_leaves_, model.n_connected_components_, model.n_clusters_) == (n, 1, 2)


@pytest.mark.parametrize("n", [2, 60, 300])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_ward_of_rows_with_many_features(n, scale):
    """From the matrix of squared distances, whatever the unit."""
    rows = RNG.normal(size=(n, 64)) + 100.0
    rows[n // 2 :] = rows[: n - n // 2] + 1e-5 * RNG.normal(size=(n - n // 2, 64))  # near rows, whose products cancel
    model = fitted(rows * scale, n_clusters=2)
    Z = hierarchy.linkage(rows, "ward")
    # Rows about 100 from zero have roundings of 1e-14: a share of 1e-9 of gaps of 1e-5.
    np.testing.assert_allclose(model.distances_ / scale, Z[:, 2], rtol=1e-8)
    np.testing.assert_array_equal(np.sort(model.children_, axis=1), np.sort(Z[:, :2].astype(int), axis=1))


@pytest.mark.parametrize("metric", ["manhattan", "l1", "cosine", "l2", "precomputed", "function", *MORE])
@pytest.mark.parametrize("linkage", LINKAGES[1:])
def test_other_metrics(linkage, metric):
    rows = RNG.normal(size=(60, 4))
    known = {"manhattan": "cityblock", "l1": "cityblock"} | {name: name for name in ("cosine", *MORE)}
    name = known.get(metric, "euclidean")
    Z = hierarchy.linkage(pdist(rows, name), linkage)
    if metric == "precomputed":
        model = fitted(squareform(pdist(rows)), linkage=linkage, metric="precomputed")
    else:
        model = fitted(rows, linkage=linkage, metric=(lambda X: cdist(X, X)) if metric == "function" else metric)
    np.testing.assert_allclose(model.distances_, Z[:, 2], rtol=1e-10)
    np.testing.assert_array_equal(np.sort(model.children_, axis=1), np.sort(Z[:, :2].astype(int), axis=1))


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("k", [1, 2, 7, 30])
def test_labels_are_scikit_learns(linkage, k):
    ours = AgglomerativeClustering(k, linkage=linkage).fit_predict(X)
    np.testing.assert_array_equal(ours, theirs.AgglomerativeClustering(k, linkage=linkage).fit_predict(X))


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_threshold_leaves_clusters_that_are_farther_apart(linkage):
    model = AgglomerativeClustering(None, distance_threshold=1.5, linkage=linkage).fit(X)
    other = theirs.AgglomerativeClustering(None, distance_threshold=1.5, linkage=linkage).fit(X)
    assert model.n_clusters_ == other.n_clusters_ == len(np.unique(model.labels_))
    np.testing.assert_array_equal(model.labels_, other.labels_)
    assert (model.distances_[: len(X) - model.n_clusters_] < 1.5).all()


def rings(n=80):
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.concatenate([r * np.column_stack([np.cos(angle), np.sin(angle)]) for r in (1.0, 2.0)])


def test_single_linkage_finds_rings():
    labels = AgglomerativeClustering(2, linkage="single").fit_predict(rings())
    assert len(set(labels[:80])) == len(set(labels[80:])) == 1
    assert labels[0] != labels[-1]


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("whole", [True, False])
def test_with_a_graph_only_neighbours_are_merged(linkage, whole):
    rows = RNG.normal(size=(100, 3))
    graph = kneighbors_graph(rows, 8, include_self=False)
    settings = {"n_clusters": 4, "linkage": linkage, "connectivity": graph, "compute_full_tree": whole}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, of the graph's form
        ours = AgglomerativeClustering(compute_distances=True, **settings).fit(rows)
        other = theirs.AgglomerativeClustering(compute_distances=True, **settings).fit(rows)
    assert len(ours.children_) == (99 if whole else 96)
    first = np.sort(other.distances_)[: len(ours.distances_)]  # its single linkage is always merged to the end
    np.testing.assert_allclose(np.sort(ours.distances_), first, rtol=1e-9)
    pairs = np.column_stack([ours.labels_, other.labels_])
    assert len(np.unique(pairs, axis=0)) == 4  # the same clusters, under other names perhaps


def test_a_graph_of_all_pairs_changes_nothing():
    rows = X[:50]
    for linkage in LINKAGES:
        free = fitted(rows, linkage=linkage)
        bound = fitted(rows, linkage=linkage, connectivity=np.ones((50, 50)))
        np.testing.assert_allclose(bound.distances_, free.distances_, rtol=1e-9)
        np.testing.assert_array_equal(bound.children_, free.children_)


def test_pixels_and_a_graph_in_pieces():
    image = np.kron(np.array([[0.0, 5.0], [5.0, 0.0]]), np.ones((4, 4))) + 0.01 * RNG.normal(size=(8, 8))
    labels = AgglomerativeClustering(4, connectivity=grid_to_graph(8, 8)).fit_predict(image.reshape(-1, 1))
    assert len(np.unique(labels.reshape(8, 8)[:4, :4])) == 1
    assert len(np.unique(labels)) == 4  # like-coloured quarters do not touch
    pieces = sparse.block_diag([np.ones((5, 5)), np.ones((5, 5))])
    with pytest.warns(UserWarning, match="connected components of the connectivity matrix is 2"):
        model = AgglomerativeClustering(2, connectivity=pieces).fit(X[:10])
    assert model.n_connected_components_ == 2
    assert len(model.children_) == 9


def test_equal_rows_zero_variance_and_two_rows():
    for linkage in LINKAGES:
        model = fitted(np.ones((6, 3)), linkage=linkage, n_clusters=3)
        np.testing.assert_array_equal(model.distances_, 0.0)
        assert len(np.unique(model.labels_)) == 3
        flat = np.column_stack([X[:30], np.full(30, 7.0)])
        np.testing.assert_allclose(
            fitted(flat, linkage=linkage).distances_, fitted(X[:30], linkage=linkage).distances_, rtol=1e-10
        )
        assert sorted(AgglomerativeClustering(2, linkage=linkage).fit_predict(X[:2])) == [0, 1]


@pytest.mark.parametrize(
    ("settings", "rows", "words"),
    [
        ({}, X[:1], "minimum of 2 is required"),
        ({"n_clusters": 5}, X[:3], "Cannot extract more clusters than samples: 5"),
        ({"n_clusters": None}, X, "Exactly one of n_clusters and distance_threshold"),
        ({"distance_threshold": 1.0}, X, "Exactly one of n_clusters and distance_threshold"),
        ({"n_clusters": None, "distance_threshold": 1.0, "compute_full_tree": False}, X, "compute_full_tree must be"),
        ({"metric": "manhattan"}, X, "Ward can only work with euclidean"),
        ({"metric": "precomputed", "linkage": "average"}, X, "should be square"),
        ({"connectivity": np.ones((3, 3))}, X, "Wrong shape for connectivity matrix"),
        ({"linkage": "median"}, X, "'linkage' parameter"),
    ],
)
def test_refusals(settings, rows, words):
    with pytest.raises(ValueError, match=words):
        AgglomerativeClustering(**settings).fit(rows)


@pytest.mark.parametrize("d", [1, 2, 9])
@pytest.mark.parametrize("scale", [1.0, 1e-170, 1e152])
def test_wards_tree_of_many_cells_is_scipys_in_any_unit(d, scale):
    """Several times 64 rows, which come in blobs of different sizes; squares of these units under- and overflow."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, d)) + 5.0 * rng.normal(size=(6, d))[np.minimum(rng.geometric(0.4, size=700), 6) - 1]
    model = AgglomerativeClustering(4, compute_distances=True).fit(X * scale)
    np.testing.assert_allclose(model.distances_, scale * hierarchy.linkage(X, "ward")[:, 2], rtol=1e-9)


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_islands_infinitely_far_apart_are_merged_last(linkage):
    n, islands = 150, 5
    D = np.full((n, n), np.inf)
    for k in range(islands):
        island = np.arange(k, n, islands)
        points = RNG.normal(size=(len(island), 3))
        D[np.ix_(island, island)] = np.linalg.norm(points[:, None] - points, axis=2)
    model = fitted(np.zeros((n, 1)), n_clusters=islands, metric=lambda _: D, linkage=linkage)
    np.testing.assert_array_equal(np.isinf(model.distances_), np.arange(n - 1) >= n - islands)
    assert len({(k % islands, label) for k, label in enumerate(model.labels_)}) == islands
