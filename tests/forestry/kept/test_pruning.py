"""Cost-complexity pruning against the plain algorithm: look at all links, cut the weakest, begin again."""

import numpy as np
import pytest
import sklearn.tree as peer

from learnt.forestry import Tree, prune_by_cost, pruning_path
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor


def plain_path(tree):
    """α and the impurity of the leaves after every cut of the weakest link, the first of equals."""
    risk = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    children = [tree.children(node).tolist() for node in range(tree.node_count)]

    def leaves(node):
        return [node] if not children[node] else [leaf for child in children[node] for leaf in leaves(child)]

    def inner(node):
        return [node, *(below for child in children[node] for below in inner(child))] if children[node] else []

    alphas, impurities = [0.0], [risk[leaves(0)].sum()]
    while children[0]:
        links = [((risk[node] - risk[leaves(node)].sum()) / (len(leaves(node)) - 1), node) for node in sorted(inner(0))]
        alpha, weakest = min(links)
        children[weakest] = []
        alphas.append(alpha)
        impurities.append(risk[leaves(0)].sum())
    return np.array(alphas), np.array(impurities)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("best_first", [False, True])
@pytest.mark.sweep
def test_the_path_is_the_plain_one(seed, best_first):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 3))
    settings = {"max_leaf_nodes": 60 if best_first else None, "random_state": 0}
    tree = DecisionTreeRegressor(**settings).fit(X, X[:, 0] + rng.normal(size=150)).tree_
    alphas, impurities = pruning_path(tree)
    expected = plain_path(tree)
    np.testing.assert_allclose(alphas, expected[0], atol=1e-12)
    np.testing.assert_allclose(impurities, expected[1], atol=1e-12)


def test_multiway_nodes_are_cut_whole():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(300, 3)).astype(float)
    y = (X.sum(axis=1) + 2 * rng.normal(size=300) > 6).astype(int)
    model = DecisionTreeClassifier(categorical_features=[0, 1, 2], categorical_split="multiway", random_state=0)
    tree = model.fit(X, y).tree_
    alphas, impurities = pruning_path(tree)
    np.testing.assert_allclose(alphas, plain_path(tree)[0], atol=1e-12)
    np.testing.assert_allclose(impurities, plain_path(tree)[1], atol=1e-12)


def test_large_trees_are_scikit_learns_cut_for_cut():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 4))
    y = X[:, 0] + rng.normal(size=4000)
    ours, theirs = DecisionTreeRegressor(random_state=0), peer.DecisionTreeRegressor(random_state=0)
    path, expected = (model.cost_complexity_pruning_path(X, y) for model in (ours, theirs))
    np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, atol=1e-12)
    np.testing.assert_allclose(path.impurities, expected.impurities, atol=1e-12)
    alpha = (path.ccp_alphas[-40] + path.ccp_alphas[-41]) / 2
    pruned = [model.set_params(ccp_alpha=alpha).fit(X, y).tree_.node_count for model in (ours, theirs)]
    assert pruned[0] == pruned[1]


def test_a_chain_is_cut_from_its_end():
    n = 300
    nodes, inner = 2 * n + 1, 2 * np.arange(n)
    left, right, feature = np.full(nodes, -1), np.full(nodes, -1), np.full(nodes, -2)
    left[inner], right[inner], feature[inner] = inner + 1, inner + 2, 0
    gains = np.linspace(2.0, 1.0, n)  # of each split, falling
    impurity = np.zeros(nodes)
    impurity[inner] = np.cumsum(gains[::-1])[::-1]
    tree = Tree(
        1, [1], children_left=left, children_right=right, feature=feature, threshold=np.zeros(nodes), impurity=impurity,
        value=np.zeros((nodes, 1, 1)), n_node_samples=np.ones(nodes), weighted_n_node_samples=np.ones(nodes),
    )  # fmt: skip
    alphas, impurities = pruning_path(tree)
    np.testing.assert_allclose(alphas[1:], gains[::-1], rtol=1e-9)
    np.testing.assert_allclose(impurities[1:], np.cumsum(gains[::-1]), rtol=1e-9)
    assert prune_by_cost(tree, 1.5).n_leaves == 1 + np.count_nonzero(gains > 1.5)
