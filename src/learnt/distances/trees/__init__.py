"""Search through trees.

_index       trees of boxes and balls by Minkowski distances, as an index of `Search`
_build       how one is built
_bounds      how near and how far the points of a node may be; distances to the points of a leaf
_kernels     traversals for the nearest points
_radius      traversals for all points within a radius
_ball_sums   what values of the points add up to within a radius, whole nodes at once
_metric      a ball tree by any metric
_nodes       the nodes as arrays, and which of them a query has to open
"""
