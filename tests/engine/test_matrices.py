"""One law for matrices: the same question has the same answer in NumPy, SciPy, tensors, files and clusters."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import learnt
from learnt.engine import matrices as m
from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.rows import as_rows, tables

N, D = 900, 5
RNG = np.random.default_rng(0)
X = RNG.integers(-3, 4, (N, D)) * (RNG.uniform(size=(N, D)) < 0.4) * 0.5  # exact in float32, and so are the sums
COEF, INTERCEPT = RNG.integers(-4, 5, (3, D)) / 4, np.array([0.5, 0.0, -1.0])
INDEX = np.array([5, 899, 0, 5, 450])


def strict(folder):
    import array_api_strict as xp

    return xp.asarray(X, device=xp.Device("device1"))


def torch_double(folder):
    import torch

    return torch.asarray(X)


def torch_single(folder):
    import torch

    return torch.asarray(X.astype(np.float32))


def parquet(folder):
    pl.DataFrame(X, schema=list("abcde")).write_parquet(folder / "x.parquet")
    return learnt.scan(folder / "x.parquet")


def dask_array(folder):
    import dask.array as da

    return da.from_array(X, chunks=(170, 3))


def dask_frame(folder):
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=4)


IN_MEMORY = {
    "numpy": lambda folder: X,
    "columns": lambda folder: np.asfortranarray(X),
    "single": lambda folder: X.astype(np.float32),
    "csr": lambda folder: sparse.csr_array(X),
    "csr_matrix": lambda folder: sparse.csr_matrix(X.astype(np.float32)),
    "strict": strict,
    "torch": torch_double,
    "torch_single": torch_single,
}
ANYWHERE = IN_MEMORY | {"parquet": parquet, "dask": dask_array, "dask_frame": dask_frame}
ROUTES = {"csr": "sparse", "csr_matrix": "sparse", "strict": "device", "torch": "device", "torch_single": "device"}
ROUTES |= {"parquet": "blocks", "dask": "blocks", "dask_frame": "blocks"}


@pytest.fixture(params=ANYWHERE)
def kind(request, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_READ_BYTES", 8 * D * 123)  # several reads
    return request.param, ANYWHERE[request.param](tmp_path)


@pytest.fixture(params=IN_MEMORY)
def matrix(request):
    return IN_MEMORY[request.param](None)


def test_rows_of_every_kind_agree(kind):
    name, values = kind
    rows = as_rows(values)
    assert rows.route.value == ROUTES.get(name, "dense")
    assert rows.route is m.route(values)
    assert rows.in_memory == (rows.route.value != "blocks")
    assert rows.on_host == (rows.route.value in ("dense", "sparse"))
    assert rows.n_stored == (np.count_nonzero(X) if rows.route is m.Route.SPARSE else N * D)
    taken = rows.take(INDEX)
    assert type(taken) is np.ndarray
    assert taken.dtype == np.float64
    np.testing.assert_array_equal(taken, X[INDEX])
    assert rows.take(INDEX[:0]).shape == (0, D)
    for coef, intercept in ((COEF, INTERCEPT), (COEF[0], INTERCEPT[:1])):
        found = rows.scores(like(coef, rows.reference), like(intercept, rows.reference))
        found = found.compute() if hasattr(found, "compute") else to_numpy(found)
        np.testing.assert_array_equal(found, X @ coef.T + intercept)


def test_questions_about_a_matrix(matrix):
    def same(found, expected):
        np.testing.assert_array_equal(to_numpy(m.dense(found)), expected)

    same(matrix, X)
    same(m.square(matrix), X**2)
    same(m.row_squares(matrix), (X**2).sum(axis=1))
    same(m.take_rows(matrix, INDEX), X[INDEX])
    same(m.take_rows(matrix, X[:, 0] > 0), X[X[:, 0] > 0])
    same(m.take_rows(matrix, slice(3, 9)), X[3:9])
    assert m.n_stored(matrix) in (np.count_nonzero(X), N * D)
    assert np.sum(to_numpy(m.stored(matrix))) == X.sum()
    if not sparse.issparse(matrix):
        same(m.join([matrix, matrix], axis=1), np.hstack([X, X]))
        same(m.identity(matrix, 3), np.eye(3))
    wide = m.double(matrix)
    assert str(wide.dtype).endswith("float64")
    assert wide is m.double(wide) or sparse.issparse(wide) or np.shares_memory(to_numpy(wide), to_numpy(m.double(wide)))
    same(wide, X)
    assert m.cast(matrix, namespace(matrix).float32).dtype == namespace(matrix).float32
    placed = m.to_device_of_as_double(COEF, matrix)
    same(placed, COEF)
    assert type(placed) is (np.ndarray if m.on_host(matrix) else type(matrix))


def test_products_of_sparse_matrices_are_dense():
    A = sparse.csr_array(X)
    found = m.product(A, A.T)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, X @ X.T)
