"""Naive Bayes: every feature independent of the others within a class.

    GaussianNB    each feature normal within each class; fits from sums over rows

Implementation: `_moments` (means and variances by class, from sums), `_density` (log densities of rows),
`_gaussian` (the estimator).
"""

from learnt.naive_bayes._gaussian import GaussianNB

__all__ = ["GaussianNB"]
