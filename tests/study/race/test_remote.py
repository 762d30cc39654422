"""The study's end of the worker: stopped from any thread, more than once, in the middle of an order."""

import queue
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest

from learnt.study.race import _process, _remote
from learnt.study.race._candidates import candidates_for
from learnt.study.race._layout import write_rows
from learnt.study.race._remote import Failed, TooSlow, Worker, readiest


class Echo(Worker):
    """A worker whose process reads orders and never answers."""

    def _launch(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([sys.executable, "-S", "-c", "import sys; sys.stdin.read()"], **pipes)
        self._answers = queue.Queue()
        collect = threading.Thread(target=_remote._collect, args=(self._process.stdout, self._answers), daemon=True)
        collect.start()


def test_two_threads_stop_one_worker_at_the_same_moment(tmp_path):
    for _ in range(10):
        worker = Echo(tmp_path)
        worker.start()
        process, together = worker._process, threading.Barrier(2)

        def stop(worker=worker, together=together):
            together.wait(20)
            worker.stop()

        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(stop) for _ in range(2)]:
                done.result(20)
        assert process.poll() is not None
        worker.stop()


def test_an_order_under_way_ends_with_a_sentence_when_another_thread_stops_the_worker(tmp_path):
    worker = Echo(tmp_path)
    worker.start()
    process = worker._process
    threading.Timer(0.2, worker.stop).start()
    with pytest.raises(Failed, match="was stopped"):
        worker.call("evaluate", 30)
    assert process.poll() is not None
    with pytest.raises(Failed, match="was stopped"):  # and it does not start again behind one's back
        worker.call("evaluate", 30)
    assert worker._process is None


LISTENING = """
import json, signal, sys, time
at_work = False
def stop(*_):
    if at_work: raise KeyboardInterrupt
signal.signal(signal.SIGINT, stop)
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    order = json.loads(line)
    message = {"result": order["with"]}
    try:
        at_work = True
        time.sleep(order["with"].get("seconds", 0))
    except KeyboardInterrupt:
        message = {"stopped": True}
    at_work = False
    if broken := order["with"].get("broken"):
        message = {"failed": "half an import"} if sys.argv[1] == "1" else {"result": broken}
    print(json.dumps({"id": order["id"], **message}), flush=True)
"""


class Listening(Worker):
    """A worker whose process sleeps on order and stops when asked; only the first one can be broken."""

    launched = 0

    def _launch(self):
        self.launched += 1
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([sys.executable, "-S", "-c", LISTENING, str(self.launched)], **pipes)
        self._answers, self._ready, self._asked_to_stop = queue.Queue(), False, False
        collect = threading.Thread(target=_remote._collect, args=(self._process.stdout, self._answers), daemon=True)
        collect.start()


@pytest.fixture
def listening(tmp_path, monkeypatch):
    monkeypatch.setattr(_remote, "GRACE", 30.0)
    monkeypatch.setattr(_remote, "MOST_GRACE", 60.0)
    with Listening(tmp_path) as worker:
        worker.start()
        assert worker.call("rest", 60) == {}
        yield worker


def test_a_process_whose_time_is_over_stops_and_stays(listening):
    process = listening._process
    with pytest.raises(TooSlow):
        listening.call("rest", 0.2, seconds=1000)
    assert listening._process is process
    assert listening.ready
    process.send_signal(signal.SIGINT)  # too late: it waits for orders
    assert listening.call("rest", 60, seconds=0, x=1) == {"seconds": 0, "x": 1}
    assert listening.launched == 1


def test_what_fails_in_a_process_that_was_stopped_is_tried_in_a_fresh_one(listening):
    with pytest.raises(Failed, match="half an import"):
        listening.call("rest", 60, broken="yes")  # it had never been stopped: that is a failure
    with pytest.raises(TooSlow):
        listening.call("rest", 0.2, seconds=1000)
    assert listening.call("rest", 60, broken="yes") == "yes"
    assert listening.launched == 2


def test_the_readiest_worker_is_one_that_has_loaded(listening, tmp_path):
    fresh = Echo(tmp_path)
    assert readiest([fresh, listening]) is listening
    assert readiest([fresh]) is fresh


def test_processes_started_early_are_taken_over_and_the_others_end(tmp_path):
    with _process.head_start(threads=2, budget=60.0):
        early = [process for _, process in _process._early]
        assert len(early) == 2
        assert _process.take(tmp_path, threads=1) is None  # a process has its number of threads from its start
        with Worker(tmp_path, threads=2) as worker:
            worker.start()
            assert worker._process in early
            folds = [(np.arange(40), np.arange(40, 60))]
            write_rows(tmp_path, pl.DataFrame({"x": np.arange(60.0)}), np.arange(60) % 2, folds, [0, 1], 0)
            spec = candidates_for("classify")[1].spec()
            assert worker.call("evaluate", 120.0, spec=spec, fold=0, rows=40, most=40)["rows"] == 40
    assert all(process.poll() is not None for process in early)
    assert _process.take(tmp_path, threads=2) is None


@pytest.mark.parametrize(("load", "budget", "expected"), [(0.0, 4.0, 2), (0.0, 3.5, 1), (6.0, 11.0, 1), (6.0, 12.0, 2)])
def test_on_a_busy_machine_one_process_loads_where_the_time_is_short(monkeypatch, load, budget, expected):
    monkeypatch.setattr(_process.os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)
    monkeypatch.setattr(_process.os, "cpu_count", lambda: 2)
    _process.crowding.cache_clear()
    try:
        assert _process.process_count(2, budget) == expected
        monkeypatch.setattr(_process.os, "getloadavg", lambda: (0.0, 0.0, 0.0), raising=False)
        assert _process.process_count(2, budget) == expected  # the command and its study agree
    finally:
        _process.crowding.cache_clear()


def test_an_early_process_that_died_is_not_taken(tmp_path):
    with _process.head_start(threads=1, budget=5.0):
        ((_, process),) = _process._early
        process.kill()
        process.wait()
        with Worker(tmp_path, threads=1) as worker:
            worker.start()
            assert worker._process is not process
