"""Distances between rows, and the search for the nearest.

Search             points, a metric and an index over them: `Search.build(points, metric)`, then
                   `.nearest(queries, k)`, `.nearest_blocks(queries, k, consume)`, `.within(queries, radius)`
Neighborhoods      what `within` answers: flat arrays, as many entries for each query as there are
resolve_metric, check_metric, METRIC_NAMES, SPARSE_METRIC_NAMES      which metric is meant, and whether it is one
distance_function                      all distances between two sets of rows, by the name of a metric
nearest_center, center_distances, center_errors, expanded            few centres, on arrays of any library
square_distance, square_distances      ‖x − y‖² in float64, in order of the features: the bits that settle ties
round_rows, squared_norms              what fast products are computed from

_search           the protocol           _metrics    names, parameters, matrices of distances
_brute            brute force: picks     _direct     from the distances themselves; _minkowski
_products         matrix products with an error bound, and exact distances where it leaves doubt
_rounded_points   what products need of the points, kept from query to query; _rounding, _kernels
_precomputed      distances that are given
_centers          the nearest of few centres
_select           the k smallest; _neighborhoods   all within a radius
"""

from learnt.distances._centers import (
    DEVICE_CELLS,
    center_distances,
    center_errors,
    expanded,
    nearest_center,
    squared_norms,
)
from learnt.distances._kd_tree import METRICS as KD_TREE_METRICS
from learnt.distances._kd_tree import tree_takes
from learnt.distances._metrics import METRIC_NAMES, SPARSE_METRIC_NAMES, check_metric, distance_function, resolve_metric
from learnt.distances._neighborhoods import Neighborhoods
from learnt.distances._rounding import round_rows, square_distance, square_distances
from learnt.distances._search import Search
from learnt.distances._select import Consume

__all__ = [
    "DEVICE_CELLS",
    "KD_TREE_METRICS",
    "METRIC_NAMES",
    "SPARSE_METRIC_NAMES",
    "Consume",
    "Neighborhoods",
    "Search",
    "center_distances",
    "center_errors",
    "check_metric",
    "distance_function",
    "expanded",
    "nearest_center",
    "resolve_metric",
    "round_rows",
    "square_distance",
    "square_distances",
    "squared_norms",
    "tree_takes",
]
