"""Decomposition: few directions that carry most of the variance.

    PCA    principal component analysis; fits from sums over rows

Implementation: `_moments` (means, scatter and products with it, from sums over rows), `_exact` (eigenvectors of the
scatter or of the Gram matrix, singular vectors by QR), `_krylov` (a few components of a large matrix), `_choice` (which
solver, how many components), `_pca` (the estimator).
"""

from learnt.decomposition._pca import PCA

__all__ = ["PCA"]
