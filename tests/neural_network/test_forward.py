"""Outputs by blocks of rows are the formula's."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from learnt.neural_network._forward import raw_outputs

FORMULAS = {
    "relu": lambda z: np.maximum(z, 0),
    "leaky_relu": lambda z: np.where(z > 0, z, 0.01 * z),
    "tanh": np.tanh,
    "logistic": expit,
    "identity": lambda z: z,
}


@pytest.mark.parametrize("activation", FORMULAS)
@pytest.mark.parametrize("widths", [(7, 30, 20, 3), (7, 40, 1), (60, 50)])
@pytest.mark.parametrize("n", [3, 3001])
def test_blocks_of_rows(activation, widths, n):
    """Dense and sparse rows, one row and many blocks; an error bound of sums of k products, through all layers."""
    rng = np.random.default_rng(0)
    coefs = [rng.normal(size=(a, b)) / np.sqrt(a) for a, b in pairwise(widths)]
    intercepts = [rng.normal(size=b) for b in widths[1:]]
    X = rng.normal(size=(n, widths[0])) * (rng.random((n, widths[0])) < 0.5)
    h, size = X, np.abs(X).sum(axis=1, keepdims=True)
    for i, (W, b) in enumerate(zip(coefs, intercepts, strict=True)):
        h, size = h @ W + b, size * np.abs(W).max() * len(b) + np.abs(b).sum()
        h = FORMULAS[activation](h) if i < len(coefs) - 1 else h
    tolerance = 4 * sum(widths) * np.finfo(float).eps * size.max()
    for table in (X, sparse.csr_array(X)):
        found = raw_outputs(table, coefs, intercepts, activation)
        assert found.shape == h.shape
        assert np.abs(found - h).max() <= tolerance
    single = raw_outputs(
        X, [W.astype(np.float32) for W in coefs], [b.astype(np.float32) for b in intercepts], activation
    )
    assert single.dtype == np.float32
    assert np.abs(single - h).max() <= tolerance * np.finfo(np.float32).eps / np.finfo(float).eps
