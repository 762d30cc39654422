"""Gaussian process classification against scikit-learn's, and its gradient against differences."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier as Peer
from sklearn.gaussian_process import kernels as peers

from learnt.gaussian_process import GaussianProcessClassifier
from learnt.gaussian_process import kernels as named

RNG = np.random.default_rng(0)
X, Xt = RNG.normal(size=(60, 2)), RNG.normal(size=(25, 2))
TWO = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * RNG.normal(size=60) > 0.2
THREE = np.array(["a", "b", "c"])[TWO.astype(int) + (X[:, 1] > 0.6)]


@pytest.mark.parametrize("code", ["2.0 * RBF(0.8)", "1.5 * Matern([0.8, 1.5], nu=1.5)"])
def test_scikit_learn_with_two_classes(code):
    ours = GaussianProcessClassifier(eval(code, vars(named).copy()), optimizer=None).fit(X, TWO)
    theirs = Peer(eval(code, vars(peers).copy()), optimizer=None).fit(X, TWO)
    np.testing.assert_allclose(ours.predict_proba(Xt), theirs.predict_proba(Xt), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(Xt), theirs.predict(Xt))
    for a, b in zip(ours.latent_mean_and_variance(Xt), theirs.latent_mean_and_variance(Xt), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood(), abs=1e-7)
    theta, h = ours.kernel_.theta + 0.1, 1e-5
    value, gradient = ours.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(theirs.log_marginal_likelihood(theta), abs=1e-7)
    steps = np.eye(len(theta)) * h
    expected = [
        (ours.log_marginal_likelihood(theta + s) - ours.log_marginal_likelihood(theta - s)) / (2 * h) for s in steps
    ]
    np.testing.assert_allclose(gradient, expected, atol=1e-4)


@pytest.mark.parametrize("way", ["one_vs_rest", "one_vs_one"])
def test_scikit_learn_with_three_classes(way):
    ours = GaussianProcessClassifier(2.0 * named.RBF(0.8), optimizer=None, multi_class=way).fit(X, THREE)
    theirs = Peer(2.0 * peers.RBF(0.8), optimizer=None, multi_class=way).fit(X, THREE)
    np.testing.assert_array_equal(ours.predict(Xt), theirs.predict(Xt))
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood(), abs=1e-6)
    assert len(ours.kernel_.kernels) == 3
    if way == "one_vs_rest":
        np.testing.assert_allclose(ours.predict_proba(Xt), theirs.predict_proba(Xt), atol=1e-6)
    else:
        with pytest.raises(ValueError, match="one_vs_one multi-class mode does not support"):
            ours.predict_proba(Xt)


def test_the_search_raises_the_likelihood():
    start = 1.0 * named.RBF(1.0)
    model = GaussianProcessClassifier(start, n_restarts_optimizer=1, random_state=0).fit(X, TWO)
    peer = Peer(1.0 * peers.RBF(1.0)).fit(X, TWO)
    assert model.log_marginal_likelihood() > peer.log_marginal_likelihood() - 1e-4
    assert model.log_marginal_likelihood() > model.log_marginal_likelihood(start.theta)
    assert model.score(X, TWO) > 0.75


BAD = {
    "kernel": ({"kernel": "rbf"}, TWO, "'kernel' parameter of GaussianProcessClassifier"),
    "compound": ({"kernel": named.CompoundKernel([named.RBF(1.0)])}, TWO, "cannot be a CompoundKernel"),
    "one class": ({}, np.ones(60), "requires 2 or more distinct classes"),
    "way": ({"multi_class": "all"}, THREE, "'multi_class' parameter"),
    "steps": ({"max_iter_predict": 0}, TWO, "'max_iter_predict' parameter"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_settings_get_one_sentence(kind):
    params, y, match = BAD[kind]
    with pytest.raises(ValueError, match=match) as caught:
        GaussianProcessClassifier(**params).fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("classes", [2, 3])
def test_parts_by_scikit_learns_names(classes):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.digitize(X[:, 0], [0.0, 0.8][: classes - 1])
    ours, peer = (cls(optimizer=None).fit(X, y).base_estimator_ for cls in (GaussianProcessClassifier, Peer))
    parts = [(ours, peer)] if classes == 2 else zip(ours.estimators_, peer.estimators_, strict=True)
    for mine, theirs in parts:
        np.testing.assert_array_equal(mine.y_train_, theirs.y_train_)
        np.testing.assert_array_equal(mine.X_train_, theirs.X_train_)
        # Both stop Newton's method where the objective grows by less than 1e-10, half of an error in f squared.
        np.testing.assert_allclose(mine.pi_, theirs.pi_, atol=1e-4)
        np.testing.assert_allclose(mine.L_, theirs.L_, atol=1e-3)
        assert mine.kernel_.get_params()["k2__length_scale"] == theirs.kernel_.get_params()["k2__length_scale"]
    assert mine.log_marginal_likelihood_value_ == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-6)
