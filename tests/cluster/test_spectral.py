"""Spectral clusters: groups of any shape, scikit-learn's labels, every way of labelling; bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster as theirs
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from learnt.cluster import SpectralClustering, spectral_clustering
from learnt.cluster.spectral._rotations import by_pivots, by_turns
from learnt.engine.random import generator, random_state_of

WAYS = ("kmeans", "discretize", "cluster_qr")
RINGS, RING = make_circles(150, factor=0.3, noise=0.03, random_state=0)
BLOBS, BLOB = make_blobs(90, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.4, random_state=2)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("solver", ["arpack", "lobpcg", None])
def test_rings_are_told_apart(way, solver):
    model = SpectralClustering(2, gamma=20.0, assign_labels=way, eigen_solver=solver, random_state=0)
    assert adjusted_rand_score(RING, model.fit_predict(RINGS)) == 1.0


@pytest.mark.parametrize("way", WAYS)
def test_the_labels_of_scikit_learn(way):
    settings = {"n_clusters": 3, "gamma": 0.5, "assign_labels": way, "random_state": 0}
    model, other = SpectralClustering(**settings).fit(BLOBS), theirs.SpectralClustering(**settings).fit(BLOBS)
    np.testing.assert_allclose(model.affinity_matrix_, other.affinity_matrix_, atol=1e-12)
    assert adjusted_rand_score(model.labels_, other.labels_) == 1.0
    W = other.affinity_matrix_
    for table in (W, sparse.csr_array(W)):
        found = spectral_clustering(table, n_clusters=3, assign_labels=way, random_state=0)
        assert adjusted_rand_score(found, BLOB) == 1.0


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "poly", "laplacian", lambda a, b: np.exp(-abs(a - b).sum())])
def test_affinities(affinity):
    X = BLOBS - BLOBS.min()
    model = SpectralClustering(3, affinity=affinity, n_neighbors=40, gamma=0.3, random_state=0).fit(X)
    other = theirs.SpectralClustering(3, affinity=affinity, n_neighbors=40, gamma=0.3, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, other.labels_) == 1.0


def test_graphs_of_distances():
    graph = kneighbors_graph(BLOBS, 60, mode="distance", include_self=True)
    model = SpectralClustering(3, affinity="precomputed_nearest_neighbors", n_neighbors=40, random_state=0)
    assert adjusted_rand_score(model.fit_predict(graph), BLOB) == 1.0
    with pytest.warns(UserWarning, match="Graph is not fully connected"):
        assert adjusted_rand_score(model.set_params(n_neighbors=5).fit_predict(graph), BLOB) == 1.0


def test_rotations_find_noisy_axes():
    rng = generator(0)
    for k in (2, 5, 8):
        truth = rng.integers(0, k, 200)
        V = np.eye(k)[truth] + 0.05 * rng.normal(size=(200, k))
        assert adjusted_rand_score(by_turns(V, random_state_of(0)), truth) == 1.0
        order = rng.permutation(200)
        np.testing.assert_array_equal(by_pivots(V)[order], by_pivots(V[order]))
    zero = np.vstack([np.eye(2), np.zeros((1, 2))])
    assert by_turns(zero, random_state_of(0)).shape == (3,)


def test_bad_input_is_one_sentence():
    for message, settings, X in (
        ("n_clusters is 6 and there are 5 rows", {"n_clusters": 6}, BLOBS[:5]),
        ("'assign_labels' parameter", {"assign_labels": "no"}, BLOBS),
        ("'affinity' parameter", {"affinity": "no"}, BLOBS),
        ("pyamg is not available", {"eigen_solver": "amg"}, BLOBS),
        ("square matrix", {"affinity": "precomputed"}, BLOBS),
        ("is more than there are rows", {"affinity": "nearest_neighbors", "n_neighbors": 99}, BLOBS),
        ("NaN", {}, np.full((9, 2), np.nan)),
    ):
        with pytest.raises(ValueError, match=message) as error:
            SpectralClustering(**settings).fit(X)
        assert "\n" not in str(error.value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix(rbf_kernel(BLOBS))
    with pytest.raises(TypeError, match=r"np\.matrix is not supported"):
        spectral_clustering(matrix)


@pytest.mark.parametrize("affinity", ["linear", "cosine", "precomputed"])
def test_affinities_that_add_up_to_less_than_nothing_are_refused(affinity):
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(ValueError, match=r"affinities of row \d+ to all others add up to -"):
        SpectralClustering(2, affinity=affinity, random_state=0).fit(X @ X.T if affinity == "precomputed" else X)
