"""Decomposition: rows as combinations of few things.

    PCA                                     principal component analysis; fits from sums over rows
    SparseCoder, sparse_encode              rows as few atoms of a dictionary that is given
    DictionaryLearning, MiniBatch…          the atoms learned too; as functions dict_learning, dict_learning_online

Implementation: `_centre` (mean and scatter), `_products` (of the centred data, from sums over rows), `_triangle` (its
QR factorisation in blocks), `_exact` (eigenvectors of the scatter or of the Gram matrix, singular vectors by QR),
`_krylov` (a few components of a large matrix), `_choice` (which solver, how many components), `_pca` (the estimator);
`_sparse_coding_kernels` (codes, exactly), `_dictionary_update` (better atoms for given codes).
"""

from learnt.decomposition._dictionary import DictionaryLearning
from learnt.decomposition._dictionary_functions import dict_learning, dict_learning_online
from learnt.decomposition._dictionary_online import MiniBatchDictionaryLearning
from learnt.decomposition._pca import PCA
from learnt.decomposition._sparse_coding import sparse_encode
from learnt.decomposition._sparse_coding_estimator import SparseCoder

__all__ = [
    "PCA",
    "DictionaryLearning",
    "MiniBatchDictionaryLearning",
    "SparseCoder",
    "dict_learning",
    "dict_learning_online",
    "sparse_encode",
]
