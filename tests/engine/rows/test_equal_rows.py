"""The first of equal rows, against NumPy's way of sorting whole rows."""

import numpy as np
import pytest

from learnt.engine.rows.equal_rows import first_of_equal_rows


@pytest.mark.parametrize(
    ("n", "d", "values"), [(1, 1, 1), (40, 1, 5), (300, 3, 3), (300, 6, 2), (50, 4, 1000), (0, 2, 2)]
)
def test_as_sorting_whole_rows(n, d, values):
    rng = np.random.default_rng(n + d)
    X = rng.integers(0, values, (n, d)) / 3.0
    X[rng.random((n, d)) < 0.1] = -0.0  # which equals 0
    expected = np.zeros(n, dtype=bool)
    expected[np.unique(X, axis=0, return_index=True)[1]] = True
    np.testing.assert_array_equal(first_of_equal_rows(X), expected)
    if values == 1000:
        assert expected.all()
    elif n > 40:
        assert not expected.all()
