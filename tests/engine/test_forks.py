"""A child that is forked while another thread compiles, imports or reports can do all of it itself."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from learnt.engine.cached import cached_property

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# `busy` starts work in another thread and returns once that thread is in the middle of it.
FORK = """
    import os, sys, threading, time, warnings
    import numpy as np
    warnings.simplefilter("ignore")  # Python's own about forks and threads

    def until(condition):
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, "the other thread never began"
            time.sleep(0.0005)

    def begin(work):
        threading.Thread(target=work, daemon=True).start()

    {busy}

    child = os.fork()
    if child == 0:
        {child}
        print("the child is done", flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    {child}
    print("the parent is done", os.waitstatus_to_exitcode(status), flush=True)
"""
COMPILING = """
    from learnt.engine.kernel import kernel
    @kernel
    def total(x):
        s = 0.0
        for i in range(x.size):
            s += np.sqrt(np.abs(x[i])) + np.sort(x)[0]
        return s
    @kernel
    def twice(x):
        return x + x
    assert twice(2.0) == 4.0
    from numba.core.compiler_lock import global_compiler_lock
    begin(lambda: total(np.ones(9)))
    until(lambda: not global_compiler_lock._lock.acquire(blocking=False) or global_compiler_lock._lock.release())
"""
IMPORTING = """
    from learnt.engine.kernel import kernel
    @kernel
    def twice(x):
        return x + x
    begin(lambda: twice(2.0))
    until(lambda: "numba" in sys.modules)
"""
LOADING_BLAS = """
    from learnt.engine import threads
    def hold():
        with threads.single_blas():
            time.sleep(0.5)
    begin(hold)
    until(lambda: "scipy.linalg" in sys.modules)
"""
REPORTING = """
    from learnt.engine import progress
    class Slow:
        def begin(self, bar): ...
        def update(self, bar):
            reporting.set()
            time.sleep(0.5)
        def end(self, bar): ...
    reporting = threading.Event()
    progress.show("off")
    progress._display = Slow()
    def report():
        with progress.task("work") as bar:
            bar.advance()
    begin(report)
    until(reporting.is_set)
"""
CASES = {
    "compiling": (COMPILING, "assert twice(2) == 4 and total(np.ones(9)) == 18.0"),
    "importing": (IMPORTING, "assert twice(2.0) == 4.0"),
    "loading BLAS": (LOADING_BLAS, "threads.run_tasks([time.time])"),
    "reporting": (REPORTING, "report()"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_child_forked_in_the_middle_of_it(case, tmp_path):
    busy, child = CASES[case]
    indented = textwrap.indent(textwrap.dedent(busy), "    ").strip()
    code = textwrap.dedent(FORK.format(busy=indented, child=child))
    env = {**os.environ, "LEARNT_CACHE_DIR": str(tmp_path)}
    pipe = subprocess.PIPE
    parent = subprocess.Popen(
        [sys.executable, "-c", code], env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )
    try:
        out, error = parent.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(parent.pid, signal.SIGKILL)  # the child, too, which hangs
        raise
    assert out.splitlines() == ["the child is done", "the parent is done 0"], error


def test_a_property_is_computed_once_and_waits_for_no_other_object():
    class Table:
        def __init__(self, other=None):
            self.other, self.times = other, 0

        @cached_property
        def total(self):
            """Of the table."""
            self.times += 1
            return self.times if self.other is None else self.other.total + 1

    inner = Table()
    outer = Table(inner)
    assert (outer.total, outer.total, inner.total) == (2, 2, 1)
    assert (outer.times, inner.times) == (1, 1)
    assert Table.total.__doc__ == "Of the table."
    assert not hasattr(Table, "lock")
