"""Density trees: cells of a box that follow the rows, with no target.

_grow      Growth in one compiled call, the best gain first: columns sorted once and parted with their rows
_rounds    Growth of large trees on many threads: nodes that are small enough are grown apart
_gaussian  What a cut gains by the entropy of Gaussians
_data      Indices of the records of growth, and the position of a cut
_cells     A tree grown in a box, the cells of its nodes, and pruning by the likelihood of validation rows
"""
