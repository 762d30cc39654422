"""The plane around the rows: against scikit-learn's steps and the exact one-class machine."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model as oracle

from learnt.linear_model import SGDOneClassSVM
from learnt.svm import OneClassSVM


def rows(n=400, d=4, seed=0):
    return 2.0 + np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("nu", [0.05, 0.5, 1.0])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"average": True},
        {"average": 100, "learning_rate": "constant", "eta0": 0.01},
        {"learning_rate": "invscaling", "eta0": 0.1, "shuffle": False},
        {"fit_intercept": False, "tol": None, "max_iter": 9},
    ],
    ids=str,
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_takes_scikit_learns_steps(nu, more, container):
    X = container(rows())
    settings = {"nu": nu, "random_state": 3, "tol": None, "max_iter": 5, **more}
    ours, theirs = SGDOneClassSVM(**settings).fit(X), oracle.SGDOneClassSVM(**settings).fit(X)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-7, atol=1e-8)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.t_ == theirs.t_


def test_stops_where_scikit_learns_does_and_goes_on_where_it_ended():
    X, w = rows(), np.random.default_rng(1).uniform(0.5, 2.0, size=400)
    ours = SGDOneClassSVM(0.2, random_state=0).fit(X, sample_weight=w)
    theirs = oracle.SGDOneClassSVM(0.2, random_state=0).fit(X, sample_weight=w)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    for model in (ours, theirs):
        model.partial_fit(X[:50])
    np.testing.assert_allclose(ours.offset_, theirs.offset_, rtol=1e-8)
    again = [kind(0.2, random_state=0, warm_start=True) for kind in (SGDOneClassSVM, oracle.SGDOneClassSVM)]
    for model in again:
        model.fit(X).fit(X)
    np.testing.assert_allclose(again[0].offset_, again[1].offset_, rtol=1e-8)
    given = [kind(0.2, random_state=0) for kind in (SGDOneClassSVM, oracle.SGDOneClassSVM)]
    for model in given:
        model.fit(X, coef_init=np.ones(4), offset_init=np.array([0.5]))
    np.testing.assert_allclose(given[0].offset_, given[1].offset_, rtol=1e-8)


def test_comes_near_to_the_exact_machine():
    X = rows(3000)
    nu = 0.1
    exact = OneClassSVM(kernel="linear", nu=nu, tol=1e-8).fit(X)
    steps = {"learning_rate": "invscaling", "eta0": 1.0}  # 1/(νt) takes more epochs from so far
    model = SGDOneClassSVM(nu, random_state=0, max_iter=300, tol=None, **steps).fit(X)

    def objective(w, rho):
        return 0.5 * nu * w @ w - nu * rho + np.mean(np.maximum(0.0, rho - X @ w))

    # the exact machine has nu·n times these coefficients
    w = exact.coef_[0] / (nu * len(X))
    best = objective(w, exact.offset_[0] / (nu * len(X)))
    assert best - 1e-9 <= objective(model.coef_, model.offset_[0]) <= best + 1e-3 * abs(best)
    assert np.mean(model.predict(X) == -1) == pytest.approx(nu, abs=0.02)
    np.testing.assert_array_equal(model.predict(X), np.where(model.decision_function(X) >= 0, 1, -1))


def test_what_is_wrong_is_said():
    for wrong in ({"nu": 0.0}, {"nu": 1.5}, {"learning_rate": "fast"}, {"learning_rate": "constant", "eta0": 0.0}):
        with pytest.raises(ValueError, match=list(wrong)[-1]):
            SGDOneClassSVM(**wrong).fit(rows())
