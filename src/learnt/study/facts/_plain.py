"""Dataclasses as plain data, as in a JSON file, and back.

A field that is None, and None by default, is absent from the data; a field whose name is a word of Python (`class_`)
is there without its underscore.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Plain data: NumPy's scalars and arrays as Python's, numbers that are not finite as None.

    >>> from learnt.study.facts import Estimate
    >>> to_plain(Estimate(0.25, 0.125, float("inf")))
    {'estimate': 0.25, 'low': 0.125, 'high': None}
    """
    if is_dataclass(value) and not isinstance(value, type):
        made = {}
        for part in fields(value):
            item = getattr(value, part.name)
            if item is not None or part.default is not None:
                made[part.name.rstrip("_")] = to_plain(item)
        return made
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return to_plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def read_plain(kind: type[T], data: Mapping[str, Any]) -> T:
    """The dataclass that `to_plain` made the data of; what it does not know is left out, what it lacks is a KeyError.

    >>> from learnt.study.facts import Estimate
    >>> read_plain(Estimate, {"estimate": 0.25, "low": 0.125, "high": 0.5})
    Estimate(estimate=0.25, low=0.125, high=0.5)
    """
    hints, given = _hints(kind), {}  # type: ignore[arg-type]
    for part in fields(kind):  # type: ignore[arg-type]
        name = part.name.rstrip("_")
        if name in data:
            given[part.name] = _read(hints[part.name], data[name])
        elif part.default is MISSING and part.default_factory is MISSING:
            raise KeyError(name)
    return kind(**given)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _read(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        kinds = [part for part in get_args(hint) if part is not NoneType]
        made = [part for part in kinds if is_dataclass(part)]
        return _read(next((part for part in made if _fits(part, value)), kinds[0]), value)
    if origin is tuple:
        return tuple(_read(get_args(hint)[0], item) for item in value)
    if origin is list and is_dataclass(get_args(hint)[0]):
        return [_read(get_args(hint)[0], item) for item in value]
    if origin is dict:
        return {key: _read(get_args(hint)[1], item) for key, item in value.items()}
    if is_dataclass(hint) and isinstance(value, Mapping):
        return read_plain(hint, value)  # type: ignore[arg-type]
    return value


def _fits(kind: Any, value: Any) -> bool:
    """Whether the data have all that this dataclass cannot do without."""
    needed = [p.name.rstrip("_") for p in fields(kind) if p.default is MISSING and p.default_factory is MISSING]
    return isinstance(value, Mapping) and all(name in value for name in needed)
