"""X and y together: a column that is constant has no scatter at all, whatever rounding leaves of it."""

import numpy as np
import pytest
from scipy import sparse

from learnt.engine.rows import as_rows
from learnt.linear_model import LinearRegression
from learnt.statistics import joint_moments


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_constant_column_has_no_scatter(kind, weighted):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 200))
        X = rng.normal(size=(n, 4))
        X[:, 1] = rng.normal() * 10 ** rng.uniform(-3, 5)
        y = X[:, 0] + rng.normal(size=n)
        w = rng.uniform(0.5, 2.0, n) if weighted else None
        found = joint_moments(as_rows(kind(X), y, w))
        assert not found.gram[1].any()
        assert not found.gram[:, 1].any()
        assert not found.cross[1].any()
        model = LinearRegression().fit(kind(X), y, w)
        rest = LinearRegression().fit(X[:, [0, 2, 3]], y, w)
        np.testing.assert_allclose(model.predict(X), rest.predict(X[:, [0, 2, 3]]), atol=1e-9)


def test_a_column_with_little_spread_far_from_zero_is_not_constant():
    rng = np.random.default_rng(0)
    X = 1e6 + 1e-4 * rng.normal(size=(200, 1))
    found = joint_moments(as_rows(X, np.zeros(200)))
    assert found.gram[0, 0] == pytest.approx(((X - X.mean()) ** 2).sum(), rel=1e-5)
