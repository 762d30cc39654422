"""Every benchmark task runs at toy size, and the harness tells fast from slow and good from bad."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(FOLDER))

from harness import Task, cold_start, measure  # noqa: E402
from tasks import all_tasks  # noqa: E402


def a_few_of_each_family():
    """Every fourth task of a family, the first among them: `make bench` runs them all."""
    families = {}
    for task in all_tasks():
        families.setdefault(task.family, []).append(task)
    return [task for family, tasks in families.items() if family != "latency" for task in tasks[::4]]


@pytest.mark.long
@pytest.mark.parametrize("task", a_few_of_each_family(), ids=lambda t: t.name)
def test_tasks_run_and_agree_at_toy_size(task):
    data = task.make(task.toy)
    ours = task.quality(task.ours(data), data)
    theirs = [task.quality(peer(data), data) for peer in task.peers.values()]
    assert ours == ours
    if task.better == "same":
        assert theirs == pytest.approx([ours] * len(theirs), rel=1e-6, abs=1e-9)


def test_names_are_unique():
    names = [task.name for task in all_tasks()]
    assert len(names) == len(set(names))


def toy(ours_seconds, ours_quality):
    def wait(seconds, quality):
        def work(data):
            time.sleep(seconds)
            return quality

        return work

    return Task("t", "f", lambda n: {}, 1, wait(ours_seconds, ours_quality), {"peer": wait(0.02, 1.0)},
                lambda q, data: q, "loss", 2.0)  # fmt: skip


@pytest.fixture(scope="module")
def quick():
    """A peer takes 20 times as long for the same answer."""
    return measure(toy(0.001, 1.0), 5, 30.0)


@pytest.fixture(scope="module")
def slow_and_worse():
    return measure(toy(0.05, 1.1), 3, 1.0)


def test_a_worse_answer_is_not_equal(quick, slow_and_worse):
    assert quick.equal
    assert not slow_and_worse.equal


def test_ratio_is_peer_over_ours(quick, slow_and_worse):
    assert quick.ratio > 2
    assert slow_and_worse.ratio < 1


def test_ratio_is_between_its_quartiles(quick):
    assert quick.ratio_range[0] <= quick.ratio <= quick.ratio_range[1]
    assert quick.rounds == 5


def test_cold_start_sees_time_and_memory():
    def work(data):
        time.sleep(0.02)
        return bytearray(200 * 2**20 * data["n"] // 100)

    task = Task("t", "f", lambda n: {"n": n}, 100, work, {}, lambda r, data: 0.0, "—", 1.0, toy=1)
    seconds, mebibytes = cold_start(task, "learnt")
    assert seconds >= 0.02
    assert 150 < mebibytes < 300


@pytest.mark.long
def test_the_command_prints_a_table(tmp_path):
    command = [sys.executable, str(FOLDER / "run.py"), "log_loss 1000", "--quick", "--json", str(tmp_path / "out.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "| log_loss 1000 | scikit-learn |" in done.stdout
    header, titles, rule, row = done.stdout.splitlines()[:4]
    assert "scikit-learn" in header
    assert titles.count("|") == rule.count("|") == row.count("|")
    assert (tmp_path / "out.json").exists()
