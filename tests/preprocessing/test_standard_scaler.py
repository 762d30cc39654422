"""StandardScaler: against scikit-learn, against the formula, and the same from every kind of rows."""

import copy

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from sklearn import preprocessing as oracle
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

import learnt
from learnt.preprocessing import StandardScaler

SETTINGS = [
    {},
    {"with_mean": False},
    {"with_std": False},
    {"with_mean": False, "with_std": False},
]


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(3000, 6)) * [1, 10, 1, 1e4, 1, 5] + [0, 5, 1e6, -3, 100, 0]


def same(ours, theirs, rtol=1e-9):
    for name in ("mean_", "var_", "scale_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        if b is None:
            assert a is None, name
        else:
            np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(ours.n_samples_seen_, theirs.n_samples_seen_)


# --- against scikit-learn ------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_is_scikit_learns(X, settings, dtype):
    X = X.astype(dtype)
    ours, theirs = StandardScaler(**settings).fit(X), oracle.StandardScaler(**settings).fit(X)
    same(ours, theirs, rtol=1e-6 if dtype == np.float32 else 1e-9)
    Z = ours.transform(X)
    assert Z.dtype == theirs.transform(X).dtype
    np.testing.assert_allclose(Z, theirs.transform(X), rtol=1e-3 if dtype == np.float32 else 1e-7, atol=1e-6)
    back = ours.inverse_transform(Z)
    np.testing.assert_allclose(back, X, rtol=1e-4 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_nan_is_left_out(X, weighted):
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.nan
    w = rng.random(len(X)) if weighted else None
    ours = StandardScaler().fit(X, sample_weight=w)
    with np.errstate(invalid="ignore", divide="ignore"):
        theirs = oracle.StandardScaler().fit(X, sample_weight=w)
    kept = [0, 1, 2, 4, 5]
    np.testing.assert_allclose(ours.mean_[kept], theirs.mean_[kept], rtol=1e-9)
    np.testing.assert_allclose(ours.var_[kept], theirs.var_[kept], rtol=1e-8)
    np.testing.assert_allclose(ours.n_samples_seen_, theirs.n_samples_seen_, rtol=1e-12)
    assert np.isnan(ours.mean_[3])
    np.testing.assert_array_equal(np.isnan(ours.transform(X)), np.isnan(X))


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse(container, weighted):
    rng = np.random.default_rng(2)
    dense = rng.normal(size=(200, 7)) * (rng.random((200, 7)) < 0.2) * 3
    dense[:, 6] = 0
    w = rng.random(200) if weighted else None
    S = container(dense)
    ours = StandardScaler(with_mean=False).fit(S, sample_weight=w)
    same(ours, oracle.StandardScaler(with_mean=False).fit(sparse.csr_matrix(dense), sample_weight=w))
    Z = ours.transform(S)
    assert sparse.issparse(Z)
    np.testing.assert_allclose(Z.toarray(), dense / ours.scale_, rtol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(Z).toarray(), dense, rtol=1e-12)


def test_sparse_nan_and_float32():
    dense = np.array([[1.0, 0, np.nan], [0, 2, 3], [4, 0, 0]], dtype=np.float32)
    S = sparse.csr_matrix(dense)
    ours = StandardScaler(with_mean=False).fit(S)
    same(ours, oracle.StandardScaler(with_mean=False).fit(S), rtol=1e-6)
    assert ours.transform(S).dtype == np.float32


def test_sparse_cannot_be_centred():
    S = sparse.csr_matrix(np.eye(3))
    with pytest.raises(ValueError, match=r"^Cannot center sparse matrices.*with_mean=False") as error:
        StandardScaler().fit(S)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="Cannot center sparse"):
        StandardScaler().fit(np.eye(3)).transform(S)


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, 1e10, 1e-9, 123456.789])
@pytest.mark.parametrize("n", [10, 1000, 20001])
def test_constant_columns_get_scale_one(constant, n):
    X = np.full((n, 2), constant)
    X[:, 1] = np.arange(n)
    ours = StandardScaler().fit(X)
    assert ours.scale_[0] == 1.0 == oracle.StandardScaler().fit(X).scale_[0]
    np.testing.assert_allclose(ours.transform(X)[:, 0], 0, atol=1e-5)


def test_every_estimator_check():
    for settings in SETTINGS:
        for estimator, check in estimator_checks_generator(StandardScaler(**settings)):
            if "array_api" in str(check):
                continue  # needs a switch of SciPy's in the environment; torch is tested below
            check(estimator)


# --- against mathematics -------------------------------------------------------------------------------------


def test_far_from_zero_nothing_cancels():
    rng = np.random.default_rng(3)
    Z = rng.integers(-5, 6, size=(50_000, 2)).astype(float)
    shifted = Z + 2.0**40  # exact in float64, so the variance must be too
    np.testing.assert_allclose(StandardScaler().fit(shifted).var_, Z.var(axis=0), rtol=1e-12)


def test_weight_two_is_a_row_twice_and_weight_zero_is_none(X):
    w = np.random.default_rng(4).integers(0, 4, size=len(X))
    weighted = StandardScaler().fit(X, sample_weight=w)
    repeated = StandardScaler().fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_, rtol=1e-12)
    np.testing.assert_allclose(weighted.var_, repeated.var_, rtol=1e-9)
    assert weighted.n_samples_seen_ == w.sum()


@pytest.mark.parametrize("sizes", [[1, 2, 3, 2994], [1000, 1000, 1000], [2999, 1]])
def test_partial_fit_is_fit(X, sizes):
    chunked, whole = StandardScaler(), StandardScaler().fit(X)
    for part in np.split(X, np.cumsum(sizes)[:-1]):
        chunked.partial_fit(part)
    np.testing.assert_allclose(chunked.mean_, whole.mean_, rtol=1e-10)
    np.testing.assert_allclose(chunked.var_, whole.var_, rtol=1e-10)
    assert chunked.n_samples_seen_ == whole.n_samples_seen_ == 3000


def test_partial_fit_with_nan_and_weights(X):
    X[::3, 0] = np.nan
    X[:1500, 1] = np.nan  # nothing seen of it in the first chunk
    w = np.random.default_rng(5).random(len(X))
    chunked = (
        StandardScaler().partial_fit(X[:1500], sample_weight=w[:1500]).partial_fit(X[1500:], sample_weight=w[1500:])
    )
    whole = StandardScaler().fit(X, sample_weight=w)
    np.testing.assert_allclose(chunked.mean_, whole.mean_, rtol=1e-10)
    np.testing.assert_allclose(chunked.var_, whole.var_, rtol=1e-9)


def test_partial_fit_without_moments(X):
    scaler = StandardScaler(with_mean=False, with_std=False).partial_fit(X).partial_fit(X)
    assert scaler.n_samples_seen_ == 6000
    assert scaler.mean_ is scaler.var_ is scaler.scale_ is None
    np.testing.assert_array_equal(scaler.transform(X), X)
    assert scaler.transform(X) is not X


def test_only_the_mean(X):
    scaler = StandardScaler(with_std=False).partial_fit(X[:100]).partial_fit(X[100:])
    np.testing.assert_allclose(scaler.transform(X), X - X.mean(axis=0), atol=1e-6)
    assert scaler.scale_ is None


# --- the same from every kind of rows ------------------------------------------------------------------------


def test_torch(X):
    tensor = torch.tensor(X)
    scaler = StandardScaler().fit(tensor)
    expected = StandardScaler().fit(X)
    assert isinstance(scaler.mean_, torch.Tensor)
    np.testing.assert_allclose(scaler.mean_.numpy(), expected.mean_, rtol=1e-12)
    np.testing.assert_allclose(scaler.scale_.numpy(), expected.scale_, rtol=1e-9)
    Z = scaler.transform(tensor)
    assert isinstance(Z, torch.Tensor)
    np.testing.assert_allclose(Z.numpy(), expected.transform(X), atol=1e-6)
    np.testing.assert_allclose(scaler.inverse_transform(Z).numpy(), X, rtol=1e-9)
    half = StandardScaler().fit(tensor.to(torch.float32)).transform(tensor.to(torch.float32))
    assert half.dtype == torch.float32
    # Fitted there, used here, and the other way round.
    np.testing.assert_allclose(scaler.transform(X), expected.transform(X), atol=1e-6)
    np.testing.assert_allclose(expected.transform(tensor).numpy(), expected.transform(X), atol=1e-9)


@pytest.mark.parametrize("chunks", [(700, 6), (1000, 2)])
def test_dask(X, chunks):
    lazy = da.from_array(X, chunks=chunks)
    scaler, expected = StandardScaler().fit(lazy), StandardScaler().fit(X)
    np.testing.assert_allclose(scaler.mean_, expected.mean_, rtol=1e-12)
    np.testing.assert_allclose(scaler.var_, expected.var_, rtol=1e-9)
    Z = scaler.transform(lazy)
    assert isinstance(Z, da.Array)
    np.testing.assert_allclose(Z.compute(), expected.transform(X), atol=1e-6)


def test_memmap_and_scan(X, tmp_path):
    expected = StandardScaler().fit(X)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.array_equal(StandardScaler().fit(mapped).mean_, expected.mean_)
    assert np.array_equal(StandardScaler(copy=False).fit(mapped).transform(mapped), expected.transform(X))
    pl.DataFrame(X, schema=list("abcdef")).write_parquet(tmp_path / "x.parquet")
    table = learnt.scan(tmp_path / "x.parquet")
    scaler = StandardScaler().fit(table)
    np.testing.assert_allclose(scaler.var_, expected.var_, rtol=1e-9)
    np.testing.assert_allclose(scaler.transform(table).to_numpy(), expected.transform(X), atol=1e-6)


def test_frames(X):
    names = ["a[1]", "дом, км", "{x:1}", " ", "e", "f"]
    frames = [pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names), pa.table(dict(zip(names, X.T)))]
    expected = StandardScaler().fit(X)
    for frame in frames:
        scaler = StandardScaler().fit(frame)
        np.testing.assert_allclose(scaler.transform(frame), expected.transform(X), atol=1e-12)
        assert scaler.get_feature_names_out().tolist() == names == scaler.feature_names_in_.tolist()
        scaler.inverse_transform(scaler.transform(frame))  # without a warning about names
    scaler.set_output(transform="pandas")
    out = scaler.transform(frames[0])
    assert list(out.columns) == names
    np.testing.assert_allclose(scaler.inverse_transform(out), X, rtol=1e-9)
    assert isinstance(scaler.set_output(transform="polars").transform(frames[1]), pl.DataFrame)


def test_blocks_do_not_matter():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40_000, 5)) + 100
    w = rng.random(len(X))
    whole = StandardScaler().fit(X, sample_weight=w)
    np.testing.assert_allclose(whole.mean_, np.average(X, axis=0, weights=w), rtol=1e-12)
    np.testing.assert_allclose(whole.var_, np.average((X - whole.mean_) ** 2, axis=0, weights=w), rtol=1e-10)
    order = rng.permutation(len(X))
    np.testing.assert_allclose(StandardScaler().fit(X[order], sample_weight=w[order]).var_, whole.var_, rtol=1e-11)


# --- conventions ---------------------------------------------------------------------------------------------


def test_copy_false_works_in_place(X):
    original, scaler = X.copy(), StandardScaler(copy=False).fit(X)
    np.testing.assert_array_equal(X, original)
    Z = scaler.transform(X)
    assert Z is X
    np.testing.assert_allclose(scaler.inverse_transform(X, copy=True), original, rtol=1e-9)
    np.testing.assert_array_equal(Z, X)
    assert scaler.inverse_transform(X) is X
    np.testing.assert_allclose(X, original, rtol=1e-9)
    untouched = original.copy()
    StandardScaler().fit(untouched).transform(untouched)
    np.testing.assert_array_equal(untouched, original)


def test_infinity_is_one_sentence(X):
    bad = X.copy()
    bad[7, 2] = np.inf
    fitted = StandardScaler().fit(X)
    for act in (StandardScaler().fit, fitted.transform, fitted.inverse_transform):
        with pytest.raises(ValueError, match="X contains inf") as error:
            act(bad)
        assert "\n" not in str(error.value)


def test_refit_resets(X):
    scaler = StandardScaler().fit(X)
    assert scaler.fit(X[:, :2] * 3).n_features_in_ == 2
    np.testing.assert_allclose(scaler.mean_, 3 * X[:, :2].mean(axis=0))
    assert not hasattr(clone(scaler), "mean_")
    assert repr(StandardScaler(with_mean=False)) == "StandardScaler(with_mean=False)"
    assert copy.deepcopy(scaler).mean_ is not scaler.mean_
