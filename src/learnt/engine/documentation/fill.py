"""Docstrings completed from the glossary: of functions by `@documented`, of every estimator when its class is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS, isfunction, unwrap
from textwrap import fill
from typing import Any, TypeVar

from sklearn.base import ClassifierMixin, ClusterMixin, OutlierMixin, RegressorMixin

from learnt.engine.documentation.glossary import (
    ANYWHERE,
    ATTRIBUTES,
    DECIDED,
    PREDICTED,
    RETURNS,
    SCORED,
    TAKES,
    VERBS,
    X_OTHER,
    X_PREDICTED,
    YIELDS,
    Y,
)
from learnt.engine.documentation.sections import join, named, split, with_entries

F = TypeVar("F", bound=Callable[..., Any])
_DONE = "__documented__"
REQUIRED = object()  # the default of a parameter that has none
_KINDS = {
    ClassifierMixin: "classifier",
    RegressorMixin: "regressor",
    ClusterMixin: "clusterer",
    OutlierMixin: "outlier_detector",
}
# What a method returns, by the kind of the estimator; where nothing is said of a kind, by "any" or the glossary.
_BY_KIND = {"predict": PREDICTED, "score": SCORED, "decision_function": DECIDED}


def documented(function: F) -> F:
    """Complete a function's docstring: its parameters that the glossary knows and the docstring leaves out.

    >>> @documented
    ... def mean(y_true, sample_weight=None):
    ...     '''Return the weighted mean.'''
    >>> print(mean.__doc__)
    Return the weighted mean.
    <BLANKLINE>
    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts: 2 as two rows, 0 as none. None counts every row once.
    <BLANKLINE>
    """
    if function.__doc__:  # none under python -OO
        function.__doc__ = _filled(function.__doc__, function, ANYWHERE)
    return function


def document_class(cls: type) -> None:
    """Complete the docstrings of an estimator, and of the methods that it and its bases of ours define."""
    if not cls.__doc__:
        return
    for base in cls.__mro__:
        if not base.__module__.startswith("learnt."):
            continue
        own = _kind_of(base)
        for name, member in vars(base).items():
            method = getattr(member, "__func__", getattr(member, "fn", member))  # of a class, and by `available_if`
            if not name.startswith("_") and isfunction(method) and not hasattr(method, _DONE) and method.__doc__:
                _document_method(name, method, own, base)
    if "__doc__" in vars(cls) and not cls.__name__.startswith("_"):
        cls.__doc__ = _class_docstring(cls)


def _kind_of(cls: type) -> str:
    return next((name for mixin, name in _KINDS.items() if issubclass(cls, mixin)), "any")


def _document_method(name: str, method: Any, kind: str, cls: type) -> None:
    setattr(method, _DONE, True)
    words = {**ANYWHERE, **_data(name, method, kind, cls)}
    by_kind = _BY_KIND.get(name, {})
    returned = by_kind.get(kind) or by_kind.get("any") or RETURNS.get(name)
    method.__doc__ = _filled(method.__doc__, method, words, returned, YIELDS.get(name))


def _data(name: str, method: Any, kind: str, cls: type) -> dict[str, str]:
    """What X and y are to a method: rows to learn from, or to be predicted."""
    if name in VERBS:
        return {"X": X_PREDICTED.format(verb=VERBS[name])}
    optional = parameters(method).get("y", REQUIRED) is None
    if kind in ("classifier", "regressor"):
        target = Y["labels" if kind == "classifier" else "numbers"]
    else:
        target = Y["ignored" if optional else "any"]
    if name not in ("fit", "partial_fit", "fit_transform", "fit_predict"):
        return {"X": X_OTHER, "y": target}
    takes = getattr(cls, "__learnt_takes__", None)
    storage = "{array-like, sparse matrix}" if getattr(takes, "sparse", False) is True else "array-like"
    return {"X": f"{storage} of shape (n_samples, n_features)\n    The rows to learn from.", "y": target}


def _filled(
    text: str, function: Any, words: Mapping[str, str], returned: str | None = None, yielded: str | None = None
) -> str:
    """A docstring with the parameters that it lacks and the glossary knows, and what comes back."""
    parts = split(text)
    defaults = parameters(function)
    there = named(parts.sections.get("Parameters", "")) + named(parts.sections.get("Other Parameters", ""))
    lacking = _lacking(defaults, words, there)
    own = parts.sections.get("Parameters", "")
    parts.sections["Parameters"] = with_entries(own, lacking, [*defaults, *_collected(function)])
    if not {"Returns", "Yields"} & parts.sections.keys():
        parts.sections |= {"Returns": returned} if returned else {"Yields": yielded} if yielded else {}
    return join(parts)


def parameters(function: Any) -> dict[str, Any]:
    """The parameters of a function without `self`, and their defaults; a tenth of the time of `inspect.signature`."""
    function = unwrap(function)
    code, defaults = function.__code__, function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    found = dict.fromkeys(positional, REQUIRED) | dict(zip(positional[::-1], defaults[::-1], strict=False))
    found |= dict.fromkeys(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount], REQUIRED)
    found |= function.__kwdefaults__ or {}
    return {name: default for name, default in found.items() if name not in ("self", "cls")}


def _collected(function: Any) -> tuple[str, ...]:
    """The names of `*args` and `**options`, which a signature ends with."""
    code = unwrap(function).__code__
    named = code.co_argcount + code.co_kwonlyargcount
    collected = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return code.co_varnames[named : named + collected]


def _lacking(defaults: Mapping[str, Any], words: Mapping[str, str], there: list[str]) -> dict[str, str]:
    """Entries of the glossary for parameters that a docstring leaves out, with the defaults of this signature."""
    found = {}
    for name, default in defaults.items():
        if name in words and name not in there:
            kind, _, rest = words[name].partition("\n")
            if kind != "Ignored":
                kind = kind.partition(", default=")[0]
                kind += "" if default is REQUIRED else f", default={_shown(default)}"
            found[name] = f"{name} : {kind}\n{rest}"
    return found


def _shown(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _class_docstring(cls: type) -> str:
    """The docstring of a class with what the glossary and its declarations add to it."""
    parts = split(cls.__doc__)
    init = cls.__init__  # type: ignore[misc]
    if isfunction(init):
        own, defaults = parts.sections.get("Parameters", ""), parameters(init)
        parts.sections["Parameters"] = with_entries(own, _lacking(defaults, ANYWHERE, named(own)), list(defaults))
    attributes = parts.sections.get("Attributes", "")
    more = {name: f"{name} : {entry}" for name, entry in ATTRIBUTES.items() if name not in named(attributes)}
    parts.sections["Attributes"] = with_entries(attributes, more, [])
    if taken := _takes(cls):
        parts.sections["Notes"] = "\n\n".join(filter(None, [parts.sections.get("Notes", "").strip("\n"), taken]))
    return join(parts)


def _takes(cls: type) -> str:
    """A sentence on the tables that a class takes besides NumPy arrays and data frames of numbers."""
    takes = getattr(cls, "__learnt_takes__", None)
    if takes is None or isinstance(takes, property):  # where it depends on a parameter, the class says so itself
        return ""
    more = [words for name, words in TAKES.items() if getattr(takes, name)]
    tables = "NumPy arrays and data frames of pandas, Polars and pyarrow"
    return fill(f"X may be one of: {'; '.join([tables, *more])}." if more else f"X may be one of: {tables}.", 100)
