"""Neighbours.

KNeighborsClassifier   the class most of the k nearest rows have
NearestNeighbors       the k nearest rows, or all within a radius

_classification.py, _unsupervised.py     the classes
_base.py     what estimators with neighbours share: checks, the search (`learnt.distances`), `kneighbors`
_vote.py     votes
"""

from learnt.neighbors._classification import KNeighborsClassifier
from learnt.neighbors._unsupervised import NearestNeighbors

__all__ = ["KNeighborsClassifier", "NearestNeighbors"]
