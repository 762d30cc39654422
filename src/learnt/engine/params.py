"""Constructor parameters, checked when `fit` starts; a refusal names the parameter, what it may be and what it was."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import isinf
from numbers import Integral, Real
from typing import Any


class ParameterError(ValueError, TypeError):
    """A parameter has a value that it cannot have."""


def check_number(
    estimator: Any,
    name: str,
    low: float | None = None,
    high: float | None = None,
    *,
    integer: bool = False,
    open_low: bool = False,
    also: Sequence[Any] = (),
) -> None:
    """The parameter is a number in low…high (`open_low`: greater than low), or one of `also` (None, "auto", …)."""
    value = getattr(estimator, name)
    if _is_among(value, also):
        return
    kind = Integral if integer else Real
    good = isinstance(value, kind) and not isinstance(value, bool)
    good = good and (low is None or (value > low if open_low else value >= low)) and (high is None or value <= high)
    if not good:
        finite = high is not None and high >= sys.float_info.max  # any number but infinity
        what = "a whole number" if integer else "a finite number" if finite else "a number"
        if low is not None:
            what += f" greater than {low:g}" if open_low else f" of at least {low:g}"
        if high is not None and not finite:
            what += f" and below {high:g}" if float(f"{high:g}") > high else f" and at most {high:g}"
        raise ParameterError(_sentence(estimator, name, " or ".join([what, *map(repr, also)]), value))


def check_verbose(estimator: Any) -> None:
    """The parameter `verbose` is True, False or an integer of at least 0."""
    if not _is_flag(estimator.verbose):
        check_number(estimator, "verbose", 0, integer=True)


def check_class_weight(estimator: Any) -> None:
    """The parameter `class_weight` is a dict, "balanced" or None."""
    value = estimator.class_weight
    if not (value is None or isinstance(value, dict) or (isinstance(value, str) and value == "balanced")):
        raise ParameterError(_sentence(estimator, "class_weight", "a dict, 'balanced' or None", value))


def check_choice(estimator: Any, name: str, options: Sequence[Any]) -> None:
    """The parameter is one of `options`."""
    value = getattr(estimator, name)
    if not _is_among(value, options):
        raise ParameterError(_sentence(estimator, name, "one of " + ", ".join(map(repr, options)), value))


def check_flag(estimator: Any, *names: str) -> None:
    """The parameters are True or False."""
    for name in names:
        value = getattr(estimator, name)
        if not _is_flag(value):
            raise ParameterError(_sentence(estimator, name, "True or False", value))


def _is_flag(value: Any) -> bool:
    """NumPy's booleans count: grids of parameters are made of them."""
    return type(value).__name__ in ("bool", "bool_")


def _is_among(value: Any, options: Sequence[Any]) -> bool:
    told_by_value = isinstance(value, str) or _is_flag(value) or (isinstance(value, float) and isinf(value))
    return any(value is option or (told_by_value and type(option) is not int and value == option) for option in options)


def _sentence(estimator: Any, name: str, allowed: str, value: Any) -> str:
    return f"The {name!r} parameter of {type(estimator).__name__} must be {allowed}. Got {value!r} instead."
