"""Mean shift against scikit-learn and its definition: peaks, labels, bandwidths, starts on a grid, bad input."""

import numpy as np
import pytest
from sklearn import cluster as theirs
from sklearn.datasets import make_blobs

from learnt import cluster as ours
from learnt.cluster import MeanShift, estimate_bandwidth, get_bin_seeds, mean_shift
from learnt.cluster.mean_shift import _climbing

# Sums of at most 1200 coordinates below 100 in another order.
ROUNDING = 1200 * 100 * np.finfo(float).eps


def table(n=300, d=2, seed=0):
    return make_blobs(n, d, centers=5, cluster_std=0.7, random_state=seed)[0]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"bandwidth": 1.3},
        {"bandwidth": 0.6, "cluster_all": False},
        {"bandwidth": 1.0, "bin_seeding": True},
        {"bandwidth": 1.0, "bin_seeding": True, "min_bin_freq": 4},
        {"bandwidth": 1.3, "max_iter": 2},
        {"bandwidth": 2.0, "seeds": [[0.0, 0.0], [-5.0, 5.0], [50.0, 0.0]]},
    ],
    ids=str,
)
def test_peaks_and_labels_equal_scikit_learn(settings):
    X = table()
    a, b = (kind.MeanShift(**settings).fit(X) for kind in (ours, theirs))
    np.testing.assert_allclose(a.cluster_centers_, b.cluster_centers_, atol=ROUNDING)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.n_iter_ == b.n_iter_
    new = table(50, seed=1)
    np.testing.assert_array_equal(a.predict(new), b.predict(new))


@pytest.mark.parametrize("d", [1, 2, 5])
def test_trees_add_up_what_blocks_of_neighbours_do(d, monkeypatch):
    X = table(1200, d)  # a tree is built
    a, (centers, labels) = MeanShift(bandwidth=1.5).fit(X), mean_shift(X, bandwidth=1.5)
    np.testing.assert_array_equal(a.labels_, labels)
    monkeypatch.setattr(_climbing.Search, "expect", lambda search, *_: search._index)  # brute force, as it begins
    b = MeanShift(bandwidth=1.5).fit(X)
    np.testing.assert_allclose(a.cluster_centers_, b.cluster_centers_, atol=ROUNDING)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.cluster_centers_, centers)


def test_peaks_are_means_of_what_is_around_them_and_apart():
    X = table(1200)
    model = MeanShift(bandwidth=1.0).fit(X)
    gaps = np.linalg.norm(model.cluster_centers_[:, None] - model.cluster_centers_[None], axis=2)
    assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 1.0
    for center in model.cluster_centers_:
        around = X[np.linalg.norm(X - center, axis=1) <= 1.0]
        assert np.linalg.norm(around.mean(axis=0) - center) <= 2e-3  # a move of 1e-3 more may still take in a row
    np.testing.assert_array_equal(
        model.labels_, np.linalg.norm(X[:, None] - model.cluster_centers_[None], axis=2).argmin(axis=1)
    )


def test_far_from_zero_and_in_single_precision():
    X = table()
    here, there = MeanShift(bandwidth=1.3).fit(X), MeanShift(bandwidth=1.3).fit(X + 2.0**20)
    np.testing.assert_allclose(there.cluster_centers_ - 2.0**20, here.cluster_centers_, atol=1e-7)  # X is rounded
    single = MeanShift(bandwidth=1.3).fit(X.astype(np.float32))
    assert single.cluster_centers_.dtype == np.float32
    np.testing.assert_array_equal(single.labels_, here.labels_)


def test_threads_change_nothing():
    X = table(1200)
    one, many = (MeanShift(bandwidth=1.0, n_jobs=n).fit(X) for n in (1, 4))
    np.testing.assert_array_equal(one.cluster_centers_, many.cluster_centers_)
    assert estimate_bandwidth(X, n_jobs=1) == estimate_bandwidth(X, n_jobs=4)


def test_equal_rows():
    X = np.repeat([[0.1], [0.2], [0.7]], 3, axis=0)  # whose means are off by rounding errors
    model = MeanShift(bandwidth=0).fit(X)
    np.testing.assert_allclose(np.sort(model.cluster_centers_, axis=0), [[0.1], [0.2], [0.7]])
    assert len(set(model.labels_[:3])) == 1
    assert MeanShift().fit(np.ones((10, 1))).n_iter_ == 0
    for seeding in (False, True):
        assert len(MeanShift(bin_seeding=seeding).fit(np.array([[1.0], [1], [1], [2], [2], [2]])).cluster_centers_) == 2


@pytest.mark.parametrize("settings", [{}, {"quantile": 0.7}, {"quantile": 0}, {"n_samples": 40, "random_state": 3}])
def test_the_bandwidth_is_scikit_learns(settings):
    X = table(1100)
    expected = theirs.estimate_bandwidth(X, **settings)
    assert estimate_bandwidth(X, **settings) == pytest.approx(expected, rel=ROUNDING, abs=1e-12)


def test_starts_on_a_grid():
    X = table()
    for size, least in ((1.0, 1), (2.5, 3), (0.7, 2)):
        expected = theirs.get_bin_seeds(X, size, least)
        np.testing.assert_allclose(get_bin_seeds(X, size, least), expected, rtol=1e-6)  # theirs are single precision
    assert get_bin_seeds(X, 0) is X
    with pytest.warns(UserWarning, match="to itself, so that all rows are seeds"):
        assert get_bin_seeds(X, 1e-5) is X


def test_mistakes_get_one_sentence():
    X = table(40)
    for call, words in (
        (lambda: MeanShift(bandwidth=-1).fit(X), "'bandwidth' parameter"),
        (lambda: MeanShift(max_iter=-1).fit(X), "'max_iter' parameter"),
        (lambda: MeanShift(min_bin_freq=0).fit(X), "'min_bin_freq' parameter"),
        (lambda: MeanShift(cluster_all="no").fit(X), "'cluster_all' parameter"),
        (
            lambda: MeanShift(bandwidth=0.1, seeds=[[90.0, 90.0]]).fit(X),
            "No point was within bandwidth=0.1",
        ),
        (
            lambda: MeanShift(bandwidth=1.0, bin_seeding=True, min_bin_freq=99).fit(X),
            "No point was within bandwidth=1",
        ),
        (lambda: MeanShift(seeds=[[1.0]]).fit(X), "rows of 2 finite numbers"),
        (lambda: MeanShift().fit(X[:0]), "0 sample"),
        (lambda: MeanShift().fit(np.where(X[3, 1] == X, np.nan, X)), "NaN"),
        (lambda: estimate_bandwidth(X, quantile=2), "'quantile' parameter of estimate_bandwidth"),
        (lambda: estimate_bandwidth(X, n_samples=0), "'n_samples' parameter of estimate_bandwidth"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="features"):
        MeanShift(bandwidth=1.0).fit(X).predict(X[:, :1])
