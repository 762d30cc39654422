"""Epochs over rows of a file or a cluster, which are read again in every epoch, a piece in memory at a time.

Rows are shuffled within a piece, and pieces come in order. All classes go through a piece before the next is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.matrices import affine, join, n_stored, row_by_row, take_rows
from learnt.engine.rows import Block, Rows, as_rows, target_in_memory
from learnt.engine.threads import run_tasks
from learnt.engine.validation import Checked, check_fit
from learnt.linear_model.sgd import _kernels as k
from learnt.linear_model.sgd._run import Descent, End, Settings, Start

_CELLS = 1 << 22  # of small parts that are put together to one piece
_ODD = 2654435761  # spreads the numbers of epochs over seeds


class Pieces:
    """Rows that are read piece by piece, once an epoch."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.shape = rows.n_rows, rows.n_features
        self.dtype = rows.dtype

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """The number of the first row of a piece, and its matrix; small parts are put together."""
        parts: list[Any] = []
        first, cells = 0, 0
        for start, part in self._rows.pieces(_matrix):
            first = first if parts else start
            parts.append(part)
            cells += n_stored(part)
            del part
            if cells >= _CELLS:
                whole, parts, cells = join(parts), [], 0
                yield first, whole
                del whole  # before the next is read
        if parts:
            yield first, join(parts)


def check_pieces(model: Any, X: Any, y: Any, sample_weight: Any, target: str, reset: bool = True) -> Checked:
    """What `check_fit` gives, y and weights in memory; X is a matrix where it is one piece, and otherwise `Pieces`."""
    X, y, w = check_fit(model, X, target_in_memory(y), target_in_memory(sample_weight), target=target, reset=reset)
    pieces = Pieces(as_rows(X))
    n = pieces.shape[0]
    if n == 0:
        raise ValueError(f"X has 0 rows in all its pieces, and {type(model).__name__} needs at least 1.")
    _, first = next(iter(pieces))
    return Checked(first if first.shape[0] == n else pieces, y, w)


class Problem(NamedTuple):
    """What one vector of coefficients is fitted to: targets and weights of a span of rows, and a score of outputs."""

    start: Start
    seed: int
    target: Callable[[slice], tuple[np.ndarray, np.ndarray]]
    score: Callable[[np.ndarray], float]


class Chosen(NamedTuple):
    """The rows that count, and those of them that are held out to judge by."""

    present: np.ndarray
    judge: np.ndarray


def run_pieces(
    pieces: Pieces,
    problems: list[Problem],
    rows: Chosen,
    t: float,
    settings: Settings,
    n_jobs: int | None,
    report: Callable[[], bool] | None,
) -> list[End]:
    """Epochs until nothing improves, of all problems at once."""
    judged = len(rows.judge) > 0
    visited = np.zeros(pieces.shape[0], dtype=bool)
    visited[rows.present] = True
    visited[rows.judge] = False
    descents = [Descent(problem.start, t, settings, judged) for problem in problems]

    def visit(number: int, X: Any, first: int, epoch: int) -> None:
        span = slice(first, first + X.shape[0])
        y, weight = problems[number].target(span)
        order = np.flatnonzero(visited[span])
        if settings.shuffle:
            k.shuffle(order, (problems[number].seed + first + epoch * _ODD) & 0x7FFFFFFF)
        descents[number].visit(X, y, weight, order)

    for epoch in range(settings.max_iter):
        active = [i for i, descent in enumerate(descents) if not descent.over]
        for first, X in pieces:
            run_tasks([partial(visit, i, X, first, epoch) for i in active], n_jobs=n_jobs)
            del X  # before the next is read
        outputs = _outputs(pieces, rows.judge, [descents[i] for i in active]) if judged else None
        for place, i in enumerate(active):
            score = 0.0 if outputs is None else problems[i].score(outputs[:, place])
            descents[i].close_epoch(len(rows.present), score)
        stop = report is not None and report()
        for descent in descents:
            if stop and not descent.over:
                descent.status, descent.over = "stopped", True
        if all(descent.over for descent in descents):
            break
    return [descent.end() for descent in descents]


def _outputs(pieces: Pieces, judge: np.ndarray, descents: list[Descent]) -> np.ndarray:
    """xᵀw + b of the rows held out, by each run."""
    coef = np.stack([descent.coef for descent in descents])
    intercept = np.array([descent.intercept for descent in descents])
    out = np.empty((len(judge), len(descents)))
    for first, X in pieces:
        lo, hi = np.searchsorted(judge, (first, first + X.shape[0]))
        out[lo:hi] = affine(take_rows(X, judge[lo:hi] - first), coef, intercept)
    return out


def _matrix(block: Block) -> Any:
    return row_by_row(block.X)
