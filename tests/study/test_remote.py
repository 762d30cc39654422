"""The study's end of the worker: stopped from any thread, more than once, in the middle of an order."""

import queue
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from learnt.study import _remote
from learnt.study._remote import Failed, Worker


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
