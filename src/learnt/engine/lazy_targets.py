"""Validation of targets and weights that are read in blocks: one pass over these columns, before any over X.

All that is asked of targets and weights in memory is asked of every block, in the same words; rows have the numbers
that they have in the whole table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import is_dask, is_lazy
from learnt.engine.finite import Bad, bad_cells, refuse_bad
from learnt.engine.rows import NO_ROWS, Table, as_rows, in_blocks_as, partitions, rows_of_parts, target_in_memory
from learnt.engine.targets import (
    Shape,
    as_target,
    as_weights,
    bad_target,
    check_array_target,
    check_array_weights,
    plain_array,
    refuse_target,
    require_labels,
    require_one_dimension,
    require_one_target_a_row,
    require_one_weight_a_row,
    require_positive,
    rows_known,
    target_dtype,
)


class Seen(NamedTuple):
    """What one block of a target or of weights holds."""

    rows: int
    bad: Bad | None  # the first value that cannot be used
    tail: tuple[int, ...] = ()  # the shape of what each row has
    dtype: Any = None
    lowest: float = np.inf
    total: float = 0.0


def check_lazy_columns(y: Any, kind: str | None, weights: Any, X: Any, name: str) -> tuple[Any, Any]:
    """The target (None where `kind` is) and weights of rows X that are read in blocks.

    Columns of the same file, or of a Dask collection as X is, stay where they are; others are brought into memory.
    """
    y, weights = (values if in_blocks_as(values, X) else target_in_memory(values) for values in (y, weights))
    dtype = target_dtype(X)
    if isinstance(y, Table):
        y = _table_target(y, kind, X, dtype, name)
    if isinstance(weights, Table):
        _look_at_table_weights(weights, X)
    here = [values for values in (y, weights) if values is not None and not is_lazy(values)]
    known = Shape((as_rows(X).n_rows, X.shape[1]), dtype) if here and rows_known(X) is None else X  # counted, once
    if kind is not None and not is_lazy(y):
        y = check_array_target(y, kind, known, name)
    if not is_lazy(weights):
        weights = check_array_weights(weights, known)
    if is_dask(y) or is_dask(weights):
        y, weights = _dask_columns(y, kind or "", weights, X, dtype, name)
    return None if kind is None else y, weights


def see_target(y: Any, kind: str, dtype: Any, name: str) -> Seen:
    """A look at one block of a target."""
    y = as_target(y, kind, dtype, name)
    bad = bad_target(y)
    if kind == "label" and bad is None:
        require_labels(y)
    return Seen(y.shape[0], bad, y.shape[1:], y.dtype)


def see_weights(weights: Any) -> Seen:
    """A look at one block of weights."""
    w = as_weights(weights)
    if not w.shape[0]:
        return Seen(0, None)
    return Seen(w.shape[0], bad_cells(w), lowest=float(w.min()), total=float(w.sum()))


def _first_bad(seen: Iterable[Seen]) -> Bad | None:
    """The first bad value of all blocks by its row in the whole table, and how many there are in all."""
    first, before, count = None, 0, 0
    for block in seen:
        if block.bad is not None:
            row, *rest = block.bad.position
            first = block.bad._replace(position=(before + row, *rest)) if first is None else first
            count += block.bad.in_all
        before += block.rows
    return None if first is None else first._replace(in_all=count)


def _judge_weights(seen: list[Seen]) -> None:
    bad = _first_bad(seen)
    if bad is not None:
        refuse_bad(bad, "sample_weight", "fit")
    require_positive(min(block.lowest for block in seen), sum(block.total for block in seen))


# --- columns of a file


def _table_target(y: Table, kind: str | None, X: Any, dtype: Any, name: str) -> Any:
    """The target, still to be read in blocks; labels, of which there is one a row, come into memory."""
    if kind is None:
        return None
    require_one_target_a_row(X.shape[0], y.shape[0])
    if kind == "label" and len(y.columns) == 1:
        return target_in_memory(y)
    refuse_target(_first_bad([see_target(part, kind, dtype, name) for part in _blocks(y)]), kind, name)
    return y[y.columns[0]] if kind == "number" else y


def _look_at_table_weights(weights: Table, X: Any) -> None:
    require_one_dimension(weights.ndim)
    require_one_weight_a_row(X.shape[0], weights.shape[0])
    _judge_weights([see_weights(part) for part in _blocks(weights)])


def _blocks(table: Table) -> Iterator[np.ndarray]:
    """What the file holds, missing values and all."""
    for lo, hi in table.ranges():
        block = table.matrix(lo, hi, plain_array)
        yield block[:, 0] if table.single else block


# --- Dask collections


def _dask_columns(y: Any, kind: str, weights: Any, X: Any, dtype: Any, name: str) -> tuple[Any, Any]:
    """Both as Dask arrays with chunks of known lengths, so that the rows of X need no counting; one computation."""
    import dask

    look, made = dask.delayed(see_target), dask.delayed(as_target)
    targets = partitions(y) if is_dask(y) else []
    shares = partitions(weights) if is_dask(weights) else []
    if shares:
        require_one_dimension(len(weights.shape))
    seen, weighed = dask.compute(
        [look(part, kind, dtype, name) for part in targets], [dask.delayed(see_weights)(part) for part in shares]
    )
    n = rows_known(X)
    if not sum(block.rows for block in seen or weighed):
        raise ValueError(NO_ROWS)
    if targets:
        refuse_target(_first_bad(seen), kind, name)
        lengths = [block.rows for block in seen]
        require_one_target_a_row(sum(lengths) if n is None else n, sum(lengths))
        held = [block for block in seen if block.rows] or seen
        parts = [made(part, kind, dtype, name) for part in targets]
        y = rows_of_parts(parts, lengths, held[0].tail, np.result_type(*{block.dtype for block in held}))
    if shares:
        _judge_weights(weighed)
        lengths = [block.rows for block in weighed]
        require_one_weight_a_row(sum(lengths) if n is None else n, sum(lengths))
        weights = rows_of_parts([dask.delayed(as_weights)(part) for part in shares], lengths, (), np.dtype(float))
    return y, weights
