"""Isomap: scikit-learn's coordinates up to signs, scipy's paths, new rows, graphs in pieces; bad input."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold as theirs
from sklearn.datasets import make_s_curve
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from learnt.engine.random import generator
from learnt.engine.threads import set_threads
from learnt.manifold import Isomap
from learnt.manifold._paths import shortest_paths

S = make_s_curve(150, random_state=0)[0]


def up_to_signs(A, B, atol):
    np.testing.assert_allclose(A * np.sign((A * B).sum(axis=0)), B, rtol=0, atol=atol)


@pytest.mark.parametrize("method", ["D", "FW"])
@pytest.mark.parametrize("directed", [False, True])
def test_paths_are_those_of_scipy(method, directed):
    X = generator(0).normal(size=(90, 3))
    graph = kneighbors_graph(X, 5, mode="distance")
    if directed:  # an edge in one direction goes both ways, and the shorter of two counts
        graph.data = graph.data * generator(1).uniform(0.5, 2.0, graph.nnz)
    found = shortest_paths(graph, method)
    np.testing.assert_allclose(found, csgraph.shortest_path(graph, directed=False), rtol=90 * np.finfo(float).eps)
    np.testing.assert_array_equal(np.isinf(shortest_paths(sparse.csr_array((3, 3)), method)), ~np.eye(3, dtype=bool))


@pytest.mark.parametrize(
    "settings",
    [
        {"n_neighbors": 8},
        {"n_neighbors": 8, "path_method": "FW", "eigen_solver": "dense"},
        {"n_neighbors": 8, "n_components": 3, "eigen_solver": "arpack"},
        {"n_neighbors": None, "radius": 0.9},
        {"n_neighbors": 8, "metric": "manhattan"},
        {"n_neighbors": 8, "p": 3},
    ],
    ids=str,
)
def test_the_coordinates_of_scikit_learn(settings):
    model, other = Isomap(**settings).fit(S), theirs.Isomap(**settings).fit(S)
    np.testing.assert_allclose(model.dist_matrix_, other.dist_matrix_, rtol=1e-12)
    # Rounding of a matrix of this norm, over the gaps between its first eigenvalues, which are no less than a
    # thousandth of the largest here.
    values = other.kernel_pca_.eigenvalues_
    assert (-np.diff(np.r_[values, 0.0])).min() > 1e-3 * values[0]
    scale = abs(other.embedding_).max()
    up_to_signs(model.embedding_, other.embedding_, 1e-9 * scale)
    new = S[:40] + 0.01
    signs = np.sign((model.embedding_ * other.embedding_).sum(axis=0))
    np.testing.assert_allclose(model.transform(new) * signs, other.transform(new), rtol=0, atol=1e-8 * scale)
    # A difference of two sums of squares: half the digits where there is little error.
    assert model.reconstruction_error() == pytest.approx(other.reconstruction_error(), rel=1e-6)


def test_a_flat_sheet_is_found_again():
    X = generator(0).uniform(size=(60, 2))
    model = Isomap(n_neighbors=59).fit(X)
    np.testing.assert_allclose(pdist(model.embedding_), pdist(X), rtol=1e-9)
    assert model.reconstruction_error() < 1e-7
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    assert model.get_feature_names_out().tolist() == ["isomap0", "isomap1"]


def test_distances_graphs_and_sparse_rows_are_the_same():
    expected = Isomap(n_neighbors=8, eigen_solver="dense").fit(S)
    D = squareform(pdist(S))
    given = Isomap(n_neighbors=8, metric="precomputed", eigen_solver="dense")
    graph = kneighbors_graph(S, 9, mode="distance")
    for table in (D, graph):
        np.testing.assert_allclose(given.fit(table).dist_matrix_, expected.dist_matrix_, rtol=1e-12)
    thin = Isomap(n_neighbors=8, eigen_solver="dense").fit(sparse.csr_array(S))
    np.testing.assert_allclose(thin.dist_matrix_, expected.dist_matrix_, rtol=1e-9)
    radius = Isomap(n_neighbors=None, radius=0.9, metric="precomputed")
    np.testing.assert_allclose(
        radius.fit(radius_neighbors_graph(S, 0.9, mode="distance")).dist_matrix_, radius.fit(D).dist_matrix_, rtol=1e-12
    )


def test_pieces_are_joined_by_their_nearest_rows():
    line = np.array([0.0, 1.0, 2.0, 5.0, 6.0, 7.0, 20.0, 21.0, 22.0])[:, None]
    for table, settings in ((line, {}), (sparse.csr_array(line), {}), (abs(line - line.T), {"metric": "precomputed"})):
        with pytest.warns(UserWarning, match="number of connected components of the neighbors graph is 3 > 1"):
            model = Isomap(n_neighbors=2, n_components=1, **settings).fit(table)
        np.testing.assert_allclose(model.dist_matrix_, abs(line - line.T), rtol=1e-12)
    with pytest.raises(RuntimeError, match="number of connected components of the neighbors graph is"):
        Isomap(n_neighbors=1, metric="precomputed").fit(kneighbors_graph(line[:6], 2, mode="distance"))


def test_equal_rows_are_at_one_place():
    X = np.repeat(S[:30], 2, axis=0)
    model = Isomap(n_neighbors=12, eigen_solver="dense").fit(X)
    assert model.dist_matrix_[0, 1] == 0
    scale = abs(model.embedding_).max()
    np.testing.assert_allclose(model.embedding_[::2], model.embedding_[1::2], atol=1e-9 * scale)


def test_threads_change_nothing():
    found = []
    for threads in (1, 3):
        set_threads(threads)
        model = Isomap(n_neighbors=8).fit(S)
        found.append((model.embedding_.tobytes(), model.transform(S + 0.01).tobytes()))
    set_threads(None)
    assert found[0] == found[1]


def test_single_precision_stays():
    model = Isomap(n_neighbors=8).fit(S.astype(np.float32))
    assert model.embedding_.dtype == model.dist_matrix_.dtype == model.transform(S.astype(np.float32)).dtype
    assert model.embedding_.dtype == np.float32


def test_bad_input_is_one_sentence():
    for message, settings, X in (
        ("Both n_neighbors and radius are provided", {"radius": 1.0}, S),
        ("needs n_neighbors or radius", {"n_neighbors": None}, S),
        ("n_neighbors=5 of Isomap must be less than n_samples = 5", {}, S[:5]),
        ("'n_components' parameter of Isomap", {"n_components": 0}, S),
        ("'path_method' parameter of Isomap", {"path_method": "A"}, S),
        ("NaN", {}, np.full((20, 2), np.nan)),
        ("square", {"metric": "precomputed"}, S),
    ):
        with pytest.raises(ValueError, match=message) as error:
            Isomap(**settings).fit(X)
        assert "\n" not in str(error.value)
    model = Isomap(n_neighbors=None, radius=0.9).fit(S)
    with pytest.raises(ValueError, match="Row 1 of X has no training row within the radius"):
        model.transform(np.vstack([S[:1], S[:1] + 50.0]))
    with pytest.raises(ValueError, match="features"):
        model.transform(S[:, :2])
