"""Passive-aggressive learning: against scikit-learn's steps, and the rule that defines one."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model as oracle
from sklearn.datasets import make_classification, make_regression

from learnt.linear_model import PassiveAggressiveClassifier, PassiveAggressiveRegressor, SGDClassifier


def theirs(kind, *args, **settings):
    """scikit-learn's, which warns that it will go."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return getattr(oracle, kind)(*args, **settings)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("more", [{}, {"average": True}, {"class_weight": "balanced", "C": 0.1}, {"shuffle": False}])
def test_classifiers_take_scikit_learns_steps(classes, loss, more):
    X, y = make_classification(300, 10, n_informative=6, n_classes=classes, random_state=0)
    settings = {"loss": loss, "random_state": 0, "max_iter": 7, "tol": None, **more}
    one = PassiveAggressiveClassifier(**settings).fit(X, y)
    other = theirs("PassiveAggressiveClassifier", **settings).fit(X, y)
    # thousands of steps, each of which rounds in another order
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-7, atol=1e-9)
    assert one.n_iter_ == other.n_iter_ == 7
    assert one.t_ == other.t_


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("more", [{}, {"average": 50}, {"epsilon": 5.0, "C": 0.1}, {"fit_intercept": False}])
def test_regressors_take_scikit_learns_steps(loss, more):
    X, y = make_regression(300, 10, noise=5.0, random_state=0)
    settings = {"loss": loss, "random_state": 0, "max_iter": 7, "tol": None, **more}
    one = PassiveAggressiveRegressor(**settings).fit(X, y)
    other = theirs("PassiveAggressiveRegressor", **settings).fit(X, y)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-7, atol=1e-9)


def test_stops_as_scikit_learns_and_takes_sparse_rows():
    X, y = make_classification(400, 10, random_state=1)
    X[np.abs(X) < 0.5] = 0.0
    for rows in (X, sparse.csr_matrix(X)):
        one = PassiveAggressiveClassifier(C=0.01, random_state=0).fit(rows, y)
        other = theirs("PassiveAggressiveClassifier", C=0.01, random_state=0).fit(rows, y)
        assert one.n_iter_ == other.n_iter_
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("loss", "C"), [("hinge", 1e9), ("hinge", 0.05), ("squared_hinge", 0.7)])
def test_a_step_is_the_shortest_that_corrects_the_row(loss, C):
    """The new w minimises ½‖w − w₀‖² + C·max(0, 1 − y xᵀw) or C·max(…)²; C = 1e9 leaves no loss."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), rng.choice([-1, 1], size=20)
    model = PassiveAggressiveClassifier(loss=loss, C=C, fit_intercept=False, shuffle=False)
    w = np.zeros(4)
    for x, side in zip(X, y, strict=True):
        model.partial_fit(x[None], [side], classes=[-1, 1])
        new = model.coef_[0]

        def objective(v, x=x, side=side, w=w):
            short = max(0.0, 1.0 - side * (x @ v))
            return 0.5 * np.sum((v - w) ** 2) + C * (short if loss == "hinge" else short**2)

        if C == 1e9:
            assert side * (x @ new) >= 1 - 1e-9
        else:
            for move in rng.normal(scale=1e-3, size=(20, 4)):
                assert objective(new) <= objective(new + move) + 1e-12
        w = new.copy()


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_steps_that_nothing_bounds(loss):
    X, y = make_regression(60, 5, noise=1.0, random_state=0)
    coefs = [PassiveAggressiveRegressor(C=C, loss=loss, random_state=0).fit(X, y).coef_ for C in (1e200, np.inf)]
    np.testing.assert_allclose(*coefs, rtol=1e-12)


def test_partial_fit_and_what_is_wrong():
    X, y = make_classification(100, 5, n_informative=3, n_redundant=0, random_state=0)
    one, other = PassiveAggressiveClassifier(random_state=0), theirs("PassiveAggressiveClassifier", random_state=0)
    for lo in (0, 50):
        one.partial_fit(X[lo : lo + 50], y[lo : lo + 50], classes=[0, 1])
        other.partial_fit(X[lo : lo + 50], y[lo : lo + 50], classes=[0, 1])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    same = SGDClassifier(penalty=None, learning_rate="pa1", eta0=1.0, random_state=0, max_iter=3, tol=None).fit(X, y)
    fitted = PassiveAggressiveClassifier(random_state=0, max_iter=3, tol=None).fit(X, y)
    np.testing.assert_array_equal(fitted.coef_, same.coef_)
    for wrong in ({"C": 0.0}, {"loss": "log_loss"}, {"tol": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            PassiveAggressiveClassifier(**wrong).fit(X, y)
    with pytest.raises(ValueError, match="loss"):
        PassiveAggressiveRegressor(loss="hinge").fit(X, y)
