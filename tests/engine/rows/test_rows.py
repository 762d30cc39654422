"""The summation form: the same sums from memory, memory maps, files, clusters and tensors, at any thread count."""

import tracemalloc

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import learnt
from learnt.engine.rows import ArrayRows, as_rows, blocks, csr_rows
from learnt.engine.threads import set_threads


def moments(block):
    """Count, weighted sum and products: what a fit asks for."""
    X = block.X.toarray() if sparse.issparse(block.X) else block.X
    w = np.ones(X.shape[0]) if block.w is None else np.asarray(block.w)
    X = np.asarray(X)
    return X.shape[0], w @ X, X.T @ (X * w[:, None]), float(np.asarray(block.y) @ w)


def first_column(block):
    return np.asarray(block.X[:, 0] * 2)


def data(n=5000, d=7, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng.uniform(size=n)


def expected(X, y, w):
    return len(X), w @ X, X.T @ (X * w[:, None]), float(y @ w)


def assert_sums(found, wanted):
    for f, e in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(f), e, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 5000, 70001])
def test_memory(n):
    X, y, w = data(n)
    assert_sums(as_rows(X, y, w).sum(moments), expected(X, y, w))
    np.testing.assert_array_equal(as_rows(X).map(first_column), X[:, 0] * 2)


def test_no_thread_count_changes_a_bit():
    X, y, w = data(60000, 9)
    results = []
    for count in (1, 2, 3, 7):
        set_threads(count)
        results.append(as_rows(X, y, w).sum(moments))
    set_threads(None)
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_memory_map(tmp_path):
    X, y, w = data()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for a, b in zip(as_rows(mapped, y, w).sum(moments), as_rows(X, y, w).sum(moments), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse(kind):
    X, y, w = data()
    X[np.abs(X) < 1] = 0
    assert_sums(as_rows(kind(X), y, w).sum(moments), expected(X, y, w))
    whole = kind(X)
    part = csr_rows(whole, 10, 30)
    np.testing.assert_array_equal(part.toarray(), X[10:30])
    assert type(part) is kind
    assert np.shares_memory(part.data, whole.data)
    assert np.shares_memory(part.indices, whole.indices)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_tables(tmp_path, suffix, monkeypatch):
    X, y, w = data()
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(7)]).with_columns(y=pl.Series(y), w=pl.Series(w))
    path = tmp_path / f"t.{suffix}"
    frame.write_parquet(path) if suffix == "parquet" else frame.write_ipc(path)
    from learnt.engine.rows import tables

    monkeypatch.setattr(tables, "_READ_BYTES", 8 * 7 * 700)  # several reads
    table = learnt.scan(path)
    rows = as_rows(table.drop("y", "w"), table["y"], table["w"])
    assert rows.read_rows == 700
    assert_sums(rows.sum(moments), expected(X, y, w))
    np.testing.assert_array_equal(rows.map(first_column), X[:, 0] * 2)
    assert table.shape == (5000, 9)
    assert table["y"].shape == (5000,)
    assert table[["x0", "y"]].columns == ["x0", "y"]


def test_tables_report_what_is_wrong(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        learnt.scan(tmp_path / "none.parquet")
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match="neither Parquet nor Arrow"):
        learnt.scan(tmp_path / "t.csv")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1, and nothing else of it")
    with pytest.raises(ValueError, match="cannot be read as a table"):
        learnt.scan(tmp_path / "bad.parquet")
    pl.DataFrame({"a": [1.0, None], "b": ["x", "y"]}).write_parquet(tmp_path / "t.parquet")
    table = learnt.scan(tmp_path / "t.parquet")
    with pytest.raises(KeyError, match="no column 'c'"):
        table["c"]
    with pytest.raises(ValueError, match=r"Column 'b' of t\.parquet holds String"):
        as_rows(table, np.zeros(2)).sum(moments)
    with pytest.raises(ValueError, match=r"Column 'a' of t\.parquet has a missing, NaN or infinite cell at row 1"):
        as_rows(table.drop("b"), np.zeros(2)).sum(moments)


@pytest.mark.parametrize("chunks", [(5000, 7), (1700, 7), (300, 3)])
def test_dask_arrays(chunks):
    import dask.array as da

    X, y, w = data()
    rows = as_rows(da.from_array(X, chunks=chunks), da.from_array(y, chunks=999), da.from_array(w, chunks=5000))
    assert_sums(rows.sum(moments), expected(X, y, w))
    assert_sums(as_rows(da.from_array(X, chunks=chunks), y, w).sum(moments), expected(X, y, w))
    lazy = rows.map(first_column)
    assert isinstance(lazy, da.Array)
    np.testing.assert_array_equal(lazy.compute(), X[:, 0] * 2)


def test_dask_errors_are_reported():
    import dask.array as da

    X, y, _ = data(100)
    bad = X.copy()
    bad[70, 2] = np.nan
    with pytest.raises(ValueError, match="X contains NaN at row 70, column 2, and this estimator needs finite numbers"):
        as_rows(da.from_array(bad, chunks=(50, 7)), da.from_array(y, chunks=50)).sum(moments)
    with pytest.raises(ValueError, match="100 rows but y or sample_weight has 99"):
        as_rows(da.from_array(X, chunks=(50, 7)), y[:99])


def test_tensors():
    import torch

    X, y, w = data()
    rows = as_rows(torch.tensor(X), torch.tensor(y), torch.tensor(w))
    total = rows.sum(lambda b: (b.X.shape[0], b.w @ b.X))
    assert total[0] == 5000
    assert isinstance(total[1], torch.Tensor)
    np.testing.assert_allclose(total[1].numpy(), w @ X, rtol=1e-10)


def test_float32_is_summed_in_float64():
    X = np.full((200000, 2), 0.1, dtype=np.float32)
    (total,) = as_rows(X).sum(lambda b: (b.X.sum(axis=0),))
    assert total.dtype == np.float64
    exact = 200000 * np.float64(np.float32(0.1))
    naive = np.add.accumulate(X[:, 0])[-1]  # one running float32 sum
    assert abs(total[0] - exact) < 0.2 * abs(naive - exact)


def test_memory_is_bounded_by_the_blocks():
    X = np.random.default_rng(0).normal(size=(400000, 20))  # 64 MB
    rows = ArrayRows(X, X[:, 0])
    set_threads(4)  # each has a block of its own
    try:
        rows.sum(moments)
        tracemalloc.start()
        rows.sum(moments)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        set_threads(None)
    assert peak < X.nbytes / 8


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 10**7), st.integers(1, 5000))
def test_blocks_depend_on_the_data_alone(n, d):
    size = blocks.block_rows(n, 8.0 * d)
    assert 1 <= size <= max(256, min(n, 16384))
    lane = blocks.lane_blocks(n, size, d)
    assert -(-n // (size * lane)) <= 64
