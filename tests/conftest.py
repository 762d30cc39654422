"""For every test: the same draws on every machine and in any order.

`random_state=None` draws from NumPy's global state, which is seeded before each test. Hypothesis draws the same
examples every time and sets no time limit: a property that fails must fail everywhere, and being busy is no failure.
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
    cache = sys.modules.get("learnt.engine.kernel.cache")
    if cache is not None and cache.used:
        raise pytest.UsageError("A test module runs kernels while it is imported; fit in a fixture instead.")


@pytest.fixture(autouse=True)
def _same_draws_every_time():
    np.random.seed(0)
