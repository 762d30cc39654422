"""What ensembles of named estimators may hold in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import (
    FREE_FEATURES,
    Check,
    Dims,
    Schema,
    anyof,
    choice,
    count,
    estimator,
    flag,
    integers,
    labels,
    listof,
    none,
    number,
    real,
    text,
)
from learnt.ensemble._schema import known_classes, same_width

_weights = anyof(none, listof(number(0)), listof(number(0), kind=tuple), real(None, low=0), integers(None))


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
    stacked = getattr(state["final_estimator_"], "n_features_in_", None)
    passed = width or 0 if model.passthrough else 0
    if stacked is not None and sum(state["_n_feature_outs"]) + passed != stacked:
        return "has members that answer in other columns than its final estimator takes"
    if isinstance(state.get("classes_"), np.ndarray):
        return known_classes([state["final_estimator_"]], len(state["classes_"]))
    return None


def _soft_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """Probabilities are averaged, so that every member must have one for each class, in the same order."""
    reason = _named_rule(model, state, dims)
    if reason is None and model.voting == "soft":
        for member in state["estimators_"]:
            classes = getattr(member, "classes_", None)
            if not isinstance(classes, np.ndarray) or classes.tolist() != list(range(dims["c"])):
                return "has a member with probabilities of other classes"
            if not hasattr(member, "predict_proba"):
                return "has a member without predict_proba"
    return reason


def _recalibrated_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    inner = getattr(state["estimator_"], "classes_", None)
    if not isinstance(inner, np.ndarray) or inner.dtype != state["classes_"].dtype:
        return "has other classes than its classifier"
    if inner.tolist() != state["classes_"].tolist():
        return "has other classes than its classifier"
    if model.offsets is not None and len(model.offsets) != dims["c"]:
        return "has other offsets than classes"
    return None


_offset = number(-1e3, 1e3)
_members: dict[str, Check] = {"estimators_": listof(estimator("predict"), "m"), "_fitted_names": _fitted_names}
_stack: dict[str, Check] = {
    **_members,
    "stack_method_": listof(choice("predict_proba", "decision_function", "predict"), "m"),
    "final_estimator_": estimator("predict"),
    "_n_feature_outs": listof(count(0, FREE_FEATURES)),
}
RECALIBRATED = Schema(
    params={
        "estimator": estimator("fit", "predict_proba"),
        "exponent": number(above=0, high=1e3),
        "floor": number(0, 1),
        "doubt": number(0, 1),
        "offsets": anyof(none, listof(_offset), listof(_offset, kind=tuple), real(None, low=-1e3, high=1e3)),
    },
    state={"estimator_": estimator("predict_proba"), "classes_": labels("c")},
    rule=_recalibrated_rule,
)
STACKING_CLASSIFIER = Schema(
    params={"estimators": _given, "passthrough": flag, "stack_method": text},
    state={**_stack, "classes_": anyof(labels("c"), listof(labels(None)))},
    rule=_stack_rule,
)
STACKING_REGRESSOR = Schema(params={"estimators": _given, "passthrough": flag}, state=_stack, rule=_stack_rule)
VOTING_CLASSIFIER = Schema(
    params={
        "estimators": _given,
        "voting": choice("hard", "soft"),
        "weights": _weights,
        "flatten_transform": flag,
    },
    state={**_members, "classes_": labels("c")},
    rule=_soft_rule,
)
VOTING_REGRESSOR = Schema(params={"estimators": _given, "weights": _weights}, state=_members, rule=_named_rule)
