"""One tree of a forest from its seed: sample, grow (exact or binned), prune, pack."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.matrices import dense
from learnt.engine.random import first_seed
from learnt.ensemble.forest._quantiles import LeafSamples, leaf_samples
from learnt.ensemble.forest._sampling import Sampling, balanced_weights
from learnt.forestry import (
    CodedTable,
    Columns,
    Grove,
    SmallTree,
    Tree,
    bin_table,
    grow_binned,
    grow_binned_small,
    grow_in_scale,
    prune_by_cost,
)

BINNED_CRITERIA = ("gini", "entropy", "log_loss", "squared_error")
_BINNED_ROWS = 2000  # with fewer, exact splits cost little more
_RANDOM_BINNED_ROWS = 50_000  # extra trees lose a little of their accuracy to bins: only where time counts for more


@dataclass(frozen=True)
class Grown:
    """A tree and what is kept of it beside."""

    tree: Grove | SmallTree
    importances: np.ndarray | None  # None where the tree is one leaf
    samples: LeafSamples | None

    def grove(self) -> Grove:
        """The tree as it is joined with others."""
        return self.tree.grove() if isinstance(self.tree, SmallTree) else self.tree


def can_bin(forest: Any) -> bool:
    """Whether the binned splitter can do what is asked for; the forest has seen its table's categories."""
    plain = forest.monotonic_cst is None and forest._categories is None
    return plain and forest.criterion in BINNED_CRITERIA


def grows_binned(forest: Any, X: Any) -> bool:
    """The choice of `splitter`; rows that are read in blocks are codes already."""
    if isinstance(X, CodedTable):
        return True
    if forest.splitter == "binned" and not can_bin(forest):
        raise ValueError(
            f"splitter='binned' of {type(forest).__name__} takes the criteria {', '.join(BINNED_CRITERIA)} and no "
            "monotonic_cst or columns of categories; use splitter='exact' or 'auto'."
        )
    if forest.splitter != "auto":
        return forest.splitter == "binned"
    n, d = X.shape
    if forest._random_splits and max_features_of(forest, d) < d:
        return False  # the few values that are looked at, of few columns, are read sooner than all are binned
    classes = forest._class_counts()
    if classes is not None and max(classes) > 2:
        return False  # 255 cuts a column lose what can be told of many classes, half a percent of it, and save little
    least = _RANDOM_BINNED_ROWS if forest._random_splits else _BINNED_ROWS
    return can_bin(forest) and not sparse.issparse(X) and n >= least


def max_features_of(forest: Any, d: int) -> int:
    """How many columns a split looks at."""
    value = forest.max_features
    if value is None:
        return d
    if isinstance(value, str):
        return max(1, int(math.sqrt(d) if value == "sqrt" else math.log2(d)))
    if isinstance(value, float | np.floating):
        return max(1, int(value * d))
    return min(int(value), d)


def rows_of(value: Any, n: int) -> int:
    """A number of rows given as such or as a share of all."""
    return math.ceil(value * n) if isinstance(value, float | np.floating) else int(value)


class Grower:
    """Grows the trees of one forest; the table is prepared once and shared by all threads."""

    def __init__(self, forest: Any, X: Any, targets: np.ndarray, sampling: Sampling) -> None:
        n, d = X.shape
        self.X, self.targets, self.sampling = X, targets, sampling
        self.criterion = "entropy" if forest.criterion == "log_loss" else forest.criterion
        self.n_classes = forest._class_counts()
        self.balanced = getattr(forest, "class_weight", None) == "balanced_subsample" and forest.bootstrap
        self.share_of_leaf = forest.min_weight_fraction_leaf
        self.alpha = forest.ccp_alpha
        self.keeps_targets = forest._keeps_targets and targets.shape[1] == 1
        self._grow_small: Any = None  # where a tree need not be looked at before it is put away
        min_leaf = rows_of(forest.min_samples_leaf, n)
        options: dict[str, Any] = {
            "criterion": self.criterion,
            "n_classes": self.n_classes,
            "max_features": max_features_of(forest, d),
            "random_splits": forest._random_splits,
            "max_depth": forest.max_depth,
            "min_samples_split": max(2, rows_of(forest.min_samples_split, n), 2 * min_leaf),
            "min_samples_leaf": min_leaf,
            "max_leaf_nodes": forest.max_leaf_nodes,
            "min_impurity_decrease": forest.min_impurity_decrease,
        }
        self.binned = grows_binned(forest, X)
        if self.binned:
            coded = isinstance(X, CodedTable)
            table = X.binned if coded else bin_table(dense(X), random_splits=forest._random_splits)
            self._grow = partial(grow_binned, table, targets, **options)
            if forest.max_leaf_nodes is None and forest.ccp_alpha == 0:
                del options["max_leaf_nodes"]
                self._grow_small = partial(grow_binned_small, table, targets, **options)
        else:
            options["monotone"] = forest._monotone_directions(d)
            if options["max_features"] == d and not forest._random_splits:
                options["max_features"] = None
            columns = Columns(X, forest._category_counts(d))
            if not sparse.issparse(X):
                columns.matrix  # noqa: B018  made here, once, not by every thread
            self._grow = partial(grow_in_scale, columns, targets, **options)

    def weights(self, seed: int) -> np.ndarray | None:
        """The weights of the rows in one tree."""
        if self.sampling.size is None:
            return self.sampling.weights
        counts = self.sampling.counts(seed)
        if self.balanced:
            return counts * balanced_weights(self.targets, counts)
        # Bytes are what binned trees read.
        return counts.astype(np.uint8 if self.binned and counts.max() < 256 else np.float64)

    def grow(self, seed: int) -> Grown:
        """The tree of one seed."""
        weights = self.weights(seed)
        total = len(self.targets) if weights is None else float(weights.sum())
        # The seed of a tree is that of its estimator, which draws the seed of its growth from it.
        own = {"weights": weights, "min_weight_leaf": self.share_of_leaf * total, "seed": first_seed(seed)}
        kept: Grove | SmallTree
        if self._grow_small is not None:
            kept, importances = self._grow_small(**own)
        else:
            tree: Tree = self._grow(**own)
            if self.alpha > 0:
                tree = prune_by_cost(tree, self.alpha)
            importances = tree.compute_feature_importances() if tree.node_count > 1 else None
            kept = Grove.of([tree], self.criterion)
        grown = Grown(kept, importances, None)
        if not self.keeps_targets:
            return grown
        grove = grown.grove()
        return Grown(grove, importances, leaf_samples(grove, self.X, self.targets[:, 0], weights))
