"""Processes that need the same kernel at the same time: one compiles, the others wait, and nobody waits for ever."""

import os
import subprocess
import sys
import time

import pytest

from learnt.engine.kernel import cache as kernel_cache
from learnt.engine.kernel import kernel, lock
from learnt.engine.kernel.private_files import private_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the test holds locks by fcntl")

MODULE = """
from learnt.engine.kernel import kernel

@kernel
def total(x):
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s
"""
# Compiles slowly: until the other process is seen to wait.
FIRST = """
import os, time, numpy as np, module
from learnt.engine.kernel import compiler

def begun(name):
    open("begun", "w").close()
    while not os.path.exists("waiting"):
        time.sleep(0.01)

compiler.when_begun.append(begun)
print(module.total(np.arange(4.0)))
"""
SECOND = """
import time, numpy as np, module
from learnt.engine.kernel import compiler, lock

class Clock:
    monotonic = time.monotonic
    def sleep(seconds):
        open("waiting", "w").close()
        time.sleep(seconds)

lock.time, compiled = Clock, []
compiler.when_begun.append(compiled.append)
print(module.total(np.arange(4.0)), len(compiled))
"""
# Has every lock there is, and never frees one by itself.
HOLDER = """
import fcntl, sys, time
handle = open(sys.argv[1], "a")
fcntl.lockf(handle, fcntl.LOCK_EX)
print("locked", flush=True)
time.sleep(600)
"""


def start(folder, code):
    (folder / "module.py").write_text(MODULE)
    environment = {**os.environ, "LEARNT_CACHE_DIR": str(folder / "cache")}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.01)


@pytest.fixture
def holder(tmp_path):
    (tmp_path / "cache").mkdir()
    command = [sys.executable, "-S", "-c", HOLDER, str(tmp_path / "cache" / "compiling.lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def test_the_second_process_waits_for_what_the_first_compiles(tmp_path):
    first = start(tmp_path, FIRST)
    wait_for(tmp_path / "begun", first)
    second = start(tmp_path, SECOND)
    assert second.communicate(timeout=600)[0] == "6.0 0\n"
    assert first.communicate(timeout=600)[0] == "6.0\n"


def test_where_the_first_is_killed_the_second_compiles(tmp_path, holder):
    second = start(tmp_path, SECOND)
    wait_for(tmp_path / "waiting", second)
    assert second.poll() is None
    holder.kill()
    assert second.communicate(timeout=600)[0] == "6.0 1\n"


def test_nobody_waits_for_longer_than_the_limit(tmp_path, holder, monkeypatch):
    monkeypatch.setattr(lock, "LONGEST_WAIT", 0.05)
    with private_folder(tmp_path / "cache") as folder:
        assert lock.wait_or_lock(folder, "a", lambda: None) is None
        assert lock._handle() is None  # compiled without a lock


def test_a_lock_is_of_one_kernel_and_who_has_one_does_not_wait(tmp_path):
    other = "import sys; from pathlib import Path; from learnt.engine.kernel import lock, private_files\n"
    other += "with private_files.private_folder(Path(sys.argv[1])) as folder:\n"
    other += "    handle = folder.open_to_lock(lock._FILE)\n"
    other += "    print([lock._try_to_lock(handle, lock._position(name)) for name in 'ab'])"
    with private_folder(tmp_path) as folder:
        assert lock.wait_or_lock(folder, "a", lambda: None) is None
        try:
            found = subprocess.run([sys.executable, "-c", other, str(tmp_path)], capture_output=True, text=True)
            assert found.stdout == "[False, True]\n"
            held = lock._handle()
            assert held is not None
            assert lock.wait_or_lock(folder, "b", lambda: None) is None
            assert lock._handle() == held
        finally:
            lock.release()
        assert lock.wait_or_lock(folder, "a", lambda: b"written meanwhile") == b"written meanwhile"
        assert lock._handle() is None


@kernel
def cannot_be_compiled(x):
    return x.nothing_of_that_name


def test_an_error_of_the_compiler_frees_the_lock(tmp_path, monkeypatch):
    locked = []
    wait_or_lock = lock.wait_or_lock

    def watched(*arguments):
        entry = wait_or_lock(*arguments)
        locked.append(lock._handle())
        return entry

    monkeypatch.setenv("LEARNT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_cache.lock, "wait_or_lock", watched)
    with pytest.raises(Exception, match="nothing_of_that_name"):
        cannot_be_compiled(1.0)
    assert None not in locked
    assert len(locked) == 1
    assert lock._handle() is None
