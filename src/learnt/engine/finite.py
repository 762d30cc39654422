"""Are all numbers finite? One pass over an array of any library, without a temporary array of its size.

A sum is finite unless one of its terms is not, or it overflows; only then are the cells checked, a block at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_numpy, namespace, to_numpy
from learnt.engine.threads import for_blocks

_CELLS = 1 << 18  # of a block of a NumPy array
_DEVICE_CELLS = 1 << 22


class Bad(NamedTuple):
    """Values that are not finite: what the first is, where, and how many there are."""

    kind: str
    position: tuple[int, ...]
    in_all: int


def require_finite(X: Any, what: str, name: str, columns: list[str] | None = None) -> None:
    """Raise one sentence that says where the first NaN or infinity is, of an array or a CSR matrix."""
    bad = bad_cells(X)
    if bad is not None:
        refuse_bad(bad, what, name, columns)


def bad_cells(X: Any) -> Bad | None:
    """The first NaN or infinity of an array or a CSR matrix; None where all cells are finite.

    >>> bad_cells(np.array([[0.0, 1.0], [np.nan, np.inf]]))
    Bad(kind='NaN', position=(1, 0), in_all=2)
    """
    cells = X.data if sparse.issparse(X) else X
    if all_finite(cells):
        return None
    bad = _first_bad_cell(cells)
    if cells is X:
        return bad
    place = bad.position[0]  # the row that a stored entry belongs to, and its column
    return bad._replace(position=(int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])))


def refuse_bad(bad: Bad, what: str, name: str, columns: list[str] | None = None) -> NoReturn:
    """Raise one sentence about values that are not finite."""
    position = bad.position
    where = f"at row {position[0]}"
    if len(position) > 1:
        where += f", column {columns[position[1]]!r}" if columns else f", column {position[1]}"
    total = f" ({bad.in_all} such values in all)" if bad.in_all > 1 else ""
    cure = "drop those rows or fill them in, for example with learnt.preprocessing.TableEncoder"
    if what != "X":
        cure = "give every row a weight" if what == "sample_weight" else "drop those rows"
    raise ValueError(f"Input {what} contains {bad.kind} {where}{total}, and {name} needs finite numbers; {cure}.")


@contextmanager
def rows_as_given(rows: Sequence[int] | np.ndarray | None) -> Iterator[None]:
    """A context in which errors name rows by their numbers in the whole table, where `rows` are those of a part of it.

    >>> with rows_as_given([4, 6]):
    ...     raise ValueError("NaN at row 1")
    Traceback (most recent call last):
    ValueError: NaN at row 6
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        message = str(error)
        if rows is not None:
            message = re.sub(r"at row (\d+)", lambda found: f"at row {rows[int(found[1])]}", message)
        if message == str(error):
            raise
        raise type(error)(message) from None


def require_finite_cells(estimator: Any, X: Any) -> None:
    """The same for an estimator whose cells are validated only when its sums show that one is not finite."""
    names = getattr(estimator, "feature_names_in_", None)
    require_finite(X, "X", type(estimator).__name__, None if names is None else [str(name) for name in names])


def all_finite(X: Any) -> bool:
    """Whether no cell of an array of floats is NaN or infinite.

    >>> all_finite(np.array([1e308, 1e308])), all_finite(np.array([[0.0, np.inf]]))
    (True, False)
    """
    if not is_numpy(X):
        xp = namespace(X)
        return bool(xp.isfinite(xp.sum(X))) or all(bool(xp.all(xp.isfinite(block))) for _, block in _blocks(X))
    if X.size <= _CELLS:
        return _sum_or_cells(X)
    X = X if X.flags.c_contiguous or X.ndim == 1 else X.T
    return all(for_blocks(lambda lo, hi: _sum_or_cells(X[lo:hi]), X.shape[0], grain=_rows(X, _CELLS)))


def _sum_or_cells(X: np.ndarray) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.add.reduce(X, axis=None)) or np.isfinite(X).all())


def _first_bad_cell(X: Any) -> Bad:
    """The first cell that is not finite, its position, and the number of such cells."""
    kind, count = "", 0
    first: tuple[int, ...] = ()
    for start, block in _blocks(X):
        bad = to_numpy(~namespace(block).isfinite(block))
        here = int(np.count_nonzero(bad))
        if here and not count:
            row, *rest = np.unravel_index(int(bad.argmax()), bad.shape)
            kind = "NaN" if np.isnan(to_numpy(block[int(row) : int(row) + 1, ...])[(0, *rest)]) else "infinity"
            first = (start + int(row), *(int(i) for i in rest))
        count += here
    return Bad(kind, first, count)


def _blocks(X: Any) -> Iterator[tuple[int, Any]]:
    step = _rows(X, _CELLS if is_numpy(X) else _DEVICE_CELLS)
    for start in range(0, X.shape[0], step):
        yield start, X[start : min(start + step, X.shape[0]), ...]


def _rows(X: Any, cells: int) -> int:
    return max(1, cells // max(1, int(np.prod(X.shape[1:]))))
