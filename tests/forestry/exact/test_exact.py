"""Exact growth: scikit-learn's tree, split for split, and what must hold of any."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from learnt.forestry import Columns, grow_exact
from learnt.forestry.exact._criteria import LOG_ERROR, about_log2
from learnt.forestry.exact._records import SPARE, fill_records, row_tails, sort_records

RULES = [
    {},
    {"max_depth": 3},
    {"min_samples_leaf": 5},
    {"max_leaf_nodes": 9},
    {"max_features": 2},
    {"min_impurity_decrease": 0.01},
    {"random_splits": True},
]


def sweep(rules, others):
    """Rules × others, by name; what is compiled for one rule of growth and one kind of table alone is marked long."""
    rare = {"max_leaf_nodes", "max_features", "random_splits"}
    return [
        pytest.param(
            rule,
            other,
            id=f"{rule}-{other}",
            marks=[pytest.mark.long] * (other != others[0] and not rare.isdisjoint(rule)),
        )
        for rule in rules
        for other in others
    ]


def seed_of(random_state):
    """The seed that scikit-learn's tree draws from this random_state."""
    return np.random.RandomState(random_state).randint(0, 2**31 - 1)


def after_split(tree, node):
    """Impurity left by a node's split, times weight."""
    children = [tree.children_left[node], tree.children_right[node]]
    return sum(tree.weighted_n_node_samples[c] * tree.impurity[c] for c in children)


def assert_same_tree(ours, theirs, drawn=False, rtol=1e-7):
    """Split for split; where both splits leave the same impurity (a tie), what lies below is not compared.

    Where columns or thresholds are drawn, a tie changes all later draws, and nothing after it is compared. How soon
    ties come hangs on the rounding of both, and so on the processor; that all splits, also those below ties, are the
    best there are is for `test_best_splits.py` to tell.
    """
    pairs = [(0, 0)]
    while pairs:
        a, b = pairs.pop()
        assert ours.n_node_samples[a] == theirs.n_node_samples[b]
        np.testing.assert_allclose(ours.weighted_n_node_samples[a], theirs.weighted_n_node_samples[b], rtol=rtol)
        np.testing.assert_allclose(ours.impurity[a], theirs.impurity[b], rtol=rtol, atol=1e-9)
        np.testing.assert_allclose(ours.value[a], theirs.value[b], rtol=rtol, atol=1e-9)
        if theirs.impurity[b] < 1e-12:  # pure up to rounding
            continue
        leaves = (ours.children_left[a] < 0, theirs.children_left[b] < 0)
        assert leaves[0] == leaves[1], (a, b)
        if leaves[0]:
            continue
        if (ours.feature[a], ours.threshold[a]) != (theirs.feature[b], theirs.threshold[b]):
            left = after_split(ours, a), after_split(theirs, b)
            assert abs(left[0] - left[1]) <= 1e-9 * (1 + abs(left[1])), (a, b, left)
            if drawn:
                break
            continue
        assert ours.missing_go_to_left[a] == theirs.missing_go_to_left[b]
        pairs.append((ours.children_right[a], theirs.children_right[b]))
        pairs.append((ours.children_left[a], theirs.children_left[b]))


def data(seed, kind="full", n=250, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    signal = X[:, 0] + np.sin(2 * X[:, 1]) + 0.4 * rng.normal(size=n)
    if kind == "missing":
        X[rng.random(X.shape) < 0.15] = np.nan
    if kind == "sparse":
        X = sparse.csc_matrix(np.where(np.abs(X) > 0.8, X, 0))
    if kind == "ties":
        X = np.rint(2 * X)
    weights = {"none": None, "whole": rng.integers(0, 4, size=n).astype(float), "any": rng.random(n) + 0.1}
    return X, signal, weights


def theirs(X, y, weights, criterion, rules, seed, classes):
    rules = dict(rules)
    if rules.pop("random_splits", False):
        rules["splitter"] = "random"
    model = DecisionTreeClassifier if classes else DecisionTreeRegressor
    return model(criterion=criterion, random_state=seed, **rules).fit(X, y, weights).tree_


def ours(X, y, weights, criterion, rules, seed, n_classes=None):
    rules = {"min_samples_split": max(2, 2 * rules.get("min_samples_leaf", 1)), **rules}
    tree = grow_exact(
        Columns(X), y, weights=weights, criterion=criterion, n_classes=n_classes, seed=seed_of(seed), **rules
    )
    tree.validate()
    return tree


@pytest.mark.parametrize(("rules", "kind"), sweep(RULES, ["missing", "full", "sparse", "ties"]))
@pytest.mark.sweep
def test_classes_as_scikit_learn(rules, kind):
    drawn = "max_features" in rules or "random_splits" in rules
    for seed, n_classes in ((0, 2), (1, 3)):
        X, signal, weights = data(seed, kind)
        y = np.digitize(signal, np.quantile(signal, [0.4, 0.8][: n_classes - 1]))
        for criterion in ("gini", "entropy"):
            for weighting in ("none", "whole") if drawn else ("none", "whole", "any"):
                w = weights[weighting]
                a = ours(X, y, w, criterion, rules, seed, [n_classes])
                b = theirs(X, y, w, criterion, rules, seed, True)
                assert_same_tree(a, b, drawn)


@pytest.mark.parametrize(("rules", "kind"), sweep(RULES, ["missing", "full", "sparse"]))
@pytest.mark.sweep
def test_numbers_as_scikit_learn(rules, kind):
    X, signal, weights = data(2, kind, n=150)
    for criterion in ("squared_error", "poisson", "absolute_error"):
        if criterion == "absolute_error" and kind == "missing":
            continue  # theirs refuses
        y = np.exp(signal) if criterion == "poisson" else signal
        drawn = "max_features" in rules or "random_splits" in rules
        for weighting in ("none", "whole", "any"):
            w = weights[weighting]
            b = theirs(X, y, w, criterion, rules, 2, False)
            assert_same_tree(ours(X, y, w, criterion, rules, 2), b, drawn)


@pytest.mark.parametrize(
    ("rules", "criterion"),
    sweep([{}, {"max_leaf_nodes": 6}, {"max_features": 2}], ["squared_error", "gini", "absolute_error"]),
)
def test_several_outputs(criterion, rules):
    X, signal, weights = data(3, n=120)
    Y = np.stack([signal, X[:, 2] + 0.1 * signal], axis=1)
    classes = criterion == "gini"
    Y = np.stack([np.digitize(Y[:, 0], [-1, 1]), (Y[:, 1] > 0).astype(int)], axis=1) if classes else Y
    for w in (None, weights["whole"]):
        a = ours(X, Y, w, criterion, rules, 3, [3, 2] if classes else None)
        b = theirs(X, Y, w, criterion, rules, 3, classes)
        assert_same_tree(a, b, drawn="max_features" in rules)


@pytest.mark.parametrize("direction", [[1, -1, 0, 0], [-1, 0, 1, 0]])
def test_monotone(direction):
    X, signal, _ = data(4)
    for rules in ({"max_depth": 5}, {"max_leaf_nodes": 12}, {"random_splits": True, "max_depth": 6}):
        for criterion in ("squared_error", "absolute_error"):
            a = ours(X, signal, None, criterion, {**rules, "monotone": np.array(direction)}, 4)
            assert_same_tree(a, theirs(X, signal, None, criterion, {**rules, "monotonic_cst": direction}, 4, False))
        y = (signal > 0).astype(int)
        a = ours(X, y, None, "gini", {**rules, "monotone": -np.array(direction)}, 4, [2])
        assert_same_tree(a, theirs(X, y, None, "gini", {**rules, "monotonic_cst": direction}, 4, True))


def test_presorted_and_sorted_at_each_node_give_the_same_tree():
    X, signal, weights = data(5, "missing")
    for w in weights.values():
        presorted = ours(X, signal, w, "squared_error", {}, 5)
        table = sparse.csc_matrix(np.nan_to_num(X))
        from_sparse = ours(table, signal, w, "squared_error", {}, 5)
        from_dense = ours(np.nan_to_num(X), signal, w, "squared_error", {}, 5)
        assert_same_tree(from_sparse, from_dense)  # sums of zeros are rounded differently: but for ties
        assert presorted.node_count == from_dense.node_count
    for w in (None, weights["whole"]):  # whole numbers are not
        labels = np.digitize(signal, [-1.0, 0.5])
        from_sparse, from_dense = (ours(x, labels, w, "gini", {}, 5, [3]) for x in (table, np.nan_to_num(X)))
        np.testing.assert_array_equal(from_sparse.threshold, from_dense.threshold)
        np.testing.assert_array_equal(from_sparse.value, from_dense.value)


def test_sparse_tables_as_they_come():
    """Stored zeros and duplicates, values that are 0 in float32, columns and rows without any value."""
    rng = np.random.default_rng(9)
    X = np.where(rng.random((120, 6)) < 0.3, rng.integers(-2, 3, (120, 6)), 0).astype(float)
    X[:, 4], X[:7] = 0.0, 0.0
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.integers(0, 2, 120)
    tiny = sparse.csr_matrix(np.where(X == 0, 1e-60, X))
    columns = np.tile(np.repeat(np.arange(6), 2), 120)
    halves = sparse.csr_matrix((np.repeat(X.ravel() / 2, 2), columns, np.arange(121) * 12), shape=X.shape)
    dense = ours(X, y, None, "squared_error", {"max_leaf_nodes": 9}, 0)
    for table in (tiny, halves, sparse.csc_matrix(X)):
        stored = table.nnz
        tree = ours(table, y, None, "squared_error", {"max_leaf_nodes": 9}, 0)
        np.testing.assert_array_equal(tree.threshold, dense.threshold)
        np.testing.assert_array_equal(tree.value, dense.value)
        assert table.nnz == stored  # what was given is as it was


def test_error_criterion_is_the_share_of_wrong_answers():
    X, signal, _ = data(6)
    y = np.digitize(signal, [-0.5, 0.5])
    tree = ours(X, y, None, "error", {"max_depth": 4}, 0, [3])
    np.testing.assert_allclose(tree.impurity, 1 - tree.value[:, 0].max(axis=1))
    stump = ours(X, y, None, "error", {"max_depth": 1}, 0, [3])
    best = min(
        (np.minimum.reduce([np.sum(y[m] != c) for c in range(3)]) + np.min([np.sum(y[~m] != c) for c in range(3)]))
        for j in range(X.shape[1])
        for t in X[:, j]
        for m in [X[:, j] <= t]
        if m.any() and not m.all()
    )
    assert round(after(stump)) == best


def after(stump):
    return stump.impurity[1] * stump.n_node_samples[1] + stump.impurity[2] * stump.n_node_samples[2]


def test_weights_are_repetitions():
    X, signal, weights = data(7, "missing")
    w = weights["whole"]
    repeated = np.repeat(np.arange(len(signal)), w.astype(int))
    for criterion in ("squared_error", "absolute_error"):
        a = ours(X, signal, w, criterion, {"max_depth": 3}, 0)
        b = ours(X[repeated], signal[repeated], None, criterion, {"max_depth": 3}, 0)
        np.testing.assert_array_equal(a.threshold, b.threshold)
        np.testing.assert_allclose(a.value, b.value)


def test_far_from_zero():
    X, signal, _ = data(8)
    signal = np.rint(signal * 1024) / 1024
    near = ours(X, signal, None, "squared_error", {"max_depth": 4}, 0)
    far = ours(X, signal + 2.0**27, None, "squared_error", {"max_depth": 4}, 0)
    np.testing.assert_array_equal(near.threshold, far.threshold)
    np.testing.assert_allclose(far.value - 2.0**27, near.value, atol=1e-6)


def test_steps_too_small_to_count():
    x = np.arange(10.0)[:, None] * 1e-8
    assert ours(x, np.arange(10.0), None, "squared_error", {}, 0).n_leaves == 1
    assert ours(x * 100, np.arange(10.0), None, "squared_error", {}, 0).n_leaves == 10


def test_a_chain_deeper_than_any_recursion():
    n = 5000
    x, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2  # the best cut is always the first or the last
    tree = ours(x, y, None, "gini", {}, 0, [2])
    assert tree.max_depth > 2000
    np.testing.assert_array_equal(tree.predict(x).argmax(axis=1), y)


def test_constant_columns_and_nothing_but_missing():
    y = np.array([0.0, 1.0, 2.0])
    assert ours(np.ones((3, 2)), y, None, "squared_error", {}, 0).node_count == 1
    assert ours(np.full((3, 2), np.nan), y, None, "squared_error", {}, 0).node_count == 1
    assert ours(np.full((3, 2), np.nan), y, None, "squared_error", {"max_features": 1}, 0).node_count == 1
    assert ours(np.ones((1, 2)), y[:1], None, "squared_error", {}, 0).value.item() == 0


KINDS = ["plain", "ties", "missing", "skewed", "constant"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"max_features": 2},
        {"random_splits": True, "max_features": 3},
        {"max_leaf_nodes": 40},
        {"max_leaf_nodes": 2},
    ],
    ids=str,
)
def test_both_code_paths_give_the_same_tree(kind, rules, monkeypatch):
    """Dense numbers with one output have a grower of their own; constraints that constrain nothing take the other."""
    monkeypatch.setattr("learnt.forestry.exact._growth._LOCAL", 6 * 64)  # subtrees are sorted from 64 rows on
    monkeypatch.setattr("learnt.forestry.exact._growth._FIRST_NODES", 8)  # and room for nodes is doubled often
    rng = np.random.default_rng(len(kind))
    X = rng.normal(size=(500, 6)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=500) > 0).astype(np.int64)
    if kind == "ties":
        X = np.round(X)
    elif kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    elif kind == "skewed":
        X = np.exp(8 * X)
    elif kind == "constant":
        X[:, ::2] = np.where(rng.random(500) < 0.5, 1.0, -0.0)[:, None]
    columns, weights = Columns(X), rng.integers(0, 3, 500).astype(np.float64)
    given = {"criterion": "gini", "n_classes": [2], "weights": weights, "seed": 3, **rules}
    ours, other = (grow_exact(columns, y, **given, monotone=free) for free in (None, np.zeros(6)))
    for name, array in other.arrays().items():
        np.testing.assert_allclose(getattr(ours, name), array, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("kind", ["plain", "ties", "missing"])
@pytest.mark.parametrize("rules", [{}, {"max_leaf_nodes": 30}], ids=str)
def test_absolute_errors_from_a_list_and_from_prefix_sums(kind, rules, monkeypatch):
    """Rows that leave a linked list give the errors of rows that enter a tree of sums, which bounds on values need."""
    monkeypatch.setattr("learnt.forestry.exact._growth._LOCAL", 3 * 64)
    rng = np.random.default_rng(len(kind))
    X = rng.normal(size=(300, 3)).astype(np.float32)
    y = np.rint(64 * (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300))) / 64 + 1000  # sums are exact
    if kind == "ties":
        X, y = np.round(X), np.round(y)
    elif kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    for weights in (None, rng.integers(0, 4, 300).astype(np.float64)):
        given = {"criterion": "absolute_error", "weights": weights, "seed": 1, **rules}
        ours, other = (grow_exact(Columns(X), y, **given, monotone=free) for free in (None, np.zeros(3)))
        for name, array in other.arrays().items():
            np.testing.assert_allclose(getattr(ours, name), array, rtol=1e-12, err_msg=name)


def test_best_gain_first_to_the_end_parts_all_rows():
    n = 3000
    x, y = np.arange(n, dtype=float)[:, None], np.cumsum(np.arange(n, dtype=float)) ** 2
    tree = ours(x, y, None, "squared_error", {"max_leaf_nodes": n}, 0)
    assert tree.n_leaves == n
    np.testing.assert_allclose(tree.predict(x).ravel(), y)


def test_logarithms_for_quick_comparisons_are_within_their_error_bound():
    x = np.concatenate([np.linspace(0.5, 4.0, 5001), 10.0 ** np.arange(-300.0, 300.0, 7.3)])
    assert max(abs(about_log2(value) - np.log2(value)) for value in x) < LOG_ERROR
    assert 0.0 * about_log2(0.0) == 0.0


@pytest.mark.parametrize("n", [0, 1, 2, 24, 25, 300, 5000])
def test_records_are_sorted_by_value_and_equal_ones_keep_their_order(n):
    rng = np.random.default_rng(n)
    values = rng.normal(size=n).astype(np.float32) * np.float32(10) ** rng.integers(-30, 30, n).astype(np.float32)
    values[rng.random(n) < 0.2] = np.float32(1.5)
    values[rng.random(n) < 0.1] = np.nan
    values[rng.random(n) < 0.05] = -np.inf
    tails, _ = row_tails(max(n, 1), None, None)
    records = np.empty((1, n), np.int64)
    fill_records(values, tails, records, 0)
    sort_records(records, 0, n, np.empty(n + SPARE, np.int64))
    np.testing.assert_array_equal(records[0] & 0xFFFFFFFF, np.argsort(values, kind="stable"))


@pytest.mark.parametrize("offset", [0.0, 60.0, -60.0])
@pytest.mark.parametrize("outlier", [0.0, 1e3, 1e6])
def test_no_split_of_numbers_is_better_than_the_one_found(offset, outlier):
    """The comparison without division that throws cuts out must not throw out the best."""
    rng = np.random.default_rng(3)
    for n in (7, 200, 3000):
        X, y = rng.normal(size=(n, 3)).astype(np.float32), rng.normal(size=n) + offset
        y[rng.integers(n)] += outlier
        tree = grow_exact(Columns(X), y, criterion="squared_error", max_depth=1)
        least = np.inf
        for j in range(3):
            z = (y - y.mean())[np.argsort(X[:, j])]
            left, k = np.cumsum(z)[:-1], np.arange(1, n)
            least = min(least, (z @ z - left**2 / k - left**2 / (n - k)).min())
        assert after_split(tree, 0) <= least * (1 + 1e-9) + 1e-14 * (z @ z)  # as exact as sums of squares are
