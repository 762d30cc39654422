"""The folder of a study: one study at a time, killed ones forgotten, and nothing of another's replaced unasked."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import asdict

import polars as pl
import pytest

from learnt.study import Settings, StudyError, _folder, study
from learnt.study._folder import check_nothing_is_lost, folder_of_a_study, held
from learnt.study._journal import Journal

OURS = '<!doctype html><meta name="generator" content="learnt 1.0">'


def finished(folder, settings, data_hash="h1", report=OURS):
    facts = {"learnt": "1.0", "table": "t", "settings": asdict(settings), "data": {"hash": data_hash, "rows": 99}}
    (folder / "study.json").write_text(json.dumps(facts))
    (folder / "report.html").write_text(report)


@pytest.fixture(params=["system's lock", "written name only"])
def locks(request, monkeypatch):
    if request.param == "written name only":
        monkeypatch.setattr(_folder, "fcntl", None)


@pytest.mark.usefixtures("locks")
def test_a_folder_is_held_by_one_study_and_free_afterwards(tmp_path):
    with held(tmp_path):
        said = f"Another study is writing to .*process {os.getpid()} on .*--out"
        with pytest.raises(StudyError, match=said), held(tmp_path):
            pass
        assert (tmp_path / ".lock").exists()  # the second try has not taken it away
    assert list(tmp_path.iterdir()) == []
    with held(tmp_path):
        pass


@pytest.mark.usefixtures("locks")
def test_a_lock_left_by_a_killed_study_does_not_block(tmp_path):
    gone = subprocess.Popen([sys.executable, "-S", "-c", ""])
    gone.wait()
    who = {"pid": gone.pid, "host": socket.gethostname(), "since": "2026-01-01T00:00:00"}
    for left in (json.dumps(who), "", "half a li", '["no", "holder"]'):
        (tmp_path / ".lock").write_text(left)
        with held(tmp_path):
            assert json.loads((tmp_path / ".lock").read_text())["pid"] == os.getpid()


def test_without_system_locks_a_study_on_another_machine_counts_as_running(tmp_path, monkeypatch):
    monkeypatch.setattr(_folder, "fcntl", None)
    (tmp_path / ".lock").write_text(json.dumps({"pid": 1, "host": "elsewhere", "since": "noon"}))
    said = r"on elsewhere, since noon.*delete .*\.lock if it has ended"
    with pytest.raises(StudyError, match=said), held(tmp_path):
        pass


def test_two_processes(tmp_path):
    """The lock of a process that is killed is gone with it."""
    script = f"""
import sys, time
from pathlib import Path
from learnt.study._folder import held
with held(Path({str(tmp_path)!r})):
    print("held", flush=True)
    time.sleep(60)
"""
    other = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StudyError, match=f"process {other.pid}"), held(tmp_path):
            pass
    finally:
        other.kill()
        other.communicate()
    with held(tmp_path):
        pass


def test_the_same_study_continues_in_its_folder(tmp_path):
    asked = Settings(target="y", keep=("a",), budget=5)
    check_nothing_is_lost(tmp_path, asked, "h1")  # an empty folder
    finished(tmp_path, asked)
    check_nothing_is_lost(tmp_path, asked, "h1")
    more = Settings(target="y", keep=("a",), budget=900, cost=(1.0, 5.0), threads=1, fresh=True)
    check_nothing_is_lost(tmp_path, more, "h1")
    facts = json.loads((tmp_path / "study.json").read_text())
    del facts["settings"]["metric"]  # a study of an older version, which did not have it
    (tmp_path / "study.json").write_text(json.dumps(facts))
    check_nothing_is_lost(tmp_path, asked, "h1")


@pytest.mark.parametrize(
    ("asked", "data", "said"),
    [
        ({"target": "y"}, "h2", r"another table \(t, 99 rows\)"),
        ({"target": "z"}, "h1", "another target, “y”"),
        ({"target": "y", "seed": 1}, "h1", "--seed 0, now 1"),
        ({"target": "y", "drop": ("a", "b")}, "h1", "--drop not given, now a, b"),
        ({"target": "y", "metric": "f1"}, "h1", "--metric not given, now f1"),
    ],
)
def test_another_study_is_not_replaced_without_the_option(tmp_path, asked, data, said):
    finished(tmp_path, Settings(target="y"))
    with pytest.raises(StudyError, match=f"holds the study of .*{said}.*--overwrite"):
        check_nothing_is_lost(tmp_path, Settings(**asked), data)
    check_nothing_is_lost(tmp_path, Settings(**asked, overwrite=True), data)


def test_files_that_are_not_ours_are_not_replaced_without_the_option(tmp_path):
    asked = Settings(target="y")
    for name in ("report.html", "model.learnt", "predictions.parquet", "study.json"):
        (tmp_path / name).write_text("somebody's work")
        with pytest.raises(StudyError, match=f"{name} was not written by a study of this folder; add --overwrite"):
            check_nothing_is_lost(tmp_path, asked, "h1")
        check_nothing_is_lost(tmp_path, Settings(target="y", overwrite=True), "h1")
        (tmp_path / name).unlink()
    (tmp_path / "notes.txt").write_text("in nobody's way")
    check_nothing_is_lost(tmp_path, asked, "h1")
    finished(tmp_path, asked, report="<html>my own page</html>")
    with pytest.raises(StudyError, match=r"report\.html was not written"):
        check_nothing_is_lost(tmp_path, asked, "h1")


NUMBERS = {"x": [k / 7 % 1 for k in range(40)], "z": [k * k % 11 for k in range(40)], "y": ["a", "b"] * 20}
BAD = {
    "one class": (NUMBERS | {"y": ["a"] * 40}, {}),
    "no target": (NUMBERS | {"y": [None] * 40}, {}),
    "few rows": ({name: cells[:8] for name, cells in NUMBERS.items()}, {}),
    "too many classes": (NUMBERS | {"y": [f"c{k}" for k in range(40)]}, {}),
    "nothing but the target": ({"y": NUMBERS["y"]}, {}),
    "only a constant": ({"x": [1.0] * 40, "y": NUMBERS["y"]}, {}),
    "no such target": (NUMBERS, {"target": "z2"}),
    "no such column": (NUMBERS, {"drop": "town"}),
    "no such time": (NUMBERS, {"time": "when"}),
    "too few groups": (NUMBERS, {"group": "half"}),
    "amounts that are text": (NUMBERS, {"task": "regress"}),
    "costs of amounts": (NUMBERS | {"y": NUMBERS["x"]}, {"cost": "fp=1,fn=2"}),
    "no such metric": (NUMBERS, {"metric": "bliss"}),
    "no time": (NUMBERS, {"budget": "soon"}),
}


@pytest.mark.parametrize("bad", BAD)
def test_a_failed_study_leaves_nothing_behind(bad, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns, options = BAD[bad]
    columns = columns | {"half": ["left", "right"] * (len(columns["y"]) // 2)} if bad == "too few groups" else columns
    options = {"budget": "3s", "threads": 1, **options}
    target = options.pop("target", "y")
    pl.DataFrame(columns).write_csv("t.csv")
    for out in (None, "deep/inside/out"):
        with pytest.raises(StudyError):
            study("t.csv", target, out=out, keep_sealed=True, **options)
        assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_failed_study_leaves_a_folder_that_was_there_as_it_was(tmp_path):
    (tmp_path / ".work-of another").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "journal.jsonl").write_text('{"key": "k", "kind": "fit", "name": "", "value": 1}\nhalf a li')
    before = {path.name: path.is_dir() or path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(StudyError, match="nothing to predict"):
        study(pl.DataFrame(BAD["one class"][0]), "y", out=tmp_path, budget="3s", threads=1, keep_sealed=True)
    before["journal.jsonl"] = before["journal.jsonl"].removesuffix(b"half a li")  # a killed study's, as ever
    assert {path.name: path.is_dir() or path.read_bytes() for path in tmp_path.iterdir()} == before


def stopped_after(folder, kind, value):
    """A study that is interrupted when it has written one record."""
    with folder_of_a_study(folder):
        (folder / ".work-k").mkdir(exist_ok=True)
        Journal(folder / "journal.jsonl", "k").add(kind, "ridge", value)
        raise KeyboardInterrupt


def test_what_was_computed_stays_when_a_study_is_stopped(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        stopped_after(out, "fit", {"loss": 0.5})
    assert sorted(path.name for path in out.iterdir()) == [".work-k", "journal.jsonl"]
    with pytest.raises(KeyboardInterrupt):
        stopped_after(out, "fresh", None)  # nothing came of it: the results are back
    assert Journal(out / "journal.jsonl", "k").get("fit", "ridge") == {"loss": 0.5}
