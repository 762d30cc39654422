"""Clusters.

KMeans, k_means              k centres by Lloyd's algorithm; as a class, as one call
MiniBatchKMeans              from small batches of rows
BisectingKMeans              by halving clusters
Birch                        of sums of rows in a tree (folder `birch`)
kmeans_plusplus              rows to start from
DBSCAN, dbscan               dense rows and all rows reachable from them
HDBSCAN                      dense rows at every density at once (folder `hdbscan`)
choose_k                     how many clusters, with a picture
AffinityPropagation          rows that stand for others, found by messages (folder `affinity`); affinity_propagation
MeanShift, mean_shift        peaks of the density (folder `mean_shift`); estimate_bandwidth, get_bin_seeds
OPTICS                       dense rows at every density, from one order (folder `optics`); compute_optics_graph,
                             cluster_optics_xi, cluster_optics_dbscan
SpectralClustering           cuts of a graph of rows (folder `spectral`); spectral_clustering
SpectralCoclustering         rows and columns in blocks (folder `bicluster`); SpectralBiclustering: in a checkerboard
AgglomerativeClustering      a tree of merges (folder `agglomerative`); FeatureAgglomeration, of columns;
                             ward_tree, linkage_tree

_kmeans.py         the class; _minibatch.py (and its steps), _bisecting.py, _function.py
_lloyd.py          the algorithm, over any rows
_bounded.py        the same for arrays in memory, faster
_sums.py           labels, errors and sums as functions of blocks
_kernels.py        compiled inner loops
_spread.py         mean and variance of the rows
_dbscan.py         the class and the algorithm; _dense_regions.py   its compiled loops
_starts.py         the `init` parameter
_seeding.py        k-means++ and farthest-first
"""

from learnt.cluster._bisecting import BisectingKMeans
from learnt.cluster._choose_k import ChosenK, choose_k
from learnt.cluster._dbscan import DBSCAN, dbscan
from learnt.cluster._function import k_means
from learnt.cluster._kmeans import KMeans
from learnt.cluster._minibatch import MiniBatchKMeans
from learnt.cluster._plusplus import kmeans_plusplus
from learnt.cluster.affinity._estimator import AffinityPropagation, affinity_propagation
from learnt.cluster.agglomerative._estimator import AgglomerativeClustering
from learnt.cluster.agglomerative._features import FeatureAgglomeration
from learnt.cluster.agglomerative._functions import linkage_tree, ward_tree
from learnt.cluster.bicluster._biclustering import SpectralBiclustering
from learnt.cluster.bicluster._coclustering import SpectralCoclustering
from learnt.cluster.birch._estimator import Birch
from learnt.cluster.birch._tree import CFTree as CFTree
from learnt.cluster.hdbscan._estimator import HDBSCAN
from learnt.cluster.mean_shift._bandwidth import estimate_bandwidth
from learnt.cluster.mean_shift._estimator import MeanShift, mean_shift
from learnt.cluster.mean_shift._seeds import get_bin_seeds
from learnt.cluster.optics._estimator import OPTICS
from learnt.cluster.optics._extraction import cluster_optics_dbscan, cluster_optics_xi
from learnt.cluster.optics._graph import compute_optics_graph
from learnt.cluster.spectral._estimator import SpectralClustering, spectral_clustering

__all__ = [
    "DBSCAN",
    "HDBSCAN",
    "OPTICS",
    "AffinityPropagation",
    "AgglomerativeClustering",
    "Birch",
    "BisectingKMeans",
    "ChosenK",
    "FeatureAgglomeration",
    "KMeans",
    "MeanShift",
    "MiniBatchKMeans",
    "SpectralBiclustering",
    "SpectralClustering",
    "SpectralCoclustering",
    "affinity_propagation",
    "choose_k",
    "cluster_optics_dbscan",
    "cluster_optics_xi",
    "compute_optics_graph",
    "dbscan",
    "estimate_bandwidth",
    "get_bin_seeds",
    "k_means",
    "kmeans_plusplus",
    "linkage_tree",
    "mean_shift",
    "spectral_clustering",
    "ward_tree",
]
