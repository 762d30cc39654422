"""Rows with a function applied.

Other columns, indicators of categories, bins, computed block by block as they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from learnt.engine.arrays import to_numpy
from learnt.engine.matrices import dense, double
from learnt.engine.rows.array_rows import Cells, Merge, Rows, Statistic
from learnt.engine.rows.blocks import Block


class MappedRows(Rows):
    """`rows` whose X is `function(block, *state)`, with `n_features` columns; y and weights stay as they are.

    The function is a pure module-level one, so that it can be pickled and sent to where the rows are.
    """

    def __init__(self, rows: Rows, n_features: int, function: Callable[..., Any], *state: Any) -> None:
        self.rows, self.n_features, self.function, self.state = rows, n_features, function, state
        self.y, self.w, self.n_jobs = rows.y, rows.w, rows.n_jobs
        self.dtype, self.reference = rows.dtype, rows.reference

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return self.rows.n_rows

    def over(self, rows: Rows) -> MappedRows:
        """The same function of other rows."""
        return MappedRows(rows, self.n_features, self.function, *self.state)

    def reduce(self, statistic: Statistic, merge: Merge, *state: Any) -> Any:
        return self.rows.reduce(through, merge, statistic, self.function, self.state, state)

    def map(self, function: Callable[..., Any], *state: Any) -> Any:
        return self.rows.map(through, function, self.function, self.state, state)

    def pieces(self, function: Callable[..., Any], *state: Any) -> Iterator[tuple[int, Any]]:
        return self.rows.pieces(through, function, self.function, self.state, state)

    def again(self, y: Any, w: Any, cells: Cells | None) -> MappedRows:
        return self.over(self.rows.again(y, w, cells))

    def take(self, index: Any) -> Any:
        return double(to_numpy(dense(self.function(Block(self.rows.take(index)), *self.state))))

    def head(self, n: int) -> Block:
        block = self.rows.head(n)
        return block._replace(X=self.function(block, *self.state))


def through(
    block: Block, statistic: Statistic, function: Callable[..., Any], mapping_state: tuple, state: tuple
) -> Any:
    """The statistic of a block whose X is what the function makes of it."""
    return statistic(block._replace(X=function(block, *mapping_state)), *state)
