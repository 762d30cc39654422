"""Boosting in function space: gradient boosting where the learner is a tree, descent for any learner and loss."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as peer
import sklearn.tree

from learnt.ensemble import FunctionalGradientBoosting, GradientBoostingClassifier, GradientBoostingRegressor
from learnt.erm import losses
from learnt.linear_model import LinearRegression, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.tree import DecisionTreeRegressor


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, np.sin(X[:, 0]) * 2 + X[:, 1] ** 2 + 0.3 * rng.normal(size=300), rng.random(300) + 0.1


@pytest.mark.parametrize("tree", [DecisionTreeRegressor, sklearn.tree.DecisionTreeRegressor], ids=["ours", "theirs"])
@pytest.mark.parametrize("weighted", [False, True])
def test_with_trees_it_is_gradient_boosting(table, tree, weighted):
    X, y, w = table
    w = w if weighted else None
    ours = FunctionalGradientBoosting(tree(max_depth=3), n_estimators=20, random_state=0).fit(X, y, w)
    theirs = peer.GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y, w)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7, atol=1e-9)
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-7, atol=1e-9)


def test_our_own_gradient_boosting_is_the_same(table):
    X, y, _ = table
    ours = FunctionalGradientBoosting(n_estimators=20, random_state=0).fit(X, y)
    boosted = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), boosted.predict(X), rtol=1e-5, atol=1e-7)
    labels = y > 1.0
    sides = FunctionalGradientBoosting(loss="log", n_estimators=10, random_state=0).fit(X, labels)
    classes = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, labels)
    np.testing.assert_allclose(sides.predict_proba(X), classes.predict_proba(X), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("loss", ["log", "exponential", "many"])
def test_classes_are_those_of_gradient_boosting(table, loss):
    X, y, w = table
    labels = np.array(["ant", "bee", "cat"])[np.digitize(y, [0.5, 1.5] if loss == "many" else [1.0])]
    name = "log" if loss == "many" else loss
    ours = FunctionalGradientBoosting(loss=name, n_estimators=15, random_state=0).fit(X, labels, w)
    theirs = peer.GradientBoostingClassifier(
        loss="exponential" if loss == "exponential" else "log_loss",
        n_estimators=15,
        random_state=0,
    ).fit(X, labels, w)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, labels) == theirs.score(X, labels)


ANY = [
    losses.Squared(), losses.Absolute(), losses.Huber(0.5), losses.LogCosh(), losses.Quantile(0.8),
    losses.EpsilonInsensitive(0.2), losses.SquaredEpsilonInsensitive(0.2), losses.Poisson(), losses.Gamma(),
    losses.Tweedie(1.5), losses.Log(), losses.Hinge(), losses.SquaredHinge(), losses.Exponential(),
    losses.ModifiedHuber(), losses.Softmax(),
]  # fmt: skip


@pytest.mark.parametrize("loss", ANY, ids=repr)
@pytest.mark.parametrize("learner", [Ridge(), DecisionTreeRegressor(max_depth=2)], ids=["line", "tree"])
@pytest.mark.sweep
def test_any_loss_falls_with_any_learner(table, loss, learner):
    X, y, _ = table
    y = np.exp(y / 3) if loss.target == "number" else np.digitize(y, [0.3, 1.5] if loss.target == "class" else [1.0])
    model = FunctionalGradientBoosting(learner, loss, n_estimators=12, learning_rate=0.3, random_state=0).fit(X, y)
    scores = np.tile(model.init_, (len(y), 1))
    targets = y if loss.target != "sign" else np.where(y == 1, 1.0, -1.0)
    start = np.mean(loss.value(targets, scores if loss.target == "class" else scores[:, 0]))
    assert model.train_score_[-1] < start
    if learner.__class__ is Ridge:  # a line search never goes up
        assert (np.diff(model.train_score_, prepend=start) <= 1e-9 * start).all()


def test_the_start_is_the_best_constant(table):
    _, y, w = table
    X = np.zeros((300, 1))
    for loss in ANY[:10]:
        target = np.exp(y / 3)
        model = FunctionalGradientBoosting(loss=loss, n_estimators=1).fit(X, target, w)

        def mean(c, loss=loss, target=target):
            return np.average(loss.value(target, np.full(300, c)), weights=w)

        for shift in (-1e-3, 1e-3):
            assert mean(model.init_[0]) <= mean(model.init_[0] + shift) + 1e-12


def test_lines_reach_least_squares_and_least_deviation(table):
    X, y, _ = table
    model = FunctionalGradientBoosting(LinearRegression(), "squared", n_estimators=1, learning_rate=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-9)
    assert model.steps_[0] == pytest.approx(0.5)  # the slope of (s − y)² is twice the residual


def test_a_custom_loss(table):
    class Half:
        def value(self, y, score):
            return (y - score) ** 2 / 2

        def gradient(self, y, score):
            return score - y

    X, y, _ = table
    own = FunctionalGradientBoosting(Ridge(), Half(), n_estimators=5).fit(X, y)
    squared = FunctionalGradientBoosting(Ridge(), "squared", n_estimators=5).fit(X, y)
    np.testing.assert_allclose(own.predict(X), squared.predict(X), atol=1e-5)


def test_early_stopping_and_subsampling(table):
    X, y, _ = table
    model = FunctionalGradientBoosting(n_estimators=500, n_iter_no_change=5, subsample=0.5, random_state=0).fit(X, y)
    assert model.n_estimators_ < 500
    assert len(model.validation_score_) == len(model.train_score_) == len(model.steps_) == model.n_estimators_
    again = FunctionalGradientBoosting(n_estimators=500, n_iter_no_change=5, subsample=0.5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


def test_what_it_is_depends_on_the_loss(table):
    from sklearn.base import is_classifier, is_regressor

    assert is_regressor(FunctionalGradientBoosting())
    assert is_classifier(FunctionalGradientBoosting(loss="log"))
    assert not hasattr(FunctionalGradientBoosting(), "decision_function")
    assert not hasattr(FunctionalGradientBoosting(loss="hinge"), "predict_proba")


def test_refusals_are_one_sentence(table):
    X, y, _ = table
    three = np.digitize(y, [0.0, 1.0])
    for model, target, words in [
        (FunctionalGradientBoosting(loss="cubic"), y, "'loss' parameter"),
        (FunctionalGradientBoosting(GaussianNB()), y, "must be a regressor"),
        (FunctionalGradientBoosting(loss="hinge"), three, "tells two apart"),
        (FunctionalGradientBoosting(loss="log"), np.zeros(300, int), "one class"),
        (FunctionalGradientBoosting(loss="poisson"), y, "needs values"),
        (FunctionalGradientBoosting(step="long"), y, "'step' parameter"),
    ]:
        with pytest.raises(ValueError, match=words) as caught:
            model.fit(X, target)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("loss", ["squared", pytest.param("log", marks=pytest.mark.long)])
def test_a_learner_that_takes_text_gets_the_table_as_it_is(loss):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=200), "town": rng.choice(["Rome", "Oslo", "Bern"], 200)})
    y = X["size"] + 3 * (X["town"] == "Rome")
    if loss == "log":
        y = np.where(y > 1, "much", "little")
    model = FunctionalGradientBoosting(
        DecisionTreeRegressor(max_depth=2), loss=loss, subsample=0.8, n_iter_no_change=3, random_state=0
    ).fit(X, y, sample_weight=np.r_[0.0, np.ones(199)])
    assert model.score(X, y) > 0.9
    assert model.feature_names_in_.tolist() == ["size", "town"]
    with pytest.raises(ValueError, match="column 'town' of X holds String, and Ridge needs numbers"):
        FunctionalGradientBoosting(Ridge(), loss=loss).fit(X, y)
