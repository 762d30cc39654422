"""Two tables about the same rows, X and Y: directions of each whose scores belong together.

    PLSRegression     scores of X that predict Y
    PLSCanonical      scores of both with the largest covariance
    CCA               scores of both with the largest correlation
    PLSSVD            singular vectors of XᵀY, all at once

_partial        what the first three share as estimators      _regression, _canonical     the classes
_components     component by component, for all three         _leading    the first pair of weights
_standard       columns about their means, in units of their deviations, without a copy where that is exact
_triangle       few rows with the same products as many       _svd        PLSSVD
"""

from learnt.cross_decomposition._canonical import CCA, PLSCanonical
from learnt.cross_decomposition._regression import PLSRegression
from learnt.cross_decomposition._svd import PLSSVD

__all__ = ["CCA", "PLSSVD", "PLSCanonical", "PLSRegression"]
