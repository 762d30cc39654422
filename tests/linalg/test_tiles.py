"""Factors and inverses tile by tile against LAPACK's, and the same to the bit on any number of threads."""

import numpy as np
import pytest
import scipy.linalg
import torch

from learnt.engine.threads import set_threads
from learnt.linalg.any_array import solve_lower, solve_upper
from learnt.linalg.tiles import cholesky_in_place, lower_inverse, solve_rows, triangle_solve


@pytest.fixture(autouse=True)
def _threads():
    yield
    set_threads(None)


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 400])
def test_lapack(n):
    rng = np.random.default_rng(n)
    B = rng.normal(size=(n, n))
    A = B @ B.T + n * np.eye(n)
    found = []
    for threads in (1, 3):
        set_threads(threads)
        L = np.tril(A).copy()  # the lower triangle is enough
        assert cholesky_in_place(L)
        rows = solve_rows(L, B[:7].copy())
        found.append((np.tril(L), np.tril(lower_inverse(L)), rows))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    L, inverse, rows = found[0]
    # Condition numbers below 10: n ε at most.
    np.testing.assert_allclose(L @ L.T, A, rtol=0, atol=1e-14 * n * np.abs(A).max())
    np.testing.assert_allclose(inverse, np.tril(np.linalg.inv(A)), rtol=0, atol=1e-14 * n)
    np.testing.assert_allclose(rows, scipy.linalg.solve_triangular(L, B[:7].T, lower=True).T, atol=1e-13)


def test_one_row_is_solved_as_several_are():
    """BLAS solves it by vectors; d ε times the condition number, below 10, bounds the difference."""
    rng = np.random.default_rng(1)
    L = np.tril(rng.uniform(-0.1, 0.1, size=(60, 60))) + 2 * np.eye(60)
    B = rng.normal(size=(3, 60))
    for transposed in (True, False):
        rows, one = B.copy(), B[1:2].copy()
        triangle_solve(L, rows, transposed)
        triangle_solve(L, one, transposed)
        np.testing.assert_allclose(one @ (L.T if transposed else L), B[1:2], rtol=0, atol=1e-13)
        np.testing.assert_allclose(one, rows[1:2], rtol=0, atol=1e-13)


def test_what_is_not_positive_is_reported():
    A = np.eye(300)
    A[250, 250] = -1.0
    assert not cholesky_in_place(A)


@pytest.mark.parametrize("make", [np.asarray, torch.tensor])
def test_triangles_of_every_library(make):
    L = np.tril(np.random.default_rng(0).normal(size=(6, 6))) + 3 * np.eye(6)
    B = np.arange(12.0).reshape(6, 2)
    np.testing.assert_allclose(np.asarray(solve_lower(make(L), make(B))), np.linalg.solve(L, B), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(solve_upper(make(L).T, make(B))), np.linalg.solve(L.T, B), rtol=1e-12)
