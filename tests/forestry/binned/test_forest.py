"""Trees on binned features against scikit-learn's trees where the bins lose nothing, and against the definition."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from learnt.forestry import Grove, bin_table, grow_binned, grow_binned_small
from learnt.forestry.binned import _forest, _random
from learnt.forestry.binned import _random_search as search
from learnt.forestry.binned._grow import middle_edge


def table(n=240, d=4, seed=0):
    """Fewer than 256 values a column, no two splits alike."""
    return np.random.default_rng(seed).normal(size=(n, d))


def classes(X, k):
    score = X[:, 0] + 0.7 * X[:, 1] ** 2 - 0.4 * X[:, 2] + 0.3 * np.sin(5 * X[:, 3])
    return np.digitize(score, np.quantile(score, np.arange(1, k) / k))


def impurity_of(target, criterion, w):
    """Weight times impurity of rows, by the definition."""
    if not len(w):
        return 0.0
    total = 0.0
    for y in target:
        if criterion == "squared_error":
            total += (w * (y - np.average(y, weights=w)) ** 2).sum()
            continue
        share = np.bincount(y, w) / w.sum()
        share = share[share > 0]
        total += w.sum() * ((1 - (share**2).sum()) if criterion == "gini" else -(share * np.log2(share)).sum())
    return total / len(target)


def best_decrease(X, target, criterion, w, min_leaf):
    """The best split there is, by trying all."""
    best = -np.inf
    here = impurity_of(target, criterion, w)
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            side = column <= cut
            if min(side.sum(), (~side).sum()) < min_leaf:
                continue
            both = sum(impurity_of([y[s] for y in target], criterion, w[s]) for s in (side, ~side))
            best = max(best, here - both)
    return best


def assert_every_split_is_best(tree, X, target, criterion, w, limits, nodes=12):
    """Every node has the impurity and value of its rows, and no other split decreases it more."""
    growth = SimpleNamespace(**{**DEFAULTS, **limits})
    inside = tree.decision_path(X).toarray().astype(bool) & (w > 0)[:, None]
    total = tree.weighted_n_node_samples[0]
    np.testing.assert_allclose(total, w.sum())
    for node in range(min(tree.node_count, nodes)):
        rows = inside[:, node]
        part, weight = [y[rows] for y in target], w[rows]
        here = impurity_of(part, criterion, weight)
        assert tree.n_node_samples[node] == rows.sum()
        np.testing.assert_allclose(tree.impurity[node] * weight.sum(), here, atol=1e-9)
        if criterion == "squared_error":
            np.testing.assert_allclose(tree.value[node, :, 0], [np.average(y, weights=weight) for y in part])
        else:
            for o, y in enumerate(part):
                shares = np.bincount(y, weight, minlength=tree.max_n_classes) / weight.sum()
                np.testing.assert_allclose(tree.value[node, o], shares, atol=1e-12)
        best = best_decrease(X[rows], part, criterion, weight, growth.min_samples_leaf)
        if tree.children_left[node] >= 0:
            children = [tree.children_left[node], tree.children_right[node]]
            found = here - (tree.impurity[children] * tree.weighted_n_node_samples[children]).sum()
            np.testing.assert_allclose(found, best, rtol=1e-9)
            assert found / total >= growth.min_impurity_decrease - 1e-12
        elif growth.max_leaf_nodes is None and tree.depths[node] < (growth.max_depth or 99):
            small = rows.sum() < max(growth.min_samples_split, 2 * growth.min_samples_leaf)
            assert small or here < 1e-9 or best < max(growth.min_impurity_decrease * total, 0)


CASES = {
    "two classes": ("gini", lambda X: [classes(X, 2)]),
    "five classes": ("gini", lambda X: [classes(X, 5)]),
    "entropy": ("entropy", lambda X: [classes(X, 2)]),
    "entropy of three": ("entropy", lambda X: [classes(X, 3)]),
    "two outputs": ("gini", lambda X: [classes(X, 2), classes(X[:, ::-1], 3)]),
    "a number": ("squared_error", lambda X: [X[:, 0] + X[:, 1] * X[:, 2]]),
    "numbers": ("squared_error", lambda X: [X[:, 0] + X[:, 1] * X[:, 2], X[:, 3] ** 2]),
}
# Of these, growth of weighted rows and by random thresholds is compiled apart from that of the others.
COMPILED_APART = {"five classes", "entropy of three", "two outputs", "numbers"}
LIMITS = {
    "depth": {"max_depth": 3},
    "leaf": {"min_samples_leaf": 12, "max_depth": 4},
    "split": {"min_samples_split": 40},
    "leaves": {"max_leaf_nodes": 7},
    "decrease": {"min_impurity_decrease": 0.02},
}


DEFAULTS = {
    "max_depth": None,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "max_leaf_nodes": None,
    "min_impurity_decrease": 0.0,
}


def apart(cases, *rest):
    """Parameters of tests, of which those that are compiled apart are marked long."""
    return [pytest.param(case, *rest, marks=[pytest.mark.long] * (case in COMPILED_APART)) for case in cases]


def grown(X, target, criterion="gini", weights=None, seed=3, **limits):
    y = np.array(target).T
    classes = None if criterion == "squared_error" else y.max(axis=0) + 1
    table = bin_table(X, random_splits=limits.get("random_splits", False))
    tree = grow_binned(table, y, criterion=criterion, n_classes=classes, weights=weights, seed=seed, **limits)
    tree.validate()
    return tree


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize(("case", "weighted"), [*((case, False) for case in CASES), *apart(CASES, True)])
@pytest.mark.sweep
def test_every_split_is_the_best_there_is(case, limit, weighted):
    X = table(n=150)
    criterion, make = CASES[case]
    rng = np.random.default_rng(1)
    w = rng.integers(0, 4, size=len(X)) * rng.uniform(0.5, 1.5, size=len(X)) if weighted else np.ones(len(X))
    tree = grown(X, make(X), criterion, w, **LIMITS[limit])
    assert 3 < tree.n_leaves < 60
    assert_every_split_is_best(tree, X, make(X), criterion, w, LIMITS[limit])


@pytest.mark.parametrize("case", CASES)
def test_large_nodes_are_the_sum_over_bins(case):
    """The same splits from histograms (many rows) as from all distinct values."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))[rng.integers(40, size=6000)]
    criterion, make = CASES[case]
    limits = {"max_depth": 2, "min_samples_leaf": 5}
    tree = grown(X, make(X), criterion, **limits)
    assert_every_split_is_best(tree, X, make(X), criterion, np.ones(len(X)), limits, nodes=3)


@pytest.mark.parametrize("leaves", [3, 6])
@pytest.mark.parametrize("case", ["two classes", "a number"])
def test_best_first_is_scikit_learns(case, leaves):
    X = table()
    criterion, make = CASES[case]
    w = np.random.default_rng(1).uniform(0.5, 1.5, size=len(X))
    model = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
    theirs = model(max_leaf_nodes=leaves).fit(X, make(X)[0], sample_weight=w).tree_
    tree = grown(X, make(X), criterion, w, max_leaf_nodes=leaves)
    assert tree.n_leaves == leaves
    np.testing.assert_allclose(tree.predict(X), theirs.predict(X.astype(np.float32)).reshape(len(X), -1), atol=1e-12)


@pytest.mark.parametrize("n", [240, 4000])
@pytest.mark.parametrize("case", ["two classes", "five classes", "a number"])
def test_missing_values_go_where_the_gain_is(case, n):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 4))[rng.integers(200, size=n)]
    criterion, make = CASES[case]
    target = make(X)
    X[:, 0][rng.random(n) < 0.2] = np.nan
    X[:, 1][X[:, 1] > 0.8] = np.nan  # missing says something
    model = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
    theirs = model(max_depth=3).fit(X, target[0]).tree_
    tree = grown(X, target, criterion, max_depth=3)
    assert np.isnan(X[:, tree.feature[0]]).any()
    np.testing.assert_allclose(tree.predict(X), theirs.predict(X.astype(np.float32)).reshape(n, -1), atol=1e-12)


@pytest.mark.parametrize("case", apart(CASES))
def test_random_thresholds_are_splits_of_the_rows(case):
    X = table(n=500)
    X[:, 3][::7] = np.nan
    criterion, make = CASES[case]
    target = make(np.nan_to_num(X))
    trees = [
        grown(X, target, criterion, seed=seed, max_features=2, random_splits=True, min_samples_leaf=3)
        for seed in (1, 2)
    ]
    for tree in trees:
        leaves = tree.apply(X)
        counts = np.bincount(leaves, minlength=tree.node_count)
        inner = tree.children_left >= 0
        np.testing.assert_array_equal(counts[~inner], tree.n_node_samples[~inner])
        assert counts[~inner].min() >= 3
        assert tree.n_leaves > 30
    assert not np.array_equal(trees[0].threshold[:3], trees[1].threshold[:3])


@pytest.mark.parametrize("d", [5, pytest.param(70, marks=pytest.mark.long)])
@pytest.mark.parametrize("case", ["two classes", "a number"])
def test_random_splits_of_weighted_rows_are_those_of_repeated_rows(case, d):
    """With one column drawn the draws are the same."""
    X = table(n=200, d=d)
    criterion, make = CASES[case]
    w = np.random.default_rng(1).integers(1, 5, size=len(X))
    limits = {"max_features": 1, "random_splits": True}
    tree = grown(X, make(X), criterion, w.astype(float), **limits)
    repeated = grown(np.repeat(X, w, axis=0), [np.repeat(y, w) for y in make(X)], criterion, **limits)
    assert tree.node_count > 40
    for name in ("feature", "threshold", "children_left", "weighted_n_node_samples"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(repeated, name))
    np.testing.assert_allclose(tree.value, repeated.value, atol=1e-12)
    np.testing.assert_allclose(tree.impurity, repeated.impurity, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("d", "max_features"), [(5, 2), *[pytest.param(*wide, marks=pytest.mark.long) for wide in ((70, 5), (140, 60))]]
)
@pytest.mark.parametrize("case", ["two classes", "a number"])
def test_limits_of_random_splits(case, d, max_features, weighted):
    X = table(n=700, d=d)
    X[:, 4] = 1.0
    criterion, make = CASES[case]
    w = np.random.default_rng(1).integers(1, 9, size=len(X)).astype(float) if weighted else None
    limits = {"max_features": max_features, "random_splits": True, "min_weight_leaf": 9.0, "min_samples_leaf": 4}
    # A tree ends where every threshold that was drawn leaves too few rows, which may be at the root.
    seed = next(seed for seed in range(20) if grown(X, make(X), criterion, w, seed, **limits).n_leaves > 8)
    tree = grown(X, make(X), criterion, w, seed, **limits)
    leaf = tree.children_left < 0
    weights = np.ones(len(X)) if w is None else w
    np.testing.assert_array_equal(
        np.bincount(tree.apply(X), minlength=tree.node_count)[leaf], tree.n_node_samples[leaf]
    )
    np.testing.assert_allclose(
        np.bincount(tree.apply(X), weights, tree.node_count)[leaf], tree.weighted_n_node_samples[leaf]
    )
    assert tree.n_node_samples[leaf].min() >= 4
    assert tree.weighted_n_node_samples[leaf].min() >= 9
    assert 4 not in tree.feature
    one = grown(X, make(X), criterion, w, seed, **limits, max_depth=1)
    np.testing.assert_array_equal(one.threshold, [tree.threshold[0], -2, -2])
    assert grown(X, make(X), criterion, w, **limits, min_impurity_decrease=1e3).node_count == 1


@pytest.mark.parametrize("case", ["two classes", "a number"])
def test_random_thresholds_are_drawn_along_the_values(case):
    """Of 0, 1 and 10 a threshold drawn from one end to the other is above 1 nine times in ten."""
    X = np.repeat([0.0, 1.0, 10.0], 20)[:, None]
    y = (np.arange(60) % 2) if case == "two classes" else np.arange(60.0)
    roots = [grown(X, [y], CASES[case][0], seed=s, random_splits=True, max_depth=1).threshold[0] for s in range(400)]
    assert set(roots) == {0.5, 5.5}
    assert 0.06 < np.mean(np.array(roots) == 0.5) < 0.14


def test_of_random_splits_the_best_is_taken():
    """One column says all: drawn together with the others, it is the one."""
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(500, 5)), np.repeat([0.0, 1.0], 250)]
    for target, criterion in ((X[:, 5].astype(int), "gini"), (1e6 + X[:, 5], "squared_error")):
        tree = grown(X, [target], criterion, max_features=6, random_splits=True)
        assert tree.feature.tolist() == [5, -2, -2]


def test_grown_to_the_end_every_leaf_is_pure():
    X = table(n=3000, d=6)
    y = classes(X, 2)
    tree = grown(X, [y], max_features=2)
    leaf = tree.children_left < 0
    assert tree.impurity[leaf].max() == 0
    np.testing.assert_array_equal(tree.predict(X).argmax(axis=1), y)


def test_equal_rows_with_different_labels_share_a_leaf():
    X = np.repeat(np.array([[1.0, 2.0], [3.0, 4.0]]), 10, axis=0)
    tree = grown(X, [np.r_[np.arange(10) % 2, np.ones(10, dtype=int)]], max_features=1)
    assert tree.node_count == 3
    np.testing.assert_allclose(tree.predict(X[:1]), [[0.5, 0.5]])


def test_what_cannot_be_split_is_a_leaf():
    for value in (1.0, np.nan):
        assert grown(np.full((20, 3), value), [np.arange(20) % 2], max_features=1).node_count == 1
    one = grown(table(n=1), [[4.0]], "squared_error")
    assert one.node_count == 1
    assert one.value.ravel() == [4.0]
    alone = grown(table(n=20), [np.zeros(20, dtype=int)])
    assert alone.node_count == 1
    assert alone.value.ravel() == [1.0]


def test_a_search_continues_until_a_column_varies():
    X = np.zeros((60, 40))
    X[:, 17] = np.arange(60)
    assert grown(X, [np.arange(60) // 30], max_features=1).feature.tolist() == [17, -2, -2]


def test_weights_of_zero_are_rows_left_out():
    X = table(n=400)
    keep = np.random.default_rng(0).random(400) < 0.5
    tree = grown(X, [classes(X, 3)], weights=keep.astype(float))
    leaf = tree.children_left < 0
    assert tree.n_node_samples[0] == keep.sum()
    np.testing.assert_array_equal(np.bincount(tree.apply(X[keep]))[leaf], tree.n_node_samples[leaf])


def test_a_wide_table_is_read_by_columns():
    X = table(n=300, d=90)
    y = classes(X, 2)
    theirs = DecisionTreeClassifier(max_depth=2).fit(X, y)
    np.testing.assert_allclose(grown(X, [y], max_depth=2).predict(X), theirs.predict_proba(X), atol=1e-12)


def test_a_deep_tree_needs_no_recursion():
    """Every leaf takes one value from the end: as deep as there are bins."""
    X = np.arange(250.0)[:, None]
    tree = grown(X, [4.0 ** (X.ravel() - 125)], "squared_error")
    assert tree.max_depth > 200
    np.testing.assert_allclose(tree.predict(X).ravel(), 4.0 ** (X.ravel() - 125))


def test_the_seed_decides():
    X = table(n=500, d=10)
    y = [classes(X, 2)]
    same = [grown(X, y, max_features=3, seed=8).feature for _ in range(2)]
    np.testing.assert_array_equal(*same)
    assert not np.array_equal(same[0][:9], grown(X, y, max_features=3, seed=9).feature[:9])


@pytest.mark.parametrize("random_splits", [False, True])
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_a_grove_of_one_tree_equals_the_tree(classes, random_splits):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)).astype(np.float32)
    y = X[:, 0] * X[:, 1] if classes == 1 else np.digitize(X[:, 0] + X[:, 1] ** 2, [0.3, 1.2][: classes - 1]) * 1.0
    options = {"criterion": "squared_error"} if classes == 1 else {"criterion": "gini", "n_classes": [classes]}
    options |= {"max_features": 2, "random_splits": random_splits, "min_samples_leaf": 3, "seed": 5}
    table = bin_table(X, random_splits=random_splits)
    tree = grow_binned(table, y, **options)
    small, importances = grow_binned_small(table, y, **options)
    grove = small.grove()
    expected = Grove.of([tree], options["criterion"])
    for name in ("feature", "threshold", "missing_left", "value", "count", "weight", "impurity", "sizes"):
        np.testing.assert_array_equal(getattr(grove, name), getattr(expected, name))
    np.testing.assert_allclose(importances, tree.compute_feature_importances(), atol=1e-12)


def test_a_tree_of_one_leaf_has_no_importances():
    small, importances = grow_binned_small(bin_table(np.zeros((5, 2))), np.arange(5.0), criterion="squared_error")
    grove = small.grove()
    assert importances is None
    np.testing.assert_array_equal(grove.value, [[2.0]])


@pytest.mark.parametrize("random_splits", [False, pytest.param(True, marks=pytest.mark.long)])
def test_long_rows_grow_the_same_tree(random_splits, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 80))
    options = {"criterion": "gini", "n_classes": [2], "max_features": 9, "random_splits": random_splits}
    alone = bin_table(X, random_splits=random_splits)
    monkeypatch.setattr(_forest, "_LINE", 80)
    both = bin_table(X, random_splits=random_splits)
    assert alone.rows_begin == 0
    assert both.codes.size > alone.codes.size
    first, second = (grow_binned(table, X[:, 0] + X[:, 1] > 0, **options) for table in (alone, both))
    np.testing.assert_array_equal(first.threshold, second.threshold)
    np.testing.assert_array_equal(first.feature, second.feature)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [None, [2]])
def test_rows_that_are_brought_together_grow_the_same_tree(classes, weighted, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 5))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=700)
    options = {"criterion": "gini" if classes else "squared_error", "n_classes": classes, "random_splits": True}
    options |= {"max_features": 3, "weights": rng.integers(0, 4, 700).astype(np.uint8) if weighted else None}
    table, trees = bin_table(X, random_splits=True), []
    for room in (10_000, 300, 20, 2):
        monkeypatch.setattr(_random, "_NEAR", room)
        trees.append(grow_binned(table, y > 1 if classes else y, **options))
    assert trees[0].node_count > 100
    for tree in trees[1:]:
        for name in ("feature", "threshold", "value", "n_node_samples", "impurity"):
            np.testing.assert_array_equal(getattr(tree, name), getattr(trees[0], name))


@pytest.mark.parametrize("mask", [0, 3])
@pytest.mark.parametrize("classes", [False, True])
def test_a_handful_of_rows_is_split_as_many_are(classes, mask):
    """By the same draws: whole numbers of another step are all that differs, so that only a tie may fall otherwise."""
    rng = np.random.default_rng(2)
    step, d, same, bits = 32, 9, 0, int(classes)
    places = bin_table(rng.normal(size=(2000, d)), random_splits=True).bins.places
    for trial in range(200):
        m = int(rng.integers(3, search.FEW + 1))
        codes = np.zeros((m, step), np.uint8)
        codes[:, :d] = rng.integers(0, 250, size=(m, d)) // rng.integers(1, 200, size=d)
        weight = rng.integers(1, 4, size=m) if mask else np.ones(m, np.int64)
        label = rng.permutation(m) % 2
        shift = bits + 2 * (mask > 0)
        marks = ((np.arange(m) << shift) | (weight << bits if mask else 0) | (label if classes else 0)).astype(
            np.uint32
        )
        ys = None if classes else rng.normal(size=m)
        wt, mean, extent = float(weight.sum()), 0.0, 1.0
        if not classes:
            mean = np.average(ys, weights=weight)
            extent = np.abs(ys - mean).max()
        min_leaf = 1 + trial % 2
        piece, heaviest = 255 // 3 if classes else 32, 3 if mask else 1
        rules = search.Rules(shift, bits, mask, piece, heaviest, 4, 9, 2, min_leaf, 0.0, 0.0)
        table = search.Table(codes.reshape(-1), step, np.empty(0, np.uint8), np.empty((d, 0)), places)
        found = []
        for few in (True, False):
            best, out = np.array([-1.0, 1.0]), np.full(search.N_FOUND, -1)
            draws = search.Draws(np.arange(d, dtype=np.int32), np.array([trial + 1, 7]), np.zeros(d, np.int32))
            if few:
                room = np.zeros((search.N_FEW, search.FEW), np.int64)
                node = search.Node(0, m, wt, 0.0)
                search.search_few(table.rows, table, marks, ys, node, mean, extent, rules, draws, room, best, out)
            else:
                amounts = sums = None
                total = float((weight * label).sum())
                if not classes:
                    amounts, sums = np.zeros(m, np.int16), np.zeros(step, np.float32)
                    total = float(search.distances(0, m, mean, extent, rules, marks, ys, 0, amounts))
                lanes = [np.zeros(step, np.uint8 if k < 3 else np.int32) for k in range(7)]
                lanes, node = search.Lanes(*lanes, sums), search.Node(0, m, wt, total)
                search.search_all(table.rows, table, marks, node, rules, amounts, draws, lanes, best, out)
            found.append(out[:3].tolist() if out[search.COLUMN] >= 0 else None)
        same += found[0] == found[1]
    assert same == 200 if classes else same >= 195


def test_classes_are_cut_at_the_edge_nearest_to_the_middle_and_numbers_with_as_many_bins_on_either_side():
    edges = np.sort(np.random.default_rng(0).lognormal(size=(1, 40)))
    for first in range(0, 39, 3):
        for last in range(first, 40, 2):
            inside = edges[0, first : last + 1]
            middle = 0.5 * (inside[0] + inside[-1])
            nearest = first + int(np.abs(inside - middle).argmin())
            assert middle_edge(edges, 0, first, last, True) == nearest
            assert middle_edge(edges, 0, first, last, False) == (first + last) // 2


def test_the_gap_of_a_node_is_cut_where_its_middle_is():
    """Two rows far apart in a column whose other rows lie at its left end."""
    X = np.append(np.linspace(0, 1, 100), [8.0, 9.0])[:, None]
    weights = np.zeros(102)
    weights[[0, 101]] = 1
    edges = bin_table(X).bins.edges[0]
    tree = grow_binned(bin_table(X), np.arange(102) > 50, criterion="gini", n_classes=[2], weights=weights)
    middle = 0.5 * (edges[0] + edges[100])
    assert tree.threshold[0] == edges[np.abs(edges[:101] - middle).argmin()] == 4.5
