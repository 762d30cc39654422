"""Decompositions that Ctrl-C can leave: those of NumPy, whichever way they are computed."""

import numpy as np
import pytest

from learnt.linalg import decompositions

rng = np.random.default_rng(0)


@pytest.fixture
def long(monkeypatch):
    """Matrices of any size are taken for large ones."""
    monkeypatch.setattr(decompositions, "_SECONDS", 0.0)
    monkeypatch.setattr(decompositions, "_PANEL", 4)


@pytest.mark.parametrize("shape", [(30, 10), (10, 10), (6, 10), (12, 1), (4, 4), (9, 8)])
def test_the_triangle_of_panels_is_that_of_lapack(long, shape):
    """The same reflections; products in another order: some tens of roundings of numbers of size ‖A‖."""
    A = rng.normal(size=shape)
    R = decompositions.triangle(A)
    assert R.shape == (min(shape), shape[1])
    np.testing.assert_array_equal(R, np.triu(R))
    np.testing.assert_allclose(R, np.linalg.qr(A, mode="r"), rtol=0, atol=1e-13 * np.linalg.norm(A))


def test_on_a_thread_of_its_own_the_answer_is_the_same(long):
    A = rng.normal(size=(9, 6))
    S = A.T @ A
    for found, expected in zip(decompositions.eigh(S), np.linalg.eigh(S)):
        np.testing.assert_array_equal(found, expected)
    for found, expected in zip(decompositions.svd(A), np.linalg.svd(A, full_matrices=False)):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(np.linalg.LinAlgError):
        decompositions.svd(np.full((3, 3), np.nan))
