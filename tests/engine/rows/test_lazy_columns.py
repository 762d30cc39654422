"""One law for targets and weights, for every estimator that reads blocks: where they lie changes neither the model nor
what is refused, nor the words of it."""

import importlib.util
import inspect
import re
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import learnt
from learnt.engine.rows import tables

spec = importlib.util.spec_from_file_location("checks", Path(__file__).parents[2] / "test_estimators.py")
checks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checks)

LAZY = checks.LAZY
WEIGHTED = [name for name in LAZY if "sample_weight" in inspect.signature(checks.ESTIMATORS[name].fit).parameters]
SCORED = [
    name
    for name in WEIGHTED
    if hasattr(checks.ESTIMATORS[name], "score")
    and "sample_weight" in inspect.signature(checks.ESTIMATORS[name].score).parameters
]
WITH_Y = [name for name in LAZY if checks.target_of(checks.make(name)) != "none"]
N = 120
# Names that attributes of data frames have too.
NAMES = ["chunks", "dtype", "transformed", "columns", "ndim"]


def in_a_file(X, y, w, folder):
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])
    frame = frame if y is None else frame.with_columns(pl.Series("y", y))
    frame = frame if w is None else frame.with_columns(pl.Series("w", w))
    frame.write_parquet(folder / "rows.parquet")
    table = learnt.scan(folder / "rows.parquet")
    return (
        table[[f"x{j}" for j in range(X.shape[1])]],
        None if y is None else table["y"],
        None if w is None else table["w"],
    )


def in_dask_arrays(X, y, w, folder):
    import dask.array as da

    return [None if part is None else da.from_array(part, chunks=(50, *part.shape[1:])) for part in (X, y, w)]


def in_dask_frames(X, y, w, folder):
    """Partitions of which the first, one in the middle and the last have no rows."""
    import dask
    import dask.dataframe as dd

    frame = pd.DataFrame(X, columns=NAMES[: X.shape[1]])
    frame = frame.assign(**{name: part for name, part in (("y", y), ("w", w)) if part is not None})
    cuts = [0, 0, 50, 50, len(X), len(X)]
    parts = [dask.delayed(frame.iloc[lo:hi]) for lo, hi in pairwise(cuts)]
    lazy = dd.from_delayed(parts, meta=frame.iloc[:0])
    return lazy[NAMES[: X.shape[1]]], None if y is None else lazy["y"], None if w is None else lazy["w"]


def in_dask_arrays_of_unknown_chunks(X, y, w, folder):
    X, y, w = in_dask_frames(X, y, w, folder)
    return [None if part is None else part.to_dask_array() for part in (X, y, w)]


PLACES = [in_a_file, in_dask_arrays, in_dask_frames, in_dask_arrays_of_unknown_chunks]


def law(names, turn):
    """Every estimator in one of the four places, and by another law in another one."""
    pairs = [(name, PLACES[(i + turn) % 4]) for i, name in enumerate(names)]
    ids = [f"{name}-{place.__name__}" for name, place in pairs]
    return pytest.mark.parametrize(("name", "place"), pairs, indirect=["place"], ids=ids)


@pytest.fixture
def place(request, tmp_path, monkeypatch):
    import dask

    monkeypatch.setattr(tables.Table, "read_rows", 50)  # three reads
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask of text, scikit-learn of names
        yield lambda X, y=None, w=None: request.param(X, y, w, tmp_path)


def problem(name):
    """X, y (None where the estimator needs none) and weights; one target where there could be several."""
    X, y = checks.problem(name, n=N)
    y = y[:, 0] if y.ndim == 2 else y
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if name in WEIGHTED else None
    return X, y if name in WITH_Y else None, w


def fit(name, X, y, w):
    model = checks.make(name)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    return clone(model).fit(X, y) if w is None else clone(model).fit(X, y, sample_weight=w)


def refused(name, X, y, w):
    with pytest.raises((TypeError, ValueError)) as caught:
        fit(name, X, y, w)
    return f"{type(caught.value).__name__}: {caught.value}"


@pytest.mark.sweep(20)
@law([name for name in LAZY if name in WITH_Y or name in WEIGHTED], 0)
def test_where_targets_and_weights_lie_does_not_matter(name, place):
    X, y, w = problem(name)
    rows, targets, weights = place(X, y, w)
    expected = checks.output(fit(name, rows, y, w), X)
    np.testing.assert_allclose(checks.output(fit(name, rows, targets, weights), X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.sweep(20)
@law(WITH_Y, 1)
@pytest.mark.parametrize("value", [np.nan, np.inf], ids=str)
def test_a_target_that_is_not_finite_is_refused_as_in_memory(name, value, place):
    X, y, _ = problem(name)
    y = np.unique(y, return_inverse=True)[1].astype(float) if y.dtype.kind == "U" else y.copy()
    y[[60, 110]] = value
    message = refused(name, X, y, None)
    assert "at row 60" in message
    assert refused(name, *place(X, y)) == message


@pytest.mark.sweep(20)
@law(WITH_Y, 2)
def test_a_target_of_another_kind_is_refused_as_in_memory(name, place):
    X, y, _ = problem(name)
    labels = y.dtype.kind == "U"
    wrong = np.linspace(0.1, 0.9, N) if labels else np.array(["ant", "bee"])[np.arange(N) % 2].astype(object)
    assert refused(name, *place(X, wrong)) == refused(name, X, wrong, None)
    if labels:  # a label that is missing
        wrong = y.astype(object)
        wrong[70] = None
        message = refused(name, *place(X, wrong))
        assert message == refused(name, X, wrong, None)
        assert "at row 70" in message


@pytest.mark.sweep(20)
@law(WEIGHTED, 3)
def test_weights_are_refused_as_in_memory(name, place):
    X, y, w = problem(name)
    for value in (np.nan, np.inf, -150.0):
        wrong = w.copy()
        wrong[[60, 110]] = value
        assert refused(name, *place(X, y, wrong)) == refused(name, X, y, wrong)
    message = refused(name, *place(X, y, np.zeros(N)))
    assert "zero" in message


@pytest.mark.sweep(20)
@law(WEIGHTED, 4)
def test_a_row_of_weight_0_is_not_in_the_table(name, place):
    """A whole read of such rows among them, a class that only they have, and cells that no model takes."""
    X, y, w = problem(name)
    X = X.astype(float)
    w[[0, 3, 110]] = w[50:100] = 0
    X[60], X[61, 0], X[110] = np.nan, np.inf, -1e9
    if y is not None:
        y = y.astype(object) if y.dtype.kind == "U" else y.copy()
        y[110] = "only here" if y.dtype == object else -1e300
        y[62] = None if y.dtype == object else np.nan
    some = np.array([*range(1, 3), *range(4, 50), *range(100, 110)])
    expected, model = fit(name, X, y, w), fit(name, *place(X, y, w))
    np.testing.assert_allclose(checks.output(model, X[some]), checks.output(expected, X[some]), rtol=1e-6, atol=1e-8)
    assert getattr(model, "n_features_in_", 0) == getattr(expected, "n_features_in_", 0)
    if hasattr(expected, "classes_"):
        np.testing.assert_array_equal(model.classes_, expected.classes_)
    if hasattr(expected, "labels_"):  # those rows have one too, where they have a place
        np.testing.assert_array_equal(np.asarray(model.labels_), expected.labels_)


@pytest.mark.sweep(20)
@law([name for name in WEIGHTED if not checks.takes_of(checks.make(name)).missing], 5)
def test_beside_rows_of_weight_0_others_have_the_numbers_they_were_given(name, place):
    X, y, w = problem(name)
    X = X.astype(float)
    w[[*range(20), 55]] = 0
    X[60, 1] = np.nan
    assert "at row 60" in refused(name, *place(X, y, w))
    if y is not None and y.dtype.kind == "f":
        y = y.copy()
        y[58] = np.inf
        assert "at row 58" in refused(name, *place(X, y, w))


@pytest.mark.sweep(20)
@law(LAZY, 6)
def test_other_lengths_are_refused(name, place):
    X, y, w = problem(name)
    rows = place(X)[0]
    if y is not None:
        assert "X has 120 rows but y has 119" in refused(name, rows, y[:-1], None)
    if w is not None:
        assert "expected (120,)" in refused(name, rows, y, w[:-1])


@pytest.mark.sweep(20)
@law(LAZY, 7)
def test_no_rows_get_one_sentence(name, place):
    X, y, w = problem(name)
    message = refused(name, *place(X[:0], None if y is None else y[:0], None if w is None else w[:0]))
    assert re.search(r"has 0 rows|0 sample\(s\)|n_samples ?= ?0", message), message
    assert "\n" not in message


@pytest.mark.sweep(20)
@law(SCORED, 8)
def test_scores_leave_out_rows_of_weight_0_and_refuse_what_a_fit_refuses(name, place):
    X, y, w = problem(name)
    model = fit(name, X, y, w)
    far, zero = X.astype(float), w.copy()
    zero[[5, *range(50, 100)]] = 0
    there = zero > 0
    expected = model.score(X[there], None if y is None else y[there], sample_weight=w[there])
    if not checks.takes_of(model).missing:
        far[[5, 60]] = np.nan
    rows, targets, weights = place(far, y, zero)
    assert model.score(rows, targets, sample_weight=weights) == pytest.approx(expected, rel=1e-9)
    wrong = {"contains NaN at row 60": w.copy(), "Negative values": w.copy(), "at least one non-zero": np.zeros(N)}
    wrong["contains NaN at row 60"][60], wrong["Negative values"][60] = np.nan, -1.0
    for words, given in wrong.items():
        rows, targets, weights = place(X, y, given)
        with pytest.raises(ValueError, match=words):
            model.score(rows, targets, sample_weight=weights)


@pytest.mark.sweep(20)
@law(WEIGHTED, 9)
def test_weights_that_are_no_numbers_get_one_sentence(name, place):
    X, y, _ = problem(name)
    for wrong in (np.array(["ant"] * N), np.full(N, np.datetime64("2026-01-01", "us"))):
        message = refused(name, *place(X, y, wrong))
        assert "\n" not in message
        assert "sample_weight must be None, a number or one number for every row; got" in message
        assert "dates or durations" in message or "'ant'" in message


@pytest.mark.parametrize("place", PLACES, indirect=True, ids=lambda place: place.__name__)
def test_a_number_that_trees_cannot_hold_is_named_by_its_row(place):
    """Cells of pieces are looked at by who makes a matrix of them."""
    from learnt.ensemble import RandomForestRegressor

    X, y, _ = problem("RandomForestRegressor")
    model = RandomForestRegressor(2, splitter="binned").fit(X, y)
    X[60, 1] = 1e300
    rows, targets, _ = place(X, y)
    for use in (lambda: clone(model).fit(rows, targets), lambda: np.asarray(model.predict(rows))):
        with pytest.raises(ValueError, match=r"1e\+300 at row 60, column 1"):
            use()


MODELS = ["GaussianNB", "HistGradientBoostingClassifier", "RandomForestClassifier", "SGDClassifier"]


@pytest.mark.parametrize("name", MODELS)
def test_a_table_of_one_column_is_a_target(name, tmp_path):
    X, y, _ = problem(name)
    rows, target, _ = in_a_file(X, y, None, tmp_path)
    table = learnt.scan(tmp_path / "rows.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, of names and of a target with two dimensions
        found, expected = fit(name, rows, table[["y"]], None), fit(name, rows, target, None)
        np.testing.assert_array_equal(checks.output(found, X), checks.output(expected, X))
