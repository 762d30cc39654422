"""Rows unlike all that was learnt from are named, and fresh rows of the same source hardly ever are."""

import datetime

import numpy as np
import polars as pl
import pytest

import learnt
from learnt.linear_model import LogisticRegression
from learnt.pipeline import make_pipeline
from learnt.preprocessing import TableEncoder
from learnt.study import predict_table
from learnt.study._model import SavedModel
from learnt.study._predict import ModelNotes
from learnt.study._unlike import OFTEN, USUAL_ROWS, reach, unlike_rows
from learnt.study.table._problem import pose


def zipf(rng, n, levels):
    shares = 1 / np.arange(1, levels + 1)
    return [f"level {k}" for k in rng.choice(levels, n, p=shares / shares.sum())]


SOURCES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: rng.lognormal(sigma=1.5, size=n),
    "no variance": lambda rng, n: rng.standard_t(2, size=n),
    "counts": lambda rng, n: rng.poisson(1.0, n),
    "mostly zero": lambda rng, n: rng.poisson(3.0, n) * (rng.random(n) < 0.05),
    "dates": lambda rng, n: [datetime.date(2020, 1, 1) + datetime.timedelta(int(k)) for k in rng.integers(0, 700, n)],
    "few levels": lambda rng, n: zipf(rng, n, 6),
    "many levels": lambda rng, n: zipf(rng, n, 200),
    "a level a few rows": lambda rng, n: [f"user {k}" for k in rng.integers(0, n // 3, n)],
    "money": lambda rng, n: [f"${v:,.2f}" for v in rng.lognormal(4, 1, n)],
}


@pytest.mark.parametrize(("rows", "copies"), [(100, 1), (1000, 2)])
def test_fresh_rows_of_the_same_source_are_named_in_less_than_one_per_cent(rows, copies):
    """All kinds of columns at once: a row is named where any of them is unlike."""
    named, fresh, repeats = 0, 1000, 4
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        both = {f"{name} {k}": draw(rng, rows + fresh) for name, draw in SOURCES.items() for k in range(copies)}
        table = pl.DataFrame(both)
        learnt_from, new = table.head(rows), table.tail(fresh)
        y = rng.random(rows) < 0.5
        found = pose(learnt_from.with_columns(y=pl.Series(y)), "y", time="none", keep=tuple(table.columns))
        once = {c["name"]: c["once"] for c in found.columns if "once" in c}
        encoder = TableEncoder().fit(learnt_from, y)
        said = unlike_rows(encoder, new, rows, once)
        assert unlike_rows(encoder, learnt_from, rows, once) == [None] * rows  # what was seen is never unlike
        named += sum(entry is not None for entry in said)
    assert named < 0.01 * repeats * fresh


def test_the_reach_of_the_formula():
    """Of n rows with tail t**-2 the largest is about √n, and c times it is exceeded in c**-2/n of rows."""
    for rows, columns in ((100, 10), (400, 40), (1000, 100)):
        c = reach(rows, columns) + 1
        assert columns * c**-2 / rows == pytest.approx(OFTEN)
    assert reach(10_000, 5) == 1.0


AGES = np.linspace(18, 95, 400).round()
LEARNT = pl.DataFrame(
    {
        "age": AGES,
        "joined": [datetime.date(2019, 1, 1) + datetime.timedelta(int(3 * k)) for k in range(400)],
        "city": ["Oslo", "Rome", "Bern", "Lima"] * 100,
        "user": [f"u{k}" for k in range(200)] * 2,
        "price": [f"${k + 1},000" for k in range(100)] * 4,
    }
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("unlike") / "model.learnt"
    y = np.where(AGES + 10 * np.random.default_rng(0).normal(size=400) > 50, "yes", "no")
    learnt.save(make_pipeline(TableEncoder(), LogisticRegression()).fit(LEARNT, y), path)
    once = {"city": 0.0, "user": 0.0}
    ModelNotes("y", "classify", threshold=0.5, half_width=None, positive="yes", rows=400, once=once).write(path)
    return path


def like(**cells):
    return pl.DataFrame([{**LEARNT.row(7, named=True), **cells}], schema=LEARNT.schema)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({}, None),
        ({"age": 900.0}, "age = 900 (learnt from 18 to 95)"),
        ({"age": -900.5}, "age = -900.5 (learnt from 18 to 95)"),
        ({"age": 130.0}, None),  # beyond the largest, by less than the range
        ({"age": None}, None),
        ({"city": "Atlantis"}, "city = Atlantis (never seen in learning)"),
        ({"city": " Oslo "}, None),
        ({"city": None}, None),
        ({"user": "u999"}, "user = u999 (never seen in learning)"),
        ({"price": "$900k"}, "price = 900000 (learnt from 1000 to 100000)"),
        ({"joined": datetime.date(2022, 5, 1)}, None),
        (
            {"joined": datetime.date(2087, 5, 1), "city": "X", "user": "Y", "age": 1e9},
            "age = 1000000000 (learnt from 18 to 95); joined = 2087-05-01 (learnt from 2019-01-01 to 2022-04-12); "
            "city = X (never seen in learning); 1 more column",
        ),
    ],
)
def test_what_is_unlike_is_said_with_what_was_learnt_from(model, cells, said):
    assert predict_table(model, like(**cells))["unlike"].to_list() == [said]


def test_one_line_says_how_many_and_the_first(model):
    told = []
    rows = pl.concat([like(), like(city="Atlantis"), like(), like(age=900.0)])
    found = predict_table(model, rows, say=told.append)
    assert found.columns[-1] == "unlike"
    assert found["unlike"].is_null().to_list() == [True, False, True, False]
    assert told == [
        "Of 4 rows 2 are unlike all that the model was learnt from; the first, row 2: "
        "city = Atlantis (never seen in learning)."
    ]
    told.clear()
    predict_table(model, LEARNT, say=told.append)
    assert told == []


def test_a_column_with_levels_met_once_stays_silent(model):
    """Without knowing how rare its levels were, a coding of means does not tell a new level from a rare one."""
    saved = SavedModel.open(model)
    assert unlike_rows(saved.encoder, like(user="u999", city="X")) == ["city = X (never seen in learning)"]
    assert unlike_rows(saved.encoder, like(user="u999"), 400, {"user": 0.01}) == [None]
    assert USUAL_ROWS == 1000


def test_a_model_of_an_array_has_no_ranges(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    learnt.save(LogisticRegression().fit(X, X[:, 0] > 0), tmp_path / "array.learnt")
    found = predict_table(tmp_path / "array.learnt", pl.DataFrame({"a": [900.0], "b": [0.0]}))
    assert found["unlike"].to_list() == [None]
