"""Classical gradient boosting against scikit-learn's, and where it goes beyond it."""

import numpy as np
import pytest
import sklearn.ensemble
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

from learnt.engine.threads import set_threads
from learnt.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from learnt.linear_model import LinearRegression, LogisticRegression
from learnt.tree import DecisionTreeRegressor


@pytest.fixture(autouse=True)
def _threads():
    yield
    set_threads(None)


SETTINGS = {
    "plain": {},
    "leaves": {"max_leaf_nodes": 6, "max_depth": None},
    "large leaves": {"min_samples_leaf": 0.05, "min_samples_split": 50},
    "weight": {"min_weight_fraction_leaf": 0.1},
    "decrease": {"min_impurity_decrease": 20.0},
    "pruned": {"ccp_alpha": 5.0},
    "zero": {"init": "zero", "learning_rate": 0.3},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_trees_as_scikit_learn(name):
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if name == "weight" else None
    settings = {"n_estimators": 15, "random_state": 0, **SETTINGS[name]}
    ours = GradientBoostingRegressor(**settings).fit(X, y, weights)
    theirs = sklearn.ensemble.GradientBoostingRegressor(**settings).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer], ids=["three", "two"])
def test_the_same_probabilities_as_scikit_learn(load):
    X, y = load(return_X_y=True)
    ours = GradientBoostingClassifier(n_estimators=15, random_state=0).fit(X, y)
    theirs = sklearn.ensemble.GradientBoostingClassifier(n_estimators=15, random_state=0).fit(X, y)
    # On the larger table two columns may part the rows alike: which of them is taken is a matter of chance there.
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8 if load is load_iris else 2e-3)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.apply(X).shape == theirs.apply(X).shape


def test_exponential_loss():
    X, y = load_breast_cancer(return_X_y=True)
    ours = GradientBoostingClassifier(loss="exponential", n_estimators=10).fit(X, y)
    theirs = sklearn.ensemble.GradientBoostingClassifier(loss="exponential", n_estimators=10, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)
    with pytest.raises(ValueError, match="binary classification"):
        GradientBoostingClassifier(loss="exponential").fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile"])
def test_other_losses_lower_their_metric(loss):
    X, y = load_diabetes(return_X_y=True)

    def scores(kind):
        settings = {"loss": loss, "alpha": 0.8, "n_estimators": 30}
        return np.array([kind(**settings, random_state=seed).fit(X, y).train_score_ for seed in range(5)])

    ours, theirs = scores(GradientBoostingRegressor), scores(sklearn.ensemble.GradientBoostingRegressor)
    np.testing.assert_allclose(ours[:, 0], theirs[:, 0], rtol=0.01)
    assert np.mean(ours[:, -1]) == pytest.approx(np.mean(theirs[:, -1]), rel=0.03)  # ties go other ways in each


def test_bins_where_rows_are_many():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 5))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.1 * rng.normal(size=3000)
    exact = GradientBoostingRegressor(splitter="exact", max_depth=4).fit(X[:2000], y[:2000])
    binned = GradientBoostingRegressor(splitter="binned", max_depth=4).fit(X[:2000], y[:2000])
    assert binned.score(X[2000:], y[2000:]) > exact.score(X[2000:], y[2000:]) - 0.02
    with pytest.raises(ValueError, match="splitter='exact'"):
        GradientBoostingRegressor(splitter="binned", ccp_alpha=0.1).fit(X, y)


def test_out_of_bag_rows_estimate_the_error():
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(subsample=0.5, n_estimators=40, random_state=0).fit(X, y)
    assert model.oob_improvement_.shape == model.oob_scores_.shape == (40,)
    assert model.oob_score_ == model.oob_scores_[-1]
    assert model.oob_improvement_[:5].mean() > 0
    np.testing.assert_allclose(np.diff(model.oob_scores_), -model.oob_improvement_[1:])
    whole = GradientBoostingRegressor(n_estimators=2).fit(X, y)
    assert len(whole.oob_scores_) == 0
    assert not hasattr(whole, "oob_score_")


def test_threads_and_seeds():
    X, y = load_diabetes(return_X_y=True)
    settings = {"subsample": 0.7, "max_features": "sqrt", "n_estimators": 15, "random_state": 4}
    set_threads(1)
    one = GradientBoostingRegressor(**settings).fit(X, y)
    set_threads(3)
    np.testing.assert_array_equal(one.predict(X), GradientBoostingRegressor(**settings).fit(X, y).predict(X))
    other = GradientBoostingRegressor(**{**settings, "random_state": 5}).fit(X, y)
    assert np.abs(one.predict(X) - other.predict(X)).max() > 0
    assert one.max_features_ == 3


def test_warm_start_is_one_long_fit():
    X, y = load_iris(return_X_y=True)
    settings = {"subsample": 0.8, "random_state": 1}
    short = GradientBoostingClassifier(n_estimators=4, warm_start=True, **settings).fit(X, y)
    short.set_params(n_estimators=9).fit(X, y)
    whole = GradientBoostingClassifier(n_estimators=9, **settings).fit(X, y)
    np.testing.assert_allclose(short.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_allclose(short.oob_improvement_, whole.oob_improvement_)
    with pytest.raises(ValueError, match="n_estimators=2 must be larger"):
        short.set_params(n_estimators=2).fit(X, y)


def test_stages_and_estimators():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=5, learning_rate=0.5).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == 5
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    np.testing.assert_array_equal(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))
    assert model.estimators_.shape == (5, 3)
    tree = model.estimators_[0, 1]
    assert isinstance(tree, DecisionTreeRegressor)
    assert tree.tree_.max_depth <= 3
    np.testing.assert_allclose(stages[1][:, 1] - stages[0][:, 1], 0.5 * model.estimators_[1, 1].predict(X), atol=1e-12)
    number = GradientBoostingRegressor(n_estimators=3).fit(X, y)
    np.testing.assert_array_equal(list(number.staged_predict(X))[-1], number.predict(X))
    assert number.apply(X).shape == (150, 3)


def test_early_stopping_and_monitor():
    X, y = load_diabetes(return_X_y=True)
    stopped = GradientBoostingRegressor(n_estimators=500, n_iter_no_change=5, random_state=0).fit(X, y)
    assert stopped.n_estimators_ < 500
    assert len(stopped.train_score_) == stopped.n_estimators_
    watched = GradientBoostingRegressor(n_estimators=50).fit(X, y, monitor=lambda i, model, _: i == 6)
    assert watched.n_estimators_ == 7
    assert watched.estimators_.shape == (7, 1)


def test_a_model_to_begin_with():
    X, y = load_diabetes(return_X_y=True)
    line = LinearRegression()
    model = GradientBoostingRegressor(init=line, n_estimators=1, learning_rate=1e-9).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-6)
    X, y = load_iris(return_X_y=True)
    first = LogisticRegression()
    model = GradientBoostingClassifier(init=first, n_estimators=1, learning_rate=1e-9).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), LogisticRegression().fit(X, y).predict_proba(X), atol=1e-5)
    with pytest.raises(ValueError, match="'init' parameter"):
        GradientBoostingRegressor(init="nothing").fit(X, y)


def test_sparse_rows_and_missing_values():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 6)) * (rng.random((300, 6)) < 0.4)
    y = X[:, 0] + X[:, 1] ** 2
    dense = GradientBoostingRegressor(n_estimators=10).fit(X, y)
    for form in (sparse.csr_array, sparse.csc_matrix):
        thin = GradientBoostingRegressor(n_estimators=10).fit(form(X), y)
        np.testing.assert_allclose(thin.predict(form(X)), dense.predict(X))
    X[::3, 0] = np.nan
    holes = GradientBoostingRegressor(n_estimators=30).fit(X, y)
    assert holes.score(X, y) > 0.5


def test_refusals():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="1 class"):
        GradientBoostingClassifier().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="1 class"):
        GradientBoostingClassifier().fit(X, y, (y == 0).astype(float))
    with pytest.raises(NotFittedError):
        next(GradientBoostingClassifier().staged_predict_proba(X))
    for settings in (
        {"max_depth": 0},
        {"n_estimators": 0},
        {"max_features": 0},
        {"splitter": "best"},
        {"subsample": 0},
    ):
        with pytest.raises(ValueError, match=next(iter(settings))) as caught:
            GradientBoostingRegressor(**settings).fit(X, y)
        assert "\n" not in str(caught.value)


def test_a_class_as_init_and_the_deprecated_criterion():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="'init' parameter of GradientBoostingRegressor must be"):
        GradientBoostingRegressor(init=GradientBoostingRegressor).fit(X, y)
    with pytest.warns(FutureWarning, match="'criterion' parameter of GradientBoostingRegressor has no effect"):
        GradientBoostingRegressor(criterion="squared_error", n_estimators=2).fit(X, y)


@pytest.mark.parametrize("splitter", ["exact", "binned"])
def test_contributions_of_stumps_are_their_values_less_the_mean(splitter):
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(n_estimators=20, max_depth=1, splitter=splitter).fit(X, y)
    parts = model.contributions(X)
    expected = np.zeros_like(parts)
    expected[:, -1] = y.mean()
    for tree in model.estimators_.ravel():
        said = model.learning_rate * tree.predict(X)
        expected[:, tree.tree_.feature[0]] += said - said.mean()
        expected[:, -1] += said.mean()
    np.testing.assert_allclose(parts, expected, atol=1e-6)


def test_contributions_add_up_to_the_score():
    X, y = load_iris(return_X_y=True)
    three = GradientBoostingClassifier(n_estimators=5).fit(X, y)
    parts = three.contributions(sparse.csr_array(X))
    assert parts.shape == (150, 3, 5)
    np.testing.assert_allclose(parts.sum(axis=2), three.decision_function(X), atol=1e-6)
    begun = GradientBoostingRegressor(n_estimators=5, init=LinearRegression()).fit(X, y)
    np.testing.assert_allclose(begun.contributions(X[:7]).sum(axis=1), begun.predict(X[:7]), atol=1e-6)
    with pytest.raises(NotFittedError):
        GradientBoostingRegressor().contributions(X)
