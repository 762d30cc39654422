"""LogisticRegression with absolute values in its penalty against scikit-learn and the optimality conditions."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peer
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier

from learnt.engine.threads import set_threads
from learnt.linear_model import LogisticRegression


def data(n=200, p=20, K=2, seed=0, mean=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + mean
    W = np.where(np.arange(p)[:, None] % 4 == 0, rng.normal(size=(p, K)), 0.0)
    return X, ((X - mean) @ W + rng.gumbel(size=(n, K))).argmax(axis=1)


def objective(model, X, y, C, ratio, w=None):
    Z = np.asarray(X @ model.coef_.T) + model.intercept_
    Z = np.c_[np.zeros(len(Z)), Z] if Z.shape[1] == 1 else Z
    loss = np.logaddexp.reduce(Z, axis=1) - Z[np.arange(len(y)), y]
    size = ratio * np.abs(model.coef_).sum() + 0.5 * (1 - ratio) * (model.coef_**2).sum()
    return C * np.sum(loss if w is None else w * loss) + size


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.sweep
def test_the_minimum_is_sagas(kind, K, ratio, fit_intercept):
    X, y = data(K=K)
    X[np.abs(X) < 0.5] = 0.0
    settings = {"C": 0.2, "l1_ratio": ratio, "fit_intercept": fit_intercept}
    ours = LogisticRegression(tol=1e-5, **settings).fit(kind(X), y)
    theirs = peer.LogisticRegression(solver="saga", tol=1e-9, max_iter=20_000, **settings).fit(X, y)
    assert ours.converged_
    assert ours.optimality_ <= 1e-10
    np.testing.assert_allclose(objective(ours, X, y, 0.2, ratio), objective(theirs, X, y, 0.2, ratio), rtol=1e-7)
    if K == 2:
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(kind(X)), theirs.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("shape", [(60, 300), (500, 10)])
def test_without_an_intercept_it_is_liblinears(shape):
    X, y = data(*shape, mean=0.0)
    settings = {"C": 0.5, "l1_ratio": 1.0, "fit_intercept": False}
    ours = LogisticRegression(**settings).fit(X, y)
    theirs = peer.LogisticRegression(solver="liblinear", tol=1e-8, max_iter=5000, **settings).fit(X, y)
    np.testing.assert_allclose(objective(ours, X, y, 0.5, 1.0), objective(theirs, X, y, 0.5, 1.0), rtol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_the_gradient_proves_the_minimum(K, kind):
    X, y = data(K=K)
    C = 0.1
    model = LogisticRegression(C=C, l1_ratio=1.0, tol=1e-6).fit(kind(X), y)
    P = model.predict_proba(X)
    rest = np.eye(K)[y] - P
    rest = rest[:, 1:] if K == 2 else rest
    slopes = C * rest.T @ X
    used = model.coef_ != 0
    assert 0 < used.sum() < used.size
    np.testing.assert_allclose(slopes[used], np.sign(model.coef_[used]), atol=1e-4)
    assert np.abs(slopes).max() <= 1 + 1e-4
    np.testing.assert_allclose(rest.sum(axis=0), 0.0, atol=1e-6)


def test_class_weights_and_row_weights():
    X, y = data(K=3)
    counts = np.random.default_rng(1).integers(0, 3, size=len(y))
    settings = {"C": 0.2, "l1_ratio": 1.0, "class_weight": {0: 1.0, 1: 3.0, 2: 0.5}, "tol": 1e-5}
    weighted = LogisticRegression(**settings).fit(X, y, sample_weight=counts)
    repeated = LogisticRegression(**settings).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)
    w = counts * np.array([1.0, 3.0, 0.5])[y]
    theirs = peer.LogisticRegression(C=0.2, l1_ratio=1.0, solver="saga", tol=1e-9, max_iter=20_000)
    theirs.fit(X, y, sample_weight=w)
    np.testing.assert_allclose(objective(weighted, X, y, 0.2, 1.0, w), objective(theirs, X, y, 0.2, 1.0, w), rtol=1e-7)


def test_the_old_names_of_penalties():
    X, y = data()
    new = LogisticRegression(C=0.3, l1_ratio=1.0).fit(X, y)
    np.testing.assert_array_equal(LogisticRegression("l1", C=0.3).fit(X, y).coef_, new.coef_)
    half = LogisticRegression(C=0.3, l1_ratio=0.5).fit(X, y)
    np.testing.assert_array_equal(LogisticRegression("elasticnet", C=0.3, l1_ratio=0.5).fit(X, y).coef_, half.coef_)
    for solver in ("saga", "liblinear"):
        same = LogisticRegression(C=0.3, l1_ratio=1.0, solver=solver).fit(X, y)
        np.testing.assert_array_equal(same.coef_, new.coef_)
    free = LogisticRegression(C=np.inf).fit(X, y)
    np.testing.assert_allclose(LogisticRegression(C=np.inf, l1_ratio=1.0).fit(X, y).coef_, free.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="l1_ratio must be specified"):
        LogisticRegression("elasticnet", l1_ratio=None).fit(X, y)
    with pytest.raises(ValueError, match="Solver lbfgs supports only"):
        LogisticRegression(l1_ratio=1.0, solver="lbfgs").fit(X, y)


def test_one_against_the_rest():
    X, y = data(K=3)
    model = OneVsRestClassifier(LogisticRegression(C=0.3, l1_ratio=1.0)).fit(X, y)
    theirs = OneVsRestClassifier(
        peer.LogisticRegression(C=0.3, l1_ratio=1.0, solver="saga", tol=1e-9, max_iter=20_000)
    ).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_a_strong_penalty_leaves_the_shares():
    X, y = data(K=3)
    model = LogisticRegression(C=1e-6, l1_ratio=1.0).fit(X, y)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], np.bincount(y) / len(y), atol=1e-6)


def test_bad_columns_and_scales():
    X, y = data(mean=0.0)
    hard = np.c_[X * 10.0 ** np.linspace(-3, 3, 20), X[:, :3], np.ones(len(y)), np.zeros(len(y))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(C=1.0, l1_ratio=1.0).fit(hard, y)
        tiny = LogisticRegression(C=100.0, l1_ratio=1.0).fit(X[:8], [0, 1] * 4)  # separable: the penalty holds it
    assert model.converged_
    assert tiny.converged_
    assert model.coef_[0, 24] == 0.0


def test_separable_without_a_penalty_warns():
    X = np.arange(10.0)[:, None]
    with pytest.warns(ConvergenceWarning, match="separated exactly"):
        model = LogisticRegression(C=np.inf, l1_ratio=1.0).fit(X, X[:, 0] > 4)
    assert model.score(X, X[:, 0] > 4) == 1.0


def test_too_few_steps_report_the_distance():
    X, y = data(100, 50, K=3)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 steps.*raise max_iter above 1"):
        LogisticRegression(C=10.0, l1_ratio=1.0, max_iter=1).fit(X, y)


def test_defaults_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for shape, K in [((60, 300), 2), ((60, 300), 3), ((400, 10), 5), ((300, 30), 15)]:
            for C in (0.05, 1.0, 50.0):
                X, y = data(*shape, K=K)
                assert LogisticRegression(C=C, l1_ratio=1.0).fit(X, y).optimality_ <= 1e-6


@pytest.mark.parametrize(
    ("settings", "steps"),
    [({"C": 100.0, "tol": 1e-6}, 25), ({"C": 100.0}, 25), ({"C": 0.01, "l1_ratio": 0.5, "tol": 1e-9}, 6)],
    ids=["large scores, fine", "large scores", "finer than float64"],
)
def test_rounding_stops_no_search_and_ends_it(settings, steps):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert LogisticRegression(**{"l1_ratio": 1.0, "max_iter": 200, **settings}).fit(X, y).n_iter_[0] <= steps


def test_warm_start_takes_no_steps():
    X, y = data(K=3)
    model = LogisticRegression(C=0.3, l1_ratio=0.8, warm_start=True).fit(X, y)
    first = model.n_iter_[0]
    assert first > 1
    assert model.fit(X, y).n_iter_[0] <= 1
    assert LogisticRegression(C=0.3, l1_ratio=0.8, tol=1e-5).fit(X, y).n_iter_[0] >= first


def test_threads_and_single_precision():
    X, y = data(5000, 30)
    coefs = []
    for count in (1, 3):
        set_threads(count)
        coefs.append(LogisticRegression(C=0.01, l1_ratio=1.0).fit(X, y).coef_)
    set_threads(None)
    np.testing.assert_array_equal(coefs[0], coefs[1])
    narrow = LogisticRegression(C=0.01, l1_ratio=1.0).fit(X.astype(np.float32), y)
    assert narrow.coef_.dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, coefs[0], atol=1e-4)


def test_blocks_of_rows_are_refused():
    import dask.array as da

    X, y = data()
    with pytest.raises(ValueError, match="in memory"):
        LogisticRegression(l1_ratio=1.0).fit(da.from_array(X, chunks=50), da.from_array(y, chunks=50))


def test_contradictory_penalty_parameters():
    X, y = data()
    with pytest.warns(UserWarning, match=r"l1_ratio parameter is only used .*\(penalty=l2\)"):
        model = LogisticRegression("l2", l1_ratio=0.5).fit(X, y)
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(X, y).coef_)
