"""Ctrl-C: compiled work ends on all threads, the error is the caller's, and later work is done as ever."""

import dis
import faulthandler
import gc
import itertools
import signal
import sys
import threading
import time
from functools import cache

import numpy as np
import pytest

from learnt.engine import threads
from learnt.engine.interrupts import Stopped, abandonable, check_stopped, entered, stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.engine.threads import run_tasks, set_threads, single_blas

HANGS = 60.0  # seconds after which a kernel that was not stopped gives up


@kernel
def spin(stop, most):
    """Until stopped, or `most` turns."""
    turns = 0
    while atomic_load(stop, 0) == 0 and turns < most:
        turns += 1
    return turns


@pytest.fixture(autouse=True)
def _compiled_and_many_threads():
    spin(np.zeros(1, np.int64), 1)
    set_threads(3)
    yield
    set_threads(None)


def forever():
    stop = np.zeros(1, np.int64)
    return stoppable(lambda: spin(stop, 1 << 40), stop)


class Alarm(Exception):
    """What a signal raises on the main thread."""


@pytest.fixture
def alarm():
    """Calls for a signal in a tenth of a second; the work must be over long before the second one, a minute later."""

    def ring(number, frame):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    gc.disable()  # Hypothesis has a callback in the garbage collector, and what a signal raises inside that is lost
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.1, HANGS)
    gc.enable()
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


needs_alarm = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")


def at_work():
    """Whether anything is computed in the background."""
    before = time.process_time()
    time.sleep(0.2)
    return time.process_time() - before > 0.1


def test_results_and_errors_come_through():
    stop = np.zeros(1, np.int64)
    assert stoppable(lambda: spin(stop, 5), stop) == 5
    assert stoppable(lambda: spin(stop, 5), stop, long=False) == 5
    with pytest.raises(ZeroDivisionError):
        stoppable(lambda: 1 // 0, stop)


def test_numpy_settings_go_along():
    stop = np.zeros(1, np.int64)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        stoppable(lambda: np.float64(1.0) / np.float64(0.0), stop)


@needs_alarm
def test_a_signal_stops_a_call_of_the_main_thread(alarm):
    alarm()
    with pytest.raises(Alarm):
        forever()
    assert not at_work()


@needs_alarm
def test_a_signal_leaves_a_call_that_cannot_be_stopped(alarm):
    """The error comes while the call goes on; it ends later, on its own thread."""
    let_go, ended = threading.Event(), threading.Event()

    def call():
        assert let_go.wait(HANGS)
        ended.set()

    alarm()
    with pytest.raises(Alarm):
        abandonable(call)
    assert not ended.is_set()
    let_go.set()
    assert ended.wait(HANGS)


def test_calls_that_are_not_left_give_results_and_errors():
    assert abandonable(lambda: 5) == 5
    assert abandonable(lambda: 5, long=False) == 5
    with pytest.raises(ZeroDivisionError):
        abandonable(lambda: 1 // 0)


@needs_alarm
@pytest.mark.parametrize("own", [True, False], ids=["the main thread works too", "the main thread waits"])
def test_a_signal_stops_all_tasks(alarm, own):
    begun, ended = threading.Event(), threading.Event()

    def task():
        if threading.current_thread() is threading.main_thread():
            assert begun.wait(HANGS)
            alarm()
            if not own:
                return
        begun.set()
        try:
            forever()
        except Stopped:
            ended.set()
            raise

    with pytest.raises(Alarm):
        run_tasks([task] * 2)
    assert ended.is_set()
    assert not at_work()
    assert run_tasks([lambda: 1] * 4) == [1] * 4


@needs_alarm
def test_a_signal_stops_loops_of_tasks_inside_tasks(alarm):
    def loop():
        while True:
            check_stopped()
            assert run_tasks([lambda: 1] * 3) == [1] * 3

    alarm()
    with pytest.raises(Alarm):
        run_tasks([loop] * 3)


def test_an_error_in_one_task_stops_the_others_and_is_the_one_seen():
    def fail():
        time.sleep(0.05)
        raise KeyError("the third")

    with pytest.raises(KeyError, match="the third"):
        run_tasks([forever, forever, fail])
    assert not at_work()


def test_work_stopped_inside_other_work_does_not_stop_that():
    def outer():
        with pytest.raises(KeyError):
            run_tasks([lambda: {}["missing"]] * 2)
        check_stopped()
        stop = np.zeros(1, np.int64)
        return stoppable(lambda: spin(stop, 7), stop)

    assert run_tasks([outer] * 3) == [7] * 3


def test_other_threads_are_not_the_main_one():
    seen = []

    def work():
        stop = np.zeros(1, np.int64)
        seen.append(stoppable(threading.get_ident, stop))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [thread.ident]


# --- an exception wherever Python may raise one


CHECKED = ("RESUME", "JUMP_BACKWARD")  # and after calls: there Python looks for signals


@cache
def interruptible(code):
    """Offsets of the instructions before which a signal may have been handled."""
    before, found = "RESUME", set()
    for instruction in dis.get_instructions(code):
        if before.startswith("CALL") or before in CHECKED:
            found.add(instruction.offset)
        before = instruction.opname
    return found


class Injection:
    """Raises an `Alarm` on this thread at the k-th moment at which a signal may be handled."""

    def __init__(self, k):
        self.left, self.raised = k, False

    def __call__(self, frame, event, argument):
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode" and not self.raised and frame.f_lasti in interruptible(frame.f_code):
            self.left -= 1
            if self.left < 0:
                self.raised = True
                raise Alarm
        return self

    def __enter__(self):
        sys.settrace(self)

    def __exit__(self, *_):
        sys.settrace(None)


def spin_for_a_while():
    stop = np.zeros(1, np.int64)
    return stoppable(lambda: spin(stop, 1000), stop)


@pytest.mark.parametrize(
    "work",
    [lambda: run_tasks([spin_for_a_while] * 3), spin_for_a_while, lambda: single_blas()(spin_for_a_while)()],
    ids=["tasks", "a call", "one thread of BLAS"],
)
def test_wherever_a_signal_is_handled_the_next_fit_runs(work):
    run_tasks([spin_for_a_while] * 3)
    before = [get_blas() for get_blas, _ in threads._blas_libraries()]
    faulthandler.dump_traceback_later(120, exit=True)  # a lock that stays locked
    try:
        for k in itertools.count():
            injection = Injection(k)
            try:
                with injection:
                    work()
            except Alarm:
                pass
            assert entered() is None
            assert not threads.inside_pool()
            assert run_tasks([spin_for_a_while] * 3) == [1000] * 3
            gc.collect()
            with single_blas():
                pass
            assert [get_blas() for get_blas, _ in threads._blas_libraries()] == before
            if not injection.raised:
                break
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert k > 20
