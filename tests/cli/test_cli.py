"""The command: quick to answer, one sentence when something is wrong, exit codes that mean something."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from learnt.cli._app import COMMANDS
from learnt.cli._run import run

HEAVY = ("numpy", "scipy", "sklearn", "polars", "numba", "pandas", "pyarrow", "jinja2", "pydantic", "rich")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "ledger.jsonl"))
    monkeypatch.setenv("LEARNT_STUDY_BRIEF", "1")  # the leaders of each family, with few trees


def table(n=200, noise=False):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = rng.choice(["no", "yes"], n) if noise else np.where(x + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    return pl.DataFrame({"x": x, "kind": rng.choice(["a", "b"], n), "y": y})


def test_help_answers_at_once_and_imports_nothing_heavy():
    script = (
        "import sys, time; started = time.process_time()\n"
        "from learnt.cli._run import run\n"
        "code = run(['--help'])\n"
        f"heavy = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "print(code, heavy, time.process_time() - started, file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
    code, heavy, seconds = found.stderr.strip().rsplit("\n", 1)[-1].split(" ", 2)
    assert (code, heavy) == ("0", "[]")
    assert float(seconds) < 0.4  # of processor time, whatever else the machine does
    for command in COMMANDS:
        assert command in found.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["study", "nowhere.csv", "--target", "y"], "no file nowhere.csv"),
        (["study", "t.csv"], "--target"),
        (["study", "t.csv", "--target", "z"], "did you mean “y”|the columns are"),
        (["study", "t.csv", "--target", "y", "--budget", "soon"], "not a time"),
        (["study", "t.csv", "--target", "y", "--cost", "fn=3"], "fp=1,fn=10"),
        (["study", "t.csv", "--target", "y", "--task", "guess"], "auto, classify or regress"),
        (["study", "t.csv", "--target", "y", "--seed", "many"], "(?i)invalid value"),
        (["study", "t.csv", "--nonsense"], "No such option"),
        (["study", "t.csv", "--target", "y", "--metric", "roc_aux"], "There is no metric “roc_aux”; did you mean"),
        (["study", "t.csv", "--target", "y", "--metric", "confusion_matrix"], "not a single number"),
        (["study", "t.csv", "--target", "y", "--keep", "z"], r"There is no column .z. \(a column to keep\)"),
        (["study", "bare.csv", "--target", "2"], "looks like data.*--no-header"),
        (["study", "bare.csv", "--no-header", "--target", "9"], "There is no column “9”"),
        (["study", "theirs.parquet", "--no-header", "--target", "y"], "leave --no-header out"),
        (["study", "t.csv", "--target", "y", "--out", "full"], "was not written by a study.*--overwrite"),
        (["nonsense"], "No such command nonsense"),
        (["studdy"], r"did you mean study\? See learnt --help"),
        (["--versio"], r"No such option --versio: did you mean --version\? See learnt --help"),
        (["study", "t.csv", "--budgt", "9"], r"--budgt: did you mean --budget\? See learnt study --help"),
        (["study", "t.csv", "--target"], "--target needs a value"),
        (["study", "t.csv", "more.csv"], "Too many arguments: more.csv; see learnt study --help"),
        (["predict", "model.learnt"], "Missing: table; see learnt predict --help"),
        (["serve", "o", "--port", "99999"], "Invalid value for --port: it is 99999, and can be 0 to 65535"),
        (["evaluate", "nowhere", "--json", "t.csv"], "no such file"),  # options may stand between two arguments
        (["study", "broken.csv", "--target", "y"], "Line 3 of broken.csv"),
        (["predict", "nowhere.learnt", "t.csv"], "no such file"),
        (["predict", "t.csv", "t.csv"], "cannot be loaded"),
        (["inspect", "t.csv"], "cannot be inspected"),
        (["inspect", "."], "no finished study"),
    ],
)
def test_every_error_is_one_sentence_on_stderr_with_exit_code_2(capfd, tmp_path, arguments, said):
    table(60).write_csv("t.csv")
    (tmp_path / "broken.csv").write_text("x,y\n1,no\n2,yes,3\n")
    (tmp_path / "bare.csv").write_text("1.5,yes\n2.5,no\n3.5,yes\n")
    table(60).write_parquet("theirs.parquet")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "report.html").write_text("<p>mine</p>")
    assert run(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.strip().split("\n")
    assert len(lines) == 1, err
    assert lines[0].startswith("learnt: ")

    assert re.search(said, lines[0]), lines[0]
    assert "Traceback" not in err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(capfd, command):
    assert run([command, "--help"]) == 0
    shown = capfd.readouterr().out
    assert shown.startswith(f"usage: learnt {command}")


def test_options_are_read_as_they_are_meant(monkeypatch):
    import learnt.cli._study as told

    asked = []
    monkeypatch.setattr(told, "run_study", lambda *named, **options: asked.append((named, options)) or 0)
    assert (
        run(
            [
                "study",
                "--target=y",
                "t.csv",
                "--keep",
                "a",
                "--keep",
                "b",
                "--no-header",
                "--seed",
                "3",
                "-q",
                "--budget",
                "2m",
                "--threads",
                "1",
            ]
        )
        == 0
    )
    ((table, target), rest) = asked[0]
    assert (table, target, rest["budget"], rest["quiet"], rest["require_better"]) == ("t.csv", "y", "2m", True, False)
    options = rest["options"]
    assert (options["keep"], options["drop"], options["header"], options["seed"]) == (["a", "b"], None, False, 3)
    assert options["threads"] == 1
    assert run(["study"]) == 0
    assert asked[1][0] == (None, None)
    assert asked[1][1]["options"]["header"] is None


def test_debug_shows_the_traceback():
    with pytest.raises(ValueError, match="no file"):
        run(["study", "nowhere.csv", "--target", "y", "--debug"])


@pytest.mark.long
def test_noise_in_a_file_without_names_ends_with_exit_code_3_only_with_the_option(capfd):
    table(160, noise=True).write_csv("n.csv", include_header=False)
    command = ["study", "n.csv", "--no-header", "--target", "3", "--out", "o", "--budget", "10m"]
    assert run(command) == 0
    out, _ = capfd.readouterr()
    assert run([*command, "--require-better", "--quiet"]) == 3
    assert capfd.readouterr().out.strip() == os.path.join("o", "report.html")
    assert run(["study", "n.csv", "--no-header", "--target", "2", "--out", "o"]) == 2
    assert "another target" in capfd.readouterr().err  # nothing of the first study is replaced
    table(5).drop("y").write_csv("new.csv", include_header=False)
    assert run(["predict", "o", "new.csv", "--no-header"]) == 0
    assert capfd.readouterr().out.count("\n") == 6
    assert re.search("No model predicts|None of the [0-9]+ models there was time for", out)
    assert os.path.exists(out.rstrip().split("\n")[-1])
    with open("o/study.json", encoding="utf-8") as file:
        area = json.load(file)["test"]["auc"]
    assert area["low"] <= 0.5 <= area["high"]


@pytest.mark.long
def test_ctrl_c_reports_what_was_kept(tmp_path):
    table(3000).write_csv("t.csv")
    process = subprocess.Popen(
        [sys.executable, "-m", "learnt.cli", "study", "t.csv", "--target", "y", "--out", "o"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = tmp_path / "o" / "journal.jsonl"
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and (not journal.exists() or journal.read_bytes().count(b"\n") < 2):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    last = err.strip().split("\n")[-1]
    assert "results are kept in o" in last
    assert "run the same command again" in last
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize("moment", ["learnt.study.race._process.process_count", "learnt.cli._run.run"])
def test_ctrl_c_before_anything_was_done_is_a_sentence_too(moment):
    """While the command loads, and before a study begins."""
    module, _, name = moment.rpartition(".")
    script = (
        "import importlib, sys\n"
        "def stop(*_): raise KeyboardInterrupt\n"
        f"setattr(importlib.import_module({module!r}), {name!r}, stop)\n"
        "from learnt.cli import main\n"
        "main(['study', 't.csv', '--target', 'y'])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "learnt: Interrupted.\n")


def test_info_names_versions_threads_and_cache(capfd):
    assert run(["info"]) == 0
    shown = capfd.readouterr().out
    for word in ("learnt", "numpy", "scikit-learn", "threads", "BLAS", "kernel cache", "GPU"):
        assert word in shown


def test_info_lists_what_the_package_itself_says_it_needs(monkeypatch):
    """Nothing is listed by hand: a package that is no longer needed is gone, a new extra is there."""
    from importlib import metadata

    from learnt.cli import _info

    needed, extras = _info.packages(metadata.requires("learnt"))
    shown = dict(_info.facts())
    assert {name: shown[name] for name in needed} == {name: metadata.version(name) for name in needed}
    assert {"ann", "cluster", "nets"} <= set(extras)
    assert not {"dev", "safetensors", "hnswlib"} & {*needed, *extras, *(n for names in extras.values() for n in names)}
    requires = ["numpy>=1", "no-such-package>=2; extra == 'more'", "scipy; extra == 'less'", "ruff; extra == 'dev'"]
    monkeypatch.setattr(metadata, "requires", lambda name: requires)
    shown = dict(_info.facts())
    assert shown["extra more"] == 'pip install "learnt[more]"'
    assert shown["extra less"] == f"scipy {metadata.version('scipy')}"
    assert "extra dev" not in shown


def test_version(capfd):
    from learnt import __version__

    assert run(["--version"]) == 0
    assert capfd.readouterr().out.strip() == f"learnt {__version__}"


@pytest.mark.long
def test_warmup_fits_everything_it_lists():
    """With the kernels that other tests have compiled, where there are any."""
    from learnt.cli._warmup import warm

    assert warm() == []


def test_warmup_removes_what_is_kept(capfd, monkeypatch, tmp_path):
    monkeypatch.setenv("LEARNT_CACHE_DIR", str(tmp_path / "kernels"))
    from learnt.engine.kernel import cache as kernel_cache

    # A process of its own, in which nothing is compiled yet.
    code = "from learnt.cli._warmup import warm_one; assert warm_one('learnt.linear_model.MatchingPursuit') == []"
    subprocess.run([sys.executable, "-c", code], check=True)
    kept = kernel_cache.info().entries
    assert kept > 0
    assert run(["warmup", "--clear"]) == 0
    assert f"{kept} compiled kernels removed" in capfd.readouterr().out
    assert kernel_cache.info().entries == 0


def test_warmup_knows_fits_of_every_estimator():
    from learnt.engine.estimator import TARGETS, warmup_of
    from learnt.persistence._registry import estimators

    for name, cls in estimators().items():
        fits = warmup_of(cls)
        assert fits, name
        for fit in fits:
            assert fit.target in TARGETS
            assert cls(**fit.settings).get_params().keys() >= fit.settings.keys()


def test_bench_compares_with_a_peer():
    from sklearn.linear_model import Ridge as Theirs

    from learnt.cli._bench import TASKS, compare
    from learnt.linear_model import Ridge

    seconds, quality = compare(Ridge, Theirs, "amount", rows=500)
    assert all(s > 0 for s in seconds)
    assert quality[0] == pytest.approx(quality[1])
    assert {"linear", "cluster"} <= set(TASKS)
