"""Groves: what is derived from leaves, and the walk of many rows against the walk of one."""

import numpy as np
import pytest

from learnt.forestry import Columns, Grove, Tree, bin_table, grow_binned, grow_exact


def grove(n=400, d=5, classes=3, trees=6, missing=False, **limits):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.3, 1.2][: classes - 1]) if classes > 1 else X[:, 0] * X[:, 1]
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    table = bin_table(X)
    options = {"criterion": "gini", "n_classes": [classes]} if classes > 1 else {"criterion": "squared_error"}
    grown = [grow_binned(table, y.astype(float), seed=s, max_features=2, **options, **limits) for s in range(trees)]
    return Grove.of(grown, options["criterion"]), grown, X


@pytest.mark.parametrize("classes", [1, 2, 3])
@pytest.mark.parametrize("n", [40, 1027])
def test_many_rows_arrive_where_one_does(classes, n):
    trees, grown, _ = grove(classes=classes)
    X = np.random.default_rng(1).normal(size=(n, 5)).astype(np.float32)
    expected = sum(tree.predict(X).reshape(n, -1) for tree in grown)
    np.testing.assert_allclose(trees.sum(X), expected, atol=1e-12)
    np.testing.assert_array_equal(trees.sum(X), trees.packed.sum(X))
    np.testing.assert_array_equal(trees.sum(np.asfortranarray(X)), trees.sum(X))
    np.testing.assert_allclose(trees.sum(X, 2, 4), sum(t.predict(X).reshape(n, -1) for t in grown[2:4]), atol=1e-12)


def test_values_at_a_threshold_go_left():
    trees, grown, X = grove(classes=1)
    edge = np.repeat(X[:1], 64, axis=0)
    for row, node in enumerate(np.flatnonzero(grown[0].feature >= 0)[:64]):
        edge[row, grown[0].feature[node]] = grown[0].threshold[node]  # rounded to float32, up or down
    np.testing.assert_allclose(trees.sum(edge, 0, 1), grown[0].predict(edge).reshape(64, -1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [1, 3])
def test_missing_values_in_both_precisions(classes, dtype):
    trees, grown, X = grove(missing=True, classes=classes)
    for rows in (X.astype(dtype), np.nan_to_num(X).astype(dtype), X[:9].astype(dtype)):
        expected = sum(tree.predict(rows).reshape(len(rows), -1) for tree in grown)
        np.testing.assert_allclose(trees.sum(rows), expected, atol=1e-12)
        np.testing.assert_array_equal(trees.apply(rows)[:, 0], trees.tree(0).apply(rows))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_at_the_ends_of_what_there_is(dtype):
    X = np.array([-3e38, -1e-40, -0.0, 0.0, 1e-40, 1.0, 3e38, np.nan] * 16, dtype)[:, None]
    y = np.tile(np.arange(8.0), 16)
    y[2::8] = 3.0  # −0 is 0
    tree = grow_binned(bin_table(X), y, criterion="squared_error")
    np.testing.assert_array_equal(Grove.of([tree], "squared_error").sum(X).ravel(), y)
    only_missing = Tree(
        1, [1], children_left=[1, -1, -1], children_right=[2, -1, -1], feature=[0, -2, -2],
        threshold=[np.inf, -2, -2], value=[[[0.0]], [[-1.0]], [[1.0]]],
    )  # fmt: skip
    far = np.append(X, np.full((1, 1), np.inf, dtype), axis=0)
    expected = np.where(np.isnan(far), 1.0, -1.0)
    np.testing.assert_array_equal(Grove.of([only_missing], "squared_error").sum(far), expected)


def test_trees_of_more_thresholds_than_a_byte_has():
    X = np.random.default_rng(0).normal(size=(600, 2))
    tree = grow_exact(Columns(X), X[:, :1] + X[:, 1:], criterion="squared_error")
    trees = Grove.of([tree], "squared_error")
    np.testing.assert_array_equal(trees.sum(X), tree.predict(X).reshape(-1, 1))
    single = X.astype(np.float32)
    np.testing.assert_array_equal(trees.sum(single), tree.predict(single).reshape(-1, 1))


def test_a_column_far_to_the_right():
    X = np.zeros((200, 5000), dtype=np.float32)
    X[:, 4321] = np.arange(200)
    tree = grow_binned(bin_table(X), (np.arange(200) > 99) * 1.0, criterion="squared_error")
    assert tree.feature[0] == 4321
    np.testing.assert_array_equal(Grove.of([tree], "squared_error").sum(X).ravel(), np.arange(200) > 99)


def test_a_tree_comes_back_as_it_was():
    trees, grown, X = grove(max_leaf_nodes=9)
    for t, tree in enumerate(grown):
        again = trees.tree(t)
        again.validate()
        np.testing.assert_array_equal(again.predict(X), tree.predict(X))
        np.testing.assert_array_equal(trees.apply(X)[:, t], again.apply(X))
        for name in ("impurity", "n_node_samples", "weighted_n_node_samples"):
            np.testing.assert_allclose(np.sort(getattr(again, name)), np.sort(getattr(tree, name)), atol=1e-12)


def test_leaves_that_close_a_tree_too_early_are_refused():
    trees, _, X = grove(trees=1, max_leaf_nodes=5)
    feature = trees.feature.copy()
    leaf = np.flatnonzero(feature < 0)[0]
    feature[leaf], feature[0] = feature[0], -1
    names = ("n_classes", "criterion", "sizes", "threshold", "missing_left", "value", "count", "weight", "impurity")
    rest = {name: getattr(trees, name) for name in (*names, "table_start", "table")}
    wrong = Grove(n_features=5, feature=feature, **rest)
    for rows in (X, X[:1]):
        with pytest.raises(ValueError, match="too early"):
            wrong.sum(rows)


@pytest.mark.parametrize("kind", ["numbers", "classes", "categories"])
@pytest.mark.parametrize("walked", [False, True], ids=["as given", "laid out before"])
def test_joined_groves_equal_the_grove_of_all_trees(kind, walked):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    X[:, 3] = rng.integers(0, 6, size=300)
    y = X[:, 0] * X[:, 1] + (X[:, 3] % 3)
    weights = rng.random(300) if kind == "numbers" else None  # not whole: the leaves' weights need all digits
    columns = Columns(X, [0, 0, 0, 6] if kind == "categories" else None)
    options = {"criterion": "squared_error", "weights": weights, "min_samples_leaf": 3}
    if kind == "classes":
        y, options = np.digitize(y, [0, 1]), {"criterion": "gini", "n_classes": [3], "min_samples_leaf": 3}
    grown = [grow_exact(columns, y, max_features=2, seed=s, **options) for s in range(5)]
    whole = Grove.of(grown, options["criterion"])
    parts = [Grove.of(grown[:2], options["criterion"]), Grove.of(grown[2:], options["criterion"])]
    for part in parts if walked else []:
        part.sum(X)
    joined = Grove.join(parts)
    assert len(whole.table) > 0 or kind != "categories"
    for name in ("sizes", "feature", "threshold", "missing_left", "value", "count", "weight", "impurity", "table"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name), err_msg=name)
        assert getattr(joined, name).dtype == getattr(whole, name).dtype
    np.testing.assert_array_equal(joined.table_start, whole.table_start)
    np.testing.assert_array_equal(joined.sum(X), whole.sum(X))
    np.testing.assert_array_equal(joined.apply(X), whole.apply(X))
    for t, tree in enumerate(grown):
        found = joined.tree(t)
        np.testing.assert_array_equal(found.apply(X), tree.apply(X))
        np.testing.assert_array_equal(found.weighted_n_node_samples > 0, tree.weighted_n_node_samples > 0)
        leaf = tree.is_leaf
        np.testing.assert_array_equal(found.value[leaf], tree.value[leaf])
        np.testing.assert_array_equal(found.weighted_n_node_samples[leaf], tree.weighted_n_node_samples[leaf])
