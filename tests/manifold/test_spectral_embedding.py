"""Laplacian eigenmaps: eigenvectors as defined, scikit-learn's up to signs, from every kind of graph; bad input."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from sklearn import manifold as theirs
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from learnt.distances import nearest_graph
from learnt.engine.random import generator, random_state_of
from learnt.engine.threads import set_threads
from learnt.linalg.laplacian import laplacian, node_coordinates, smallest
from learnt.manifold import SpectralEmbedding, spectral_embedding

X = generator(0).normal(size=(60, 3))
W = rbf_kernel(X, gamma=0.5)


def up_to_signs(A, B, atol):
    np.testing.assert_allclose(A * np.sign((A * B).sum(axis=0)), B, rtol=0, atol=atol)


@pytest.mark.parametrize("normed", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_laplacian_is_that_of_scipy(normed, kind):
    weights = W.copy()
    weights[3] = weights[:, 3] = 0.0  # a node without edges
    L, roots = laplacian(kind(weights), normed)
    expected, expected_roots = csgraph.laplacian(weights, normed=normed, return_diag=True)
    found = L.toarray() if sparse.issparse(L) else L
    if normed:
        expected[3, 3] = 1.0
        np.testing.assert_allclose(roots, expected_roots, rtol=1e-14)
    np.testing.assert_allclose(found, expected, atol=60 * np.finfo(float).eps * abs(expected).max())


@pytest.mark.parametrize("solver", ["arpack", "lobpcg"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_solvers_find_the_smallest_eigenvectors(solver, kind):
    rows = make_moons(600, noise=0.05, random_state=0)[0]
    L = laplacian(rbf_kernel(rows, gamma=2.0), True)[0]
    expected, _ = smallest(L, 4, "dense", None, None, 0.1)
    tol = 1e-8 if solver == "lobpcg" else None
    values, vectors = smallest(kind(L), 4, solver, tol, random_state_of(0), 0.1)
    # An eigenvalue is off by the square of the residual over the gap; residuals are the tolerance's.
    np.testing.assert_allclose(values, expected, atol=1e-9)
    np.testing.assert_allclose(L @ vectors, vectors * values, atol=1e-6)


@pytest.mark.parametrize("normed", [True, False])
@pytest.mark.parametrize("drop_first", [True, False])
def test_the_coordinates_of_scikit_learn(normed, drop_first):
    settings = {"n_components": 3, "norm_laplacian": normed, "drop_first": drop_first, "random_state": 0}
    found, expected = spectral_embedding(W, **settings), theirs.spectral_embedding(W, **settings)
    up_to_signs(found, expected, 1e-8)
    up_to_signs(spectral_embedding(sparse.csr_array(W), **settings), expected, 1e-8)


@pytest.mark.parametrize(
    "settings",
    [
        {"affinity": "rbf"},
        {"affinity": "rbf", "gamma": 0.7, "n_components": 3},
        {"n_neighbors": 12},
        {"affinity": lambda rows: rbf_kernel(rows, gamma=0.3)},
    ],
    ids=["kernel", "kernel of a width", "neighbours", "function"],
)
def test_the_estimator_of_scikit_learn(settings):
    model = SpectralEmbedding(random_state=0, **settings).fit(X)
    other = theirs.SpectralEmbedding(random_state=0, **settings).fit(X)
    a, b = (m.affinity_matrix_.toarray() if sparse.issparse(m.affinity_matrix_) else m.affinity_matrix_
            for m in (model, other))  # fmt: skip
    np.testing.assert_allclose(a, b, atol=1e-12)
    up_to_signs(model.embedding_, other.embedding_, 1e-8)
    given = SpectralEmbedding(model.n_components, affinity="precomputed", random_state=0).fit(b)
    up_to_signs(given.embedding_, other.embedding_, 1e-8)


def test_graphs_of_neighbours():
    graph = nearest_graph(X, 7)
    ones = kneighbors_graph(X, 7, include_self=True)
    np.testing.assert_array_equal(graph.toarray(), 0.5 * (ones + ones.T).toarray())
    distances = kneighbors_graph(X, 20, mode="distance", include_self=True)
    np.testing.assert_array_equal(
        nearest_graph(sparse.csr_array(distances), 7, "precomputed").toarray(), graph.toarray()
    )
    model = SpectralEmbedding(affinity="precomputed_nearest_neighbors", n_neighbors=12, random_state=0)
    up_to_signs(model.fit(distances).embedding_, SpectralEmbedding(n_neighbors=12).fit(X).embedding_, 1e-8)
    assert SpectralEmbedding().fit(X).n_neighbors_ == 6


def test_threads_change_nothing():
    rows = make_moons(600, noise=0.05, random_state=0)[0]
    found = []
    for threads in (1, 3):
        set_threads(threads)
        by_kernel = SpectralEmbedding(affinity="rbf", random_state=0).fit(rows).embedding_
        found.append((by_kernel.tobytes(), SpectralEmbedding(random_state=0).fit(rows).embedding_.tobytes()))
    set_threads(None)
    assert found[0] == found[1]


def test_pieces_and_asymmetry_are_told():
    pieces = np.kron(np.eye(2), np.ones((4, 4)))
    with pytest.warns(UserWarning, match="Graph is not fully connected"):
        first = spectral_embedding(pieces, n_components=2, drop_first=False)
    assert abs(first[:4] - first[0]).max() < 1e-12  # constant on each piece
    with pytest.warns(UserWarning, match="symmetric"):
        spectral_embedding(W + np.triu(np.full(W.shape, 0.1)), n_components=1)


def test_single_precision_stays():
    model = SpectralEmbedding(affinity="rbf", random_state=0).fit(X.astype(np.float32))
    assert model.embedding_.dtype == model.affinity_matrix_.dtype == np.float32


def test_bad_input_is_one_sentence():
    for message, settings, rows in (
        ("'n_components' parameter of SpectralEmbedding", {"n_components": 0}, X),
        ("'affinity' parameter of SpectralEmbedding", {"affinity": "no"}, X),
        ("pyamg is not available", {"eigen_solver": "amg", "affinity": "rbf"}, X),
        ("is more than there are rows", {"n_neighbors": 61}, X),
        ("square matrix", {"affinity": "precomputed"}, X),
        ("ask for fewer components", {"n_components": 9, "affinity": "rbf"}, X[:5]),
        ("give one for each two rows", {"affinity": lambda rows: rows}, X),
        ("NaN", {}, np.full((9, 2), np.nan)),
    ):
        with pytest.raises(ValueError, match=message) as error:
            SpectralEmbedding(**settings).fit(rows)
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="square matrix of weights"):
        spectral_embedding(X)
    assert node_coordinates(W, 60, draw=random_state_of(0), drop_first=False).shape == (60, 60)
