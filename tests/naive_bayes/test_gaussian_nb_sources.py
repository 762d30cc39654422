"""GaussianNB gives the same answer wherever the rows lie: memory, a file, a cluster, a tensor."""

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import learnt
from learnt.naive_bayes import GaussianNB

ATTRIBUTES = ("theta_", "var_", "class_prior_", "class_count_", "epsilon_")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    return rng.normal(size=(3000, 5)) * (1 + y[:, None]) + y[:, None] + 10, y, rng.random(3000)


@pytest.fixture(scope="module")
def expected(data):
    return GaussianNB().fit(*data)


def assert_same(model, expected, rtol=1e-10):
    for name in ATTRIBUTES:
        np.testing.assert_allclose(np.asarray(getattr(model, name)), getattr(expected, name), rtol=rtol, err_msg=name)
    np.testing.assert_array_equal(np.asarray(model.classes_), expected.classes_)


def test_memory_map(data, expected, tmp_path):
    X, y, w = data
    np.save(tmp_path / "X.npy", X)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = GaussianNB().fit(X, y, w)
    assert_same(model, expected, rtol=0)
    np.testing.assert_array_equal(model.predict(X), expected.predict(np.array(X)))


@pytest.mark.parametrize("lazy_y", [True, False])
def test_dask(data, expected, lazy_y):
    X, y, w = data
    dX = da.from_array(X, chunks=(700, 3))
    dy, dw = (da.from_array(v, chunks=500) for v in (y, w)) if lazy_y else (y, w)
    model = GaussianNB().fit(dX, dy, dw)
    assert_same(model, expected)
    labels = model.predict(dX)
    assert isinstance(labels, da.Array)
    np.testing.assert_array_equal(labels.compute(), expected.predict(X))
    np.testing.assert_allclose(model.predict_proba(dX).compute(), expected.predict_proba(X), rtol=1e-8)


def test_dask_chunks_one_by_one(data, expected):
    X, y, w = data
    model = GaussianNB()
    for part in np.array_split(np.arange(len(y)), 4):
        pieces = [da.from_array(v[part], chunks=300) for v in (X, y, w)]
        model.partial_fit(pieces[0], pieces[1], [0, 1, 2], pieces[2])
    assert_same(model, expected)


@pytest.mark.parametrize(("dtype", "rtol"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_torch(data, expected, dtype, rtol):
    X, y, w = data
    tX, ty, tw = torch.tensor(X, dtype=dtype), torch.tensor(y), torch.tensor(w, dtype=dtype)
    model = GaussianNB().fit(tX, ty, tw)
    assert_same(model, expected, rtol)
    assert model.theta_.dtype == dtype
    proba = model.predict_proba(tX)
    assert isinstance(proba, torch.Tensor)
    assert proba.dtype == dtype
    np.testing.assert_allclose(proba.numpy(), expected.predict_proba(X), atol=1e-3 if dtype == torch.float32 else 1e-10)
    assert isinstance(model.predict(tX), torch.Tensor)
    assert (model.predict(tX).numpy() == expected.predict(X)).mean() > 0.999
    assert (model.predict(X) == expected.predict(X)).mean() > 0.999  # the answer is where the rows are
    assert isinstance(model.predict(X), np.ndarray)


def test_torch_class_without_weight(data):
    X, y, _ = data
    model = GaussianNB().fit(torch.tensor(X), torch.tensor(y), torch.tensor((y != 1) * 1.0))
    assert model.classes_.tolist() == [0, 2]


def test_file(data, expected, tmp_path):
    X, y, w = data
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(5)]).with_columns(y=pl.Series(y))
    frame.write_parquet(tmp_path / "table.parquet")
    table = learnt.scan(tmp_path / "table.parquet")
    model = GaussianNB().fit(table.drop("y"), table["y"], w)
    assert_same(model, expected)
    np.testing.assert_array_equal(model.predict(table.drop("y")), expected.predict(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(data, expected, frame):
    X, y, w = data
    table = frame({f"x{j}": X[:, j] for j in range(5)})
    model = GaussianNB().fit(table, y, w)
    assert_same(model, expected)
    assert model.feature_names_in_.tolist() == [f"x{j}" for j in range(5)]
    np.testing.assert_array_equal(model.predict(table), expected.predict(X))
