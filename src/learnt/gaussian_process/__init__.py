"""Gaussian processes: distributions over functions, whose predictions come with their uncertainty.

GaussianProcessRegressor     exact, by a Cholesky factor; hyper-parameters by marginal likelihood; of many rows through
                             inducing points or by conjugate gradients
GaussianProcessClassifier    Laplace's approximation of the posterior; one-vs-rest and one-vs-one
kernels                      the kernels of `learnt.kernels` under scikit-learn's names, whose parameters can be set

_likelihood   log p(y | X, θ) and its gradient          _laplace   the same for labels
_bound        Titsias' bound and its gradient           _inducing  choice of inducing points
_conjugate    systems solved without their matrix       _large     fits and answers of many rows by these
_pivoted      Cholesky factors of the rows that matter  _variances of many rows asked, through these
_search       the best θ from one or several starts     _schema    what model files hold
_draws        functions drawn from a posterior          _inputs    rows and kernels as both take them
"""

from learnt.gaussian_process import kernels
from learnt.gaussian_process._classifier import GaussianProcessClassifier
from learnt.gaussian_process._regressor import GaussianProcessRegressor

__all__ = ["GaussianProcessClassifier", "GaussianProcessRegressor", "kernels"]
