"""Every second of a study is somebody's, and the budget is what one waits for once the table is read."""

import re

import pytest

from learnt.study import _run
from learnt.study._clock import STEPS, beyond_half, note_total, time_spent
from learnt.study._session import Session
from learnt.study.race._budget import Budget


@pytest.mark.parametrize(
    ("prepared", "budget", "added"), [(0.0, 60.0, 0.0), (30.0, 60.0, 0.0), (31.0, 60.0, 1.0), (24.0, 3.0, 22.5)]
)
def test_half_of_a_budget_is_left_however_long_preparing_takes(prepared, budget, added):
    assert beyond_half(prepared, budget) == pytest.approx(added)
    now = [100.0]
    clock = Budget(budget, now[0], clock=lambda: now[0])
    now[0] += prepared
    clock.not_counted(beyond_half(prepared, budget))
    assert clock.left() >= budget / 2 - 1e-9
    assert clock.end <= 100 + max(budget, prepared + budget / 2) + 1e-9


def test_the_steps_of_a_study_add_up_to_all_of_its_time(classified):
    found, said = classified
    seconds, budget = found.facts["run"]["seconds"], found.facts["settings"]["budget"]
    assert set(STEPS) <= set(seconds)
    assert sum(seconds[step] for step in STEPS) == pytest.approx(seconds["total"])
    (line,) = [text for text in said if text.endswith("once the table was read.")]
    assert line == time_spent(seconds, budget)
    shown = float(re.search(r": ([0-9.]+) s of a budget of 600 s", line)[1])
    assert shown == pytest.approx(seconds["total"] - seconds["read"], abs=0.51)


def test_reading_is_not_taken_from_the_budget(monkeypatch, tmp_path):
    """However long a table takes to be read, the budget begins when it is there."""
    sessions, now = [], [1000.0]
    opened = _run.open_table

    def slow(*arguments):
        now[0] += 500.0
        return opened(*arguments)

    monkeypatch.setattr(_run.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(_run, "open_table", slow)
    monkeypatch.setattr(_run.RunningStudy, "all_steps", lambda self, table: sessions.append(self.session))
    _run.carry_out(None, None, out=tmp_path / "out", say=lambda text: None, budget=60)
    (session,) = sessions
    assert isinstance(session, Session)
    assert (session.budget.end, session.began, session.seconds["read"]) == (1560.0, 1000.0, 500.0)


def test_a_line_on_time_names_every_step_that_took_some():
    spent = {"read": 1.04, "profile": 0.0, "seal": 0.2, "compiling": 24.0, "race": 3.0, "not counted": 19.2}
    note_total(spent, 30.24)
    assert time_spent(spent, 10.0) == (
        "1 s to start and read, 0.2 to seal, 24 to compile, 3 to race, 2 to choose, fit and judge: 29 s of a budget of "
        "10 s and 19 s of preparing beyond half of it once the table was read."
    )
