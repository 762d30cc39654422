"""Gaussian log densities with full covariances, compiled, against SciPy's and against the plain ones."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from learnt.engine.rows.blocks import Block
from learnt.statistics import _gaussians, gaussians, inverse_factors, log_densities


def some(d, k, shift=0.0):
    rng = np.random.default_rng(d)
    roots = rng.normal(size=(k, d, d)) + 3.0 * np.eye(d)
    return rng.normal(size=(k, d)) + shift, roots @ np.swapaxes(roots, 1, 2)


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (7, 2, 3), (8, 4, 2), (9, 5, 1), (6, 17, 2)])
def test_compiled_densities_are_scipys(n, d, k, shift, monkeypatch):
    monkeypatch.setattr(_gaussians, "_COMPILED_PRODUCTS", 1)
    mean, covariance = some(d, k, shift)
    X = np.random.default_rng(0).normal(size=(n, d)) + shift
    found = log_densities(Block(X), gaussians("full", mean, inverse_factors("full", covariance)))
    wanted = np.column_stack([np.atleast_1d(multivariate_normal(m, C).logpdf(X)) for m, C in zip(mean, covariance)])
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_a_factor_that_is_not_triangular_is_taken_whole(monkeypatch):
    mean, covariance = some(3, 2)
    values, vectors = np.linalg.eigh(covariance)
    X = np.random.default_rng(0).normal(size=(5, 3))
    densities = gaussians("full", mean, inverse_factors("full", covariance))
    wanted = log_densities(Block(X), densities)
    monkeypatch.setattr(_gaussians, "_COMPILED_PRODUCTS", 1)
    other = densities._replace(factor=vectors / np.sqrt(values)[:, None, :])
    np.testing.assert_allclose(log_densities(Block(X), other), wanted, rtol=1e-10)
