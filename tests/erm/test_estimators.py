"""ERMRegressor and ERMClassifier equal the specialised estimator for every pair that has one; bad input is answered."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model as sk
import torch
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC, LinearSVR

import learnt.linear_model as lm
from learnt.erm import ERMClassifier, ERMRegressor
from learnt.erm.losses import Hinge, Huber, Log, Quantile, SquaredEpsilonInsensitive, Tweedie
from learnt.erm.penalties import ElasticNet
from learnt.erm.solvers import LBFGS, NAMES, Decay, GradientDescent, Momentum

RNG = np.random.default_rng(0)
N, D = 200, 6
X = RNG.normal(size=(N, D)) * np.array([1, 2, 0.5, 1, 3, 1]) + 0.2
W = RNG.normal(size=D)
Y = X @ W + 1 + RNG.normal(size=N)
LABEL = np.where(X @ W + RNG.normal(size=N) > 0, "yes", "no")
THREE = np.digitize(X @ W + RNG.normal(size=N), [-1, 1])
COUNT = np.exp(np.clip(Y / 4, -2, 2)).round()
AMOUNT = np.exp(Y / 4)


def same(ours, theirs, atol=1e-5):
    np.testing.assert_allclose(np.ravel(ours.coef_), np.ravel(theirs.coef_), atol=atol)
    np.testing.assert_allclose(np.ravel(ours.intercept_), np.ravel(theirs.intercept_), atol=atol)
    assert ours.converged_


def test_squared_losses():
    same(ERMRegressor(alpha=0).fit(X, Y), lm.LinearRegression().fit(X, Y), 1e-9)
    same(ERMRegressor(alpha=3 / N).fit(X, Y), lm.Ridge(alpha=3).fit(X, Y), 1e-9)
    same(ERMRegressor(penalty="l1", alpha=2 * 0.1).fit(X, Y), sk.Lasso(alpha=0.1, tol=1e-12).fit(X, Y), 1e-7)
    # scikit-learn's 1/(2n)‖r‖² + a(ρ‖w‖₁ + (1 − ρ)/2‖w‖²), doubled
    a, rho = 0.1, 0.3
    l1, l2 = 2 * a * rho, a * (1 - rho)
    mixed = ERMRegressor(penalty=ElasticNet(l1 / (l1 + l2)), alpha=l1 + l2)
    same(mixed.fit(X, Y), sk.ElasticNet(alpha=a, l1_ratio=rho, tol=1e-12).fit(X, Y), 1e-7)
    for alpha in (0, 1):  # a set has no strength
        positive = ERMRegressor(penalty="nonnegative", alpha=alpha, tol=1e-12).fit(X, Y)
        same(positive, lm.LinearRegression(positive=True).fit(X, Y), 1e-5)


def test_robust_and_quantile_losses():
    huber = sk.HuberRegressor(alpha=0.01, epsilon=1.35, tol=1e-10, max_iter=1000).fit(X, Y)
    s = huber.scale_  # scikit-learn fits the scale as well; at that scale the two objectives are the same
    ours = ERMRegressor(Huber(1.35 * s), alpha=0.01 * s / (2 * N)).fit(X, Y)
    same(ours, huber, 1e-4)
    oracle = sk.QuantileRegressor(quantile=0.7, alpha=0.01).fit(X, Y)
    same(ERMRegressor(Quantile(0.7), penalty="l1", alpha=0.01).fit(X, Y), oracle, 1e-7)
    svr = LinearSVR(C=1.0, epsilon=0.5, loss="squared_epsilon_insensitive", dual=False, fit_intercept=False, tol=1e-10)
    ours = ERMRegressor(SquaredEpsilonInsensitive(0.5), alpha=1 / (2 * N), fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, svr.fit(X, Y).coef_, atol=1e-5)


def test_deviances():
    settings = {"alpha": 0.1, "tol": 1e-10, "max_iter": 2000}
    same(ERMRegressor("poisson", alpha=0.1).fit(X, COUNT), sk.PoissonRegressor(**settings).fit(X, COUNT), 1e-5)
    same(ERMRegressor("gamma", alpha=0.1).fit(X, AMOUNT), sk.GammaRegressor(**settings).fit(X, AMOUNT), 1e-5)
    oracle = sk.TweedieRegressor(power=1.5, link="log", **settings).fit(X, COUNT)
    ours = ERMRegressor(Tweedie(1.5), alpha=0.1).fit(X, COUNT)
    same(ours, oracle, 1e-5)
    np.testing.assert_allclose(ours.predict(X), oracle.predict(X), rtol=1e-4)


def test_classification_losses():
    C = 0.5
    same(ERMClassifier(alpha=1 / (2 * C * N)).fit(X, LABEL), lm.LogisticRegression(C=C, tol=1e-10).fit(X, LABEL), 1e-6)
    oracle = sk.LogisticRegression(C=C, solver="saga", l1_ratio=1.0, tol=1e-9, max_iter=100_000)
    same(ERMClassifier(penalty="l1", alpha=1 / (C * N)).fit(X, LABEL), oracle.fit(X, LABEL), 1e-4)
    many = lm.LogisticRegression(C=C, tol=1e-10).fit(X, THREE)
    ours = ERMClassifier(alpha=1 / (2 * C * N)).fit(X, THREE)
    np.testing.assert_allclose(ours.coef_, many.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), many.predict_proba(X), atol=1e-6)
    two = ERMClassifier("softmax", alpha=1 / (4 * C * N)).fit(X, LABEL)  # two scores share what one would pay
    assert two.coef_.shape == (1, D)
    for loss, extra in (("squared_hinge", {"dual": False}), ("hinge", {"dual": True, "max_iter": 500_000})):
        svc = LinearSVC(C=C, loss=loss, fit_intercept=False, tol=1e-8, **extra).fit(X, LABEL)
        ours = ERMClassifier(loss, alpha=1 / (2 * C * N), fit_intercept=False).fit(X, LABEL)
        np.testing.assert_allclose(ours.coef_, svc.coef_, atol=1e-4)
    rest = ERMClassifier("squared_hinge", alpha=1 / (2 * C * N), fit_intercept=False).fit(X, THREE)
    svc = LinearSVC(C=C, fit_intercept=False, tol=1e-8, dual=False).fit(X, THREE)
    np.testing.assert_allclose(rest.coef_, svc.coef_, atol=1e-4)


@pytest.mark.parametrize(
    "solver", [name for name in NAMES if name not in ("lp", "admm", "alm", "momentum", "nesterov")]
)
def test_every_solver_by_name(solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = ERMClassifier(alpha=0.1, solver=solver).fit(X, LABEL)
    best = ERMClassifier(alpha=0.1).fit(X, LABEL)
    assert ours.objective_ == pytest.approx(best.objective_, rel=1e-2 if solver == "sgd" else 1e-7)
    assert ours.solver_ == NAMES[solver].__name__


def test_solvers_as_objects_and_starts():
    best = ERMRegressor(alpha=0.1).fit(X, Y)
    momentum = ERMRegressor(alpha=0.1, solver=Momentum(step=0.02, momentum=0.8)).fit(X, Y)
    np.testing.assert_allclose(momentum.coef_, best.coef_, atol=1e-4)
    again = ERMRegressor(alpha=0.1, solver=LBFGS()).fit(X, Y, coef_init=best.coef_, intercept_init=best.intercept_)
    assert again.n_iter_ <= 2
    far = np.full(D, 10.0)
    with pytest.warns(ConvergenceWarning, match="Newton"):
        lost = ERMClassifier(alpha=1e-4, solver="newton", max_iter=20).fit(X, LABEL, coef_init=far, intercept_init=10)
    found = ERMClassifier(alpha=1e-4, solver="hybrid").fit(X, LABEL, coef_init=far, intercept_init=10)
    assert found.objective_ < lost.objective_
    np.testing.assert_allclose(found.coef_, ERMClassifier(alpha=1e-4).fit(X, LABEL).coef_, atol=1e-6)
    with pytest.raises(ValueError, match=r"coef_init has shape \(3,\)"):
        ERMRegressor().fit(X, Y, coef_init=np.ones(3))


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_penalty_and_constraint(penalty):
    priced = ERMRegressor(penalty=penalty, alpha=0.3, tol=1e-12).fit(X, Y)
    bound = np.abs(priced.coef_).sum() if penalty == "l1" else priced.coef_ @ priced.coef_
    found = ERMRegressor(penalty=penalty, bound=bound, tol=1e-12).fit(X, Y)
    np.testing.assert_allclose(found.coef_, priced.coef_, atol=1e-4)


def test_sparse_tensors_and_precision():
    thin = np.where(np.abs(X) > 0.7, X, 0)
    for penalty in ("l2", "l1"):
        dense = ERMClassifier(penalty=penalty, alpha=0.01).fit(thin, LABEL)
        np.testing.assert_allclose(
            ERMClassifier(penalty=penalty, alpha=0.01).fit(sparse.csr_array(thin), LABEL).coef_, dense.coef_, atol=1e-6
        )
    here = ERMClassifier(alpha=0.01, class_weight="balanced").fit(X, THREE)
    there = ERMClassifier(alpha=0.01, class_weight="balanced").fit(torch.tensor(X), torch.tensor(THREE))
    assert isinstance(there.coef_, torch.Tensor)
    np.testing.assert_allclose(there.coef_.numpy(), here.coef_, atol=1e-8)
    np.testing.assert_array_equal(there.predict(torch.tensor(X)).numpy(), here.predict(X))
    np.testing.assert_allclose(there.predict_proba(torch.tensor(X)).numpy(), here.predict_proba(X), atol=1e-8)
    number = ERMRegressor(alpha=0.01).fit(torch.tensor(X), torch.tensor(Y))
    assert isinstance(number.predict(torch.tensor(X)), torch.Tensor)
    narrow = ERMRegressor().fit(X.astype(np.float32), Y.astype(np.float32))
    assert narrow.coef_.dtype == np.float32


def test_class_weights_are_weights_of_rows():
    a = ERMClassifier(alpha=0.01, class_weight={"yes": 3, "no": 1}).fit(X, LABEL)
    b = ERMClassifier(alpha=0.01).fit(X, LABEL, sample_weight=np.where(LABEL == "yes", 3.0, 1.0))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-10)
    c = ERMClassifier(alpha=0.01, class_weight="balanced").fit(X, LABEL)
    oracle = sk.LogisticRegression(C=1 / (0.02 * N), class_weight="balanced", tol=1e-10, max_iter=1000).fit(X, LABEL)
    np.testing.assert_allclose(c.coef_, oracle.coef_, atol=1e-5)


def test_probabilities_from_scores():
    for loss in ("log", "exponential", "modified_huber", Log()):
        p = ERMClassifier(loss, alpha=0.01).fit(X, THREE).predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert p.min() >= 0
    assert not hasattr(ERMClassifier("hinge"), "predict_proba")


def test_early_stopping_and_path():
    model = ERMClassifier(
        alpha=0,
        solver=GradientDescent(step=Decay(0.5, 0.5)),
        early_stopping=True,
        record_path=True,
        random_state=0,
        max_iter=200,
    ).fit(X, LABEL)
    best = int(np.argmin(model.validation_losses_)) + 1
    np.testing.assert_array_equal(model.coef_[0], model.path_[best][0])
    assert len(model.path_) == model.n_iter_ + 1
    assert len(model.validation_losses_) == model.n_iter_


@pytest.mark.parametrize("loss", ["log", "exponential", "softmax"])
@pytest.mark.parametrize("classes", [2, 3])
def test_separable_without_a_penalty(loss, classes):
    groups = np.arange(60) % classes
    Z = 0.1 * RNG.normal(size=(60, 3)) + np.eye(3)[groups]
    for settings in ({"alpha": 0}, {"penalty": None}):
        with pytest.warns(ConvergenceWarning, match="can be separated exactly"):
            model = ERMClassifier(loss, **settings).fit(Z, groups)
        assert (model.predict(Z) == groups).all()
        assert model.n_iter_ < 100
    ERMClassifier("squared_hinge", alpha=0).fit(Z, groups)  # reaches 0: nothing to warn of


def test_a_custom_loss_from_the_documentation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # one of the examples writes a file
    text = (Path(__file__).parents[2] / "docs" / "erm.md").read_text()
    scope = {}
    snippets = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert len(snippets) >= 4
    for code in snippets:
        exec(code, scope)
    assert len(snippets[0].strip().splitlines()) <= 10


class Nan:
    def value(self, y, score):
        return np.sqrt(score - y)

    def gradient(self, y, score):
        return score - y


class Short(Nan):
    def value(self, y, score):
        return np.sum(score - y)


class Half:
    def value(self, y, score):
        return 0.5 * (score - y) ** 2

    def gradient(self, y, score):
        return score - y


def test_custom_losses_work_and_their_errors_are_named():
    # without curvature it is descended by its gradient
    same(ERMRegressor(Half(), alpha=0.5 / N, tol=1e-10).fit(X, Y), lm.Ridge(alpha=1).fit(X, Y), 1e-5)
    with np.errstate(all="ignore"):
        with pytest.raises(ValueError, match=r"Nan\.value returned NaN, first at row") as caught:
            ERMRegressor(Nan()).fit(X, Y)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"Short.value returned an array of shape \(\) .* without summing"):
        ERMRegressor(Short()).fit(X, Y)
    bent = Half()
    bent.curvature = lambda y, score: np.ones(3)
    with pytest.raises(ValueError, match=r"Half.curvature returned an array of shape \(3,\)"):
        ERMRegressor(bent).fit(X, Y)
    bent.curvature = lambda y, score: np.where(np.arange(N) == 2, np.nan, 1.0)
    with pytest.raises(ValueError, match=r"Half.curvature returned NaN, first at row 2"):
        ERMRegressor(bent).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (ERMRegressor("nonsense"), Y, "'loss' parameter of ERMRegressor must be one of"),
        (ERMRegressor(object()), Y, "or an object with value"),
        (ERMRegressor(penalty="l3"), Y, "'penalty' parameter"),
        (ERMRegressor(solver="magic"), Y, "'solver' parameter"),
        (ERMRegressor(alpha=-1), Y, "'alpha' parameter"),
        (ERMRegressor("hinge"), Y, "use ERMClassifier"),
        (ERMClassifier("squared"), LABEL, "use ERMRegressor"),
        (ERMRegressor("poisson"), Y, r"y has values below 0, where Poisson\(\) is not defined"),
        (ERMClassifier("zero_one"), LABEL, "ZeroOne has no gradient"),
        (ERMClassifier(), np.ones(N), "only one class"),
    ],
)
def test_bad_settings_get_one_sentence(model, y, words):
    with pytest.raises(ValueError, match=words) as caught:
        model.fit(X, y)
    assert "\n" not in str(caught.value)


def test_stopping_short_reports_the_distance():
    with pytest.warns(ConvergenceWarning, match=r"stopped after 3 iterations .* raise max_iter above 3"):
        ERMRegressor(solver="gd", max_iter=3).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="ran away .* shorter step"):
        ERMRegressor(solver=GradientDescent(step=10.0)).fit(X, Y)


@pytest.mark.parametrize("loss", ["squared", "huber", "absolute"])
def test_degenerate_data(loss):
    flat = np.column_stack([X, X[:, 0], np.ones(N)])  # collinear and constant columns
    model = ERMRegressor(loss, alpha=0.01).fit(flat, Y)
    assert np.isfinite(model.coef_).all()
    assert np.abs(ERMRegressor(loss, alpha=0.01).fit(X, 0 * Y).coef_).max() < 1e-8
    wide = ERMRegressor(loss, alpha=0.01).fit(X[:4], Y[:4])
    assert np.isfinite(wide.coef_).all()
    huge = ERMRegressor(loss, alpha=1e-8).fit(X * 1e6, Y)
    assert np.isfinite(huge.predict(X * 1e6)).all()


def test_hinge_with_threshold_zero_is_the_perceptrons():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ERMClassifier(Hinge(0.0), alpha=0, solver="sgd").fit(X, LABEL)
    assert model.score(X, LABEL) > 0.6
