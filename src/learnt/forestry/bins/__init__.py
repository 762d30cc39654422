"""Columns as codes of one byte: bins of numbers, codes of categories.

_bins        Numbers and categories as small integers: every column in at most 255 bins, one byte a cell
_categories  Columns of categories: which they are, and their values as codes 0…K−1
_kernels     Compiled parts of binning: edges of equal weight, how far along a column bins are
_pieces      Pieces of files and partitions as matrices, and the categories that are in them
_chosen      Rows of files and Dask collections as a table of bytes
_single      Bins of a table as it is in single precision, without a copy of the whole table in single precision
"""
