"""LSQR where X is an operator, a memory map, a file or a cluster."""

import tracemalloc

import dask.array as da
import numpy as np
import polars as pl
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import learnt
from learnt.linear_model import LinearRegression


def data(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** np.arange(d) / 1e3 + 5.0
    return X, X @ rng.normal(size=d) + rng.normal(size=n), rng.uniform(0.1, 2.0, size=n)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_an_operator_gives_the_dense_answer(fit_intercept, weighted):
    X, y, w = data()
    X = X / X.std(axis=0)
    w = w if weighted else None
    dense = LinearRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight=w)
    for operator in (aslinearoperator(X), LinearOperator(X.shape, matvec=lambda v: X @ v, rmatvec=lambda u: X.T @ u)):
        model = LinearRegression(solver="lsqr", fit_intercept=fit_intercept, tol=1e-13)
        model.fit(operator, y, sample_weight=w)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-8)
        np.testing.assert_allclose(model.intercept_, dense.intercept_, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(model.predict(operator), dense.predict(X), rtol=1e-8)
        np.testing.assert_allclose(model.predict(X), dense.predict(X), rtol=1e-8)
        assert model.solver_ == "lsqr"


def test_several_targets():
    X, y, _ = data()
    X = X / X.std(axis=0)
    Y = np.c_[y, np.cos(y)]
    model = LinearRegression(solver="lsqr", tol=1e-12).fit(aslinearoperator(X), Y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, Y).coef_, rtol=1e-7)
    assert model.predict(aslinearoperator(X)).shape == Y.shape


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_blocks_give_the_dense_answer(fit_intercept, weighted, tmp_path):
    X, y, w = data()
    dense = LinearRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight=w if weighted else None)
    np.save(tmp_path / "X.npy", X)
    pl.DataFrame(np.c_[X, y, w], schema=[*"abcdef", "y", "w"]).write_parquet(tmp_path / "t.parquet")
    table = learnt.scan(tmp_path / "t.parquet")
    columns = table[["a", "b", "c", "d", "e", "f"]]
    chunks = [da.from_array(a, chunks=150) for a in (y, w)]
    places = [
        (np.load(tmp_path / "X.npy", mmap_mode="r"), y, w),
        (columns, table["y"], table["w"]),
        (columns, y, w),
        (da.from_array(X, chunks=(150, 6)), *chunks),
    ]
    for A, b, c in places:
        model = LinearRegression(solver="lsqr", fit_intercept=fit_intercept, tol=1e-8)
        model.fit(A, b, sample_weight=c if weighted else None)
        assert model.solver_ == "lsqr"
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-7)


def test_several_targets_of_a_memory_map(tmp_path):
    X, y, _ = data()
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    Y = np.c_[y, np.sin(y), np.zeros(len(y))]
    model = LinearRegression(solver="lsqr").fit(mapped, Y)
    expected = LinearRegression(solver="qr").fit(mapped.astype(np.float64), Y.astype(np.float32))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-3, atol=1e-6)
    assert np.all(model.coef_[2] == 0)


def _peak(n, folder, solver):
    d = 20
    path = folder / f"{n}.npy"
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, d))
    rng = np.random.default_rng(0)
    for lo in range(0, n, 10_000):
        X[lo : lo + 10_000] = rng.normal(size=(min(10_000, n - lo), d))
    y = np.lib.format.open_memmap(folder / f"y{n}.npy", mode="w+", dtype=np.float64, shape=(n,))
    y[:] = X[:, 0]
    X, y = (np.load(folder / name, mmap_mode="r") for name in (f"{n}.npy", f"y{n}.npy"))
    LinearRegression(solver=solver).fit(X[:100], y[:100])  # what is imported and made once
    tracemalloc.start()
    model = LinearRegression(solver=solver).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(model.coef_, np.eye(d)[0], atol=1e-6)
    return peak


def test_peak_memory_does_not_grow_with_the_rows(tmp_path):
    learnt.set_threads(1)
    try:
        small, large = (_peak(n, tmp_path, "lsqr") for n in (20_000, 160_000))
    finally:
        learnt.set_threads(None)
    assert large < 1.3 * small
    assert large < 0.15 * 160_000 * 20 * 8


def test_what_an_operator_cannot_do_is_refused():
    X, y, _ = data()
    operator = aslinearoperator(X)
    for params in ({"solver": "qr"}, {"positive": True}):
        with pytest.raises(ValueError, match="gives products only"):
            LinearRegression(**params).fit(operator, y)
    with pytest.raises(ValueError, match="X has 400 rows but y has 399"):
        LinearRegression(solver="lsqr").fit(operator, y[1:])
    with pytest.raises(NotFittedError):
        LinearRegression().predict(operator)
    model = LinearRegression(solver="lsqr", tol=1e-4).fit(operator, y)
    with pytest.raises(ValueError, match="X has 3 features, but LinearRegression is expecting 6"):
        model.predict(aslinearoperator(X[:, :3]))
    with pytest.raises(ValueError, match="are not there any more"):
        model.summary()
    bad = LinearOperator(X.shape, matvec=lambda v: X @ v * np.nan, rmatvec=lambda u: X.T @ u)
    with pytest.raises(ValueError, match="not finite"):
        LinearRegression(solver="lsqr").fit(bad, y)


def test_collinear_columns_of_a_memory_map(tmp_path):
    X, y, _ = data()
    more = np.c_[X, X[:, 0], np.ones(len(X))]
    np.save(tmp_path / "X.npy", more)
    model = LinearRegression(solver="lsqr", tol=1e-8).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    np.testing.assert_allclose(model.predict(more), LinearRegression().fit(X, y).predict(X), rtol=1e-5, atol=1e-5)
    assert model.coef_[-1] == 0


def test_an_iteration_that_does_not_converge_reports_the_distance():
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(60, 60)))[0] for _ in range(2))
    X, y = (left * np.logspace(0, -9, 60)) @ right, rng.normal(size=60)
    with pytest.warns(ConvergenceWarning, match="stopped after 120 iterations of LSQR with a gradient"):
        LinearRegression(solver="lsqr", tol=1e-16, fit_intercept=False).fit(aslinearoperator(X), y)
