"""Spectral clustering: cuts of a graph of rows, by eigenvectors of its Laplacian.

_estimator   the class, and the same as a function
_rotations   labels from eigenvectors
"""
