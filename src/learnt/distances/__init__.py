"""Distances between rows, and the search for the nearest.

Search             points, a metric and an index over them: `Search.build(points, metric)`, then
                   `.nearest(queries, k)`, `.nearest_blocks(queries, k, consume)`, `.within(queries, radius)`
BallSums           what values of the points add up to within a radius: `Search.ball_sums(table)`
Neighborhoods      the result of `within`: flat arrays, with as many entries for each query as it has neighbours
resolve_metric, check_metric, METRIC_NAMES, SPARSE_METRIC_NAMES      resolve and validate the name of a metric
box_tree                               the boxes of a KD-tree, for other traversals of it
tree_nodes, visits, Visits             the nodes of a search's tree as arrays, and which of them queries must open
chosen_algorithm                       the index that was asked for, where the points and the metric allow it
nearest_graph                          weights of neighbours, symmetric
dimension_sums                         intrinsic dimension from distances to neighbours
distance_function                      all distances between sets of rows, by any metric and what it learns of all
warn_of_conversion                     a warning that numbers become flags
nearest_center, center_distances, center_errors, expanded            few centres, on arrays of any library
square_distance, square_distances      ‖x − y‖² in float64, in order of the features: decides ties
add_power, power_root                  Minkowski distances inside other kernels, feature by feature
round_rows, squared_norms              what fast products are computed from

_search           the protocol           _metrics    names, parameters, matrices of distances; _minkowski
brute             brute force, from the distances themselves or by matrix products
trees             trees of boxes and balls; _power_sums   Minkowski sums inside kernels
_approximate      by a graph, with its recall
_precomputed      distances given by the caller
_choice           algorithm="auto"; _dimension   the intrinsic dimension of points
_centers          the nearest of few centres; _rounding   rows rounded for products
_graph            points joined to their nearest
_select           the k smallest; _neighborhoods   all within a radius; _sort_kernels
"""

from learnt.distances._centers import (
    DEVICE_CELLS,
    center_distances,
    center_errors,
    expanded,
    nearest_center,
    squared_norms,
)
from learnt.distances._choice import chosen_algorithm
from learnt.distances._dimension import DimensionSums, dimension_sums
from learnt.distances._graph import nearest_graph
from learnt.distances._metrics import (
    METRIC_NAMES,
    SPARSE_METRIC_NAMES,
    check_metric,
    resolve_metric,
    warn_of_conversion,
)
from learnt.distances._metrics import SAME as SAME_METRICS
from learnt.distances._neighborhoods import Neighborhoods
from learnt.distances._power_sums import add_power, power_root
from learnt.distances._rounding import round_rows, square_distance, square_distances
from learnt.distances._search import Search
from learnt.distances._select import Consume
from learnt.distances.brute._index import distance_function
from learnt.distances.trees._ball_sums import BallSums
from learnt.distances.trees._index import METRICS as KD_TREE_METRICS
from learnt.distances.trees._index import box_tree, tree_takes
from learnt.distances.trees._metric import METRICS as BALL_TREE_METRICS
from learnt.distances.trees._metric import metric_tree_takes
from learnt.distances.trees._nodes import Visits, tree_nodes, visits

__all__ = [
    "BALL_TREE_METRICS",
    "DEVICE_CELLS",
    "KD_TREE_METRICS",
    "METRIC_NAMES",
    "SAME_METRICS",
    "SPARSE_METRIC_NAMES",
    "BallSums",
    "Consume",
    "DimensionSums",
    "Neighborhoods",
    "Search",
    "Visits",
    "add_power",
    "box_tree",
    "center_distances",
    "center_errors",
    "check_metric",
    "chosen_algorithm",
    "dimension_sums",
    "distance_function",
    "expanded",
    "metric_tree_takes",
    "nearest_center",
    "nearest_graph",
    "power_root",
    "resolve_metric",
    "round_rows",
    "square_distance",
    "square_distances",
    "squared_norms",
    "tree_nodes",
    "tree_takes",
    "visits",
    "warn_of_conversion",
]
