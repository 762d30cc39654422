"""How rows are divided into groups: by class, or by shares (responsibilities) in every group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from learnt.engine.arrays import is_foreign_array, is_lazy, is_numpy, like, namespace, to_device_of
from learnt.engine.rows.blocks import Block


class Groups(NamedTuple):
    """`of(block, *state)`, a pure module-level function, gives the group of each row of a block, one of 0…n−1, as an
    array of integers, or the share of each row in every group as a matrix of n columns.

    Shares need not add up to 1; they are multiplied by the weights of the rows.
    """

    n: int
    of: Callable[..., Any]
    state: tuple = ()

    def __call__(self, block: Block) -> Any:
        return self.of(block, *self.state)


def classes_in_y(n: int) -> Groups:
    """The y of the rows holds the groups, as integers 0…n−1."""
    return Groups(n, _y)


def labels_in_y(labels: Any) -> Groups:
    """The y of the rows holds labels; a group for each of `labels`, which are sorted and contain them all."""
    return Groups(len(labels), _positions, (labels,))


def of_classes(classes: Any, y: Any) -> Groups:
    """A group for each class: y holds their positions, or, where it is read in blocks, still the labels."""
    return labels_in_y(classes) if is_lazy(y) else classes_in_y(classes.shape[0])


def given(values: Any, n: int | None = None) -> Groups:
    """An array of one group a row, or a matrix of shares with a row for each row, in memory."""
    if values.ndim == 2:
        return Groups(values.shape[1], _part, (values,))
    xp = namespace(values)
    low, high = (int(xp.min(values)), int(xp.max(values))) if values.shape[0] else (0, -1)
    n = high + 1 if n is None else n
    require_known(low, high, n)
    return Groups(n, _part, (values,))


def require_known(low: int, high: int, n: int) -> None:
    """Refuse groups from `low` to `high` if there are only n."""
    if low < 0 or high >= n:
        raise ValueError(f"A row is in group {low if low < 0 else high}, and the {n} groups are 0 to {n - 1}.")


def as_groups(by: Any) -> Groups | None:
    return by if by is None or isinstance(by, Groups) else given(by)


def _y(block: Block) -> Any:
    return block.y


def _positions(block: Block, labels: Any) -> Any:
    return namespace(block.y).searchsorted(to_device_of(labels, block.y), block.y)


def _part(block: Block, values: Any) -> Any:
    part = values[block.start : block.start + block.X.shape[0], ...]
    if is_numpy(part) and is_foreign_array(block.X):
        xp = namespace(block.X)
        return like(part, block.X, xp.int64 if part.ndim == 1 else xp.float64)
    return part
