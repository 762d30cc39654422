"""The grower against a plain search, and against itself: threads, forms of sums, too few places for histograms."""

import numpy as np
import pytest

from learnt.engine.threads import set_threads
from learnt.forestry import LOG, SOFTMAX, SQUARED, Growth, HistogramGrower, Target, find_bins, loss_rows
from learnt.forestry.boosting import _grower as leafwise
from learnt.forestry.boosting._histogram import CONSTANT, EXACT, PAIR
from learnt.forestry.boosting._sets import bound_categories, search_categories, sort_categories, told_apart
from learnt.forestry.boosting._state import Node


@pytest.fixture(autouse=True)
def _threads():
    yield
    set_threads(None)


def data(n=3000, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(n) < 0.1, 2] = np.nan
    X[:, 3] = rng.integers(0, 40, n)
    y = X[:, 0] + np.nan_to_num(X[:, 2]) * (X[:, 1] > 0) + np.sin(X[:, 3]) + 0.3 * rng.normal(size=n)
    return X, y


def table(X, categories=None):
    bins = find_bins(X, categories=categories)
    by_column, by_row = bins.encode(X, rows=True)
    return by_row, by_column, bins


def best_split(codes, bins, g, h, rows, min_leaf, by_hessian=False):
    """(gain, rows of the smaller-coded side) of the best split of a node, by trying all."""
    best = (0.0, None)
    G, H = g[rows].sum(), h[rows].sum()
    least = (min_leaf - 1) * H / len(rows) if by_hessian else 0.0
    for j in range(len(codes)):
        c = codes[j][rows]
        missing = c == bins.n_bins[j]
        for b in range(bins.n_bins[j]):
            for way in (False, True) if bins.has_missing[j] else (False,):
                left = np.where(missing, way, c <= b)
                if min_leaf <= left.sum() <= len(rows) - min_leaf:
                    a, e = g[rows][left].sum(), h[rows][left].sum()
                    if min(e, H - e) < least:
                        continue
                    gain = a * a / e + (G - a) ** 2 / (H - e) - G * G / H
                    if gain > best[0] * (1 + 1e-9):
                        best = (gain, frozenset(rows[left]))
    return best


@pytest.mark.parametrize(("constant", "by_hessian"), [(True, False), (True, True), (False, False), (False, True)])
def test_every_split_is_the_best_there_is(constant, by_hessian):
    X, y = data(300)
    by_row, by_column, bins = table(X)
    rng = np.random.default_rng(1)
    g, h = y - y.mean(), np.ones(300) if constant else rng.random(300) ** 4 + 0.01
    growth = Growth(max_leaf_nodes=8, min_samples_leaf=5)
    grower = HistogramGrower(by_row, by_column, bins, growth, by_hessian=by_hessian)
    tree = grower.grow(g, h)
    assert (tree.left >= 0).sum() == 7
    for node in np.flatnonzero(tree.left >= 0):
        rows = np.sort(tree.rows[tree.start[node] : tree.end[node]])
        gain, left = best_split(by_column, bins, g, h, rows, 5, by_hessian)
        assert tree.gain[node] == pytest.approx(gain, rel=1e-9)
        child = tree.left[node]
        found = frozenset(tree.rows[tree.start[child] : tree.end[child]])
        assert found in (left, frozenset(rows) - left)
        np.testing.assert_allclose(tree.sum_g[node], g[rows].sum(), atol=1e-9)
        np.testing.assert_allclose(tree.sum_h[node], h[rows].sum())
        assert tree.count[node] == len(rows)
    opened = tree.gain[tree.left >= 0]
    assert opened[0] == opened.max()


def grown(form, threads, n=3000, monkeypatch=None, **settings):
    X, y = data(n)
    set_threads(threads)
    by_row, by_column, bins = table(X, {3: 40})
    monkeypatch.setattr(leafwise, "_EXACT_CELLS", 1 << 40 if form == EXACT else 0)
    monkeypatch.setattr(leafwise, "_TEAM_CELLS", 0)
    growth = Growth(**{"max_leaf_nodes": 31, "min_samples_leaf": 5, **settings})
    grower = HistogramGrower(by_row, by_column, bins, growth, constant_hessian=form == CONSTANT)
    assert grower.form == form
    g = y - y.mean()
    h = np.ones(n) if form == CONSTANT else 0.1 + np.random.default_rng(2).random(n)
    return grower.grow(g, h, seed=5), growth


@pytest.mark.parametrize("form", [EXACT, PAIR, CONSTANT])
@pytest.mark.parametrize("n", [3000, 40000])
def test_a_team_grows_the_same_tree(form, n, monkeypatch):
    one, _ = grown(form, 1, n, monkeypatch)
    for threads in (2, 5):
        other, _ = grown(form, threads, n, monkeypatch)
        for name in ("left", "feature", "bin", "missing_left", "gain", "count", "sum_g", "sum_h"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        np.testing.assert_array_equal(one.values, other.values)
        by_category = (one.left >= 0) & (one.feature == 3)
        assert by_category.any()
        np.testing.assert_array_equal(one.sets[by_category], other.sets[by_category])


@pytest.mark.parametrize("form", [PAIR, CONSTANT])
def test_rounded_sums_find_nearly_the_same_gains(form, monkeypatch):
    exact, _ = grown(EXACT, 1, 20000, monkeypatch)
    rounded, _ = grown(form, 1, 20000, monkeypatch)
    if form == CONSTANT:  # another hessian: compare the sums with what they sum
        _, y = data(20000)
        g = y - y.mean()
        for node in range(0, len(rounded.left), 7):
            rows = rounded.rows[rounded.start[node] : rounded.end[node]]
            np.testing.assert_allclose(rounded.sum_g[node], g[rows].sum(), atol=1e-6)
        return
    assert rounded.gain.sum() == pytest.approx(exact.gain.sum(), rel=0.01)


def test_leaves_hold_their_rows_and_counts(monkeypatch):
    tree, _ = grown(PAIR, 2, 20000, monkeypatch)
    leaves = tree.is_leaf
    assert sorted(tree.rows.tolist()) == list(range(20000))
    assert (tree.end - tree.start)[leaves].sum() == 20000
    np.testing.assert_array_equal(tree.count, tree.end - tree.start)
    assert tree.count[leaves].min() >= 5


def test_few_places_for_histograms_change_nothing(monkeypatch):
    plenty, _ = grown(EXACT, 1, 3000, monkeypatch, max_leaf_nodes=60)
    monkeypatch.setattr(leafwise, "_POOL_BYTES", 1)
    for threads in (1, 2):
        scarce, _ = grown(EXACT, threads, 3000, monkeypatch, max_leaf_nodes=60)
        for name in ("left", "feature", "bin", "gain", "count"):
            np.testing.assert_array_equal(getattr(plenty, name), getattr(scarce, name))


def test_levels_before_gains(monkeypatch):
    tree, _ = grown(EXACT, 1, 3000, monkeypatch, max_leaf_nodes=16, by_level=True)
    assert tree.depth.max() == 4
    assert (np.bincount(tree.depth) == [1, 2, 4, 8, 16]).all()


def test_limits(monkeypatch):
    assert grown(EXACT, 1, 3000, monkeypatch, max_depth=3)[0].depth.max() == 3
    tree, _ = grown(EXACT, 1, 3000, monkeypatch, max_leaf_nodes=None, min_samples_leaf=100)
    assert tree.count[tree.is_leaf].min() >= 100
    assert len(tree.left) > 21
    tree, _ = grown(EXACT, 1, 3000, monkeypatch, min_hessian=200.0)
    assert tree.sum_h[tree.is_leaf].min() >= 200
    stump, _ = grown(EXACT, 1, 3000, monkeypatch, max_leaf_nodes=2)
    assert len(stump.left) == 3
    assert len(grown(EXACT, 1, 3000, monkeypatch, min_samples_leaf=2000)[0].left) == 1


def test_absolute_penalty_sets_leaves_to_zero(monkeypatch):
    tree, _ = grown(EXACT, 1, 3000, monkeypatch, l1=50.0)
    values = tree.values
    expected = -np.sign(tree.sum_g) * np.maximum(np.abs(tree.sum_g) - 50, 0) / tree.sum_h
    np.testing.assert_allclose(values, expected)
    assert grown(EXACT, 1, 3000, monkeypatch, l1=1e9)[0].is_leaf.all()


def test_a_feature_sample_is_drawn_for_each_node(monkeypatch):
    one, _ = grown(EXACT, 1, 3000, monkeypatch, max_features=0.3)
    two, _ = grown(EXACT, 2, 3000, monkeypatch, max_features=0.3)
    np.testing.assert_array_equal(one.feature, two.feature)
    full, _ = grown(EXACT, 1, 3000, monkeypatch)
    assert one.gain.sum() < full.gain.sum()


def test_rows_left_out_are_not_looked_at():
    X, y = data(1000)
    by_row, by_column, bins = table(X)
    rows = np.sort(np.random.default_rng(3).permutation(1000)[:400]).astype(np.int32)
    g = y - y.mean()
    spoilt = g.copy()
    spoilt[np.setdiff1d(np.arange(1000), rows)] *= -0.5
    a = HistogramGrower(by_row, by_column, bins, Growth()).grow(g, np.ones(1000), rows)
    b = HistogramGrower(by_row, by_column, bins, Growth()).grow(spoilt, np.ones(1000), rows)
    np.testing.assert_array_equal(a.feature, b.feature)
    assert a.count[0] == 400


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("form", [PAIR, CONSTANT])
def test_sums_of_leaves_and_new_scores(form, part, threads, monkeypatch):
    """The pass in order of rows finds what the list of every leaf's rows says."""
    X, y = data(20000)
    set_threads(threads)
    by_row, by_column, bins = table(X)
    monkeypatch.setattr(leafwise, "_EXACT_CELLS", 0)
    monkeypatch.setattr(leafwise, "_TEAM_CELLS", 0)
    monkeypatch.setattr(leafwise, "_SHARP_BITS", 64)  # leaves are summed again in either form
    growth = Growth(max_leaf_nodes=12, l2=2.0)
    grower = HistogramGrower(by_row, by_column, bins, growth, constant_hessian=form == CONSTANT)
    rows = np.sort(np.random.default_rng(5).permutation(20000)[:9000]).astype(np.int32) if part else None
    rng = np.random.default_rng(4)
    w = np.empty(0) if form == CONSTANT else 0.5 + rng.random(20000)
    g, h, score = np.empty(20000), np.empty(20000), 0.1 * rng.normal(size=20000)
    before = score.copy()
    tree = grower.grow(g, h, rows, target=Target(SQUARED, y, score, np.empty(0), w, 0, 0.3, update=not part))
    weight = np.ones(20000) if form == CONSTANT else w
    gradient = (before - y) * weight
    np.testing.assert_allclose(g, gradient)
    for leaf in np.flatnonzero(tree.is_leaf):
        own = tree.rows[tree.start[leaf] : tree.end[leaf]]
        assert (tree.leaf_of[own] == leaf).all()
        assert tree.sum_g[leaf] == pytest.approx(gradient[own].sum(), rel=1e-9)
        assert tree.sum_h[leaf] == pytest.approx(weight[own].sum(), rel=1e-9)
        assert tree.values[leaf] == pytest.approx(-0.3 * gradient[own].sum() / (weight[own].sum() + 2.0), rel=1e-9)
        np.testing.assert_allclose(score[own], before[own] + (0.0 if part else tree.values[leaf]))


def test_derivatives_of_losses():
    """Compiled gradients against the differences of the loss, far from 0 as well."""
    y = np.tile([0.0, 1.0, 2.0], 8)
    score = np.repeat([-800.0, -30.0, -1.5, -1e-9, 0.0, 0.7, 30.0, 800.0], 3)
    g, h = np.empty(24), np.empty(24)
    loss_rows(SQUARED, 0, 0, 24, y, score, np.empty(0), True, g, h)
    np.testing.assert_array_equal(g, score - y)
    assert (h == 1).all()
    loss_rows(LOG, 0, 0, 24, y, score, np.empty(0), True, g, h)
    clipped = np.clip(score, -700, 700)
    p, q = 1 / (1 + np.exp(-clipped)), 1 / (1 + np.exp(clipped))
    np.testing.assert_allclose(g, np.where(y > 0.5, -q, p), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(h, p * q, rtol=1e-12, atol=1e-300)
    norm = np.logaddexp(np.logaddexp(score, 0.0), 0.4)
    loss_rows(SOFTMAX, 2, 0, 24, y, score, norm, True, g, h)
    p = np.exp(np.maximum(score - norm, -700))
    np.testing.assert_allclose(g, p - (y == 2), rtol=1e-12, atol=1e-15)
    assert (h >= 0).all()
    np.testing.assert_allclose(h, p * (1 - p), atol=1e-14)


@pytest.mark.parametrize("n", [1, 7, 140, 256])
def test_categories_in_order_of_their_means(n):
    keys = np.random.default_rng(n).integers(0, 40, n).astype(np.float32)
    order = np.zeros(257, np.int64)
    order[:n] = np.sort(np.random.default_rng(1).permutation(400)[:n])
    expected = order[:n][np.lexsort((order[:n], keys))]
    for sort in (sort_categories, sort_categories.python):
        found = order.copy()
        sort(n, keys, found, np.empty(257, np.int64), np.empty(257, np.int64))
        np.testing.assert_array_equal(found[:n], expected)


@pytest.mark.parametrize("seed", range(12))
def test_sets_of_categories_against_all_subsets(seed):
    """The best of all subsets is found, and no bound is below it."""
    rng = np.random.default_rng(seed)
    n, shift, l2 = 7, 20, 0.0 if seed % 2 else 3.0
    g = rng.integers(-4000, 4000, n) * (1 if seed % 3 else rng.integers(0, 2, n))
    h, count = rng.integers(400, 5000, n), rng.integers(40, 90, n)
    if seed % 4 == 0:
        h[2] = 0  # rows that rounding left without a hessian
    cell_g, cell_hc = np.zeros(257, np.int64), np.zeros(257, np.int64)
    cell_g[:n], cell_hc[:n] = g, (h << shift) + count
    sorting, beyond, weight = np.zeros((3, 257), np.int64), np.zeros(257, np.float32), np.zeros(257, np.float32)
    total_g, total_hc, total_h = int(g.sum()), int(cell_hc.sum()), float(h.sum())
    used = told_apart(n, total_g, total_h, shift, cell_g, cell_hc, sorting[0], beyond, weight)
    bound = bound_categories(used, total_g, total_h, 0.1, 0.01, 0.0, beyond, weight)
    best = 0.0
    for chosen in range(1, 1 << (n - 1)):
        left = (chosen >> np.arange(n)) & 1 == 1
        a, b = 0.01 * h[left].sum() + l2, 0.01 * h[~left].sum() + l2
        best = max(best, (0.1 * g[left].sum()) ** 2 / a + (0.1 * g[~left].sum()) ** 2 / b)
    node = Node(total_g, total_hc, shift, 0.1, 0.01, 1, 0.0, 0.0, l2, -np.inf, np.inf)
    gain, size, left_g, left_hc = search_categories(
        cell_g, cell_hc, used, node, 0.0, -1.0, False, sorting, beyond, weight
    )
    assert bound >= best
    assert gain <= best * (1 + 1e-12)
    assert gain >= 0.97 * best  # means are drawn towards the node's, which is not the order of least loss
    chosen = sorting[0, :size]
    assert left_g == g[chosen].sum()
    assert left_hc == cell_hc[chosen].sum()
