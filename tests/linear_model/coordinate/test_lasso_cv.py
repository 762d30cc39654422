"""LassoCV and ElasticNetCV against scikit-learn and against themselves fold by fold."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peer
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit

from learnt.linear_model import ElasticNetCV, LassoCV
from learnt.linear_model.coordinate import _path

TIGHT = {"tol": 1e-10, "max_iter": 100_000}


def data(n=150, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2.0
    return X, X @ np.where(np.arange(p) % 5 == 0, 2.0, 0.0) + 2 * rng.normal(size=n)


def assert_same(ours, theirs):
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


@pytest.mark.parametrize("shape", [(150, 20), (40, 80)])
@pytest.mark.parametrize("cv", [None, 3, ShuffleSplit(4, random_state=0), TimeSeriesSplit(3)])
def test_every_splitting_strategy(shape, cv):
    X, y = data(*shape)
    settings = {"alphas": 15, "cv": cv, "eps": 1e-2, **TIGHT}
    assert_same(LassoCV(**settings).fit(X, y), peer.LassoCV(**settings).fit(X, y))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ratios_weights_and_sparse(kind, fit_intercept, monkeypatch):
    monkeypatch.setattr(_path, "_FEW_CELLS", 0)  # or the sparse matrix would be unpacked
    X, y = data()
    X[X < 1.0] = 0.0
    w = np.random.default_rng(1).uniform(0.5, 2.0, size=len(y))
    settings = {"alphas": 10, "l1_ratio": [0.3, 0.9], "fit_intercept": fit_intercept, "eps": 1e-2, **TIGHT}
    ours = ElasticNetCV(**settings).fit(kind(X), y, sample_weight=w)
    theirs = peer.ElasticNetCV(**settings).fit(X, y, sample_weight=w)
    assert_same(ours, theirs)
    assert ours.l1_ratio_ == theirs.l1_ratio_
    assert ours.mse_path_.shape == (2, 10, 5)


def test_given_penalties_and_positive():
    X, y = data()
    settings = {"alphas": [1.0, 0.01, 0.1], "positive": True, "cv": KFold(4, shuffle=True, random_state=0), **TIGHT}
    assert_same(LassoCV(**settings).fit(X, y), peer.LassoCV(**settings).fit(X, y))


def test_rows_of_weight_zero_are_left_out():
    X, y = data()
    w = np.ones(len(y))
    w[60:] = 0.0
    folds = [(np.arange(0, 40), np.arange(40, 60)), (np.arange(20, 60), np.arange(0, 20))]
    part = LassoCV(alphas=8, cv=folds, **TIGHT).fit(X[:60], y[:60])
    rest = np.arange(60, len(y))
    spread = [(np.r_[train, rest], test) for train, test in folds]
    whole = LassoCV(alphas=8, cv=spread, **TIGHT).fit(X, y, sample_weight=w)
    assert_same(whole, part)


def test_the_number_of_threads_changes_nothing():
    X, y = data(400, 30)
    one, three = (LassoCV(n_jobs=k).fit(X, y) for k in (1, 3))
    np.testing.assert_array_equal(one.mse_path_, three.mse_path_)
    np.testing.assert_array_equal(one.coef_, three.coef_)


def test_refusals():
    X, y = data(30, 4)
    with pytest.raises(ValueError, match="use MultiTaskLassoCV"):
        LassoCV().fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match=r"alphas\[1\] == -1"):
        LassoCV(alphas=[1.0, -1.0]).fit(X, y)
    with pytest.raises(ValueError, match="Please supply a grid"):
        ElasticNetCV(l1_ratio=0).fit(X, y)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        LassoCV().fit(X, y, groups=y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        LassoCV(max_iter=1, tol=1e-12, alphas=5, cv=2, n_jobs=1).fit(X, y)
    assert all(issubclass(w.category, ConvergenceWarning) for w in caught)
    assert any("others) with a duality gap of" in str(w.message) for w in caught)
