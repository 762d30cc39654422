"""Groves: what is derived from leaves, and the walk of many rows against the walk of one."""

import numpy as np
import pytest

from learnt.forestry import Grove, bin_table, grow_binned


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


def test_missing_values_and_double_precision():
    trees, grown, X = grove(missing=True)
    np.testing.assert_allclose(trees.sum(X), sum(tree.predict(X) for tree in grown), atol=1e-12)
    wide = np.nan_to_num(X).astype(np.float64)
    np.testing.assert_allclose(trees.sum(wide), sum(tree.predict(wide) for tree in grown), atol=1e-12)


def test_a_column_beyond_twelve_bits():
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
