"""Compiling ahead of the race: nothing more where code is there, processes that share the work where it is not."""

import threading
import time

import pytest

from learnt.study import _ahead
from learnt.study._ahead import Ahead
from learnt.study._families import candidates_for
from learnt.study._race import Entry, _ready
from learnt.study._remote import Failed

FAMILIES = list({c.family.model: c.family for c in candidates_for("classify")}.values())
BOOSTED, FOREST, TREE = (
    next(f.model for f in FAMILIES if f.name == name) for name in ("boosted trees", "random forest", "decision tree")
)


@pytest.fixture
def workers(monkeypatch):
    """Workers that answer when told to: `gate[model]` is an event, `order` the orders given so far."""

    class Pretend:
        gate = {family.model: threading.Event() for family in FAMILIES}
        order: list = []
        made: list = []
        seconds = 0.1
        trouble: set = set()

        def __init__(self, folder, threads=None, *, background=False):
            assert background
            Pretend.made.append(self)

        def call(self, do, timeout, *, spec, fold, rows, most, tested):
            Pretend.order.append((spec["model"], rows))
            Pretend.gate[spec["model"]].wait(20)
            if spec["model"] in Pretend.trouble:
                raise Failed("it did not work")
            return {"fit_s": Pretend.seconds}

        def stop(self):
            pass

    monkeypatch.setattr(_ahead, "Worker", Pretend)
    monkeypatch.setattr(_ahead, "QUICK", 1.0)
    monkeypatch.setattr(_ahead, "START_UP", -0.9)
    monkeypatch.setattr(_ahead, "thread_count", lambda: 2)
    return Pretend


def until(condition):
    limit = time.monotonic() + 20
    while not condition() and time.monotonic() < limit:
        time.sleep(0.01)
    assert condition()


def test_where_code_is_there_one_small_fit_tells_and_no_more_is_done(workers):
    workers.gate[BOOSTED].set()
    with Ahead("folder", FAMILIES, [900]) as ahead:
        ahead.start()
        until(lambda: not ahead.busy(BOOSTED) and all(ahead.turn(f.model) == 0 for f in FAMILIES))
        time.sleep(0.3)  # longer than the alarm
    assert workers.order == [(BOOSTED, 900)]
    assert len(workers.made) == 1


def test_where_it_is_not_processes_share_the_heavy_families_and_the_race_has_the_light_ones(workers):
    workers.seconds = 30.0
    entries = [Entry(c) for c in candidates_for("classify")]
    with Ahead("folder", FAMILIES, [1500, 4500]) as ahead:
        ahead.start()
        until(lambda: ahead.busy(FOREST))
        assert ahead.busy(BOOSTED)
        assert len(workers.made) == 2  # as many as cores
        first = _ready(entries, ahead, time.monotonic() + 5)
        assert {e.candidate.family.name for e in first} == {"constant"}
        rest = [e for e in entries if e not in first]
        assert {e.candidate.family.name for e in _ready(rest, ahead, time.monotonic() + 5)} == {"naive Bayes"}
        heavy = [e for e in entries if e.candidate.family.model in (BOOSTED, FOREST)]
        began = time.monotonic()
        _ready(heavy, ahead, began + 0.2)  # both are being compiled: waits, but not beyond the deadline
        assert 0.15 < time.monotonic() - began < 5
        workers.gate[BOOSTED].set()
        ready = _ready(heavy, ahead, time.monotonic() + 20)
        assert {e.candidate.family.model for e in ready} == {BOOSTED}
        for gate in workers.gate.values():
            gate.set()
        until(lambda: {(BOOSTED, 4500), (FOREST, 4500), (TREE, 4500)} <= set(workers.order))  # trees' other roads
    names = [model for model, rows in workers.order if rows == 1500]
    assert names[:2] == [BOOSTED, FOREST]
    assert not {f.model for f in FAMILIES if f.name in ("constant", "naive Bayes")} & set(names)  # the race's own


def test_a_family_that_fails_is_left_to_the_race(workers):
    workers.seconds, workers.trouble = 30.0, {BOOSTED}
    for gate in workers.gate.values():
        gate.set()
    with Ahead("folder", FAMILIES, [900]) as ahead:
        ahead.start()
        until(lambda: len(workers.order) == len(FAMILIES))
        until(lambda: not any(ahead.busy(f.model) for f in FAMILIES))
