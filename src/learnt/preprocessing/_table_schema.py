"""What a `TableEncoder` may hold in a file: for each column its kind, the names of its outputs, and its coding."""

from __future__ import annotations

from typing import Any

from learnt.engine.schema import (
    Check,
    Dims,
    Schema,
    anyof,
    choice,
    count,
    dictof,
    fields,
    flag,
    instance,
    listof,
    none,
    number,
    real,
    record,
    text,
)

_PARTS = ("month", "weekday", "hour")
_number = fields(point=choice(".", ","), fill=number(), varies=flag, missing=flag)
_squashed = fields(
    point=choice(".", ","), fill=number(), varies=flag, missing=flag, centre=number(), spread=number(above=0)
)
_onehot = fields(method=choice("onehot"), levels=listof(text), other=flag, missing=flag)
_frequency = fields(
    method=choice("frequency"),
    levels=listof(text),
    other=flag,
    missing=flag,
    all_levels=listof(text, "levels"),
    shares=real("levels", low=0, high=1),
)
_target = fields(method=choice("target"), levels=listof(text), means=real(None, None))
_dates: dict[str, Check] = {
    "reading": dictof(text, anyof(flag, text)),
    "origin": number(),
    "days": anyof(none, number()),
    "year": anyof(none, number()),
    "parts": listof(choice(*_PARTS)),
    "missing": flag,
}
_text = fields(words=listof(text, "words"), idf=real("words"), missing=flag)

_CODINGS: dict[str, Check] = {
    "number": anyof(_number, _squashed),
    "boolean": _number,
    "category": anyof(_onehot, _frequency, _target),
    "date": anyof(fields(**_dates), fields(**_dates, spreads=listof(number(above=0), 2))),
    "text": _text,
}
_DROPPED = ("drop", "identifier", "constant", "empty", "duplicate", "nested")
_READINGS: dict[str, Check] = {"order": choice("mdy", "dmy", "ymd"), "compact": flag, "numbers": flag}

_entry = fields(
    name=text,
    kind=choice(*_CODINGS, *_DROPPED),
    reason=text,
    statistics=dictof(text, record),
    outputs=listof(text),
    suffixes=listof(text),
    coding=instance(dict, "a dict"),
)


def width(kind: str, coding: dict[str, Any]) -> int:
    """How many columns a coding writes."""
    missing = int(coding.get("missing", False))
    if kind in ("number", "boolean"):
        return int(coding["varies"]) + missing
    if kind == "text":
        return len(coding["words"]) + 1 + missing
    if kind == "date":
        return sum(coding[part] is not None for part in ("days", "year")) + 2 * len(coding["parts"]) + missing
    if coding["method"] == "target":
        return coding["means"].shape[1]
    return len(coding["levels"]) + int(coding["other"]) + missing + (coding["method"] == "frequency")


def _column(value: Any, dims: Dims) -> str | None:
    reason = _entry(value, {})
    if reason is not None:
        return reason
    kind, coding = value["kind"], value["coding"]
    if len(value["outputs"]) != len(value["suffixes"]):
        return "names other outputs than it has"
    if kind in _DROPPED:
        return "is dropped and yet has outputs" if coding != {} or value["outputs"] else None
    reason = _CODINGS[kind](coding, {})
    if reason is not None:
        return f"has a coding that {reason}"
    if kind == "category":
        levels = coding["levels"]
        if len(set(levels)) != len(levels):
            return "has a level twice"
        if coding["method"] == "target" and coding["means"].shape[0] != len(levels) + 2:
            return "has other means than levels"
    if kind == "text" and len(set(coding["words"])) != len(coding["words"]):
        return "has a word twice"
    if kind == "date":
        reading = coding["reading"]
        if any(k not in _READINGS or _READINGS[k](v, {}) for k, v in reading.items()):
            return "reads dates in an unknown way"
    if width(kind, coding) != len(value["outputs"]):
        return "has other outputs than its coding writes"
    return None


def _rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    if not state["sparse_"] and len(state["columns_"]) != dims["d"]:
        return "describes other columns than it has"
    return None


TABLE_ENCODER = Schema(
    state={
        "n_features_in_": count(1, name="d"),
        "columns_": listof(_column),
        "sparse_": flag,
        "dtype_": choice("float32", "float64"),
    },
    rule=_rule,
)
