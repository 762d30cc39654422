"""Words lead every row where the records of 16 bytes lead it."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from learnt.engine.threads import set_threads
from learnt.forestry import Tree
from learnt.forestry.kept._packed import PackedTrees
from learnt.forestry.kept._short import ShortTrees
from learnt.forestry.kept._traverse import find_leaves

_TINY = np.finfo(np.float32).smallest_subnormal
_NASTY = np.array([-np.inf, -1e300, -3.5e38, -1.0, -_TINY, -1e-60, -0.0, 0.0, 1e-60, _TINY, 0.1, 1.0, 3.5e38, np.inf])


@pytest.fixture(autouse=True)
def _threads():
    yield
    set_threads(None)


def chance_tree(rng, splits, d, thresholds):
    """A tree whose leaves are split in no order, with a value of its own in each."""
    left, right, feature, threshold, missing = [-1], [-1], [-2], [-2.0], [0]
    leaves = [0]
    for _ in range(splits):
        node = leaves.pop(rng.integers(len(leaves)))
        left[node], right[node] = len(left), len(left) + 1
        feature[node], threshold[node] = rng.integers(d), rng.choice(thresholds)
        missing[node] = rng.integers(2)
        for sides, unset in ((left, -1), (right, -1), (feature, -2), (threshold, -2.0), (missing, 0)):
            sides += [unset, unset]
        leaves += [left[node], right[node]]
    value = rng.normal(size=(len(left), 1, 1))
    return Tree(
        d, [1], value=value, children_left=left, children_right=right, feature=feature, threshold=threshold,
        missing_go_to_left=missing,
    )  # fmt: skip


def leaves_of(packed, X):
    out = np.empty((len(X), packed.n_trees), np.int64)
    find_leaves(X.reshape(-1), X.shape[1], 1, 0, len(X), packed.nodes, packed.roots, packed.table, out)
    return out


def nasty_rows(rng, n, d, missing):
    with np.errstate(over="ignore"):
        cells = _NASTY.astype(np.float32)
    cells = np.concatenate([cells[np.isfinite(cells)], rng.normal(size=8).astype(np.float32)])
    cells = np.concatenate([cells, np.nextafter(cells, np.float32(9)), np.nextafter(cells, np.float32(-9))])
    X = rng.choice(cells, size=(n, d))
    if missing:
        X[rng.random(X.shape) < 0.3] = np.nan
    return X


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("bytewise", [False, True])
def test_short_nodes_and_records_lead_to_the_same_leaves(bytewise, missing, threads):
    rng = np.random.default_rng(0)
    set_threads(threads)
    thresholds = np.concatenate([_NASTY, rng.normal(size=40)])
    packed = PackedTrees.from_trees([chance_tree(rng, k, 5, thresholds) for k in (0, 1, 30, 2500, 400, 7)])
    X = nasty_rows(rng, 3000, 5, missing)
    short = ShortTrees.of(packed, 5, bytewise, missing)
    out = np.empty((len(X), packed.n_trees), np.int64)
    short.apply(X, out)
    expected = leaves_of(packed, X)
    np.testing.assert_array_equal(out, expected)
    total = np.zeros((len(X), 1))
    short.sum(X, 1, 5, total)
    np.testing.assert_allclose(total[:, 0], packed.nodes["threshold"][expected[:, 1:5]].sum(axis=1))


def test_a_large_tree_that_is_read_ahead():
    rng = np.random.default_rng(1)
    thresholds = rng.normal(size=90)
    packed = PackedTrees.from_trees([chance_tree(rng, 9000, 3, thresholds) for _ in range(3)])
    X = rng.normal(size=(2500, 3)).astype(np.float32)
    for bytewise in (False, True):
        out = np.empty((len(X), 3), np.int64)
        ShortTrees.of(packed, 3, bytewise, False).apply(X, out)
        np.testing.assert_array_equal(out, leaves_of(packed, X))


@pytest.mark.long
def test_the_same_nodes_on_any_number_of_threads():
    rng = np.random.default_rng(2)
    thresholds = rng.normal(size=60)
    packed = PackedTrees.from_trees([chance_tree(rng, 9000, 4, thresholds) for _ in range(9)])
    found = []
    for threads in (1, 2, 5):
        set_threads(threads)
        short = ShortTrees.of(packed, 4, True, True)
        found.append((short.words.tobytes(), short.edges.tobytes()))
    assert len(set(found)) == 1


@pytest.mark.long
def test_too_many_thresholds_have_no_keys_of_one_byte():
    rng = np.random.default_rng(3)
    few, many = np.arange(254.0), np.arange(255.0)
    for thresholds, fits in ((few, True), (many, False)):
        trees = [chance_tree(rng, 6000, 1, thresholds) for _ in range(2)]
        assert (ShortTrees.of(PackedTrees.from_trees(trees), 1, True, False) is not None) is fits
    halves = [chance_tree(rng, 70_000, 1, many[:200]), chance_tree(rng, 70_000, 1, many[100:])]
    set_threads(2)  # neither thread alone meets too many
    assert ShortTrees.of(PackedTrees.from_trees(halves), 1, True, False) is None


def test_binned_forests_take_keys_of_one_byte_and_small_ones_those_of_four():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(100, 6)).astype(np.float32)
    thresholds = rng.normal(size=30)
    packed = PackedTrees.from_trees([chance_tree(rng, 20, 6, thresholds) for _ in range(6)])
    packed.sum(X, last=5)
    assert list(packed._short) == [(6, False, False)]
    packed.sum(X)
    assert list(packed._short) == [(6, False, False), (6, True, False)]


@pytest.mark.long
def test_many_rows_without_compilation():
    """No arithmetic that only compiled code may do, such as 0 − 1 without a sign."""
    code = """
        import warnings; warnings.simplefilter("error")
        import numpy as np
        from learnt.ensemble import RandomForestRegressor
        X = np.random.default_rng(0).random((1500, 2))
        model = RandomForestRegressor(2, max_depth=3, random_state=0, n_jobs=1).fit(X[:50], X[:50, 0])
        print(float(model.predict(X).sum()), float(sum(model.predict(X[i : i + 1])[0] for i in range(1500))))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "LEARNT_COMPILE": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    many, one_by_one = map(float, done.stdout.split())
    assert many == pytest.approx(one_by_one, rel=1e-12)


def of_classes(rng, tree, n_classes, pure):
    """The tree with shares of classes in its leaves, or one class each."""
    shares = np.eye(n_classes)[rng.integers(n_classes, size=tree.node_count)]
    if not pure:
        shares[::3] = rng.dirichlet(np.ones(n_classes), size=len(shares[::3]))
    names = ("children_left", "children_right", "feature", "threshold", "missing_go_to_left")
    parts = {name: getattr(tree, name) for name in names}
    return Tree(tree.n_features, [n_classes], value=shares[:, None, :], **parts)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("bytewise", [False, True])
@pytest.mark.parametrize(("n_classes", "pure"), [(2, True), (3, True), (5, True), (6, True), (11, True), (3, False)])
def test_sums_of_the_shares_of_classes(n_classes, pure, bytewise, missing):
    """Leaves of one class have it in their word, where there is a column for each class."""
    rng = np.random.default_rng(5)
    grown = [chance_tree(rng, k, 5, rng.normal(size=40)) for k in (0, 3, 900, 60)]
    packed = PackedTrees.from_trees([of_classes(rng, tree, n_classes, pure) for tree in grown])
    X = nasty_rows(rng, 1500, 5, missing)
    short = ShortTrees.of(packed, 5, bytewise, missing)
    assert (short.number.size == 0) is (pure and n_classes <= (10 if missing else 5))
    out = np.zeros((len(X), n_classes))
    short.sum(X, 0, 4, out)
    leaves = packed.nodes["threshold"][leaves_of(packed, X)].astype(int)
    np.testing.assert_allclose(out, packed.values[leaves].sum(axis=1), rtol=1e-14)


def test_rows_that_arrive_long_after_the_others():
    """A chain: a row takes as many steps as it has thresholds below it, and few rows share a leaf."""
    depth = 3000
    inner = 2 * np.arange(depth)
    left, right, feature, threshold = (np.full(2 * depth + 1, unset) for unset in (-1, -1, -2, -2.0))
    left[inner], right[inner], feature[inner], threshold[inner] = inner + 1, inner + 2, 0, np.arange(depth)
    value = np.arange(2.0 * depth + 1).reshape(-1, 1, 1)
    chain = Tree(1, [1], value=value, children_left=left, children_right=right, feature=feature, threshold=threshold)
    packed = PackedTrees.from_trees([chain])
    short = ShortTrees.of(packed, 1, False, False)
    X = np.random.default_rng(6).permutation(depth + 200).astype(np.float32)[:, None]
    for rows in (X, X[:1], X[:7], X[:1025]):
        out = np.zeros((len(rows), 1))
        short.sum(rows, 0, 1, out)
        np.testing.assert_array_equal(out, np.where(rows < depth, 2 * rows + 1, 2 * depth))
