"""Rows, wherever they are stored: the summation form, `as_rows(X).sum(statistic)`.

summation      `as_rows`, and what is made of rows: scores, transformed rows, rows brought into memory
blocks         a block of rows, how large one is, and how partial sums are put together
array_rows     rows in memory: arrays, memory maps, CSR, tensors
table_rows     rows of Parquet and Arrow files, which `tables` reads a block at a time
dask_rows      rows of Dask collections
seen_rows      rows with a function applied to their blocks
equal_rows     the first of equal rows
"""

from learnt.engine.rows.array_rows import ArrayRows, Rows, Statistic, csr_rows
from learnt.engine.rows.blocks import Block
from learnt.engine.rows.dask_rows import DaskRows
from learnt.engine.rows.summation import as_rows, in_memory, scores, target_in_memory, transform
from learnt.engine.rows.table_rows import TableRows
from learnt.engine.rows.tables import Table, scan

__all__ = [
    "ArrayRows",
    "Block",
    "DaskRows",
    "Rows",
    "Statistic",
    "Table",
    "TableRows",
    "as_rows",
    "csr_rows",
    "in_memory",
    "scan",
    "scores",
    "target_in_memory",
    "transform",
]
