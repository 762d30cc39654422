"""Random projections: fewer features that keep the distances between rows, drawn without looking at the rows.

GaussianRandomProjection         a matrix of normal numbers
SparseRandomProjection           a matrix of few numbers ±c, for wide and for sparse tables
johnson_lindenstrauss_min_dim    how many features keep the distances of so many rows

_lemma        that number
_projections  both matrices
"""

from learnt.random_projection._lemma import johnson_lindenstrauss_min_dim
from learnt.random_projection._projections import GaussianRandomProjection, SparseRandomProjection

__all__ = ["GaussianRandomProjection", "SparseRandomProjection", "johnson_lindenstrauss_min_dim"]
