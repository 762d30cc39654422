"""PCA gives the same answer wherever the rows lie: memory, a file, a cluster, a tensor."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import learnt
from learnt.decomposition import PCA

ATTRIBUTES = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "mean_",
    "noise_variance_",
)
SOLVERS = ("auto", "full", "covariance_eigh", "randomized")


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(3000, 7)) @ rng.normal(size=(7, 7)) + 10


def assert_same(model, expected, rtol=1e-9, atol=1e-10):
    assert model.n_samples_ == expected.n_samples_
    for name in ATTRIBUTES:
        a, b = np.asarray(getattr(model, name)), getattr(expected, name)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=name)


@pytest.mark.parametrize("solver", [*SOLVERS, "arpack"])
def test_memory_map(X, solver, tmp_path):
    np.save(tmp_path / "X.npy", X)
    X_map = np.load(tmp_path / "X.npy", mmap_mode="r")
    pca, expected = (PCA(3, svd_solver=solver, random_state=0).fit(data) for data in (X_map, X))
    assert_same(pca, expected, rtol=0, atol=0)
    np.testing.assert_array_equal(pca.transform(X_map), expected.transform(X))


@pytest.mark.parametrize("solver", [*SOLVERS, "arpack"])
@pytest.mark.parametrize("n_components", [3, 0.8, None])
def test_dask_array(X, solver, n_components):
    if n_components != 3 and solver in ("randomized", "arpack"):
        n_components = 4
    lazy = da.from_array(X, chunks=(800, 4))
    pca = PCA(n_components, svd_solver=solver, random_state=0).fit(lazy)
    expected = PCA(n_components, svd_solver=solver, random_state=0).fit(X)
    assert_same(pca, expected)
    scores = pca.transform(lazy)
    assert isinstance(scores, da.Array)
    np.testing.assert_allclose(scores.compute(), expected.transform(X), atol=1e-8)
    np.testing.assert_allclose(pca.score_samples(lazy).compute(), expected.score_samples(X), rtol=1e-7)
    assert pca.score(lazy) == pytest.approx(expected.score(X))


def test_dask_frame(X):
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdefg")), npartitions=4)
    pca = PCA(3).fit(frame)
    assert_same(pca, PCA(3).fit(X))
    assert pca.feature_names_in_.tolist() == list("abcdefg")
    np.testing.assert_allclose(pca.fit_transform(frame).compute(), PCA(3).fit(X).transform(X), atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-4)])
def test_torch(X, solver, whiten, dtype, tolerance):
    tensor = torch.tensor(X, dtype=dtype)
    pca = PCA(3, svd_solver=solver, whiten=whiten, random_state=0).fit(tensor)
    expected = PCA(3, svd_solver=solver, whiten=whiten, random_state=0).fit(X)
    assert_same(pca, expected, tolerance, tolerance)
    scores = pca.transform(tensor)
    assert isinstance(scores, torch.Tensor)
    assert scores.dtype == pca.components_.dtype == dtype
    np.testing.assert_allclose(scores.numpy(), expected.transform(X), atol=100 * tolerance)
    np.testing.assert_allclose(
        pca.inverse_transform(scores).numpy(), expected.inverse_transform(expected.transform(X)), atol=100 * tolerance
    )
    assert pca.score(tensor) == pytest.approx(expected.score(X), rel=1e-3)
    np.testing.assert_allclose(
        (pca.get_precision() @ pca.get_covariance()).numpy(), np.eye(7), atol=1e-6 if tolerance < 1e-6 else 0.1
    )


@pytest.mark.parametrize("n_components", [None, 5, 0.5])
def test_wide_torch(n_components):
    X = np.random.default_rng(0).normal(size=(20, 60)) + 3
    pca, expected = PCA(n_components).fit(torch.tensor(X)), PCA(n_components).fit(X)
    np.testing.assert_allclose(pca.explained_variance_.numpy(), expected.explained_variance_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(pca.components_.numpy()[:5], expected.components_[:5], atol=1e-9)


@pytest.mark.parametrize("whiten", [False, True])
def test_scores_are_where_the_rows_are(X, whiten):
    there, here = PCA(2, whiten=whiten).fit(torch.tensor(X)), PCA(2, whiten=whiten).fit(X)
    expected = here.transform(X)
    for model in (there, here):
        scores = model.transform(torch.tensor(X))
        assert isinstance(scores, torch.Tensor)
        np.testing.assert_allclose(scores.numpy(), expected, atol=1e-9)
        assert isinstance(model.transform(X), np.ndarray)
        np.testing.assert_allclose(model.transform(X), expected, atol=1e-9)
        np.testing.assert_allclose(model.inverse_transform(expected), here.inverse_transform(expected), atol=1e-9)
    with pytest.raises(ValueError, match="not supported for Array API inputs"):
        PCA(2, svd_solver="arpack").fit(torch.tensor(X))


def test_torch_reports_cells_that_are_not_finite(X):
    bad = torch.tensor(X)
    bad[3, 1] = float("nan")
    with pytest.raises(ValueError, match="X contains NaN at row 3, column 1"):
        PCA(2).fit(bad)


def test_file(X, tmp_path):
    pl.DataFrame(X, schema=list("abcdefg")).write_parquet(tmp_path / "table.parquet")
    table = learnt.scan(tmp_path / "table.parquet")
    pca = PCA(3).fit(table)
    assert_same(pca, PCA(3).fit(X))
    np.testing.assert_allclose(pca.transform(table).to_numpy(), PCA(3).fit(X).transform(X), atol=1e-9)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(X, frame):
    table = frame({c: X[:, j] for j, c in enumerate("abcdefg")})
    pca = PCA(3).fit(table)
    assert_same(pca, PCA(3).fit(X))
    assert pca.feature_names_in_.tolist() == list("abcdefg")
