"""How many random cuts part a row from all others: the trees that count them, and what their number means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from learnt.engine.matrices import dense
from learnt.forestry import Columns, Tree, grow_exact

_DENSE_CELLS = 1 << 22  # of a sparse sample: larger ones stay sparse while a tree grows
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def average_path_length(n: Any) -> np.ndarray:
    """The expected number of random cuts above a row among n:  c(n) = 2 H(n − 1) − 2 (n − 1)/n.

    H(i) = ln i + 0.5772… is the harmonic number as Liu, Ting and Zhou take it; c(2) = 1, c(1) = 0.

    >>> average_path_length([1, 2, 256]).round(3)
    array([ 0.   ,  1.   , 10.245])
    """
    n = np.asarray(n, dtype=np.float64)
    many = np.maximum(n, 3.0)
    long = 2.0 * (np.log(many - 1.0) + np.euler_gamma) - 2.0 * (many - 1.0) / many
    return np.where(n > 2, long, (n == 2).astype(np.float64))


def isolation_score(length: Any, n: int) -> np.ndarray:
    """2^(−length/c(n)): near 1 for rows that are parted at once, 1/2 at the expected length. 1/2 where n = 1.

    >>> isolation_score([0.0, 10.244770920116851], 256)
    array([1. , 0.5])
    """
    usual = float(average_path_length(n))
    return np.full(np.shape(length), 0.5) if usual == 0 else np.exp2(-np.asarray(length) / usual)


def depth_limit(n: int) -> int:
    """⌈log₂ n⌉, the depth of a balanced tree of n rows; rows that are not parted by then are no outliers."""
    return max(1, math.ceil(math.log2(max(n, 2))))


def isolation_tree(X: Any, counts: np.ndarray | None, max_depth: int, seed: int) -> Tree:
    """A tree of random cuts in random columns, whose leaves hold the path length: their depth plus c(their rows).

    Rows that were drawn several times are in X once, and `counts` are their weights. The grower is that of extremely
    randomised trees that look at one column. They need a target, and accept a cut whatever it parts as long as
    no two rows have the same target.
    """
    m = X.shape[0]
    if m * X.shape[1] <= _DENSE_CELLS:
        X = dense(X)
    tree = grow_exact(
        Columns(X.astype(np.float32, copy=False)),
        np.arange(1, m + 1) * _GOLDEN % 1.0,
        criterion="squared_error",
        weights=counts,
        max_features=1,
        random_splits=True,
        max_depth=max_depth,
        seed=seed,
    )
    tree.value = (tree.depths + average_path_length(tree.n_node_samples)).reshape(-1, 1, 1)
    tree.impurity = np.zeros(tree.node_count)  # of the lengths in a leaf, which are equal
    return tree


def over_columns(tree: Tree, columns: np.ndarray, d: int) -> Tree:
    """A tree that was grown on some columns of a table, as a tree over all d of them, by their numbers there."""
    arrays = tree.arrays()
    inner = ~tree.is_leaf
    arrays["feature"] = np.where(inner, columns[np.where(inner, tree.feature, 0)], tree.feature)
    return Tree(d, tree.n_classes, **arrays)
