"""Neighbours.

KNeighborsClassifier   the class most of the k nearest rows have
NearestNeighbors       the k nearest rows, or all within a radius
KDTree                 the same of a tree over points, without an estimator

_kd_tree.py, _classification.py, _unsupervised.py     the classes
_base.py     what estimators with neighbours share: checks, the search (`learnt.distances`), `kneighbors`
_vote.py     votes
"""

from learnt.neighbors._classification import KNeighborsClassifier
from learnt.neighbors._kd_tree import KDTree
from learnt.neighbors._unsupervised import NearestNeighbors

__all__ = ["KDTree", "KNeighborsClassifier", "NearestNeighbors"]
