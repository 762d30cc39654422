"""Models that fit from moments keep their digits far from zero: those of the rows moved to zero, moved back."""

import numpy as np
from scipy import sparse
from tests.statistics.exact import EPS, FAR

from learnt.decomposition import PCA
from learnt.linear_model import Ridge
from learnt.preprocessing import StandardScaler

N, MOVE = 2000, 1e8
RNG = np.random.default_rng(0)
# Mostly zeros, but for a full column; in steps of 2⁻²⁰, so that adding 1e8 to it is exact.
NEAR = np.where(RNG.random((N, 6)) < 0.2, RNG.normal(size=(N, 6)), 0.0)
NEAR[:, 0] = np.round(RNG.normal(size=N) * 2**20) / 2**20
MOVED = NEAR + [MOVE, 0, 0, 0, 0, 0]


def test_principal_components_of_sparse_rows_with_a_full_column():
    pca, oracle = (PCA(3, svd_solver="covariance_eigh").fit(X) for X in (sparse.csr_array(MOVED), NEAR))
    # Eigenvalues move by no more than the norm of what the scatter is off by.
    np.testing.assert_allclose(
        pca.explained_variance_, oracle.explained_variance_, atol=6 * N * EPS * FAR * oracle.explained_variance_[0]
    )
    np.testing.assert_allclose(pca.mean_ - oracle.mean_, [MOVE, 0, 0, 0, 0, 0], atol=2 * EPS * MOVE, rtol=0)


def test_ridge_of_sparse_rows_with_a_full_column():
    y = NEAR[:, 0] + NEAR[:, 1]
    ridge, oracle = Ridge().fit(sparse.csr_array(MOVED), y), Ridge().fit(NEAR, y)
    # Products with y are sums of terms of 1e8 about a mean of y that is taken away: N·eps·1e8 of N.
    np.testing.assert_allclose(ridge.coef_, oracle.coef_, atol=N * EPS * MOVE)


def test_scaling_where_the_first_rows_are_not_typical():
    X = np.vstack([np.zeros((300, 2)), 10 * MOVE + RNG.normal(size=(N, 2))])
    light = np.r_[np.full(300, 1e-30), np.ones(N)]  # hardly there, and what a first mean is taken from
    scaler = StandardScaler().fit(X, sample_weight=light)
    rest = X[300:] - 10 * MOVE
    np.testing.assert_allclose(scaler.var_, rest.var(axis=0), rtol=N * EPS * FAR)
