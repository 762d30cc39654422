"""Gaussian process regression against scikit-learn's, kernel ridge, differences, and its own formulas."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor as Peer
from sklearn.gaussian_process import kernels as peers

import learnt
from learnt import kernels as algebra
from learnt.gaussian_process import GaussianProcessRegressor
from learnt.gaussian_process import kernels as named
from learnt.kernel_ridge import KernelRidge
from learnt.kernels import _room

RNG = np.random.default_rng(0)
X, Xt = RNG.uniform(-2, 2, size=(60, 2)), RNG.uniform(-2, 2, size=(15, 2))
Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], np.cos(X[:, 1])]) + 0.1 * RNG.normal(size=(60, 2))
NOISE = RNG.uniform(0.01, 0.1, size=60)

CODES = [
    "2.0 * RBF(0.8) + WhiteKernel(0.1)",
    "1.5 * Matern([0.8, 1.5], nu=1.5) + WhiteKernel(0.1)",
    "ConstantKernel(2.0, 'fixed') * RationalQuadratic(0.8, 1.2) + DotProduct(0.5) ** 2 + WhiteKernel(0.1)",
]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("alpha", [0.01, NOISE])
def test_scikit_learn_without_search(code, several, alpha):
    y = Y if several else Y[:, 0]
    options = {"alpha": alpha, "optimizer": None, "normalize_y": several}
    ours = GaussianProcessRegressor(eval(code, vars(named).copy()), **options).fit(X, y)
    theirs = Peer(eval(code, vars(peers).copy()), **options).fit(X, y)
    # The condition of K is below 1e5.
    np.testing.assert_allclose(ours.L_, theirs.L_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.alpha_, theirs.alpha_, rtol=1e-8, atol=1e-9)
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood(), rel=1e-10)
    for request in ({}, {"return_std": True}, {"return_cov": True}):
        mine, other = ours.predict(Xt, **request), theirs.predict(Xt, **request)
        for a, b in zip(mine if request else [mine], other if request else [other], strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)
    theta = ours.kernel_.theta + 0.2
    (value, gradient), (wanted, slope) = (m.log_marginal_likelihood(theta, eval_gradient=True) for m in (ours, theirs))
    assert value == pytest.approx(wanted, rel=1e-10)
    np.testing.assert_allclose(gradient, slope, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("code", CODES)
def test_the_gradient_is_that_of_differences(code):
    model = GaussianProcessRegressor(eval(code, vars(named).copy()), optimizer=None).fit(X, Y)
    theta, h = model.kernel_.theta, 1e-5
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    steps = np.eye(len(theta)) * h
    expected = [
        (model.log_marginal_likelihood(theta + s) - model.log_marginal_likelihood(theta - s)) / (2 * h) for s in steps
    ]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5)


def test_the_search_is_at_least_as_good_as_scikit_learns():
    code = "1.0 * RBF([1.0, 1.0]) + WhiteKernel(1.0)"
    ours = GaussianProcessRegressor(eval(code, vars(named).copy()), n_restarts_optimizer=2, random_state=0)
    theirs = Peer(eval(code, vars(peers).copy()), n_restarts_optimizer=2, random_state=0)
    best = ours.fit(X, Y[:, 0]).log_marginal_likelihood()
    assert best > theirs.fit(X, Y[:, 0]).log_marginal_likelihood() - 1e-3
    _, gradient = ours.log_marginal_likelihood(ours.kernel_.theta, eval_gradient=True)
    inside = (ours.kernel_.theta > ours.kernel_.bounds[:, 0] + 1e-6) & (
        ours.kernel_.theta < ours.kernel_.bounds[:, 1] - 1e-6
    )
    assert inside.all()
    assert np.abs(gradient).max() < 0.05
    again = GaussianProcessRegressor(ours.kernel, n_restarts_optimizer=2, random_state=0).fit(X, Y[:, 0])
    np.testing.assert_array_equal(again.kernel_.theta, ours.kernel_.theta)


def test_the_mean_is_kernel_ridge():
    k = 2 * algebra.RBF(0.8)
    model = GaussianProcessRegressor(k, alpha=0.3, optimizer=None).fit(X, Y)
    ridge = KernelRidge(0.3, kernel=k).fit(X, Y)
    np.testing.assert_allclose(model.predict(Xt), ridge.predict(Xt), rtol=1e-9, atol=1e-11)


def test_data_without_noise_are_fitted_exactly():
    model = GaussianProcessRegressor(named.RBF(1.0), random_state=0).fit(X[:20], Y[:20, 0])
    mean, std = model.predict(X[:20], return_std=True)
    np.testing.assert_allclose(mean, Y[:20, 0], atol=1e-5)
    assert std.max() < 1e-3


def test_samples_have_the_posterior_moments():
    """5,000 draws: means within five standard errors."""
    model = GaussianProcessRegressor(1.0 * named.RBF(1.0), alpha=0.1, optimizer=None).fit(X, Y[:, 0])
    mean, cov = model.predict(Xt, return_cov=True)
    drawn = model.sample_y(Xt, 5000, random_state=1)
    assert drawn.shape == (15, 5000)
    assert (np.abs(drawn.mean(axis=1) - mean) < 5 * np.sqrt(np.diag(cov) / 5000) + 1e-9).all()
    prior = GaussianProcessRegressor(1.0 * named.RBF(1.0), n_targets=2)
    mean, std = prior.predict(Xt, return_std=True)
    assert mean.shape == std.shape == (15, 2)
    np.testing.assert_array_equal(std, 1.0)
    assert prior.sample_y(Xt, 3).shape == (15, 2, 3)
    assert abs(np.cov(prior.sample_y(Xt[:1], 5000)[0, 0]) - 1.0) < 0.1


def test_rows_are_validated_before_a_fit_too():
    prior = GaussianProcessRegressor()
    with pytest.raises(ValueError, match="X has 'low' at row 1, column 0 and GaussianProcessRegressor needs numbers"):
        prior.predict([["1.0"], ["low"]])
    prior.predict(Xt)
    assert not hasattr(prior, "n_features_in_")


def test_kernels_of_every_origin_give_the_same():
    options = {"alpha": 0.01, "optimizer": None}
    mine, algebras, foreign = (
        GaussianProcessRegressor(k, **options).fit(X, Y[:, 0])
        for k in (2.0 * named.RBF(0.8), 2.0 * algebra.RBF(0.8), 2.0 * peers.RBF(0.8))
    )
    for other in (algebras, foreign):
        np.testing.assert_allclose(other.predict(Xt), mine.predict(Xt), rtol=1e-9)
    learned = [
        GaussianProcessRegressor(k, alpha=0.01).fit(X, Y[:, 0]) for k in (1.0 * algebra.RBF(1.0), 1.0 * peers.RBF(1.0))
    ]
    np.testing.assert_allclose(learned[0].kernel_.theta, learned[1].kernel_.theta, rtol=1e-3, atol=1e-3)


def test_tensors_stay_tensors():
    k = 2.0 * named.RBF([0.8, 1.0]) + named.WhiteKernel(0.1)
    there = GaussianProcessRegressor(k, alpha=0.01, normalize_y=True).fit(torch.tensor(X), torch.tensor(Y))
    here = GaussianProcessRegressor(k, alpha=0.01, normalize_y=True).fit(X, Y)
    np.testing.assert_allclose(there.kernel_.theta, here.kernel_.theta, rtol=1e-4, atol=1e-4)
    for request in ({"return_std": True}, {"return_cov": True}):
        for a, b in zip(there.predict(torch.tensor(Xt), **request), here.predict(Xt, **request), strict=True):
            assert isinstance(a, torch.Tensor)
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(there.predict(Xt), here.predict(Xt), rtol=1e-3, atol=1e-4)


def test_constant_columns_and_repeated_rows():
    wide = np.column_stack([X, np.full(60, 3.0)])
    model = GaussianProcessRegressor(1.0 * named.RBF(1.0), alpha=0.01, optimizer=None).fit(wide, Y[:, 0])
    narrow = GaussianProcessRegressor(1.0 * named.RBF(1.0), alpha=0.01, optimizer=None).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.predict(wide[:5]), narrow.predict(X[:5]), rtol=1e-9)


def test_repeated_rows_without_noise_never_raise():
    rows, y = np.repeat(X[:20], 3, axis=0), np.repeat(Y[:20, 0], 3)
    for kernel in (named.RBF(1.0), named.RBF(1.0, "fixed"), 2.0 * named.Matern(1.0, nu=2.5)):
        with pytest.warns(ConvergenceWarning, match="was added to it, which makes the kernel matrix positive definite"):
            model = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(rows, y)
        mean, std = model.predict(X[:20], return_std=True)
        np.testing.assert_allclose(mean, Y[:20, 0], atol=1e-3)
        assert std.max() < 1e-2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GaussianProcessRegressor(1.0 * named.RBF(1.0), alpha=0.0).fit(rows, y)
        flat = GaussianProcessRegressor(named.RBF(1.0), alpha=0.0).fit(np.zeros((5, 1)), np.ones(5))
    np.testing.assert_allclose(flat.predict([[0.0]]), 1.0, atol=1e-3)


def test_a_kernel_that_is_not_positive_is_shown():
    k = algebra.Sigmoid(1.0, -1.0)
    with pytest.raises(
        np.linalg.LinAlgError, match=r"not returning a positive definite matrix.* the smallest eigenvalue is -\d"
    ):
        GaussianProcessRegressor(k).fit(X, Y[:, 0])


def test_a_matrix_that_does_not_fit(monkeypatch):
    monkeypatch.setattr(_room, "free_bytes", lambda: 1 << 20)
    with pytest.raises(MemoryError, match=r"kernel matrix of 1,000 × 1,000 .* method=.inducing. or .cg."):
        GaussianProcessRegressor().fit(np.ones((1000, 2)), np.ones(1000))


BAD = {
    "kernel": ({"kernel": "rbf"}, "'kernel' parameter of GaussianProcessRegressor"),
    "negative": ({"kernel": named.RBF(1.0) * named.ConstantKernel(-1.0)}, "below 0, in .* give positive ones"),
    "alpha": ({"alpha": -1.0}, "'alpha' parameter"),
    "alphas": ({"alpha": np.ones(3)}, "same number of entries as y"),
    "optimizer": ({"optimizer": "newton"}, "'optimizer' parameter"),
    "targets": ({"n_targets": 3}, "different from the parameter `n_targets`"),
    "bounds": ({"kernel": named.RBF(1.0, (1e-5, np.inf)), "n_restarts_optimizer": 1}, "bounds are finite"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_settings_get_one_sentence(kind):
    params, match = BAD[kind]
    with pytest.raises(ValueError, match=match) as caught:
        GaussianProcessRegressor(**params).fit(X, Y)
    assert "\n" not in str(caught.value)


def test_model_files_hold_the_kernel(tmp_path):
    model = GaussianProcessRegressor(1.0 * named.RBF([1.0, 2.0]) + named.WhiteKernel(0.1), normalize_y=True).fit(X, Y)
    learnt.save(model, tmp_path / "model.learnt")
    again = learnt.load(tmp_path / "model.learnt")
    assert again.kernel_ == model.kernel_
    for a, b in zip(again.predict(Xt, return_std=True), model.predict(Xt, return_std=True), strict=True):
        np.testing.assert_array_equal(a, b)
