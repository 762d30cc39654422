"""Linear equations with matrices that are positive but for rounding."""

import numpy as np
import pytest

from learnt.linalg.positive import cholesky, inverse_factor, keep_signs, spd_solve


def matrix(seed=0, n=12, scales=0.0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(2 * n, n)) * np.exp(scales * rng.normal(size=n))
    return A.T @ A, rng.normal(size=n), rng


@pytest.mark.parametrize("scales", [0.0, 3.0])
def test_spd_solve(scales):
    H, g, _ = matrix(scales=scales)
    x = spd_solve(H, g)
    np.testing.assert_allclose(H @ x, g, rtol=1e-6)


def test_equal_columns_and_empty_ones_share_what_there_is():
    H = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    x = spd_solve(H, np.array([4.0, 4.0, 0.0]))
    assert x[:2].sum() == pytest.approx(2.0)
    assert x[2] == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_nothing_crosses_0_and_the_quadratic_falls(seed):
    H, fall, rng = matrix(seed)
    old = 0.1 * rng.normal(size=len(fall))
    old[:2] = 0.0
    change = keep_signs(H, 3.0 * fall, old)
    assert ((old + change) * old >= 0.0).all()
    assert change @ (3.0 * fall - 0.5 * H @ change) > 0.0
    assert change[:2].all()


def test_the_minimum_where_no_sign_changes():
    H, fall, _ = matrix()
    old = 10.0 * np.sign(spd_solve(H, fall))
    np.testing.assert_allclose(keep_signs(H, fall, old), np.linalg.solve(H, fall), rtol=1e-9)


def test_a_factor_of_equal_rows_and_of_what_is_no_number():
    H, _, _ = matrix()
    np.testing.assert_allclose((L := cholesky(H)) @ L.T, H, atol=1e-10 * H.max())
    twice = np.block([[H, H], [H, H]])
    np.testing.assert_allclose((L := cholesky(twice)) @ L.T, twice, atol=1e-8 * H.max())
    with pytest.raises(ValueError, match="rescale"):
        cholesky(np.array([[np.inf]]))


@pytest.mark.parametrize("n", [1, 5, 128, 129, 300])
@pytest.mark.parametrize(("dtype", "digits"), [(np.float32, 1e-4), (np.float64, 1e-12)])
def test_the_inverse_of_a_factor(n, dtype, digits):
    H = (matrix(n=n)[0] / n + np.eye(n)).astype(dtype)
    inverse = inverse_factor(H.copy())
    assert inverse.dtype == dtype
    assert not np.triu(inverse, 1).any()
    np.testing.assert_allclose(inverse @ H @ inverse.T, np.eye(n), atol=digits)


def test_there_is_no_factor_of_what_is_not_positive():
    assert inverse_factor(np.array([[1.0, 2.0], [2.0, 1.0]])) is None
