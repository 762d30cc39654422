"""Kernels: compiled lazily, cached on disk whatever the disk allows, and plain Python when told."""

import os
import shutil
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from learnt.engine.kernel import cache as kernel_cache
from learnt.engine.kernel import kernel

FACTOR = 3.0


@kernel
def scaled(x):
    return x * FACTOR


@kernel(reassociate=True)
def scaled_total(values):
    total = 0.0
    for i in range(values.size):
        total += scaled(values[i])
    return total


@kernel
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def run(code, **environment):
    """Run code in a fresh process; returns what it printed."""
    env = {**os.environ, **{k: v for k, v in environment.items() if v is not None}}
    for name in [k for k, v in environment.items() if v is None]:
        env.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# A module on disk, since a kernel's source is a file in real life.
MODULE = """
from learnt.engine.kernel import kernel
from callee import double

@kernel
def total(x):
    s = 0.0
    for i in range(x.size):
        s += double(x[i])
    return s
"""
CALLEE = """
from learnt.engine.kernel import kernel

@kernel
def double(x):
    return {factor} * x
"""
CALL = "import numpy as np, module; print(module.total(np.arange(4.0)))"


def write_project(folder):
    (folder / "module.py").write_text(MODULE)
    (folder / "callee.py").write_text(CALLEE.format(factor=2.0))
    return folder


@pytest.fixture
def project(tmp_path):
    """A folder with a module, and nothing compiled."""
    return write_project(tmp_path)


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory):
    folder = write_project(tmp_path_factory.mktemp("project"))
    assert run(CALL, LEARNT_CACHE_DIR=str(folder / "cache"), PYTHONPATH=str(folder)) == "12.0"
    return folder


@pytest.fixture
def compiled(compiled_once, tmp_path):
    """The same after a process has compiled its kernel and kept it."""
    return shutil.copytree(compiled_once, tmp_path / "project")


def entries(folder):
    return sorted(folder.glob("*.kernel"))


def test_kernels_call_kernels_and_read_constants():
    assert scaled_total(np.arange(4.0)) == 18.0
    assert scaled_total(np.arange(4, dtype=np.float32)) == 18.0


def test_a_kernel_may_call_itself():
    assert factorial(5) == 120


def test_the_plain_function_is_kept():
    assert scaled_total.python(np.arange(4.0)) == 18.0
    assert scaled_total.__name__ == "scaled_total"


def test_importing_a_kernel_does_not_import_numba():
    out = run("import sys, learnt.engine.kernel; print('numba' in sys.modules)")
    assert out == "False"


def test_switched_off_it_is_plain_python():
    code = """
        import sys, numpy as np
        from learnt.engine.kernel import kernel
        @kernel
        def f(x):
            return type(x).__name__
        print(f([1]), 'numba' in sys.modules)
    """
    assert run(code, LEARNT_COMPILE="0") == "list False"


def test_the_second_process_loads_what_the_first_compiled(compiled):
    folder = compiled / "cache"
    settings = {"LEARNT_CACHE_DIR": str(folder), "PYTHONPATH": str(compiled)}
    first = {path: path.stat().st_mtime_ns for path in entries(folder)}
    assert len(first) == 1  # the callee's machine code is in the caller's
    watched = """
        import numpy as np, module
        from numba.core import event
        with event.install_recorder("numba:compile") as recorder:
            print(module.total(np.arange(4.0)), len(recorder.buffer))
    """
    assert run(watched, **settings) == "12.0 0"
    assert {path: path.stat().st_mtime_ns for path in entries(folder)} == first


def test_a_change_in_a_callee_elsewhere_is_seen(compiled):
    settings = {"LEARNT_CACHE_DIR": str(compiled / "cache"), "PYTHONPATH": str(compiled)}
    (compiled / "callee.py").write_text(CALLEE.format(factor=5.0))
    assert run(CALL, **settings) == "30.0"


def test_damaged_entries_are_compiled_again(compiled):
    folder = compiled / "cache"
    settings = {"LEARNT_CACHE_DIR": str(folder), "PYTHONPATH": str(compiled)}
    assert entries(folder)
    for path in entries(folder):
        path.write_bytes(path.read_bytes()[:-7])
    assert run(CALL, **settings) == "12.0"


def test_entries_out_of_use_are_removed(compiled):
    folder = compiled / "cache"
    settings = {"LEARNT_CACHE_DIR": str(folder), "PYTHONPATH": str(compiled)}
    (used,) = entries(folder)
    unused = folder / "of_an_old_version-0.kernel"
    unused.write_bytes(b"")
    long_ago = time.time() - 100 * 24 * 3600
    for path in (used, unused):
        os.utime(path, (long_ago, long_ago))
    run(CALL, **settings)  # loads: what is used counts as new
    assert {path.name for path in entries(folder)} == {used.name, unused.name}
    (compiled / "callee.py").write_text(CALLEE.format(factor=5.0))
    run(CALL, **settings)  # compiles: what nobody used goes
    assert unused not in entries(folder)
    assert used in entries(folder)
    assert len(entries(folder)) == 2


@pytest.mark.long
def test_many_processes_at_once(project):
    folder = project / "cache"
    env = {**os.environ, "LEARNT_CACHE_DIR": str(folder), "PYTHONPATH": str(project)}
    together = [
        subprocess.Popen([sys.executable, "-c", CALL], env=env, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    assert [p.communicate(timeout=120)[0].strip() for p in together] == ["12.0"] * 4
    assert len(entries(folder)) == 1
    assert not list(folder.glob("*.tmp"))


def test_nowhere_to_write_is_no_error(project):
    blocked = project / "file"
    blocked.write_text("not a folder")
    assert run(CALL, LEARNT_CACHE_DIR=str(blocked / "cache"), PYTHONPATH=str(project)) == "12.0"
    assert run(CALL, LEARNT_CACHE="0", PYTHONPATH=str(project)) == "12.0"
    assert run(CALL, HOME=None, XDG_CACHE_HOME=None, PYTHONPATH=str(project)) == "12.0"


def test_folders_fall_back_from_the_package_to_the_user(monkeypatch, tmp_path):
    monkeypatch.delenv("LEARNT_CACHE_DIR", raising=False)
    monkeypatch.delenv("LEARNT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = kernel_cache.folders()
    assert found[0].parts[-3:] == ("learnt", "__pycache__", "kernels")
    assert found[1] == tmp_path / "learnt" / "kernels"
    monkeypatch.setattr(kernel_cache, "folders", lambda: [tmp_path / "file" / "x", tmp_path / "user"])
    (tmp_path / "file").write_text("")  # the first cannot be made, whoever asks
    assert kernel_cache.info().folder == tmp_path / "user"


def test_clear_removes_entries(monkeypatch, tmp_path):
    monkeypatch.setenv("LEARNT_CACHE_DIR", str(tmp_path))
    (tmp_path / "a.kernel").write_bytes(b"x")
    assert kernel_cache.info().entries == 1
    assert kernel_cache.clear() == 1
    assert kernel_cache.info().entries == 0


@kernel(allocates=False)
def larger_half(x, out):
    kept = 0
    for i in range(x.size):
        if x[i] > 0.5:
            out[kept] = x[i]
            kept += 1
    for i in range(kept, x.size):
        out[i] = 0.0
    return kept


@kernel
def with_a_table_of_its_own(x):
    out = np.empty(x.size)
    return larger_half(x[1:], out[1:])


@kernel(allocates=False)
def makes_an_array_all_the_same(x):
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = x[i]
    return out[0]


def test_a_kernel_declared_without_allocations_is_checked():
    x, out = np.array([0.2, 0.7, 0.9, 0.1]), np.empty(4)
    assert larger_half(x, out) == 2
    assert out.tolist() == [0.7, 0.9, 0.0, 0.0]
    assert with_a_table_of_its_own(x) == 2
    with pytest.raises(Exception, match="empty"):
        makes_an_array_all_the_same(x)
