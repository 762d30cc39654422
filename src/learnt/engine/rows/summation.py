"""The summation form: one body of code for arrays, memory maps, files and clusters.

Least squares, discriminants, naive Bayes, PCA, generalised linear models and k-means all fit from sums over rows. An
estimator states the sum and asks for it; where the rows are stored does not matter to it:

    def moments(block, shift):                       # a statistic: a pure function of a block and some state
        Z = block.X - shift
        return block.X.shape[0], Z.sum(axis=0), Z.T @ Z

    n, s, G = as_rows(X).sum(moments, shift)

The sum is the same to the last bit at any number of threads: blocks have a size that depends on the data alone, and are
added in order. Memory beyond the data is bounded by the block size and the statistic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import is_dask, is_lazy, is_numpy, to_device_of, to_numpy
from learnt.engine.matrices import affine
from learnt.engine.rows.array_rows import ArrayRows, Cells, Rows
from learnt.engine.rows.dask_rows import DaskRows
from learnt.engine.rows.table_rows import TableRows
from learnt.engine.rows.tables import Table

_SMALL = 1 << 17  # cells below which a plain product is quicker than blocks on the pool


def as_rows(X: Any, y: Any = None, w: Any = None, *, n_jobs: int | None = None, cells: Cells | None = None) -> Rows:
    """Rows from whatever holds them: an array, a memory map, a `learnt.scan` table, or a Dask collection.

    The cells of files and Dask collections are finite numbers, unless `cells` makes a matrix of what they hold.

    >>> import numpy as np
    >>> as_rows(np.arange(6.0).reshape(3, 2)).sum(lambda block: (block.X.sum(axis=0),))
    (array([6., 9.]),)
    """
    if isinstance(X, Rows):
        return X
    if is_dask(X):
        return DaskRows(X, y, w, n_jobs, cells)
    if isinstance(X, Table):
        return TableRows(X, y, w, n_jobs, cells)
    return ArrayRows(X, y, w, n_jobs)


def in_memory(values: Any) -> np.ndarray:
    """One number for each row, a column of a table or of a Dask collection say, as a NumPy array.

    >>> in_memory(np.arange(2.0))
    array([0., 1.])
    """
    if isinstance(values, Table):
        return values.numbers(0, len(values))[:, 0]
    return np.asarray(values.compute()) if is_lazy(values) else to_numpy(values)


def in_blocks_as(values: Any, X: Any) -> bool:
    """Whether these are read in blocks as X is: columns of a file, or a Dask collection."""
    return is_dask(values) if is_dask(X) else isinstance(values, Table)


def target_in_memory(y: Any) -> Any:
    """A target, or weights, as what is validated in memory: columns of a file or of a Dask collection are read.

    >>> target_in_memory(["yes", "no"])
    ['yes', 'no']
    """
    if isinstance(y, Table):
        if len(y.columns) > 1:
            return y.to_numpy()
        return y.labels().reshape(y.shape)
    return y.compute() if is_lazy(y) else y


def scores(X: Any, coef: Any, intercept: Any) -> Any:
    """X coefᵀ + intercept wherever X is stored: (n,) for one vector of coefficients, (n, k) for several.

    >>> import numpy as np
    >>> scores(np.eye(2), np.array([1.0, 2.0]), 0.5)
    array([1.5, 2.5])
    """
    coef, intercept = to_device_of(coef, X), to_device_of(intercept, X)
    if is_numpy(X) and X.size <= _SMALL:
        return affine(X, coef, intercept)
    return as_rows(X).scores(coef, intercept)


def transform(X: Any, columns: Any, function: Any, *state: Any) -> Any:
    """`rows.map` for transformers: what is read in blocks stays so, transformed as it is read.

    `columns` gives the names of the new columns, which a `learnt.scan` table has; other rows need none.
    """
    return X.then(function, state, columns()) if isinstance(X, Table) else as_rows(X).map(function, *state)
