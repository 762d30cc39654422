"""Reduced-error pruning: never worse on the validation rows, and the smallest tree that is as good."""

import numpy as np
import pytest

from learnt.linear_model import Ridge
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor, prune


def data(seed, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    signal = X[:, 0] + (X[:, 1] > 0)
    return X, signal + rng.normal(size=n)


@pytest.mark.parametrize("seed", range(5))
def test_never_worse_and_smaller(seed):
    X, y = data(seed)
    V, v = data(seed + 100)
    weights = np.random.default_rng(seed).random(len(v))
    for w in (None, weights):
        full = DecisionTreeClassifier(random_state=0).fit(X, np.digitize(y, [0, 1]))
        small = prune(full, V, np.digitize(v, [0, 1]), w)
        assert small.score(V, np.digitize(v, [0, 1]), w) > full.score(V, np.digitize(v, [0, 1]), w)
        assert small.get_n_leaves() < full.get_n_leaves() / 2
        small.tree_.validate()
        for criterion, error in (("squared_error", np.square), ("absolute_error", np.abs)):
            full = DecisionTreeRegressor(random_state=0, criterion=criterion).fit(X, y)
            small = prune(full, V, v, w)
            before = np.average(error(v - full.predict(V)), weights=w)
            assert np.average(error(v - small.predict(V)), weights=w) < before
            again = prune(small, V, v, w)
            assert again.get_n_leaves() == small.get_n_leaves()


def test_the_best_of_all_subtrees():
    """Against every way of cutting a small tree."""
    X, y = data(7, n=40)
    V, v = data(8, n=60)
    full = DecisionTreeRegressor(max_leaf_nodes=7, random_state=0).fit(X, y + 1e6)
    tree, v = full.tree_, v + 1e6
    path = np.asarray(full.decision_path(V).todense()).astype(bool)

    def best(node):
        own = np.sum((v[path[:, node]] - tree.value[node, 0, 0]) ** 2)
        children = tree.children(node)
        return min(own, sum(best(c) for c in children)) if len(children) else own

    small = prune(full, V, v)
    np.testing.assert_allclose(np.sum((v - small.predict(V)) ** 2), best(0), rtol=1e-6)


def test_several_outputs_and_categories():
    X, y = data(1)
    X[:, 3] = np.arange(len(X)) % 5
    Y = np.column_stack([y > 0, X[:, 3] > 2]).astype(int)
    for split in ("subset", "multiway"):
        full = DecisionTreeClassifier(categorical_features=[3], categorical_split=split, random_state=0).fit(X, Y)
        small = prune(full, X[::2], Y[::2][:, ::1])
        small.tree_.validate()
        assert (small.predict(X[::2]) == Y[::2]).all()
        tiny = prune(full, X[:1], Y[:1])
        assert tiny.get_n_leaves() <= full.get_n_leaves()


def test_the_tree_given_is_not_touched_and_others_are_refused():
    X, y = data(2)
    full = DecisionTreeRegressor(random_state=0).fit(X, y)
    leaves = full.get_n_leaves()
    prune(full, *data(3))
    assert full.get_n_leaves() == leaves
    with pytest.raises(TypeError, match="Ridge"):
        prune(Ridge().fit(X, y), X, y)
    with pytest.raises(ValueError, match="outputs"):
        prune(full, X, np.c_[y, y])
