"""Ctrl-C during a fit: every kernel that may take seconds looks at its stop word, and a large tree is given up.

A fit whose tolerance no number meets ends by itself, or hears Ctrl-C, whatever its limit: for every public estimator.

How long each kind of estimator takes to stop is measured by `benchmarks/interrupts.py`.
"""

import importlib
import inspect
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from learnt.engine.interrupts import Stopped
from learnt.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from learnt.erm import ERMRegressor
from learnt.erm.solvers import CoordinateDescent
from learnt.forestry.boosting._share import N_NODES
from learnt.forestry.exact._data import COUNT
from learnt.linear_model import (
    ForwardStagewiseRegression,
    Lasso,
    LassoCV,
    LogisticRegression,
    MatchingPursuit,
    MultiTaskLasso,
)
from learnt.persistence._registry import estimators
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 12))
WIDE = rng.normal(size=(60, 1300))
NUMBERS = X @ np.arange(12.0) + rng.normal(size=300)
TWO = np.column_stack([NUMBERS, X[:, 0]])
CLASSES = np.digitize(NUMBERS, [-10.0, 10.0])
THIN = sparse.csr_array(np.where(X > 0.5, X, 0.0))


def last_argument(place):
    return lambda call, result: call.args[-1][place]


def itself(call, result):
    return result


# the room, the estimator and its data; what was done where the kernel was stopped at once, and what shows it
CASES = {
    "exact tree": ("forestry.exact._growth", DecisionTreeRegressor(), X, NUMBERS, last_argument(COUNT), 0),
    "absolute errors": (
        "forestry.exact._growth",
        DecisionTreeRegressor(criterion="absolute_error"),
        X,
        NUMBERS,
        last_argument(COUNT),
        0,
    ),
    "best first": (
        "forestry.exact._growth",
        DecisionTreeRegressor(max_leaf_nodes=20),
        X,
        NUMBERS,
        last_argument(COUNT),
        0,
    ),
    "random tree": ("forestry.exact._growth", ExtraTreeRegressor(), X, NUMBERS, last_argument(COUNT), 0),
    "several outputs": ("forestry.exact._general", DecisionTreeRegressor(), X, TWO, last_argument(COUNT), 1),
    "sparse tree": ("forestry.exact._general", DecisionTreeClassifier(), THIN, CLASSES, last_argument(COUNT), 1),
    "binned forest": (
        "forestry.binned._forest",
        RandomForestClassifier(1, splitter="binned"),
        X,
        CLASSES,
        itself,
        1,
    ),
    "binned forest of numbers": (
        "forestry.binned._forest",
        RandomForestRegressor(1, splitter="binned"),
        X,
        NUMBERS,
        itself,
        1,
    ),
    "binned extra trees": (
        "forestry.binned._random",
        ExtraTreesRegressor(1, splitter="binned"),
        X,
        NUMBERS,
        itself,
        1,
    ),
    "histogram boosting": (
        "forestry.boosting._grower",
        HistGradientBoostingRegressor(max_iter=1),
        X,
        NUMBERS,
        lambda call, result: call.args[8].memory[N_NODES],
        1,
    ),
    "lasso by products": (
        "linear_model.coordinate._gram",
        LassoCV(cv=2, n_jobs=1),
        X,
        NUMBERS,
        lambda call, result: call.args[-2][-1].sum(),
        0,
    ),
    "lasso on a working set": (
        "linear_model.coordinate._descent",
        Lasso(alpha=0.01),
        WIDE,
        WIDE[:, 0],
        lambda call, result: result[0],
        0,
    ),
    "lasso of several targets": (
        "linear_model.coordinate._tasks",
        MultiTaskLasso(alpha=0.01),
        X,
        TWO,
        itself,
        0,
    ),
    "stagewise": (
        "linear_model.pursuit._stagewise",
        ForwardStagewiseRegression(),
        X,
        NUMBERS,
        lambda call, result: call.args[-4][0],
        0,
    ),
    "matching pursuit": (
        "linear_model.pursuit._matching",
        MatchingPursuit(),
        X,
        NUMBERS,
        lambda call, result: call.args[-2][0],
        0,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_kernel_that_is_stopped_at_once_does_nothing(monkeypatch, case):
    room, model, data, target, measure, nothing = CASES[case]
    module = importlib.import_module(f"learnt.{room}")
    done = []

    def stop_at_once(call, stop, *, long=True):
        stop[0] = 1
        done.append(measure(call, call()))
        raise Stopped

    monkeypatch.setattr(module, "stoppable", stop_at_once)
    with pytest.raises(Stopped):
        model.fit(data, target)
    assert done == [nothing]
    monkeypatch.undo()
    model.fit(data, target).predict(data)


@pytest.mark.parametrize(
    ("room", "model", "target"),
    [
        ("linear_model.logistic._l1_joint", LogisticRegression(l1_ratio=1.0, C=10.0), CLASSES),
        ("erm.solvers._coordinate", ERMRegressor(penalty="l1", alpha=1e-3, solver=CoordinateDescent()), NUMBERS),
    ],
    ids=["classes together", "any loss"],
)
def test_cycles_end_after_the_first_where_they_are_stopped(monkeypatch, room, model, target):
    module = importlib.import_module(f"learnt.{room}")
    monkeypatch.setattr(module, "_FEW", 0, raising=False)  # columns are not multiplied with each other
    changed = []

    def stop_at_once(call, stop, *, long=True):
        def run(word):
            arguments = [np.copy(each) if isinstance(each, np.ndarray) else each for each in call.args]
            arguments[-1] = np.full(1, word)
            call.func(*arguments)
            return arguments

        once, to_the_end = run(1), run(0)
        changed.append(any(not np.array_equal(a, b) for a, b in zip(once[:-1], to_the_end[:-1], strict=True)))
        raise Stopped

    monkeypatch.setattr(module, "stoppable", stop_at_once)
    with pytest.raises(Stopped):
        model.fit(THIN, target)
    assert changed == [True]


CHILD = """
    import signal, sys, threading, time
    import numpy as np
    from learnt.tree import DecisionTreeRegressor
    rng = np.random.default_rng(0)
    X, small = rng.normal(size=(1_000_000, 10)), rng.normal(size=(300, 10))
    y = X[:, 0] * X[:, 1] + rng.normal(size=len(X))
    DecisionTreeRegressor().fit(small, small[:, 0])
    before = time.process_time()
    print("began", flush=True)
    try:
        DecisionTreeRegressor().fit(X, y)
        print("over", flush=True)
    except KeyboardInterrupt:
        print("stopped", time.process_time() - before, flush=True)
    before = time.process_time()
    time.sleep(0.3)
    print(time.process_time() - before < 0.2, flush=True)  # nothing is computed any more
    print(DecisionTreeRegressor().fit(small, small[:, 0]).get_depth() > 1, flush=True)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
def test_a_large_tree_is_given_up():
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(CHILD)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "began\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.5)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=240)
    finally:
        child.kill()
    stopped, idle, works = out.splitlines()
    word, seconds = stopped.split()
    assert word == "stopped"
    assert float(seconds) < 5.0  # of processor time, most of it before the signal; the whole takes twice as much
    assert (idle, works) == ("True", "True")


ENDLESS = """
    import faulthandler, importlib.util, signal, sys, warnings

    faulthandler.register(signal.SIGUSR1)  # the test asks where it is before it gives up

    fitting = False

    def interrupt(number, frame):
        if fitting:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    spec = importlib.util.spec_from_file_location("checks", sys.argv[1])
    checks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checks)
    warnings.simplefilter("ignore")
    for name in sys.argv[2:]:
        X, y = checks.problem(name, n=40, d=3)
        checks.make(name).fit(X, y)  # what is compiled is compiled now
        for settings in ({"tol": 0.0}, {"tol": 1e-300, "max_iter": 10**9, "n_iter_no_change": 10**9}):
            model = checks.make(name)
            model.set_params(**{key: settings[key] for key in settings.keys() & model.get_params().keys()})
            print("begins", name, settings, flush=True)
            answer, fitting = "ended", True
            try:
                model.fit(X * [1e-4, 1.0, 1e4][: X.shape[1]], y)
            except ValueError:  # a tolerance of 0 is refused, or steps without end lead to what is no number
                pass
            except KeyboardInterrupt:
                answer = "stopped"
            fitting = False
            print(answer, flush=True)
"""
PATIENT, HEARD = 0.5, 10.0  # seconds: for a fit, and for Ctrl-C on a machine that is busy with other things
SILENT = 180.0  # and for imports, and what is compiled
PARTS = 8


def read(child, lines):
    for line in child.stdout:
        lines.put(line.strip())
    lines.put("")


def said(child, lines, seconds, after):
    """The child's next line; where it says nothing, it prints where its threads are, and the test fails."""
    try:
        return lines.get(timeout=seconds)
    except queue.Empty:
        child.send_signal(signal.SIGUSR1)
        time.sleep(1.0)
        pytest.fail(f"Ctrl-C was not heard, or nothing was said, after {after!r}.")


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
@pytest.mark.parametrize("part", range(PARTS))
def test_any_fit_ends_or_hears_ctrl_c_where_no_tolerance_is_met(part):
    checks = Path(__file__).with_name("test_estimators.py")
    names = [name for name, kind in estimators().items() if {"tol", "max_iter"} & {*inspect.signature(kind).parameters}]
    own = [name.rpartition(".")[2] for name in names[part::PARTS]]
    command = [sys.executable, "-c", textwrap.dedent(ENDLESS), str(checks), *own]
    begun, lines, line = 0, queue.Queue(), "the start"
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        reader = threading.Thread(target=read, args=(child, lines))
        reader.start()
        try:
            while line := said(child, lines, SILENT, after=line):
                begun += 1
                try:
                    answer = lines.get(timeout=PATIENT)
                except queue.Empty:
                    child.send_signal(signal.SIGINT)
                    try:
                        answer = lines.get(timeout=HEARD)
                    except queue.Empty:  # Python loses what a signal raises inside a finaliser: people press again
                        child.send_signal(signal.SIGINT)
                        answer = said(child, lines, HEARD, after=line)
                assert answer in ("ended", "stopped"), line
        finally:
            child.kill()
            reader.join()
    assert begun == 2 * len(own)
