"""Shapley values of trees against their definition, by enumeration."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest

from learnt.forestry import BoostedTrees, Growth, HistogramGrower, find_bins, from_grown


def boosted(categories, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 4))
    X[:, 3] = rng.integers(0, 8, 400)
    X[rng.random(400) < 0.15, 1] = np.nan
    bins = find_bins(X, categories={3: 8} if categories else None)
    by_column, by_row = bins.encode(X, rows=True)
    growth = Growth(max_leaf_nodes=9, min_samples_leaf=5)
    trees = []
    for target in (X[:, 0] * np.nan_to_num(X[:, 1], nan=2.0), np.sin(X[:, 3]) + X[:, 2] * X[:, 0]):
        tree = HistogramGrower(by_row, by_column, bins, growth).grow(target.mean() - target, np.ones(400))
        trees.append(from_grown([tree], [tree.values], bins, 4, 1, [0]))
    return X, BoostedTrees.empty(4, 1).extended(trees)


def expected(trees, x, known):
    """What the trees say where only the columns in `known` are known."""

    def below(node):
        if trees.feature[node] == -1:
            return trees.threshold[node]
        column = trees.feature[node] if trees.feature[node] >= 0 else -2 - trees.feature[node]
        left, right = trees.children(node)
        if column in known:
            if trees.feature[node] < -1:
                at = trees.left[node]
                code = x[column]
                entry = 1 if np.isnan(code) else 2 + int(code) if 0 <= code < trees.table[at] - 2 else 0
                return below(trees.table[at + 1 + entry])
            goes_left = trees.missing_left[node] if np.isnan(x[column]) else x[column] <= trees.threshold[node]
            return below(left if goes_left else right)
        share = trees.cover[left] / trees.cover[node]
        return share * below(left) + (1 - share) * below(right)

    return sum(below(root) for root in trees.roots)


def by_definition(trees, x):
    d = trees.n_features
    out = np.zeros(d + 1)
    for j in range(d):
        others = [k for k in range(d) if k != j]
        for size in range(d):
            weight = factorial(size) * factorial(d - size - 1) / factorial(d)
            for chosen in combinations(others, size):
                out[j] += weight * (expected(trees, x, {*chosen, j}) - expected(trees, x, set(chosen)))
    out[d] = expected(trees, x, set())
    return out


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_shapley_values_are_those_of_the_definition(categories, seed):
    X, trees = boosted(categories, seed)
    rows = np.vstack([X[:6], [[0.1, np.nan, -2.0, 7.0]], [[np.nan, 0.0, 1.0, np.nan]], [[0.0, 0.0, 0.0, -1.0]]])
    found = trees.contributions(rows)[:, 0]
    for x, values in zip(rows, found, strict=True):
        np.testing.assert_allclose(values, by_definition(trees, x), atol=1e-10)
    np.testing.assert_allclose(found.sum(axis=1), trees.packed.sum(rows)[:, 0])


def test_a_column_that_no_tree_uses_adds_nothing():
    X, trees = boosted(False, 0)
    used = set(trees.feature[trees.feature >= 0].tolist())
    found = trees.contributions(X[:50])[:, 0]
    for j in range(4):
        assert (np.abs(found[:, j]).max() > 0) == (j in used)


def test_files_cannot_hold_trees_that_lead_outside():
    _, trees = boosted(True, 0)
    trees.validate()
    for name, place, value in [
        ("left", 0, 10**6),
        ("left", 0, 0),
        ("feature", 0, 4),
        ("roots", 1, 0),
        ("outputs", 0, 1),
        ("table", 0, 10**6),
        ("table", 3, 10**6),
    ]:
        arrays = {key: array.copy() for key, array in trees.fields().items()}
        arrays[name][place] = value
        with pytest.raises(ValueError, match="boosted trees"):
            BoostedTrees(4, 1, **arrays).validate()


def test_the_first_trees():
    X, trees = boosted(True, 0)
    first = trees.first(1)
    first.validate()
    np.testing.assert_array_equal(first.packed.sum(X), trees.packed.sum(X, last=1))


def test_a_path_far_longer_than_there_are_columns():
    """A chain: every split takes the largest value off, in one of two columns that say the same."""
    from learnt.ensemble import HistGradientBoostingRegressor

    X = np.column_stack([np.arange(250.0), np.arange(250.0)[::-1] % 97])
    y = 1.5 ** np.arange(250.0)
    settings = {"max_iter": 2, "max_leaf_nodes": None, "min_samples_leaf": 1, "learning_rate": 1.0}
    model = HistGradientBoostingRegressor(early_stopping=False, **settings).fit(X, y)
    assert model._trees.depth > 10
    parts = model.contributions(X)
    np.testing.assert_allclose(parts.sum(axis=1), model.predict(X), atol=1e-10 * y.max())


# --- single trees and forests


def expected_of_tree(tree, x, known):
    """What one tree says where only the columns in `known` are known, each branch by its share of the rows."""

    def below(node):
        children = tree.children(node)
        if not len(children):
            return tree.value[node, 0]
        weights = tree.weighted_n_node_samples[children]
        if tree.feature[node] not in known:
            return sum(w * below(c) for w, c in zip(weights / weights.sum(), children))
        cell = x[tree.feature[node]]
        if tree.table_start[node] >= 0:
            size = tree.table_size[node]
            entry = 1 if np.isnan(cell) else 2 + int(cell) if 0 <= cell < size - 2 else 0
            return below(tree.table[tree.table_start[node] + entry])
        left = tree.missing_go_to_left[node] if np.isnan(cell) else np.float32(cell) <= tree.threshold[node]
        return below(children[0] if left else children[1])

    return below(0)


def by_definition_of_trees(trees, x, d):
    out = np.zeros((d + 1, trees[0].max_n_classes))
    for tree in trees:
        for j in range(d):
            others = [k for k in range(d) if k != j]
            for size in range(d):
                weight = factorial(size) * factorial(d - size - 1) / factorial(d)
                for chosen in combinations(others, size):
                    gained = expected_of_tree(tree, x, {*chosen, j}) - expected_of_tree(tree, x, set(chosen))
                    out[j] += weight * gained / len(trees)
        out[d] += expected_of_tree(tree, x, set()) / len(trees)
    return out


def missing_and_categories(n=300):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    X[:, 3] = rng.integers(0, 6, n)
    X[rng.random(n) < 0.15, 1] = np.nan
    return X, X[:, 0] * np.nan_to_num(X[:, 1], nan=2.0) + np.sin(2 * X[:, 3])


@pytest.mark.parametrize("split", ["subset", "multiway"])
def test_a_tree_of_categories_and_missing_cells(split):
    from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, y = missing_and_categories()
    settings = {"max_depth": 5, "categorical_features": [3], "categorical_split": split, "random_state": 0}
    rows = np.vstack([X[:5], [[0.1, np.nan, -2.0, np.nan]], [[0.0, 0.0, 0.0, 9.0]]]).astype(np.float32)
    tree = DecisionTreeRegressor(**settings).fit(X, y)
    for x, found in zip(rows, tree.contributions(rows), strict=True):
        np.testing.assert_allclose(found, by_definition_of_trees([tree.tree_], x, 4)[:, 0], atol=1e-10)
    tree = DecisionTreeClassifier(**settings).fit(X, np.digitize(y, [-0.5, 0.5]))
    parts = tree.contributions(rows)
    for x, found in zip(rows, parts, strict=True):
        np.testing.assert_allclose(found, by_definition_of_trees([tree.tree_], x, 4).T, atol=1e-10)
    np.testing.assert_allclose(parts.sum(axis=2), tree.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_a_forest_is_the_mean_of_its_trees(kind):
    from learnt import ensemble

    X, y = missing_and_categories()
    forest = getattr(ensemble, f"{kind}Classifier")(5, max_leaf_nodes=12, random_state=0).fit(X, y > 0)
    parts = forest.contributions(X[:6])
    assert parts.shape == (6, 5)
    for x, found in zip(X, parts):
        wanted = by_definition_of_trees([member.tree_ for member in forest.estimators_], x, 4)
        np.testing.assert_allclose(found, wanted[:, 1], atol=1e-10)
    forest = getattr(ensemble, f"{kind}Regressor")(5, random_state=0).fit(X, y)
    parts = forest.contributions(X[:50])
    np.testing.assert_allclose(parts.sum(axis=1), forest.predict(X[:50]), atol=1e-9)
    np.testing.assert_allclose(forest.contributions(X[7:8]), parts[7:8], atol=1e-12)


def test_what_trees_do_not_explain():
    from learnt.tree import DecisionTreeRegressor

    X, y = missing_and_categories()
    with pytest.raises(ValueError, match="for one output; y had 2 columns"):
        DecisionTreeRegressor(max_depth=2).fit(X, np.column_stack([y, -y])).contributions(X)
    with pytest.raises(ValueError, match="missing cells go by other columns"):
        DecisionTreeRegressor(max_depth=3, missing="surrogate").fit(X, y).contributions(X)
