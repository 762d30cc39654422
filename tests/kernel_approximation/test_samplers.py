"""Approximate features against scikit-learn's draws and the kernels that they stand for."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn import kernel_approximation as peers
from sklearn.metrics.pairwise import polynomial_kernel

from learnt.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
from learnt.kernel_approximation._nystroem import _inverse_root
from learnt.kernels import RBF, Linear, named_kernel

RNG = np.random.default_rng(0)
X = RNG.uniform(0.1, 1.0, size=(300, 4))

SAME = [
    (RBFSampler, {"gamma": 0.7, "n_components": 30}),
    (RBFSampler, {"gamma": "scale"}),
    (SkewedChi2Sampler, {"skewedness": 0.3}),
    (PolynomialCountSketch, {"degree": 3, "gamma": 0.5, "coef0": 0.8, "n_components": 64}),
    (PolynomialCountSketch, {"n_components": 33}),
    (AdditiveChi2Sampler, {}),
    (AdditiveChi2Sampler, {"sample_steps": 4, "sample_interval": 0.3}),
    (Nystroem, {"n_components": 40}),
    (Nystroem, {"kernel": "poly", "degree": 2, "n_components": 10}),
]


@pytest.mark.parametrize(("kind", "params"), SAME, ids=[f"{k.__name__}-{i}" for i, (k, _) in enumerate(SAME)])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_scikit_learns_draws(kind, params, dtype):
    seed = {} if kind is AdditiveChi2Sampler else {"random_state": 0}
    rows = X.astype(dtype)
    ours, theirs = kind(**params, **seed), getattr(peers, kind.__name__)(**params, **seed)
    found, expected = ours.fit_transform(rows), theirs.fit_transform(rows)
    if kind is Nystroem:  # a square root of a nearly singular matrix is lost; products are not
        found, expected = found @ found.T, expected @ expected.T
        np.testing.assert_allclose(found, expected, atol=1e-6 if dtype == "f8" else 2e-2)
    else:
        tolerance = 1e-9 if dtype == "f8" else 1e-4
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    if kind is not SkewedChi2Sampler:
        thin = kind(**params, **seed).fit_transform(sparse.csr_array(rows))
        thin = thin.toarray() if sparse.issparse(thin) else thin
        thin = thin @ thin.T if kind is Nystroem else thin
        np.testing.assert_allclose(thin, found, atol=1e-6 if dtype == "f8" else 2e-2)


def test_products_are_the_kernel():
    """m random features: a product is a mean of m terms of at most 2, so that 5·2/√m holds but once in a million."""
    m = 4000
    features = RBFSampler(gamma=0.7, n_components=m, random_state=1).fit_transform(X)
    assert np.abs(features @ features.T - RBF(gamma=0.7)(X)).max() < 10 / np.sqrt(m)
    sketch = PolynomialCountSketch(degree=2, coef0=1.0, n_components=m, random_state=1).fit_transform(X)
    wanted = polynomial_kernel(X, degree=2, gamma=1.0, coef0=1.0)
    assert np.abs(sketch @ sketch.T - wanted).mean() < 10 * wanted.max() / np.sqrt(m)
    chi2 = AdditiveChi2Sampler(sample_steps=3).fit_transform(X)
    exact = (2 * X[:, None] * X / (X[:, None] + X)).sum(-1)
    assert np.abs(chi2 @ chi2.T - exact).max() < 0.05 * exact.max()


@pytest.mark.parametrize("kernel", [2 * RBF(0.5) + Linear(), "laplacian", lambda x, z: float(x @ z)])
def test_nystroem_with_all_rows_is_exact(kernel):
    rows = X[:40]
    exact = kernel(rows) if hasattr(kernel, "theta") else rows @ rows.T
    exact = named_kernel("laplacian", None, 3, 1, 4)(rows) if kernel == "laplacian" else exact
    features = Nystroem(kernel, n_components=40, random_state=0).fit_transform(rows)
    np.testing.assert_allclose(features @ features.T, exact, atol=1e-5)


def test_nystroem_of_a_precomputed_matrix():
    K = RBF(0.5)(X)
    given = Nystroem("precomputed", n_components=50, random_state=0).fit_transform(K)
    direct = Nystroem(RBF(0.5), n_components=50, random_state=0).fit_transform(X)
    np.testing.assert_allclose(given @ given.T, direct @ direct.T, atol=1e-6)


def test_tensors_stay_tensors():
    for kind in (RBFSampler, Nystroem):
        there = kind(gamma=0.5, random_state=0).fit_transform(torch.tensor(X))
        assert isinstance(there, torch.Tensor)
        here = kind(gamma=0.5, random_state=0).fit_transform(X)
        np.testing.assert_allclose(there.numpy() @ there.numpy().T, here @ here.T, atol=1e-6)


BAD = {
    "more rows": (lambda: Nystroem(n_components=500).fit(X), UserWarning, "n_components > n_samples"),
    "gamma": (lambda: Nystroem(RBF(1.0), gamma=1.0).fit(X), ValueError, "Don't pass gamma, coef0 or degree"),
    "kernel": (lambda: Nystroem("gauss").fit(X), ValueError, "'kernel' parameter of Nystroem"),
    "array": (lambda: Nystroem(lambda x, z: x).fit(X), ValueError, "must return one number"),
    "negative": (lambda: AdditiveChi2Sampler().fit(-X), ValueError, "Negative values in data"),
    "steps": (lambda: AdditiveChi2Sampler(sample_steps=4).fit(X), ValueError, "need to provide sample_interval"),
    "skew": (lambda: SkewedChi2Sampler(skewedness=0.1).fit_transform(-X), ValueError, "smaller than -skewedness"),
    "rbf": (lambda: RBFSampler(gamma=-1.0).fit(X), ValueError, "'gamma' parameter of RBFSampler"),
    "degree": (lambda: PolynomialCountSketch(degree=0).fit(X), ValueError, "'degree' parameter"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_gets_one_sentence(kind):
    act, error, match = BAD[kind]
    if error is UserWarning:
        with pytest.warns(UserWarning, match=match) as told:
            act()
        assert "\n" not in str(told[0].message)
    else:
        with pytest.raises(error, match=match) as caught:
            act()
        assert "\n" not in str(caught.value)


def test_the_inverse_root_from_eigenvectors_is_the_one_from_singular_values():
    """For a symmetric matrix K = QΛQᵀ both are Q sign(Λ)|Λ|^(−½) Qᵀ, off by roundings times the condition number."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    values = np.geomspace(1.0, 1e-3, 30) * np.where(np.arange(30) % 7 == 0, -1.0, 1.0)
    K = (Q * values) @ Q.T
    K = (K + K.T) / 2
    expected = (Q * (np.sign(values) / np.sqrt(np.abs(values)))) @ Q.T
    for symmetric in (True, False):
        bound = 30 * 1e3 * np.sqrt(1e3) * np.finfo(float).eps
        np.testing.assert_allclose(_inverse_root(K, symmetric), expected, rtol=0, atol=bound)
