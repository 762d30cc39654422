"""Compiling ahead of the race: said once, before the clock starts; nothing at all where the code is there."""

import json

import pytest

from learnt.study import _ahead
from learnt.study._ahead import ANNOUNCEMENT, NOTHING_KEPT, compile_ahead
from learnt.study._families import candidates_for
from learnt.study._remote import Failed, TooSlow

FAMILIES = list({c.family.model: c.family for c in candidates_for("classify")}.values())
HEAVY = {family.model for family in FAMILIES if family.brief}


@pytest.fixture
def workers(monkeypatch, tmp_path):
    """Workers that answer at once: what they were asked, and whether they compile."""
    monkeypatch.setenv("LEARNT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("LEARNT_CACHE", raising=False)
    monkeypatch.setattr(_ahead, "thread_count", lambda n: n or 2)
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "meta.json").write_text(json.dumps({"classes": ["no", "yes"]}))

    class Pretend:
        orders: list = []
        made: list = []
        compiles = True
        trouble: dict = {}

        def __init__(self, folder=tmp_path, threads=None, *, background=False):
            self.folder, self.threads, self.background, self.stopped = folder, threads, background, False
            self.on_compile = lambda name: None
            Pretend.made.append(self)

        def call(self, do, timeout, **arguments):
            model = arguments["spec"]["model"] if "spec" in arguments else do
            Pretend.orders.append((model, arguments.get("rows")))
            if model in Pretend.trouble:
                raise Pretend.trouble[model]
            name = f"{model}.kernel"
            if Pretend.compiles:
                self.on_compile(f"learnt.somewhere.{model}")
                (tmp_path / "cache" / name).write_text("code")
            return {"used": [name]}

        def stop(self):
            self.stopped = True

    monkeypatch.setattr(_ahead, "Worker", Pretend)
    return Pretend


def test_every_family_is_rehearsed_once_the_heavy_ones_first_and_on_more_rows_too(workers):
    said = []
    assert compile_ahead(workers(), FAMILIES, [1500, 4500], said.append) > 0
    assert said == [ANNOUNCEMENT]
    assert sorted(model for model, rows in workers.orders if rows == 1500) == sorted(f.model for f in FAMILIES)
    assert {model for model, rows in workers.orders if rows == 4500} == HEAVY
    assert workers.orders[0][0] in HEAVY
    assert [w.background for w in workers.made] == [False, True, True]  # as many as cores, beside the race's own
    assert all(w.stopped for w in workers.made[1:])


def test_the_second_study_rehearses_nothing_and_says_nothing(workers, tmp_path):
    compile_ahead(workers(), FAMILIES, [900], lambda text: None)
    workers.orders.clear()
    said = []
    assert compile_ahead(workers(), FAMILIES, [900], said.append) == 0.0
    assert workers.orders == said == []
    next((tmp_path / "cache").glob("*.kernel")).unlink()
    compile_ahead(workers(), FAMILIES, [900], said.append)
    assert len(workers.orders) == len(FAMILIES) + 1
    assert said == [ANNOUNCEMENT]


def test_where_all_is_compiled_but_nobody_noted_it_nothing_is_said(workers):
    workers.compiles = False
    said = []
    compile_ahead(workers(), FAMILIES, [900], said.append)
    assert said == []
    assert len(workers.orders) == len(FAMILIES) + 1


@pytest.mark.parametrize("trouble", [Failed("it did not work"), TooSlow("stopped")])
def test_a_family_that_fails_is_left_to_the_race_and_tried_again_by_the_next_study(workers, trouble):
    workers.trouble = {FAMILIES[-1].model: trouble}
    compile_ahead(workers(), FAMILIES, [900], lambda text: None)
    assert len(workers.orders) == len(FAMILIES) + 1
    compile_ahead(workers(), FAMILIES, [900], lambda text: None)
    assert len(workers.orders) == 2 * (len(FAMILIES) + 1)


def test_where_nothing_can_be_kept_the_races_own_process_compiles(workers, monkeypatch):
    monkeypatch.setenv("LEARNT_CACHE", "0")
    said, own = [], workers()
    assert compile_ahead(own, FAMILIES, [900], said.append) > 0
    assert said == [NOTHING_KEPT]
    assert workers.made == [own]
    assert not own.stopped


def test_switched_off_nothing_is_compiled(workers, monkeypatch):
    monkeypatch.setenv("LEARNT_COMPILE", "0")
    assert compile_ahead(workers(), FAMILIES, [900], pytest.fail) == 0.0
    assert workers.orders == []
