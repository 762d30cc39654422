"""What AdaBoost may hold in a file."""

from __future__ import annotations

from typing import Any

from learnt.engine.schema import Check, Dims, Schema, count, estimator, listof, real
from learnt.ensemble._schema import LABELLED, fit_together

_state: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "estimator_": estimator("fit", "predict"),
    "estimators_": listof(estimator("predict"), "m"),
    "estimator_weights_": real("r"),
    "estimator_errors_": real("r"),
}


def _rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    if not state["estimators_"] or len(state["estimators_"]) > dims["r"]:
        return "has other weights than members"
    return fit_together(state["estimators_"], dims["d"])


CLASSIFIER = Schema(state={**_state, **LABELLED, "loss_bound_": real("m", low=0)}, rule=_rule)
REGRESSOR = Schema(state=_state, rule=_rule)
