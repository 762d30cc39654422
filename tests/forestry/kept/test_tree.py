"""Tree: arrays that walk, count and check themselves."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from learnt.forestry import Tree


def from_sklearn(model):
    theirs = model.tree_
    names = ("children_left", "children_right", "feature", "threshold", "missing_go_to_left", "impurity")
    names += ("n_node_samples", "weighted_n_node_samples", "value")
    return Tree(theirs.n_features, theirs.n_classes, **{name: getattr(theirs, name) for name in names})


def chain(depth):
    """Every right child splits again: one level a threshold."""
    n = 2 * depth + 1
    left, right, feature = np.full(n, -1), np.full(n, -1), np.full(n, -2)
    inner = np.arange(0, 2 * depth, 2)
    left[inner], right[inner], feature[inner] = inner + 1, inner + 2, 0
    threshold = np.where(feature == 0, np.arange(n) / 2, -2.0)
    value = np.arange(n, dtype=float)[:, None, None]
    return Tree(1, [1], children_left=left, children_right=right, feature=feature, threshold=threshold, value=value)


def colours():
    """Three branches: code 0, codes 1 and 3, code 2; a missing colour follows code 2, a new one code 0."""
    return Tree(
        2,
        [1],
        children_left=[1, -1, -1, -1],
        children_right=[3, -1, -1, -1],
        feature=[1, -2, -2, -2],
        threshold=[np.nan, -2, -2, -2],
        table_start=[0, -1, -1, -1],
        table_size=[6, 0, 0, 0],
        table=[1, 3, 1, 2, 3, 2],
        value=np.arange(4.0)[:, None, None],
    )


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_traverses_and_counts_as_scikit_learn(outputs, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.normal(size=(200, outputs)) + np.nan_to_num(X[:, :1])
    model = DecisionTreeRegressor(random_state=0, min_samples_leaf=3).fit(X, y)
    tree = from_sklearn(model)
    tree.validate()
    fresh = rng.normal(size=(100, 4)).astype(np.float32)
    fresh[::3, 1] = np.nan
    np.testing.assert_array_equal(tree.apply(fresh.astype(dtype)), model.apply(fresh))
    np.testing.assert_array_equal(tree.predict(fresh), model.tree_.predict(fresh).reshape(tree.predict(fresh).shape))
    assert (tree.decision_path(fresh) != model.decision_path(fresh)).nnz == 0
    np.testing.assert_allclose(tree.compute_feature_importances(), model.feature_importances_, rtol=1e-12)
    assert (tree.max_depth, tree.n_leaves) == (model.get_depth(), model.get_n_leaves())
    assert (tree.n_outputs, tree.max_n_classes, tree.node_count) == (outputs, 1, model.tree_.node_count)


def test_classes_have_shares():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3)).astype(np.float32)
    model = DecisionTreeClassifier(random_state=0, max_depth=2).fit(X, rng.integers(3, size=90))
    np.testing.assert_array_equal(from_sklearn(model).predict(X), model.predict_proba(X))


def test_a_chain_of_a_hundred_thousand_levels():
    tree = chain(100_000)
    tree.validate()
    assert tree.max_depth == 100_000
    np.testing.assert_array_equal(tree.apply(np.array([[-1.0], [0.5], [1e9]])), [1, 3, 200_000])
    assert tree.decision_path(np.array([[1e9]])).nnz == 100_001


def test_categories_by_table():
    tree = colours()
    tree.validate()
    x = np.zeros((7, 2))
    x[:, 1] = [0, 1, 2, 3, np.nan, 4, -1]
    np.testing.assert_array_equal(tree.apply(x), [1, 2, 3, 2, 3, 1, 1])
    np.testing.assert_array_equal(tree.children(0), [1, 2, 3])
    np.testing.assert_array_equal(tree.parent, [-1, 0, 0, 0])


@pytest.mark.parametrize(
    ("name", "position", "value", "words"),
    [
        ("feature", 0, 1, "column"),
        ("feature", 0, -2, "column"),
        ("children_left", 0, 2, "one node before"),
        ("children_left", 2, 1, "one node before"),
        ("children_right", 0, 9, "one node before"),
        ("children_right", 0, 0, "one node before"),
        ("table_start", 0, 5, "outside"),
        ("table_start", 0, -3, "outside"),
    ],
)
def test_broken_trees_are_refused(name, position, value, words):
    arrays = chain(2).arrays()
    arrays[name][position] = value
    tree = Tree(1, [1], **arrays)
    with pytest.raises(ValueError, match=words):
        tree.validate()


def test_broken_tables_are_refused():
    for entry in (4, 0, -1):
        tree = colours()
        tree.table[2] = entry
        with pytest.raises(ValueError, match="tree has"):
            tree.validate()


def test_unknown_arrays_are_refused():
    with pytest.raises(TypeError, match="colour"):
        Tree(1, [1], value=np.zeros((1, 1, 1)), colour=[1])


def test_a_tree_without_categories_keeps_no_tables_and_shows_them():
    tree = chain(3)
    assert not {"table_start", "table_size"} & vars(tree).keys()
    assert tree.table_start.tolist() == [-1] * 7
    assert tree.table_size.tolist() == [0] * 7
    again = Tree(tree.n_features, tree.n_classes, **tree.arrays())  # as a file gives them
    assert vars(again).keys() == vars(tree).keys()
    again.validate()
    with pytest.raises(AttributeError, match="no attribute 'table_length'"):
        _ = tree.table_length


def test_a_tree_that_was_pickled_with_its_tables_predicts_the_same():
    tree, X = chain(5), np.arange(6.0)[:, None]
    old = Tree.__new__(Tree)
    vars(old).update(vars(tree), table_start=np.full(11, -1), table_size=np.zeros(11, np.int64))
    np.testing.assert_array_equal(old.apply(X), tree.apply(X))
    old.validate()
