"""The exponential of the engine against NumPy's."""

import numpy as np

from learnt.linalg.exponential import exp_nonpositive, exp_nonpositive_single


def test_exponential():
    x = -np.abs(np.random.default_rng(0).standard_normal(500)) * 100
    x[:3] = 0.0, -708.0, -1e6
    found = np.array([exp_nonpositive(v) for v in x])
    np.testing.assert_allclose(found[x >= -708], np.exp(x[x >= -708]), rtol=3e-14)
    assert (found[x < -708] < 1e-300).all()
    assert np.isnan(exp_nonpositive(np.nan))


def test_exponential_in_single_precision():
    """Two units in the last place: one of the polynomial's sum, one of its product with the power of 2."""
    x = (-np.abs(np.random.default_rng(0).standard_normal(500)) * 30).astype(np.float32)
    x[:3] = 0.0, -87.0, -1e6
    found = np.array([exp_nonpositive_single(v) for v in x])
    kept = x >= -87
    np.testing.assert_allclose(found[kept], np.exp(x[kept].astype(np.float64)), rtol=2 * np.finfo(np.float32).eps)
    assert (found[~kept] < 1e-37).all()
