"""Neither the units of the columns nor the number of rows decide which columns count."""

import numpy as np
import pytest
from scipy import sparse

from learnt.linalg.spectrum import scatter_spectrum, singular_values
from learnt.linear_model import (
    BayesianLinearRegression,
    BayesianRidge,
    LinearRegression,
    Ridge,
    RidgeClassifierCV,
    RidgeCV,
    TotalLeastSquares,
)

RNG = np.random.default_rng(0)
N = 500
X = RNG.normal(size=(N, 3)) + [0.0, 2.0, 0.0]
Y = X @ [1.0, 2.0, 0.5] + 0.1 * RNG.normal(size=N)
EXACT = np.linalg.lstsq(X - X.mean(axis=0), Y - Y.mean(), rcond=None)[0]
UNITS = [np.array([1.0, 1.0, 1e7]), np.array([1e-9, 1.0, 1e9]), np.array([1.0, 1e12, 1e-6])]
SOLVERS = ["auto", "normal", "cholesky", "qr", "svd", "lsqr"]
DTYPES = [np.float64, np.float32]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("solver", SOLVERS)
def test_least_squares_in_any_units(solver, unit, dtype):
    """Coefficients change as their columns' units do; cells rounded to ε move them by some ε times the condition."""
    model = LinearRegression(solver=solver, tol=1e-12).fit((X * unit).astype(dtype), Y.astype(dtype))
    found = model.coef_ * unit.astype(dtype)
    np.testing.assert_allclose(found, EXACT, rtol=100 * np.finfo(dtype).eps if dtype == np.float32 else 1e-8)
    assert getattr(model, "rank_", 3) == 3


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("make", [lambda X: X, sparse.csr_array], ids=["dense", "sparse"])
def test_lsqr_with_a_ridge_in_any_units(unit, make):
    expected = Ridge(0.5, solver="svd").fit(X * unit, Y)
    found = Ridge(0.5, solver="lsqr", tol=1e-13).fit(make(X * unit), Y)
    np.testing.assert_allclose(found.predict(X * unit), expected.predict(X * unit), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_no_negative_coefficients_in_any_units(unit):
    found = LinearRegression(positive=True).fit(X * unit, Y)
    np.testing.assert_allclose(found.coef_ * unit, EXACT, rtol=1e-7)


@pytest.mark.parametrize("model", [RidgeCV([1e-3]), BayesianRidge(), BayesianLinearRegression()], ids=type)
def test_spectra_keep_the_fractions_beside_the_money(model):
    """A column of fractions with a weak prior is fitted as without the column of money beside it."""
    wide = np.column_stack([X[:, :2], 1e9 * X[:, 2]])
    assert model.fit(wide, Y).score(wide, Y) > 0.98
    labels = np.median(Y) < Y
    assert RidgeClassifierCV([1e-3]).fit(wide, labels).score(wide, labels) > 0.95


@pytest.mark.parametrize("spread", [0, 8, 150])
def test_eigenvalues_of_columns_in_any_units(spread):
    """Those of D S D, checked one by one: to a relative error, though the largest is 1e300 times the smallest."""
    unit = 10.0 ** np.linspace(-spread / 2, spread / 2, 4)
    Z = RNG.normal(size=(50, 4))
    gram = (Z * unit).T @ (Z * unit)
    values, vectors = scatter_spectrum(gram)
    assert (np.diff(values) < 0).all()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-14)
    # In the limit of very different units, eigenvalues are the squared pivots of a Cholesky factor, largest first.
    if spread == 150:
        pivots = np.diag(np.linalg.cholesky(gram[::-1, ::-1]))
        np.testing.assert_allclose(np.sqrt(values), pivots, rtol=1e-12)
    np.testing.assert_allclose(
        vectors.T @ (gram / unit[0]) @ vectors, np.diag(values / unit[0]), atol=1e-13 * values[0] / unit[0]
    )
    np.testing.assert_allclose(singular_values(gram), np.sqrt(values), rtol=1e-6)
    doubled = np.block([[gram, gram], [gram, gram]])
    assert np.count_nonzero(scatter_spectrum(doubled)[0]) == 4


@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_nine_million_rows_of_single_precision(solver):
    """A cut of ε times the rows would pass the largest singular value itself."""
    n = 9_000_000 if solver == "auto" else 900_000
    x = np.random.default_rng(1).standard_normal((n, 2), dtype=np.float32)
    table = np.column_stack([x, x[:, 0], 100 * x[:, 1]])
    model = LinearRegression(solver=solver).fit(table, x[:, 0] + x[:, 1])
    assert model.rank_ == 2
    np.testing.assert_allclose(model.coef_, [0.5, 1e-4, 0.5, 1e-2], rtol=1e-3)


def test_a_total_in_single_precision_is_no_column_of_its_own():
    """x₁ + … + x₉ rounded to float32, with offsets: rounding errors of a total do not make a direction."""
    parts = (RNG.normal(size=(4000, 9)) + 50).astype(np.float32)
    table = np.column_stack([parts, parts.sum(axis=1)])
    y = parts[:, 0] + RNG.normal(size=4000).astype(np.float32)
    for dtype in DTYPES:
        model = LinearRegression().fit(table.astype(dtype), y.astype(dtype))
        assert model.rank_ == (9 if dtype == np.float32 else 10)
    assert np.abs(LinearRegression().fit(table, y).coef_).max() < 2


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("lazily", [False, True])
def test_a_constant_column_has_no_coefficient(solver, lazily, tmp_path):
    """However long the sum is whose rounding errors are in its mean."""
    n = 200_000
    x = np.random.default_rng(2).normal(size=n)
    table = np.column_stack([x, np.full(n, 0.1)])
    if lazily:
        table.tofile(tmp_path / "X")
        table = np.memmap(tmp_path / "X", dtype=np.float64, shape=(n, 2))
    model = LinearRegression(solver=solver).fit(table, 3 * x + 1)
    np.testing.assert_allclose(model.coef_, [3.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("solver", ["qr", "svd"])
def test_a_column_far_from_zero_is_centred_exactly(solver):
    """The mean of a million cells near 1e8 has errors of 1e-5: they must not be in the coefficients."""
    n = 300_000
    x = np.round(np.random.default_rng(3).normal(size=n) * 1024) / 1024
    y = 2 * x + np.random.default_rng(4).normal(size=n)
    expected = (x - x.mean()) @ y / ((x - x.mean()) @ (x - x.mean()))
    found = LinearRegression(solver=solver).fit((x + 2.0**27)[:, None], y).coef_[0]
    assert found == pytest.approx(expected, rel=1e-11)


def test_total_least_squares_with_a_column_twice():
    expected = TotalLeastSquares(noise=[1.0, 1.0, 1.0]).fit(X[:, :2], Y)
    found = TotalLeastSquares(noise=[2**0.5, 1.0, 2**0.5, 1.0]).fit(X[:, [0, 1, 0]], Y)
    np.testing.assert_allclose(
        found.coef_, [expected.coef_[0] / 2, expected.coef_[1], expected.coef_[0] / 2], rtol=1e-9
    )
