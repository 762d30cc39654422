"""Cells that were read otherwise than they are written are counted, and the first is named with its row."""

import json
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest

from learnt.preprocessing import TableEncoder
from learnt.study.table._misread import MOST_SAID
from learnt.study.table._problem import pose
from learnt.study.table._read import read_table

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=N)
Y = np.where(X + RNG.normal(size=N) > 0, "yes", "no")


def spoilt(cells, at, word="cheese"):
    cells = [str(cell) for cell in cells]
    for k in at:
        cells[k] = word
    return cells


def table(**columns):
    return pl.DataFrame({"x": X, "y": Y, **columns})


DATES = [f"2020-01-{1 + k % 28:02d}" for k in range(N)]


@pytest.mark.parametrize(
    ("cells", "kind", "said"),
    [
        (np.round(20 + 5 * X, 2), "number", "is no number and counts as missing; there are 3 such cells."),
        ([f"${1000 + 7 * k}" for k in range(N)], "number", "is no number and counts as missing"),
        (DATES, "date", "is no date and counts as missing"),
    ],
)
def test_the_count_and_the_first_row_are_those_that_were_spoilt(cells, kind, said, tmp_path):
    table(age=spoilt(cells, (16, 40, 41))).write_csv(tmp_path / "t.csv")
    found = pose(read_table(tmp_path / "t.csv"), "y", time="none")
    (entry,) = found.misread
    assert (entry.column, entry.kind, entry.count, entry.row, entry.cell) == ("age", kind, 3, 17, "cheese")
    assert any(note.startswith("Row 17, column “age”: “cheese”") and said in note for note in found.notes)
    assert json.loads(json.dumps([asdict(e) for e in found.misread]))[0]["row"] == 17
    encoder = TableEncoder().fit(found.X)  # the count is that of the encoder the models use
    assert next(c for c in encoder.columns_ if c["name"] == "age")["statistics"]["unreadable"] == 3


@pytest.mark.parametrize("marker", ["", "NA", "?", "-", "missing"])
def test_a_marker_for_missing_is_read_as_it_is_written(marker):
    assert pose(table(age=spoilt(np.round(20 + 5 * X, 2), (3, 5), marker)), "y").misread == []


def test_rows_are_counted_in_the_file_though_others_were_left_out():
    """Rows without a target come before."""
    y = [None] * 5 + Y.tolist()
    frame = pl.DataFrame({"x": [0.0] * 5 + X.tolist(), "age": ["7"] * 5 + spoilt(range(N), [2]), "y": y})
    (entry,) = pose(frame, "y").misread
    assert entry.row == 8
    assert frame["age"][entry.row - 1] == entry.cell == "cheese"


def test_infinite_numbers_count_too():
    x = X.copy()
    x[[4, 9]] = np.inf, -np.inf
    (entry,) = pose(pl.DataFrame({"x": x, "z": X**2, "y": Y}), "y").misread
    assert (entry.count, entry.row, entry.cell) == (2, 5, "inf")


def test_a_column_that_too_many_cells_make_words_of_is_named():
    """Read as words or as an identifier, which says nothing of the numbers in it."""
    for cells in (np.arange(N) % 9 + 1, np.round(X, 6)):
        (entry,) = pose(table(age=spoilt(cells, (7, 11, 30, 31))), "y").misread
        assert (entry.kind, entry.count, entry.row) == ("words", 4, 8)
        assert "mostly numbers" in entry.words
    for words in (["12a", "7b", "3c"] * 20, ["007", "012", "x"] * 20, ["Oslo", "Rome", "5"] * 20):
        assert pose(table(age=words), "y").misread == []


def test_a_target_of_amounts():
    found = pose(pl.DataFrame({"x": X, "price": spoilt(np.round(X + RNG.normal(size=N), 3), (2, 30))}), "price")
    (entry,) = found.misread
    assert (entry.target, entry.count, entry.row) == (True, 2, 3)
    assert entry.words.endswith("so the row is left out; there are 2 such cells.")
    assert len(found.y) == N - 2


def test_of_many_columns_the_first_are_said_and_the_others_counted():
    bad = {f"c{k}": spoilt(np.round(X + k * X**2, 3), (k, 50)) for k in range(MOST_SAID + 2)}
    found = pose(table(**bad), "y")
    assert len(found.misread) == MOST_SAID + 2
    assert sum("cheese" in note for note in found.notes) == MOST_SAID
    assert found.notes[-1] == "2 more columns hold 4 cells that could not be read either."
