"""What bagged members may hold in a file."""

from __future__ import annotations

from typing import Any

from learnt.engine.schema import (
    FREE_FEATURES,
    Check,
    Dims,
    Schema,
    anyof,
    count,
    estimator,
    flag,
    integers,
    listof,
    none,
    number,
    real,
)
from learnt.ensemble._schema import LABELLED, fit_together, known_classes

_state: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "estimator_": estimator("fit", "predict"),
    "estimators_": listof(estimator("predict"), "m"),
    "estimators_features_": listof(integers(None, below="d")),
    "_seeds": integers("m", below=2**32),
    "_n_samples": count(1, 2**40),
    "_max_samples": count(1, 2**40),
    "_max_features": count(1, FREE_FEATURES),
    "_sample_weight": anyof(none, real(None, low=0)),
}
_draws: dict[str, Check] = {"bootstrap": flag, "bootstrap_features": flag}


def _rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
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
        reason = fit_together([member], len(features))
        if reason is not None:
            return reason
    return known_classes(state["estimators_"], dims["c"]) if "classes_" in state else None


CLASSIFIER = Schema(
    params=_draws,
    state={**_state, **LABELLED},
    extra={"oob_score_": number(0, 1), "oob_decision_function_": real(None, "c", finite=False)},
    rule=_rule,
)
REGRESSOR = Schema(
    params=_draws,
    state=_state,
    extra={"oob_score_": number(finite=False), "oob_prediction_": anyof(real(None), real(None, None))},
    rule=_rule,
)
