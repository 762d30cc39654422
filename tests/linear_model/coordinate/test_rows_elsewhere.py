"""Lasso and elastic net of rows that are in files, on a cluster or on a device: the model of the rows in memory."""

import dask.array as da
import numpy as np
import polars as pl
import pytest
import torch

import learnt
from learnt.linear_model import ElasticNet, ElasticNetCV, Lasso, LassoCV

rng = np.random.default_rng(0)
NAMES = list("abcdef")
X = rng.normal(size=(500, 6)) + [1e6, 3, 0, 0, -2, 1]
Y = np.column_stack([X @ [1, 0, 2, 0, 0, -1.0], X @ [0, 0, 0, 1, 1, 0.0]]) + rng.normal(size=(500, 2))
W = rng.uniform(0.5, 2.0, size=500)
MODELS = [
    Lasso(0.1, tol=1e-12),
    Lasso(0.1, tol=1e-12, positive=True),
    ElasticNet(0.1, l1_ratio=0.3, tol=1e-12),
    ElasticNet(0.1, l1_ratio=0.0),
    ElasticNet(0.1, tol=1e-12, fit_intercept=False),
]


def on_a_cluster(X, y, w):
    return da.from_array(X, chunks=(130, 6)), da.from_array(y, chunks=(130,) if y.ndim == 1 else (130, 2)), w


def on_a_device(X, y, w):
    return torch.tensor(X), torch.tensor(y), None if w is None else torch.tensor(w)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("moved", [on_a_cluster, on_a_device])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_equals_the_model_of_rows_in_memory(model, moved, targets, weighted):
    Z = X if model.fit_intercept else X - [1e6, 0, 0, 0, 0, 0]  # without an intercept 1e6 would hide the others
    y, w = Y[:, 0] if targets == 1 else Y, W if weighted else None
    local = type(model)(**model.get_params()).fit(Z, y, w)
    there = type(model)(**model.get_params()).fit(*moved(Z, y, w))
    assert there.coef_.shape == local.coef_.shape
    # Both have a duality gap of 1e-12 of ‖y‖²; with curvature about 1 a coefficient is off by about its root at most.
    np.testing.assert_allclose(np.asarray(there.coef_), local.coef_, atol=1e-5)
    np.testing.assert_allclose(np.asarray(there.intercept_), local.intercept_, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(np.asarray(there.coef_) == 0, local.coef_ == 0)
    assert np.all(np.asarray(there.dual_gap_) <= 1e-10 * np.sum(Y**2))


def test_a_file_in_blocks(tmp_path):
    table = pl.DataFrame(X, schema=NAMES).with_columns(y=pl.Series(Y[:, 0]))
    table.write_parquet(tmp_path / "rows.parquet", row_group_size=90)
    scanned = learnt.scan(tmp_path / "rows.parquet")
    there = Lasso(0.1, tol=1e-12).fit(scanned[NAMES], scanned["y"])
    local = Lasso(0.1, tol=1e-12).fit(X, Y[:, 0])
    np.testing.assert_allclose(there.coef_, local.coef_, atol=1e-6)
    np.testing.assert_allclose(there.predict(scanned[NAMES]), local.predict(X), rtol=1e-6)


def test_a_given_matrix_needs_rows_in_memory():
    with pytest.raises(ValueError, match="precompute is a matrix"):
        Lasso(precompute=np.eye(6)).fit(torch.tensor(X), torch.tensor(Y[:, 0]))


CHOSEN = [
    LassoCV(alphas=12, cv=4, tol=1e-12),
    LassoCV(alphas=[0.01, 0.1, 1.0], cv=3, tol=1e-12, positive=True),
    ElasticNetCV(l1_ratio=[0.3, 0.9], alphas=7, cv=3, tol=1e-12, fit_intercept=False),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("place", ["file", "cluster"])
@pytest.mark.parametrize("model", CHOSEN, ids=repr)
def test_the_penalty_is_chosen_as_in_memory(model, place, weighted, tmp_path):
    Z = X if model.fit_intercept else X - [1e6, 0, 0, 0, 0, 0]
    y, w = Y[:, 0], np.where(np.arange(500) % 7 == 0, 0.0, W) if weighted else None
    local = type(model)(**model.get_params()).fit(Z, y, w)
    if place == "file":
        table = pl.DataFrame(Z, schema=NAMES).with_columns(y=pl.Series(y), w=pl.Series(W if w is None else w))
        table.write_parquet(tmp_path / "rows.parquet", row_group_size=90)
        scanned = learnt.scan(tmp_path / "rows.parquet")
        data = scanned[NAMES], scanned["y"], None if w is None else scanned["w"]
    else:
        data = on_a_cluster(Z, y, w)
    there = type(model)(**model.get_params()).fit(*data)
    assert there.alpha_ == pytest.approx(local.alpha_, rel=1e-9)
    assert getattr(there, "l1_ratio_", 1.0) == getattr(local, "l1_ratio_", 1.0)
    np.testing.assert_allclose(there.alphas_, local.alphas_, rtol=1e-9)
    # A duality gap of 1e-12 of ‖y‖² is an error of 1e-6 of ‖y‖ in predictions at most, twice that in their squares.
    np.testing.assert_allclose(there.mse_path_, local.mse_path_, rtol=1e-5, atol=1e-6 * np.var(y))
    np.testing.assert_allclose(there.coef_, local.coef_, atol=1e-5)
    np.testing.assert_allclose(there.intercept_, local.intercept_, rtol=1e-5, atol=1e-4)


def test_folds_that_do_not_leave_every_row_out_once_are_refused():
    folds = [(np.arange(200, 500), np.arange(100)), (np.arange(100), np.arange(100, 500))]
    with pytest.raises(ValueError, match="need folds that leave every row out once"):
        LassoCV(alphas=3, cv=folds).fit(*on_a_cluster(X, Y[:, 0], None)[:2])
