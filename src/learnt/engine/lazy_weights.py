"""Rows of weight 0 of tables that are read in blocks: found in one pass over the weights, and in no other pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import is_dask
from learnt.engine.matrices import take_rows
from learnt.engine.rows import DaskRows, Table, in_blocks_as, known_lengths, only_rows, partitions, target_in_memory
from learnt.engine.targets import as_weights, plain_array


class Present(NamedTuple):
    """The numbers of the rows of weight above 0, of how many rows, and how many each partition of the weights has."""

    rows: np.ndarray | None  # None: no weight is 0, or the weights cannot be used and are refused later
    n: int
    lengths: list[int] | None = None


class Seen(NamedTuple):
    """Which rows of a block have weight, one bit a row."""

    n: int
    n_kept: int
    bits: np.ndarray | None  # None: these are no weights

    def kept(self) -> np.ndarray:
        """The numbers of these rows in the block."""
        return np.flatnonzero(np.unpackbits(self.bits, count=self.n))  # type: ignore[arg-type]


def see_present(weights: Any) -> Seen:
    """A look at one block of weights."""
    try:
        w = as_weights(weights)
    except ValueError:
        return Seen(len(weights), 0, None)
    usable = w.ndim == 1 and bool((w >= 0).all())
    return Seen(len(w), int(np.count_nonzero(w)), np.packbits(w > 0) if usable else None)


def present_in_parts(weights: Any) -> Present:
    """The rows of weight above 0, of weights in memory or of a column that is read in blocks."""
    if is_dask(weights):
        import dask

        seen = dask.compute(*[dask.delayed(see_present)(part) for part in partitions(weights)])
    elif isinstance(weights, Table):
        blocks = (weights.matrix(lo, hi, plain_array) for lo, hi in weights.ranges())
        seen = tuple(see_present(block[:, 0] if weights.single else block) for block in blocks)
    else:
        seen = (see_present(weights),) if np.ndim(weights) else ()
    n, n_kept = sum(block.n for block in seen), sum(block.n_kept for block in seen)
    lengths = [block.n for block in seen] if is_dask(weights) else None
    if n_kept in (0, n) or any(block.bits is None for block in seen):
        return Present(None, n, lengths)
    starts = np.cumsum([0, *[block.n for block in seen[:-1]]])
    rows = np.concatenate([start + block.kept() for start, block in zip(starts, seen, strict=True)])
    return Present(rows, n, lengths)


def without_absent_in_parts(X: Any, y: Any, weights: Any, checked: bool) -> tuple[Any, Any, Any, np.ndarray | None]:
    """What `engine.weights.without_absent` gives, of rows that are read in blocks and stay where they are."""
    if weights is None:
        return X, y, weights, None
    here = [values if _stays(values, X) else target_in_memory(values) for values in (y, weights)]
    present = present_in_parts(here[1])
    if present.rows is None:
        return X, y, weights, None
    lengths = (present.lengths or known_lengths(X) or DaskRows(X).lengths) if is_dask(X) else []
    if not all(_fits(part, present.n, lengths) for part in (X, *here)):
        return X, y, weights, None  # to be refused later
    y, weights = (_only(part, present.rows, lengths, False) for part in here)
    return _only(X, present.rows, lengths, checked), y, weights, present.rows


def _stays(values: Any, X: Any) -> bool:
    return in_blocks_as(values, X) and not (isinstance(values, Table) and values.transformed)


def _fits(values: Any, n: int, lengths: list[int]) -> bool:
    """Whether these are as many rows, in as many partitions where these have not been counted."""
    if values is None:
        return True
    if not is_dask(values):
        return len(values) == n
    known = known_lengths(values)
    return sum(known) == n if known else len(partitions(values)) == len(lengths)


def _only(values: Any, rows: np.ndarray, lengths: list[int], checked: bool) -> Any:
    if isinstance(values, Table):
        return values.only(rows)
    if is_dask(values):
        return only_rows(values, rows, known_lengths(values) or lengths, checked)
    return None if values is None else take_rows(values, rows)
