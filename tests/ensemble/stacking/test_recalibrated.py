"""Probabilities bent by a given map: the formula, its neutral element, weights, refusals, raw tables, model files."""

import numpy as np
import polars as pl
import pytest
from scipy.special import softmax
from sklearn.pipeline import make_pipeline

import learnt
from learnt.ensemble import RecalibratedClassifier, VotingClassifier, recalibrate
from learnt.linear_model import LogisticRegression, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.persistence import LearntFileError
from learnt.persistence._files import load_bytes, to_bytes
from learnt.preprocessing import StandardScaler, TableEncoder


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=90), [-0.4, 0.4])]


def test_the_formula_is_a_softmax_of_scaled_logarithms(rows):
    X, y = rows
    p = GaussianNB().fit(X, y).predict_proba(X)
    offsets = [0.3, 0.0, -0.3]
    model = RecalibratedClassifier(GaussianNB(), exponent=0.6, floor=1e-3, offsets=offsets).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), softmax(0.6 * np.log(p + 1e-3) + offsets, axis=1), rtol=1e-12)
    assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all()
    model.set_params(exponent=1.0, floor=0.0, offsets=None, doubt=0.03)
    np.testing.assert_allclose(model.predict_proba(X), 0.97 * p + 0.01, rtol=1e-12)


def test_without_a_map_nothing_changes_and_zeros_stay(rows):
    X, y = rows
    plain = GaussianNB().fit(X, y)
    same = RecalibratedClassifier(GaussianNB()).fit(X, y)
    np.testing.assert_allclose(same.predict_proba(X), plain.predict_proba(X), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(recalibrate(np.array([[0.0, 1.0]])), [[0.0, 1.0]])
    assert recalibrate(np.array([[0.0, 1.0]]), floor=0.01)[0, 0] == pytest.approx(0.01 / 1.02)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"exponent": 0.0}, "exponent"),
        ({"exponent": np.nan}, "exponent"),
        ({"floor": -0.1}, "floor"),
        ({"doubt": 1.0}, "doubt"),
        ({"doubt": None}, "doubt"),
        ({"offsets": [0.0, 1.0]}, "2 numbers for 3 classes"),
        ({"offsets": [0.0, np.inf, 0.0]}, "offsets"),
        ({"estimator": Ridge()}, "predict_proba"),
    ],
)
def test_a_map_that_is_none_is_refused(rows, settings, words):
    X, y = rows
    with pytest.raises(ValueError, match=words):
        RecalibratedClassifier(**{"estimator": GaussianNB(), **settings}).fit(
            X, X[:, 0] if "estimator" in settings else y
        )


def blend():
    """What a study saves: calibrated pipelines over raw tables, averaged with weights, calibrated again."""
    linear = make_pipeline(TableEncoder(numeric="squash"), StandardScaler(), LogisticRegression())
    bayes = make_pipeline(TableEncoder(), RecalibratedClassifier(GaussianNB(), exponent=0.5, floor=1e-3))
    vote = VotingClassifier([("linear", linear), ("bayes", bayes)], voting="soft", weights=[0.7, 0.3])
    return RecalibratedClassifier(vote, exponent=1.2, offsets=[0.1, 0.0, -0.1])


def test_a_blend_of_raw_tables_is_one_file_with_the_same_predictions(rows, tmp_path):
    X, y = rows
    table = pl.DataFrame({"x": X[:, 0], "town": np.where(X[:, 1] > 0, "Rome", "Oslo"), "z": X[:, 2]})
    model = blend().fit(table, y)
    assert list(model.feature_names_in_) == ["x", "town", "z"]
    learnt.save(model, tmp_path / "blend.learnt")
    again = learnt.load(tmp_path / "blend.learnt")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert (again.predict(table) == model.predict(table)).all()
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1.0)


def test_a_file_whose_parts_do_not_fit_is_refused(rows):
    X, y = rows
    for spoil, words in (
        (lambda m: setattr(m, "classes_", np.array(["a", "b"])), "other classes"),
        (lambda m: setattr(m, "classes_", np.array(["a", "c", "b"])), "classes"),
        (lambda m: setattr(m, "offsets", [1.0]), "offsets"),
        (lambda m: setattr(m, "exponent", -1.0), "exponent"),
        (lambda m: setattr(m.estimator_, "classes_", np.array(["a", "b", "d"])), "other classes"),
    ):
        model = RecalibratedClassifier(GaussianNB()).fit(X, y)
        assert load_bytes(to_bytes(model)) is not None
        spoil(model)
        with pytest.raises((LearntFileError, ValueError), match=words):
            to_bytes(model)
    vote = VotingClassifier([("a", GaussianNB()), ("b", GaussianNB())], voting="soft").fit(X, y)
    vote.estimators_[0] = GaussianNB().fit(X[:50], (X[:50, 0] > 0).astype(int))
    with pytest.raises((LearntFileError, ValueError), match="other classes"):
        to_bytes(vote)
