"""Clusters of rows and of columns at once, by singular vectors of a scaled matrix.

_coclustering    SpectralCoclustering: blocks on a diagonal
_biclustering    SpectralBiclustering: a checkerboard
_base            what both share: singular vectors, k-means
_scaling         rows and columns of like size
"""
