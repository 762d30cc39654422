"""Trees of forests, grown on binned columns.

_forest         Trees on binned features, for forests: `bin_table` once, `grow_binned` a tree
_grow           One tree on binned features, whole, in one call: frontier, choice of features, split, partition
_lazy           The table that binned trees are grown on, of rows that are read in blocks
_pairs          Searches at a node for one number or two classes a row, where no value is missing
_random         Extremely randomised trees on binned features: one number or two classes a row, nothing missing
_random_search  Random splits of a node on binned features: the ranges of columns, a bin drawn of some
_row_vectors    Whole rows of a table at a time: ranges and sums of columns side by side
_search         The best split of one node on one binned feature: sweeps over sorted codes, over histograms
"""
