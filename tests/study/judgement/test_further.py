"""The further sections of a report in the time there is."""

import time

import numpy as np
import polars as pl

from learnt.linear_model import LinearRegression
from learnt.pipeline import make_pipeline
from learnt.preprocessing import TableEncoder
from learnt.study._journal import Journal
from learnt.study._session import Session
from learnt.study._settings import Settings
from learnt.study.facts import Sections
from learnt.study.judgement._further import Predicted, further_sections, written_output
from learnt.study.race._budget import Budget
from learnt.study.table._problem import pose
from learnt.study.table._seal import seal


class Known:
    """What the sections read of the facts of a study."""

    importances = ()
    threshold = None
    decision = None
    beats_constant = True
    test = None


def made(tmp_path, seconds_ago, budget=100.0):
    rng = np.random.default_rng(0)
    x, town = rng.normal(size=300), rng.choice(["a", "b"], 300)
    table = pl.DataFrame({"x": x, "town": town, "y": x + (town == "a") + 0.1 * rng.normal(size=300)})
    problem = pose(table, "y")
    sealed = seal(problem, 0)
    model = make_pipeline(TableEncoder(), LinearRegression()).fit(
        problem.X[sealed.development], problem.y[sealed.development]
    )
    began = time.monotonic() - seconds_ago
    budget = Budget(budget, began)
    session = Session(Settings(target="y"), tmp_path, Journal(tmp_path / "j", "k"), print, budget, tmp_path, began)
    tested = model.predict(problem.X[sealed.test])
    held = Predicted(sealed.development, model.predict(problem.X[sealed.development]))
    return further_sections(Sections(), Known, problem, sealed, session, model, held, tested)


def test_with_time_there_are_all_sections(tmp_path):
    found = made(tmp_path, 0.0, 1e6)
    assert [e.direction for e in found.effects if e.column == "x"] == ["rises"]
    assert found.rows.worst[0].reasons
    assert found.groups.groups
    assert found.drift.columns
    assert found.columns


def test_late_only_quick_sections_are_made_and_later_none(tmp_path):
    late = made(tmp_path, 1e6 - 1.0, 1e6)
    assert late.columns
    assert late.groups.groups
    assert late.effects == ()
    assert late.rows.worst[0].reasons == ()
    assert made(tmp_path, 2e6, 1e6) == Sections()


def test_outputs_are_read_from_written_predictions():
    written = pl.DataFrame({"prediction": ["b"], "p(a)": [0.25], "p(b)": [0.75]})
    assert written_output(written, ["a", "b"]).tolist() == [[0.25, 0.75]]
    assert written_output(written, list(range(51))) is None
    assert written_output(pl.DataFrame({"prediction": [1.5]}), None).tolist() == [1.5]
