"""Decomposition: rows as combinations of few components.

    PCA, IncrementalPCA                     principal component analysis; fits from sums over rows, all or in batches
    KernelPCA                               principal components in the space of a kernel
    TruncatedSVD, randomized_svd            singular vectors of the rows as they are, sparse ones too
    SparsePCA, MiniBatchSparsePCA           components with few entries (folder `sparse_pca`)
    FactorAnalysis                          factors in common, and the noise of each feature
    FastICA, fastica                        sources that are as independent as can be
    SparseCoder, sparse_encode              rows as few atoms of a dictionary that is given
    NMF, MiniBatchNMF                       parts that add up, none below 0 (folder `nmf`); non_negative_factorization
    LatentDirichletAllocation               topics of documents, from counts of their words (folder `lda`)
    DictionaryLearning, MiniBatch…          the atoms learned too; as functions dict_learning, dict_learning_online

Folders: `spectrum` (eigenvectors and singular vectors, exact or a few), `dictionary` (all that codes by atoms), `nmf`,
`lda`, `sparse_pca`. Beside the estimators: `_principal` (scores and covariance, once components are found),
`_kernel_components` (of a centred kernel matrix), `_rotation` (of factors), `_contrast` (of sources).
"""

from learnt.decomposition._factor_analysis import FactorAnalysis
from learnt.decomposition._fast_ica import FastICA, fastica
from learnt.decomposition._incremental_pca import IncrementalPCA
from learnt.decomposition._kernel_pca import KernelPCA
from learnt.decomposition._pca import PCA
from learnt.decomposition._randomized_svd import randomized_svd
from learnt.decomposition._truncated_svd import TruncatedSVD
from learnt.decomposition.dictionary._coder import SparseCoder
from learnt.decomposition.dictionary._coding import sparse_encode
from learnt.decomposition.dictionary._estimator import DictionaryLearning
from learnt.decomposition.dictionary._functions import dict_learning, dict_learning_online
from learnt.decomposition.dictionary._online import MiniBatchDictionaryLearning
from learnt.decomposition.lda._estimator import LatentDirichletAllocation
from learnt.decomposition.nmf._estimator import NMF
from learnt.decomposition.nmf._function import non_negative_factorization
from learnt.decomposition.nmf._minibatch import MiniBatchNMF
from learnt.decomposition.sparse_pca._estimator import SparsePCA
from learnt.decomposition.sparse_pca._online import MiniBatchSparsePCA

__all__ = [
    "NMF",
    "PCA",
    "DictionaryLearning",
    "FactorAnalysis",
    "FastICA",
    "IncrementalPCA",
    "KernelPCA",
    "LatentDirichletAllocation",
    "MiniBatchDictionaryLearning",
    "MiniBatchNMF",
    "MiniBatchSparsePCA",
    "SparseCoder",
    "SparsePCA",
    "TruncatedSVD",
    "dict_learning",
    "dict_learning_online",
    "fastica",
    "non_negative_factorization",
    "randomized_svd",
    "sparse_encode",
]
