"""DBSCAN against scikit-learn and its definition."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN as Oracle
from sklearn.datasets import make_blobs, make_moons

from learnt.cluster import DBSCAN, _dbscan, dbscan
from learnt.distances import _search


def table(n=400, seed=0):
    moons = make_moons(n // 2, noise=0.08, random_state=seed)[0]
    blobs = make_blobs(n // 2, centers=4, cluster_std=0.5, random_state=seed)[0]
    return np.random.default_rng(seed).permutation(np.concatenate([moons, blobs]))


def assert_same(ours, theirs):
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)
    found, expected = (
        m.components_.toarray() if sparse.issparse(m.components_) else m.components_ for m in (ours, theirs)
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("eps", [0.05, 0.2, 0.6, 50.0])
@pytest.mark.parametrize("min_samples", [1, 3, 10])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_labels_equal_scikit_learn(eps, min_samples, metric):
    X = table()
    ours, theirs = (kind(eps, min_samples=min_samples, metric=metric).fit(X) for kind in (DBSCAN, Oracle))
    assert_same(ours, theirs)


def test_every_search_gives_the_same():
    X = table()
    expected = Oracle(0.3).fit(X)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    for algorithm in ("auto", "brute", "kd_tree", "ball_tree"):
        assert_same(DBSCAN(0.3, algorithm=algorithm).fit(X), expected)
    np.testing.assert_array_equal(DBSCAN(0.3, metric="precomputed").fit(D).labels_, expected.labels_)
    near = sparse.csr_array(np.where(D <= 0.5, D, 0))  # without its diagonal
    np.testing.assert_array_equal(DBSCAN(0.3, metric="precomputed").fit(near).labels_, expected.labels_)
    for metric in ("euclidean", "minkowski"):
        found = DBSCAN(0.3, metric=metric).fit(sparse.csr_array(X))
        np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(
        DBSCAN(0.3, metric=lambda a, b: np.abs(a - b).sum()).fit(X[:80]).labels_,
        DBSCAN(0.3, metric="manhattan").fit(X[:80]).labels_,
    )
    np.testing.assert_array_equal(dbscan(X, 0.3)[1], expected.labels_)


def test_blocks_and_a_second_search_change_nothing(monkeypatch):
    X = table()
    whole = DBSCAN(0.3).fit(X)
    monkeypatch.setattr(_search, "_PAIRS", 300)
    monkeypatch.setattr(_search, "_FEWEST", 7)
    assert_same(DBSCAN(0.3).fit(X), whole)
    monkeypatch.setattr(_dbscan, "_KEPT", 1000)
    assert_same(DBSCAN(0.3).fit(X), whole)


def test_a_weight_is_a_number_of_rows():
    X = table(120)
    w = np.random.default_rng(0).integers(1, 4, size=120)
    ours = DBSCAN(0.2, min_samples=6).fit(X, sample_weight=w)
    np.testing.assert_array_equal(ours.labels_, Oracle(0.2, min_samples=6).fit(X, sample_weight=w).labels_)
    repeated = DBSCAN(0.2, min_samples=6).fit(np.repeat(X, w, axis=0))
    np.testing.assert_array_equal(np.repeat(ours.labels_, w), repeated.labels_)


def test_a_row_of_weight_0_is_left_out():
    X = np.array([[0.0], [0.4], [0.8]])
    joined, parted = DBSCAN(0.5, min_samples=1).fit(X), DBSCAN(0.5, min_samples=1).fit(X, sample_weight=[1, 0, 1])
    np.testing.assert_array_equal(joined.labels_, [0, 0, 0])
    np.testing.assert_array_equal(parted.labels_, [0, -1, 1])
    np.testing.assert_array_equal(parted.core_sample_indices_, [0, 2])


def test_a_row_between_two_clusters_goes_to_the_first():
    X = np.array([[3.0], [3.0], [3.0], [2.0], [1.0], [1.0], [1.0]])
    np.testing.assert_array_equal(DBSCAN(1.0, min_samples=8).fit(X).labels_, np.full(7, -1))
    labels = DBSCAN(1.0, min_samples=3).fit(X[[4, 5, 6, 3, 0, 1, 2]]).labels_
    np.testing.assert_array_equal(labels, np.zeros(7))  # the row in the middle is a core itself
    X = np.array([[3.0], [3.1], [3.2], [2.0], [1.0], [0.9], [0.8]])
    np.testing.assert_array_equal(DBSCAN(1.0, min_samples=4).fit(X).labels_, Oracle(1.0, min_samples=4).fit(X).labels_)


def test_thousands_of_equal_rows():
    labels = DBSCAN(0.1).fit(np.zeros((3000, 2))).labels_
    np.testing.assert_array_equal(labels, np.zeros(3000))


def test_mistakes_get_one_sentence():
    X = table(40)
    for call, words in (
        (lambda: DBSCAN(0.0).fit(X), "'eps' parameter"),
        (lambda: DBSCAN(min_samples=0).fit(X), "'min_samples' parameter"),
        (lambda: DBSCAN(metric="far").fit(X), "far"),
        (lambda: DBSCAN(metric="precomputed").fit(X), "must be square"),
        (lambda: DBSCAN(metric="precomputed").fit(-np.eye(3)), "Negative values"),
        (lambda: DBSCAN().fit(X[:0]), "0 sample"),
        (lambda: DBSCAN().fit(np.where(X[3, 1] == X, np.nan, X)), "NaN"),
        (lambda: DBSCAN().fit(X, sample_weight=-np.ones(40)), "Negative values"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
