"""Lasso, ElasticNet and their paths against scikit-learn, the optimality conditions, and formulas."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peer
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.threads import set_threads
from learnt.linear_model import (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    MultiTaskLasso,
    Ridge,
    enet_path,
    lasso_path,
)
from learnt.linear_model.coordinate import _path

TIGHT = {"tol": 1e-12, "max_iter": 100_000}


def data(n=120, p=30, rho=0.0, seed=0, mean=3.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    w = np.where(np.arange(p) % 4 == 0, rng.normal(size=p) * 3, 0.0)
    return X + mean, X @ w + rng.normal(size=n) + 2.0


def objective(model, X, y, alpha, ratio, w=None):
    rest = y - np.asarray(X @ model.coef_) - model.intercept_
    penalty = ratio * np.abs(model.coef_).sum() + 0.5 * (1 - ratio) * (model.coef_**2).sum()
    return 0.5 * np.average(rest**2, weights=w) + alpha * penalty


@pytest.mark.parametrize("shape", [(120, 30), (40, 200), (60, 60)])
@pytest.mark.parametrize("rho", [0.0, 0.95])
@pytest.mark.parametrize(("alpha", "ratio"), [(0.5, 1.0), (0.05, 1.0), (0.1, 0.5), (0.01, 0.9)])
@pytest.mark.sweep
def test_the_minimum_is_scikit_learns(shape, rho, alpha, ratio):
    X, y = data(*shape, rho=rho)
    ours = ElasticNet(alpha, l1_ratio=ratio, **TIGHT).fit(X, y)
    theirs = peer.ElasticNet(alpha, l1_ratio=ratio, **TIGHT).fit(X, y)
    assert ours.dual_gap_ <= 1e-8
    np.testing.assert_allclose(
        objective(ours, X, y, alpha, ratio), objective(theirs, X, y, alpha, ratio), rtol=1e-9, atol=1e-10
    )
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("positive", [False, True])
def test_weights_sparse_positive_and_no_intercept(kind, fit_intercept, positive, monkeypatch):
    monkeypatch.setattr(_path, "_FEW_CELLS", 0)  # or the sparse matrix would be unpacked
    X, y = data(80, 20, mean=0.5)
    X[np.abs(X) < 1.0] = 0.0
    w = np.random.default_rng(1).integers(0, 4, size=80).astype(float)
    settings = {"l1_ratio": 0.7, "fit_intercept": fit_intercept, "positive": positive, **TIGHT}
    ours = ElasticNet(0.1, **settings).fit(kind(X), y, sample_weight=w)
    theirs = peer.ElasticNet(0.1, **settings).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    np.testing.assert_allclose(ours.predict(kind(X)), theirs.predict(X), atol=1e-5)
    repeated = ElasticNet(0.1, **settings).fit(np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int)))
    np.testing.assert_allclose(ours.coef_, repeated.coef_, atol=1e-5)
    if positive:
        assert ours.coef_.min() >= 0


def test_the_gap_is_the_difference_of_primal_and_dual():
    X, y = data()
    alpha, n = 0.3, len(y)
    model = Lasso(alpha, tol=1e-3).fit(X, y)
    Z, t = X - X.mean(axis=0), y - y.mean()
    rest = t - Z @ model.coef_
    theta = rest * min(1.0, alpha * n / np.abs(Z.T @ rest).max())
    dual = (theta @ t - 0.5 * theta @ theta) / n
    assert model.dual_gap_ == pytest.approx(objective(model, X, y, alpha, 1.0) - dual, abs=1e-10)
    assert model.dual_gap_ <= 1e-3 * (t @ t) / n


def test_orthogonal_columns_are_soft_thresholded():
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 10)))
    X, w = Q * np.sqrt(50), np.linspace(-2, 2, 10)
    y = X @ w
    model = Lasso(0.5, fit_intercept=False, tol=1e-14).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.sign(w) * np.maximum(np.abs(w) - 0.5, 0), atol=1e-10)


@pytest.mark.parametrize("shape", [(200, 20), (40, 150)])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_path_is_scikit_learns(shape, ratio):
    X, y = data(*shape, mean=0.0)
    alphas, coefs, gaps, n_iters = enet_path(X, y, l1_ratio=ratio, alphas=20, eps=1e-2, return_n_iter=True, **TIGHT)
    expected, theirs, _ = peer.enet_path(X, y, l1_ratio=ratio, alphas=20, eps=1e-2, **TIGHT)
    np.testing.assert_allclose(alphas, expected)
    np.testing.assert_allclose(coefs, theirs, atol=1e-4)
    assert gaps.max() <= 1e-8
    assert len(n_iters) == 20
    assert not coefs[:, 0].any()


def test_path_of_given_penalties_products_and_start():
    X, y = data(mean=0.0)
    alphas, coefs, _ = lasso_path(X, y, alphas=[0.01, 1.0, 0.1], **TIGHT)
    assert alphas.tolist() == [1.0, 0.1, 0.01]
    again = lasso_path(X, y, alphas=alphas, precompute=X.T @ X, Xy=X.T @ y, coef_init=coefs[:, 1], **TIGHT)[1]
    np.testing.assert_allclose(again, coefs, atol=1e-7)
    singles = [Lasso(a, fit_intercept=False, **TIGHT).fit(X, y).coef_ for a in alphas]
    np.testing.assert_allclose(coefs.T, singles, atol=1e-5)
    with pytest.raises(ValueError, match="Unexpected parameters in params: toll"):
        lasso_path(X, y, toll=1)
    with pytest.raises(ValueError, match="not allowed for multi-output"):
        lasso_path(X, np.c_[y, y], positive=True)
    with pytest.warns(FutureWarning, match="n_alphas"):
        assert len(lasso_path(X, y, n_alphas=3)[0]) == 3


def test_several_targets_one_by_one():
    X, y = data()
    Y = np.c_[y, -y, X[:, 0]]
    model = Lasso(0.1, **TIGHT).fit(X, Y)
    assert model.coef_.shape == (3, 30)
    assert model.dual_gap_.shape == (3,)
    assert len(model.n_iter_) == 3
    for k in range(3):
        np.testing.assert_allclose(model.coef_[k], Lasso(0.1, **TIGHT).fit(X, Y[:, k]).coef_, atol=1e-8)
    assert model.sparse_coef_.shape == (3, 30)
    np.testing.assert_allclose(model.predict(X), peer.Lasso(0.1, **TIGHT).fit(X, Y).predict(X), atol=1e-5)


def test_warm_start_ends_where_it_is():
    X, y = data()
    model = Lasso(0.1, warm_start=True).fit(X, y)
    assert model.n_iter_ > 0
    first = model.coef_
    model.fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, first)
    np.testing.assert_allclose(
        model.set_params(alpha=0.05, **TIGHT).fit(X, y).coef_, Lasso(0.05, **TIGHT).fit(X, y).coef_, atol=1e-7
    )


def test_precomputed_products():
    X, y = data()
    Z = X - X.mean(axis=0)
    expected = Lasso(0.1, **TIGHT).fit(X, y)
    np.testing.assert_allclose(Lasso(0.1, precompute=Z.T @ Z, **TIGHT).fit(X, y).coef_, expected.coef_, atol=1e-8)
    with pytest.warns(UserWarning, match="recomputing Gram"):
        model = Lasso(0.1, precompute=X.T @ X, **TIGHT).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-8)
    with pytest.raises(ValueError, match="did not pass validation"):
        Lasso(precompute=np.eye(30)).fit(X, y)
    with pytest.raises(ValueError, match=r"array of shape \(30, 30\)"):
        Lasso(precompute=np.eye(3)).fit(X, y)


def test_no_absolute_value_is_ridge():
    X, y = data()
    model = ElasticNet(0.1, l1_ratio=0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, Ridge(0.1 * len(y)).fit(X, y).coef_, rtol=1e-8)
    assert model.dual_gap_ <= 1e-12


def test_no_penalty_is_least_squares():
    X, y = data()
    with pytest.warns(UserWarning, match="alpha=0"):
        model = Lasso(0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.LinearRegression().fit(X, y).coef_, atol=1e-8)
    with pytest.warns(UserWarning, match="alpha=0"):
        positive = Lasso(0.0, positive=True, **TIGHT).fit(X, y)
    theirs = peer.LinearRegression(positive=True).fit(X, y)
    np.testing.assert_allclose(positive.coef_, theirs.coef_, atol=1e-5)


def test_collinear_constant_and_empty_columns():
    X, y = data()
    wide = np.c_[X, X[:, :5], np.ones(len(y)), np.zeros(len(y)), 7.0 * X[:, 0] + 1e6]
    model = Lasso(0.1, **TIGHT).fit(wide, y)
    theirs = peer.Lasso(0.1, **TIGHT).fit(wide, y)
    np.testing.assert_allclose(objective(model, wide, y, 0.1, 1.0), objective(theirs, wide, y, 0.1, 1.0), rtol=1e-7)
    assert model.coef_[35:37].tolist() == [0.0, 0.0]
    assert model.dual_gap_ <= 1e-8


def test_zero_target_and_penalty_above_the_largest():
    X, y = data()
    model = Lasso(0.1).fit(X, np.zeros(len(y)))
    assert not model.coef_.any()
    assert model.dual_gap_ == 0.0
    assert model.intercept_ == 0.0
    large = Lasso(1e6).fit(X, y)
    assert not large.coef_.any()
    assert large.intercept_ == pytest.approx(y.mean())


def test_scales_far_apart():
    X, y = data(mean=0.0)
    scale = 10.0 ** np.linspace(-4, 4, X.shape[1])
    model = Lasso(1e-3, tol=1e-9, max_iter=100_000).fit(X * scale + 1e3 * scale, y)
    theirs = peer.Lasso(1e-3, tol=1e-9, max_iter=100_000).fit(X * scale, y)
    np.testing.assert_allclose(model.coef_ * scale, theirs.coef_ * scale, atol=1e-4)
    with pytest.raises(ValueError, match=r"non-finite parameter values.*ordinary units"):
        Lasso().fit(X * 1e200, y)


def test_far_from_the_minimum_warns():
    X, y = data(40, 200, rho=0.99)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 sweeps.*gap of .*tol asks for .*raise max_iter"):
        model = Lasso(1e-3, max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    assert model.dual_gap_ > 1e-4 * y.var()


def test_defaults_do_not_warn_on_hard_shapes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for shape, rho in [((40, 200), 0.9), ((300, 40), 0.99), ((60, 60), 0.5)]:
            X, y = data(*shape, rho=rho)
            assert Lasso(0.05).fit(X, y).dual_gap_ <= 1e-4 * y.var()
        for seed in range(4):  # columns come in after the last ones had seemed to be all
            X, y = make_regression(100, 300, n_informative=10, noise=10, random_state=seed)
            for alpha in (5.0, 0.5, 0.2):
                assert Lasso(alpha).fit(X, y).dual_gap_ <= 1e-4 * y.var()
                assert ElasticNet(alpha, l1_ratio=0.8).fit(X, y).dual_gap_ <= 1e-4 * y.var()
                assert MultiTaskLasso(alpha).fit(X, np.c_[y, X[:, 0]]).dual_gap_ <= 1e-4 * y.var() * 2


@pytest.mark.parametrize("order", ["C", "F"])
def test_threads_and_layout_change_nothing(order):
    X, y = data(3000, 100)
    X = np.asarray(X, order=order)
    coefs = []
    for count in (1, 3):
        set_threads(count)
        coefs.append(Lasso(0.05).fit(X, y).coef_)
    set_threads(None)
    np.testing.assert_array_equal(coefs[0], coefs[1])


def test_single_precision_stays():
    X, y = data()
    model = Lasso(0.1).fit(X.astype(np.float32), y.astype(np.float32))
    assert model.coef_.dtype == np.float32
    assert model.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.coef_, Lasso(0.1).fit(X, y).coef_, atol=1e-3)


def test_wrong_parameters_are_named():
    X, y = data(20, 3)
    for wrong in ({"alpha": -1}, {"tol": -1}, {"max_iter": 0}, {"selection": "best"}, {"positive": 3}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Lasso(**wrong).fit(X, y)
    with pytest.raises(ValueError, match="l1_ratio"):
        ElasticNet(l1_ratio=1.5).fit(X, y)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_products_and_a_few_columns_agree(order, weighted):
    X, y = data(300, 40, rho=0.5, mean=2.0)
    w = np.random.default_rng(2).integers(0, 3, size=300).astype(float) if weighted else None
    few = Lasso(0.02, **TIGHT).fit(np.asarray(X, order=order), y, sample_weight=w)
    Z = X - np.average(X, axis=0, weights=w)
    scale = np.ones(300) if w is None else w * (300 / w.sum())
    known = Lasso(0.02, precompute=(Z.T * scale) @ Z, **TIGHT).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(few.coef_, known.coef_, atol=1e-7)
    assert few.intercept_ == pytest.approx(known.intercept_, abs=1e-6)


def test_path_with_penalties_that_repeat_or_vanish():
    X, y = data(mean=0.0)
    alphas, coefs, gaps = lasso_path(X, y, alphas=[0.3, 0.1, 0.1, 0.1, 0.0], **TIGHT)
    np.testing.assert_allclose(coefs[:, 1], coefs[:, 2], atol=1e-6)
    np.testing.assert_allclose(coefs[:, 1], coefs[:, 3], atol=1e-6)
    np.testing.assert_allclose(coefs[:, 4], np.linalg.lstsq(X, y)[0], atol=1e-5)
    assert gaps.max() <= 1e-10
    positive = lasso_path(X, y, alphas=alphas, positive=True, **TIGHT)[1]
    for k, alpha in enumerate(alphas[:4]):
        theirs = peer.Lasso(alpha, positive=True, fit_intercept=False, **TIGHT).fit(X, y)
        np.testing.assert_allclose(positive[:, k], theirs.coef_, atol=1e-5)


@pytest.mark.parametrize(("shape", "spread"), [((120, 30), 4), ((60, 200), 0)])
def test_a_tolerance_below_rounding_ends_soon_with_a_warning(shape, spread):
    X, y = data(*shape, mean=0.0)
    scaled = X * 10.0 ** np.linspace(-spread, spread, X.shape[1])
    with pytest.warns(ConvergenceWarning, match=r"sweeps that end in rounding.*raise tol, or bring columns to similar"):
        model = Lasso(1e-2, tol=1e-20, max_iter=1_000_000).fit(scaled, y)
    assert model.n_iter_ < 200_000
    assert model.dual_gap_ <= 1e-7 * y.var()
    with pytest.warns(ConvergenceWarning, match=r"end in rounding at alpha="):
        gaps = lasso_path(scaled, y, alphas=[1e-1, 1e-2], tol=1e-20, max_iter=1_000_000)[2]
    assert gaps.max() <= 1e-7 * y.var()


@pytest.mark.parametrize("shape", [(60, 5), (5, 60), (400, 300)])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_path_reports_cells_that_are_not_finite(shape, bad, dtype):
    """Even where the target is 0: products show it, for nothing looks at the cells before."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape).astype(dtype), rng.normal(size=shape[0]).astype(dtype)
    X[3, 2], y[3] = bad, 0.0
    for target in (y, np.column_stack([y, y])):
        with pytest.raises(ValueError, match="NaN" if np.isnan(bad) else "infinity"):
            lasso_path(X, target, alphas=5)


@pytest.mark.parametrize("model", [ElasticNet(0.1), Lasso(0.1), LassoCV(cv=3), ElasticNetCV(cv=3)], ids=str)
def test_a_small_table_is_the_same_model_however_it_is_stored(model):
    """At the default tol, where any path down may end elsewhere within the gap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 6)) * (rng.random((24, 6)) < 0.5)
    y = X @ [1.0, 2.0, 0.0, 0.0, 3.0, -1.0] + rng.normal(size=24)
    dense, packed = clone(model).fit(X, y), clone(model).fit(sparse.csc_array(X), y)
    np.testing.assert_allclose(packed.coef_, dense.coef_, rtol=1e-12)
    assert packed.intercept_ == pytest.approx(dense.intercept_, rel=1e-12)
