"""Histogram boosting beside scikit-learn's: the same rows held out, steps that stay finite, names in order."""

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble as theirs
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import train_test_split

from learnt import ensemble as ours


@pytest.mark.parametrize("name", ["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"])
@pytest.mark.parametrize("random_state", [0, 42])
def test_the_same_seed_holds_out_scikit_learns_rows(name, random_state):
    classes = name.endswith("Classifier")
    X, y = (make_classification if classes else make_regression)(n_samples=300, random_state=3)
    settings = {"early_stopping": True, "validation_fraction": 0.4, "random_state": random_state, "max_iter": 30}
    held_out = getattr(ours, name)(**settings).fit(X, y)
    seed = np.random.RandomState(random_state).randint(np.iinfo(np.uint32).max, dtype="u8")
    train, rest, y_train, y_rest = train_test_split(
        X, y, test_size=0.4, stratify=y if classes else None, random_state=seed
    )
    given = getattr(ours, name)(**settings).fit(train, y_train, X_val=rest, y_val=y_rest)
    np.testing.assert_array_equal(given.predict(X), held_out.predict(X))
    scores = getattr(theirs, name)(**settings).fit(X, y).validation_score_
    np.testing.assert_allclose(held_out.validation_score_[:5], scores[:5], rtol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learning_rate", [10, 100])
def test_a_tree_without_a_split_takes_no_endless_step(n_classes, learning_rate):
    X, y = make_classification(random_state=1, n_classes=n_classes, n_informative=3)
    settings = {"learning_rate": learning_rate, "max_iter": 10}
    model = ours.HistGradientBoostingClassifier(**settings).fit(X, y)
    other = theirs.HistGradientBoostingClassifier(**settings).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert abs(model.score(X, y) - other.score(X, y)) <= 0.05


def test_names_that_are_not_there_are_listed_in_order():
    X = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    model = ours.HistGradientBoostingRegressor(monotonic_cst={"d": 1, "a": 1, "c": -1})
    with pytest.raises(ValueError, match=r"contains 2 unexpected feature names: \['c', 'd'\]"):
        model.fit(X, [0.0, 1.0])


@pytest.mark.parametrize("weighted", [False, True])
def test_a_scorer_of_ones_own_sees_the_rows_it_judges(weighted):
    X, y = make_regression(n_samples=120, n_features=3, random_state=0)
    known = {tuple(row): target for row, target in zip(X, y, strict=True)}
    calls = []

    def scorer(model, rows, target, **given):
        calls.append((len(rows), "sample_weight" in given))
        np.testing.assert_array_equal([known[tuple(row)] for row in rows], target)
        return -float(np.abs(model.predict(rows) - target).mean())

    model = ours.HistGradientBoostingRegressor(
        max_iter=2, early_stopping=True, validation_fraction=0.25, scoring=scorer, random_state=0
    ).fit(X, y, sample_weight=np.linspace(1, 2, 120) if weighted else None)
    assert calls == [(90, weighted), (30, weighted)] * 3  # before the first tree, and after each
    assert len(model.validation_score_) == 3


def test_names_of_columns_as_bytes_are_refused_by_their_type():
    model = ours.HistGradientBoostingRegressor(categorical_features=[b"hello", b"world"])
    with pytest.raises(ValueError, match=r"array-like of bool, int or str, got: bytes40\."):
        model.fit([[0.0, 1.0], [1.0, 0.0]], [0.0, 1.0])
