"""What users type by mistake: errors that say what to do; and answers that do not depend on the form of X."""

import numpy as np
import pandas as pd
import pytest

from learnt.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor, DyadicPartitionRegressor, ModelTreeRegressor


@pytest.fixture
def towns():
    rng = np.random.default_rng(0)
    names = rng.choice(["Rome", "Oslo", "Bern", "Lima"], 300)
    frame = pd.DataFrame({"town": pd.Categorical(names), "size": rng.random(300)})
    worth = {"Rome": 1.0, "Oslo": 5.0, "Bern": 2.0, "Lima": 9.0}
    return frame, frame["town"].map(worth).astype(float).to_numpy() + frame["size"].to_numpy()


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.filterwarnings("error")
def test_every_answer_of_a_forest_reads_categories_once(towns, bootstrap):
    """The spread and the interval are those of a forest on whole numbers, and a frame brings no warning."""
    X, y = towns
    kind = RandomForestRegressor(20, categorical_features="from_dtype", bootstrap=bootstrap, random_state=0)
    model = kind.fit(X, y)
    mean, spread = model.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(X))
    np.testing.assert_array_equal(spread, model.spread(X))
    trees = np.array([tree.predict(model._rows(X)) for tree in model.estimators_])
    np.testing.assert_allclose(mean, trees.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(spread, trees.std(axis=0), atol=1e-6)
    low, high = model.predict_interval(X, coverage=0.9).T
    assert ((low <= mean + 1e-9) & (mean - 1e-9 <= high)).mean() > 0.95
    assert (high - low).max() < 4


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor])
def test_a_frame_with_columns_in_another_order_is_refused(towns, kind):
    X, y = towns
    model = kind(categorical_features="from_dtype").fit(X, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[["size", "town"]])


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
@pytest.mark.parametrize("wrong", [1, "up", {"a": 1}, float("nan")])
def test_directions_must_be_a_list(kind, wrong):
    with pytest.raises(ValueError, match=r"'monotonic_cst' parameter .* one for each of the 2 features"):
        kind(monotonic_cst=wrong).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
def test_directions_must_fit_the_columns(kind):
    X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
    with pytest.raises(ValueError, match="shape 3 but the input data X has 2 features"):
        kind(monotonic_cst=[1, 0, 0]).fit(X, y)
    with pytest.raises(ValueError, match="array-like of -1, 0 or 1"):
        kind(monotonic_cst=[1, 2]).fit(X, y)
    with pytest.raises(ValueError, match="not supported with multiple outputs"):
        kind(monotonic_cst=[1, 0]).fit(X, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("max_samples", float("inf")), ("class_weight", [1, 2]), ("oob_score", object)],
)
def test_forests_refuse_before_they_grow(parameter, value):
    with pytest.raises(ValueError, match=f"'{parameter}' parameter of RandomForestClassifier must be"):
        RandomForestClassifier(**{parameter: value}).fit([[0.0], [1.0]], [0, 1])


def test_infinity_is_named_by_row_and_column():
    X = np.zeros((5, 3))
    X[3, 2] = np.inf
    for kind in (DecisionTreeRegressor, RandomForestRegressor, ExtraTreesRegressor):
        with pytest.raises(ValueError, match="at row 3, column 2"):
            kind().fit(X, np.arange(5.0))


def test_warm_start_refuses_other_classes():
    X = np.arange(8.0)[:, None]
    model = RandomForestClassifier(2, warm_start=True, random_state=0).fit(X, [0, 1] * 4)
    with pytest.raises(ValueError, match="other classes"):
        model.set_params(n_estimators=4).fit(X, [1, 2] * 4)


def test_several_outputs_keep_their_whole_labels():
    X = np.arange(8.0)[:, None]
    y = np.array([["a", "long name"], ["b", "x"]] * 4, dtype=object)
    for kind in (DecisionTreeClassifier(), RandomForestClassifier(20, bootstrap=False)):
        assert set(kind.fit(X, y).predict(X).ravel()) == {"a", "b", "long name", "x"}


def test_partitions_refuse_before_they_grow():
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    with pytest.raises(ValueError, match="'cv' parameter of DyadicPartitionRegressor must be a whole number"):
        DyadicPartitionRegressor(cv=1).fit(X, y)
    with pytest.raises(ValueError, match="One row cannot be cut into folds"):
        DyadicPartitionRegressor().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="'leaf' parameter of ModelTreeRegressor"):
        ModelTreeRegressor(leaf="cubic").fit(X, y)
