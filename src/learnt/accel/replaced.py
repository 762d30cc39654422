"""Where pickles find the replacements of scikit-learn's classes: `replaced.linear_model.Ridge`.

A pickle made with the accelerator loads wherever learnt is installed, with or without it.
"""

from __future__ import annotations

from typing import Any

from learnt.accel._classes import standing_class
from learnt.accel._functions import standing_function
from learnt.accel._pairs import is_estimator, pair_of, refusal


class Room:
    """The replaced names of a room, made when first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("_") else standing(self._name, name)
        if found is None:
            raise AttributeError(f"nothing of learnt stands for sklearn.{self._name}.{name}")
        return found


def standing(room: str, name: str) -> Any:
    """The replacement of ``sklearn.<room>.<name>``; None where the name stays scikit-learn's."""
    pair = pair_of(room, name)
    if pair is None or refusal(pair):
        return None
    return standing_class(pair) if is_estimator(pair) else standing_function(pair)


def __getattr__(name: str) -> Any:
    import learnt

    if name in learnt._ESTIMATORS:
        return Room(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
