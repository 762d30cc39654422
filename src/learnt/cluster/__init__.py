"""Clusters.

KMeans             k centres by Lloyd's algorithm
kmeans_plusplus    rows to start it from
AgglomerativeClustering      a tree of merges (folder `agglomerative`)

_kmeans.py         the class
_lloyd.py          the algorithm, over any rows
_bounded.py        the same for arrays in memory, faster
_sums.py           labels, errors and sums as functions of blocks
_kernels.py        compiled inner loops
_spread.py         mean and variance of the rows
_starts.py         the `init` parameter
_seeding.py        k-means++ and farthest-first
"""

from learnt.cluster._kmeans import KMeans
from learnt.cluster._plusplus import kmeans_plusplus
from learnt.cluster.agglomerative._estimator import AgglomerativeClustering

__all__ = ["AgglomerativeClustering", "KMeans", "kmeans_plusplus"]
