"""Columns of categories: the best subset, one branch for each, and what happens to categories never seen."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from learnt.forestry import Categories, Columns, category_codes, grow_exact, learn_categories, with_codes


def impurity(criterion, y):
    if criterion == "squared_error":
        return np.mean((y - y.mean()) ** 2)
    if criterion == "poisson":
        return np.mean(np.where(y > 0, y * np.log(np.maximum(y, 1e-300) / y.mean()), 0))
    p = np.bincount(y.astype(int)) / len(y)
    p = p[p > 0]
    return {"gini": 1 - np.sum(p**2), "entropy": -np.sum(p * np.log2(p)), "error": 1 - p.max()}[criterion]


def best_by_trying_all(criterion, x, y):
    """Impurity times rows after the best division of the categories in two."""
    values = np.unique(x)
    best = np.inf
    for size in range(1, len(values) // 2 + 1):
        for chosen in combinations(values, size):
            left = np.isin(x, chosen)
            best = min(best, left.sum() * impurity(criterion, y[left]) + (~left).sum() * impurity(criterion, y[~left]))
    return best


def left_by(tree):
    return sum(tree.impurity[c] * tree.n_node_samples[c] for c in tree.children(0))


def problem(seed, n_categories, n_classes, n=300):
    rng = np.random.default_rng(seed)
    x = rng.integers(n_categories, size=n)
    if n_classes:
        shares = rng.dirichlet(np.ones(n_classes), size=n_categories)
        return x, np.array([rng.choice(n_classes, p=shares[k]) for k in x])
    return x, rng.gamma(2.0, 1.0 + rng.integers(5, size=n_categories)[x])


def stump(x, y, criterion, n_classes, n_categories, **rules):
    columns = Columns(x[:, None].astype(float), [n_categories])
    tree = grow_exact(
        columns, y, criterion=criterion, n_classes=[n_classes] if n_classes else None, max_depth=1, **rules
    )
    tree.validate()
    return tree


@pytest.mark.parametrize(
    ("criterion", "n_classes"),
    [("gini", 2), ("entropy", 2), ("squared_error", 0), ("poisson", 0), ("gini", 4), ("entropy", 3), ("error", 3)],
)
@pytest.mark.parametrize("n_categories", [2, 5, 8])
def test_the_best_subset(criterion, n_classes, n_categories):
    for seed in range(3):
        x, y = problem(seed, n_categories, n_classes)
        for rules in ({}, {"weights": np.full(len(y), 1.5)}, {"max_features": 1}):
            tree = stump(x, y, criterion, n_classes, n_categories, **rules)
            np.testing.assert_allclose(left_by(tree), best_by_trying_all(criterion, x, y), rtol=1e-9)
            goes = tree.apply(x[:, None].astype(float))
            np.testing.assert_array_equal(np.bincount(goes)[1:], tree.n_node_samples[1:])


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_many_categories_of_many_classes_nearly_the_best(criterion):
    for seed in range(3):
        x, y = problem(seed, 12, 4, n=600)
        tree = stump(x, y, criterion, 4, 12)
        whole, best = len(y) * impurity(criterion, y), best_by_trying_all(criterion, x, y)
        assert whole - left_by(tree) >= 0.97 * (whole - best)


@pytest.mark.long
def test_absolute_error_and_several_outputs_split_categories():
    x, y = problem(0, 6, 0)
    assert left_by(stump(x, y, "absolute_error", 0, 6)) < len(y) * np.mean(np.abs(y - np.median(y)))
    Y = np.stack([y, -y], axis=1)
    np.testing.assert_allclose(
        left_by(stump(x, Y, "squared_error", 0, 6)), best_by_trying_all("squared_error", x, y), rtol=1e-9
    )


def test_deep_trees_beside_numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(30, size=500), rng.normal(size=500)]).astype(float)
    X[rng.random(500) < 0.1, 0] = np.nan
    y = rng.integers(2, size=500)
    for rules in ({}, {"max_features": 1}, {"random_splits": True}, {"max_leaf_nodes": 20}, {"multiway": True}):
        tree = grow_exact(Columns(X, [30, 0]), y, criterion="gini", n_classes=[2], **rules)
        tree.validate()
        leaves = tree.apply(X)
        np.testing.assert_array_equal(
            np.bincount(leaves, minlength=tree.node_count)[tree.is_leaf], tree.n_node_samples[tree.is_leaf]
        )
        if "max_leaf_nodes" in rules:
            assert tree.n_leaves <= 20
        elif "random_splits" not in rules:
            np.testing.assert_array_equal(tree.predict(X).argmax(axis=1), y)


def test_unseen_and_missing_categories():
    x = np.array([0, 0, 0, 0, 1, 1, 2, 2, 2.0])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1.0])
    tree = stump(x, y, "squared_error", 0, 4)
    heavier = tree.apply(np.array([[1.0]]))[0]
    np.testing.assert_array_equal(tree.apply(np.array([[3.0], [-1.0], [99.0], [np.nan]])), heavier)
    x[:3] = np.nan
    tree = stump(x, y, "squared_error", 0, 4)
    assert tree.predict(np.array([[np.nan]])) == 0


def test_sixty_five_thousand_categories():
    rng = np.random.default_rng(0)
    n = 2**17
    x = np.concatenate([np.arange(2**16), rng.integers(2**16, size=n - 2**16)]).astype(float)
    effect = rng.normal(size=2**16)
    y = effect[x.astype(int)]
    tree = grow_exact(Columns(x[:, None], [2**16]), y, criterion="squared_error", max_depth=3)
    tree.validate()
    order = np.argsort(effect)
    stairs = tree.predict(order[:, None].astype(float)).ravel()
    assert tree.n_leaves == 8
    assert (np.diff(stairs) >= 0).all()


TENNIS = """sunny hot high weak no
sunny hot high strong no
overcast hot high weak yes
rain mild high weak yes
rain cool normal weak yes
rain cool normal strong no
overcast cool normal strong yes
sunny mild high weak no
sunny cool normal weak yes
rain mild normal weak yes
sunny mild normal strong yes
overcast mild high strong yes
overcast hot normal weak yes
rain mild high strong no"""


def test_the_textbook_tree():
    """ID3 on Quinlan's fourteen days: outlook first, then humidity where it is sunny and wind where it rains."""
    rows = np.array([line.split() for line in TENNIS.splitlines()], dtype=object)
    known = Categories.learn([0, 1, 2, 3], rows[:, :4], "Tree")
    X, y = known.encode(rows[:, :4]), (rows[:, 4] == "yes").astype(int)
    tree = grow_exact(Columns(X, known.counts(4)), y, criterion="entropy", n_classes=[2], multiway=True)
    tree.validate()
    np.testing.assert_allclose(tree.impurity[0] - left_by(tree) / 14, 0.2467, atol=1e-4)
    assert tree.feature[0] == 0
    assert {int(tree.feature[c]) for c in tree.children(0)} == {2, 3, -2}
    assert (tree.node_count, tree.n_leaves, tree.max_depth) == (8, 5, 2)
    np.testing.assert_array_equal(tree.predict(X).argmax(axis=1), y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_by_type_name_place_and_flag(frame):
    table = frame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", None]})
    if frame is pd.DataFrame:
        typed = table.astype({"colour": "category"})
    else:
        typed = table.with_columns(pl.col("colour").cast(pl.Categorical))
    for given, X in (("from_dtype", typed), (["colour"], table), ([1], table), ([False, True], table)):
        known = Categories.learn(given, X, "Tree")
        np.testing.assert_array_equal(known.counts(2), [0, 2])
        codes = np.asarray(known.encode(X).to_numpy(), dtype=float)
        np.testing.assert_array_equal(codes[:, 1], [1, 0, np.nan])
        np.testing.assert_array_equal(codes[:, 0], [1, 2, 3])
    assert Categories.learn("from_dtype", table[["size"]], "Tree") is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("colour", "from_dtype"),
        (["shape"], "without feature names"),
        ([5], "here 0 to 1"),
        ([True], "boolean mask must have shape"),
        ([1.5], "array-like of bool, int or str"),
    ],
)
def test_columns_that_are_not_there(given, words):
    with pytest.raises(ValueError, match=words):
        Categories.learn(given, np.zeros((2, 2)), "Tree")


@pytest.mark.parametrize(
    "values", [[0.0, 3.0, 70.0], [0.5, 3.0, 70.0], [2.0, 1e6]], ids=["small", "fractions", "large"]
)
def test_codes_of_a_matrix_are_those_of_its_columns(values):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.choice([*values, -1.0, np.nan], 60)]).astype(np.float32)
    known = learn_categories(X, np.array([False, True]), non_negative=True)
    np.testing.assert_array_equal(known[1], values)
    new = np.vstack([X, [[0, 4.0], [0, 71.0], [0, 3.5], [0, 1e9], [0, np.inf], [0, -np.inf]]]).astype(np.float32)
    expected = with_codes(new, known, non_negative=True)[:, 1]
    codes = category_codes(new, known)
    assert list(codes) == [1]
    assert codes[1].dtype == np.int32
    np.testing.assert_array_equal(codes[1], np.where(np.isnan(expected), -1, expected))
    assert (category_codes(new, {1: np.array(["a"], dtype=object)})[1] == -1).all()
