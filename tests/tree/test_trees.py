"""The four single trees as estimators: scikit-learn's answers, and every bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import tree as theirs
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from learnt import tree as ours
from learnt.engine.threads import set_threads

NAMES = ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor")
IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)


def problem(name):
    return IRIS if "Classifier" in name else DIABETES


def pair(name, **settings):
    return getattr(ours, name)(**settings), getattr(theirs, name)(**settings)


def test_parameters_and_defaults_are_scikit_learns():
    for name in NAMES:
        a, b = (model.get_params() for model in pair(name))
        assert {key: a[key] for key in b} == b


BEST_FIRST = {"max_leaf_nodes": 7}
SETTINGS = [{}, {"max_depth": 4}, BEST_FIRST, {"min_samples_leaf": 0.05}, {"ccp_alpha": 0.01}, {"max_features": 2}]


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        pytest.param(settings, name, marks=[pytest.mark.long] * (settings is BEST_FIRST and "Extra" in name))
        for settings in SETTINGS
        for name in NAMES
    ],
    ids=str,
)
def test_same_tree_for_the_same_seed_on_real_tables(name, settings):
    X, y = problem(name)
    a, b = (model.fit(X, y) for model in pair(name, random_state=1, **settings))
    assert a.tree_.node_count == b.tree_.node_count
    np.testing.assert_array_equal(a.tree_.feature, b.tree_.feature)
    np.testing.assert_array_equal(a.tree_.threshold, b.tree_.threshold)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.apply(X), b.apply(X))
    assert (a.decision_path(X) != b.decision_path(X)).nnz == 0
    np.testing.assert_allclose(a.feature_importances_, b.feature_importances_, atol=1e-12)
    assert (a.get_depth(), a.get_n_leaves(), a.max_features_) == (b.get_depth(), b.get_n_leaves(), b.max_features_)


def test_probabilities_several_outputs_and_names():
    X, y = IRIS
    labels = np.array(["a", "b", "c"])[y]
    Y = np.column_stack([labels, labels[::-1]])
    a, b = (model.fit(X, Y) for model in pair("DecisionTreeClassifier", random_state=0, max_depth=3))
    for p, q in zip(a.predict_proba(X), b.predict_proba(X)):
        np.testing.assert_allclose(p, q)
    with np.errstate(divide="ignore"):
        for p, q in zip(a.predict_log_proba(X), b.predict_log_proba(X)):
            np.testing.assert_allclose(p, q)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert [list(c) for c in a.classes_] == [list(c) for c in b.classes_]
    a, b = (model.fit(X, np.c_[y, -y]) for model in pair("DecisionTreeRegressor", random_state=0))
    np.testing.assert_allclose(a.predict(X), b.predict(X))


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 5, 2: 0.5}])
def test_class_weights(class_weight):
    X, y = IRIS
    settings = {"random_state": 0, "max_depth": 3, "class_weight": class_weight}
    a, b = (model.fit(X[20:], y[20:]) for model in pair("DecisionTreeClassifier", **settings))
    np.testing.assert_array_equal(a.tree_.feature, b.tree_.feature)
    np.testing.assert_allclose(a.tree_.value, b.tree_.value)


def test_cost_complexity_path():
    for name, (X, y) in (
        ("DecisionTreeClassifier", load_breast_cancer(return_X_y=True)),
        ("DecisionTreeRegressor", DIABETES),
    ):
        a, b = pair(name, random_state=0)
        path, expected = a.cost_complexity_pruning_path(X, y), b.cost_complexity_pruning_path(X, y)
        np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, atol=1e-12)
        np.testing.assert_allclose(path.impurities, expected.impurities, atol=1e-12)


def test_threads_change_nothing():
    X, y = DIABETES
    found = []
    for n in (1, 3):
        set_threads(n)
        found.append(ours.DecisionTreeRegressor(random_state=0).fit(X, y).tree_.threshold)
    set_threads(None)
    np.testing.assert_array_equal(*found)


def test_categories_in_a_frame():
    rng = np.random.default_rng(0)
    towns = rng.choice(["Rome", "Oslo", "Bern", "Lima"], size=200)
    frame = pd.DataFrame({"town": pd.Categorical(towns), "size": rng.normal(size=200)})
    y = np.isin(towns, ["Oslo", "Lima"]) * 1.0
    model = ours.DecisionTreeRegressor(categorical_features="from_dtype").fit(frame, y)
    assert model.get_depth() == 1
    np.testing.assert_array_equal(model.predict(frame), y)
    other = ours.DecisionTreeClassifier(categorical_features=["town"], categorical_split="multiway").fit(frame, y > 0)
    assert len(other.tree_.children(0)) == 4
    new = pd.DataFrame({"town": ["Rome", "Paris", None], "size": [0.0, 0.0, 0.0]})
    assert model.predict(new)[0] == 0
    assert set(model.predict(new)) <= {0.0, 1.0}
    shuffled = frame.assign(town=frame["town"].cat.reorder_categories(["Lima", "Bern", "Rome", "Oslo"]))
    np.testing.assert_array_equal(model.predict(shuffled), y)  # names decide, not codes


def test_significance_and_missing_values():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(2, size=200)
    assert ours.DecisionTreeClassifier(min_significance=1e-9).fit(X, y).get_n_leaves() == 1
    X[rng.random(X.shape) < 0.2] = np.nan
    a, b = (model.fit(X, y) for model in pair("DecisionTreeClassifier", random_state=0))
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert np.isfinite(ours.DecisionTreeRegressor(criterion="absolute_error").fit(X, y).predict(X)).all()


# ---- bad input


@pytest.mark.parametrize("name", NAMES)
def test_what_little_can_be_learnt_is(name):
    model = getattr(ours, name)
    X, y = problem(name)
    constant = np.ones((len(y), 2))
    assert model().fit(constant, y).get_n_leaves() == 1
    assert model().fit(np.full((len(y), 2), np.nan), y).get_n_leaves() == 1
    one = model().fit(X[:1], y[:1])
    assert one.predict(X[:3]).tolist() == [y[0]] * 3
    same = model().fit(X, np.full(len(y), 3))
    assert set(same.predict(X)) == {3}
    mixed = np.repeat(X[:1], 4, axis=0)
    assert model().fit(mixed, [0, 1, 1, 1]).get_n_leaves() == 1
    half = np.arange(len(y)) % 2 == 0
    settings = {"random_state": 0, "max_depth": 3}
    a, b = model(**settings).fit(X, y, sample_weight=half), model(**settings).fit(X[half], y[half])
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.tree_.n_node_samples, b.tree_.n_node_samples)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_depth": 0}, "max_depth"),
        ({"max_depth": 2.5}, "max_depth"),
        ({"min_samples_split": 1}, "min_samples_split"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"min_samples_leaf": 1.0}, "min_samples_leaf"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf"),
        ({"max_features": 0}, "max_features"),
        ({"max_features": "all"}, "max_features"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"min_impurity_decrease": -1}, "min_impurity_decrease"),
        ({"ccp_alpha": -1.0}, "ccp_alpha"),
        ({"splitter": "good"}, "splitter"),
        ({"criterion": "variance"}, "criterion"),
        ({"categorical_split": "three"}, "categorical_split"),
        ({"min_significance": 0}, "min_significance"),
        ({"monotonic_cst": [1]}, "onotonic"),
        ({"monotonic_cst": [2] * 10}, "onotonic"),
    ],
    ids=str,
)
def test_parameters_out_of_range(name, settings, words):
    X, y = problem(name)
    with pytest.raises(ValueError, match=words) as error:
        getattr(ours, name)(**settings).fit(X, y)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_data_out_of_range(name):
    X, y = (array.copy() for array in problem(name))
    model = getattr(ours, name)()
    with pytest.raises(ValueError, match="y contains NaN"):
        model.fit(X, np.where(np.arange(len(y)) == 3, np.nan, y))
    with pytest.raises(ValueError, match="zero"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match=r"150 rows|442 rows"):
        model.fit(X, y[:-1])
    for value in (np.inf, -1e300):
        X[2, 1] = value
        with pytest.raises(ValueError, match=r"infinity or a value too large.*row 2, column 1"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(sparse.csr_matrix(np.where(X < 0, np.nan, 1.0)), y)


def test_poisson_needs_counts():
    with pytest.raises(ValueError, match="negative"):
        ours.DecisionTreeRegressor(criterion="poisson").fit([[0.0], [1.0]], [1.0, -1.0])
    with pytest.raises(ValueError, match="not positive"):
        ours.DecisionTreeRegressor(criterion="poisson").fit([[0.0], [1.0]], [0.0, 0.0])


def test_old_name_of_the_squared_error():
    with pytest.warns(FutureWarning, match="squared_error"):
        ours.DecisionTreeRegressor(criterion="friedman_mse").fit([[0.0], [1.0]], [0.0, 1.0])
