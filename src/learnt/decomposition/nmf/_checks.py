"""Matrices that must not have entries below 0: X, and factors that are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_lazy
from learnt.engine.rows import Block, as_rows


def check_not_negative(X: Any, whose: str, start: int = 0) -> None:
    """Refuse a matrix with an entry below 0, and say which; `start` is the number of its first row.

    >>> check_not_negative(np.eye(2), "NMF (input X)")
    """
    if is_lazy(X):
        as_rows(X).sum(checked_block, whose)
        return
    cells = X.tocoo() if sparse.issparse(X) else None
    values = X if cells is None else cells.data
    if not values.size or values.min() >= 0:
        return
    if cells is None:
        row, column = (int(i) for i in np.argwhere(X < 0)[0])
        value = X[row, column]
    else:
        at = int(np.argmax(values < 0))
        row, column, value = cells.row[at], cells.col[at], values[at]
    raise ValueError(
        f"Negative values in data passed to {whose}: row {start + row}, column {column} is {value:g}, and "
        "all numbers must be at least 0; shift or clip them."
    )


def checked_block(block: Block, whose: str) -> tuple[int]:
    """One block of what is read in blocks."""
    check_not_negative(block.X, whose, block.start)
    return (block.X.shape[0],)


def checked_factor(A: Any, shape: tuple[Any, Any], dtype: Any, name: str) -> np.ndarray:
    """A factor that is given: of this shape ("auto": any) and dtype, finite, not negative, not all 0."""
    whose = f"NMF (input {name})"
    if A is None:
        raise ValueError(f"init='custom' needs both W and H, and {name} is missing; give it to fit_transform.")
    A = np.asarray(A)
    if A.dtype.kind in "iub":
        A = A.astype(dtype)
    if A.ndim != 2 or not np.isfinite(A).all():
        raise ValueError(f"Array passed to {whose} must be a matrix of finite numbers; its shape is {A.shape}.")
    for which, (wanted, got) in zip(("first", "second"), zip(shape, A.shape, strict=True), strict=True):
        if wanted != "auto" and got != wanted:
            raise ValueError(f"Array with wrong {which} dimension passed to {whose}. Expected {wanted}, but got {got}.")
    check_not_negative(A, whose)
    if A.max(initial=0.0) == 0:
        raise ValueError(f"Array passed to {whose} is full of zeros.")
    if A.dtype != dtype:
        raise TypeError(f"{name} should have the same dtype as X ({np.dtype(dtype)}). Got {name}.dtype = {A.dtype}.")
    return A
