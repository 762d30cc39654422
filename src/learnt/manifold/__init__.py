"""Maps of rows near a curved surface of few dimensions.

Isomap             distances along the surface
SpectralEmbedding, spectral_embedding      eigenvectors of a graph of neighbours
LocallyLinearEmbedding, locally_linear_embedding      as each row lies to its neighbours
MDS, smacof, ClassicalMDS      distances as given
TSNE               neighbours stay neighbours
trustworthiness    whether neighbours on a map are neighbours

_tsne              the class
_perplexity        probabilities of neighbours
_divergence        what t-SNE minimises, with its gradient; _barnes_hut   sums over far pairs by a tree
_descent           steps with momentum and gains
_trustworthiness
_spectral_embedding
_mds               both classes; _smacof   steps that lower the stress; _classical   eigenvectors
_locally_linear    the class; _local   what is asked of the coordinates around a row
_isomap            the class; _paths   shortest paths
"""

from learnt.manifold._isomap import Isomap
from learnt.manifold._locally_linear import LocallyLinearEmbedding, locally_linear_embedding
from learnt.manifold._mds import MDS, ClassicalMDS
from learnt.manifold._smacof import smacof
from learnt.manifold._spectral_embedding import SpectralEmbedding, spectral_embedding
from learnt.manifold._trustworthiness import trustworthiness
from learnt.manifold._tsne import TSNE

__all__ = [
    "MDS",
    "TSNE",
    "ClassicalMDS",
    "Isomap",
    "LocallyLinearEmbedding",
    "SpectralEmbedding",
    "locally_linear_embedding",
    "smacof",
    "spectral_embedding",
    "trustworthiness",
]
