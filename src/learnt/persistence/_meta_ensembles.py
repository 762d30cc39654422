"""What ensembles of any estimators may hold in a file: their members are estimators of the registry themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.persistence._checks import (
    Check,
    Dims,
    Schema,
    anyof,
    choice,
    count,
    estimator,
    flag,
    labels,
    listof,
    none,
    number,
    real,
    text,
    whole,
)

_weights = anyof(none, listof(number(0)), listof(number(0), kind=tuple), real(None, low=0), whole(None))


def _given(value: Any, dims: Dims) -> str | None:
    """The parameter `estimators`: pairs of different names and estimators, some of them dropped."""
    if type(value) not in (list, tuple) or not value:
        return "is not a list of named estimators"
    for pair in value:
        if type(pair) not in (list, tuple) or len(pair) != 2 or type(pair[0]) is not str:
            return "is not a list of named estimators"
        if not (type(pair[1]) is str and pair[1] == "drop"):
            reason = estimator("fit", "predict")(pair[1], {})
            if reason is not None:
                return f"has a member that {reason}"
    return "gives two members the same name" if len({pair[0] for pair in value}) != len(value) else None


def _fitted_names(value: Any, dims: Dims) -> str | None:
    """One name a member, after a sign: + where it was fitted, − where it was dropped."""
    if type(value) is not list or not all(type(name) is str and name[:1] in ("+", "-") for name in value):
        return "is not a list of signed names"
    kept = sum(name[0] == "+" for name in value)
    return None if kept and dims.setdefault("m", kept) == kept else f"names {kept} members instead of {dims.get('m')}"


def same_width(members: list[Any]) -> int | str | None:
    """The number of features that all members agree on; a sentence where they do not; None where nobody says."""
    widths = {width for member in members if (width := getattr(member, "n_features_in_", None)) is not None}
    return "has members fitted on different columns" if len(widths) > 1 else next(iter(widths), None)


def known_classes(members: list[Any], n_classes: int) -> str | None:
    """Members answer with the positions 0…c−1 of the labels, or with truth values where there are two."""
    for member in members:
        classes = getattr(member, "classes_", None)
        if isinstance(classes, np.ndarray) and (
            classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= n_classes
        ):
            return "has a member that answers with classes that it does not know"
    return None


def _named_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    width = same_width(state["estimators_"])
    if isinstance(width, str):
        return width
    names = state.get("feature_names_in_")
    if names is not None and width is not None and len(names) != width:
        return "names other features than its members"
    if model.weights is not None and len(model.weights) != len(state["_fitted_names"]):
        return "has other weights than members"
    return known_classes(state["estimators_"], dims["c"]) if "classes_" in state else None


def _stack_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    width = same_width(state["estimators_"])
    if isinstance(width, str):
        return width
    for member, method in zip(state["estimators_"], state["stack_method_"]):
        if not hasattr(member, method):
            return f"has a member without {method}"
    if isinstance(state.get("classes_"), np.ndarray):
        return known_classes([state["final_estimator_"]], len(state["classes_"]))
    return None


_members: dict[str, Check] = {"estimators_": listof(estimator("predict"), "m"), "_fitted_names": _fitted_names}
_stack: dict[str, Check] = {
    **_members,
    "stack_method_": listof(choice("predict_proba", "decision_function", "predict"), "m"),
    "final_estimator_": estimator("predict"),
    "_n_feature_outs": listof(count(0)),
}

META_ENSEMBLES: dict[str, Schema] = {
    "learnt.ensemble.StackingClassifier": Schema(
        params={"estimators": _given, "passthrough": flag, "stack_method": text},
        state={**_stack, "classes_": anyof(labels("c"), listof(labels(None)))},
        rule=_stack_rule,
    ),
    "learnt.ensemble.StackingRegressor": Schema(
        params={"estimators": _given, "passthrough": flag}, state=_stack, rule=_stack_rule
    ),
    "learnt.ensemble.VotingClassifier": Schema(
        params={
            "estimators": _given,
            "voting": choice("hard", "soft"),
            "weights": _weights,
            "flatten_transform": flag,
        },
        state={**_members, "classes_": labels("c")},
        rule=_named_rule,
    ),
    "learnt.ensemble.VotingRegressor": Schema(
        params={"estimators": _given, "weights": _weights}, state=_members, rule=_named_rule
    ),
}
