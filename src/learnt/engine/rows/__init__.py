"""Rows, wherever they are stored: the summation form, `as_rows(X).sum(statistic)`.

summation      `as_rows`, and what is made of rows: scores, transformed rows, rows brought into memory
blocks         a block of rows, how large one is, and how partial sums are put together
array_rows     rows in memory: arrays, memory maps, CSR, tensors
table_rows     rows of Parquet and Arrow files, which `tables` reads a block at a time
files          what such a file is by its content, and whether it is still the one that was opened
dask_rows      rows of Dask collections
dask_parts     the partitions of these, and arrays put together from parts
seen_rows      rows with a function applied to their blocks
equal_rows     the first of equal rows
"""

from learnt.engine.rows.array_rows import ArrayRows, Rows, Statistic, csr_rows
from learnt.engine.rows.blocks import Block
from learnt.engine.rows.dask_parts import NO_ROWS, known_lengths, only_rows, partitions, rows_of_parts
from learnt.engine.rows.dask_rows import DaskRows
from learnt.engine.rows.summation import as_rows, in_blocks_as, in_memory, scores, target_in_memory, transform
from learnt.engine.rows.table_rows import TableRows
from learnt.engine.rows.tables import Table, scan

__all__ = [
    "NO_ROWS",
    "ArrayRows",
    "Block",
    "DaskRows",
    "Rows",
    "Statistic",
    "Table",
    "TableRows",
    "as_rows",
    "csr_rows",
    "in_blocks_as",
    "in_memory",
    "known_lengths",
    "only_rows",
    "partitions",
    "rows_of_parts",
    "scan",
    "scores",
    "target_in_memory",
    "transform",
]
