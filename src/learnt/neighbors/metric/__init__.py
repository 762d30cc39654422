"""Learning the metric:  d(x, y) = ‖A(x − y)‖, with A from labelled rows.

NeighborhoodComponentsAnalysis      A for which a random near neighbour most often has the row's class
LMNN                                A for which rows of another class are farther away than the nearest of the same

_components, _large_margin
_linear      what both share: `transform`, the matrix AᵀA, descent
_pairs       sums over all pairs of rows, and their slope in A; _kernels   what a row adds, compiled
_starts      the `init` parameter
"""
