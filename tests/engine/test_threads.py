"""The pool: one knob, safe from threads, forks and workers, and the same answers at any size."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from learnt.engine import threads
from learnt.engine.threads import for_blocks, run_tasks, set_threads, single_blas, thread_count


@pytest.fixture(autouse=True)
def _machine_default():
    yield
    set_threads(None)


def blas_threads():
    """Of NumPy's and SciPy's BLAS. PyTorch brings one of its own, which no block of ours runs on."""
    from threadpoolctl import threadpool_info

    ours = [pool for pool in threadpool_info() if pool["user_api"] == "blas" and "torch" not in pool["filepath"]]
    assert ours
    return {pool["num_threads"] for pool in ours}


def test_blocks_cover_everything_in_order():
    set_threads(4)
    seen = for_blocks(lambda lo, hi: (lo, hi), 1003, grain=100)
    assert seen[0] == (0, 100)
    assert seen[-1] == (1000, 1003)
    assert [lo for lo, _ in seen] == list(range(0, 1003, 100))
    assert for_blocks(lambda lo, hi: 1, 0, grain=10) == []


def test_small_work_stays_on_the_calling_thread():
    set_threads(4)
    assert for_blocks(lambda lo, hi: threading.current_thread(), 10, grain=10) == [threading.current_thread()]


def test_work_is_shared_and_nested_work_runs_in_line():
    set_threads(3)

    def outer(lo, hi):
        time.sleep(0.01)
        inner = run_tasks([threading.get_ident] * 4)
        return threading.get_ident(), set(inner)

    results = for_blocks(outer, 12, grain=1)
    assert len({ident for ident, _ in results}) > 1
    assert all(inner == {ident} for ident, inner in results)
    assert not threads.inside_pool()


def test_an_error_in_a_block_reaches_the_caller_and_the_pool_lives_on():
    set_threads(2)

    def fail(lo, hi):
        if lo == 5:
            raise KeyError("block five")
        return lo

    with pytest.raises(KeyError, match="block five"):
        for_blocks(fail, 10, grain=1)
    assert for_blocks(lambda lo, hi: lo, 3, grain=1) == [0, 1, 2]
    assert not threads.inside_pool()


def test_two_python_threads_at_once():
    set_threads(2)
    X = np.random.default_rng(0).normal(size=(20000, 16))
    expected = sum(for_blocks(lambda lo, hi: X[lo:hi].T @ X[lo:hi], len(X), grain=1000))
    results = []

    def work():
        results.extend(sum(for_blocks(lambda lo, hi: X[lo:hi].T @ X[lo:hi], len(X), grain=1000)) for _ in range(20))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    assert len(results) == 80
    assert all(np.array_equal(result, expected) for result in results)


def test_blas_is_held_and_given_back():
    before = blas_threads()
    with single_blas():
        assert blas_threads() == {1}
        with single_blas():
            pass
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_blas_threads_are_restored_whichever_user_leaves_last():
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def other():
        with single_blas():
            inside.set()
            leave.wait(timeout=30)

    thread = threading.Thread(target=other)
    with single_blas():
        thread.start()
        assert inside.wait(timeout=30)
    assert blas_threads() == {1}  # the other one is still at it
    leave.set()
    thread.join(timeout=30)
    assert blas_threads() == before


def test_blas_is_held_for_a_thread_that_is_not_the_first_to_hold_it():
    with single_blas():
        pass
    seen = []

    def other():
        with single_blas():
            seen.append(blas_threads())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join(timeout=30)
    assert seen == [{1}]


@pytest.mark.parametrize("value", ["3", " 4 ,2", "none", "0", ""])
def test_a_variable_that_changes_is_seen_at_the_next_call(monkeypatch, value):
    monkeypatch.delenv("LEARNT_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert threads.thread_source() == (7, "OMP_NUM_THREADS")
    monkeypatch.setenv("LEARNT_NUM_THREADS", value)
    digits = value.split(",")[0].strip()
    expected = (int(digits), "LEARNT_NUM_THREADS") if digits in ("3", "4") else (7, "OMP_NUM_THREADS")
    assert threads.thread_source() == expected


def _child(queue):
    queue.put(for_blocks(lambda lo, hi: hi - lo, 100, grain=10))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX's, where another test has imported it
def test_a_forked_child_has_a_pool_of_its_own():
    set_threads(2)
    for_blocks(lambda lo, hi: None, 100, grain=10)  # the parent's pool is running
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    assert queue.get(timeout=30) == [10] * 10
    child.join(timeout=30)
    assert child.exitcode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX's, where another test has imported it
def test_a_fork_in_the_middle_of_a_parallel_region():
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with single_blas():
        child = context.Process(target=_child, args=(queue,))
        child.start()
        assert queue.get(timeout=30) == [10] * 10
        child.join(timeout=30)
    assert child.exitcode == 0


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LEARNT_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "5"}, 5),
        ({"OMP_NUM_THREADS": "5,2"}, 5),
        ({"LEARNT_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}, 3),
    ],
)
def test_environment_variables(variables, expected):
    env = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")} | variables
    code = "from learnt.engine.threads import get_threads; print(get_threads())"
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert int(out.stdout) == expected


def test_n_jobs():
    set_threads(4)
    assert thread_count() == 4
    assert thread_count(2) == 2
    assert thread_count(-1) == 4
    assert thread_count(-2) == 3
    assert thread_count(-99) == 1
    assert thread_count(np.int64(2)) == 2
    for wrong in (0, True, 1.5, "all"):
        with pytest.raises(ValueError, match="n_jobs"):
            thread_count(wrong)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="set_threads"):
            set_threads(wrong)


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"cpu.max": "150000 100000"}, 1.5),
        ({"cpu.max": "max 100000"}, None),
        ({"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 0.5),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ({"cpu.max": "nonsense"}, None),
        ({}, None),
    ],
)
def test_container_quota(tmp_path, files, quota):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert threads.container_quota(str(tmp_path)) == quota


def test_the_quota_cuts_the_cores(monkeypatch):
    for name in ("LEARNT_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "container_quota", lambda: 0.5)
    assert threads.thread_source() == (1, "container quota")


def test_inside_a_joblib_worker_threads_follow_its_share():
    from joblib import Parallel, delayed

    with np.errstate(all="ignore"):
        counts = Parallel(n_jobs=2)(delayed(thread_count)() for _ in range(2))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if "LEARNT_NUM_THREADS" not in os.environ:
        assert max(counts) <= max(1, cores // 2)


def cores_of_threads(**options):
    """The cores that each thread of a region may use, by its name; tasks wait until all threads have one."""
    n = thread_count()
    barrier, found = threading.Barrier(n), {}

    def task():
        barrier.wait(60)
        found[threading.current_thread().name] = os.sched_getaffinity(0)

    run_tasks([task] * n, **options)
    return found


FEW_CORES = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or not 1 < len(os.sched_getaffinity(0)) <= 4, reason="for two to four cores"
)


@FEW_CORES
def test_threads_apart_have_a_core_each_and_all_of_them_afterwards():
    before = os.sched_getaffinity(0)
    apart = cores_of_threads(apart=True)
    assert all(len(cores) == 1 for cores in apart.values())
    assert set().union(*apart.values()) == before
    assert list(cores_of_threads().values()) == [before] * len(apart)
    with pytest.raises(ZeroDivisionError):
        run_tasks([lambda: 1 / 0] * 4, apart=True)
    assert list(cores_of_threads().values()) == [before] * len(apart)


@FEW_CORES
def test_more_threads_than_cores_stay_free():
    before = os.sched_getaffinity(0)
    set_threads(len(before) + 1)
    assert list(cores_of_threads(apart=True).values()) == [before] * (len(before) + 1)
