"""A table looked through: what is said of it is what it holds."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.study.conftest import EVIL, class_table

import learnt
from learnt.cli._run import run
from learnt.study import StudyError, example_path, read_table


@pytest.fixture(scope="module")
def table():
    return class_table()


def test_each_column_is_what_it_holds(table):
    found = learnt.profile(table, "outcome")
    frame = found.frame
    kinds = dict(zip(frame["column"], frame["kind"]))
    assert (kinds["row_id"], kinds["town"], kinds["price"]) == ("identifier", "category", "number")
    missing = dict(zip(frame["column"], frame["missing"]))
    assert missing["z"] == pytest.approx(table["z"].null_count() / len(table))
    assert "outcome" not in kinds
    explains = dict(zip(frame["column"], frame["explains"]))
    assert explains[EVIL] > 0.3 > explains["z"]
    for part in found.parts.values():
        assert sum(p.rows for p in part.parts) == len(table)
    assert any("row_id" in finding for finding in found.findings)


def test_without_a_target_nothing_is_explained(table):
    found = learnt.profile(table)
    assert "explains" not in found.frame.columns
    assert set(found.parts) >= {"z", "town", "outcome"}


def test_the_library_that_came_in(table):
    for given, kind in ((table.to_pandas(), pd.DataFrame), (table, pl.DataFrame), (example_path(), pl.DataFrame)):
        assert isinstance(learnt.profile(given).frame, kind)


def test_what_cannot_be_looked_at_is_a_sentence(table):
    with pytest.raises(StudyError, match=r"no column “outcme” .the target.; did you mean “outcome”"):
        learnt.profile(table, "outcme")
    with pytest.raises(StudyError, match="nothing to look at"):
        learnt.profile(pl.DataFrame({"a": [[1], [2]]}))


def test_lists_are_named_and_left_out(table):
    found = learnt.profile(table.with_columns(tags=pl.Series([[1, 2]] * len(table))))
    assert "tags" not in found.frame["column"]
    assert any("tags" in finding and "lists" in finding for finding in found.findings)


def test_of_a_long_table_a_sample_is_looked_at_and_that_is_said():
    rng = np.random.default_rng(0)
    found = learnt.profile(pl.DataFrame({"x": rng.normal(size=31_000), "y": rng.normal(size=31_000)}), "y")
    assert found.rows == 31_000
    assert found.findings[-1] == "Looked at 30,000 of 31,000 rows, drawn at random."


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1280, "light")])
def test_the_page_reads_well_and_runs_nothing(table, open_page, tmp_path, width, scheme):
    page = tmp_path / "profile.html"
    shown = learnt.profile(table, "outcome")._repr_html_()
    page.write_text(f'<!doctype html><meta charset="utf-8"><body>{shown}</body>', encoding="utf-8")
    seen = open_page(page, width, scheme)
    assert seen.trouble == []
    assert seen.low_contrast() == []
    assert seen.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert seen.locator("svg").count() >= 4


def test_the_text_is_a_line_a_column(table):
    lines = repr(learnt.profile(table, "outcome")).splitlines()
    assert lines[0] == "table: 420 rows, 6 columns; target “outcome”"
    assert sum(line.startswith("  ") for line in lines) == 5


def test_the_command_prints_it(orders, capsys):
    assert run(["profile", str(orders), "--target", "outcome"]) == 0
    shown = capsys.readouterr().out
    assert "town" in shown
    assert "identifier" in shown
    assert run(["profile", str(orders), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == len(read_table(orders))
    assert run(["profile", str(orders), "-t", "outcme"]) == 2
    assert "did you mean" in capsys.readouterr().err
