"""Bagging: scikit-learn's draws and answers; out-of-bag error is test error; the spread of the members."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as peer
import sklearn.tree
from scipy import sparse
from sklearn.pipeline import make_pipeline

from learnt.ensemble import BaggingClassifier, BaggingRegressor
from learnt.linear_model import LinearRegression, LogisticRegression, Perceptron
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier
from learnt.preprocessing import TableEncoder
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    return X, np.array(["ant", "bee", "cat"])[np.digitize(score, [0.4, 1.5])], score


SETTINGS = {
    "bagging": {},
    "pasting": {"bootstrap": False, "max_samples": 0.6},
    "columns": {"max_features": 3},
    "columns twice": {"max_features": 0.8, "bootstrap_features": True, "max_samples": 90},
}


@pytest.mark.parametrize(
    ("case", "weighted"),
    # A share of the weight would be more rows than there are to be drawn without repetition.
    [(case, weighted) for case in SETTINGS for weighted in (False, True) if (case, weighted) != ("pasting", True)],
)
@pytest.mark.parametrize("base", [GaussianNB(), KNeighborsClassifier(3), Perceptron(random_state=0)], ids=repr)
@pytest.mark.filterwarnings("ignore:When fitting")
def test_the_members_are_scikit_learns(case, base, weighted):
    X, y, _ = table()
    w = np.random.default_rng(1).integers(1, 4, size=200) * 1.0 if weighted else None
    settings = {"n_estimators": 7, "random_state": 3, **SETTINGS[case]}
    ours, theirs = (
        BaggingClassifier(base, **settings).fit(X, y, w),
        peer.BaggingClassifier(base, **settings).fit(X, y, w),
    )
    for mine, other in zip(ours.estimators_samples_, theirs.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, other)
    for mine, other in zip(ours.estimators_features_, theirs.estimators_features_, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert hasattr(ours, "decision_function") == hasattr(theirs, "decision_function")
    if hasattr(ours, "decision_function"):
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:Some inputs")
def test_bagged_trees_and_their_out_of_bag_scores():
    X, y, score = table()
    ours = BaggingClassifier(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    theirs = peer.BaggingClassifier(
        sklearn.tree.DecisionTreeClassifier(), n_estimators=40, oob_score=True, random_state=0
    ).fit(X, y)
    assert ours.oob_decision_function_.shape == (200, 3)
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.1
    assert isinstance(ours.estimators_[0], DecisionTreeClassifier)
    rows = BaggingRegressor(LinearRegression(), 15, oob_score=True, random_state=0).fit(X, score)
    same = peer.BaggingRegressor(LinearRegression(), 15, oob_score=True, random_state=0).fit(X, score)
    np.testing.assert_allclose(rows.oob_prediction_, same.oob_prediction_, rtol=1e-9)
    assert rows.oob_score_ == pytest.approx(same.oob_score_)


def test_the_out_of_bag_score_is_what_was_left_out():
    """By hand: the members that did not draw a row."""
    X, y, _ = table(n=80)
    model = BaggingClassifier(GaussianNB(), 25, oob_score=True, random_state=0).fit(X, y)
    for i in (0, 7, 33):
        others = [m for m, rows in zip(model.estimators_, model.estimators_samples_, strict=True) if i not in rows]
        expected = np.mean([m.predict_proba(X[i : i + 1])[0] for m in others], axis=0)
        np.testing.assert_allclose(model.oob_decision_function_[i], expected)
    assert model.oob_score_ == np.mean(model.classes_[model.oob_decision_function_.argmax(axis=1)] == y)


def test_out_of_bag_error_is_test_error():
    """Over seeds, on data neither has seen."""
    X, y, score = table(n=1200)
    gaps = []
    for seed in range(5):
        model = BaggingClassifier(n_estimators=40, oob_score=True, random_state=seed).fit(X[:300], y[:300])
        gaps.append(model.oob_score_ - model.score(X[300:], y[300:]))
    assert abs(np.mean(gaps)) < 0.04
    numbers = BaggingRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X[:300], score[:300])
    assert abs(numbers.oob_score_ - numbers.score(X[300:], score[300:])) < 0.08


def test_bagging_is_better_than_one_tree():
    X, _, score = table(n=600)
    one = DecisionTreeRegressor(random_state=0).fit(X[:300], score[:300]).score(X[300:], score[300:])
    many = BaggingRegressor(n_estimators=50, random_state=0).fit(X[:300], score[:300]).score(X[300:], score[300:])
    assert many > one + 0.05


def test_the_spread_is_the_deviation_of_the_members():
    X, y, score = table()
    model = BaggingRegressor(n_estimators=9, random_state=0).fit(X, score)
    answers = [member.predict(X) for member in model]
    np.testing.assert_allclose(model.spread(X), np.std(answers, axis=0))
    mean, spread = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, np.mean(answers, axis=0))
    np.testing.assert_allclose(spread, model.spread(X))
    far = BaggingRegressor(LinearRegression(), 30, random_state=0).fit(X, score)
    assert (far.spread(X * 10) > far.spread(X)).mean() > 0.95
    votes = BaggingClassifier(GaussianNB(), 9, random_state=0).fit(X, y)
    assert votes.spread(X).shape == (200, 3)


def test_warm_start_adds_members():
    X, y, _ = table()
    grown = BaggingClassifier(GaussianNB(), 4, warm_start=True, random_state=5).fit(X, y)
    grown.set_params(n_estimators=9).fit(X, y)
    once = BaggingClassifier(GaussianNB(), 9, random_state=5).fit(X, y)
    np.testing.assert_array_equal(grown.predict_proba(X), once.predict_proba(X))
    for mine, other in zip(grown.estimators_samples_, once.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, other)
    with pytest.warns(UserWarning, match="without increasing"):
        grown.fit(X, y)
    with pytest.raises(ValueError, match="larger or equal"):
        grown.set_params(n_estimators=3).fit(X, y)


def test_missing_cells_frames_and_sparse_rows():
    X, y, _ = table()
    X[::7, 1] = np.nan
    model = BaggingClassifier(n_estimators=5, random_state=0).fit(pd.DataFrame(X, columns=list("abcde")), y)
    assert list(model.feature_names_in_) == list("abcde")
    assert np.isfinite(model.predict_proba(pd.DataFrame(X, columns=list("abcde")))).all()
    with pytest.raises(ValueError, match="NaN"):
        BaggingClassifier(GaussianNB()).fit(X, y)
    X = np.where(np.isnan(X) | (np.abs(X) < 0.5), 0.0, X)
    dense = BaggingClassifier(LogisticRegression(tol=1e-8), 3, random_state=0).fit(X, y)
    thin = BaggingClassifier(LogisticRegression(tol=1e-8), 3, random_state=0).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.predict_proba(X), dense.predict_proba(X), atol=1e-4)


def test_a_sample_of_one_class_is_answered_by_that_class():
    X, y = np.arange(8.0).reshape(-1, 1), np.array([0] * 7 + [1])
    model = BaggingClassifier(LogisticRegression(), 20, random_state=0).fit(X, y)
    alone = [m for m in model if len(m.classes_) == 1 and m.classes_[0] == 0]
    assert 3 < len(alone) < 15  # (7/8)^8 = 0.34 of them
    assert model.predict([[0.0]]).tolist() == [0]
    with pytest.raises(ValueError, match="one class"):
        LogisticRegression().fit(X[:7], y[:7])
    with pytest.raises(ValueError, match="NaN"):
        BaggingClassifier(LogisticRegression()).fit(X * np.nan, y)


@pytest.mark.long
def test_several_targets():
    X, _, score = table()
    both = BaggingRegressor(n_estimators=5, random_state=0, oob_score=False).fit(X, np.c_[score, -score])
    np.testing.assert_allclose(both.predict(X)[:, 0], -both.predict(X)[:, 1])


def test_refusals_are_one_sentence():
    X, y, _ = table(n=50)
    for settings, words in [
        ({"max_samples": 60, "bootstrap": False}, "max_samples=60 must be <= n_samples=50"),
        ({"max_features": 6}, "max_features must be <= n_features"),
        ({"max_samples": 1.5}, "'max_samples' parameter"),
        ({"max_features": 0}, "'max_features' parameter"),
        ({"oob_score": True, "bootstrap": False}, "only available if bootstrap=True"),
        ({"oob_score": True, "warm_start": True}, "only available if warm_start=False"),
        ({"estimator": 7}, "'estimator' parameter"),
    ]:
        with pytest.raises(ValueError, match=words) as caught:
            BaggingClassifier(**settings).fit(X, y)
        assert "\n" not in str(caught.value)
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        model = BaggingClassifier(GaussianNB(), 1, oob_score=True, random_state=0).fit(X, y)
    assert np.isnan(model.oob_decision_function_).any()


def mixed_table(n=160):
    rng = np.random.default_rng(3)
    colour = rng.choice(["red", "green", "blue"], n).astype(object)
    y = np.where(colour == "green", "yes", "no")
    colour[::13] = None
    return pd.DataFrame({"colour": colour, "size": rng.normal(size=n), "old": rng.random(n) < 0.5}), y


@pytest.mark.parametrize("kind", ["pandas", "polars", "objects"])
def test_members_get_tables_with_text_as_they_are(kind):
    X, y = mixed_table()
    if kind == "polars":
        X = pytest.importorskip("polars").from_pandas(X)
    elif kind == "objects":
        X = X.to_numpy()
    pipeline = make_pipeline(TableEncoder(), LogisticRegression())
    model = BaggingClassifier(pipeline, 8, max_samples=0.7, oob_score=True, random_state=0).fit(X, y)
    assert model.n_features_in_ == 3
    assert model.score(X, y) > 0.9
    assert model.oob_score_ > 0.85
    some = BaggingClassifier(pipeline, 12, max_features=2, random_state=0).fit(X, y)
    assert {len(columns) for columns in some.estimators_features_} == {2}
    assert some.score(X, y) > 0.8


def test_trees_of_a_table_with_text_split_its_categories():
    X, y = mixed_table()
    model = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    numbers = BaggingRegressor(n_estimators=5, random_state=0).fit(X, (y == "yes") * 3.0)
    assert np.allclose(numbers.predict(X[:5]), 3.0 * (y[:5] == "yes"), atol=1.0)


def test_a_member_that_needs_numbers_names_the_column_without_any():
    X, y = mixed_table()
    with pytest.raises(ValueError, match="column 'colour' of X holds"):
        BaggingClassifier(LogisticRegression(), 3).fit(X, y)
