"""Two ways to the machines of all pairs of classes: each from its own rows, or all from one kernel matrix."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from learnt.engine.threads import run_tasks
from learnt.svm.dual._kernel import Kernel, TrainingKernel
from learnt.svm.dual._pairs import pair_index, pairs_of
from learnt.svm.dual._problems import Machine, as_given
from learnt.svm.dual._shared import has_room, table_of

_FOLDS = 5  # of the cross-validation that probabilities come from


class Fitted(NamedTuple):
    """What was found for all pairs."""

    coef: np.ndarray  # (n_classes − 1, rows): that of a row's class against each other class
    intercept: np.ndarray  # (pairs,)
    steps: np.ndarray
    gap: np.ndarray
    dual_gap: np.ndarray
    converged: np.ndarray


class Data(NamedTuple):
    """What all pairs are fitted to."""

    kernel: Kernel
    X: Any
    codes: np.ndarray  # classes as 0, 1, …
    n_classes: int
    weight: np.ndarray  # of rows and classes


class Way(Protocol):
    """How the machines are found."""

    def fit(self) -> Fitted:
        """The machines of all pairs."""

    def held_out(self, ranks: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """For every pair its rows, and decision values of machines that have not seen them."""


def way_of(model: Any, data: Data) -> Way:
    """All together where one kernel matrix has room and no pair is large."""
    if model._may_share() and has_room(data.codes, data.n_classes, model._effort()):
        return Together(model, data)
    return Apart(model, data)


class Together:
    """All pairs of a small table."""

    def __init__(self, model: Any, data: Data) -> None:
        self.model, self.data = model, data
        largest = model._largest(data.weight)
        self.table = table_of(data.kernel, data.X, data.codes, data.n_classes, largest, model._effort())
        self.weight = data.weight[self.table.order]

    def fit(self) -> Fitted:
        """The machines of all pairs."""
        k, begin, order = self.data.n_classes, self.table.begin, self.table.order
        index = pair_index(k)
        layout = self.table.layout(np.column_stack([index.first, index.second]))
        found = self.model._machines(self.table, layout, self.weight[layout.at])
        coef = np.zeros((k - 1, len(order)))
        for (i, j), a, b in zip(pairs_of(k), layout.sides[::2], layout.sides[1::2]):
            rows = slice(begin[i], begin[i + 1])
            coef[j - 1, order[rows]] = found.coef[a:b]
            rows = slice(begin[j], begin[j + 1])
            coef[i, order[rows]] = found.coef[b : b + begin[j + 1] - begin[j]]
        return Fitted(coef, found.intercept, found.steps, found.gap, found.dual_gap, found.converged)

    def held_out(self, ranks: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """For every pair its rows, and decision values of machines that have not seen them."""
        count, names = np.diff(self.table.begin), pairs_of(self.data.n_classes)
        folds = [folds_of(count[[i, j]]) for i, j in names]
        rank = ranks[self.table.order]
        values = [np.where(np.arange(count[i] + count[j]) < count[i], 1.0, -1.0) for i, j in names]
        tried = [(p, fold) for p, n in enumerate(folds) for fold in range(n)]
        if tried:
            layout = self.table.layout(np.array([names[p] for p, _ in tried]))
            begin = layout.sides[::2]
            each = np.diff(begin, append=len(layout.at))
            parts, fold = np.repeat([[folds[p] for p, _ in tried], [fold for _, fold in tried]], each, axis=1)
            outside = rank[layout.at] % parts == fold
            found = self.model._machines(self.table, layout, np.where(outside, 0.0, self.weight[layout.at]))
            for (p, _), a, m in zip(tried, begin, each):
                there = outside[a : a + m]
                values[p][there] = found.values[a : a + m][there]
        rows = [np.concatenate([self._rows(i), self._rows(j)]) for i, j in names]
        return list(zip(rows, values))

    def _rows(self, i: int) -> np.ndarray:
        """The rows of a class."""
        return self.table.order[self.table.begin[i] : self.table.begin[i + 1]]


class Apart:
    """One pair at a time on every thread."""

    def __init__(self, model: Any, data: Data) -> None:
        self.model, self.data = model, data

    def fit(self) -> Fitted:
        """The machines of all pairs."""
        k, codes = self.data.n_classes, self.data.codes
        names = pairs_of(k)
        rows = [np.flatnonzero((codes == i) | (codes == j)) for i, j in names]
        tasks = [partial(self._machine, pair, at) for pair, at in zip(names, rows)]
        machines = [tasks[0]()] if len(tasks) == 1 else run_tasks(tasks)
        coef = np.zeros((k - 1, len(codes)))
        for (i, j), machine, at in zip(names, machines, rows):
            first = codes[at] == i
            coef[j - 1, at[first]] = machine.coef[first]
            coef[i, at[~first]] = machine.coef[~first]
        parts = zip(*(machine[1:] for machine in machines))
        return Fitted(coef, *map(np.array, parts))

    def held_out(self, ranks: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """For every pair its rows, and decision values of machines that have not seen them."""
        return run_tasks([partial(self._held_out, pair, ranks) for pair in pairs_of(self.data.n_classes)])

    def _held_out(self, pair: tuple[int, int], ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kernel, X, codes = self.data.kernel, self.data.X, self.data.codes
        rows = np.flatnonzero((codes == pair[0]) | (codes == pair[1]))
        values = np.where(codes[rows] == pair[0], 1.0, -1.0)
        folds = folds_of(np.bincount(codes[rows])[list(pair)])
        for fold in range(folds):
            outside = ranks[rows] % folds == fold
            some, others = rows[~outside], rows[outside]
            machine = self._machine(pair, some)
            used = np.flatnonzero(machine.coef)
            coef = machine.coef[used][:, None]
            if kernel.name == "precomputed":
                score = X[np.ix_(others, some[used])] @ coef
            else:
                score = kernel.scores(X[others], X[some[used]], coef)
            values[outside] = score[:, 0] + machine.intercept
        return rows, values

    def _machine(self, pair: tuple[int, int], rows: np.ndarray) -> Machine:
        """The machine of a pair of classes, fitted on these rows."""
        kernel, X, codes, _, weight = self.data
        y = np.where(codes[rows] == pair[0], 1.0, -1.0)
        if len(rows) == len(codes):
            part = X
        else:
            part = X[np.ix_(rows, rows)] if kernel.name == "precomputed" else X[rows]
        training = TrainingKernel(kernel, part)
        return as_given(self.model._machine(training, y, weight[rows], pair), training)


def folds_of(count: np.ndarray) -> int:
    """Of how many parts each is held out once, where two classes have so many rows; 0: too few to hold any out."""
    folds = min(_FOLDS, int(count.min()))
    return folds if folds >= 2 else 0


def ranks_in_classes(codes: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """The place of each row in a random order of the rows of its class."""
    shuffled = random.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    count = np.bincount(codes)
    ranks = np.empty(len(codes), np.int64)
    ranks[order] = np.arange(len(codes)) - np.repeat(np.cumsum(count) - count, count)
    return ranks
