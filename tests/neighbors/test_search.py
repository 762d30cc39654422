"""NearestNeighbors: every metric, dense and sparse rows, precomputed distances, graphs and radii."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors as Oracle

from learnt.neighbors import NearestNeighbors

# Metrics ------------------------------------------------------------------------------------------------------------

METRICS = [
    ("minkowski", 1, None),
    ("minkowski", 3, None),
    ("minkowski", 1.5, None),
    ("minkowski", np.inf, None),
    ("minkowski", 3, {"w": np.array([1.0, 2.0, 0.5])}),
    ("euclidean", 2, None),
    ("l2", 2, None),
    ("sqeuclidean", 2, None),
    ("manhattan", 2, None),
    ("cityblock", 2, None),
    ("chebyshev", 2, None),
    ("cosine", 2, None),
    ("canberra", 2, None),
    ("braycurtis", 2, None),
    ("correlation", 2, None),
    ("hamming", 2, None),
    ("seuclidean", 2, {"V": np.array([1.0, 2.0, 3.0])}),
    ("mahalanobis", 2, {"VI": np.diag([1.0, 2.0, 3.0])}),
    ("jaccard", 2, None),
    ("dice", 2, None),
    ("russellrao", 2, None),
]


@pytest.mark.parametrize(("metric", "p", "params"), METRICS, ids=lambda v: str(v)[:12])
@pytest.mark.parametrize("n", [60, 900])
def test_metrics_equal_scikit_learn_and_scipy(metric, p, params, n):
    rng = np.random.RandomState(0)
    T, Q = rng.rand(n, 3), rng.rand(700 if n == 900 else 9, 3)
    if metric in ("hamming", "jaccard", "dice", "russellrao"):
        T, Q = (T > 0.5).astype(float), (Q > 0.5).astype(float)
    with np.errstate(all="ignore"):
        ours = NearestNeighbors(n_neighbors=4, metric=metric, p=p, metric_params=params).fit(T).kneighbors(Q)
        if metric in ("jaccard", "dice", "russellrao"):
            D = cdist(Q != 0, T != 0, metric)
        else:
            names = {"l2": "euclidean", "manhattan": "cityblock"}
            options = dict(params or {}, **({"p": p} if metric == "minkowski" else {}))
            D = cdist(Q, T, names.get(metric, metric), **options)
    np.testing.assert_allclose(ours[0], np.sort(D, axis=1)[:, :4], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(D, ours[1], axis=1), ours[0], rtol=1e-9, atol=1e-12)
    if metric not in ("jaccard", "dice", "russellrao"):
        with np.errstate(all="ignore"):
            theirs = Oracle(n_neighbors=4, algorithm="brute", metric=metric, p=p, metric_params=params).fit(T)
        np.testing.assert_allclose(ours[0], theirs.kneighbors(Q)[0], rtol=1e-7, atol=1e-7)


def test_distances_that_are_not_numbers_come_last():
    rng = np.random.RandomState(0)
    T, Q = rng.rand(1500, 3), rng.rand(900, 3)
    T[7] = 1.0  # a constant row has no correlation
    with np.errstate(all="ignore"):
        index = NearestNeighbors(n_neighbors=3, metric="correlation").fit(T).kneighbors(Q, return_distance=False)
    assert 7 not in index
    assert all(len(set(row)) == 3 for row in index.tolist())


def test_effective_metric():
    X = np.random.RandomState(0).rand(10, 2)
    for p, name in ((1, "manhattan"), (2, "euclidean"), (np.inf, "chebyshev"), (3, "minkowski")):
        assert NearestNeighbors(p=p).fit(X).effective_metric_ == name
    assert NearestNeighbors(p=3).fit(X).effective_metric_params_ == {"p": 3, "w": None}


def test_metrics_that_learn_from_the_training_rows():
    rng = np.random.RandomState(0)
    T, Q = rng.randn(50, 3) * [1, 10, 100], rng.randn(5, 3) * [1, 10, 100]
    ours = NearestNeighbors(n_neighbors=3, metric="seuclidean").fit(T).kneighbors(Q)[0]
    np.testing.assert_allclose(ours, np.sort(cdist(Q, T, "seuclidean", V=T.var(axis=0, ddof=1)), axis=1)[:, :3])
    ours = NearestNeighbors(n_neighbors=3, metric="mahalanobis").fit(T).kneighbors(Q)[0]
    VI = np.linalg.inv(np.cov(T, rowvar=False))
    np.testing.assert_allclose(ours, np.sort(cdist(Q, T, "mahalanobis", VI=VI), axis=1)[:, :3])


def test_cosine_of_a_row_of_zeros():
    T = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    Q = np.array([[2.0, 0.0], [0.0, 0.0]])
    distances, index = NearestNeighbors(n_neighbors=3, metric="cosine").fit(T).kneighbors(Q)
    np.testing.assert_allclose(distances, [[0, 1, 2], [1, 1, 1]])
    np.testing.assert_array_equal(index, [[1, 0, 2], [0, 1, 2]])


def test_a_function_haversine_and_missing_values():
    rng = np.random.RandomState(0)
    X = rng.rand(40, 2)
    ours = NearestNeighbors(n_neighbors=3, metric=lambda a, b: np.abs(a - b).max()).fit(X).kneighbors(X)
    np.testing.assert_array_equal(ours[1], NearestNeighbors(n_neighbors=3, p=np.inf).fit(X).kneighbors(X)[1])
    ours = NearestNeighbors(n_neighbors=3, metric="haversine").fit(X).kneighbors(X)
    theirs = Oracle(n_neighbors=3, metric="haversine", algorithm="brute").fit(X).kneighbors(X)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-7)
    X[3, 1] = np.nan
    ours = NearestNeighbors(n_neighbors=3, metric="nan_euclidean").fit(X).kneighbors(X)
    theirs = Oracle(n_neighbors=3, metric="nan_euclidean", algorithm="brute").fit(X).kneighbors(X)
    np.testing.assert_array_equal(ours[1], theirs[1])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "sqeuclidean"])
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_sparse_rows(metric, container):
    rng = np.random.RandomState(0)
    T, Q = (rng.rand(n, 20) * (rng.rand(n, 20) < 0.3) for n in (200, 50))
    dense = NearestNeighbors(n_neighbors=4, metric=metric).fit(T).kneighbors(Q)
    for a, b in ((container(T), container(Q)), (T, container(Q)), (container(T), Q)):
        ours = NearestNeighbors(n_neighbors=4, metric=metric).fit(a).kneighbors(b)
        np.testing.assert_allclose(ours[0], dense[0], atol=1e-7)
        np.testing.assert_array_equal(ours[1], dense[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
def test_small_distances_of_sparse_rows_have_their_digits(metric, dtype):
    """Equal rows are at distance 0, and rows of a hundred that differ by 1e-5 at no more and no less than that."""
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(40, 8)) + 100.0 * rng.integers(0, 2, size=(40, 8))).astype(dtype)
    Y = X.copy()
    Y[:, 2] += dtype(1e-5 if dtype is np.float64 else 1e-3)
    model = NearestNeighbors(n_neighbors=1, metric=metric).fit(sparse.csr_array(X))
    distances, index = model.kneighbors(sparse.csr_array(X))
    np.testing.assert_array_equal(distances, 0.0)
    np.testing.assert_array_equal(index[:, 0], np.arange(40))
    U, V = (Z.astype(float) for Z in (X, Y))
    if metric == "cosine":
        U, V = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (U, V))
    expected = ((U - V) ** 2).sum(axis=1)
    expected = {"euclidean": np.sqrt(expected), "sqeuclidean": expected, "cosine": expected / 2}[metric]
    found, _ = model.kneighbors(sparse.csr_array(Y))
    # Rows of length 1 are rounded by ε, of which their differences of δ keep ε/δ of their digits.
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-6 if metric == "cosine" else 1e-12)


def test_precomputed_distances_dense_and_sparse():
    X = np.random.RandomState(0).rand(30, 3)
    D = cdist(X, X)
    expected = NearestNeighbors(n_neighbors=4).fit(X)
    ours = NearestNeighbors(n_neighbors=4, metric="precomputed").fit(D)
    np.testing.assert_array_equal(ours.kneighbors(D)[1], expected.kneighbors(X)[1])
    np.testing.assert_array_equal(ours.kneighbors()[1], expected.kneighbors()[1])
    graph = expected.kneighbors_graph(X, n_neighbors=8, mode="distance")
    ours = NearestNeighbors(n_neighbors=4, metric="precomputed").fit(graph)
    np.testing.assert_array_equal(ours.kneighbors(graph)[1], expected.kneighbors(X)[1])
    with pytest.raises(ValueError, match="some samples have only 8 neighbors"):
        ours.kneighbors(graph, n_neighbors=9)
    with pytest.raises(ValueError, match="must be square"):
        NearestNeighbors(metric="precomputed").fit(D[:5])
    with pytest.raises(ValueError, match="Negative values"):
        NearestNeighbors(metric="precomputed").fit(D - 1)
    with pytest.raises(TypeError, match="explicit zeros"):
        NearestNeighbors(metric="precomputed").fit(sparse.dok_matrix(D))


# Questions ----------------------------------------------------------------------------------------------------------


def test_a_row_is_not_its_own_neighbour():
    X = np.array([[0.0], [0.0], [0.0], [5.0]])
    distances, index = NearestNeighbors(n_neighbors=2).fit(X).kneighbors()
    np.testing.assert_array_equal(index, [[1, 2], [0, 2], [0, 1], [0, 1]])
    np.testing.assert_array_equal(distances, [[0, 0], [0, 0], [0, 0], [5, 5]])


def test_graphs_equal_scikit_learn():
    X = np.random.RandomState(0).rand(60, 3)
    ours, theirs = (kind(n_neighbors=4, radius=0.4).fit(X) for kind in (NearestNeighbors, Oracle))
    for mode in ("connectivity", "distance"):
        for data in (X[:7], None):
            a, b = ours.kneighbors_graph(data, mode=mode), theirs.kneighbors_graph(data, mode=mode)
            np.testing.assert_allclose(a.toarray(), b.toarray(), atol=1e-12)
            a, b = ours.radius_neighbors_graph(data, mode=mode), theirs.radius_neighbors_graph(data, mode=mode)
            np.testing.assert_allclose(a.toarray(), b.toarray(), atol=1e-12)
    with pytest.raises(ValueError, match="Unsupported mode"):
        ours.kneighbors_graph(X, mode="both")


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "sqeuclidean"])
def test_radius_equals_scikit_learn(metric):
    X = np.random.RandomState(0).rand(60, 3)
    ours, theirs = (kind(radius=0.3, metric=metric).fit(X) for kind in (NearestNeighbors, Oracle))
    for data in (X[:9] + 0.01, None):
        a, b = ours.radius_neighbors(data, sort_results=True), theirs.radius_neighbors(data, sort_results=True)
        for i in range(len(a[0])):
            np.testing.assert_array_equal(a[1][i], b[1][i])
            np.testing.assert_allclose(a[0][i], b[0][i], atol=1e-7)


def test_radius_on_sparse_and_precomputed():
    X = np.random.RandomState(0).rand(40, 3)
    expected = NearestNeighbors(radius=0.3).fit(X).radius_neighbors(X, return_distance=False)
    by_sparse = NearestNeighbors(radius=0.3).fit(sparse.csr_matrix(X)).radius_neighbors(X, return_distance=False)
    D = cdist(X, X)
    model = NearestNeighbors(radius=0.3, metric="precomputed").fit(D)
    by_matrix = model.radius_neighbors(D, return_distance=False)
    graph = NearestNeighbors(n_neighbors=30).fit(X).kneighbors_graph(X, mode="distance")
    by_graph = (
        NearestNeighbors(radius=0.3, metric="precomputed").fit(graph).radius_neighbors(graph, return_distance=False)
    )
    for i in range(40):
        np.testing.assert_array_equal(by_sparse[i], expected[i])
        np.testing.assert_array_equal(by_matrix[i], expected[i])
        np.testing.assert_array_equal(np.sort(by_graph[i]), expected[i])


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"n_neighbors": 0}, ValueError, "'n_neighbors' parameter of NearestNeighbors must be a whole number"),
        ({"n_neighbors": 2.0}, TypeError, "'n_neighbors' parameter"),
        ({"metric": "euclid"}, ValueError, "'metric' parameter of NearestNeighbors must be one of"),
        ({"p": -1}, ValueError, "'p' parameter of NearestNeighbors"),
        ({"algorithm": "tree"}, ValueError, "'algorithm' parameter of NearestNeighbors"),
        ({"leaf_size": 0}, ValueError, "'leaf_size' parameter"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None, a positive number"),
        ({"radius": -1}, ValueError, "'radius' parameter"),
        ({"p": 0.5, "algorithm": "kd_tree"}, ValueError, "does not support 0 < p < 1"),
    ],
)
def test_wrong_parameters_get_one_sentence(params, error, words):
    with pytest.raises(error) as caught:
        NearestNeighbors(**params).fit(np.random.RandomState(0).rand(10, 2))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_queries_get_one_sentence():
    X = np.random.RandomState(0).rand(10, 2)
    model = NearestNeighbors().fit(X)
    with pytest.raises(ValueError, match="Expected n_neighbors <= n_samples_fit, but n_neighbors = 11"):
        model.kneighbors(X, n_neighbors=11)
    with pytest.raises(ValueError, match="Expected n_neighbors < n_samples_fit, but n_neighbors = 10"):
        model.kneighbors(n_neighbors=10)
    with pytest.raises(ValueError, match="Expected n_neighbors > 0"):
        model.kneighbors(X, n_neighbors=-1)
    with pytest.raises(TypeError, match="enter integer value"):
        model.kneighbors(X, n_neighbors=1.5)
    with pytest.raises(ValueError, match="not valid for sparse input"):
        NearestNeighbors(metric="canberra").fit(sparse.csr_matrix(X))
    with pytest.warns(UserWarning, match="not distance metrics"):
        NearestNeighbors(p=0.5).fit(X)
    with pytest.warns(SyntaxWarning, match="Parameter p is found in metric_params"):
        assert NearestNeighbors(metric_params={"p": 1}).fit(X).effective_metric_ == "manhattan"


def test_an_estimator_fitted_to_rows_can_be_passed_in_their_place():
    X = np.random.default_rng(0).normal(size=(20, 3))
    again = NearestNeighbors(n_neighbors=2).fit(NearestNeighbors(radius=3.0).fit(X))
    np.testing.assert_array_equal(again.kneighbors(X)[1], NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X)[1])


def test_sparse_queries_to_a_tree_get_one_sentence():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="kd_tree does not work with sparse matrices") as caught:
        NearestNeighbors(algorithm="kd_tree").fit(X).kneighbors(sparse.csr_array(X))
    assert "\n" not in str(caught.value)
