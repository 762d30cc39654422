"""Inducing points and conjugate gradients against the exact process, differences, and their own bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import learnt
from learnt import kernels as algebra
from learnt.gaussian_process import GaussianProcessRegressor, kernels
from learnt.gaussian_process._bound import bound_and_gradient, sparse_posterior
from learnt.gaussian_process._conjugate import solve
from learnt.gaussian_process._inducing import inducing_rows
from learnt.gaussian_process._likelihood import posterior
from learnt.kernels import _room, pull_diagonal, smooth_part

RNG = np.random.default_rng(0)
X, Xt = RNG.uniform(-2, 2, size=(90, 2)), RNG.uniform(-2, 2, size=(15, 2))
Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], np.cos(X[:, 1])]) + 0.1 * RNG.normal(size=(90, 2))
NOISE = RNG.uniform(0.01, 0.1, size=90)
KERNELS = [
    2.0 * algebra.RBF([0.8, 1.2]) + algebra.White(0.1),
    algebra.White(0.05) + (1.5 * algebra.Matern(0.7, nu=2.5) + algebra.DotProduct(0.5)) * algebra.RBF(2.0),
    algebra.RationalQuadratic(0.8, 1.2) + 0.3 * algebra.RBF(1.0).exp() + algebra.White(0.2) * algebra.Constant(0.5),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=["rbf", "mixed", "algebra"])
@pytest.mark.parametrize("y", [Y[:, 0], Y], ids=["one", "two"])
def test_the_gradient_of_the_bound_is_that_of_differences(kernel, y):
    Z, theta, h = X[:12], kernel.theta, 1e-5
    _, gradient = bound_and_gradient(kernel, X, y, NOISE, Z)

    def value(shift):
        return sparse_posterior(kernel.clone_with_theta(theta + shift), X, y, NOISE, Z).bound

    expected = [(value(h * e) - value(-h * e)) / (2 * h) for e in np.eye(len(theta))]
    # Differences are off by h² f‴ and by eps |F| / h, both below 1e-5 of the largest entry here.
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@settings(max_examples=25)
@given(st.integers(1, 60), st.floats(0.05, 5.0), st.floats(1e-3, 2.0), st.integers(0, 10**6))
def test_the_bound_is_one(m, scale, noise, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 2))
    y = rng.normal(size=60)
    kernel = algebra.RBF(scale) + algebra.White(noise)
    exact = posterior(kernel, rows, y, 0.0).likelihood
    bound = sparse_posterior(kernel, rows, y, 0.0, rows[:m]).bound
    # K_zz has a jitter of 1e-10 to 1e-8: F moves by up to that times n/noise.
    assert bound <= exact + 1e-8 * 60 / noise * 10


@pytest.mark.parametrize("kernel", KERNELS, ids=["rbf", "mixed", "algebra"])
@pytest.mark.parametrize("y", [Y[:, 0], Y], ids=["one", "two"])
@pytest.mark.parametrize("method", ["inducing", "cg"])
def test_all_rows_as_inducing_points_are_the_exact_process(kernel, y, method):
    options = {"alpha": NOISE, "optimizer": None, "normalize_y": True}
    exact = GaussianProcessRegressor(kernel, **options).fit(X, y)
    ours = GaussianProcessRegressor(kernel, method=method, n_inducing=90, cg_tol=1e-10, **options).fit(X, y)
    assert len(ours.inducing_points_) == 90
    assert ours.log_marginal_likelihood_value_ == pytest.approx(exact.log_marginal_likelihood_value_, rel=1e-5)
    for request in ({"return_std": True}, {"return_cov": True}):
        for a, b in zip(ours.predict(Xt, **request), exact.predict(Xt, **request), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)  # the jitter of K_zz is 1e-10 of its size
    np.testing.assert_allclose(
        ours.log_marginal_likelihood(kernel.theta, eval_gradient=True)[1],
        exact.log_marginal_likelihood(kernel.theta, eval_gradient=True)[1],
        rtol=1e-3,
        atol=1e-3,
    )


def test_conjugate_gradients_keep_their_tolerance():
    """The mean is within tol ‖y‖ / noise, the variance never below the exact one and nearer than that squared."""
    kernel, tol = 2.0 * algebra.RBF(0.5) + algebra.White(0.1), 1e-4
    exact = GaussianProcessRegressor(kernel, optimizer=None).fit(X, Y[:, 0])
    ours = GaussianProcessRegressor(kernel, optimizer=None, method="cg", n_inducing=10, cg_tol=tol).fit(X, Y[:, 0])
    residual = exact.L_ @ (exact.L_.T @ ours.alpha_) - Y[:, 0]
    assert 0 < np.linalg.norm(residual) <= tol * np.linalg.norm(Y[:, 0]) * (1 + 1e-6)
    (mean, std), (wanted, spread) = (m.predict(Xt, return_std=True) for m in (ours, exact))
    size = np.sqrt(90) * 2.0  # ‖k(X, x)‖ is at most this
    assert np.abs(mean - wanted).max() <= size * tol * np.linalg.norm(Y[:, 0]) / 0.1
    assert (std**2 >= spread**2 - 1e-12).all()
    assert (std**2 - spread**2).max() <= (tol * size) ** 2 / 0.1
    A = np.diag([1.0, 1e8, 1e-8])
    with pytest.warns(ConvergenceWarning, match="ended after 1 iterations with a relative residual of"):
        solve(lambda V: A @ V, lambda R: R, np.ones((3, 1)), 1e-12, 1)


def test_parameters_are_learnt_as_by_the_likelihood():
    rng = np.random.default_rng(1)
    rows = rng.uniform(-2, 2, size=(1000, 2))
    y = np.sin(2 * rows[:, 0]) + rows[:, 1] ** 2 + 0.1 * rng.normal(size=1000)
    kernel = 1.0 * kernels.RBF([1.0, 1.0]) + kernels.WhiteKernel(1.0)
    model = GaussianProcessRegressor(kernel, method="inducing", n_inducing=100, random_state=0).fit(rows, y)
    # The noise's standard deviation has a standard error of 0.1/√2000.
    assert abs(np.sqrt(np.exp(model.kernel_.theta[-1])) - 0.1) < 5 * 0.1 / np.sqrt(2000)
    mean, std = model.predict(Xt, return_std=True)
    assert np.abs(mean - (np.sin(2 * Xt[:, 0]) + Xt[:, 1] ** 2)).max() < 0.1
    assert (std > 0.09).all()
    exact = posterior(model.kernel_, rows, y, 1e-10).likelihood
    assert exact - 5 < model.log_marginal_likelihood_value_ <= exact
    again = GaussianProcessRegressor(kernel, method="inducing", n_inducing=100, random_state=0).fit(rows, y)
    np.testing.assert_array_equal(again.alpha_, model.alpha_)
    assert model.sample_y(Xt, 3).shape == (15, 3)


def test_inducing_rows_are_spread_and_different():
    twice = np.repeat(X, 2, axis=0)
    Z = inducing_rows(algebra.RBF(1.0), twice, 40, np.random.RandomState(0))
    assert len(np.unique(Z, axis=0)) == len(Z) == 40
    left = algebra.RBF(1.0)(X) - algebra.RBF(1.0)(X, Z) @ np.linalg.pinv(algebra.RBF(1.0)(Z)) @ algebra.RBF(1.0)(Z, X)
    other = X[:40]
    more = algebra.RBF(1.0)(X) - algebra.RBF(1.0)(X, other) @ np.linalg.pinv(algebra.RBF(1.0)(other)) @ algebra.RBF(
        1.0
    )(other, X)
    assert np.trace(left) < np.trace(more)


def test_noise_is_separated_from_the_smooth_part():
    for kernel in KERNELS:
        smooth = smooth_part(kernel)
        assert smooth.n_dims == kernel.n_dims
        np.testing.assert_allclose(smooth(X), kernel(X, X.copy()), atol=1e-14)
        np.testing.assert_allclose(smooth.diag(X), np.diag(smooth(X)), atol=1e-14)
        weights = RNG.normal(size=90)
        _, gradient = kernel(X, eval_gradient=True)
        expected = np.einsum("i,iik->k", weights, gradient)
        np.testing.assert_allclose(pull_diagonal(kernel, X, weights), expected, atol=1e-11)


def test_models_are_kept(tmp_path):
    for method in ("inducing", "cg"):
        model = GaussianProcessRegressor(KERNELS[0], optimizer=None, method=method, n_inducing=20).fit(X, Y)
        learnt.save(model, tmp_path / "model.learnt")
        loaded = learnt.load(tmp_path / "model.learnt")
        for a, b in zip(loaded.predict(Xt, return_std=True), model.predict(Xt, return_std=True), strict=True):
            np.testing.assert_array_equal(a, b)


def test_unusable_options_are_reported(monkeypatch):
    with pytest.raises(ValueError, match=r"needs noise.*add WhiteKernel\(\) to the kernel, or increase alpha"):
        GaussianProcessRegressor(algebra.RBF(1.0), method="inducing").fit(X, Y)
    import torch

    with pytest.raises(ValueError, match="takes NumPy rows and kernels of learnt"):
        GaussianProcessRegressor(method="cg").fit(torch.tensor(X), torch.tensor(Y))
    with pytest.raises(ValueError, match="'method' parameter of GaussianProcessRegressor must be one of"):
        GaussianProcessRegressor(method="sparse").fit(X, Y)
    assert GaussianProcessRegressor(method="auto", optimizer=None).fit(X, Y).method_ == "exact"
    monkeypatch.setattr(_room, "free_bytes", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"90 × 90 .* GB are there; take fewer rows, or method='inducing' or 'cg'"):
        GaussianProcessRegressor().fit(X, Y)
    GaussianProcessRegressor(optimizer=None, method="inducing").fit(X, Y)
