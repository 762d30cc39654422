"""OPTICS against scikit-learn and its definition: order, reachabilities, clusters of both kinds, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster as theirs
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from learnt.cluster import DBSCAN, OPTICS, cluster_optics_dbscan, cluster_optics_xi, compute_optics_graph
from learnt.cluster.optics import _graph

# Distances are square roots of sums of two or three squares below 10⁴; scikit-learn rounds them to 15 digits after
# the point.
ROUNDING = {"rtol": 1e-14, "atol": 1e-12}


def table(n=240, d=2, seed=0):
    tight = make_blobs(n // 2, d, centers=4, cluster_std=0.5, random_state=seed)[0]
    loose = make_blobs(n // 2, d, centers=3, cluster_std=2.5, random_state=seed + 1)[0]
    return np.random.default_rng(seed).permutation(np.concatenate([tight, loose]))


def assert_same(a, b):
    np.testing.assert_array_equal(a.ordering_, b.ordering_)
    np.testing.assert_array_equal(a.predecessor_, b.predecessor_)
    np.testing.assert_allclose(a.reachability_, b.reachability_, **ROUNDING)
    np.testing.assert_allclose(a.core_distances_, b.core_distances_, **ROUNDING)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    if hasattr(b, "cluster_hierarchy_"):
        np.testing.assert_array_equal(a.cluster_hierarchy_, b.cluster_hierarchy_)
    else:
        assert not hasattr(a, "cluster_hierarchy_")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_eps": 1.0},
        {"xi": 0.15, "min_samples": 8},
        {"xi": 0.0},
        {"xi": 0.3, "min_samples": 2},
        {"xi": 0.02, "predecessor_correction": False},
        {"min_samples": 0.05, "min_cluster_size": 0.1},
        {"min_cluster_size": 2, "max_eps": 2.0},
        {"cluster_method": "dbscan", "eps": 0.7},
        {"cluster_method": "dbscan", "max_eps": 0.7},
        {"metric": "manhattan"},
        {"metric": "minkowski", "p": 3, "max_eps": 1.5},
        {"metric": "chebyshev"},
        {"algorithm": "kd_tree", "max_eps": 1.0},
    ],
    ids=str,
)
def test_order_and_clusters_equal_scikit_learn(settings):
    X = table()
    assert_same(OPTICS(**settings).fit(X), theirs.OPTICS(**settings).fit(X))


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("xi", [0.03, 0.1])
def test_valleys_equal_scikit_learn_on_other_tables(seed, xi):
    X = table(160, 3, seed)
    assert_same(OPTICS(xi=xi, min_samples=4).fit(X), theirs.OPTICS(xi=xi, min_samples=4).fit(X))


@pytest.mark.parametrize("max_eps", [1.2, np.inf])
def test_every_source_of_neighbors_gives_the_same_order(max_eps, monkeypatch):
    X = table()
    whole = OPTICS(max_eps=max_eps).fit(X)
    D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    one = OPTICS(max_eps=max_eps, n_jobs=1, metric="precomputed").fit(D)
    assert_same(one, whole)
    near = sparse.csr_array(np.where(D <= 9.0, D, 0))  # without its diagonal
    if max_eps == 1.2:
        assert_same(OPTICS(max_eps=max_eps, metric="precomputed").fit(near), whole)
    assert_same(OPTICS(max_eps=max_eps, metric="euclidean").fit(sparse.csr_array(X)), whole)
    monkeypatch.setattr(_graph, "_KEPT", 100)  # by distances computed when they are needed, by a search for each row
    assert_same(OPTICS(max_eps=max_eps).fit(X), whole)
    assert_same(OPTICS(max_eps=max_eps, metric="precomputed").fit(D), whole)


def test_equal_rows_and_equal_distances():
    X = np.repeat([[0.0], [1.0], [2.0], [9.0]], 4, axis=0)
    model = OPTICS(min_samples=3).fit(X)
    with np.errstate(divide="ignore"):
        assert_same(model, theirs.OPTICS(min_samples=3).fit(X))
    assert sorted(model.ordering_) == list(range(16))
    labels = OPTICS(min_samples=2, xi=1.0).fit(table(40)).labels_  # no edge is as steep as that, but to infinity
    assert labels.max() <= 0


def test_the_definition():
    X = table()
    model = OPTICS(min_samples=5).fit(X)
    D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    np.testing.assert_allclose(model.core_distances_, np.sort(D, axis=1)[:, 4], **ROUNDING)
    left = np.ones(len(X), dtype=bool)
    reach = np.full(len(X), np.inf)
    for row in model.ordering_:
        assert reach[row] == reach[left].min()
        np.testing.assert_allclose(model.reachability_[row], reach[row], **ROUNDING)
        left[row] = False
        reach = np.minimum(reach, np.maximum(model.core_distances_[row], D[row]))


def test_a_cut_is_dbscan_but_for_border_rows():
    X = table()
    for eps in (0.4, 0.8):
        labels = OPTICS(cluster_method="dbscan", eps=eps).fit(X).labels_
        exact = DBSCAN(eps).fit(X)
        cores = exact.core_sample_indices_
        assert adjusted_rand_score(labels[cores], exact.labels_[cores]) == 1
        assert (labels[exact.labels_ == -1] == -1).all()


def test_functions_are_the_class():
    X = table()
    model = OPTICS(max_eps=3.0).fit(X)
    ordering, core, reach, predecessor = compute_optics_graph(
        X, min_samples=5, max_eps=3.0, metric="minkowski", p=2, metric_params=None, algorithm="auto", leaf_size=30,
        n_jobs=2,
    )  # fmt: skip
    np.testing.assert_array_equal(ordering, model.ordering_)
    labels, clusters = cluster_optics_xi(
        reachability=reach, predecessor=predecessor, ordering=ordering, min_samples=5, xi=0.05
    )
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(clusters, model.cluster_hierarchy_)
    np.testing.assert_array_equal(
        cluster_optics_dbscan(reachability=reach, core_distances=core, ordering=ordering, eps=0.6),
        OPTICS(max_eps=3.0, cluster_method="dbscan", eps=0.6).fit(X).labels_,
    )


def test_orders_are_kept_for_other_clusters(tmp_path, monkeypatch):
    X = table(60)
    first = OPTICS(memory=str(tmp_path)).fit(X)
    monkeypatch.setattr(_graph, "core_distances", None)  # a second search would fail
    again = OPTICS(memory=str(tmp_path), xi=0.2).fit(X)
    np.testing.assert_array_equal(again.ordering_, first.ordering_)


def test_mistakes_get_one_sentence():
    X = table(40)
    for call, words in (
        (lambda: OPTICS(min_samples=1).fit(X), "'min_samples' parameter"),
        (lambda: OPTICS(min_samples=1.5).fit(X), "'min_samples' parameter"),
        (
            lambda: OPTICS(min_samples=41).fit(X),
            r"min_samples must be no greater than the number of samples \(40\). Got 41",
        ),
        (
            lambda: OPTICS(min_cluster_size=41).fit(X),
            r"min_cluster_size must be no greater than the number of samples \(40\). Got 41",
        ),
        (lambda: OPTICS(max_eps=-1).fit(X), "'max_eps' parameter"),
        (lambda: OPTICS(xi=1.2).fit(X), "'xi' parameter"),
        (lambda: OPTICS(cluster_method="best").fit(X), "'cluster_method' parameter"),
        (lambda: OPTICS(algorithm="best").fit(X), "'algorithm' parameter"),
        (
            lambda: OPTICS(cluster_method="dbscan", max_eps=1.0, eps=2.0).fit(X),
            "Specify an epsilon smaller than 1.0. Got 2.0.",
        ),
        (lambda: OPTICS(metric="far").fit(X), "far"),
        (lambda: OPTICS(metric="precomputed").fit(X), "must be square"),
        (lambda: OPTICS().fit(X[:0]), "0 sample"),
        (lambda: OPTICS().fit(np.where(X[3, 1] == X, np.nan, X)), "NaN"),
        (
            lambda: cluster_optics_dbscan(reachability=[1.0], core_distances=[1.0], ordering=[1], eps=1),
            "must hold every row once",
        ),
        (
            lambda: cluster_optics_dbscan(reachability=[1.0], core_distances=[1.0], ordering=[0, 1], eps=1),
            "one number for each row",
        ),
        (
            lambda: cluster_optics_xi(reachability=[1.0, 1], predecessor=[7, 0], ordering=[0, 1], min_samples=2),
            "numbers of no rows",
        ),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    with pytest.warns(UserWarning, match="All reachability values are inf.*no row reaches another"):
        labels = OPTICS(max_eps=1e-9).fit(X).labels_
    assert (labels == -1).all()
