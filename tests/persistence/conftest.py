"""Fitted models of every kind, and an estimator that holds whatever it is given, for the tests of this folder."""

import runpy
import sys
import types
from collections.abc import Mapping
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
def cases(golden):
    """Name → the model of a golden file before it is fitted, and its data."""
    return golden["cases"]()


class FittedWhenAsked(Mapping):
    """Name → (fitted model, its data), each fitted once, by the first test that needs it."""

    def __init__(self, cases):
        self._cases, self._fitted = cases, {}

    def __getitem__(self, name):
        if name not in self._fitted:
            self._fitted[name] = (self._cases[name].fitted(), self._cases[name].data)
        return self._fitted[name]

    def __iter__(self):
        return iter(self._cases)

    def __len__(self):
        return len(self._cases)


@pytest.fixture(scope="session")
def models(cases):
    """Name → (fitted model, its data)."""
    return FittedWhenAsked(cases)


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
