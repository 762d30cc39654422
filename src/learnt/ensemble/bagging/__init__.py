"""Bagging and pasting of any estimator.

_base        Bagging and pasting: the same estimator fitted on many random parts of the table
_classifier  Bagged classifiers
_regressor   Bagged regressors
"""
