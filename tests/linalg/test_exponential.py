"""The exponential of the engine against NumPy's."""

import numpy as np

from learnt.linalg.exponential import exp_nonpositive


def test_exponential():
    x = -np.abs(np.random.default_rng(0).standard_normal(500)) * 100
    x[:3] = 0.0, -708.0, -1e6
    found = np.array([exp_nonpositive(v) for v in x])
    np.testing.assert_allclose(found[x >= -708], np.exp(x[x >= -708]), rtol=3e-14)
    assert (found[x < -708] < 1e-300).all()
