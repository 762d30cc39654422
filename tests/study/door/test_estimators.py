"""StudyClassifier and StudyRegressor: a study as an estimator of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

import learnt
from learnt.model_selection import cross_val_score
from learnt.study import StudyClassifier, StudyError, StudyRegressor
from learnt.study._errors import TooFewRows
from learnt.study.race._candidates import candidates_for

ENOUGH = "10m"  # the clock must not decide in a test
QUICKEST = ("constant", "naive Bayes", "ridge regression")
QUICK = (  # they fit few rows, or none
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_estimators_nan_inf",
    "check_estimator_tags_renamed",
    "check_fit2d_1sample",
    "check_complex_data",
    "check_fit1d",
    "check_mixin_order",
    "check_estimators_unfitted",
    "check_requires_y_none",
    "check_n_features_in_after_fitting",
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    town = rng.choice(["Oslo", "Rome"], 200)
    frame = pd.DataFrame({"x": x, "town": town, "when": pd.date_range("2024-01-01", periods=200)})
    return frame, x + (town == "Oslo") + 0.3 * rng.normal(size=200)


@pytest.fixture(scope="module")
def classifier(table):
    X, amount = table
    return StudyClassifier(budget=ENOUGH).fit(X, np.where(amount > 0.5, "late", "on time"))


def test_a_classifier_learns_from_a_data_frame(table, classifier):
    X, amount = table
    assert classifier.classes_.tolist() == ["late", "on time"]
    assert classifier.feature_names_in_.tolist() == X.columns.tolist()
    assert classifier.n_features_in_ == 3
    assert classifier.score(X, np.where(amount > 0.5, "late", "on time")) > 0.85
    proba = classifier.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (classifier.classes_[proba.argmax(axis=1)] == classifier.predict(X)).all()
    assert classifier.study_.facts["classes"] == ["late", "on time"]
    np.testing.assert_array_equal(classifier.predict_proba(pl.from_pandas(X)), proba)


def test_it_is_cloned_and_pickled(table, classifier):
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict(table[0]), classifier.predict(table[0]))
    fresh = clone(classifier)
    assert fresh.budget == ENOUGH
    assert not hasattr(fresh, "study_")


@pytest.mark.long
def test_a_regressor_is_cross_validated(table):
    X, amount = table
    scores = cross_val_score(StudyRegressor(budget=ENOUGH), X, amount, cv=2)
    assert (scores > 0.5).all()


def test_labels_of_every_kind_come_back_as_they_were():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2))
    high = X[:, 0] > 0
    for low_label, high_label in ((False, True), (3, 7), (" a", "b "), ("NA", "x")):
        y = np.where(high, high_label, low_label)
        with pytest.warns(UserWarning, match="Too few rows for a study"):
            few = StudyClassifier().fit(X[:20], y[:20])  # the plain model knows them too
        assert set(few.predict(X)) <= {low_label, high_label}


@pytest.mark.long
def test_labels_that_look_like_missing_cells_are_labels():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2))
    high = X[:, 0] > 0
    mixed = StudyClassifier(budget=ENOUGH, random_state=None).fit(X, np.where(high, "NA", " b"))
    assert set(mixed.predict(X)) == {"NA", " b"}
    assert np.mean(mixed.predict(X) == np.where(high, "NA", " b")) > 0.9


@pytest.mark.long
def test_a_class_too_rare_to_be_learnt_has_probability_zero():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 2)), np.repeat([0, 1], 40)
    X[:, 0] += 3 * y
    y[:2] = 9
    found = StudyClassifier(budget=ENOUGH).fit(X, y)
    assert found.classes_.tolist() == [0, 1, 9]
    assert (found.predict_proba(X)[:, 2] == 0).all()


def test_few_rows_get_a_plain_model_and_a_warning():
    X = np.arange(20.0).reshape(-1, 1) + np.array([0.1])
    with pytest.warns(UserWarning, match=r"Too few rows for a study .20 of at least 30"):
        found = StudyRegressor().fit(X, 3 * X[:, 0])
    assert found.study_ is None
    assert found.score(X, 3 * X[:, 0]) > 0.9
    wide = np.repeat(X, 3, axis=0)
    with pytest.warns(UserWarning, match="one value"):
        constant = StudyRegressor().fit(wide, np.full(60, 7.0))
    np.testing.assert_allclose(constant.predict(X), 7)


def test_rows_that_cannot_be_split_get_a_plain_model_too(monkeypatch):
    def refuse(*given, **options):
        raise TooFewRows("3 test and 27 other rows are left after the split; too few to judge.")

    monkeypatch.setattr("learnt.study.door._estimators.study", refuse)
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(UserWarning, match="3 test and 27 other rows"):
        found = StudyClassifier().fit(X, X[:, 0] > 0)
    assert found.study_ is None
    assert found.score(X, X[:, 0] > 0) > 0.8


def test_what_a_study_has_not_is_refused_in_a_sentence(table):
    X, amount = table
    with pytest.raises(ValueError, match="a study has no sample_weight; leave it out"):
        StudyRegressor().fit(X, amount, sample_weight=np.ones(200))
    with pytest.raises(ValueError, match="at least 2 classes"):
        StudyClassifier().fit(X, np.zeros(200, dtype=int))
    with pytest.raises(StudyError, match="more than 0 seconds"):
        StudyRegressor(budget=0).fit(X, amount)
    assert learnt.StudyClassifier is StudyClassifier
    assert learnt.StudyRegressor is StudyRegressor


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", [StudyClassifier, StudyRegressor])
def test_some_of_scikit_learns_checks(kind):
    done = set()
    for estimator, check in estimator_checks_generator(kind(budget=ENOUGH)):
        name = getattr(check, "func", check).__name__
        if name in QUICK:
            check(estimator)
            done.add(name)
    assert len(done) >= 8


@pytest.fixture
def few_race(monkeypatch):
    """Studies of the models that take least: the checks are of the estimator around them."""
    from learnt.study import _run
    from learnt.study.race import _race

    def few(*arguments, **options):
        return [c for c in candidates_for(*arguments, **options) if c.family.name in QUICKEST]

    for module in (_run, _race):
        monkeypatch.setattr(module, "candidates_for", few)


@pytest.mark.long
@pytest.mark.usefixtures("few_race")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [StudyClassifier, StudyRegressor])
def test_all_of_scikit_learns_checks(kind):
    checked = check_estimator(kind(budget=ENOUGH, n_jobs=1), on_skip=None)
    assert sum(result["status"] == "passed" for result in checked) > 40
