"""Neighbours.

KNeighborsClassifier   the class most of the k nearest rows have

_classification.py     the class
_base.py               what estimators with neighbours share: checks, `kneighbors`, `kneighbors_graph`
_brute.py              the search: one door for every metric and kind of rows
_products.py           Euclidean and cosine neighbours by matrix products; _rounding.py, _kernels.py
_direct.py             neighbours from the distances themselves
_metrics.py            names of metrics
_select.py, _vote.py   the smallest of each row; votes
"""

from learnt.neighbors._classification import KNeighborsClassifier
from learnt.neighbors._unsupervised import NearestNeighbors

__all__ = ["KNeighborsClassifier", "NearestNeighbors"]
