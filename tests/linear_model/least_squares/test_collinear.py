"""Columns that are alike, nearly or exactly: the shortest solution, from sums over rows, without a QR of the data."""

import numpy as np
import pytest
from scipy import linalg, sparse

from learnt.engine.rows import as_rows
from learnt.linear_model import LinearRegression, Ridge
from learnt.linear_model.least_squares import _solvers as least_squares
from learnt.linear_model.least_squares._basis import factor_by_basis
from learnt.statistics import joint_moments

RNG = np.random.default_rng(0)
N, D = 5000, 6
X = RNG.normal(size=(N, D))
Y = X @ np.arange(1.0, D + 1) + RNG.normal(size=N)
EPS = np.finfo(float).eps


@pytest.fixture(autouse=True)
def _no_factor_of_the_data(monkeypatch):
    def refuse(*_):
        raise AssertionError("the data were factorised")

    monkeypatch.setattr(least_squares, "centred_triangle", refuse)


TABLES = {
    "a column twice": np.column_stack([X, X[:, 2]]),
    "three times, in other units": np.column_stack([X, 1e3 * X[:, 2], -1e-3 * X[:, 2]]),
    "a sum": np.column_stack([X, X[:, 0] + X[:, 1] - 2 * X[:, 2]]),
    "far from 0": np.column_stack([X + 100, X[:, 0] + 100]),
    "one for each class": np.column_stack([X, np.eye(4)[RNG.integers(0, 4, N)]]),
    "a constant": np.column_stack([X, np.full(N, 0.1)]),
    "zeros alone": np.zeros((N, 2)),
    "a column of zeros": np.column_stack([X, np.zeros(N)]),
}


def shortest(X, y, w=None):
    root = np.ones(len(X)) if w is None else np.sqrt(w)
    mean, middle = np.average(X, axis=0, weights=w), np.average(y, axis=0, weights=w)
    Z, t = (X - mean) * root[:, None], ((y - middle).T * root).T
    return linalg.lstsq(Z, t, cond=EPS * len(X))[::2][:2]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_the_shortest_solution(name, weighted):
    table = TABLES[name]
    w = RNG.uniform(0.5, 2, N) if weighted else None
    coef, rank = shortest(table, Y, w)
    model = LinearRegression().fit(table, Y, sample_weight=w)
    assert model.rank_ == rank
    assert model.singular_.shape == (table.shape[1],)
    # The columns that are left have condition numbers below 1e6: 1e4 roundings of room.
    np.testing.assert_allclose(model.coef_, coef, atol=1e4 * 1e6 * EPS * np.abs(coef).max(initial=1e-9))


@pytest.mark.parametrize("apart", [1e-6, 1e-7, 1e-8, 1e-9])
@pytest.mark.parametrize("columns", [1, 3])
def test_nearly_alike_columns_keep_their_digits(apart, columns):
    """Without noise the error of the coefficients is a few roundings times the condition number, here about 1/apart."""
    table = np.column_stack([X, X[:, :columns] + apart * RNG.normal(size=(N, columns))])
    true = np.arange(1.0, table.shape[1] + 1)
    y = table @ true
    model = LinearRegression().fit(table, y)
    assert model.rank_ == table.shape[1]
    assert np.abs(model.coef_ - true).max() < 1e3 * EPS / apart * np.abs(true).max()
    np.testing.assert_allclose(model.singular_, linalg.svdvals(table - table.mean(axis=0)), rtol=0, atol=1e-10)


def test_several_targets_and_a_chain_of_likenesses():
    chain = np.column_stack(
        [X, X[:, 0] + 1e-4 * X[:, 1], X[:, 0] + 1e-4 * X[:, 1] + 1e-8 * RNG.normal(size=N), X[:, 5]]
    )
    true = RNG.normal(size=(chain.shape[1], 2))
    y = chain @ true
    model = LinearRegression().fit(chain, y)
    coef, rank = shortest(chain, y)
    assert model.rank_ == rank == 7
    assert np.abs(model.predict(chain) - y).max() < 1e-9
    np.testing.assert_allclose(model.coef_.T, coef, atol=1e-5)


@pytest.mark.parametrize("kind", ["torch", "strict", "dask", "sparse", "float32"])
def test_wherever_the_rows_are_stored(kind):
    table = TABLES["a sum"]
    coef, rank = shortest(table, Y)
    if kind == "torch":
        import torch

        data, y = torch.asarray(table), torch.asarray(Y)
    elif kind == "strict":
        import array_api_strict as xp

        data, y = (xp.asarray(a, device=xp.Device("device1")) for a in (table, Y))
    elif kind == "dask":
        import dask.array as da

        data, y = da.from_array(table, chunks=(999, -1)), da.from_array(Y, chunks=999)
    elif kind == "sparse":
        data, y = sparse.csr_array(table), Y
    else:
        data, y = np.column_stack([X, X[:, 2]]).astype(np.float32), Y.astype(np.float32)
        coef, rank = shortest(data.astype(float), y.astype(float))
    model = LinearRegression().fit(data, y)
    assert model.rank_ == rank
    from learnt.engine.arrays import to_numpy

    np.testing.assert_allclose(to_numpy(model.coef_), coef, atol=1e-5 if kind == "float32" else 1e-9)


def test_constants_alone_leave_the_mean():
    model = LinearRegression().fit(np.full((N, 2), 0.1), Y)
    np.testing.assert_allclose(model.predict(np.full((1, 2), 0.1)), Y.mean(), rtol=1e-9)


def test_a_ridge_too_small_to_help():
    table = TABLES["a column twice"]
    coef, _ = shortest(table, Y)
    np.testing.assert_allclose(Ridge(alpha=1e-12).fit(table, Y).coef_, coef, atol=1e-8)
    np.testing.assert_allclose(Ridge(alpha=0).fit(table, Y).coef_, coef, atol=1e-9)


def test_a_factor_of_the_data_and_nothing_else():
    table = np.column_stack([X, X[:, 0] + 1e-7 * RNG.normal(size=N), X[:, 1]])
    R, right, *_ = factor_by_basis(as_rows(table, Y), joint_moments(as_rows(table, Y)))
    Z, t = table - table.mean(axis=0), Y - Y.mean()
    assert R.shape == (7, 8)
    np.testing.assert_allclose(R.T @ R, Z.T @ Z, atol=1e-12 * N)
    np.testing.assert_allclose(R.T @ right[:, 0], Z.T @ t, atol=1e-12 * N)
