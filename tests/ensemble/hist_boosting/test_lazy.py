"""Boosting from files and Dask collections: the very trees that the same rows in memory give."""

import itertools
import tracemalloc

import numpy as np
import polars as pl
import pytest

import learnt
from learnt.engine import memory
from learnt.engine.rows import tables
from learnt.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from learnt.forestry.bins import _bins, _chosen

N, NAMES = 1500, ["a", "b", "c", "town"]


def make_frame(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    X[rng.random((n, 3)) < 0.05] = np.nan
    town = rng.choice(["Aachen", "Bonn", "Celle", None], n, p=[0.5, 0.3, 0.1, 0.1])
    y = np.nan_to_num(X) @ [1.0, 2.0, 0.0] + 2.0 * (town == "Bonn") + rng.normal(size=n)
    weight = rng.integers(0, 4, n).astype(float)
    return pl.DataFrame(X, schema=NAMES[:3]).with_columns(
        town=pl.Series(town.tolist(), dtype=pl.String),
        y=pl.Series(y),
        label=pl.Series(np.array(["no", "perhaps", "yes"])[np.digitize(y, [-1.0, 1.0])]),
        weight=pl.Series(weight),
    )


FRAME = make_frame()


def in_a_file(folder, frame=FRAME):
    frame.write_parquet(folder / "rows.parquet", row_group_size=400)
    table = learnt.scan(folder / "rows.parquet")
    return table[NAMES], table["y"], table["label"], table["weight"]


def in_dask_frames(folder, frame=FRAME):
    """Uneven partitions, one of them empty, one of a single row."""
    import dask
    import dask.dataframe as dd

    pandas = frame.to_pandas()
    edges = [0, 700, 700, 701, 1000, len(pandas)]
    parts = [dask.delayed(pandas.iloc[lo:hi]) for lo, hi in itertools.pairwise(edges)]
    rows = dd.from_delayed(parts, meta=pandas.iloc[:0])
    return rows[NAMES], rows["y"], rows["label"], rows["weight"]


@pytest.fixture(params=[in_a_file, in_dask_frames], ids=lambda place: place.__name__)
def place(request, monkeypatch):
    monkeypatch.setattr(tables, "_READ_BYTES", 8 * 4 * 333)  # several reads
    return request.param


def assert_same_model(found, expected):
    for name, values in expected._trees.fields().items():
        np.testing.assert_array_equal(found._trees.fields()[name], values, err_msg=name)
    for name in ("_baseline", "train_score_", "validation_score_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found._tables.keys() == expected._tables.keys()
    for j, table in expected._tables.items():
        np.testing.assert_array_equal(found._tables[j], table)
        np.testing.assert_array_equal(found._categories[j], expected._categories[j])


def compute(values):
    return values.compute() if hasattr(values, "compute") else values


SETTINGS = {  # and whether rows have weights
    "plain": ({}, False),
    "weighted": ({}, True),
    "held out": ({"early_stopping": True, "n_iter_no_change": 3}, True),
    "scorer": ({"early_stopping": True, "scoring": None, "validation_fraction": 0.3}, False),
    "training rows watched": ({"early_stopping": True, "validation_fraction": None}, False),
    "rows drawn": ({"subsample": 0.5, "max_bins": 3}, True),
}


@pytest.mark.parametrize(("settings", "weighted"), SETTINGS.values(), ids=SETTINGS)
@pytest.mark.sweep
def test_numbers_and_classes_as_in_memory(place, settings, weighted, tmp_path):
    X, y, label, weight = place(tmp_path)
    weights, here = (weight, FRAME["weight"].to_numpy()) if weighted else (None, None)
    rows = FRAME[NAMES]
    for model, target, values in (
        (HistGradientBoostingRegressor, y, FRAME["y"].to_numpy()),
        (HistGradientBoostingClassifier, label, FRAME["label"].to_numpy()),
    ):
        options = {"max_iter": 4, "random_state": 3, **settings}
        expected = model(**options).fit(rows, values, here)
        found = model(**options).fit(X, target, weights)
        assert_same_model(found, expected)
        np.testing.assert_array_equal(compute(found.predict(X)), expected.predict(rows))
        assert found.score(X, target, weights) == pytest.approx(expected.score(rows, values, here), rel=1e-12)
        assert found.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(compute(found.predict_proba(X)), expected.predict_proba(rows))
    np.testing.assert_array_equal(compute(found.decision_function(X)), expected.decision_function(rows))


def test_edges_are_taken_from_the_same_rows(place, tmp_path, monkeypatch):
    monkeypatch.setattr(_bins, "_SAMPLE", 200)
    X, y, _, _ = place(tmp_path)
    expected = HistGradientBoostingRegressor(max_iter=3, random_state=1).fit(FRAME[NAMES], FRAME["y"].to_numpy())
    assert_same_model(HistGradientBoostingRegressor(max_iter=3, random_state=1).fit(X, y), expected)
    monkeypatch.setattr(_bins, "_SAMPLE", 300)
    other = HistGradientBoostingRegressor(max_iter=3, random_state=1).fit(X, y)
    assert not np.array_equal(other._trees.threshold, expected._trees.threshold)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("chunks", [1, 17])
def test_dask_arrays(dtype, chunks):
    import dask.array as da

    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, size=(90, 3)).astype(dtype)
    X[5, 1], y = np.nan, X[:, 0] * 0.1 + rng.normal(size=90)
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5, categorical_features=[2], random_state=0)
    expected = model.fit(X, y)
    there = da.from_array(X, chunks=(chunks, 2))
    found = HistGradientBoostingRegressor(**model.get_params()).fit(there, da.from_array(y, chunks=chunks))
    assert_same_model(found, expected)
    np.testing.assert_array_equal(found.predict(there).compute(), expected.predict(X))


def test_a_fit_that_goes_on(place, tmp_path):
    X, y, _, _ = place(tmp_path)
    options = {"max_iter": 3, "warm_start": True, "random_state": 0, "validation_fraction": 0.2, "early_stopping": True}
    expected = HistGradientBoostingRegressor(**options).fit(FRAME[NAMES], FRAME["y"].to_numpy())
    found = HistGradientBoostingRegressor(**options).fit(X, y)
    expected.set_params(max_iter=6).fit(FRAME[NAMES], FRAME["y"].to_numpy())
    assert_same_model(found.set_params(max_iter=6).fit(X, y), expected)


def test_rows_to_watch_by_from_another_table(place, tmp_path):
    X, y, _, _ = place(tmp_path)
    other = make_frame(1600, seed=1)
    (tmp_path / "other").mkdir()
    X_val, y_val, _, weight = place(tmp_path / "other", other)
    model = HistGradientBoostingRegressor(max_iter=5, random_state=0)
    expected = model.fit(
        FRAME[NAMES],
        FRAME["y"].to_numpy(),
        X_val=other[NAMES],
        y_val=other["y"].to_numpy(),
        sample_weight_val=other["weight"].to_numpy(),
    )
    found = HistGradientBoostingRegressor(**model.get_params())
    assert_same_model(found.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight), expected)
    assert_same_model(
        found.fit(FRAME[NAMES], FRAME["y"].to_numpy(), X_val=X_val, y_val=y_val, sample_weight_val=weight), expected
    )


def test_codes_that_do_not_fit_in_memory_are_in_a_file_that_is_gone_afterwards(tmp_path, monkeypatch):
    X, y, _, _ = in_a_file(tmp_path)
    expected = HistGradientBoostingRegressor(max_iter=3, random_state=0).fit(X, y)
    monkeypatch.setattr(memory, "free_bytes", lambda: 0)
    monkeypatch.setattr(_chosen, "_KEPT_BYTES", 0)
    monkeypatch.setattr(_chosen, "_DECODED", 100)
    room = tmp_path / "temporary"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    files = []
    mapped = memory.mmap.mmap
    monkeypatch.setattr(memory.mmap, "mmap", lambda *args: files.append(args) or mapped(*args))
    assert_same_model(HistGradientBoostingRegressor(max_iter=3, random_state=0).fit(X, y), expected)
    assert len(files) == 1
    assert not list(room.iterdir())


def test_memory_is_two_bytes_a_cell_and_some_numbers_a_row(tmp_path, monkeypatch):
    n, d = 200_000, 32
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.integers(0, 1000, n).astype(np.float32) for j in range(d)}
    pl.DataFrame({**columns, "y": columns["x0"]}).write_parquet(tmp_path / "long.parquet", row_group_size=20_000)
    del columns
    table = learnt.scan(tmp_path / "long.parquet")
    monkeypatch.setattr(tables, "_READ_BYTES", 1 << 21)
    monkeypatch.setattr(_bins, "_SAMPLE", 5000)
    model = HistGradientBoostingRegressor(max_iter=2, max_leaf_nodes=4, early_stopping=False, random_state=0)
    model.fit(table.drop("y"), table["y"])  # what compiling takes is not traced
    tracemalloc.start()
    try:
        model.fit(table.drop("y"), table["y"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # codes by column and by row; at most ten float64 a row (y, scores, gradients, hessians, row numbers, …); a piece of
    # the file and its codes, the sample in two forms and histograms in what is left
    bound = n * (2 * d + 80) + (1 << 23)
    assert peak < bound < 8 * n * d


def test_what_is_refused(tmp_path):
    import dask
    import dask.dataframe as dd

    X, y, _, _ = in_a_file(tmp_path)
    model = HistGradientBoostingRegressor(max_iter=1)
    with pytest.raises(ValueError, match="X has 1500 rows but y has 3"):
        model.fit(X, np.zeros(3))
    values = FRAME["y"].to_numpy(writable=True)
    values[7] = np.nan
    with pytest.raises(ValueError, match=r"y contains NaN.*row 7"):
        model.fit(X, values)
    with pytest.raises(ValueError, match="estimator requires y to be passed"):
        model.fit(X, None)
    model.fit(X, y)
    with pytest.raises(TypeError, match="needs the whole table in memory"):
        next(model.staged_predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[["b", "a", "c", "town"]])
    pandas = FRAME[NAMES].to_pandas()
    parts = [dask.delayed(pandas.iloc[:700]), dask.delayed(pandas.iloc[700:].rename(columns={"b": "z"}))]
    rows = dd.from_delayed(parts, meta=pandas.iloc[:0], verify_meta=False)
    with pytest.raises(ValueError, match=r"differs in its columns \(z\) from the first"):
        model.fit(rows, FRAME["y"].to_numpy())
    dates = FRAME.with_columns(town=pl.lit(1).cast(pl.Date))
    with pytest.raises(ValueError, match="column 'town' of X holds Date"):
        model.fit(*in_a_file(tmp_path, dates)[:2])
