"""Surrogate splits: rpart's trees, surrogates and agreements on its own example data (rpart/make.R made them)."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor

FOLDER = Path(__file__).parent / "rpart"
EXAMPLES = {"stagec": "progstat", "kyphosis": "Kyphosis", "car": "Mileage"}


def example(name):
    """The table, and rpart's nodes: number → rows, split, surrogates; and the leaf of every row."""
    table = pd.read_csv(FOLDER / f"{name}.csv")
    nodes, where = {}, None
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        kind, *words = line.split()
        if kind == "node":
            node = nodes[int(words[0])] = {"n": int(words[2]), "split": None, "surrogates": []}
        elif kind == "where":
            where = np.array(words, dtype=int)
        elif kind == "split":
            node["split"] = words
        else:
            node["surrogates"].append(words)
    return table, nodes, where


def fitted(name, **settings):
    table, nodes, where = example(name)
    X, y = table.drop(columns=EXAMPLES[name]), table[EXAMPLES[name]]
    kind = DecisionTreeClassifier if y.dtype == object or str(y.dtype) == "str" else DecisionTreeRegressor
    texts = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    model = kind(
        missing="surrogate",
        min_samples_split=20,
        min_samples_leaf=7,
        categorical_features=texts,
        random_state=0,
        **settings,
    )
    return model.fit(X, y), X, y, nodes, where


def sides_of(words, model, column):
    """rpart's side of every code of ours: its levels of `ploidy` are in another order than ours."""
    levels = {
        "ploidy": ["diploid", "tetraploid", "aneuploid"],
        "Country": ["France", "Germany", "Japan", "Japan/USA", "Korea", "Mexico", "Sweden", "USA"],
        "Type": ["Compact", "Large", "Medium", "Small", "Sporty", "Van"],
    }[column]
    mine = model._categories.values[list(model._categories.columns).index(list(model.feature_names_in_).index(column))]
    return [dict(zip(levels, words[2]))[value] for value in mine.tolist()]


def flipped(model, node, words):
    """Whether our left is rpart's right; asserts that the split is the same."""
    tree, column = model.tree_, words[0]
    assert model.feature_names_in_[tree.feature[node]] == column
    if words[1] != "=":
        np.testing.assert_allclose(tree.threshold[node], float(words[2]), rtol=1e-6)
        return words[1] == ">="
    start = tree.table_start[node]
    pairs = set()
    for code, side in enumerate(sides_of(words, model, column)):
        if side != "-":
            pairs.add((side, bool(tree.table[start + 2 + code] == tree.children_left[node])))
    assert pairs in ({("L", True), ("R", False)}, {("L", False), ("R", True)})
    return ("L", False) in pairs


def same_surrogate(model, k, words, flip):
    found = model.tree_.surrogates
    column = words[0]
    assert model.feature_names_in_[found.feature[k]] == column
    agreement, adjusted = map(float, words[-2:])
    np.testing.assert_allclose([found.agreement[k], found.adjusted[k]], [agreement, adjusted], rtol=1e-8)
    if words[1] == "=":
        for code, side in enumerate(sides_of(words, model, column)):
            mine = found.table[found.table_start[k] + code]
            assert mine == (2 if side == "-" else (side == "L") != flip)
        return
    np.testing.assert_allclose(found.threshold[k], float(words[2]), rtol=1e-6)
    assert found.left_below[k] == ((words[1] == "<") != flip)


def too_good_for_rpart(tree, node, k):
    """rpart leaves out surrogates by categories that err on fewer than two rows; meant are those that send so few."""
    found = tree.surrogates
    return found.table_start[k] >= 0 and (1 - found.agreement[k]) * tree.n_node_samples[node] < 1.5


@pytest.mark.parametrize("name", [pytest.param(k, marks=[pytest.mark.long] * (k == "car")) for k in EXAMPLES])
def test_the_tree_of_rpart(name):
    model, X, _, nodes, where = fitted(name)
    tree = model.tree_
    tree.validate()
    pairs, seen = [(0, 1)], 0
    while pairs:
        node, number = pairs.pop()
        theirs = nodes[number]
        assert tree.n_node_samples[node] == theirs["n"]
        assert (tree.children_left[node] < 0) == (theirs["split"] is None)
        if theirs["split"] is None:
            continue
        flip = flipped(model, node, theirs["split"])
        ranked = [k for k in range(*tree.surrogates.start[node : node + 2]) if not too_good_for_rpart(tree, node, k)]
        assert len(ranked) == len(theirs["surrogates"])
        for k, words in zip(ranked, theirs["surrogates"]):
            same_surrogate(model, k, words, flip)
            seen += 1
        left, right = tree.children_left[node], tree.children_right[node]
        pairs += [(right if flip else left, 2 * number), (left if flip else right, 2 * number + 1)]
    assert seen >= 3
    leaves = model.apply(X)
    assert len(set(zip(leaves.tolist(), where.tolist()))) == len(set(where.tolist())) == tree.n_leaves


def test_gaps_that_come_later_cost_less_than_half():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(3000, 3))
    X = np.concatenate([hidden, hidden + 0.3 * rng.normal(size=hidden.shape)], axis=1)
    y = (hidden[:, 0] + hidden[:, 1] * hidden[:, 2] > 0).astype(int)
    train, test = slice(0, 2000), slice(2000, None)
    gaps = X[test].copy()
    gaps[rng.random(gaps.shape) < 0.2] = np.nan
    scores = {}
    for missing in ("direction", "surrogate"):
        model = DecisionTreeClassifier(missing=missing, max_depth=8, random_state=0).fit(X[train], y[train])
        scores[missing] = model.score(X[test], y[test]), model.score(gaps, y[test])
    assert scores["direction"][0] == scores["surrogate"][0]  # the same tree where nothing is missing
    lost = {kind: whole - holed for kind, (whole, holed) in scores.items()}
    assert lost["surrogate"] < lost["direction"] / 2


@pytest.mark.long
def test_weights_pruning_and_best_first():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    X[:, 1] = X[:, 0] + 0.2 * rng.normal(size=400)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.where(np.nan_to_num(X[:, 0]) > 0, 3.0, 0.0) + rng.normal(size=400)
    w = rng.integers(0, 3, size=400)
    rows = np.repeat(np.arange(400), w)
    a = DecisionTreeRegressor(missing="surrogate", max_depth=2, random_state=0).fit(X, y, sample_weight=w)
    b = DecisionTreeRegressor(missing="surrogate", max_depth=2, random_state=0).fit(X[rows], y[rows])
    np.testing.assert_allclose(a.predict(X), b.predict(X))
    np.testing.assert_allclose(a.tree_.surrogates.agreement, b.tree_.surrogates.agreement)
    for settings in ({"ccp_alpha": 0.02}, {"max_leaf_nodes": 6}):
        model = DecisionTreeRegressor(missing="surrogate", random_state=0, **settings).fit(X, y)
        model.tree_.validate()
        counts = np.diff(model.tree_.surrogates.start)
        assert (counts[model.tree_.is_leaf] == 0).all()
        leaves = model.apply(X)
        np.testing.assert_array_equal(
            np.bincount(leaves, minlength=model.tree_.node_count)[model.tree_.is_leaf],
            model.tree_.n_node_samples[model.tree_.is_leaf],
        )


@pytest.mark.parametrize(
    "settings", [{"max_features": 1}, {"splitter": "random"}, {"criterion": "absolute_error"}], ids=str
)
def test_what_surrogates_cannot_go_with(settings):
    with pytest.raises(ValueError, match="Surrogate splits need"):
        DecisionTreeRegressor(missing="surrogate", **settings).fit([[0.0, 1.0], [1.0, 2.0]], [0.0, 1.0])


def test_broken_surrogates_are_refused():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 3))
    for name, position, value in (("feature", 0, 3), ("start", -1, 0), ("table_start", 0, 9), ("table_size", 0, -1)):
        tree = DecisionTreeClassifier(missing="surrogate", random_state=0).fit(X, X[:, 0] + X[:, 1] > 0).tree_
        getattr(tree.surrogates, name)[position] = value
        with pytest.raises(ValueError, match="surrogate"):
            tree.validate()
