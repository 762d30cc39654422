"""The hint changes nothing but time."""

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.prefetch import prefetch


@kernel
def total(X, order):
    s = 0.0
    for k in range(order.size):
        prefetch(X, order[min(k + 2, order.size - 1)] * X.shape[1])
        for j in range(X.shape[1]):
            s += X[order[k], j]
    return s


@kernel
def beyond(x):
    prefetch(x, 1 << 40)
    prefetch(x, -5)
    return x[0]


def test_a_sum_is_what_it_was():
    for dtype in (np.float64, np.float32, np.uint32):
        X = np.arange(60).reshape(20, 3).astype(dtype)
        order = np.random.default_rng(0).permutation(20)
        assert total(X, order) == X.sum()


def test_no_place_is_wrong():
    assert beyond(np.array([3.0])) == 3.0
    assert prefetch.python(np.array([3.0]), 7) is None
