"""Forests from files and Dask collections: the very trees that the same rows in memory give."""

import itertools
import warnings

import numpy as np
import polars as pl
import pytest

import learnt
from learnt.engine.rows import tables
from learnt.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from learnt.ensemble.forest import _lazy
from learnt.forestry.bins import _bins, _chosen

N, NAMES = 900, ["a", "b", "c"]


def make_frame(missing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    X[:, 1] = X[:, 1].round(1)
    if missing:
        X[rng.random((N, 3)) < 0.05] = np.nan
    y = np.nan_to_num(X) @ [1.0, 2.0, 0.0] + rng.normal(size=N)
    return pl.DataFrame(X, schema=NAMES).with_columns(
        y=pl.Series(y),
        label=pl.Series(np.array(["no", "perhaps", "yes"])[np.digitize(y, [-1.0, 1.0])]),
        weight=pl.Series(rng.integers(0, 4, N).astype(float)),
    )


def in_a_file(folder, frame):
    frame.write_parquet(folder / "rows.parquet", row_group_size=200)
    table = learnt.scan(folder / "rows.parquet")
    return table[NAMES], table["y"], table["label"], table["weight"]


def in_dask_frames(folder, frame):
    """Uneven partitions, one of them empty, one of a single row."""
    import dask
    import dask.dataframe as dd

    pandas = frame.to_pandas()
    edges = [0, 500, 500, 501, N]
    rows = dd.from_delayed([dask.delayed(pandas.iloc[lo:hi]) for lo, hi in itertools.pairwise(edges)])
    return rows[NAMES], rows["y"], rows["label"], rows["weight"]


@pytest.fixture(params=[in_a_file, in_dask_frames], ids=lambda place: place.__name__)
def place(request, monkeypatch):
    monkeypatch.setattr(tables, "_READ_BYTES", 8 * 3 * 256)  # several reads
    monkeypatch.setattr(_chosen, "_DECODED", 300)
    return request.param


def assert_same_forest(found, expected):
    for name in ("feature", "threshold", "missing_left", "value", "weight", "impurity"):
        np.testing.assert_array_equal(getattr(found.grove_, name), getattr(expected.grove_, name), err_msg=name)
    np.testing.assert_array_equal(found.feature_importances_, expected.feature_importances_)
    for name in ("_leaf_samples", "_errors"):
        for key, values in getattr(expected, name, {}).items():
            np.testing.assert_array_equal(getattr(found, name)[key], values)
    for name in ("oob_score_", "oob_prediction_", "oob_decision_function_"):
        if hasattr(expected, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def compute(values):
    return values.compute() if hasattr(values, "compute") else values


CASES = {
    "random numbers": (RandomForestRegressor, {"oob_score": True}, True, True),
    "random classes": (RandomForestClassifier, {"oob_score": True, "criterion": "entropy"}, False, True),
    "extra numbers": (ExtraTreesRegressor, {}, False, False),
    "extra classes": (ExtraTreesClassifier, {"bootstrap": True, "ccp_alpha": 0.001}, True, False),
}


@pytest.mark.parametrize(("model", "settings", "missing", "weighted"), CASES.values(), ids=CASES)
@pytest.mark.sweep
def test_forests_as_in_memory(place, model, settings, missing, weighted, tmp_path, monkeypatch):
    monkeypatch.setattr(_bins, "_ENOUGH", 100)  # bins of random splits by few rows
    monkeypatch.setattr(_bins, "_VARIED", 60)
    monkeypatch.setattr(_bins, "_SAMPLE", 400)
    frame = make_frame(missing)
    X, y, label, weight = place(tmp_path, frame)
    name, target = ("y", y) if model in (RandomForestRegressor, ExtraTreesRegressor) else ("label", label)
    rows, values = frame[NAMES], frame[name].to_numpy()
    options = {"n_estimators": 12, "min_samples_leaf": 4, "splitter": "binned", "random_state": 0, **settings}
    weights, here = (weight, frame["weight"].to_numpy()) if weighted else (None, None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
        expected = model(**options).fit(rows, values, here)
        found = model(**options).fit(X, target, weights)
    assert_same_forest(found, expected)
    np.testing.assert_array_equal(compute(found.predict(X)), expected.predict(rows))
    assert found.score(X, target) == pytest.approx(expected.score(rows, values), rel=1e-12)
    if name == "label":
        np.testing.assert_array_equal(compute(found.predict_proba(X)), expected.predict_proba(rows))
    else:
        np.testing.assert_array_equal(compute(found.predict(X, return_std=True)[1]), expected.spread(rows))
    assert [len(rows) for rows in found.estimators_samples_] == [len(rows) for rows in expected.estimators_samples_]


def test_small_tables_are_loaded_where_the_splitter_is_chosen_for_them(place, tmp_path, monkeypatch):
    frame = make_frame(True).with_columns(c=pl.col("c").fill_null(0.0).round().cast(pl.String) + "!")
    X, _, label, _ = place(tmp_path, frame)
    rows, values = frame[NAMES], frame["label"].to_numpy()
    model = RandomForestClassifier(n_estimators=4, max_depth=4, random_state=0)
    expected = model.fit(rows, values)
    found = RandomForestClassifier(**model.get_params()).fit(X, label)
    assert_same_forest(found, expected)
    assert found._categories is not None
    np.testing.assert_array_equal(compute(found.predict(X)), expected.predict(rows))
    monkeypatch.setattr(_lazy, "_LOADED_CELLS", 3 * N - 1)
    with pytest.raises(ValueError, match=r"column 'c' of X holds .*tring"):
        RandomForestClassifier().fit(X, label)


def test_large_tables_are_binned_where_the_splitter_is_chosen_for_them(place, tmp_path, monkeypatch):
    monkeypatch.setattr(_lazy, "_LOADED_CELLS", 3 * N - 1)
    frame = make_frame(False)
    X, _, label, _ = place(tmp_path, frame)
    options = {"n_estimators": 3, "max_depth": 4, "random_state": 0}
    expected = RandomForestClassifier(splitter="binned", **options).fit(frame[NAMES], frame["label"].to_numpy())
    assert_same_forest(RandomForestClassifier(**options).fit(X, label), expected)


def test_several_outputs(tmp_path):
    frame = make_frame(False)
    in_a_file(tmp_path, frame)
    table = learnt.scan(tmp_path / "rows.parquet")
    options = {"n_estimators": 3, "max_depth": 4, "splitter": "binned", "random_state": 0}
    expected = RandomForestRegressor(**options).fit(frame[NAMES], frame["y", "weight"].to_numpy())
    found = RandomForestRegressor(**options).fit(table[NAMES], table[["y", "weight"]])
    assert_same_forest(found, expected)
    np.testing.assert_array_equal(found.predict(table[NAMES]), expected.predict(frame[NAMES]))
    labels = np.column_stack([frame["weight"].to_numpy() > 1, frame["weight"].to_numpy() > 2])
    shares = RandomForestClassifier(**options).fit(table[NAMES], labels).predict_proba(table[NAMES])
    expected = RandomForestClassifier(**options).fit(frame[NAMES], labels).predict_proba(frame[NAMES])
    np.testing.assert_array_equal(shares, expected)


@pytest.mark.parametrize(
    "settings",
    [
        {"splitter": "exact"},
        {"criterion": "absolute_error"},
        {"monotonic_cst": [1, 0, 0]},
        {"categorical_features": [0]},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_what_needs_all_rows_in_memory_says_what_to_set(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(_lazy, "_LOADED_CELLS", 3 * N - 1)
    X, y, _, _ = in_a_file(tmp_path, make_frame(False))
    with pytest.raises(ValueError, match=r"set splitter='binned', criterion to 'squared_error', monotonic_cst=None"):
        RandomForestRegressor(n_estimators=1, **settings).fit(X, y)


def test_what_is_refused(tmp_path):
    frame = make_frame(False)
    X, y, _, _ = in_a_file(tmp_path, frame)
    model = RandomForestRegressor(n_estimators=1, splitter="binned")
    with pytest.raises(ValueError, match="X has 900 rows but y has 3"):
        model.fit(X, np.zeros(3))
    with pytest.raises(ValueError, match="y contains NaN"):
        model.fit(X, np.where(frame["y"] > 0, np.nan, 0.0))
    with pytest.raises(TypeError, match="needs the whole table in memory"):
        model.fit(X, y).apply(X)
    large = frame.with_columns(a=pl.lit(1e300))
    with pytest.raises(ValueError, match="too large for dtype"):
        model.fit(*in_a_file(tmp_path, large)[:2])
