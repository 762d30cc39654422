"""KMeans against scikit-learn, against the formula, and against its own laws."""

import itertools
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans as Oracle
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

import learnt
from learnt.cluster import KMeans, kmeans_plusplus
from learnt.engine.rows import scan


@pytest.fixture(autouse=True)
def _threads():
    yield
    learnt.set_threads(None)


def blobs(n=3000, d=5, k=6, seed=0, spread=1.5):
    return make_blobs(n, d, centers=k, cluster_std=spread, random_state=seed)[0]


def first_rows(X, k, seed=1):
    return X[np.random.RandomState(seed).choice(len(X), k, replace=False)]


def naive_labels(X, C):
    return np.array([np.argmin([((x - c) ** 2).sum() for c in C]) for x in np.asarray(X, dtype=float)])


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # 8 clusters of 4 distinct rows
def test_scikit_learns_checks_of_the_default_settings():
    for result in check_estimator(KMeans(), on_fail=None, on_skip=None):
        assert result["status"] != "failed", (result["check_name"], result["exception"])


# Against scikit-learn, from the same centres ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "k"), [(60, 2, 3), (400, 3, 7), (6000, 2, 8), (5000, 12, 15), (9000, 33, 6)])
@pytest.mark.parametrize("kind", ["blobs", "uniform"])
def test_same_clusters_as_scikit_learn(n, d, k, kind, dtype):
    X = blobs(n, d, k) if kind == "blobs" else np.random.RandomState(0).rand(n, d)
    X = X.astype(dtype)
    init = first_rows(X, k)
    # Both converge on the same path; single precision may stop an iteration apart under a tolerance, so none is given.
    tol = 1e-4 if dtype == np.float64 else 0
    theirs = Oracle(k, init=init, n_init=1, tol=tol).fit(X)
    ours = KMeans(k, init=init, tol=tol).fit(X)
    assert ours.cluster_centers_.dtype == dtype
    assert ours.labels_.dtype == np.int32
    if dtype == np.float64:
        assert ours.n_iter_ == theirs.n_iter_
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9, atol=1e-12)
        assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    else:
        assert ours.inertia_ <= theirs.inertia_ * (1 + 1e-4)


@pytest.mark.parametrize("algorithm", ["lloyd", "elkan", "hamerly", "auto"])
def test_every_algorithm_gives_the_same(algorithm):
    X = blobs(4000, 20, 10)
    init = first_rows(X, 10)
    ours = KMeans(10, init=init, algorithm=algorithm).fit(X)
    np.testing.assert_array_equal(ours.labels_, Oracle(10, init=init, n_init=1).fit(X).labels_)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("n", [200, 6000])
def test_sparse_equals_dense_and_scikit_learn(container, n):
    rng = np.random.RandomState(0)
    X = rng.rand(n, 30) * (rng.rand(n, 30) < 0.2)
    w = rng.randint(1, 4, n).astype(float)
    init = first_rows(X, 7)
    theirs = Oracle(7, init=init, n_init=1).fit(X, sample_weight=w)
    dense = KMeans(7, init=init).fit(X, sample_weight=w)
    ours = KMeans(7, init=init).fit(container(X), sample_weight=w)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(dense.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-12)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-10)
    np.testing.assert_allclose(ours.transform(container(X)), theirs.transform(X), atol=1e-7)
    np.testing.assert_array_equal(ours.predict(container(X)), ours.labels_)
    assert ours.score(container(X)) == pytest.approx(theirs.score(X), rel=1e-10)


def wide_rows(n, d, seed=0):
    """Sparse rows about a few sparse means: clusters that hundreds of features decide."""
    means = 3.0 * sparse.random(25, d, density=0.02, format="csr", random_state=seed).toarray()
    noise = sparse.random(n, d, density=0.02, format="csr", random_state=seed + 1)
    kept = sparse.random(n, d, density=0.3, format="csr", random_state=seed + 2)
    kind = np.random.RandomState(seed).randint(25, size=n)
    return sparse.csr_array(noise + kept.multiply(means[kind]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [3, 8, 21])
@pytest.mark.sweep
def test_wide_sparse_rows_equal_scikit_learn(k, weighted):
    X = wide_rows(1500, 800)
    w = np.random.RandomState(5).randint(1, 4, 1500).astype(float) if weighted else None
    init = X[np.random.RandomState(k).permutation(1500)[:k]].toarray()
    theirs = Oracle(k, init=init, n_init=1, tol=0).fit(X, sample_weight=w)
    ours = KMeans(k, init=init, tol=0).fit(X, sample_weight=w)
    assert ours.n_iter_ == theirs.n_iter_ > 3
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    # The sums follow the labels by differences; at the end they are the means again, and 0 where no row has an entry.
    weights, cells = np.ones(1500) if w is None else w, X.toarray()
    for c in range(k):
        mine = ours.labels_ == c
        mean = weights[mine] @ cells[mine] / weights[mine].sum()
        np.testing.assert_allclose(ours.cluster_centers_[c], mean, rtol=1e-13)
        assert (ours.cluster_centers_[c][mean == 0] == 0).all()


@pytest.mark.parametrize("entries", [10, 200])  # a row; compiled code takes over between them
def test_no_dense_table_is_made_of_wide_sparse_rows(entries):
    rng = np.random.RandomState(0)
    places = np.repeat(np.arange(2000), entries), rng.randint(50_000, size=2000 * entries)
    X = sparse.csr_array((rng.rand(2000 * entries), places), shape=(2000, 50_000))
    start = X[:2].toarray()
    KMeans(2, init=start, max_iter=3).fit(X)  # compiled before memory is counted
    tracemalloc.start()
    try:
        model = KMeans(2, init=start, max_iter=3).fit(X)
        score = model.score(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * X.shape[0] * X.shape[1] / 20
    assert score == pytest.approx(-model.inertia_, rel=1e-12)


def test_default_start_is_as_good_as_scikit_learn():
    X = np.random.RandomState(3).rand(1500, 4)
    ours = np.mean([KMeans(12, random_state=s).fit(X).inertia_ for s in range(15)])
    theirs = np.mean([Oracle(12, random_state=s, n_init=1).fit(X).inertia_ for s in range(15)])
    assert ours <= theirs * 1.01


# Against the formula ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [90, 5000])
def test_the_result_is_a_fixed_point(n):
    X = blobs(n, 8, 5, seed=4)
    model = KMeans(13, random_state=0, tol=0).fit(X)
    np.testing.assert_array_equal(model.labels_, naive_labels(X, model.cluster_centers_))
    for c in range(13):
        np.testing.assert_allclose(model.cluster_centers_[c], X[model.labels_ == c].mean(axis=0), rtol=1e-12)
    assert model.inertia_ == pytest.approx(((X - model.cluster_centers_[model.labels_]) ** 2).sum(), rel=1e-13)
    assert model.converged_


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e7])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_labels_are_exact_whatever_the_offset_and_scale(offset, scale):
    # Tight clusters, far apart and far from the origin: single precision alone cannot tell them.
    rng = np.random.RandomState(0)
    centers = rng.randn(8, 6) * 100
    X = (centers[rng.randint(8, size=12000)] + 0.01 * rng.randn(12000, 6) + offset) * scale
    model = KMeans(16, random_state=0, max_iter=15).fit(X)
    np.testing.assert_array_equal(model.labels_[:500], naive_labels(X[:500], model.cluster_centers_))
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_ties_go_to_the_first_centre_on_every_code_path():
    grid = np.stack(np.meshgrid(np.arange(100.0), np.arange(100.0)), axis=-1).reshape(-1, 2)
    C = np.array([[10.5, 10.5], [20.5, 10.5], [10.5, 20.5], [20.5, 20.5], [80.0, 80.0]] * 3)
    model = KMeans(15, init=C, max_iter=1).fit(grid)
    model.cluster_centers_ = C
    few = np.concatenate([model.predict(part) for part in np.array_split(grid, 40)])
    np.testing.assert_array_equal(model.predict(np.repeat(grid, 8, axis=0))[::8], few)
    np.testing.assert_array_equal(few, naive_labels(grid, C))
    assert few.max() <= 4


def test_inertia_never_increases():
    X = np.random.RandomState(0).rand(3000, 10)
    init = first_rows(X, 30)
    inertia = [-KMeans(30, init=init, max_iter=i, tol=0).fit(X).score(X) for i in (1, 2, 3, 5, 8, 13, 21, 34)]
    assert all(b <= a * (1 + 1e-13) for a, b in itertools.pairwise(inertia))


def test_transform_is_the_distance_to_the_centres():
    X = blobs(300, 4) + 1e5
    model = KMeans(5, random_state=0).fit(X)
    expected = np.sqrt(((X[:, None] - model.cluster_centers_) ** 2).sum(axis=-1))
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-9)
    assert model.transform(model.cluster_centers_).diagonal() == pytest.approx(0, abs=1e-10)
    np.testing.assert_array_equal(model.transform(X).argmin(axis=1), model.labels_)
    assert model.fit_transform(X).shape == (300, 5)
    assert list(model.get_feature_names_out()) == [f"kmeans{i}" for i in range(5)]


# Laws ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
def test_the_same_bits_on_any_number_of_threads(kind):
    X = np.random.RandomState(0).rand(30000, 12)
    X = sparse.csr_array(X * (X > 0.7)) if kind == "sparse" else X.astype(np.float32 if kind == "float32" else float)
    models = []
    for threads in (1, 2, 5):
        learnt.set_threads(threads)
        models.append(KMeans(20, random_state=3, max_iter=12).fit(X))
    for other in models[1:]:
        assert np.array_equal(models[0].cluster_centers_, other.cluster_centers_)
        assert np.array_equal(models[0].labels_, other.labels_)
        assert models[0].inertia_ == other.inertia_


@pytest.mark.parametrize("n", [80, 6000])
@pytest.mark.parametrize("init", ["k-means++", "farthest-first"])
def test_weights_are_repetitions_and_order_does_not_matter(n, init):
    rng = np.random.RandomState(0)
    X, w = rng.rand(n, 6), rng.randint(0, 4, n)
    repeated = KMeans(9, init=init, random_state=1).fit(np.repeat(X, w, axis=0))
    order = rng.permutation(n)
    weighted = KMeans(9, init=init, random_state=1).fit(X[order], sample_weight=w[order])
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-9)
    assert weighted.n_iter_ == repeated.n_iter_
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**31 - 1))
def test_any_small_table(n, d, k, seed):
    rng = np.random.RandomState(seed)
    X = rng.randint(0, 4, (n, d)).astype(float)  # many equal rows
    k = min(k, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(k, random_state=seed, tol=0).fit(X)
    distinct = len(np.unique(X, axis=0))
    assert np.isfinite(model.cluster_centers_).all()
    assert len(np.unique(model.labels_)) == min(k, distinct)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.labels_, naive_labels(X, model.cluster_centers_))
    assert model.inertia_ == pytest.approx(((X - model.cluster_centers_[model.labels_]) ** 2).sum(), abs=1e-12)
    if k >= distinct:
        assert model.inertia_ == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("n", [50, 6000])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_an_empty_cluster_is_given_the_farthest_row(n, kind):
    X = np.abs(blobs(n, 3, 2, spread=0.5))
    X[7] = [500.0, 0.0, 0.0]
    init = np.vstack([X[0], X[1], np.full((2, 3), 1e6)])  # two centres that nothing is near to
    model = KMeans(4, init=init).fit(sparse.csr_matrix(X) if kind == "sparse" else X)
    assert len(np.unique(model.labels_)) == 4
    assert (model.labels_ == model.labels_[7]).sum() == 1
    assert model.inertia_ <= Oracle(4, init=init, n_init=1).fit(X).inertia_ * (1 + 1e-9)


def test_more_clusters_than_distinct_rows_warns():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\) found smaller than n_clusters \(3\)"):
        model = KMeans(3, random_state=0).fit(X)
    assert model.inertia_ == 0


def test_a_row_at_rounding_from_its_centre_is_no_gain_for_an_empty_cluster():
    """The mean of equal rows is not always that row; a cluster that would get one would lose it again, for ever."""
    X = np.random.default_rng(3).normal(size=(2, 30))[np.arange(12) % 2]
    w = np.random.default_rng(4).uniform(0.5, 2.0, 12)
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        model = KMeans(3, random_state=0, n_init=10, tol=0).fit(X, sample_weight=w)
    assert model.n_iter_ < 10


def test_restarts_keep_the_best():
    X = np.random.RandomState(0).rand(400, 3)
    one = [KMeans(10, init="random", n_init=1, random_state=np.random.RandomState(0)).fit(X).inertia_]
    many = KMeans(10, init="random", n_init=8, random_state=np.random.RandomState(0)).fit(X)
    assert many.inertia_ <= one[0]
    again = KMeans(10, init="random", n_init=8, random_state=0).fit(X)
    assert again.inertia_ == many.inertia_


# Starts -------------------------------------------------------------------------------------------------------------


def test_plus_plus_draws_in_proportion_to_squared_distance():
    X = np.array([[0.0], [0.0], [1.0], [3.0]])
    drawn = [kmeans_plusplus(X, 2, random_state=s, n_local_trials=1)[1] for s in range(1500)]
    second = [b for a, b in drawn if a in (0, 1)]
    assert np.mean([b == 3 for b in second]) == pytest.approx(0.9, abs=0.03)  # 9 : 1
    assert np.mean([a == 3 for a, _ in drawn]) == pytest.approx(0.25, abs=0.04)


def test_plus_plus_expected_quality():
    # Arthur and Vassilvitskii: E[inertia of the seeds] <= 8 (ln k + 2) · optimum.
    X = blobs(600, 2, 10, spread=0.3)
    best = KMeans(10, n_init=20, random_state=0).fit(X).inertia_
    seeds = [kmeans_plusplus(X, 10, random_state=s, n_local_trials=1)[0] for s in range(60)]
    cost = [((X[:, None] - c) ** 2).sum(axis=-1).min(axis=1).sum() for c in seeds]
    assert np.mean(cost) <= 8 * (np.log(10) + 2) * best
    greedy = [kmeans_plusplus(X, 10, random_state=s)[0] for s in range(60)]
    assert np.mean([((X[:, None] - c) ** 2).sum(axis=-1).min(axis=1).sum() for c in greedy]) < np.mean(cost)


@pytest.mark.parametrize("n", [40, 9000])
def test_farthest_first_is_within_twice_the_best_radius(n):
    X = np.random.RandomState(0).rand(n, 2)
    model = KMeans(6, init="farthest-first", random_state=0, max_iter=1).fit(X)
    assert model.n_iter_ == 1
    # Gonzalez: each centre is the farthest row from those before.
    from learnt.cluster._device_seeding import lottery_of
    from learnt.cluster._seeding import Seeds, farthest_first

    index = farthest_first(Seeds(X, None), lottery_of(X), 6, np.random.RandomState(0))
    for i in range(1, 6):
        D = ((X[:, None] - X[index[:i]]) ** 2).sum(axis=-1).min(axis=1)
        assert D[index[i]] == D.max()


def test_kernel_seeds_equal_the_plain_ones():
    from learnt.cluster._device_seeding import lottery_of
    from learnt.cluster._seeding import CompiledSeeds, Seeds, plus_plus

    X = blobs(9000, 7, 5) - 3
    w = np.random.RandomState(0).rand(9000)
    W = X.astype(np.float32)
    plain = plus_plus(Seeds(W.astype(float), w), lottery_of(X), 12, np.random.RandomState(5))
    quick = plus_plus(CompiledSeeds(W, (W**2).sum(axis=1), w), lottery_of(X), 12, np.random.RandomState(5))
    np.testing.assert_array_equal(plain, quick)


@pytest.mark.parametrize("outlier", [None, 1e9])
def test_without_a_tolerance_some_rows_give_the_scale(outlier):
    """Of 20,000 rows every fourth is looked at, none of which is the outlier; the centres are those of plain sums."""
    rng = np.random.default_rng(0)
    X = 1e4 + rng.normal(size=(20000, 6)) + 6.0 * rng.normal(size=(8, 6))[rng.integers(8, size=20000)]
    start = X[:8].copy()
    if outlier is not None:
        X[1] = outlier
    model = KMeans(8, init=start, n_init=1, tol=0, max_iter=3).fit(X)
    centers = start
    for _ in range(3):
        labels = cdist(X, centers, "sqeuclidean").argmin(axis=1)
        centers = np.stack([X[labels == k].mean(axis=0) for k in range(8)])
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-9)


def test_init_by_function_and_by_array():
    X = blobs(100, 2, 3)
    ours = KMeans(3, init=lambda X, k, random_state: X[random_state.choice(len(X), k)], random_state=0).fit(X)
    assert ours.cluster_centers_.shape == (3, 2)
    with pytest.warns(RuntimeWarning, match="performing only one init"):
        KMeans(3, init=X[:3], n_init=5).fit(X)


# Where the rows lie -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [700, 9000])
def test_memory_map_dask_scan_and_torch_agree(tmp_path, n, weighted):
    import dask.array as da
    import polars as pl
    import torch

    X = blobs(n, 4, 9, spread=3.0) + 100
    w = np.random.RandomState(0).randint(1, 4, n).astype(float) if weighted else None
    init = first_rows(X, 9)
    make = lambda: KMeans(9, init=init)  # noqa: E731
    here = make().fit(X, sample_weight=w)

    mapped = np.memmap(tmp_path / "X.bin", dtype=float, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    on_disk = make().fit(np.memmap(tmp_path / "X.bin", dtype=float, mode="r", shape=X.shape), sample_weight=w)
    np.testing.assert_array_equal(on_disk.labels_, here.labels_)
    np.testing.assert_allclose(on_disk.cluster_centers_, here.cluster_centers_, rtol=1e-12)

    lazy = da.from_array(X, chunks=(n // 3 + 1, 2))
    cluster = make().fit(lazy, sample_weight=None if w is None else da.from_array(w, chunks=n // 3 + 1))
    assert hasattr(cluster.labels_, "compute")
    np.testing.assert_array_equal(cluster.labels_.compute(), here.labels_)
    np.testing.assert_array_equal(cluster.predict(lazy).compute(), here.labels_)

    tensor = make().fit(torch.from_numpy(X), sample_weight=None if w is None else torch.from_numpy(w))
    assert isinstance(tensor.cluster_centers_, torch.Tensor)
    np.testing.assert_array_equal(tensor.labels_.numpy(), here.labels_)
    assert torch.equal(tensor.predict(torch.from_numpy(X)), tensor.labels_)

    models = [here, cluster, tensor]
    if not weighted:
        pl.DataFrame(X, schema=list("abcd")).write_parquet(tmp_path / "X.parquet")
        models.append(make().fit(scan(tmp_path / "X.parquet")))
        np.testing.assert_array_equal(models[-1].labels_, here.labels_)
    for model in models:
        assert model.n_iter_ == here.n_iter_
        np.testing.assert_allclose(np.asarray(model.cluster_centers_), here.cluster_centers_, rtol=1e-10)
        assert model.inertia_ == pytest.approx(here.inertia_, rel=1e-10)


def test_default_start_on_lazy_rows_and_tensors():
    import dask.array as da
    import torch

    X = blobs(20000, 3, 5, spread=0.2)
    best = Oracle(5, n_init=10, random_state=0).fit(X).inertia_
    for data in (da.from_array(X, chunks=(4000, 3)), torch.from_numpy(X), torch.from_numpy(X.astype(np.float32))):
        for init in ("k-means++", "random", "farthest-first"):
            model = KMeans(5, init=init, n_init=3, random_state=0).fit(data)
            assert model.inertia_ == pytest.approx(best, rel=1e-4)


def test_empty_clusters_on_lazy_rows_and_tensors():
    import dask.array as da
    import torch

    X = blobs(900, 3, 3, spread=0.2)
    init = np.vstack([X[0], np.full((3, 3), 1e4)])
    here = KMeans(4, init=init).fit(X)
    for data in (da.from_array(X, chunks=(300, 3)), torch.from_numpy(X)):
        assert KMeans(4, init=init).fit(data).inertia_ == pytest.approx(here.inertia_)


def test_memory_stays_below_one_more_copy():
    import tracemalloc

    X = np.random.RandomState(0).rand(60000, 40)
    KMeans(10, random_state=0, max_iter=3).fit(X[:10000])
    tracemalloc.start()
    KMeans(10, random_state=0, max_iter=3).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes


# The rest -----------------------------------------------------------------------------------------------------------


def test_input_is_not_changed_and_frames_come_through():
    import pandas as pd

    X = blobs(200, 3)
    frame = pd.DataFrame(X, columns=["a[1]", "b", "c"])
    model = KMeans(3, random_state=0, copy_x=False).fit(frame)
    np.testing.assert_array_equal(frame.to_numpy(), X)
    assert list(model.feature_names_in_) == ["a[1]", "b", "c"]
    np.testing.assert_array_equal(model.predict(frame), KMeans(3, random_state=0).fit(X).labels_)
    assert list(model.set_output(transform="pandas").transform(frame).columns) == ["kmeans0", "kmeans1", "kmeans2"]


def test_clone_repr_params():
    model = KMeans(3, init="random", n_init=2, max_iter=7, tol=0.1, random_state=4)
    assert clone(model).get_params() == model.get_params()
    assert " ".join(repr(model).split()) == (
        "KMeans(init='random', max_iter=7, n_clusters=3, n_init=2, random_state=4, tol=0.1)"
    )


def test_a_callback_sees_iterations_and_can_stop():
    seen = []

    class Stop:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
            pass

        def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
            if context.task_name == "iteration":
                seen.append(context.task_id)
                return len(seen) >= 2

    X = np.random.RandomState(0).rand(500, 3)
    model = KMeans(20, random_state=0).set_callbacks(Stop()).fit(X)
    assert model.n_iter_ == 2
    assert len(seen) == 2
    assert not model.converged_


def test_verbose_goes_to_the_log(caplog, capsys):
    with caplog.at_level("INFO", logger="learnt"):
        KMeans(3, random_state=0, verbose=1).fit(blobs(100, 2))
    assert "iteration 1" in caplog.text
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter of KMeans must be a whole number of at least 1"),
        ({"n_clusters": 11}, "n_samples=10 should be >= n_clusters=11"),
        ({"init": "kmeans"}, "'init' parameter of KMeans must be one of"),
        ({"init": 3}, "'init' parameter of KMeans must be"),
        ({"init": np.zeros((2, 2)), "n_clusters": 3}, "does not match the number of clusters 3"),
        ({"init": np.zeros((2, 3)), "n_clusters": 2}, "does not match the number of features of the data 2"),
        ({"init": np.full((2, 2), np.nan), "n_clusters": 2}, "init contains NaN"),
        ({"n_init": 0}, "'n_init' parameter of KMeans"),
        ({"max_iter": 0}, "'max_iter' parameter of KMeans"),
        ({"tol": -1}, "'tol' parameter of KMeans"),
        ({"algorithm": "fast"}, "'algorithm' parameter of KMeans must be one of"),
    ],
)
def test_wrong_parameters_get_one_sentence(params, words):
    with pytest.raises(ValueError) as error:
        KMeans(**params).fit(np.random.RandomState(0).rand(10, 2))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_wrong_weights_get_one_sentence():
    X = np.random.RandomState(0).rand(10, 2)
    with pytest.raises(ValueError, match="sample_weight"):
        KMeans(2).fit(X, sample_weight=np.ones(9))
    with pytest.raises(ValueError, match="n_samples=1 should be >= n_clusters=2"):
        KMeans(2, init="random").fit(X, sample_weight=np.eye(10)[0])


def test_plain_python_gives_the_same(monkeypatch):
    import learnt.cluster._kmeans as module

    X = blobs(6000, 10, 8, spread=4.0)
    init = first_rows(X, 8)
    compiled = KMeans(8, init=init).fit(X)
    monkeypatch.setattr(module, "compilation_enabled", lambda: False)
    plain = KMeans(8, init=init).fit(X)
    np.testing.assert_array_equal(plain.labels_, compiled.labels_)
    assert plain.n_iter_ == compiled.n_iter_
    np.testing.assert_allclose(plain.cluster_centers_, compiled.cluster_centers_, rtol=1e-12)
