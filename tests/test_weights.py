"""A row of weight 0 is not in the table: for every public estimator that takes weights, to the last bit."""

import importlib.util
import inspect
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse
from sklearn.base import clone, is_classifier

from learnt.cluster import KMeans, kmeans_plusplus
from learnt.engine.weights import take_folds
from learnt.ensemble import (
    BaggingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
)
from learnt.linear_model import (
    HuberRegressor,
    LassoCV,
    LinearRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifierCV,
    RidgeCV,
)
from learnt.naive_bayes import GaussianNB
from learnt.tree import DecisionTreeClassifier

spec = importlib.util.spec_from_file_location("checks", Path(__file__).parent / "test_estimators.py")
checks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checks)

MEMBERS = ("StackingClassifier", "StackingRegressor", "VotingClassifier", "VotingRegressor")
WEIGHTED = [
    name
    for name, kind in checks.ESTIMATORS.items()
    if "sample_weight" in inspect.signature(kind.fit).parameters or name in MEMBERS
]
# Members that take weights.
CLASSIFIERS = [("bayes", GaussianNB()), ("forest", RandomForestClassifier(n_estimators=2, random_state=0))]
# What hangs on the number of rows, or on rows that are drawn or held out.
TRIED = {
    name: [{}] if name not in ("StackingClassifier", "VotingClassifier") else [{"estimators": CLASSIFIERS}]
    for name in WEIGHTED
}
for name in WEIGHTED:
    TRIED[name] += checks.trial_of(checks.ESTIMATORS[name]).weighted
CASES = [
    pytest.param(name, options, marks=[pytest.mark.long] if number else [])
    for name in WEIGHTED
    for number, options in enumerate(TRIED[name])
]

# Row indices, and the shape of the table, which change when rows are left out.
PLACES = ("core_sample_indices_", "support_", "shape_fit_")
PER_ROW = (
    "labels_",
    "outliers_",
    "inlier_mask_",
    "variance_",
    "cv_results_",
    "oob_prediction_",
    "oob_decision_function_",
)


def weighted_problem(name, whole=False):
    """Rows of which every third or so has weight 0: those are far away, and of a class of their own."""
    X, y = checks.problem(name, n=150)
    rng = np.random.default_rng(5)
    w = (
        rng.integers(0, 3, size=len(X)).astype(float)
        if whole
        else rng.integers(0, 3, size=len(X)) * rng.uniform(size=150)
    )
    absent = w == 0
    X[absent] *= 100.0
    if y.dtype.kind == "U":
        y = np.where(absent & (np.arange(len(y)) % 2 == 0), "aaa", y)
    else:
        y[absent] *= 100.0
    return X, y, w


def made(name, options):
    model = checks.make(name).set_params(**options)
    return model.set_params(random_state=0) if "random_state" in model.get_params(deep=False) else model


def fit(model, X, y, w):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y, sample_weight=w)


def same(value, other, key, present):
    """Whether two fitted values are the same to the last bit; where one is there for each row, of rows with weight."""
    if key.strip("_") in ("n_features_in", "feature_names_in"):
        return True
    if isinstance(value, np.ndarray):
        if key in PER_ROW:
            assert len(value) == len(present), f"{key} has {len(value)} entries for {len(present)} rows"
            value = value[present]
        return value.dtype == other.dtype and np.array_equal(value, other, equal_nan=value.dtype.kind == "f")
    if isinstance(value, list | tuple):
        return len(value) == len(other) and all(same(a, b, "", present) for a, b in zip(value, other, strict=True))
    if isinstance(value, float):
        return value == other or (np.isnan(value) and np.isnan(other))
    if isinstance(value, int | str | np.generic):
        return value == other
    return True


def assert_same_model(model, other, present, X):
    for key, value in vars(model).items():
        if key.endswith("_") and key not in PLACES:
            assert same(value, vars(other)[key], key, present), key
    if checks.asked(type(model).__name__):
        np.testing.assert_array_equal(checks.output(model, X), checks.output(other, X))


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda part: str(part))
def test_weight_zero_is_removal(name, options):
    X, y, w = weighted_problem(name)
    if options.get("criterion") == "poisson":
        y = np.abs(y)
    there = w > 0
    model = made(name, options)
    assert_same_model(fit(model, X, y, w), fit(model, X[there], y[there], w[there]), there, X[there])


@pytest.mark.long
@pytest.mark.parametrize("name", WEIGHTED)
def test_cells_of_a_row_of_weight_zero_do_not_matter(name):
    X, y, w = weighted_problem(name)
    there = w > 0
    model = made(name, TRIED[name][0])
    wild = X.copy()
    wild[~there] = np.nan
    other = y.copy()
    if y.dtype.kind == "f":
        other[~there] = np.nan
    assert_same_model(fit(model, wild, other, w), fit(model, X[there], y[there], w[there]), there, X[there])


TABLES = {
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcde"), index=np.arange(len(X)) + 7),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
    "list": lambda X: X.tolist(),
    "sparse": sparse.csc_matrix,
    "torch": torch.from_numpy,
}


def taken(name, kind):
    """Whether the estimator takes such tables."""
    if kind == "torch":
        return name in checks.TENSORS
    return kind != "sparse" or made(name, {}).__sklearn_tags__().input_tags.sparse


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for name in ("Ridge", "LogisticRegression", "GaussianNB", "KMeans", "RandomForestClassifier")
        for kind in TABLES
        if taken(name, kind)
    ],
)
def test_tables_of_every_kind(name, kind):
    model = made(name, {})
    X, y, w = weighted_problem(name)
    there, table = w > 0, TABLES[kind]
    if kind == "torch":
        y, w = np.unique(y, return_inverse=True)[1] if is_classifier(model) else y, torch.from_numpy(w)
        y = torch.from_numpy(y)
    elif kind == "pandas":
        y, w = pd.Series(list(y), index=np.arange(len(y)) + 7), pd.Series(w, index=np.arange(len(y)) + 7)
    few = [np.asarray(part)[there] for part in (y, w)]
    few = [torch.from_numpy(part) for part in few] if kind == "torch" else few
    a, b = fit(model, table(X), y, w), fit(model, table(X[there]), *few)
    np.testing.assert_array_equal(checks.output(a, table(X[there])), checks.output(b, table(X[there])))
    if name == "KMeans":
        np.testing.assert_array_equal(np.asarray(a.labels_)[there], np.asarray(b.labels_))
        np.testing.assert_array_equal(np.asarray(a.labels_)[~there], np.asarray(a.predict(table(X[~there]))))


@pytest.mark.parametrize("name", ["RandomForestRegressor", "HistGradientBoostingRegressor", "DecisionTreeRegressor"])
def test_categories_of_rows_without_weight_are_unknown(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("pqrs"), 200), "b": rng.normal(size=200)}).astype({"a": "category"})
    y = frame["b"] + (frame["a"] == "p")
    w = np.where(frame["a"] == "s", 0.0, rng.uniform(0.5, 2, 200))
    there = w > 0
    model = made(name, {"categorical_features": "from_dtype"})
    a, b = fit(model, frame, y, w), fit(model, frame[there], y[there], w[there])
    np.testing.assert_array_equal(a.predict(frame), b.predict(frame))


def test_folds_given_as_rows_are_those_of_the_caller():
    X, y, w = weighted_problem("Ridge")
    there = w > 0
    folds = [(np.arange(75, 150), np.arange(75)), (np.arange(150) < 75, np.arange(150) >= 75)]
    few = take_folds(folds, np.flatnonzero(there))
    np.testing.assert_array_equal(few[1][0], few[0][1])
    np.testing.assert_array_equal(few[0][1], np.arange(there[:75].sum()))
    positive = y > np.median(y)
    for model, target in (
        (LassoCV(), y),
        (RidgeCV(), y),
        (LogisticRegressionCV(Cs=[0.1, 1.0]), positive),
        (RidgeClassifierCV(), positive),
        (StackingRegressor([("line", LinearRegression())]), y),
    ):
        a = fit(model.set_params(cv=folds), X, target, w)
        b = fit(model.set_params(cv=few), X[there], target[there], w[there])
        np.testing.assert_array_equal(a.predict(X), b.predict(X))


def test_rows_without_weight_keep_their_places():
    """What is kept of every row is kept of these too: what the model says of a row that it has not seen."""
    X, y, w = weighted_problem("Ridge")
    there = w > 0
    forest = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y, w)
    np.testing.assert_allclose(forest.oob_prediction_[~there], forest.predict(X[~there]))
    labels = np.where(there, np.where(y > np.median(y), "b", "c"), "a")
    votes = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, labels, w)
    assert votes.classes_.tolist() == ["b", "c"]
    np.testing.assert_allclose(votes.oob_decision_function_[~there], votes.predict_proba(X[~there]))
    bagging = BaggingRegressor(Ridge(), 40, oob_score=True, random_state=0).fit(X, y, w)
    np.testing.assert_allclose(bagging.oob_prediction_[~there], bagging.predict(X[~there]))
    for model in (forest, votes, bagging):
        assert all(there[rows].all() for rows in model.estimators_samples_)
        assert len(model.estimators_samples_[0]) == there.sum()
    few = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X[there], y[there], w[there])
    np.testing.assert_array_equal(
        forest.permutation_importances(X, y, random_state=0).importances,
        few.permutation_importances(X[there], y[there], random_state=0).importances,
    )
    clusters = KMeans(3, random_state=0).fit(np.where(np.arange(150)[:, None] == np.argmin(w), np.nan, X), None, w)
    assert clusters.labels_[np.argmin(w)] == -1
    np.testing.assert_array_equal(clusters.labels_[there], clusters.predict(X[there]))
    assert there[kmeans_plusplus(X, 5, sample_weight=w, random_state=0)[1]].all()
    assert not HuberRegressor().fit(X, y, w).outliers_[~there].any()


def test_validation_rows_without_weight():
    X, y, w = weighted_problem("Ridge")
    there = w > 0
    model = HistGradientBoostingRegressor(max_iter=20, early_stopping=True)
    a = model.fit(X, y, X_val=X, y_val=np.where(there, y, np.nan), sample_weight_val=w).validation_score_
    b = model.fit(X, y, X_val=X[there], y_val=y[there], sample_weight_val=w[there]).validation_score_
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", WEIGHTED)
def test_nothing_left_gets_one_sentence(name):
    X, y, _ = weighted_problem(name)
    with pytest.raises(ValueError, match=r"zero|is 0") as caught:
        made(name, TRIED[name][0]).fit(X, y, sample_weight=np.zeros(len(X)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in WEIGHTED if is_classifier(checks.make(name))])
def test_one_class_left(name):
    X, y, w = weighted_problem(name)
    w = np.where(y == "bee", 1.0, 0.0)
    try:
        model = made(name, TRIED[name][0]).fit(X, y, sample_weight=w)
    except ValueError as error:
        assert "class" in str(error)
        assert "\n" not in str(error)
    else:
        assert model.predict(X[:3]).tolist() == ["bee"] * 3


def test_errors_name_rows_as_they_were_given():
    X, y, w = weighted_problem("Ridge")
    place = np.flatnonzero(w)[20]
    X[place, 1] = np.inf
    for model in (Ridge(), DecisionTreeClassifier(), RandomForestRegressor(2)):
        with pytest.raises(ValueError, match=f"row {place}\\b"):
            model.fit(X, y > 0, w)


def test_blocks_of_a_file_and_of_a_cluster(tmp_path):
    """Sums over blocks pass over weight 0; classes are those with weight."""
    import dask.array as da

    import learnt

    X, y, w = weighted_problem("GaussianNB")
    there, y = w > 0, np.unique(weighted_problem("GaussianNB")[1], return_inverse=True)[1]
    pl.DataFrame(np.column_stack([X, y, w]), schema=[*"abcde", "y", "w"]).write_parquet(tmp_path / "t.parquet")
    table = learnt.scan(tmp_path / "t.parquet")
    cluster = [da.from_array(part, chunks=(40,) + part.shape[1:]) for part in (X, y, w)]
    for name in ("GaussianNB", "LogisticRegression", "ERMClassifier"):
        model = made(name, {})
        few = fit(model, X[there], y[there], w[there])
        expected = few.coef_ if name != "GaussianNB" else few.theta_
        for given in ((table.drop("y", "w"), table["y"], w), cluster):
            found = fit(model, *given)
            assert np.asarray(found.classes_).tolist() == few.classes_.tolist()
            np.testing.assert_allclose(found.coef_ if name != "GaussianNB" else found.theta_, expected, atol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_any_size(name):
    """In another unit of the weights, a power of two, the same model to the last bit; or a finite one."""
    X, y, w = weighted_problem(name)
    model = made(name, TRIED[name][0])
    expected = checks.output(fit(model, X, y, w), X)
    for power in (40, -40):
        found = checks.output(fit(model, X, y, np.ldexp(w, power)), X)
        if not checks.trial_of(checks.ESTIMATORS[name]).weight_unit_free:
            assert np.isfinite(found.astype(float)).all()
        else:
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", [name for name in WEIGHTED if name.startswith(("Bagging", "RandomF", "ExtraTrees"))])
def test_a_share_of_very_large_weights_is_refused(name):
    """A share of the weight is a number of rows to draw, as in scikit-learn: of 1e12, terabytes of them."""
    X, y, w = weighted_problem(name)
    model = made(name, {"bootstrap": True, "max_samples": 0.5})
    with pytest.raises(ValueError, match=r"max_samples=0.5.* would draw .* rows") as caught:
        model.fit(X, y, sample_weight=1e12 * w)
    assert "\n" not in str(caught.value)
    fit(model.set_params(max_samples=20), X, y, 1e12 * w)
