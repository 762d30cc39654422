"""One law for rows wherever they lie: the same questions have the same answers."""

import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

import learnt
from learnt.cluster import KMeans
from learnt.decomposition import PCA
from learnt.engine.rows import as_rows, tables
from learnt.erm import ERMClassifier, ERMRegressor
from learnt.linear_model import (
    BayesianRidge,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from learnt.linear_model.logistic._start import _collect, _take
from learnt.naive_bayes import GaussianNB
from learnt.preprocessing import StandardScaler

N, D = 6000, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * [1, 10, 1, 1] + [0, 0, 5, 0]
Y = X @ [1.0, 0.1, 0.0, -1.0] + RNG.normal(size=N)
LABELS = (Y > 0).astype(float)
WEIGHTS = RNG.uniform(0.5, 2, N)
NAMES = list("abcd")


def in_memory(folder):
    return X, Y, WEIGHTS


def in_a_file(folder):
    frame = pl.DataFrame(X, schema=NAMES).with_columns(y=pl.Series(Y), w=pl.Series(WEIGHTS), label=pl.Series(LABELS))
    frame.write_parquet(folder / "rows.parquet")
    table = learnt.scan(folder / "rows.parquet")
    return table[NAMES], table["y"], table["w"]


def in_dask_arrays(folder):
    import dask.array as da

    return da.from_array(X, chunks=(1700, D)), da.from_array(Y, chunks=1700), da.from_array(WEIGHTS, chunks=999)


def in_dask_frames(folder):
    import dask.dataframe as dd
    import pandas as pd

    frame = pd.DataFrame(X, columns=NAMES).assign(y=Y, w=WEIGHTS)
    parts = dd.from_pandas(frame, npartitions=5)
    return parts[NAMES], parts["y"], parts["w"]


@pytest.fixture(params=[in_memory, in_a_file, in_dask_arrays, in_dask_frames], ids=lambda place: place.__name__)
def data(request, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_READ_BYTES", 8 * D * 1234)  # several reads
    return request.param(tmp_path)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_READ_BYTES", 8 * D * 1234)
    in_a_file(tmp_path)
    return learnt.scan(tmp_path / "rows.parquet")


def places(block):
    """How many rows and, if the block is where it says, Σ i x_i."""
    index = block.start + np.arange(block.X.shape[0])
    return block.X.shape[0], index @ block.X, index @ block.y, index @ block.w


def starts(block):
    return block.start + np.arange(block.X.shape[0])


def test_every_kind_of_rows_agree(data):
    rows = as_rows(*data, n_jobs=1)
    assert rows.n_rows == N
    assert rows.n_features == D
    assert rows.n_jobs == 1
    assert rows.y is data[1]
    assert rows.w is data[2]
    index = np.arange(N)
    for found, expected in zip(rows.sum(places), (N, index @ X, index @ Y, index @ WEIGHTS), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    mapped = rows.map(starts)
    np.testing.assert_array_equal(mapped.compute() if hasattr(mapped, "compute") else mapped, index)
    head = rows.head(10)
    assert head.start == 0
    np.testing.assert_allclose(head.X, X[:10])


def test_a_sample_is_the_same_wherever_the_rows_are_stored(data):
    from learnt.linear_model.logistic._loss import Target

    rows = as_rows(data[0], np.asarray(LABELS, dtype=np.intp))
    target = Target(*[None] * len(Target._fields))._replace(labels=None)
    share, keep = 0.05, np.array([0.05, 0.2])
    found = rows.reduce(_take, _collect, target, share, keep)
    sample = np.concatenate([part[0] for part in found])
    whole = _take(as_rows(X, LABELS.astype(np.intp)).block(0, N), target, share, keep)[0][0]
    np.testing.assert_array_equal(sample, whole)
    assert len(np.unique(sample, axis=0)) == len(sample)
    # 5 % of one half and 20 % of the other, a binomial number of rows
    assert abs(len(sample) - 0.125 * N) < 5 * np.sqrt(0.125 * N)


@pytest.mark.parametrize(
    "model",
    [LinearRegression(), Ridge(), BayesianRidge(), ERMRegressor("squared", alpha=0.01)],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.sweep
def test_r2_of_lazy_rows(model, weighted, data):
    rows, y, w = data
    expected = model.fit(X, Y).score(X, Y, WEIGHTS if weighted else None)
    assert model.score(rows, y, w if weighted else None) == pytest.approx(expected, rel=1e-10)


def test_r2_of_several_and_of_constant_targets(table):
    model = LinearRegression().fit(table[NAMES], table[["y", "w"]])
    expected = LinearRegression().fit(X, np.column_stack([Y, WEIGHTS]))
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-12)
    assert model.score(table[NAMES], table[["y", "w"]]) == pytest.approx(
        expected.score(X, np.column_stack([Y, WEIGHTS])), rel=1e-10
    )
    constant = LinearRegression().fit(table[NAMES], np.ones(N))
    assert constant.score(table[NAMES], np.ones(N)) == 1.0


def test_deviance_and_density_of_lazy_rows(table):
    counts = np.exp(Y / 10)
    model = PoissonRegressor().fit(X, counts)
    assert model.score(table[NAMES], counts) == pytest.approx(model.score(X, counts), rel=1e-10)
    pca = PCA(2).fit(X)
    assert pca.score(table[NAMES]) == pytest.approx(pca.score(X), rel=1e-10)
    kmeans = KMeans(2, random_state=0).fit(X)
    assert kmeans.score(table[NAMES]) == pytest.approx(kmeans.score(X), rel=1e-10)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), GaussianNB(), ERMClassifier("log")], ids=lambda m: type(m).__name__
)
def test_accuracy_of_lazy_rows(model, table):
    import dask.array as da

    model.fit(X, LABELS)
    expected, weighted = model.score(X, LABELS), model.score(X, LABELS, WEIGHTS)
    assert model.score(table[NAMES], table["label"]) == pytest.approx(expected, rel=1e-12)
    assert model.score(table[NAMES], table["label"], table["w"]) == pytest.approx(weighted, rel=1e-12)
    lazy = da.from_array(X, chunks=(1700, D)), da.from_array(LABELS, chunks=1700)
    assert model.score(*lazy) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("model", [LinearRegression(), GaussianNB()], ids=lambda m: type(m).__name__)
def test_rows_in_memory_are_scored_by_a_target_that_is_not(model, data):
    """A transformer that brings rows into memory leaves the target where it is: Dask does not know its length."""
    target = data[1] if isinstance(model, LinearRegression) else data[1] > 0 if hasattr(data[1], "dask") else None
    if hasattr(target, "to_dask_array"):
        target = target.to_dask_array()
    known = Y if isinstance(model, LinearRegression) else Y > 0
    model.fit(X, known)
    target = known if target is None else target
    assert model.score(X, target, data[2]) == pytest.approx(model.score(X, known, WEIGHTS), rel=1e-12)


def test_columns_of_a_table_are_known_by_name(table):
    model = LinearRegression().fit(table[NAMES], table["y"])
    assert model.score(table[NAMES], table["y"]) == pytest.approx(LinearRegression().fit(X, Y).score(X, Y))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[NAMES[::-1]])


@pytest.mark.parametrize("step", [StandardScaler(), PCA(2), KMeans(3, random_state=0)], ids=lambda m: type(m).__name__)
def test_what_a_transformer_makes_of_a_table_is_a_table(step, table):
    there = step.fit(X).transform(table[NAMES])
    expected = step.transform(X)
    assert isinstance(there, tables.Table)
    assert there.shape == expected.shape
    assert there.columns == step.get_feature_names_out().tolist()
    np.testing.assert_allclose(there.to_numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(there[there.columns[1]].to_numpy(), expected[:, 1], atol=1e-12)
    np.testing.assert_allclose(there.drop(there.columns[0]).to_numpy(), expected[:, 1:], atol=1e-12)
    again = StandardScaler().fit(there).transform(there)
    np.testing.assert_allclose(again.to_numpy(), StandardScaler().fit_transform(expected), atol=1e-9)


def test_a_pipeline_over_a_table(table):
    model = make_pipeline(StandardScaler(), PCA(3), LinearRegression()).fit(table[NAMES], table["y"])
    expected = make_pipeline(StandardScaler(), PCA(3), LinearRegression()).fit(X, Y)
    frame = pl.DataFrame(X, schema=NAMES)
    np.testing.assert_allclose(model.predict(frame), expected.predict(X), atol=1e-9)
    np.testing.assert_allclose(model.predict(table[NAMES]), expected.predict(X), atol=1e-9)
    assert model.score(table[NAMES], table["y"]) == pytest.approx(expected.score(X, Y), rel=1e-10)
    scaler = StandardScaler().fit(X)
    back = scaler.inverse_transform(scaler.transform(table[NAMES]))
    np.testing.assert_allclose(back.to_numpy(), X, atol=1e-12)


def test_lengths_that_differ_are_refused(table):
    with pytest.raises(ValueError, match="X has 6000 rows but y has 5999"):
        LinearRegression().fit(table[NAMES], Y[:-1])
    with pytest.raises(TypeError, match="has columns, by name, but no rows to pick"):
        table[np.arange(3)]
    with pytest.raises(TypeError, match="not read into memory in silence"):
        np.asarray(table)


FIT = """
import resource, sys
import learnt, polars
from learnt.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from learnt.preprocessing import StandardScaler
table = learnt.scan(sys.argv[1])
X, y = table.drop("y"), table["y"]
make_pipeline(StandardScaler(), LinearRegression()).fit(X[["x0"]], y)
used = int([l for l in open("/proc/self/status") if l.startswith("VmData")][0].split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
    print("fitted", model[-1].solver_)
except MemoryError as error:
    print("refused:", error)
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's")
@pytest.mark.parametrize(("room", "outcome"), [(450, "fitted"), (150, "refused")])
def test_under_a_limit_of_memory_a_fit_ends_or_raises(room, outcome, tmp_path):
    """A table of 72 MB: smaller reads where there is less memory, and one sentence where there is too little."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(150_000, 60)), schema=[f"x{j}" for j in range(60)])
    frame.with_columns(y=pl.col("x0")).write_parquet(tmp_path / "t.parquet", row_group_size=10_000)
    command = [sys.executable, "-c", FIT, str(tmp_path / "t.parquet"), str(room << 20)]
    # Every thread of the reader holds a block, so the threads decide how much memory is needed.
    environment = {**os.environ, "POLARS_MAX_THREADS": "2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith(outcome), done.stdout
    if outcome == "refused":
        assert "MB more (ulimit) and reading t.parquet in blocks needs about" in done.stdout
