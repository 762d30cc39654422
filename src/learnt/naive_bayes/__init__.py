"""Naive Bayes: every feature independent of the others within a class.

    GaussianNB    each feature normal within each class; fits from sums over rows

Implementation: `_density` (log densities of rows), `_gaussian` (the estimator); means and variances by class are
`statistics.moments`.
"""

from learnt.naive_bayes._gaussian import GaussianNB

__all__ = ["GaussianNB"]
