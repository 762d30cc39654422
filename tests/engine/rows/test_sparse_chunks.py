"""One law for Dask arrays of sparse chunks: the model of the same rows as one sparse matrix."""

import importlib.util
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse

spec = importlib.util.spec_from_file_location("checks", Path(__file__).parents[2] / "test_estimators.py")
checks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checks)

NAMES = [name for name in checks.LAZY if checks.takes_of(checks.make(name)).sparse]


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def in_sparse_chunks(X):
    return da.from_array(X, chunks=(70, X.shape[1])).map_blocks(sparse.csr_matrix)


@pytest.mark.filterwarnings("ignore:Maximum number of iteration")
@pytest.mark.parametrize("name", NAMES)
def test_sparse_chunks_are_one_sparse_matrix(name):
    X, y = checks.problem(name, n=200)
    X = X * (np.random.default_rng(0).random(X.shape) < 0.6)
    y = y[:, 0] if y.ndim == 2 else y
    model = checks.started(name, X)
    if name == "PCA":  # Arnoldi's method, which takes a sparse matrix in memory, finds all components but one
        model.set_params(n_components=2)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    expected = checks.output(checks.clone(model).fit(sparse.csr_matrix(X), y), X)
    there = checks.clone(model).fit(in_sparse_chunks(X), y)
    np.testing.assert_allclose(checks.output(there, X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(checks.output(there, in_sparse_chunks(X)), expected, rtol=1e-6, atol=1e-8)
