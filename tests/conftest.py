"""For every test: the same draws on every machine and in any order.

`random_state=None` draws from NumPy's global state, which is seeded before each test; a generator of a test module is
put back to where the module's import left it. Hypothesis draws the same examples every time and sets no time limit: a
property that fails must fail everywhere, and being busy is no failure.
"""

import gc
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "same-everywhere", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same-everywhere")


SWEPT = 4


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items):
    """Of a `sweep`, the sets of parameters between those that `make test` runs are long tests."""
    sweeps = {}
    for item in items:
        if item.get_closest_marker("sweep"):
            sweeps.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for sets in sweeps.values():
        wanted = next(iter(sets[0].get_closest_marker("sweep").args), SWEPT)
        kept = {round(at) for at in np.linspace(0, len(sets) - 1, wanted)}
        for at, item in enumerate(sets):
            if at not in kept:
                item.add_marker(pytest.mark.long)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Modules, tests and parameters live until the end: nothing is looked for among them, now or while tests run."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


def pytest_collection_finish(session):
    """Every worker collects all tests: what is fitted meanwhile is compiled and fitted once for each of them."""
    for module in {item.module for item in session.items if hasattr(item, "module")}:
        generators = [value for value in vars(module).values() if isinstance(value, np.random.Generator)]
        _generators[module] = [(each.bit_generator, each.bit_generator.state) for each in generators]
    cache = sys.modules.get("learnt.engine.kernel.cache")
    if cache is not None and cache.used:
        raise pytest.UsageError("A test module runs kernels while it is imported; fit in a fixture instead.")


_generators: dict = {}  # of each module: its generators and their states after its import


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    np.random.seed(0)
    for generator, state in _generators.get(getattr(item, "module", None), ()):
        generator.state = state
