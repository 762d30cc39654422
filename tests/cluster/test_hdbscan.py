"""HDBSCAN against its definition, against scikit-learn where no distances are equal, and properties."""

import re

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN as Theirs
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from learnt.cluster import DBSCAN, HDBSCAN
from learnt.engine import threads

rng = np.random.default_rng(0)
BLOBS = make_blobs(400, centers=5, n_features=3, cluster_std=[0.3, 0.5, 1.0, 0.7, 1.4], random_state=0)[0]
MOONS = make_moons(300, noise=0.08, random_state=0)[0]
UNIFORM = rng.random((250, 2))
SETTINGS = [
    {},
    {"min_cluster_size": 12},
    {"cluster_selection_method": "leaf", "min_cluster_size": 8},
    {"cluster_selection_epsilon": 0.3},
    {"max_cluster_size": 60},
    {"allow_single_cluster": True},
    {"alpha": 1.4, "metric": "manhattan"},
]
FAILING = [{"cluster_selection_epsilon": 0.3}]  # scikit-learn 1.9 with NumPy 2.4: a TypeError


def by_definition(X, fewest, k, method):
    """Labels from components of the graph of reachabilities, level after level."""
    d = cdist(X, X)
    core = np.sort(d, axis=1)[:, k - 1]
    reach = np.maximum(d, np.maximum(core[:, None], core))
    np.fill_diagonal(reach, 0.0)
    found = []

    def parts(rows, level):
        graph = reach[np.ix_(rows, rows)] < level
        code = csgraph.connected_components(sparse.csr_array(graph), directed=False)[1]
        return [rows[code == c] for c in range(code.max() + 1)]

    def grow(rows, birth, is_first):
        """The cluster that begins with these rows: what it is worth, and the clusters to take for it."""
        worth, inside = 0.0, rows
        while True:
            tree = csgraph.minimum_spanning_tree(sparse.csr_array(reach[np.ix_(inside, inside)]))
            level = tree.data.max()
            large = [part for part in parts(inside, level) if len(part) >= fewest]
            stay = sum(map(len, large))
            worth += (len(inside) - (stay if len(large) != 0 else 0)) * (1 / level - birth)
            if len(large) == 1:
                inside = large[0]
                continue
            worth += stay * (1 / level - birth)
            below = [grow(part, 1 / level, False) for part in large]
            inner = sum(value for value, _ in below)
            deeper = [rows for _, taken in below for rows in taken]
            if method == "leaf":
                return worth, deeper if below else ([] if is_first else [rows])
            if is_first or inner > worth:
                return inner, deeper
            return worth, [rows]

    found = grow(np.arange(len(X)), 0.0, True)[1]
    labels = np.full(len(X), -1)
    for at, rows in enumerate(sorted(found, key=min)):
        labels[rows] = at
    return labels


@pytest.mark.parametrize("table", [BLOBS[:150], MOONS[:150], UNIFORM[:150]])
@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.sweep
def test_it_is_the_definition(table, method, k):
    model = HDBSCAN(6, min_samples=k, cluster_selection_method=method).fit(table)
    np.testing.assert_array_equal(model.labels_, by_definition(table, 6, k, method))


@pytest.mark.parametrize("table", [BLOBS, MOONS, UNIFORM])
@pytest.mark.parametrize("settings", [one for one in SETTINGS if one not in FAILING])
def test_scikit_learn_where_no_two_distances_are_equal(table, settings):
    # With min_samples=1 all core distances are 0, so that lengths of edges are all different.
    ours = HDBSCAN(min_samples=1, **settings).fit(table)
    theirs = Theirs(min_samples=1, copy=True, **settings).fit(table)
    np.testing.assert_array_equal(ours.labels_ < 0, theirs.labels_ < 0)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"min_cluster_size": 12}, {"min_samples": 9}, {"metric": "chebyshev"}])
def test_clear_clusters_are_those_of_scikit_learn(settings):
    table = BLOBS + 30 * (np.arange(400) % 3)[:, None]
    ours, theirs = HDBSCAN(**settings).fit(table), Theirs(copy=True, **settings).fit(table)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) > 0.99


@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize("epsilon", [0.05, 0.15, 0.4])
def test_clusters_do_not_part_below_epsilon(method, epsilon):
    how = {"cluster_selection_method": method, "allow_single_cluster": True}  # else the first two may
    model = HDBSCAN(cluster_selection_epsilon=epsilon, **how).fit(UNIFORM)
    together = model.dbscan_clustering(epsilon, 1)
    for part in np.unique(together):
        assert len(set(model.labels_[together == part]) - {-1}) <= 1


@pytest.mark.parametrize("table", [BLOBS, MOONS, UNIFORM])
@pytest.mark.parametrize("settings", SETTINGS)
def test_neither_order_nor_algorithm_nor_threads_matter(table, settings):
    model = HDBSCAN(**settings).fit(table)
    order = rng.permutation(len(table))
    threads.set_threads(3)
    others = [HDBSCAN(algorithm="brute", **settings).fit(table), HDBSCAN(algorithm="kd_tree", **settings).fit(table)]
    threads.set_threads(None)
    for other in others:
        np.testing.assert_array_equal(other.labels_, model.labels_)
        np.testing.assert_allclose(other.probabilities_, model.probabilities_, rtol=1e-9)
    moved = HDBSCAN(**settings).fit(table[order]).labels_
    assert adjusted_rand_score(moved, model.labels_[order]) == 1.0
    np.testing.assert_array_equal(moved < 0, model.labels_[order] < 0)


@pytest.mark.parametrize(("metric", "params"), [("chebyshev", None), ("minkowski", {"p": 3}), ("cosine", None)])
def test_metrics(metric, params):
    table = BLOBS[:200]
    ours = HDBSCAN(metric=metric, metric_params=params).fit(table).labels_
    distances = cdist(table, table, metric, **(params or {}))
    given = HDBSCAN(metric="precomputed").fit(0.5 * (distances + distances.T)).labels_
    assert adjusted_rand_score(ours, given) > 0.99  # rounding settles which of two distances is shorter
    by_function = HDBSCAN(metric=lambda a, b: abs(a - b).max()).fit(table).labels_
    np.testing.assert_array_equal(by_function, HDBSCAN(metric="chebyshev").fit(table).labels_)


@pytest.mark.parametrize("metric", ["canberra", "sqeuclidean"])
def test_metrics_that_boxes_do_not_bound_use_a_metric_tree(metric):
    by_tree, by_all = (HDBSCAN(metric=metric, algorithm=name).fit(BLOBS) for name in ("ball_tree", "brute"))
    np.testing.assert_array_equal(by_tree.labels_, by_all.labels_)


def test_sparse_rows_and_sparse_distances():
    table = np.where(BLOBS[:150] > 1, BLOBS[:150], 0.0)
    np.testing.assert_array_equal(HDBSCAN().fit(sparse.csr_array(table)).labels_, HDBSCAN().fit(table).labels_)
    D = cdist(BLOBS[:120], BLOBS[:120])
    np.fill_diagonal(D, 1e-300)  # a sparse matrix would not store 0
    dense = HDBSCAN(metric="precomputed").fit(D).labels_
    np.testing.assert_array_equal(HDBSCAN(metric="precomputed").fit(sparse.csr_array(D)).labels_, dense)


def test_rows_that_are_not_finite():
    table = np.r_[BLOBS, [[np.nan, 1, 1], [np.inf, 1, 1], [np.inf, np.nan, 1], [np.inf, -np.inf, 0.0]]]
    model, plain = HDBSCAN().fit(table), HDBSCAN().fit(BLOBS)
    np.testing.assert_array_equal(model.labels_[:-4], plain.labels_)
    assert model.labels_[-4:].tolist() == [-3, -2, -3, -2]
    np.testing.assert_array_equal(model.probabilities_[-4:], [np.nan, 0, np.nan, 0])
    assert model.dbscan_clustering(1.0)[-4:].tolist() == [-3, -2, -3, -2]


@pytest.mark.parametrize("cut", [0.05, 0.3, 1.0, 50.0])
def test_one_cut(cut):
    ours, theirs = HDBSCAN().fit(BLOBS), Theirs(copy=True).fit(BLOBS)
    a, b = ours.dbscan_clustering(cut, 4), theirs.dbscan_clustering(cut, 4)
    np.testing.assert_array_equal(a < 0, b < 0)
    assert adjusted_rand_score(a, b) == 1.0
    cores = DBSCAN(eps=np.nextafter(cut, 0), min_samples=5).fit(BLOBS)  # DBSCAN takes the distance itself, too
    inside = cores.core_sample_indices_
    whole = ours.dbscan_clustering(cut, 1)
    if len(inside):
        assert adjusted_rand_score(cores.labels_[inside], whole[inside]) == 1.0


def test_centres():
    model = HDBSCAN(store_centers="both").fit(BLOBS)
    for label in range(model.labels_.max() + 1):
        mine, share = BLOBS[model.labels_ == label], model.probabilities_[model.labels_ == label]
        np.testing.assert_allclose(model.centroids_[label], np.average(mine, axis=0, weights=share))
        np.testing.assert_array_equal(model.medoids_[label], mine[(cdist(mine, mine) * share).sum(axis=1).argmin()])


def test_equal_rows_by_the_thousand():
    table = np.repeat([[0.0, 0.0], [5.0, 5.0]], 1500, axis=0)
    model = HDBSCAN().fit(table)
    assert model.labels_.tolist() == [0] * 1500 + [1] * 1500
    assert (model.probabilities_ == 1).all()
    assert (HDBSCAN().fit(np.ones((50, 2))).labels_ == -1).all()
    assert (HDBSCAN(allow_single_cluster=True).fit(np.ones((50, 2))).labels_ == 0).all()


def test_one_column_many_columns_and_a_constant_one():
    one = np.r_[np.arange(60.0), 300 + np.arange(60.0)][:, None]
    labels = HDBSCAN().fit(one).labels_
    wide = np.c_[one, np.full((120, 40), 7.0)]  # too wide for boxes
    np.testing.assert_array_equal(HDBSCAN().fit(wide).labels_, labels)
    assert labels.max() == 1


@pytest.mark.parametrize(
    ("settings", "table", "message"),
    [
        ({}, BLOBS[:1], "n_samples=1 while HDBSCAN requires more than one sample"),
        ({}, BLOBS[:0], "0 sample"),
        ({}, np.full((9, 2), np.nan), "n_samples=0 while HDBSCAN requires"),
        ({"min_samples": 401}, BLOBS, "min_samples (401) must be at most the number of samples in X (400)"),
        ({"min_cluster_size": 1}, BLOBS, "'min_cluster_size'"),
        ({"alpha": 0.0}, BLOBS, "'alpha'"),
        ({"metric": "nearness"}, BLOBS, "'metric'"),
        ({"metric": "cosine", "algorithm": "kd_tree"}, BLOBS, "cosine is not a valid metric for a KDTree-based"),
        (
            {"metric": "precomputed", "algorithm": "kd_tree"},
            np.ones((9, 9)),
            "precomputed is not a valid metric",
        ),
        ({"metric": cdist, "algorithm": "ball_tree"}, BLOBS, "is not a valid metric for a BallTree-based"),
        ({"algorithm": "ball_tree"}, sparse.csr_array(BLOBS), "Sparse data matrices only support algorithm `brute`"),
        ({"metric": "precomputed"}, BLOBS, "symmetric, however it has shape (400, 3)"),
        ({"metric": "precomputed"}, np.triu(np.ones((9, 9))), "asymmetric"),
        ({"metric": "precomputed"}, np.full((9, 9), np.nan), "np.nan values found in precomputed-dense"),
        ({"metric": "precomputed"}, -np.ones((9, 9)), "0 or more"),
        ({"metric": "precomputed", "store_centers": "both"}, np.ones((9, 9)), "Cannot store centers"),
        ({"metric": "precomputed"}, sparse.csr_array(np.eye(9)), "fewer than 5 neighbors"),
        (
            {"metric": "precomputed"},
            sparse.csr_array(sparse.block_diag([np.ones((6, 6)), np.ones((6, 6))])),
            "2 connected components",
        ),
    ],
)
def test_wrong_input_is_a_sentence(settings, table, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        HDBSCAN(**settings).fit(table)


def test_missing_distances_are_reported():
    D = np.full((12, 12), np.inf)
    D[:6, :6] = D[6:, 6:] = 1.0
    with pytest.warns(UserWarning, match="edge weights with value infinity"):
        labels = HDBSCAN(metric="precomputed").fit(D).labels_
    assert labels.tolist() == [0] * 6 + [1] * 6
