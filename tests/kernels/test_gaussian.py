"""exp(−½‖x − z‖²) from products, against sums of differences in extended precision."""

import numpy as np
import pytest
from scipy import sparse

from learnt.kernels import RBF
from learnt.kernels._gaussian import gaussian, products_are_exact

RNG = np.random.default_rng(0)


def exact(X, Z, unit):
    gaps = (X[:, None].astype(np.longdouble) - Z) * unit
    return np.exp(-0.5 * (gaps * gaps).sum(axis=2)).astype(float)


@pytest.mark.parametrize("d", [1, 3, 4, 20, 70])
@pytest.mark.parametrize("unit", [1e-3, 0.3, 40.0, 1e6])
@pytest.mark.sweep
def test_it_is_the_formula(d, unit):
    """Rows far from zero, some of them near each other. The bound of the file, 1e-12, and what an exponent e of its own
    loses in exp, where it is rounded: |e|·4u, and a few units more."""
    X = 1e3 + RNG.normal(size=(150, d))
    Z = np.vstack([X[:40] + 1e-7 * RNG.normal(size=(40, d)), 1e3 + RNG.normal(size=(300, d))])
    X, Z = np.round(X * 2.0**30) / 2.0**30, np.round(Z * 2.0**30) / 2.0**30  # differences without rounding
    wanted = exact(X, Z, unit)
    size = -np.log(np.maximum(wanted, 1e-300))
    assert (np.abs(gaussian(X, Z, unit, None) - wanted) <= wanted * (1e-12 + 1e-15 * (10 + d + size)) + 1e-300).all()


def test_scales_of_their_own_and_rows_of_the_same_table():
    X = RNG.normal(size=(1200, 6))
    unit = np.array([0.1, 1.0, 2.0, 0.5, 0.3, 0.7])
    K = gaussian(X[100:200], X, unit, 100)
    np.testing.assert_allclose(K, exact(X[100:200], X, unit), rtol=2e-12, atol=1e-300)
    assert (K[np.arange(100), np.arange(100, 200)] == 1.0).all()
    assert (gaussian(X, X, 1.0, None) <= 1.0).all()


def test_rows_too_far_apart_for_products():
    """10⁵ length scales from the mean, products would have 10 digits less."""
    X = RNG.normal(size=(50, 8)) * 1e5
    assert products_are_exact(X, X, 1e-5)
    assert not products_are_exact(X, X, 1.0)
    near = X + 0.1
    np.testing.assert_allclose(gaussian(X, near, 1.0, None), exact(X, near, 1.0), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("scale", [0.02, 1.5, np.array([0.5, 1.0, 2.0, 4.0, 1.0])])
@pytest.mark.parametrize("spread", [1.0, 1e4])
def test_the_pulled_gradient_is_the_sum_of_the_terms(scale, spread):
    X = RNG.normal(size=(40, 5)) * spread
    Z = np.vstack([X[:20] + 0.01, RNG.normal(size=(30, 5)) * spread])
    W = RNG.normal(size=(40, 50))
    kernel = RBF(scale)
    value, pulled = kernel.pull(X, Z, None)
    K, terms = kernel.terms(X, Z, None)
    np.testing.assert_allclose(value(), K, rtol=1e-9, atol=1e-12)
    wanted = np.array([(W * term()).sum() for term in terms])
    size = np.abs(W).sum() * (1.0 if spread == 1.0 else spread**2)  # features by themselves are products in any case
    np.testing.assert_allclose(pulled(W), wanted, rtol=1e-9, atol=1e-12 * (size if np.ndim(scale) else np.abs(W).sum()))


def test_an_infinite_length_scale_is_the_constant():
    X = RNG.normal(size=(5, 4))
    assert (RBF(np.inf)(X) == 1.0).all()


def test_no_rows():
    assert gaussian(np.empty((0, 5)), np.ones((3, 5)), 1.0, None).shape == (0, 3)
    assert gaussian(np.ones((3, 5)), np.empty((0, 5)), 1.0, None).shape == (3, 0)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("unit", [1e-6, 1.0])
def test_sparse_rows_are_as_exact_as_dense_ones(offset, unit):
    """Cells that are stored twice, out of order, or as 0; rows beside dense ones; rows without a cell."""
    X = RNG.normal(size=(40, 30)) * (RNG.random((40, 30)) < 0.2)
    X[:, 4] += offset
    X[5] = 0.0
    rows, columns = np.nonzero(X)
    shuffled = RNG.permutation(len(rows))
    rows, columns = rows[shuffled], columns[shuffled]
    twice = sparse.csr_array(sparse.coo_array((X[rows, columns], (rows, columns)), shape=X.shape))
    twice.indices[:2], twice.data[:2] = twice.indices[1::-1].copy(), twice.data[1::-1].copy()
    twice.has_sorted_indices = twice.has_canonical_format = False
    Z = sparse.csr_array(X[:25])
    wanted = exact(X, X[:25], unit)
    for left, right in ((twice, Z), (X, Z), (twice, X[:25])):
        found = gaussian(left, right, unit, None)
        np.testing.assert_allclose(found, wanted, rtol=2e-12, atol=1e-300)
    assert products_are_exact(twice, Z, unit) == (offset == 0.0)
    np.testing.assert_allclose(RBF(1.0 / unit)(twice), exact(X, X, unit), rtol=2e-12, atol=1e-300)
    assert (np.diag(RBF(1.0 / unit)(twice)) == 1.0).all()
