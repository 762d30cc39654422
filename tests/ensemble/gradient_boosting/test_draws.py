"""Classical gradient boosting draws rows and columns as scikit-learn does, and its members tell how they were grown."""

import numpy as np
import pytest
from sklearn import ensemble as theirs
from sklearn.datasets import make_classification, make_regression

import learnt
from learnt import ensemble as ours
from learnt.ensemble.gradient_boosting._rows import rows_in_bag

NAMES = ["GradientBoostingClassifier", "GradientBoostingRegressor"]


def _data(name):
    if name.endswith("Classifier"):
        return make_classification(n_samples=400, n_features=12, n_informative=6, n_classes=3, random_state=0)
    return make_regression(n_samples=400, n_features=12, noise=5.0, random_state=0)


def _stages(model, X, n=4):
    """The scores of the first iterations: later on small nodes are parted alike by several columns."""
    stages = model.staged_decision_function if hasattr(model, "decision_function") else model.staged_predict
    return [scores for scores, _ in zip(stages(X), range(n), strict=False)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "settings",
    [{"max_features": 3}, {"subsample": 0.5, "max_depth": 1}, {"subsample": 0.7, "max_features": 4, "max_depth": 1}],
)
@pytest.mark.parametrize("seed", [0, np.random.RandomState(7)], ids=["number", "state"])
@pytest.mark.sweep
def test_the_same_seed_draws_as_scikit_learn(name, settings, seed):
    X, y = _data(name)
    states = [seed, seed] if isinstance(seed, int) else [np.random.RandomState(7), np.random.RandomState(7)]
    a, b = (
        getattr(room, name)(n_estimators=20, random_state=state, **settings).fit(X, y)
        for room, state in zip((theirs, ours), states, strict=True)
    )
    np.testing.assert_allclose(_stages(b, X), _stages(a, X), rtol=1e-8, atol=1e-8)
    if "subsample" in settings:
        np.testing.assert_allclose(b.oob_improvement_[:4], a.oob_improvement_[:4], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_early_stopping_holds_out_scikit_learns_rows(name):
    X, y = _data(name)
    a, b = (
        getattr(room, name)(n_estimators=200, n_iter_no_change=3, random_state=5).fit(X, y) for room in (theirs, ours)
    )
    assert b.n_estimators_ == a.n_estimators_
    np.testing.assert_allclose(b.train_score_[:4], a.train_score_[:4])


def test_every_set_of_rows_is_as_likely():
    random = np.random.RandomState(0)
    drawn = np.array([rows_in_bag(random, 5, 2) for _ in range(4000)])
    assert (drawn.sum(axis=1) == 2).all()
    sets, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(sets) == 10
    assert np.abs(counts - 400).max() < 80  # four standard deviations


@pytest.mark.parametrize("name", NAMES)
def test_members_keep_what_they_were_grown_with(name, tmp_path):
    X, y = _data(name)
    model = getattr(ours, name)(n_estimators=4, max_depth=1, learning_rate=0.5, warm_start=True).fit(X, y)
    first = model.estimators_[0, 0].predict(X)
    model.set_params(n_estimators=6, max_depth=2, learning_rate=0.1)
    np.testing.assert_array_equal(model.estimators_[0, 0].predict(X), first)
    model.fit(X, y)
    assert [tree.max_depth for tree in model.estimators_[:, 0]] == [1, 1, 1, 1, 2, 2]
    learnt.save(model, tmp_path / "model.learnt")
    again = learnt.load(tmp_path / "model.learnt")
    np.testing.assert_array_equal(again.estimators_[0, 0].predict(X), first)
    np.testing.assert_array_equal(
        again.set_params(n_estimators=8).fit(X, y).predict(X), model.set_params(n_estimators=8).fit(X, y).predict(X)
    )


def test_an_init_that_is_no_model_is_refused_with_scikit_learns_message():
    words = r"must be a str among \{'zero'\}, None or an object implementing 'fit' and 'predict_proba'\."
    with pytest.raises(ValueError, match=words):
        ours.GradientBoostingClassifier(init=ours.GradientBoostingRegressor).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_a_sequence_of_its_members(name):
    X, y = _data(name)
    model = getattr(ours, name)(n_estimators=3, random_state=0).fit(X, y)
    assert len(model) == 3
    assert [row.shape for row in model] == [model[0].shape] * 3
    np.testing.assert_array_equal(model[-1][0].predict(X), model.estimators_[2, 0].predict(X))
