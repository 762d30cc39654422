"""MultiTaskLasso, MultiTaskElasticNet and their CVs against scikit-learn and the optimality conditions."""

import numpy as np
import pytest
import sklearn.linear_model as peer
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from learnt.linear_model import (
    Lasso,
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    lasso_path,
)
from learnt.linear_model.coordinate import _path

TIGHT = {"tol": 1e-13, "max_iter": 100_000}


def data(n=80, p=25, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1.0
    W = np.where(np.arange(p)[:, None] % 5 == 0, rng.normal(size=(p, k)), 0.0)
    return X, X @ W + 0.5 * rng.normal(size=(n, k))


@pytest.mark.parametrize("shape", [(80, 25), (30, 90)])
@pytest.mark.parametrize(("alpha", "ratio"), [(0.3, 1.0), (0.05, 0.5)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_the_minimum_is_scikit_learns(shape, alpha, ratio, kind, monkeypatch):
    monkeypatch.setattr(_path, "_FEW_CELLS", 0)  # or the sparse matrix would be unpacked
    X, Y = data(*shape)
    X[np.abs(X) < 0.5] = 0.0
    ours = MultiTaskElasticNet(alpha, l1_ratio=ratio, **TIGHT).fit(kind(X), Y)
    theirs = peer.MultiTaskElasticNet(alpha, l1_ratio=ratio, **TIGHT).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert ours.dual_gap_ <= 1e-8
    assert ours.eps_ == pytest.approx(theirs.eps_)


def test_a_column_is_used_by_all_or_none():
    X, Y = data()
    model = MultiTaskLasso(0.3, **TIGHT).fit(X, Y)
    used = model.coef_ != 0
    assert (used.all(axis=0) | ~used.any(axis=0)).all()
    Z, T = X - X.mean(axis=0), Y - Y.mean(axis=0)
    slopes = np.linalg.norm(Z.T @ (T - Z @ model.coef_.T), axis=1) / len(X)
    np.testing.assert_allclose(slopes[used.any(axis=0)], 0.3, rtol=1e-4)
    assert slopes.max() <= 0.3 * (1 + 1e-4)


def test_one_target_is_the_lasso():
    X, Y = data(k=1)
    together, alone = MultiTaskLasso(0.1, **TIGHT).fit(X, Y), Lasso(0.1, **TIGHT).fit(X, Y[:, 0])
    np.testing.assert_allclose(together.coef_[0], alone.coef_, atol=1e-7)
    with pytest.raises(ValueError, match="use Lasso"):
        MultiTaskLasso().fit(X, Y[:, 0])


def test_weights_are_repetitions():
    X, Y = data()
    w = np.random.default_rng(0).integers(0, 3, size=len(X))
    weighted = MultiTaskLasso(0.2, **TIGHT).fit(X, Y, sample_weight=w)
    repeated = MultiTaskLasso(0.2, **TIGHT).fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_path_and_warm_start():
    X, Y = data()
    alphas, coefs, gaps = lasso_path(X, Y, alphas=10, **TIGHT)
    expected, theirs, _ = peer.lasso_path(X, Y, alphas=10, **TIGHT)
    np.testing.assert_allclose(alphas, expected)
    np.testing.assert_allclose(coefs, theirs, atol=1e-4)
    assert gaps.max() < 1e-8
    model = MultiTaskLasso(0.2, warm_start=True).fit(X, Y)
    assert model.n_iter_ > 0
    assert model.fit(X, Y).n_iter_ == 0
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        MultiTaskLasso(0.01, max_iter=1, tol=1e-12).fit(X, Y)


@pytest.mark.parametrize("shape", [(80, 25), (30, 60)])
def test_cross_validation_is_scikit_learns(shape):
    X, Y = data(*shape)
    for ours, theirs in (
        (MultiTaskLassoCV(alphas=8, eps=1e-2, **TIGHT), peer.MultiTaskLassoCV(alphas=8, eps=1e-2, **TIGHT)),
        (
            MultiTaskElasticNetCV(alphas=8, eps=1e-2, l1_ratio=[0.5, 1.0], **TIGHT),
            peer.MultiTaskElasticNetCV(alphas=8, eps=1e-2, l1_ratio=[0.5, 1.0], **TIGHT),
        ),
    ):
        ours.fit(X, Y)
        theirs.fit(X, Y)
        np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
        assert ours.alpha_ == pytest.approx(theirs.alpha_)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    with pytest.raises(ValueError, match="use LassoCV"):
        MultiTaskLassoCV().fit(X, Y[:, 0])
