"""BIRCH: rows summed up in a tree of small clusters, which are then clustered.

_estimator    the class
_tree         the tree: rows inserted, nodes split; its arrays in a model file
_descent      the way of rows through the tree; compiled
"""
