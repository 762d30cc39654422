"""KernelPCA against scikit-learn's, PCA, and its own definition."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.datasets import make_circles
from sklearn.decomposition import KernelPCA as Peer
from sklearn.gaussian_process import kernels as peers
from sklearn.linear_model import Perceptron

from learnt.decomposition import PCA, KernelPCA
from learnt.kernels import RBF, Linear, Polynomial, Sigmoid

RNG = np.random.default_rng(0)
X, Xt = RNG.normal(size=(60, 4)), RNG.normal(size=(11, 4))
# Eigenvalues differ by more than 1e-3 of the largest, so that vectors are good to 1e-12 and we ask for 1e-8.
CLOSE = {"rtol": 1e-7, "atol": 1e-8}


@pytest.mark.parametrize("solver", ["dense", "arpack", "randomized", "auto"])
@pytest.mark.parametrize(
    "options",
    [{}, {"kernel": "rbf", "gamma": 0.1}, {"kernel": "poly", "degree": 2}, {"kernel": "cosine"}],
    ids=lambda o: o.get("kernel", "linear"),
)
def test_scikit_learn(solver, options):
    power = {"iterated_power": 12} if solver == "randomized" else {}
    ours = KernelPCA(3, eigen_solver=solver, fit_inverse_transform=True, random_state=0, **power, **options)
    theirs = Peer(3, fit_inverse_transform=True, **options)
    np.testing.assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), **CLOSE)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(ours.eigenvectors_, theirs.eigenvectors_, **CLOSE)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.transform(Xt), theirs.transform(Xt), **CLOSE)
    scores = theirs.transform(Xt)
    np.testing.assert_allclose(ours.inverse_transform(scores), theirs.inverse_transform(scores), rtol=1e-6, atol=1e-8)


def test_many_rows_take_an_iteration():
    rows = RNG.normal(size=(400, 4)) * [4, 3, 2, 1]
    ours, theirs = (cls(3, kernel="rbf", gamma=0.01, random_state=0).fit(rows) for cls in (KernelPCA, Peer))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(ours.transform(Xt), theirs.transform(Xt), **CLOSE)


def test_the_linear_kernel_is_pca():
    scores = PCA(3).fit(X).transform(Xt)
    np.testing.assert_allclose(np.abs(KernelPCA(3).fit(X).transform(Xt)), np.abs(scores), **CLOSE)


@pytest.mark.parametrize("dropped", [True, False])
def test_components_without_variance(dropped):
    given = KernelPCA(10, remove_zero_eig=dropped).fit(X)
    assert len(given.eigenvalues_) == (4 if dropped else 10)
    assert (given.eigenvalues_[4:] == 0).all()
    assert np.isfinite(given.transform(Xt)).all()
    assert (given.transform(Xt)[:, 4:] == 0).all()
    assert len(KernelPCA().fit(X).eigenvalues_) == 4


def test_kernels_of_every_origin_give_the_same():
    wanted = Peer(3, kernel="rbf", gamma=0.5).fit(X).transform(Xt)
    for kernel in (RBF(1.0), peers.RBF(1.0), lambda x, z: np.exp(-0.5 * ((x - z) ** 2).sum())):
        np.testing.assert_allclose(KernelPCA(3, kernel=kernel).fit(X).transform(Xt), wanted, **CLOSE)
    K, Kt = RBF(1.0)(X), RBF(1.0)(Xt, X)
    kept = K.copy()
    np.testing.assert_allclose(KernelPCA(3, kernel="precomputed").fit(K).transform(Kt), wanted, **CLOSE)
    np.testing.assert_array_equal(K, kept)
    composed = 2 * RBF(1.0) + Linear() * Polynomial(2)
    model = KernelPCA(5, kernel=composed).fit(X)
    np.testing.assert_allclose(model.transform(X), model.fit_transform(X), **CLOSE)


def test_tensors_and_sparse_rows():
    here = KernelPCA(3, kernel="rbf", fit_inverse_transform=True).fit(X)
    for solver in ("auto", "randomized"):
        there = KernelPCA(3, kernel="rbf", fit_inverse_transform=True, eigen_solver=solver, iterated_power=12)
        there.fit(torch.tensor(X))
        scores = there.transform(torch.tensor(Xt))
        assert isinstance(scores, torch.Tensor)
        np.testing.assert_allclose(scores.numpy(), here.transform(Xt), **CLOSE)
        np.testing.assert_allclose(there.inverse_transform(scores).numpy(), here.inverse_transform(scores), rtol=1e-6)
    with pytest.raises(ValueError, match="use 'randomized'"):
        KernelPCA(3, eigen_solver="arpack").fit(torch.tensor(X))
    thin = KernelPCA(3, kernel="rbf").fit(sparse.csr_array(X))
    np.testing.assert_allclose(thin.transform(sparse.csr_array(Xt)), here.transform(Xt), **CLOSE)


def test_two_rings_become_separable():
    rings, side = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    scores = KernelPCA(2, kernel="rbf", gamma=2.0).fit_transform(rings)
    assert Perceptron(max_iter=20).fit(rings, side).score(rings, side) < 0.8
    assert Perceptron(max_iter=20).fit(scores, side).score(scores, side) == 1.0


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"negative eigenvalues \(-\d.* not positive semidefinite"):
        KernelPCA(kernel=Sigmoid(1.0, -1.0)).fit(X)
    with pytest.raises(ValueError, match=r"must return one number; it returned an array of the shape \(4,\)"):
        KernelPCA(kernel=lambda x, z: x * z).fit(X)
    with pytest.raises(ValueError, match="square in fit"):
        KernelPCA(kernel="precomputed").fit(X)
    with pytest.raises(ValueError, match="scores of 2 components"):
        KernelPCA(2, fit_inverse_transform=True).fit(X).inverse_transform(X)
    with pytest.raises(ValueError, match="NaN"):
        KernelPCA().fit(np.where(X > 2, np.nan, X))
    alike = KernelPCA(2).fit(np.ones((5, 2)))
    assert (alike.transform(np.ones((1, 2))) == 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_a_given_kernel_have_its_precision(dtype):
    K = np.asarray(np.random.default_rng(0).normal(size=(20, 3)) @ np.eye(3, 20), dtype=dtype)
    K = K @ K.T
    model = KernelPCA(2, kernel="precomputed").fit(K)
    assert model.transform(K).dtype == model.fit_transform(K).dtype == dtype
