"""What AdaBoost may hold in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def _classifier_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """Votes are assigned to the positions of the members' labels among those of the ensemble."""
    if not np.array_equal(np.unique(state["classes_"]), state["classes_"]):
        return "has classes out of order"
    known = set(state["classes_"].tolist())
    for member in state["estimators_"]:
        classes = getattr(member, "classes_", None)
        if isinstance(classes, np.ndarray) and not known.issuperset(classes.tolist()):
            return "has a member that answers with classes that it does not know"
    return _rule(model, state, dims)


CLASSIFIER = Schema(state={**_state, **LABELLED, "loss_bound_": real("m", low=0)}, rule=_classifier_rule)
REGRESSOR = Schema(state=_state, rule=_rule)
