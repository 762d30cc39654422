"""Variances through few training rows: those of the whole matrix, to the accuracy that is promised."""

import warnings

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular

from learnt.gaussian_process import GaussianProcessRegressor
from learnt.gaussian_process._pivoted import PivotedFactor
from learnt.gaussian_process._variances import ERROR, few_rows, variances
from learnt.gaussian_process.kernels import RBF, ConstantKernel, Matern, RationalQuadratic, WhiteKernel
from learnt.kernels import smooth_part


def fitted(kernel, columns, alpha=1e-10, rows=600):
    rng = np.random.default_rng(columns)
    X = rng.uniform(-2.0, 2.0, size=(rows, columns))
    model = GaussianProcessRegressor(kernel, optimizer=None, alpha=alpha)
    return model.fit(X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=rows)), rng.uniform(-2.2, 2.2, size=(3000, columns))


def exact_variances(model, X, alpha):
    """By SciPy, from the formula."""
    K = model.kernel_(model.X_train_)
    K[np.diag_indices_from(K)] += alpha
    V = solve_triangular(cholesky(K, lower=True), model.kernel_(model.X_train_, X), lower=True)
    return model.kernel_.diag(X) - (V * V).sum(axis=0)


SMOOTH = {
    "one column": (RBF(1.0) + WhiteKernel(0.01), 1, 1e-10),
    "two columns": (2.0 * RBF([1.0, 2.0]) + WhiteKernel(0.1), 2, 1e-10),
    "a column that does not matter": (50.0 * RBF([2.0, 3.0, 1e5]) + WhiteKernel(0.01), 3, 1e-10),
    "noise that is not shown": (RBF(1.0), 1, 0.01),
    "noise of each row": (RBF(2.0), 2, np.geomspace(0.01, 1.0, 600)),
    "a sum": (RBF(1.0) + ConstantKernel(3.0) * RBF(4.0) + WhiteKernel(0.05), 1, 1e-10),
    "rational": (RationalQuadratic(3.0, 2.0) + WhiteKernel(0.1), 1, 1e-10),
}


@pytest.mark.parametrize("case", SMOOTH)
@pytest.mark.sweep
def test_few_rows_tell_what_all_tell(case):
    kernel, columns, alpha = SMOOTH[case]
    model, X = fitted(kernel, columns, alpha)
    found = few_rows(model, X)
    assert found is not None
    assert len(found.Z) < 200
    value, sure = variances(found, model.kernel_, X)
    true = exact_variances(model, X, alpha)
    # Rounding on both sides: 600 terms of the size of the prior variance.
    rounding = 600 * np.finfo(float).eps * model.kernel_.diag(X)
    assert sure.mean() > 0.5
    assert (np.abs(value - true) <= ERROR * true + rounding)[sure].all()
    _, std = model.predict(X, return_std=True)
    assert (np.abs(std**2 - true) <= 2 * ERROR * true + rounding).all()  # also where it was not sure


def test_rows_that_few_cannot_tell_are_solved_for():
    model, X = fitted(RBF(0.5) + WhiteKernel(0.01), 1)
    X[0] = 2.8  # beyond all training rows: the factor knows little of it
    found = few_rows(model, X)
    sure = variances(found, model.kernel_, X)[1]
    assert not sure[0]
    assert sure[1:].mean() > 0.5
    X[0] = 50.0
    mean, std = model.predict(X, return_std=True)
    assert abs(mean[0]) < 1e-300
    assert std[0] == pytest.approx(np.sqrt(1.01), rel=1e-14)
    np.testing.assert_array_equal(mean, model.predict(X))


@pytest.mark.parametrize(
    ("kernel", "columns", "alpha"),
    [
        (Matern(1.0, nu=1.5) + WhiteKernel(0.1), 2, 1e-10),  # rough: all rows matter
        (RBF(0.5) + WhiteKernel(0.01), 5, 1e-10),  # many columns: the same
        (RBF(1.0), 1, 1e-14),  # no noise: nothing can be promised
        (ConstantKernel(0.0, "fixed") * RBF(1.0), 1, 0.1),  # nothing but noise
    ],
    ids=["rough", "many columns", "no noise", "nothing"],
)
def test_it_is_given_up_where_all_rows_matter(kernel, columns, alpha):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without noise the matrix is singular but for rounding, which is told
        model, X = fitted(kernel, columns, alpha)
        assert few_rows(model, X) is None
        std = model.predict(X, return_std=True)[1]
    assert np.isfinite(std).all()


def test_few_rows_asked_are_solved_for():
    model, X = fitted(RBF(1.0) + WhiteKernel(0.01), 1)
    assert few_rows(model, X[:100]) is None
    assert few_rows(model, X.astype(np.float32)) is None
    np.testing.assert_allclose(model.predict(X[:100], return_std=True)[1] ** 2, exact_variances(model, X[:100], 1e-10))


def test_a_pivoted_factor_and_its_remainder():
    X = np.random.default_rng(0).normal(size=(80, 2))
    kernel = smooth_part(RBF(1.0) + WhiteKernel(1.0))
    factor = PivotedFactor(kernel, X, 60)
    before = np.inf
    for rank in (5, 12, 20):
        factor.grow(rank)
        remainder = kernel(X) - factor.V.T @ factor.V
        np.testing.assert_allclose(np.diag(remainder), factor.left, atol=1e-14)
        assert np.linalg.eigvalsh(remainder)[0] > -1e-13
        # Entries are bounded by the diagonal: what the error of a variance rests on.
        assert (np.abs(remainder) <= np.sqrt(np.outer(factor.left, factor.left)) + 1e-14).all()
        assert len(factor.pivots) == rank
        assert factor.left.max() < before
        before = factor.left.max()
    assert len(factor.grow(60, least=before).pivots) == 20
