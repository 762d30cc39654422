"""Histogram boosting beside scikit-learn's: the same rows held out, steps that stay finite, names in order."""

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble as theirs
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import train_test_split

from learnt import ensemble as ours
from learnt.engine.kernel import compilation_enabled
from learnt.forestry.boosting._kernel import work


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
    model.set_params(monotonic_cst=dict.fromkeys("gfedch", 1))
    with pytest.raises(ValueError, match=r"6 unexpected feature names: \['c', 'd', 'e', 'f', 'g', '\.\.\.'\]"):
        model.fit(X, [0.0, 1.0])


@pytest.mark.parametrize("weighted", [False, True])
def test_a_custom_scorer_gets_the_rows_it_scores(weighted):
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


@pytest.mark.parametrize("unit", [2.0**1000, 2.0**515, 2.0**-1000])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"early_stopping": True, "scoring": None},
        {"loss": "absolute_error"},
        {"loss": "quantile", "quantile": 0.3},
        {"subsample": 0.5},
    ],
    ids=str,
)
def test_numbers_in_any_unit_make_the_same_model(unit, settings):
    X, y = make_regression(n_samples=200, n_features=3, noise=10.0, random_state=0)
    settings = {"max_iter": 10, "random_state": 0, "warm_start": True, **settings}
    plain, other = (ours.HistGradientBoostingRegressor(**settings) for _ in range(2))
    for n_iter in (10, 15):  # the second goes on from the first
        plain.set_params(max_iter=n_iter).fit(X, y)
        other.set_params(max_iter=n_iter).fit(X, unit * y)
    assert np.ptp(plain.predict(X)) > 50.0
    np.testing.assert_array_equal(other.predict(X), unit * plain.predict(X))


def test_a_penalty_and_scores_are_in_the_units_of_the_target():
    X, y = make_regression(n_samples=200, n_features=3, noise=10.0, random_state=0)
    settings = {"max_iter": 10, "random_state": 0, "early_stopping": True, "tol": 0.0}
    plain = ours.HistGradientBoostingRegressor(**settings, l1_regularization=100.0).fit(X, y)
    other = ours.HistGradientBoostingRegressor(**settings, l1_regularization=100.0 * 2.0**-300).fit(X, 2.0**-300 * y)
    np.testing.assert_array_equal(other.predict(X), 2.0**-300 * plain.predict(X))
    np.testing.assert_array_equal(other.train_score_, 2.0**-600 * plain.train_score_)
    np.testing.assert_array_equal(other.validation_score_, 2.0**-600 * plain.validation_score_)


def test_numbers_too_large_for_a_loss_are_refused():
    X, y = make_regression(n_samples=50, n_features=3, random_state=0)
    with pytest.raises(ValueError, match=r"loss='poisson' takes y up to 1e\+150.*divide y"):
        ours.HistGradientBoostingRegressor(loss="poisson").fit(X, np.abs(y) * 1e300)
    with pytest.raises(ValueError, match=r"up to 1e\+150 with the loss Huber, .* divide y by a constant"):
        ours.HistGradientBoostingRegressor(loss="huber").fit(X, y * 1e300)


@pytest.mark.parametrize("form", ["objects", "lists", "text"])
def test_text_in_columns_of_categories_of_an_array(form):
    rng = np.random.default_rng(0)
    words, numbers = rng.choice(["red", "green", "blue"], 200), rng.integers(0, 5, 200)
    y = (words == "red") * 3.0 + numbers
    frame = pd.DataFrame({"word": words, "number": numbers.astype(float)})
    table = np.column_stack([words, numbers]) if form == "text" else frame.to_numpy(dtype=object)
    table = table.tolist() if form == "lists" else table
    expected = ours.HistGradientBoostingRegressor(categorical_features=["word"]).fit(frame, y).predict(frame)
    model = ours.HistGradientBoostingRegressor(categorical_features=[0]).fit(table, y)
    np.testing.assert_array_equal(model.predict(table), expected)
    known = theirs.HistGradientBoostingRegressor(categorical_features=[0]).fit(np.array(table, dtype=object), y)
    np.testing.assert_allclose(expected, known.predict(np.array(table, dtype=object)), atol=0.05)
    # what was not seen, and what is missing, is no error
    assert np.isfinite(model.predict(np.array([["mauve", 1.0], [None, np.nan]], dtype=object))).all()
    stopped = ours.HistGradientBoostingRegressor(categorical_features=[0], early_stopping=True, random_state=0)
    assert stopped.fit(table, y, X_val=table, y_val=y).score(table, y) > 0.99
    assert stopped.fit(table, y).score(table, y) > 0.99


def test_text_in_a_column_of_numbers_is_refused_by_its_place():
    table = np.array([["red", "1"], ["green", "one"]] * 20, dtype=object)
    with pytest.raises(ValueError, match="'one' at row 1, column 1"):
        ours.HistGradientBoostingRegressor(categorical_features=[0]).fit(table, np.arange(40.0))
    model = ours.HistGradientBoostingRegressor(categorical_features=[0]).fit(table[::2], np.arange(20.0))
    with pytest.raises(ValueError, match="X has 1 features, but"):
        model.predict(table[::2, :1])


def test_no_form_of_weights_compiles_again():
    X, y = make_regression(n_samples=60, n_features=3, random_state=0)
    weights = np.linspace(1, 2, 60)
    first = ours.HistGradientBoostingRegressor(max_iter=2).fit(X, y, weights).predict(X)
    known = len(work.resolve().signatures) if compilation_enabled() else 0
    locked = weights.copy()
    locked.flags.writeable = False
    for form in (locked, np.repeat(weights, 2)[::2], weights.astype(object), list(weights)):
        np.testing.assert_array_equal(ours.HistGradientBoostingRegressor(max_iter=2).fit(X, y, form).predict(X), first)
    assert (len(work.resolve().signatures) if compilation_enabled() else 0) == known
