"""Covariances: of all rows, shrunk, robust against outliers, with sparse inverses.

EmpiricalCovariance    the covariance of the rows
ShrunkCovariance       moved towards a multiple of the identity by a given share
LedoitWolf, OAS        by a share that the rows tell
MinCovDet              of the half of the rows that lie closest together, so that outliers do not move it
EllipticEnvelope       outliers by their distance in units of that covariance
GraphicalLasso         a sparse inverse: which features depend on each other when the others are known
GraphicalLassoCV       with its penalty chosen by the likelihood of rows left out

_empirical           the base of all, with log-likelihood, distances and errors
_sample              the mean and covariance of rows, in one pass
_gauss               likelihood, distances and inverses of a normal law
_shrunk, _ledoit_wolf, _oas
_half                the search for the half of the rows of least determinant
_min_cov_det         the robust covariance
_elliptic_envelope   outliers
_glasso              the sparse inverse and its duality gap
_graphical_lasso, _graphical_lasso_cv
"""

from learnt.covariance._elliptic_envelope import EllipticEnvelope
from learnt.covariance._empirical import EmpiricalCovariance, empirical_covariance
from learnt.covariance._gauss import log_likelihood
from learnt.covariance._graphical_lasso import GraphicalLasso, graphical_lasso
from learnt.covariance._graphical_lasso_cv import GraphicalLassoCV
from learnt.covariance._ledoit_wolf import LedoitWolf, ledoit_wolf, ledoit_wolf_shrinkage
from learnt.covariance._min_cov_det import MinCovDet, fast_mcd
from learnt.covariance._oas import OAS, oas
from learnt.covariance._shrunk import ShrunkCovariance, shrunk_covariance

__all__ = [
    "OAS",
    "EllipticEnvelope",
    "EmpiricalCovariance",
    "GraphicalLasso",
    "GraphicalLassoCV",
    "LedoitWolf",
    "MinCovDet",
    "ShrunkCovariance",
    "empirical_covariance",
    "fast_mcd",
    "graphical_lasso",
    "ledoit_wolf",
    "ledoit_wolf_shrinkage",
    "log_likelihood",
    "oas",
    "shrunk_covariance",
]
