"""Constants and noise of sequences of anything, and the diagonals of lists."""

import numpy as np
import pytest

from learnt.kernels import Constant, DotProduct, Linear, Polynomial, White

SEQUENCES = [[1.0, 2.0, 3.0], np.arange(4.0), ["a", "b"], [[1.0, 2.0], [3.0, 4.0]], np.array([["a"], ["b"]])]


@pytest.mark.parametrize("X", SEQUENCES, ids=lambda X: type(X).__name__ + str(np.shape(X)))
@pytest.mark.parametrize(
    "kernel", [Constant(2.0), White(3.0), Constant(2.0) + White(3.0), Constant(2.0) * White(3.0)], ids=str
)
def test_each_entry_of_a_sequence_is_a_row_to_kernels_of_anything(kernel, X):
    n = len(X)
    K, gradient = kernel(X, eval_gradient=True)
    assert K.shape == kernel(X, X).shape == (n, n)
    assert gradient.shape == (n, n, kernel.n_dims)
    np.testing.assert_array_equal(kernel(X), K)
    np.testing.assert_array_equal(kernel.diag(X), np.diagonal(K))


@pytest.mark.parametrize("kernel", [Constant(2.0), White(3.0)], ids=str)
def test_one_number_is_no_sequence(kernel):
    for call in (kernel, kernel.diag):
        with pytest.raises(TypeError, match="Expected sequence or array-like"):
            call(0.5)


@pytest.mark.parametrize("kernel", [Linear(), DotProduct(1.0), Polynomial(2)], ids=str)
def test_the_diagonal_of_lists(kernel):
    X = [[1.0, 2.0], [3.0, 4.0]]
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X)), rtol=1e-15)
