"""Discriminant analysis: classes as Gaussian densities, and the planes and quadrics between them.

    LinearDiscriminantAnalysis      one covariance for all classes; projections that keep them apart
    QuadraticDiscriminantAnalysis   a covariance for each class

Both fit from the moments of the classes (`statistics.moments`), wherever the rows are stored.

    _covariance    moments of the classes; shrinkage; covariances that are singular
    _solvers       from moments to planes: the solvers of the linear one
"""

from learnt.discriminant_analysis._linear import LinearDiscriminantAnalysis
from learnt.discriminant_analysis._quadratic import QuadraticDiscriminantAnalysis

__all__ = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]
