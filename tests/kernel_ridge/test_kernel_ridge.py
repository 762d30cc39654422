"""Kernel ridge regression against scikit-learn's, Ridge, and what the formula says."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.gaussian_process import kernels as peers
from sklearn.kernel_ridge import KernelRidge as Peer

from learnt.kernel_ridge import KernelRidge
from learnt.kernels import RBF, Linear, Polynomial, _room
from learnt.linear_model import Ridge

RNG = np.random.default_rng(0)
X, Xt = RNG.normal(size=(300, 4)), RNG.normal(size=(40, 4))
Y, W = RNG.normal(size=(300, 2)), RNG.uniform(0.1, 2.0, size=300)

CASES = [
    ("linear", {}),
    ("poly", {"degree": 2, "gamma": 0.3, "coef0": 0.5}),
    ("rbf", {"gamma": 0.2}),
    ("laplacian", {}),
    ("cosine", {}),
    (peers.RBF(1.5), {}),
    (lambda x, z, s: float(np.exp(-s * np.abs(x - z).sum())), {"kernel_params": {"s": 0.3}}),
]


@pytest.mark.parametrize(("kernel", "params"), CASES, ids=[str(i) for i in range(len(CASES))])
@pytest.mark.parametrize("w", [None, W])
@pytest.mark.sweep
def test_scikit_learn(kernel, params, w):
    n = 60 if callable(kernel) and not hasattr(kernel, "theta") else 300
    w = None if w is None else w[:n]
    for y, alpha in ((Y[:n], 0.5), (Y[:n, 0], 0.5), (Y[:n], [0.1, 2.0])):
        ours = KernelRidge(alpha, kernel=kernel, **params).fit(X[:n], y, w)
        theirs = Peer(alpha, kernel=kernel, **params).fit(X[:n], y, w)
        # Condition numbers are some 1e4.
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(ours.predict(Xt), theirs.predict(Xt), rtol=1e-9, atol=1e-11)


def test_our_kernels_and_precomputed_matrices():
    k = 2 * RBF(1.2) + 0.1 * Linear() * Polynomial(2)
    model = KernelRidge(0.3, kernel=k).fit(X, Y, W)
    given = KernelRidge(0.3, kernel="precomputed").fit(k(X), Y, W)
    np.testing.assert_allclose(given.dual_coef_, model.dual_coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(given.predict(k(Xt, X)), model.predict(Xt), rtol=1e-8, atol=1e-10)
    K = k(X)
    before = K.copy()
    KernelRidge(0.3, kernel="precomputed").fit(K, Y)
    np.testing.assert_array_equal(K, before)


def test_linear_kernel_is_ridge():
    ridge = Ridge(0.7, fit_intercept=False).fit(X, Y, W)
    np.testing.assert_allclose(KernelRidge(0.7).fit(X, Y, W).predict(Xt), ridge.predict(Xt), rtol=1e-9, atol=1e-10)


def test_the_objective_is_least():
    """The gradient of Σw(y − Kc)² + α cᵀKc is 0 at c."""
    model = KernelRidge(0.4, kernel="rbf").fit(X, Y[:, 0], W)
    K, c = RBF(gamma=0.25)(X), model.dual_coef_
    gradient = 2 * K @ (0.4 * c - W * (Y[:, 0] - K @ c))
    np.testing.assert_allclose(gradient, 0.0, atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_sparse_rows(kernel):
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        model = KernelRidge(0.5, kernel=kernel).fit(kind(thin), Y)
        expected = KernelRidge(0.5, kernel=kernel).fit(thin, Y)
        np.testing.assert_allclose(model.predict(kind(Xt)), expected.predict(Xt), rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(model.predict(Xt), expected.predict(Xt), rtol=1e-9, atol=1e-10)


def test_tensors_stay_tensors():
    model = KernelRidge(0.5, kernel=2 * RBF(1.0)).fit(torch.tensor(X), torch.tensor(Y), torch.tensor(W))
    expected = KernelRidge(0.5, kernel=2 * RBF(1.0)).fit(X, Y, W)
    answer = model.predict(torch.tensor(Xt))
    assert isinstance(answer, torch.Tensor)
    np.testing.assert_allclose(answer.numpy(), expected.predict(Xt), rtol=1e-9)
    np.testing.assert_allclose(model.predict(Xt), expected.predict(Xt), rtol=1e-9)
    np.testing.assert_allclose(expected.predict(torch.tensor(Xt)).numpy(), expected.predict(Xt), rtol=1e-9)


def test_constant_columns_change_nothing():
    wide = np.column_stack([X, np.full(300, 5.0)])
    k = RBF(1.3)
    again = KernelRidge(0.5, kernel=k).fit(wide, Y).predict(np.column_stack([Xt, np.full(40, 5.0)]))
    np.testing.assert_allclose(again, KernelRidge(0.5, kernel=k).fit(X, Y).predict(Xt), rtol=1e-9, atol=1e-11)


def test_a_singular_and_an_indefinite_matrix_are_reported():
    twice = np.vstack([X[:20], X[:20]])
    with pytest.warns(UserWarning, match="Singular matrix in solving dual problem"):
        model = KernelRidge(0.0, kernel="linear").fit(twice, np.r_[Y[:20, 0], Y[:20, 0]])
    assert np.isfinite(model.predict(Xt)).all()
    with pytest.warns(UserWarning, match=r"not positive definite \(the smallest eigenvalue is -\d"):
        KernelRidge(0.01, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, Y)
    with pytest.raises(ValueError, match=r"not positive definite \(the smallest eigenvalue is -\d"):
        KernelRidge(0.01, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(torch.tensor(X), torch.tensor(Y))


def test_a_matrix_that_does_not_fit(monkeypatch):
    monkeypatch.setattr(_room, "free_bytes", lambda: 1 << 20)
    with pytest.raises(MemoryError, match=r"kernel matrix of 1,000 × 1,000 .* learnt.kernel_approximation.Nystroem"):
        KernelRidge(kernel="rbf").fit(np.ones((1000, 2)), np.ones(1000))


class WrongShape(peers.RBF):
    def __call__(self, X, Y=None, eval_gradient=False):
        return np.ones(3)


BAD = {
    "alpha": ({"alpha": -1.0}, "'alpha' parameter of KernelRidge"),
    "alphas": ({"alpha": [1.0, 2.0, 3.0]}, "Number of targets and number of penalties"),
    "kernel": ({"kernel": "gauss"}, "'kernel' parameter of KernelRidge"),
    "a class": ({"kernel": RBF}, "'kernel' parameter of KernelRidge"),
    "gamma": ({"kernel": "rbf", "gamma": -1.0}, "'gamma' parameter of KernelRidge"),
    "square": ({"kernel": "precomputed"}, "Precomputed metric requires shape"),
    "an array": ({"kernel": lambda x, z: x}, "must return one number"),
    "a shape": ({"kernel": WrongShape(1.0)}, r"returned a matrix of shape \(3,\) for 300 and 300 rows"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_settings_get_one_sentence(kind):
    params, match = BAD[kind]
    with pytest.raises(ValueError, match=match) as caught:
        KernelRidge(**params).fit(X, Y)
    assert "\n" not in str(caught.value)


def test_model_files_hold_kernels(tmp_path):
    import learnt

    model = KernelRidge(0.5, kernel=2 * RBF([1.0, 2.0, 0.5, 1.0]) + Linear() ** 2).fit(X, Y)
    learnt.save(model, tmp_path / "model.learnt")
    again = learnt.load(tmp_path / "model.learnt")
    assert again.kernel == model.kernel
    np.testing.assert_array_equal(again.predict(Xt), model.predict(Xt))


@pytest.mark.parametrize("kind", [np.asarray, torch.asarray, sparse.csr_matrix])
def test_a_matrix_without_the_rows_of_weight_0(kind):
    w = np.where(np.arange(300) % 3 == 0, 0.0, W)
    K = RBF(1.0)(X)
    targets = torch.asarray(Y) if kind is torch.asarray else Y
    given = KernelRidge(0.5, kernel="precomputed").fit(kind(K), targets, w)
    rows = KernelRidge(0.5, kernel=RBF(1.0)).fit(X, Y, w)
    assert given.dual_coef_.shape == (300, 2)
    assert (np.asarray(given.dual_coef_)[w == 0] == 0).all()
    Kt = RBF(1.0)(Xt, X)
    Kt[:, w == 0] = 7.0
    np.testing.assert_allclose(np.asarray(given.predict(kind(Kt))), rows.predict(Xt), rtol=1e-9, atol=1e-11)
    with pytest.raises(ValueError, match="a kernel matrix is square"):
        KernelRidge(kernel="precomputed").fit(kind(K[:, :90]), targets, w)


def test_a_column_major_matrix():
    K = RBF(1.0)(X)
    given = KernelRidge(0.5, kernel="precomputed").fit(torch.asarray(K).T, torch.asarray(Y))
    np.testing.assert_allclose(given.dual_coef_, KernelRidge(0.5, kernel="precomputed").fit(K, Y).dual_coef_, rtol=1e-9)
