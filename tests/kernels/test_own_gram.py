"""k(X, X) times columns, every pair of rows compared once, against the whole matrix."""

import numpy as np
import pytest

from learnt.engine.threads import set_threads
from learnt.kernels import RBF, Linear, Matern, White, gram, own_gram_times

RNG = np.random.default_rng(0)
KERNELS = [2.0 * RBF(0.8) + White(0.5), Matern(1.0, nu=1.5) * RBF([1.0, 2.0, 0.5]), Linear() + White(2.0)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n", [1, 255, 256, 900, 1300])
@pytest.mark.parametrize("k", [1, 8, 20])
def test_it_is_the_product_with_the_whole_matrix(kernel, n, k):
    X, coef = RNG.normal(size=(n, 3)), RNG.normal(size=(n, k))
    K = gram(kernel, X)
    # Sums of n terms in another order, of entries that may differ by 1e-12.
    bound = (1e-12 + 2 * n * np.finfo(float).eps) * (np.abs(K) @ np.abs(coef))
    assert (np.abs(own_gram_times(kernel, X, coef) - K @ coef) <= bound + 1e-300).all()


def test_threads_change_nothing():
    X, coef = RNG.normal(size=(3000, 3)), RNG.normal(size=(3000, 2))
    answers = []
    for threads in (1, 2):
        set_threads(threads)
        answers.append(own_gram_times(RBF(1.0), X, coef))
    set_threads(None)
    np.testing.assert_array_equal(*answers)
