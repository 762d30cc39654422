"""Packed trees say what the trees say."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from learnt.engine.threads import set_threads
from learnt.forestry import Tree
from learnt.forestry.kept._packed import PackedTrees


@pytest.fixture(autouse=True)
def _threads():
    yield
    set_threads(None)


def converted(tree):
    names = ("children_left", "children_right", "feature", "threshold", "missing_go_to_left", "value")
    return Tree(tree.n_features, tree.n_classes, **{name: getattr(tree, name) for name in names})


@pytest.fixture(scope="module")
def forest():
    X, y = make_classification(600, 8, n_informative=6, n_classes=3, random_state=0)
    X = X.astype(np.float32)
    X[::7, 2] = np.nan
    return X, RandomForestClassifier(12, random_state=0).fit(X, y)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_and_leaves_of_a_forest(forest, dtype, order, threads):
    X, model = forest
    set_threads(threads)
    packed = PackedTrees.from_trees([converted(member.tree_) for member in model.estimators_])
    many = np.asarray(np.tile(X, (4, 1)), dtype=dtype, order=order)
    np.testing.assert_allclose(packed.sum(many)[: len(X)] / 12, model.predict_proba(X))
    np.testing.assert_array_equal(packed.apply(many)[-len(X) :], model.apply(X))


def test_every_number_of_rows(forest):
    X, model = forest
    packed = PackedTrees.from_trees([converted(member.tree_) for member in model.estimators_])
    expected = packed.sum(X)
    for n in (1, 2, 7, 8, 9, 63, 64, 65, 71):
        np.testing.assert_array_equal(packed.sum(X[:n]), expected[:n])


def test_one_number_a_leaf_and_a_range_of_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    model = RandomForestRegressor(6, random_state=0).fit(X, X[:, 0])
    trees = [converted(member.tree_) for member in model.estimators_]
    packed = PackedTrees.from_trees(trees, columns=[0, 1, 2, 0, 1, 2], n_outputs=3)
    assert packed.nodes.itemsize == 16
    expected = np.column_stack([trees[k].predict(X) + trees[k + 3].predict(X) for k in range(3)])
    np.testing.assert_allclose(packed.sum(X), expected)
    np.testing.assert_allclose(packed.sum(X, first=3), packed.sum(X) - packed.sum(X, last=3), atol=1e-12)


def test_tables_of_categories():
    tree = Tree(
        1, [1],
        value=[[[0.0]], [[1.0]], [[2.0]], [[3.0]]],
        children_left=[1, -1, -1, -1], children_right=[3, -1, -1, -1],
        feature=[0, -2, -2, -2], threshold=[np.nan, -2, -2, -2],
        table_start=[0, -1, -1, -1], table_size=[5, 0, 0, 0], table=[3, 2, 1, 1, 2],
    )  # fmt: skip
    tree.validate()
    X = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan], [-1.0], [1e300], [0.0], [np.inf]])
    packed = PackedTrees.from_trees([tree, tree])
    np.testing.assert_array_equal(packed.sum(X).ravel(), 2 * tree.predict(X).ravel())
    np.testing.assert_array_equal(packed.apply(X)[:, 1], tree.apply(X))


def test_a_tree_of_one_leaf():
    tree = Tree(2, [1], value=[[[4.0]]], children_left=[-1], children_right=[-1], feature=[-2], threshold=[-2.0])
    np.testing.assert_array_equal(PackedTrees.from_trees([tree]).sum(np.full((9, 2), np.nan)), np.full((9, 1), 4.0))
