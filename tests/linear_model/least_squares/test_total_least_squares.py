"""TotalLeastSquares against the formula, a direct minimisation, simulation, and its symmetry."""

import numpy as np
import pytest
from scipy.optimize import least_squares
from sklearn.decomposition import PCA

from learnt.linear_model import LinearRegression, TotalLeastSquares


def noisy(n=200, d=3, k=1, sigma=0.3, seed=0):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(d, k))
    truth = rng.normal(size=(n, d)) * np.arange(1, d + 1)
    X = truth + sigma * rng.normal(size=(n, d)) + 5.0
    Y = truth @ B + sigma * rng.normal(size=(n, k)) - 2.0
    return X, Y, B


def by_formula(X, Y):
    """B = −V₁V₂⁻¹ from the smallest singular vectors of the centred [X, Y]."""
    d = X.shape[1]
    Z = np.hstack([X, Y])
    V = np.linalg.svd(Z - Z.mean(axis=0))[2].T
    return -V[:d, d:] @ np.linalg.inv(V[d:, d:])


@pytest.mark.parametrize(("d", "k"), [(1, 1), (3, 1), (2, 2), (1, 4), (5, 3)])
def test_the_formula(d, k):
    X, Y, _ = noisy(d=d, k=k)
    model = TotalLeastSquares().fit(X, Y)
    np.testing.assert_allclose(model.coef_, by_formula(X, Y).T, rtol=1e-9)
    assert model.coef_.shape == (k, d)
    np.testing.assert_allclose(model.intercept_, Y.mean(axis=0) - X.mean(axis=0) @ model.coef_.T, rtol=1e-9)
    Z = np.hstack([X, Y])
    np.testing.assert_allclose(model.singular_, np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False), rtol=1e-9)
    if k == 1:
        single = TotalLeastSquares().fit(X, Y[:, 0])
        assert single.coef_.shape == (d,)
        np.testing.assert_allclose(single.coef_, model.coef_[0])


def test_distances_to_the_plane_are_least():
    X, Y, _ = noisy()
    model = TotalLeastSquares().fit(X, Y[:, 0])
    oracle = least_squares(
        lambda b: (Y[:, 0] - X @ b[1:] - b[0]) / np.sqrt(1 + b[1:] @ b[1:]),
        [0.0, 1.0, 1.0, 1.0],
        xtol=1e-14,
        ftol=1e-14,
    )
    np.testing.assert_allclose(np.r_[model.intercept_, model.coef_], oracle.x, rtol=1e-6)
    assert model.singular_[-1] ** 2 == pytest.approx(2 * oracle.cost, rel=1e-9)
    assert model.sigma_ == pytest.approx(np.sqrt(2 * oracle.cost / (200 - 4)), rel=1e-9)


def test_the_normal_is_the_last_principal_direction():
    X, Y, _ = noisy()
    normal = PCA().fit(np.hstack([X, Y])).components_[-1]
    np.testing.assert_allclose(TotalLeastSquares().fit(X, Y[:, 0]).coef_, -normal[:3] / normal[3], rtol=1e-8)


def test_x_and_y_have_equal_rights():
    X, Y, _ = noisy(d=2, k=2)
    there, back = TotalLeastSquares().fit(X, Y), TotalLeastSquares().fit(Y, X)
    np.testing.assert_allclose(there.coef_ @ back.coef_, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(there.singular_, back.singular_)
    assert there.sigma_ == pytest.approx(back.sigma_)
    # A turned cloud has a turned line.
    x, y = X[:, :1], Y[:, 0]
    angle = 0.3
    slope = TotalLeastSquares().fit(x, y).coef_[0]
    turned = TotalLeastSquares().fit(
        x * np.cos(angle) - y[:, None] * np.sin(angle), x[:, 0] * np.sin(angle) + y * np.cos(angle)
    )
    assert np.tan(np.arctan(slope) + angle) == pytest.approx(turned.coef_[0])


def test_noise_makes_it_deming_and_in_the_limit_ordinary():
    X, Y, _ = noisy(d=1)
    x, y = X[:, 0], Y[:, 0]
    for ratio in (0.5, 3.0):
        c = np.cov(x, y)
        gap = c[1, 1] - ratio**2 * c[0, 0]
        deming = (gap + np.sqrt(gap**2 + 4 * ratio**2 * c[0, 1] ** 2)) / (2 * c[0, 1])
        np.testing.assert_allclose(TotalLeastSquares(noise=[1.0, ratio]).fit(X, y).coef_, deming)
    X, Y, _ = noisy()
    exact = TotalLeastSquares(noise=[1e-6, 1e-6, 1e-6, 1.0]).fit(X, Y[:, 0])
    ordinary = LinearRegression().fit(X, Y[:, 0])
    np.testing.assert_allclose(exact.coef_, ordinary.coef_, rtol=1e-6)
    centred = X - X.mean(axis=0)
    residual = Y[:, 0] - ordinary.predict(X)
    expected = residual @ residual / (200 - 4) * np.linalg.inv(centred.T @ centred)
    np.testing.assert_allclose(exact.covariance_, expected, rtol=1e-5)


def test_units_cancel_when_noise_has_them_too():
    X, Y, _ = noisy()
    units = np.array([1e3, 1e-3, 10.0, 1e2])
    plain = TotalLeastSquares(noise=[1, 2, 3, 4]).fit(X, Y[:, 0])
    scaled = TotalLeastSquares(noise=np.array([1, 2, 3, 4]) * units).fit(X * units[:3], Y[:, 0] * units[3])
    np.testing.assert_allclose(scaled.coef_ * units[:3] / units[3], plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(scaled.stderr_ * units[:3] / units[3], plain.stderr_, rtol=1e-9)


def test_covariance_is_what_repeated_experiments_show():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(300, 2)) * [1.0, 2.0]
    B = np.array([[1.5, -0.5], [0.7, 2.0]])
    found, claimed = [], []
    for _ in range(400):
        X = truth + 0.4 * rng.normal(size=truth.shape)
        Y = truth @ B + 0.4 * rng.normal(size=(300, 2))
        model = TotalLeastSquares().fit(X, Y)
        found.append(model.coef_)
        claimed.append(model.covariance_)
    found = np.array(found)
    np.testing.assert_allclose(found.mean(axis=0), B.T, atol=0.03)  # no attenuation, unlike ordinary least squares
    for j in range(2):
        np.testing.assert_allclose(np.cov(found[:, j].T), np.mean(claimed, axis=0)[j], rtol=0.25, atol=3e-4)


def test_without_intercept():
    X, Y, _ = noisy()
    model = TotalLeastSquares(fit_intercept=False).fit(X, Y[:, 0])
    V = np.linalg.svd(np.hstack([X, Y]))[2].T
    np.testing.assert_allclose(model.coef_, -V[:3, 3] / V[3, 3], rtol=1e-9)
    assert model.intercept_ == 0.0


def test_weights_are_rows():
    X, Y, _ = noisy(n=60)
    counts = np.random.default_rng(2).integers(0, 3, size=60)
    weighted = TotalLeastSquares().fit(X, Y[:, 0], sample_weight=counts)
    repeated = TotalLeastSquares().fit(np.repeat(X, counts, axis=0), np.repeat(Y[:, 0], counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    np.testing.assert_allclose(weighted.singular_, repeated.singular_, rtol=1e-9)


def test_exact_data_and_dependent_columns():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 3))
    y = X @ [1.0, 2.0, 3.0] + 4.0
    model = TotalLeastSquares().fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, 2.0, 3.0], rtol=1e-10)
    assert model.sigma_ < 1e-12
    wide = np.column_stack([X, X[:, 0], np.full(50, 7.0)])  # a column twice, and a constant
    model = TotalLeastSquares().fit(wide, y)
    np.testing.assert_allclose(model.coef_, [0.5, 2.0, 3.0, 0.5, 0.0], atol=1e-10)


def test_fewer_rows_than_columns_gives_the_shortest_exact_solution():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(6, 10)), rng.normal(size=6)
    model = TotalLeastSquares().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-10)
    np.testing.assert_allclose(
        model.coef_, np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0], atol=1e-10
    )
    assert np.isnan(model.covariance_).all()


def test_a_plane_parallel_to_y_is_refused_in_one_sentence():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    y = np.array([0.0, 0.0, 3.0, -3.0])
    X[:, 1] = [1e-9, 1e-9, -1e-9, -1e-9]
    with pytest.raises(ValueError, match="parallel to y") as error:
        TotalLeastSquares().fit(X, y)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("noise", [[1.0], [1.0, 0.0], [1.0, -1.0], "x", [1.0, np.nan]])
def test_bad_noise(noise):
    X, Y, _ = noisy(d=1)
    with pytest.raises(ValueError, match="2 positive numbers") as error:
        TotalLeastSquares(noise=noise).fit(X, Y[:, 0])
    assert "\n" not in str(error.value)


def test_all_zero_y():
    X, _, _ = noisy()
    model = TotalLeastSquares().fit(X, np.zeros(200))
    np.testing.assert_array_equal(model.coef_, 0.0)
