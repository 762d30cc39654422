"""What is missing in the docstrings of public names: numpydoc's validation, and what it does not look at.

    PYTHONPATH=src python tests/docstrings learnt.cluster      a line for each fault; without a room, of all

For every name in a room's `__all__` that is ours, and every public method and property that it has from us:

    numpydoc's checks            those listed in pyproject.toml
    attributes                   each has a description, and each that a model file holds is listed
    scikit-learn's twin          each section that it has, ours has
    See Also                     each name is one of `learnt`
    words                        no "as for", "those of": a docstring explains by itself
"""

import importlib
import inspect
import re
import tomllib
from functools import cache
from pathlib import Path

import numpydoc.validate
from numpydoc.docscrape import get_doc_object
from sklearn.base import BaseEstimator

import learnt
from learnt.engine.documentation.sections import entries, names_of, split
from learnt.engine.schema import Schema

ROOT = Path(__file__).parents[2]
# Parts of models and of the machine room, for those who develop `learnt`: no user calls them.
INSIDE = {"engine", "forestry", "explanation"}
ROOMS = [room for room in learnt._ROOMS if room not in INSIDE]
CHECKS = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["numpydoc_validation"]["checks"])
BY_REFERENCE = re.compile(r"(?i)\b(as for `|(parameters|arguments) (are|is) those of|see `\w+` for (the|its) param)")
# Sections that scikit-learn's classes and functions have and that ours must have too where their twin has them.
TWIN_SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "See Also", "Notes", "References", "Examples")


def public(room):
    """The public names of a room that are ours, as (dotted name, object)."""
    module = importlib.import_module(f"learnt.{room}")
    found = ((name, getattr(module, name)) for name in getattr(module, "__all__", ()))
    return [
        (f"learnt.{room}.{name}", thing)
        for name, thing in found
        if getattr(thing, "__module__", "").startswith("learnt.")
        and (inspect.isclass(thing) or inspect.isfunction(thing))
    ]


def members(cls):
    """The public methods and properties of a class that are defined in `learnt`."""
    found = []
    for base in cls.__mro__:
        if base.__module__.startswith("learnt."):
            for name, member in vars(base).items():
                function = getattr(member, "__func__", getattr(member, "fget", None) or getattr(member, "fn", member))
                is_ours = inspect.isfunction(function) and function.__module__.startswith("learnt.")
                if not name.startswith("_") and is_ours and name not in found:
                    found.append(name)
    return found


@cache
def all_names():
    """Every public name of `learnt`, with and without its room."""
    found = {f"learnt.{name}" for name in learnt.__all__}
    for room in learnt._ROOMS:
        names = getattr(importlib.import_module(f"learnt.{room}"), "__all__", ())
        found |= {f"{before}{name}" for name in names for before in ("", f"{room}.", f"learnt.{room}.")}
    return frozenset(found)


def twin(name):
    """scikit-learn's class or function of the same name in the same place, if there is one."""
    room, _, own = name.removeprefix("learnt.").partition(".")
    try:
        return getattr(importlib.import_module(f"sklearn.{room}"), own, None)
    except ImportError:
        return None


class _Docstring(numpydoc.validate.Validator):
    """numpydoc's, without its search for comments beside a definition: generated ones have none, and we ignore none."""

    def __init__(self, obj_name):
        thing = self._load_obj(obj_name) if isinstance(obj_name, str) else obj_name
        super().__init__(get_doc_object(thing))

    @property
    def source_file_name(self):
        return None

    @property
    def source_file_def_line(self):
        return 1


def of_numpydoc(thing):
    """Faults by numpydoc's checks, of a name or of what it stands for."""
    errors = numpydoc.validate.validate(thing, _Docstring)["errors"]
    return [f"{code} {text}" for code, text in errors if code in CHECKS]


def of_class(name, cls):
    """Faults in what a class says of its attributes."""
    parts = split(cls.__doc__)
    listed = set()
    for entry in entries(parts.sections.get("Attributes", "")):
        listed |= {*names_of(entry)}
        if "\n" not in entry.strip():
            yield f"the attribute {entry.split(' :')[0]!r} has no description"
    schema = getattr(cls, "__learnt_schema__", None)
    if issubclass(cls, BaseEstimator) and isinstance(schema, Schema):
        kept = {key for key in {**schema.state, **schema.extra} if key.endswith("_") and not key.startswith("_")}
        for attribute in sorted(kept - listed):
            yield f"the attribute {attribute!r} is not documented"


def of_twin(name, thing):
    """Faults beside scikit-learn's twin."""
    other = twin(name)
    if other is None or other is thing or not getattr(other, "__doc__", None):
        return
    theirs, ours = split(other.__doc__).sections, split(thing.__doc__).sections
    for section in TWIN_SECTIONS:
        if section in theirs and section not in ours:
            yield f"no section {section}, which scikit-learn's has"


def of_words(name, text):
    """References that lead nowhere, and docstrings that send the reader elsewhere."""
    parts = split(text)
    for entry in entries(parts.sections.get("See Also", "")):
        for other in names_of(entry):
            if other.strip("`") not in all_names() and not other.startswith(("sklearn.", "numpy.", "scipy.")):
                yield f"See Also names {other!r}, which is no public name of learnt"
    if found := BY_REFERENCE.search(text):
        yield f"explains by reference: {found[0]!r}"


def faults(room):
    """Every fault of a room as (name, what is wrong)."""
    found = []
    for name, thing in public(room):
        is_class = inspect.isclass(thing)
        found += [(name, fault) for fault in of_numpydoc(name)]
        found += [(name, fault) for fault in of_twin(name, thing)]
        found += [(name, fault) for fault in of_words(name, thing.__doc__ or "")]
        if is_class:
            found += [(name, fault) for fault in of_class(name, thing)]
            for member in members(thing):
                path = f"{name}.{member}"
                found += [(path, fault) for fault in of_numpydoc(path)]
    return found
