"""What ensembles of any estimators may hold in a file: their members are estimators of the registry themselves."""

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
    instance,
    labels,
    listof,
    none,
    number,
    real,
    text,
    whole,
)
from learnt.erm.losses import Loss

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
    stacked = getattr(state["final_estimator_"], "n_features_in_", None)
    passed = width or 0 if model.passthrough else 0
    if stacked is not None and sum(state["_n_feature_outs"]) + passed != stacked:
        return "has members that answer in other columns than its final estimator takes"
    if isinstance(state.get("classes_"), np.ndarray):
        return known_classes([state["final_estimator_"]], len(state["classes_"]))
    return None


def _fit_together(members: list[Any], columns: int) -> str | None:
    """Members and their trees look at columns that are there."""
    for member in members:
        for part in (member, getattr(member, "tree_", None)):
            width = getattr(part, "n_features_in_", getattr(part, "n_features", columns))
            if width != columns:
                return "has members of other columns"
    return None


def _boosted_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    if not state["estimators_"] or len(state["estimators_"]) > dims["r"]:
        return "has other weights than members"
    return _fit_together(state["estimators_"], dims["d"])


def _bagging_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    if not state["estimators_"] or len(state["estimators_features_"]) != dims["m"]:
        return "does not say which columns its members take"
    if state["_max_features"] != len(state["estimators_features_"][0]):
        return "draws another number of columns than it drew"
    if not model.bootstrap and state["_max_samples"] > state["_n_samples"]:
        return "draws more rows than there are"
    weights = state["_sample_weight"]
    if weights is not None and len(weights) != state["_n_samples"]:
        return "has other weights than rows"
    for member, features in zip(state["estimators_"], state["estimators_features_"]):
        reason = _fit_together([member], len(features))
        if reason is not None:
            return reason
    return known_classes(state["estimators_"], dims["c"]) if "classes_" in state else None


def _functional_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    width = len(state["init_"])
    if any(len(members) != width for members in state["estimators_"]):
        return "has rounds of different numbers of learners"
    if state["loss_"].target != "number" and width not in (1, dims.get("c")):
        return "has other scores than classes"
    if state["loss_"].target != "number" and dims.get("c", 0) < 2:
        return "predicts classes that it does not have"
    return _fit_together([member for members in state["estimators_"] for member in members], dims["d"])


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

_boosted: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "estimator_": estimator("fit", "predict"),
    "estimators_": listof(estimator("predict"), "m"),
    "estimator_weights_": real("r"),
    "estimator_errors_": real("r"),
}
_bagged: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "estimator_": estimator("fit", "predict"),
    "estimators_": listof(estimator("predict"), "m"),
    "estimators_features_": listof(whole(None, below="d")),
    "_seeds": whole("m", below=2**32),
    "_n_samples": count(1, 2**40),
    "_max_samples": count(1, 2**40),
    "_max_features": count(1, FREE_FEATURES),
    "_sample_weight": anyof(none, real(None, low=0)),
}
_labelled: dict[str, Check] = {"classes_": labels("c"), "n_classes_": count(1, name="c")}
_draws: dict[str, Check] = {"bootstrap": flag, "bootstrap_features": flag}

META_ENSEMBLES: dict[str, Schema] = {
    "learnt.ensemble.AdaBoostClassifier": Schema(
        state={**_boosted, **_labelled, "loss_bound_": real("m", low=0)}, rule=_boosted_rule
    ),
    "learnt.ensemble.AdaBoostRegressor": Schema(state=_boosted, rule=_boosted_rule),
    "learnt.ensemble.BaggingClassifier": Schema(
        params=_draws,
        state={**_bagged, **_labelled},
        extra={"oob_score_": number(0, 1), "oob_decision_function_": real(None, "c", finite=False)},
        rule=_bagging_rule,
    ),
    "learnt.ensemble.BaggingRegressor": Schema(
        params=_draws,
        state=_bagged,
        extra={"oob_score_": number(finite=False), "oob_prediction_": anyof(real(None), real(None, None))},
        rule=_bagging_rule,
    ),
    "learnt.ensemble.FunctionalGradientBoosting": Schema(
        params={"learning_rate": number(above=0)},
        state={
            "n_features_in_": count(1, name="d"),
            "n_estimators_": count(1, name="m"),
            "estimators_": listof(listof(estimator("predict")), "m"),
            "steps_": real("m"),
            "init_": real("s"),
            "train_score_": real("m", finite=False),
            "loss_": instance(Loss, "a loss of learnt"),
        },
        extra={"classes_": labels("c"), "validation_score_": real("m", finite=False)},
        rule=_functional_rule,
    ),
    "learnt.ensemble.RecalibratedClassifier": Schema(
        params={
            "estimator": estimator("fit", "predict_proba"),
            "exponent": number(above=0, high=1e3),
            "floor": number(0, 1),
            "offsets": anyof(none, listof(_offset), listof(_offset, kind=tuple), real(None, low=-1e3, high=1e3)),
        },
        state={"estimator_": estimator("predict_proba"), "classes_": labels("c")},
        rule=_recalibrated_rule,
    ),
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
        rule=_soft_rule,
    ),
    "learnt.ensemble.VotingRegressor": Schema(
        params={"estimators": _given, "weights": _weights}, state=_members, rule=_named_rule
    ),
}
