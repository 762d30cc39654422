"""Best constants: against scikit-learn's dummies, by formula, the law of weights, intervals, and messages."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from learnt.baseline import ConstantClassifier, ConstantRegressor
from learnt.baseline._quantiles import quantiles

rng = np.random.default_rng(0)
X = rng.standard_normal((120, 3))
LABELS = {
    "numbers": rng.choice([-3, 0, 8], 120, p=[0.2, 0.5, 0.3]),
    "strings": rng.choice(["ant", "bee", "cow"], 120),
    "booleans": rng.random(120) < 0.3,
    "objects": rng.choice(["ant", "bee"], 120).astype(object),
    "tie": np.repeat(["b", "a"], 60),
    "one": np.full(120, "only"),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strategy", ["prior", "most_frequent", "constant"])
@pytest.mark.parametrize("kind", LABELS)
def test_classifier_equals_dummy(kind, strategy, weighted):
    y = LABELS[kind]
    w = rng.random(120) if weighted else None
    constant = y[0].item() if strategy == "constant" and not isinstance(y[0], str) else y[0]
    options = {"strategy": strategy, "constant": constant if strategy == "constant" else None}
    ours = ConstantClassifier(**options).fit(X, y, sample_weight=w)
    if kind == "booleans" and strategy == "constant":
        options["constant"] = int(constant)
    theirs = DummyClassifier(**options).fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(ours.class_prior_, theirs.class_prior_, rtol=1e-14)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.predict(X).dtype == y.dtype
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-14)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-14)
    assert ours.score(X, y) == theirs.score(X, y)
    assert ours.score(None, y) == ours.score(X, y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strategy", ["mean", "median", "quantile", "constant"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_regressor_equals_dummy(strategy, weighted, dtype):
    y = (100 * rng.standard_normal(121)).astype(dtype)
    w = rng.integers(1, 4, 121) if weighted else None
    options = {"strategy": strategy, "quantile": 0.3, "constant": 2.5}
    ours = ConstantRegressor(**options).fit(y, y, sample_weight=w)
    repeated = y if w is None else np.repeat(y, w)
    theirs = DummyRegressor(**options).fit(repeated, repeated)
    np.testing.assert_allclose(ours.constant_, theirs.constant_, rtol=1e-6 if dtype == np.float32 else 1e-12)
    assert ours.predict(X).shape == (120,)
    assert ours.predict(X).dtype == (np.float32 if dtype == np.float32 else np.float64)
    mean, spread = ours.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, ours.predict(X))
    assert not spread.any()
    assert ours.score(None, y) == pytest.approx(theirs.score(None, y), abs=1e-6)


def test_several_outputs():
    Y = rng.integers(0, 3, (120, 2))
    ours, theirs = ConstantClassifier().fit(X, Y), DummyClassifier().fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for a, b in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
        np.testing.assert_allclose(a, b)
    assert [p.shape for p in ours.predict_log_proba(X)] == [(120, 3), (120, 3)]
    Z = rng.standard_normal((120, 2))
    for strategy in ("mean", "median"):
        ours, theirs = ConstantRegressor(strategy=strategy).fit(X, Z), DummyRegressor(strategy=strategy).fit(X, Z)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
        lower, upper = ours.predict_interval(X)
        assert lower.shape == upper.shape == (120, 2)
    ours = ConstantRegressor(strategy="constant", constant=[1, 2]).fit(X, Z)
    np.testing.assert_array_equal(ours.predict(X[:2]), [[1, 2], [1, 2]])


def test_real_data():
    iris, diabetes = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
    assert ConstantClassifier().fit(*iris).score(*iris) == DummyClassifier().fit(*iris).score(*iris) == 1 / 3
    np.testing.assert_allclose(
        ConstantRegressor().fit(*diabetes).constant_, DummyRegressor().fit(*diabetes).constant_, rtol=1e-14
    )


def test_mean_median_and_quantile_are_the_best_constants():
    y = rng.exponential(size=301)
    grid = np.linspace(y.min(), y.max(), 20_001)[:, None]
    losses = {
        "mean": lambda e: e**2,
        "median": np.abs,
        "quantile": lambda e: np.maximum(0.2 * e, -0.8 * e),
    }
    for strategy, loss in losses.items():
        best = ConstantRegressor(strategy=strategy, quantile=0.2).fit(y, y).constant_[0, 0]
        assert loss(y - best).mean() <= loss(y - grid).mean(axis=1).min() + 1e-12


def test_x_is_only_counted():
    y = [0, 1, 1]
    tables = [
        [["a", None], ["b", 2], [None, 3]],
        np.full((3, 2), np.nan),
        csr_array((3, 4)),
        pd.DataFrame({"a": ["x", None, "z"]}),
        pl.DataFrame({"a": ["x", None, "z"]}),
        pa.table({"a": ["x", None, "z"]}),
        [1, 2, 3],
    ]
    for table in tables:
        assert ConstantClassifier().fit(table, y).predict(table).tolist() == [1, 1, 1]
        assert ConstantRegressor().fit(table, y).predict(table).tolist() == pytest.approx([2 / 3] * 3)
    frame = pa.table({"width [cm]": [1, 2, 3], "{}": [1, 2, 3]})
    assert ConstantClassifier().fit(frame, y).feature_names_in_.tolist() == ["width [cm]", "{}"]


@pytest.mark.parametrize("y", [pd.Series(["b", "a", "b"]), pl.Series(["b", "a", "b"]), pa.array(["b", "a", "b"])])
def test_targets_of_data_frame_libraries(y):
    assert ConstantClassifier().fit([[0]] * 3, y).predict([[0]]).tolist() == ["b"]


def test_a_weight_of_zero_is_left_out():
    model = ConstantClassifier().fit(X[:4], ["a", "b", "b", "c"], sample_weight=[3, 0, 0, 1])
    assert model.classes_.tolist() == ["a", "c"]
    assert model.predict_proba(X[:1]).tolist() == [[0.75, 0.25]]


whole = st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 4)), min_size=1, max_size=25)


@settings(max_examples=80, deadline=None)
@given(whole, st.floats(0, 1))
def test_integer_weights_repeat_rows(rows, share):
    y, w = np.array([r[0] for r in rows]), np.array([r[1] for r in rows], dtype=float)
    w[0] += 1
    repeated = np.repeat(y, w.astype(int))
    shares = np.array([0.0, share, 0.5, 1.0])
    np.testing.assert_allclose(quantiles(y, w, shares), np.quantile(repeated, shares), rtol=1e-9, atol=1e-6)
    # The median also does not mind the scale of the weights.
    assert quantiles(y, w / 3.7, np.array([0.5]))[0] == pytest.approx(np.median(repeated), rel=1e-9, abs=1e-6)
    for strategy in ("mean", "median", "quantile"):
        model = ConstantRegressor(strategy=strategy, quantile=share)
        weighted, long = clone(model).fit(y, y, sample_weight=w), clone(model).fit(repeated, repeated)
        np.testing.assert_allclose(weighted.constant_, long.constant_, rtol=1e-9, atol=1e-6)
        for a, b in zip(weighted.predict_interval([0]), long.predict_interval([0]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("n", [10, 50, 500, 3_000])
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95])
def test_intervals_have_their_nominal_coverage(n, coverage):
    r = np.random.default_rng(n)
    draw = r.standard_normal if n == 10 else r.standard_exponential  # few rows: normal data is the assumption
    held = []
    for _ in range(100):
        lower, upper = ConstantRegressor().fit(np.empty(n), draw(n)).predict_interval([0], coverage)
        new = draw(400)
        held.append(((new >= lower) & (new <= upper)).mean())
    slack = 4 * np.std(held) / 10
    assert np.mean(held) > coverage - slack
    if n >= 50:
        assert np.mean(held) < coverage + slack + 2.5 / n


def test_intervals_grow_with_coverage_and_hold_the_constant():
    model = ConstantRegressor().fit(X, rng.standard_normal(120))
    ends = [model.predict_interval([0], c) for c in (0.1, 0.5, 0.9, 0.99, 0.9999)]
    lowers, uppers = np.ravel([e[0] for e in ends]), np.ravel([e[1] for e in ends])
    assert (np.diff(lowers) <= 0).all()
    assert (np.diff(uppers) >= 0).all()
    assert lowers[1] < model.constant_[0, 0] < uppers[1]


@pytest.mark.long
def test_scikit_learns_checks_of_the_median():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # the Array API check needs a variable set before SciPy loads
        results = check_estimator(ConstantRegressor(strategy="median"), on_fail=None)
    wrong = [(r["check_name"], str(r["exception"])) for r in results if r["status"] == "failed"]
    assert wrong == []


def test_searches_work():
    y = rng.exponential(size=120)
    search = GridSearchCV(
        ConstantRegressor(), {"strategy": ["mean", "median"]}, scoring="neg_mean_absolute_error", cv=4
    ).fit(X, y)
    assert search.best_params_ == {"strategy": "median"}


ERRORS = [
    (lambda: ConstantClassifier(strategy="uniform").fit(X, LABELS["numbers"]), "'strategy' parameter"),
    (lambda: ConstantClassifier(strategy="constant").fit(X, LABELS["numbers"]), "has to be specified"),
    (lambda: ConstantClassifier(strategy="constant", constant=5).fit(X, LABELS["numbers"]), "must be present"),
    (lambda: ConstantClassifier(strategy="constant", constant=[0, 8]).fit(X, LABELS["numbers"]), "should have shape"),
    (lambda: ConstantClassifier().fit(X, LABELS["numbers"][:-1]), "inconsistent numbers of samples"),
    (lambda: ConstantClassifier().fit(X, np.full(120, np.nan)), "NaN"),
    (lambda: ConstantClassifier().fit(X, np.array([None] * 120)), "NaN or None"),
    (lambda: ConstantClassifier().fit(X[:0], []), "0 sample"),
    (lambda: ConstantClassifier().fit(X, None), "requires y"),
    (lambda: ConstantClassifier().fit(X, LABELS["numbers"], sample_weight=np.zeros(120)), "non-zero"),
    (lambda: ConstantRegressor(strategy="mode").fit(X, X[:, 0]), "'strategy' parameter"),
    (lambda: ConstantRegressor(strategy="quantile").fit(X, X[:, 0]), "specify the desired quantile"),
    (lambda: ConstantRegressor(strategy="quantile", quantile=2).fit(X, X[:, 0]), "'quantile' parameter"),
    (lambda: ConstantRegressor(strategy="constant").fit(X, X[:, 0]), "has to be specified"),
    (lambda: ConstantRegressor(strategy="constant", constant="a").fit(X, X[:, 0]), "must be a number"),
    (lambda: ConstantRegressor(strategy="constant", constant=[1, 2]).fit(X, X[:, 0]), "should have shape"),
    (lambda: ConstantRegressor(strategy="constant", constant=np.inf).fit(X, X[:, 0]), "finite"),
    (lambda: ConstantRegressor().fit(X, np.r_[np.nan, X[1:, 0]]), "NaN"),
    (lambda: ConstantRegressor().fit(X, LABELS["strings"]), "not numbers"),
    (lambda: ConstantRegressor().fit(X, X[:, 0]).predict_interval(X, coverage=1.0), "coverage must be"),
    (lambda: ConstantRegressor().predict(X), "not fitted"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors_are_one_sentence(call, message):
    with pytest.raises((ValueError, NotFittedError), match=message) as error:
        call()
    assert "\n" not in str(error.value)
