"""Fitted models of every kind, and an estimator that holds whatever it is given, for the tests of this folder."""

import runpy
import sys
import types
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

from learnt.persistence import _registry

collect_ignore = ["crafted.py"]  # a script, which imports its neighbour


@pytest.fixture(scope="session")
def golden():
    """The script that writes the golden files."""
    return runpy.run_path(str(Path(__file__).parent / "make_golden.py"))


@pytest.fixture(scope="session")
def models(golden):
    """Name → (fitted model, its data), fitted once for all tests."""
    return golden["models"]()


class Holder(BaseEstimator):
    """Keeps `value` as a parameter and what `fit` is given as a fitted attribute."""

    __learnt_state__ = ("_private",)
    __learnt_nonfinite__ = ("fitted_",)

    def __init__(self, value=None):
        self.value = value

    def fit(self, X, y=None):
        self.fitted_ = X
        return self

    def method(self):
        return self.fitted_

    def __learnt_check__(self):
        if isinstance(self.fitted_, str) and self.fitted_ == "impossible":
            raise ValueError("this cannot be")


@pytest.fixture
def holder(monkeypatch):
    """The class, under the name "learnt_doubles.Holder" in the registry."""
    module = types.ModuleType("learnt_doubles")
    module.Holder = Holder
    monkeypatch.setattr(Holder, "__module__", "learnt_doubles")
    monkeypatch.setitem(sys.modules, "learnt_doubles", module)
    monkeypatch.setattr(_registry, "OTHERS", _registry.OTHERS | {"learnt_doubles.Holder"})
    _registry.resolve.cache_clear()
    _registry.name_of.cache_clear()
    yield Holder
    _registry.resolve.cache_clear()
    _registry.name_of.cache_clear()
