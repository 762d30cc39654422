"""Every split of an exact tree is the best there is: against all cuts of its node, in exact arithmetic.

Which of two splits that gain the same is taken hangs on the rounding of sums, and so on the processor; that a split
gains as much as any other does not. The gains of Gini and squared errors are compared as whole numbers without
rounding, those of entropy and deviance in float64, and may miss the best by the rounding of m-term sums alone.
"""

from fractions import Fraction

import numpy as np
import pytest

from learnt.forestry import Columns, grow_exact

EPS = float(np.finfo(float).eps)
GAP = 1e-7  # values closer than this are the same
# The other two are swept in the long tier; their trees are compared with scikit-learn's in test_exact.py.
CRITERIA = ["gini", "squared_error", *(pytest.param(name, marks=pytest.mark.long) for name in ("entropy", "poisson"))]
RULES = [{}, {"max_depth": 3}, {"min_samples_leaf": 5}, {"max_leaf_nodes": 9}, {"min_impurity_decrease": 0.02}]


def data(kind, n=60, d=3):
    rng = np.random.default_rng(len(kind))
    X = rng.normal(size=(n, d)).astype(np.float32)
    signal = X[:, 0] + np.sin(2 * X[:, 1]) + 0.4 * rng.normal(size=n)
    if kind == "missing":
        X[rng.random(X.shape) < 0.15] = np.nan
    if kind == "ties":
        X = np.rint(2 * X)
    return X, signal, [None, rng.integers(0, 4, size=n).astype(float), rng.random(n) + 0.1]


def as_integers(values):
    """Floats times a power of two that makes them integers, as Python's integers, which do not round."""
    ratios = [float(value).as_integer_ratio() for value in values]
    unit = max(denominator for _, denominator in ratios)
    return np.array([numerator * (unit // denominator) for numerator, denominator in ratios], dtype=object), unit


class Sums:
    """Σ w and Σ w y (one column a class, or one of numbers) of sets of rows, and what a set contributes to the gain."""

    def __init__(self, y, w, criterion, n_classes):
        self.criterion = criterion
        exact = criterion in ("gini", "squared_error")
        weights, unit = as_integers(w) if exact else (w, 1)
        if n_classes:
            table, scale = [np.where(y == c, weights, 0) for c in range(n_classes)], 1
        else:
            numbers, scale = as_integers(y) if exact else (y, 1)
            table = [weights * numbers]
        self.weights, self.table = weights, np.array(table, dtype=object if exact else float)
        self.unit = Fraction(1, unit * scale * scale)  # of w·y²

    def worth(self, weight, sums):
        """−(impurity × weight) of a set, up to what is the same for all cuts of a node."""
        if self.criterion in ("gini", "squared_error"):
            return Fraction(sum(int(s) * int(s) for s in sums), int(weight)) * self.unit
        if self.criterion == "entropy":
            return sum(s * np.log2(s) for s in sums if s > 0) - weight * np.log2(weight)
        return sums[0] * np.log(sums[0] / weight) if sums[0] > 0 else 0.0  # poisson

    def of(self, rows):
        return self.weights[rows].sum(), self.table[:, rows].sum(axis=1)

    def gain(self, left, right):
        return self.worth(*self.of(left)) + self.worth(*self.of(right))


def cuts(X, rows, least):
    """(column, rows left, rows right) of all cuts that leave enough rows on both sides."""
    for j in range(X.shape[1]):
        column = X[rows, j]
        known, missing = rows[~np.isnan(column)], rows[np.isnan(column)]
        order = known[np.argsort(X[known, j], kind="stable")]
        values = X[order, j]
        places = [k for k in range(1, len(order)) if values[k] > values[k - 1] + GAP]
        sides = [(order[:k], order[k:]) for k in places]
        found = [(np.concatenate([a, missing]), b) for a, b in sides]
        if len(missing):
            found += [(a, np.concatenate([b, missing])) for a, b in sides] + [(known, missing)]
        yield from ((j, a, b) for a, b in found if min(len(a), len(b)) >= max(1, least))


def nodes(tree, X, rows):
    """(node, depth, its rows, its left rows) of all nodes, by walking."""
    waiting = [(0, 0, rows)]
    while waiting:
        node, depth, here = waiting.pop()
        if tree.children_left[node] < 0:
            yield node, depth, here, None
            continue
        column = X[here, tree.feature[node]]
        left = np.where(np.isnan(column), tree.missing_go_to_left[node], column <= tree.threshold[node])
        yield node, depth, here, left
        waiting += [
            (tree.children_left[node], depth + 1, here[left.astype(bool)]),
            (tree.children_right[node], depth + 1, here[~left.astype(bool)]),
        ]


@pytest.mark.parametrize("kind", ["full", "missing", "ties"])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.sweep
def test_no_cut_gains_more(kind, criterion, rules):
    X, signal, weightings = data(kind)
    n_classes = 3 if criterion in ("gini", "entropy") else None
    y = np.digitize(signal, [-1.0, 0.5]) if n_classes else np.exp(signal)
    least, floor = rules.get("min_samples_leaf", 1), rules.get("min_impurity_decrease", 0.0)
    for w in weightings:
        options = {"n_classes": n_classes and [n_classes], "min_samples_split": max(2, 2 * least), **rules}
        tree = grow_exact(Columns(X), y, weights=w, criterion=criterion, seed=0, **options)
        w = np.ones(len(y)) if w is None else w
        sums, total = Sums(y, w, criterion, n_classes), w.sum()
        for node, depth, rows, left in nodes(tree, X, np.flatnonzero(w)):
            m, weight = len(rows), w[rows].sum()
            # Sums of m terms, of which squares (or logarithms) are taken and added: what is compared is rounded by no
            # more than 16 m ε of the sum of its terms.
            terms = weight * (np.log2(total) + 2) if n_classes else np.sum(w[rows] * y[rows] * (y[rows] + 2))
            bound = 16 * m * EPS * float(terms)
            whole = sums.worth(*sums.of(rows))
            if left is None:
                pure = tree.impurity[node] <= EPS or depth == rules.get("max_depth")
                if not pure and "max_leaf_nodes" not in rules and m >= options["min_samples_split"]:
                    for _, a, b in cuts(X, rows, least):
                        assert floor > 0, (node, "is a leaf and could be split")
                        assert float(sums.gain(a, b) - whole) <= floor * total + bound
                continue
            chosen = sums.gain(rows[left.astype(bool)], rows[~left.astype(bool)])
            assert float(chosen - whole) >= floor * total - bound
            for j, a, b in cuts(X, rows, least):
                assert float(sums.gain(a, b) - chosen) <= bound, (node, j)


@pytest.mark.parametrize("n", [2200, 2600, 3000])
def test_nodes_dealt_to_buckets_are_searched_like_sorted_ones(n):
    """Best gain first every node is sorted by itself, depth first with its subtree: without a limit, the same splits.

    In nodes of more than half the rows and 1,024, the codes of a column once lay where its buckets were written.
    """
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + np.sin(4 * X[:, 1]) + 0.1 * rng.normal(size=n)
    columns = Columns(X)
    by_subtree, by_node = (
        grow_exact(columns, y, criterion="squared_error", max_depth=4, max_leaf_nodes=leaves) for leaves in (None, n)
    )
    np.testing.assert_array_equal(np.sort(by_node.threshold), np.sort(by_subtree.threshold))
