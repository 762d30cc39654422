"""Agglomerative clustering: every row its own cluster, then the two nearest clusters merged until one is left.

_estimator    the class; _features    the same of columns, as a transformer; _functions    trees as one call
_linkage      the algorithm for each linkage and metric
_ward         nearest-neighbour chain on centroids: memory in proportion to the rows
_spanning     single linkage: the minimum spanning tree
_square       average and complete linkage: nearest-neighbour chain on the matrix of all distances
_connected    merges only between neighbours in a graph
_tree         merges in order of distance, and cuts of the tree
"""
