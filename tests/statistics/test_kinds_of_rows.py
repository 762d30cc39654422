"""The same moments wherever the rows lie."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from tests.statistics.exact import EPS, FAR

import learnt
from learnt.engine.arrays import is_foreign_array, namespace
from learnt.engine.rows import as_rows, tables
from learnt.statistics import Groups, classes_in_y, joint_moments, labels_in_y, moments

N, D, K = 3000, 4, 3
RNG = np.random.default_rng(2)
X = RNG.normal(size=(N, D)) * [1, 10, 1, 1] + [0, 0, 5, 1e7]
CODES = RNG.integers(0, K, N)
WEIGHTS = RNG.uniform(0.5, 2, N)
NAMES = list("abcd")


def numpy_rows(folder):
    return as_rows(X, CODES, WEIGHTS)


def column_major(folder):
    return as_rows(np.asfortranarray(X), CODES, WEIGHTS)


def memory_map(folder):
    np.save(folder / "rows.npy", X)
    return as_rows(np.load(folder / "rows.npy", mmap_mode="r"), CODES, WEIGHTS)


def csr(folder):
    return as_rows(sparse.csr_array(X), CODES, WEIGHTS)


def torch_tensor(folder):
    import torch

    return as_rows(torch.asarray(X), torch.asarray(CODES), torch.asarray(WEIGHTS))


def strict_array(folder):
    import array_api_strict as xp

    return as_rows(xp.asarray(X), xp.asarray(CODES), xp.asarray(WEIGHTS))


def parquet_file(folder):
    frame = pl.DataFrame(X, schema=NAMES).with_columns(y=pl.Series(CODES), w=pl.Series(WEIGHTS))
    frame.write_parquet(folder / "rows.parquet")
    table = learnt.scan(folder / "rows.parquet")
    return as_rows(table[NAMES], table["y"], table["w"])


def arrow_file(folder):
    frame = pl.DataFrame(X, schema=NAMES).with_columns(y=pl.Series(CODES), w=pl.Series(WEIGHTS))
    frame.write_ipc(folder / "rows.arrow")
    table = learnt.scan(folder / "rows.arrow")
    return as_rows(table[NAMES], table["y"], table["w"])


def dask_array(folder):
    import dask.array as da

    return as_rows(da.from_array(X, chunks=(700, D)), da.from_array(CODES, chunks=700), da.from_array(WEIGHTS, 999))


def dask_frame(folder):
    import dask.dataframe as dd
    import pandas as pd

    parts = dd.from_pandas(pd.DataFrame(X, columns=NAMES).assign(y=CODES, w=WEIGHTS), npartitions=4)
    return as_rows(parts[NAMES], parts["y"], parts["w"])


PLACES = [
    numpy_rows,
    column_major,
    memory_map,
    csr,
    torch_tensor,
    strict_array,
    parquet_file,
    arrow_file,
    dask_array,
    dask_frame,
]


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def rows(request, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_READ_BYTES", 8 * D * 777)  # several reads
    return request.param(tmp_path)


def shares_of(block, centres):
    """Two shares a row, in the library of the block, from its first column."""
    X = block.X.toarray() if sparse.issparse(block.X) else block.X
    near = 1.0 / (1.0 + (X[:, 0] - centres[0]) ** 2)
    return namespace(near).stack([near, 1.0 - near], axis=1)


def two_pass(R):
    """Weight, mean and scatter of groups in extended precision where the machine has it, float64 about the means."""
    R, Z = R.astype(np.longdouble), X.astype(np.longdouble)
    weight = R.sum(axis=0)
    mean = (R.T @ Z) / weight[:, None]
    scatter = np.stack([((Z - m) * R[:, [k]]).T @ (Z - m) for k, m in enumerate(mean)])
    return weight.astype(float), mean.astype(float), scatter.astype(float)


def assert_close(found, want, together):
    """Within the bound for sums of N terms about a point with (mean − point)² ≤ FAR·variance."""
    found = found.to_numpy()
    weight, mean, S = (part[0] for part in want) if together else want
    unit = N * EPS
    root = np.sqrt(np.diagonal(S, axis1=-2, axis2=-1))
    np.testing.assert_allclose(found.weight, weight, rtol=unit)
    np.testing.assert_allclose(found.mean, mean, rtol=4 * EPS, atol=unit * 1000)
    bound = unit * (1 + FAR) * root[..., :, None] * root[..., None, :]
    if found.kind == "diagonal":
        S, bound = (np.diagonal(part, axis1=-2, axis2=-1) for part in (S, bound))
    if found.kind == "pooled":
        S, bound = S.sum(axis=0), bound.sum(axis=0)
    assert (np.abs(found.scatter - S) <= bound).all()


def test_of_all_rows(rows):
    want = two_pass(WEIGHTS[:, None])
    for scatter in ("diagonal", "full"):
        assert_close(moments(rows, scatter=scatter), want, together=True)


def test_of_classes(rows):
    want = two_pass((CODES[:, None] == np.arange(K)) * WEIGHTS[:, None])
    lazy = not rows.in_memory
    groups = labels_in_y(np.arange(K)) if lazy else classes_in_y(K)
    for scatter in ("diagonal", "full", "pooled"):
        assert_close(moments(rows, groups, scatter=scatter), want, together=False)


def test_of_shares(rows):
    near = 1.0 / (1.0 + (X[:, 0] - 0.5) ** 2)
    want = two_pass(np.column_stack([near, 1.0 - near]) * WEIGHTS[:, None])
    for scatter in ("diagonal", "full", "pooled"):
        assert_close(moments(rows, Groups(2, shares_of, ([0.5],)), scatter=scatter), want, together=False)


def test_of_arrays_of_groups_beside_the_rows(rows):
    want = two_pass((CODES[:, None] == np.arange(K)) * WEIGHTS[:, None])
    assert_close(moments(rows, CODES), want, together=False)
    assert_close(moments(rows, (CODES[:, None] == np.arange(K)).astype(float)), want, together=False)


def test_of_x_and_y(rows):
    if is_foreign_array(rows.X):
        xp = namespace(rows.X)
        rows = as_rows(rows.X, xp.astype(rows.y, xp.float64), rows.w)
    found = joint_moments(rows)
    weight, mean, S = (part[0] for part in two_pass(WEIGHTS[:, None]))
    y = CODES.astype(np.longdouble)
    y_mean = (WEIGHTS * y).sum() / WEIGHTS.sum()
    cross = ((X - mean) * WEIGHTS[:, None]).T @ (y - y_mean)
    root, y_root = np.sqrt(np.diagonal(S)), float(np.sqrt((WEIGHTS * (y - y_mean) ** 2).sum()))
    far = 1e5  # least squares is content with more digits lost
    np.testing.assert_allclose(found.weight, weight, rtol=N * EPS)
    np.testing.assert_allclose(found.x_mean, mean, rtol=1e-12, atol=1e-10)
    assert (np.abs(found.gram - S) <= N * EPS * (1 + far) * np.outer(root, root)).all()
    assert (np.abs(found.cross[:, 0] - cross.astype(float)) <= N * EPS * (1 + far) * root * y_root).all()
