"""Principal components with few entries, by dictionary learning on the columns.

_estimator  the class SparsePCA, all columns in every round      _online  MiniBatchSparsePCA, a few at a time
_base       what both share: scores, and rows from them
"""
