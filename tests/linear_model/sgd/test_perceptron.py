"""The perceptron: its rule, scikit-learn's steps, and the bound on its mistakes."""

import numpy as np
import pytest
import sklearn.linear_model as sk
from scipy import sparse

from learnt.linear_model import Perceptron


def separable(seed):
    """Rows on both sides of a known plane through 0, at least gamma from it, none longer than 1."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 40)), int(rng.integers(2, 6))
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    X += np.outer(np.sign(X @ w) * rng.uniform(0.05, 0.5), w)
    X /= np.linalg.norm(X, axis=1).max()
    X = np.vstack([X, w, -w])
    X /= np.linalg.norm(X, axis=1).max()
    return X, (X @ w > 0).astype(int), np.abs(X @ w).min()


def test_the_bound_holds_on_1000_separable_problems():
    tight = 0
    for seed in range(1000):
        X, y, gamma = separable(seed)
        model = Perceptron(fit_intercept=False, tol=None, max_iter=10_000, random_state=seed).fit(X, y)
        assert (model.predict(X) == y).all()
        assert model.margin_ > 0
        assert model.mistakes_ <= 1 / gamma**2
        assert model.mistakes_ <= 1 / model.margin_**2
        tight += model.mistakes_ > 1
    assert tight > 500


def test_with_an_intercept_the_bound_is_that_of_the_longer_rows():
    for seed in range(50):
        X, y, _ = separable(seed)
        model = Perceptron(tol=None, max_iter=10_000).fit(X + 3, y)
        assert (model.predict(X + 3) == y).all()
        assert model.mistakes_ <= 1 / model.margin_**2


def test_the_rule_by_hand():
    X, y, _ = separable(3)
    w, mistakes = np.zeros(X.shape[1]), 0
    while True:
        before = mistakes
        for x, side in zip(X, 2 * y - 1):
            if side * (x @ w) <= 0:
                w, mistakes = w + side * x, mistakes + 1
        if mistakes == before:
            break
    model = Perceptron(fit_intercept=False, shuffle=False, tol=None).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], w)
    assert model.mistakes_ == mistakes
    assert np.isclose(model.margin_, (np.abs(X @ w) / np.linalg.norm(w)).min())


@pytest.mark.parametrize("classes", [2, 3])
def test_scikit_learns_steps(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.digitize(X @ rng.normal(size=4) + rng.normal(size=200), [0.0] if classes == 2 else [-1, 1])
    settings = {"shuffle": False, "max_iter": 3, "tol": None, "penalty": "l2"}
    ours, theirs = Perceptron(**settings).fit(X, y), sk.Perceptron(**settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert np.shape(ours.mistakes_) == (() if classes == 2 else (3,))
    assert (np.asarray(ours.margin_) < 0).all()
    thin = Perceptron(**settings).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, ours.coef_, rtol=1e-8)
    np.testing.assert_allclose(thin.margin_, ours.margin_, rtol=1e-8)


def test_xor_is_not_separable():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    assert Perceptron(max_iter=50).fit(X, y).margin_ <= 0
    bent = np.column_stack([X, X[:, 0] * X[:, 1]])
    model = Perceptron(tol=None).fit(bent, y)
    assert (model.predict(bent) == y).all()


def test_partial_fit():
    X, y, _ = separable(5)
    model = Perceptron()
    for _ in range(30):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.score(X, y) == 1.0
