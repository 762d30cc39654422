"""How many of scikit-learn's tests that run our code pass, module by module.

A pytest plugin beside `swap`. A test *touches* our code if a function of the package ran in it; it *touches a private
name* if it, a fixture of it or a helper in scikit-learn's tests that it calls reads one: an attribute or an import that
begins with an underscore, or something that only a private module has. Such a test is about scikit-learn's insides, and
the percentage leaves it out. `--tally FILE` writes a line for each touched test.
"""

import dis
import importlib
import inspect
import pkgutil
import re
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest
from _pytest.assertion import rewrite

import learnt

OURS = str(Path(learnt.__file__).parent)
READS = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME", "STORE_ATTR", "IMPORT_FROM"}
NOT_THEIRS = {"_testing", "_rand", "_asdict", "_replace", "_make"} | set(dir(rewrite))  # NumPy's, pandas's, pytest's
PRIVATE_PATH = re.compile(r"_[a-z]\w+|sklearn(\.\w+)*\._\w+(\.\w+)*")
HELPERS = ("sklearn.utils", "sklearn.conftest")

touched: set[str] = set()
private: dict[str, str] = {}
outcomes: dict[str, tuple[str, str]] = {}


def pytest_addoption(parser):
    parser.addoption("--tally", help="file for one line for each test that touches our code")


class Watch:
    """Notes the first call of a function of ours while a test runs."""

    def __init__(self, test):
        self.test = test

    def __call__(self, frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            touched.add(self.test)
            sys.setprofile(None)

    def __enter__(self):
        if self.test not in touched:
            sys.setprofile(self)

    def __exit__(self, *error):
        sys.setprofile(None)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    with Watch(item.nodeid):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    with Watch(item.nodeid):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call" or (report.when == "setup" and not report.passed):
        if report.failed:  # also where a fixture or a call with wrong arguments fails before our code begins
            touched.add(item.nodeid)
        if item.nodeid in touched and (name := first_private_name(item)):
            private[item.nodeid] = name
        crash = getattr(report.longrepr, "reprcrash", None)
        said = crash.message if crash else str(report.longrepr or "").rpartition("\n")[2]
        outcomes[report.nodeid] = report.outcome, " ".join(said.split())[:300]


# --- private names


@cache
def public_objects():
    """Ids of what scikit-learn's public packages offer, and what stands there of ours."""
    import sklearn

    found = set()
    for info in pkgutil.walk_packages(sklearn.__path__, "sklearn."):
        if "._" not in info.name and ".tests" not in info.name and "externals" not in info.name:
            package = importlib.import_module(info.name)
            found |= {id(value) for name, value in vars(package).items() if not name.startswith("_")}
    return found


def is_private(value):
    """Is this scikit-learn's, and in private modules only?"""
    if isinstance(value, ModuleType):
        home, value_is_public = value.__name__, False
    else:
        home, value_is_public = getattr(value, "__module__", None) or "", id(value) in public_objects()
    theirs = home.startswith("sklearn.") and ".tests" not in home and not home.startswith(HELPERS)
    hidden = getattr(value, "__name__", "").rpartition(".")[2].startswith("_")
    return theirs and (hidden or ("._" in home and not value_is_public))


def first_private_name(item):
    values = list(getattr(item, "callspec", None).params.values()) if hasattr(item, "callspec") else []
    for value in values:
        if isinstance(value, FunctionType | type) and is_private(value):
            return value.__name__
    fixtures = [d[-1].func for name, d in item._fixtureinfo.name2fixturedefs.items() if d]
    seen = set()
    for patch in getattr(item.function, "patchings", ()):  # of `unittest.mock.patch`, which wraps the test
        if is_private(patch.getter()):
            return patch.attribute
    for function in [item.function, *fixtures]:
        if found := in_function(function, seen):
            return found
    return None


def in_function(function, seen):
    """The first private name that a function of scikit-learn's tests, or what it calls there, reads."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    if not isinstance(function, FunctionType) or function.__code__ in seen:
        return None
    seen.add(function.__code__)
    inner = function.__closure__ or ()
    cells = [c.cell_contents for c in inner if isinstance(getattr(c, "cell_contents", None), FunctionType)]
    return in_code(function.__code__, function.__globals__, seen) or next(
        filter(None, (in_value(cell, seen) for cell in cells)), None
    )


def in_value(value, seen):
    if is_private(value):
        return getattr(value, "__name__", repr(value))
    if ".tests" not in (getattr(value, "__module__", None) or ""):
        return None
    members = vars(value).values() if isinstance(value, type) else [value]
    return next(filter(None, (in_function(member, seen) for member in members)), None)


def in_code(code, names, seen):
    for step in dis.get_instructions(code):
        said = step.argval if step.opname in ("IMPORT_NAME", "LOAD_CONST") else None
        if isinstance(said, str) and PRIVATE_PATH.fullmatch(said) and not is_helper(said):
            return said
        if step.opname in READS:
            name = step.argval
            at_home = step.opname == "LOAD_GLOBAL" and name in names
            if at_home and (found := in_value(names[name], seen)):
                return found
            if not at_home and re.match(r"_(?!_)\w", name) and name not in NOT_THEIRS:
                return name
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and (found := in_code(inner, names, seen)):
            return found
    return None


def is_helper(path):
    return path.startswith(HELPERS) or path in NOT_THEIRS


# --- the table


def pytest_unconfigure(config):
    counts = defaultdict(Counter)
    for test in touched:
        outcome = outcomes[test][0]
        for row in {module_of(test), room_of(test), "all"}:
            counts[row].update({"touched", outcome} | ({"private", f"private {outcome}"} if test in private else set()))
    print(f"\n{'':58}  touched private  passed failed     %   without private names: passed failed     %")
    for room in [*sorted({room_of(test) for test in touched}), "all"]:
        modules = sorted({module_of(test) for test in touched if room_of(test) == room})
        for row in [*(modules if len(modules) > 1 else []), room]:
            print(line(row, counts[row]))
    if path := config.getoption("--tally"):
        rows = [(outcomes[t][0], private.get(t, "-"), t, outcomes[t][1]) for t in sorted(touched)]
        Path(path).write_text("".join("\t".join(row) + "\n" for row in rows))


def line(name, n):
    passed, failed = n["passed"], n["failed"]
    kept = passed - n["private passed"], failed - n["private failed"]
    shares = [100 * p / (p + f) if p + f else 100.0 for p, f in [(passed, failed), kept]]
    start = (
        f"{name.removeprefix('sklearn.'):58} {n['touched']:8} {n['private']:7} {passed:7} {failed:6} {shares[0]:5.1f}"
    )
    return f"{start} {kept[0]:31} {kept[1]:6} {shares[1]:5.1f}"


def module_of(test):
    parts = Path(test.partition("::")[0]).with_suffix("").parts
    return ".".join(parts[len(parts) - 1 - parts[::-1].index("sklearn") :])


def room_of(test):
    parts = module_of(test).split(".")
    return parts[2].removeprefix("test_") if parts[1] == "tests" else parts[1]
