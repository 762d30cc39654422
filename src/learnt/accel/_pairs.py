"""Which names of scikit-learn are replaced: those that a package of learnt has too, with the same parameters."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any, NamedTuple

from learnt.engine.mixins import BaseEstimator

# Defaults that may differ, with the reason.
OTHER_DEFAULTS = {("LogisticRegression", "solver"): "one minimum, by whichever solver is fastest"}
# Defaults of scikit-learn that only mark a parameter as deprecated or about to change.
ANNOUNCED = ("warn", "deprecated")


class Pair(NamedTuple):
    """One name: learnt's object and scikit-learn's."""

    room: str
    name: str
    ours: Any
    original: Any


@cache
def pair_of(room: str, name: str) -> Pair | None:
    """The pair of a public name of ``sklearn.<room>``, or None where the name stays scikit-learn's.

    >>> pair_of("linear_model", "Ridge").ours
    <class 'learnt.linear_model.least_squares._ridge.Ridge'>
    >>> pair_of("preprocessing", "MinMaxScaler") is None  # scikit-learn's own in learnt too
    True
    """
    package = import_module(f"sklearn.{room}")
    ours = import_module(f"learnt.{room}")
    if name not in ours.__all__ or name not in vars(package):  # IterativeImputer may only be announced there
        return None
    pair = Pair(room, name, getattr(ours, name), getattr(package, name))
    if pair.ours is pair.original:  # scikit-learn's own, under its name
        return None
    return pair if is_estimator(pair) or inspect.isfunction(pair.original) else None


def pairs_of(room: str) -> list[Pair]:
    """All pairs of a room."""
    found = (pair_of(room, name) for name in import_module(f"learnt.{room}").__all__)
    return [pair for pair in found if pair is not None and not refusal(pair)]


def is_estimator(pair: Pair) -> bool:
    """Whether both are estimators."""
    return all(inspect.isclass(cls) and issubclass(cls, BaseEstimator) for cls in (pair.ours, pair.original))


@cache
def refusal(pair: Pair) -> str | None:
    """Why scikit-learn's parameters are not learnt's; None where they are.

    Every parameter of scikit-learn is one of learnt's, at the same place where it may be given without its name, and
    has the same default. The installed scikit-learn may be newer than what learnt knows.
    """
    ours, theirs = (inspect.signature(of).parameters for of in (pair.ours, pair.original))
    if missing := [name for name in theirs if name not in ours]:
        return f"learnt's has no parameter {missing[0]!r}"
    if [name for name in ours if by_place(ours[name])] != [name for name in theirs if by_place(theirs[name])]:
        return "parameters by place are others"
    for name, parameter in theirs.items():
        free = parameter.default is inspect.Parameter.empty or parameter.default in ANNOUNCED
        if not (free or same(parameter.default, ours[name].default) or (pair.name, name) in OTHER_DEFAULTS):
            return f"the default of {name!r} is {ours[name].default!r}, scikit-learn's {parameter.default!r}"
    return None


def by_place(parameter: inspect.Parameter) -> bool:
    """Whether it may be given without its name."""
    return parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD


def same(a: Any, b: Any) -> bool:
    """Whether two defaults are equal: also NaN and NaN, and functions of one name."""
    if isinstance(a, FunctionType) and isinstance(b, FunctionType):
        return a.__name__ == b.__name__
    return a is b or bool(a == b) or (a != a and b != b)
