"""One round of AdaBoost: fit a weak learner to weighted rows and find its errors; and the vote of many."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.mixins import clone
from learnt.engine.single import require_float32
from learnt.engine.threads import for_blocks
from learnt.ensemble._common import is_numbers, member_maker
from learnt.ensemble.adaboost._stumps import MOST_CELLS, MOST_ROWS, SortedColumns, add_stumps
from learnt.forestry import PackedTrees, Tree
from learnt.tree import DecisionTreeClassifier

Learner = Callable[[np.ndarray], tuple[Any, np.ndarray]]
_GRAIN = 1 << 12
_MAX_SEED = np.iinfo(np.int32).max


def learner_of(
    prototype: Any, X: Any, y: np.ndarray, codes: np.ndarray, classes: np.ndarray, random: np.random.RandomState
) -> Learner:
    """weights → (fitted copy of the prototype, which rows it gets wrong)."""
    small = is_numbers(X) or (sparse.issparse(X) and X.shape[0] * X.shape[1] <= MOST_CELLS)
    if is_stump(prototype) and len(classes) > 1 and small and X.shape[0] < MOST_ROWS:
        return _Stumps(prototype, X, codes, classes, random)

    make = member_maker(prototype)

    def fit(weights: np.ndarray) -> tuple[Any, np.ndarray]:
        member = make(random)
        member.fit(X, y, sample_weight=weights)
        return member, member.predict(X) != y

    return fit


def is_stump(prototype: Any) -> bool:
    """Whether this is our own tree of depth 1 with nothing else set, which the fast path grows."""
    if type(prototype) is not DecisionTreeClassifier:
        return False
    given, plain = prototype.get_params(deep=False), DecisionTreeClassifier(max_depth=1).get_params(deep=False)
    return all(key == "random_state" or given[key] is plain[key] or given[key] == plain[key] for key in plain)


class _Stumps:
    """Trees of depth 1 on columns that were sorted once."""

    def __init__(
        self, prototype: Any, X: Any, codes: np.ndarray, classes: np.ndarray, random: np.random.RandomState
    ) -> None:
        require_float32(X, "AdaBoostClassifier")
        self._columns = SortedColumns(X, codes, len(classes))
        self._random = random
        # All attributes of a fitted tree besides its nodes. A test compares them with those of a grown tree.
        self._model = clone(prototype)
        self._model.n_features_in_ = self._model.max_features_ = X.shape[1]
        self._model.classes_, self._model.n_classes_ = classes, len(classes)
        self._model.n_outputs_, self._model._categories = 1, None

    def __call__(self, weights: np.ndarray) -> tuple[Any, np.ndarray]:
        member = copy(self._model)
        member.random_state = int(self._random.randint(_MAX_SEED))
        member.tree_, wrong = self._columns.best(weights)
        return member, wrong


def class_votes(members: list[Any], weights: np.ndarray, classes: np.ndarray, X: Any, out: np.ndarray) -> None:
    """out[i, c] += Σ weights of the members that predict class c for row i."""
    trees = [_class_tree(member, classes) for member in members]
    if all(tree is not None for tree in trees) and is_numbers(X):
        _tree_votes(trees, weights, X, out)
        return
    rows = np.arange(X.shape[0])
    for member, weight in zip(members, weights):
        out[rows, np.searchsorted(classes, member.predict(X))] += weight


def _class_tree(member: Any, classes: np.ndarray) -> Tree | None:
    """The tree of a member that is one of ours and has exactly these classes."""
    if type(member) is not DecisionTreeClassifier or member.tree_.n_outputs != 1:
        return None
    same = member.classes_ is classes or np.array_equal(member.classes_, classes)
    return member.tree_ if same and member.tree_.surrogates is None else None


def _tree_votes(trees: list[Any], weights: np.ndarray, X: np.ndarray, out: np.ndarray) -> None:
    width = out.shape[1]
    if X.dtype != np.float32:
        require_float32(X, "AdaBoostClassifier")
        X = X.astype(np.float32)  # as trees compare
    one_hot = np.eye(width)
    if not all(tree.node_count <= 3 and len(tree.table) == 0 for tree in trees):
        ballots = [weight * one_hot[tree.value[:, 0].argmax(axis=1)] for tree, weight in zip(trees, weights)]
        PackedTrees.from_trees([_voting_tree(*pair) for pair in zip(trees, ballots)]).sum(X, out)
        return
    feature = np.array([max(tree.feature[0], 0) for tree in trees], dtype=np.int64)
    threshold = np.array([tree.threshold[0] for tree in trees])
    missing = np.array([tree.missing_go_to_left[0] for tree in trees])
    sides = np.array([tree.value[-2:, 0] if tree.node_count == 3 else tree.value[[0, 0], 0] for tree in trees])
    ballots = weights[:, None, None] * one_hot[sides.argmax(axis=2)]
    left, right = np.ascontiguousarray(ballots[:, 0]), np.ascontiguousarray(ballots[:, 1])

    def work(lo: int, hi: int) -> None:
        add_stumps(X[lo:hi], feature, threshold, missing, left, right, out[lo:hi])

    for_blocks(work, X.shape[0], grain=_GRAIN)


def _voting_tree(tree: Tree, ballot: np.ndarray) -> Tree:
    voter = copy(tree)
    voter.value = ballot[:, None, :]
    return voter
