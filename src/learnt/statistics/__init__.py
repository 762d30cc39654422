"""Sample moments from sums over rows: weights, means and scatter, of all rows or of each group of them.

    moments          Σw, the means and the scatter about them; by class or by responsibility; weights; NaN left out
    joint_moments    the same of X and y together: what least squares fits from
    joint_means      the means of X and y only
    column_sums      Σw and Σwx only, about 0, so that counts stay integers
    expected_moments of groups that rows have shares in, with other sums of the same pass: an EM step
    shrunk           covariances moved towards a multiple of the identity; Ledoit and Wolf's share, and OAS's
    gaussians        K Gaussian densities with full, tied, diagonal or spherical covariances; log_densities of rows

    m = moments(as_rows(X, codes, w), classes_in_y(3), scatter="full")
    m.weight, m.mean, m.covariance(ddof=1)          # of each class
    m.within(), m.total().covariance()              # pooled scatter; moments whatever the class
    m.merge(more), m.shifted(c), m.take([0, 2])     # further rows; X + c; some of the classes

Every kind of rows that `engine.rows` has is taken: NumPy, memory maps, CSR, tensors on a device, files, Dask. Sums are
taken about a point near the mean, and again about the mean where that point was too far from it, so that no digits are
lost however far from 0 the data are.

    _record   the Moments: merge, shift, total, covariance       _groups    how rows are divided into groups
    _moments  the passes over the rows                           _points    the point to take sums about
    _dense    sums of a dense block                              _grouped   of each group of its rows
    _sparse   sums of a CSR block                                _kernels   the same by class, compiled
    _missing  sums without the cells that are NaN                _far_columns   sparse columns far from 0
    _joint    X and y together                                   _gaussians     Gaussian densities of rows
    _expected moments from shares, with other sums of the pass   _bins      rules for the bins of histograms
    _sigmoid  Platt's scaling of scores to probabilities         _shrinkage     shares by which covariances shrink
    _isotonic the monotonic function nearest to numbers
"""

from learnt.statistics._bins import RULES as BIN_RULES
from learnt.statistics._bins import bins_of_size, edges_by_rule, scott_width, sorted_column
from learnt.statistics._expected import expected_moments
from learnt.statistics._gaussians import (
    COVARIANCES,
    Gaussians,
    gaussians,
    inverse_factors,
    log_densities,
    log_determinants,
    log_sum_exp,
)
from learnt.statistics._grouped import share_sums
from learnt.statistics._groups import Groups, classes_in_y, given, labels_in_y, of_classes
from learnt.statistics._isotonic import Corners, monotonic_corners, nearest_monotonic
from learnt.statistics._joint import JointMoments, joint_means, joint_moments, joint_products
from learnt.statistics._moments import column_sums, moments
from learnt.statistics._points import far_from_zero
from learnt.statistics._record import Moments
from learnt.statistics._shrinkage import ledoit_wolf_share, oas_share, quartics, shrunk
from learnt.statistics._sigmoid import fit_sigmoid, logistic

__all__ = [
    "BIN_RULES",
    "COVARIANCES",
    "Corners",
    "Gaussians",
    "Groups",
    "JointMoments",
    "Moments",
    "bins_of_size",
    "classes_in_y",
    "column_sums",
    "edges_by_rule",
    "expected_moments",
    "far_from_zero",
    "fit_sigmoid",
    "gaussians",
    "given",
    "inverse_factors",
    "joint_means",
    "joint_moments",
    "joint_products",
    "labels_in_y",
    "ledoit_wolf_share",
    "log_densities",
    "log_determinants",
    "log_sum_exp",
    "logistic",
    "moments",
    "monotonic_corners",
    "nearest_monotonic",
    "oas_share",
    "of_classes",
    "quartics",
    "scott_width",
    "share_sums",
    "shrunk",
    "sorted_column",
]
