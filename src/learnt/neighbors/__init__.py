"""Neighbours.

KNeighborsClassifier, RadiusNeighborsClassifier    the class most neighbours have: the k nearest, or all within a radius
KNeighborsRegressor, RadiusNeighborsRegressor      the mean of their targets
NearestCentroid                                    the class whose mean is nearest
CondensedNearestNeighbor, VoronoiEditing           the nearest neighbour among few rows
NearestNeighbors                                   the neighbours themselves
kneighbors_graph, radius_neighbors_graph,          as a sparse matrix; as a step of a pipeline
KNeighborsTransformer, RadiusNeighborsTransformer
sort_graph_by_row_values                           such a matrix with the nearest first
VALID_METRICS, VALID_METRICS_SPARSE                the metrics that each algorithm takes (_names_of_metrics)
LocalOutlierFactor                                 how much sparser a row's surroundings are than its neighbours'
NeighborhoodComponentsAnalysis, LMNN               the linear map that brings rows of a class together
KernelDensity                                      a density from a kernel around every row
KDTree, BallTree                                   trees over points, without an estimator

_classification, _radius_classification, _regression, _radius_regression, _unsupervised, _graph, _transformers,
_outliers, _density, _trees, _nearest_centroid
_base       what estimators with neighbours share: checks, the search (`learnt.distances`), `kneighbors`
_radius     `radius_neighbors`, and neighbourhoods block by block
_targets    classes and numbers of one or several outputs; _vote   votes and means of neighbours
_density_kernels    shapes, volumes and draws of kernels; _density_sums   sums over all rows
_leave_one_out, _choice_of_k    n_neighbors="auto"; _editing, _fewer_rows   which rows are kept
metric/     learning the metric
_schema     what model files may hold
"""

from learnt.neighbors._classification import KNeighborsClassifier
from learnt.neighbors._density import KernelDensity
from learnt.neighbors._editing import CondensedNearestNeighbor, VoronoiEditing
from learnt.neighbors._graph import kneighbors_graph, radius_neighbors_graph, sort_graph_by_row_values
from learnt.neighbors._names_of_metrics import VALID_METRICS, VALID_METRICS_SPARSE
from learnt.neighbors._nearest_centroid import NearestCentroid
from learnt.neighbors._outliers import LocalOutlierFactor
from learnt.neighbors._radius_classification import RadiusNeighborsClassifier
from learnt.neighbors._radius_regression import RadiusNeighborsRegressor
from learnt.neighbors._regression import KNeighborsRegressor
from learnt.neighbors._transformers import KNeighborsTransformer, RadiusNeighborsTransformer
from learnt.neighbors._trees import BallTree, KDTree
from learnt.neighbors._unsupervised import NearestNeighbors
from learnt.neighbors.metric._components import NeighborhoodComponentsAnalysis
from learnt.neighbors.metric._large_margin import LMNN

__all__ = [
    "LMNN",
    "VALID_METRICS",
    "VALID_METRICS_SPARSE",
    "BallTree",
    "CondensedNearestNeighbor",
    "KDTree",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "KernelDensity",
    "LocalOutlierFactor",
    "NearestCentroid",
    "NearestNeighbors",
    "NeighborhoodComponentsAnalysis",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "RadiusNeighborsTransformer",
    "VoronoiEditing",
    "kneighbors_graph",
    "radius_neighbors_graph",
    "sort_graph_by_row_values",
]
