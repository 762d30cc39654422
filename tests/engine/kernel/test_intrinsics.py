"""Hints change nothing but time; atomic sums lose nothing."""

import numpy as np
import pytest

from learnt.engine.kernel import compilation_enabled, kernel
from learnt.engine.kernel.intrinsics import (
    at_least,
    at_most,
    atomic_add,
    atomic_load,
    atomic_store,
    prefetch,
    yield_processor,
)
from learnt.engine.threads import run_tasks


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


@kernel
def count(cells, times):
    for _ in range(times):
        atomic_add(cells, 0, 1)
        if times < 0:
            yield_processor()
    return atomic_load(cells, 0)


@kernel
def put(cells, value):
    atomic_store(cells, 1, value)
    return atomic_load(cells, 1)


def test_threads_that_add_to_one_cell_lose_nothing():
    cells = np.zeros(2, dtype=np.int64)
    run_tasks([lambda: count(cells, 50_000)] * 4, n_jobs=4)
    assert cells[0] == 200_000 or not compilation_enabled()
    assert put(cells, 7) == cells[1] == 7


def test_plain_python_replaces_kernels():
    cells = np.array([5, 0])
    assert atomic_add.python(cells, 0, 3) == 5
    assert atomic_load.python(cells, 0) == 8
    atomic_store.python(cells, 1, 4)
    assert cells.tolist() == [8, 4]
    assert yield_processor.python() is None


@kernel
def within(x, low, high):
    for i in range(len(x)):
        x[i] = at_most(at_least(x[i], low), high)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bounds_keep_what_is_between_them_and_nan(dtype):
    x = np.array([-np.inf, -3.0, -1.0, 0.25, 2.0, 7.0, np.inf, np.nan], dtype=dtype)
    within(x, dtype(-1.0), dtype(2.0))
    assert x[:-1].tolist() == [-1.0, -1.0, -1.0, 0.25, 2.0, 2.0, 2.0]
    assert np.isnan(x[-1])
    assert at_least.python(1.0, 2.0) == at_most.python(3.0, 2.0) == 2.0
