"""KMeans of many centres: bounds for groups of centres that hold, and labels that do not show them."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import learnt
from learnt.cluster import KMeans, _grouped, _kmeans
from learnt.cluster._bounded import DenseLloyd
from learnt.cluster._group_products import at_once, group_products
from learnt.cluster._grouped import GroupedLloyd, group_span, near_order
from learnt.cluster._lloyd import means
from learnt.engine.kernel import kernel


@pytest.fixture(autouse=True)
def _threads():
    yield
    learnt.set_threads(None)


@kernel
def all_products(rows, listed, step, table, v, extra, out, least):
    for at in range(0, listed.shape[0], step):
        group_products(rows, listed, at, table, v, extra, out, least)


@pytest.mark.parametrize("d", [4, 8, 36])
def test_products_of_rows_and_their_least_within_the_error_bound(d):
    rng = np.random.default_rng(d)
    step, width = at_once()
    rows = rng.normal(size=(40, d)).astype(np.float32)
    table = rng.normal(size=(3, d, width)).astype(np.float32)
    extra = rng.normal(size=(3, width)).astype(np.float32)
    extra[1, 9:] = np.inf  # places without a centre
    listed = rng.permutation(40)[: 3 * step].astype(np.uint32)
    for v in range(3):
        out, plain = np.full((2, listed.size, width), np.nan, dtype=np.float32)
        least, plain_least = np.full((2, listed.size), np.nan, dtype=np.float32)
        all_products(rows, listed, step, table, v, extra, out, least)
        for at in range(0, listed.size, step):
            group_products.python(rows, listed, at, table, v, extra, plain, plain_least)
        exact = rows[listed].astype(np.float64) @ table[v] + extra[v]
        bound = (
            2.0**-24 * (d + 2) * (np.abs(rows[listed]) @ np.abs(table[v]) + np.abs(np.nan_to_num(extra[v], posinf=0)))
        )
        there = np.isfinite(extra[v])
        for values, smallest in ((out, least), (plain, plain_least)):
            assert (np.abs(values[:, there] - exact[:, there]) <= bound[:, there]).all()
            assert (values[:, ~there] == np.inf).all()
            assert (smallest == values.min(axis=1)).all()


def rows_of(kind, n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "blobs":
        X += 4.0 * rng.normal(size=(2 * k, d))[rng.integers(2 * k, size=n)]
    if kind == "grid":  # many rows equally far from several centres, and equal rows
        X = np.round(X)
    if kind == "tight":  # single precision cannot tell the centres of a pair
        X = np.repeat(rng.normal(size=(-(-n // 50), d)), 50, axis=0)[:n] + 1e-7 * rng.normal(size=(n, d))
    return X, X[rng.choice(n, k, replace=False)].copy()


def passes(problem, centers, n):
    """Centres and labels of n passes."""
    problem.start()
    for _ in range(n):
        found = problem.assign(centers)
        yield centers, problem.labels.copy(), found
        centers = means(found.sums, found.mass, problem.origin, centers)


@pytest.mark.parametrize("kind", ["blobs", "cloud", "grid", "tight"])
@pytest.mark.parametrize(("n", "d", "k"), [(9000, 5, 150), (2000, 33, 130), (9000, 1, 140)])
@pytest.mark.sweep
def test_labels_are_those_of_the_plain_passes_and_every_bound_holds(kind, n, d, k):
    X, start = rows_of(kind, n, d, k)
    origin, scale = X.mean(axis=0), 0.25
    grouped = GroupedLloyd(X, None, origin, scale, k)
    plain = DenseLloyd(X, None, origin, scale, k, copy=True)
    some = slice(None, None, 7)
    for (C, labels, found), (_, expected, sums) in zip(passes(grouped, start, 6), passes(plain, start, 6)):
        assert (labels == expected).all()
        assert found.changed == sums.changed
        np.testing.assert_allclose(found.sums, sums.sums, atol=1e-9 * n)
        D = cdist(X[some], C) * scale
        at = np.arange(len(D))
        own = D[at, labels[some]]
        others = D.copy()
        others[at, labels[some]] = np.inf
        assert (grouped.upper[some] >= own * (1 - 1e-12)).all()
        assert (grouped.lower[some] <= others.min(axis=1) * (1 + 1e-12)).all()
        groups = grouped._groups
        if groups is None:  # gone on in double precision
            assert kind in ("grid", "tight")
            continue
        size = at_once().centers * groups.span
        for q, drift in enumerate(groups.drift):
            nearest = others[:, groups.owners[q * size : (q + 1) * size]].min(axis=1)
            assert (grouped.bounds[q, some] - np.float64(drift) <= nearest * (1 + 1e-12)).all()


def test_most_groups_are_passed_over_once_centres_stand_still(monkeypatch):
    X, start = rows_of("cloud", 9000, 8, 200)
    problem = GroupedLloyd(X, None, X.mean(axis=0), 1.0, 200)
    listed = []
    settle = _grouped._group_kernels.settle_groups
    monkeypatch.setattr(
        _grouped._group_kernels, "settle_groups", lambda rows, *rest: listed.append(rows.size) or settle(rows, *rest)
    )
    centers = start
    for C, _, _ in passes(problem, start, 40):
        centers = C
    written = problem.bounds.copy()
    problem.assign(centers)
    n_new = np.count_nonzero(problem.bounds != written)
    assert sum(listed[: len(listed) // 41]) == 9000  # at the first pass everything is compared
    assert n_new < 0.1 * written.size


def test_a_row_far_out_has_no_groups():
    X, start = rows_of("cloud", 3000, 5, 130)
    X[17] = 1e7
    grouped, plain = GroupedLloyd(X, None, np.zeros(5), 1.0, 130), DenseLloyd(X, None, np.zeros(5), 1.0, 130, copy=True)
    for (_, labels, _), (_, expected, _) in zip(passes(grouped, start, 3), passes(plain, start, 3)):
        assert grouped._groups is None
        assert (labels == expected).all()


def test_the_bounds_take_at_most_twice_the_memory_of_the_rows():
    for k, d in ((128, 1), (1000, 2), (1000, 32), (5000, 3), (10**5, 784)):
        for width in (16, 32):
            n_groups = -(-k // (width * group_span(k, d, width)))
            assert 4 * n_groups <= 2 * 8 * d


def test_groups_of_near_centres():
    rng = np.random.default_rng(0)
    middles = np.array([400.0, 200.0, 100.0]) * np.array(list(itertools.product((0, 1), repeat=3)))
    centers = np.repeat(middles, 16, axis=0) + rng.normal(size=(128, 3))
    mixed = rng.permutation(128)
    order = near_order(centers[mixed], 16)
    assert sorted(order) == list(range(128))
    assert all(len({mixed[i] // 16 for i in part}) == 1 for part in order.reshape(8, 16))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fits_are_the_same_bits_on_any_number_of_threads_and_a_fixed_point(dtype, weighted, monkeypatch):
    monkeypatch.setattr(_kmeans, "LEAST_WORK", 0)
    X, start = rows_of("blobs", 20_000, 6, 160)
    X = X.astype(dtype)
    w = np.random.default_rng(1).random(len(X)) if weighted else None
    fits = []
    for threads in (1, 2):
        learnt.set_threads(threads)
        fits.append(KMeans(160, init=start, n_init=1, tol=0.0, max_iter=300).fit(X, sample_weight=w))
    one, two = fits
    assert one.converged_
    assert (one.cluster_centers_ == two.cluster_centers_).all()
    assert (one.labels_ == two.labels_).all()
    D = cdist(X.astype(np.float64), one.cluster_centers_.astype(np.float64))
    assert (one.labels_ == D.argmin(axis=1)).mean() > 0.9999
    assert one.inertia_ == pytest.approx(np.sum((1.0 if w is None else w) * D.min(axis=1) ** 2), rel=1e-9)
    mean = np.stack(
        [
            np.average(X[one.labels_ == c], axis=0, weights=None if w is None else w[one.labels_ == c])
            for c in range(160)
        ]
    )
    np.testing.assert_allclose(one.cluster_centers_, mean, atol=1e-5 if dtype == np.float32 else 1e-9)
