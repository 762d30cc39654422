"""MiniBatchKMeans, BisectingKMeans, k_means: inertia beside KMeans and scikit-learn, laws, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster as theirs
from sklearn.exceptions import ConvergenceWarning

import learnt
from learnt.cluster import BisectingKMeans, KMeans, MiniBatchKMeans, k_means
from learnt.cluster._minibatch_steps import reassign, step
from learnt.cluster._seeding import CompiledSeeds

RNG = np.random.default_rng(0)
MIDDLES = RNG.uniform(-20, 20, size=(6, 3))
X = MIDDLES[RNG.integers(6, size=3000)] + RNG.normal(size=(3000, 3)) + 50.0
DENSE_AND_SPARSE = pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def inertia(X, centers):
    return np.square(X[:, None] - centers).sum(axis=2).min(axis=1).sum()


@DENSE_AND_SPARSE
def test_mini_batches_are_nearly_as_good_as_all_rows(make):
    model = MiniBatchKMeans(6, random_state=0, n_init=3, batch_size=256).fit(make(X))
    best = KMeans(6, random_state=0, n_init=3).fit(X).inertia_
    other = theirs.MiniBatchKMeans(6, random_state=0, n_init=3, batch_size=256).fit(make(X)).inertia_
    assert model.inertia_ == pytest.approx(inertia(X, model.cluster_centers_), rel=1e-9)
    assert model.inertia_ < 1.05 * best
    assert model.inertia_ < 1.05 * other
    np.testing.assert_array_equal(model.labels_, model.predict(make(X)))
    assert model.n_samples_seen_ == 256 * model.n_steps_


@DENSE_AND_SPARSE
def test_a_step_makes_means_of_all_rows_so_far(make):
    centers, counts = X[:4].copy(), np.zeros(4)
    mine, total = [[] for _ in range(4)], 0.0
    for batch in np.split(X[:300], 3):
        nearest = np.square(batch[:, None] - centers).sum(axis=2)
        expected = nearest.min(axis=1).sum()
        for row, label in zip(batch, nearest.argmin(axis=1), strict=True):
            mine[label].append(row)
        assert step(make(batch), None, centers, counts) == pytest.approx(expected, rel=1e-9)
        total += len(batch)
        for c in range(4):
            if mine[c]:
                np.testing.assert_allclose(centers[c], np.mean(mine[c], axis=0), rtol=1e-10)
    assert counts.sum() == total


def test_weights_of_a_step_are_repeated_rows():
    once, twice = (X[:4].copy(), np.zeros(4)), (X[:4].copy(), np.zeros(4))
    w = RNG.integers(1, 4, size=100)
    step(X[:100], w.astype(float), *once)
    step(np.repeat(X[:100], w, axis=0), None, *twice)
    np.testing.assert_allclose(once[0], twice[0], rtol=1e-12)
    np.testing.assert_allclose(once[1], twice[1])


def test_empty_clusters_get_centres_on_rows():
    centers, counts = X[:5].copy(), np.array([100.0, 90.0, 0.0, 80.0, 0.5])
    assert reassign(X[10:30], centers, counts, 0.01, np.random.RandomState(0)) == 2
    for c in (2, 4):
        assert (centers[c] == X[10:30]).all(axis=1).any()
        assert counts[c] == 80.0
    far = MiniBatchKMeans(6, init=np.full((6, 3), 1e4) + np.arange(6)[:, None], random_state=0, n_init=1).fit(X)
    assert len(np.unique(far.labels_)) > 3  # scikit-learn's rule: those that were never nearest move


def test_partial_fit_continues_and_after_it_was_saved(tmp_path):
    model = MiniBatchKMeans(6, random_state=0)
    for batch in np.split(X, 10):
        model.partial_fit(batch)
    assert (model.n_steps_, model.n_samples_seen_) == (10, 3000)
    assert inertia(X, model.cluster_centers_) < 3 * KMeans(6, random_state=0).fit(X).inertia_
    learnt.save(model, tmp_path / "m.learnt")
    again = learnt.load(tmp_path / "m.learnt").partial_fit(X[:200])
    np.testing.assert_array_equal(again.cluster_centers_, model.partial_fit(X[:200]).cluster_centers_)


def test_mini_batch_weights_draw_rows():
    w = np.where(X[:, 0] > 50, 1.0, 0.0)
    model = MiniBatchKMeans(3, random_state=0).fit(X, sample_weight=w)
    some = X[w > 0]
    assert model.inertia_ == pytest.approx(inertia(some, model.cluster_centers_), rel=1e-9)
    assert model.inertia_ < 1.3 * KMeans(3, random_state=0, n_init=5).fit(some).inertia_
    unit = MiniBatchKMeans(3, random_state=0).fit(X, sample_weight=np.ones(len(X)))
    np.testing.assert_allclose(unit.cluster_centers_, MiniBatchKMeans(3, random_state=0).fit(X).cluster_centers_)


@DENSE_AND_SPARSE
@pytest.mark.parametrize("strategy", ["biggest_inertia", "largest_cluster"])
def test_bisecting_is_as_good_as_scikit_learns(make, strategy):
    settings = {"n_clusters": 6, "bisecting_strategy": strategy, "n_init": 5, "init": "k-means++"}
    ours = [BisectingKMeans(random_state=s, **settings).fit(make(X)) for s in range(3)]
    others = [theirs.BisectingKMeans(random_state=s, **settings).fit(make(X)).inertia_ for s in range(3)]
    model = ours[0]
    assert min(m.inertia_ for m in ours) < 1.05 * min(others)
    np.testing.assert_array_equal(model.labels_, model.predict(make(X)))
    for c in range(6):
        np.testing.assert_allclose(model.cluster_centers_[c], X[model.labels_ == c].mean(axis=0), rtol=1e-2)
    assert model.split_children_.shape == (5, 2)
    assert sorted(-1 - v for v in model.split_children_.ravel() if v < 0) == list(range(6))


def test_fewer_clusters_are_unions_of_more():
    few, many = (BisectingKMeans(k, random_state=0).fit(X).labels_ for k in (3, 6))
    assert len(np.unique(np.column_stack([few, many]), axis=0)) == 6


def test_function():
    centers, labels, total, n_iter = k_means(X, 6, random_state=0, return_n_iter=True)
    model = KMeans(6, random_state=0).fit(X)
    np.testing.assert_array_equal(centers, model.cluster_centers_)
    np.testing.assert_array_equal(labels, model.labels_)
    assert (total, n_iter) == (model.inertia_, model.n_iter_)
    assert len(k_means(X, 2, random_state=0)) == 3


@pytest.mark.parametrize("cls", [MiniBatchKMeans, BisectingKMeans])
def test_one_row_equal_rows_and_too_few(cls):
    one = cls(1, random_state=0).fit(X[:1])
    np.testing.assert_allclose(one.cluster_centers_, X[:1])
    assert one.inertia_ == pytest.approx(0.0, abs=1e-20)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\) found smaller than n_clusters \(3\)"):
        same = cls(3, random_state=0).fit(np.ones((10, 2)))
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\)"):
        cls(3, random_state=0).fit(np.full((3000, 4), 0.1))  # whose mean is rounded
    np.testing.assert_allclose(same.cluster_centers_, 1.0)
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=8"):
        cls(random_state=0).fit(X[:3])
    flat = np.column_stack([X, np.full(len(X), 2.0)])
    np.testing.assert_allclose(cls(4, random_state=0).fit(flat).cluster_centers_[:, 3], 2.0)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MiniBatchKMeans(batch_size=0), "'batch_size' parameter"),
        (MiniBatchKMeans(init="best"), "'init' parameter"),
        (MiniBatchKMeans(reassignment_ratio=-1), "'reassignment_ratio' parameter"),
        (MiniBatchKMeans(3, init=np.zeros((2, 3))), "does not match the number of clusters 3"),
        (BisectingKMeans(bisecting_strategy="any"), "'bisecting_strategy' parameter"),
        (BisectingKMeans(init=np.zeros((8, 3))), "'init' parameter"),
    ],
)
def test_refusals(model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(X)


@pytest.mark.parametrize("weighted", [False, True])
def test_distances_that_tried_seeds_would_leave(weighted):
    """Also of rows that equal a seed or nearly do, whose distance a product in float32 does not know."""
    rng = np.random.default_rng(2)
    W = rng.normal(size=(700, 6)).astype(np.float32) + 3
    W[300:310] = W[5] + np.float32(1e-3) * rng.normal(size=(10, 6)).astype(np.float32)
    W[640] = W[5]
    weights = rng.random(700) + 0.5 if weighted else None
    seeds = CompiledSeeds(W, np.square(W).sum(axis=1), weights)
    exact = np.square(W[:, None].astype(np.float64) - W[None].astype(np.float64)).sum(axis=2)
    seeds.take(650)
    tried = np.array([5, 640, 99])
    left = np.minimum(exact[650], exact[tried])
    expected = left.sum(axis=1) if weights is None else left @ weights
    np.testing.assert_allclose(seeds.potentials(tried), expected, rtol=1e-5)
    seeds.take(5)
    # ‖x‖² − 2 x·c + ‖c‖² in float32 is within a few roundings of ‖x‖² + ‖c‖²; close rows are taken by differences.
    size = np.square(W).sum(axis=1).max()
    np.testing.assert_allclose(seeds.squared, left[0], rtol=1e-5, atol=4e-7 * 10 * size)
    np.testing.assert_allclose(seeds.squared[300:310], left[0, 300:310], rtol=1e-3)
    assert seeds.squared[640] == seeds.squared[5] == 0
