"""Compiling ahead of the race: said once, before the clock starts; nothing at all where the code is there."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter

import pytest

from learnt.engine.kernel import cache as kernel_cache
from learnt.study.race import _compilation
from learnt.study.race._candidates import candidates_for
from learnt.study.race._compilation import ANNOUNCEMENT, CHECKING, NO_CACHE, compile_ahead
from learnt.study.race._remote import Failed, TooSlow

FAMILIES = list({c.family.model: c.family for c in candidates_for("classify")}.values())
HEAVY = {family.model for family in FAMILIES if family.brief}


@pytest.fixture
def workers(monkeypatch, tmp_path):
    """Workers that answer at once: what they were asked, and whether they compile."""
    monkeypatch.setenv("LEARNT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("LEARNT_CACHE", raising=False)
    monkeypatch.setattr(_compilation, "thread_count", lambda n: n or 2)
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

    monkeypatch.setattr(_compilation, "Worker", Pretend)
    return Pretend


def test_every_family_is_rehearsed_on_few_and_on_more_rows_the_heavy_ones_first(workers):
    said = []
    assert compile_ahead(workers(), FAMILIES, [1500, 4500], said.append) > 0
    assert said == [ANNOUNCEMENT]
    for size in (1500, 4500):
        assert sorted(model for model, rows in workers.orders if rows == size) == sorted(f.model for f in FAMILIES)
    assert workers.orders[0][0] in HEAVY
    assert [w.background for w in workers.made] == [False, True, True]  # as many as cores, beside the race's own
    assert all(w.stopped for w in workers.made[1:])


def test_the_second_study_rehearses_nothing_silently(workers, tmp_path):
    compile_ahead(workers(), FAMILIES, [900], lambda text: None)
    workers.orders.clear()
    said = []
    assert compile_ahead(workers(), FAMILIES, [900], said.append) == 0.0
    assert workers.orders == said == []
    assert compile_ahead(workers(), FAMILIES, [600], said.append) == 0.0  # nor does a table of nearly the same size
    assert compile_ahead(workers(), FAMILIES, [100], lambda text: None) > 0
    workers.orders.clear()
    next((tmp_path / "cache").glob("*.kernel")).unlink()
    compile_ahead(workers(), FAMILIES, [900], said.append)
    assert len(workers.orders) == len(FAMILIES) + 1
    assert said == [ANNOUNCEMENT]


@pytest.mark.parametrize("silent", [1e9, 0.0])
def test_where_all_is_compiled_without_a_note_only_a_long_check_is_announced(workers, monkeypatch, silent):
    monkeypatch.setattr(_compilation, "SILENT", silent)
    workers.compiles = False
    said = []
    compile_ahead(workers(), FAMILIES, [900], said.append)
    assert said == ([CHECKING] if silent == 0 else [])
    assert len(workers.orders) == len(FAMILIES) + 1


def test_what_is_compiled_after_a_while_is_announced_too(monkeypatch):
    said, now = [], [0.0]
    announcement = _compilation._Announcement(ANNOUNCEMENT, 4, said.append, clock=lambda: now[0])
    announcement.advance()
    now[0] = 2 * _compilation.SILENT
    announcement.advance()
    announcement.advance()
    announcement.begin("learnt.tree.grow")
    announcement.begin("learnt.tree.grow")
    announcement.end()
    assert said == [CHECKING, ANNOUNCEMENT]


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
    assert said == [NO_CACHE]
    assert workers.made == [own]
    assert not own.stopped


def test_switched_off_nothing_is_compiled(workers, monkeypatch):
    monkeypatch.setenv("LEARNT_COMPILE", "0")
    assert compile_ahead(workers(), FAMILIES, [900], pytest.fail) == 0.0
    assert workers.orders == []


# The machine code a study needs, by kernel: how many types of arguments each is compiled for. What is compiled takes
# half a minute of a machine's first study, so a kernel or a type more is added here on purpose or not at all
# (`benchmarks/compile_time.py` says what it costs).
MOST_TYPES = {
    "_exponentials": 1,
    "_exponentials_single": 1,
    "_exponentiate": 1,
    "_gather": 1,
    "_solve_block": 1,
    "add_values": 1,
    "depth_first": 1,
    "encode_rows": 2,
    "equal_weight_edges": 1,
    "exact_order": 1,
    "find_classes": 1,
    "grow_plain": 3,
    "guide_to_edges": 1,
    "keep_smallest": 1,
    "lay_bytes": 1,
    "lay_floats": 1,
    "lay_nodes": 1,
    "rank_keys": 1,
    "round_rows": 1,
    "smo": 1,
    "sum_leaves": 2,
    "sweep": 1,
    "traverse_rows": 1,
    "work": 1,
}


def cache_without(folder, missing):
    """What a study needs of the cache in use, less some kernels."""
    folder.mkdir(mode=0o700)
    for name in MOST_TYPES.keys() - missing:
        for path in (path for place in kernel_cache.folders() for path in place.glob(f"{name}-*.kernel")):
            shutil.copy2(path, folder)
    return folder


@pytest.mark.long
def test_a_first_study_announces_compilation_and_a_second_does_not(orders, tmp_path):
    cache = cache_without(tmp_path / "cache", {"exact_order", "traverse_rows"})
    environment = os.environ | {"LEARNT_CACHE_DIR": str(cache)}
    environment.pop("LEARNT_CACHE", None)
    told = []
    for out in ("first", "second"):
        command = [sys.executable, "-m", "learnt.cli", "study", str(orders), "--target", "outcome", "--out", out]
        command += ["--budget", "10m"]  # the clock must not decide which models race
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stderr
        told.append(done.stderr)
    assert told[0].count(ANNOUNCEMENT) == 1
    assert _compilation.LABEL in told[0]
    assert ANNOUNCEMENT not in told[1]
    assert _compilation.LABEL not in told[1]
    facts = json.loads((tmp_path / "first" / "study.json").read_text(encoding="utf-8"))
    raced = {entry["family"] for entry in facts["race"]["entries"] if "loss" in entry}
    assert {"boosted trees", "random forest"} <= raced
    assert facts["run"]["seconds"]["compiling"] > 0
    (note,) = cache.glob("*.ready")
    used = Counter(name.partition("-")[0] for name in json.loads(note.read_text(encoding="utf-8")))
    assert {"exact_order", "traverse_rows"} <= set(used)
    assert {name: count for name, count in used.items() if count > MOST_TYPES.get(name, 0)} == {}
