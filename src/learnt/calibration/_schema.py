"""What a calibrated classifier may hold in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.calibration._maps import METHODS
from learnt.engine.schema import Dims, Schema, anyof, choice, estimator, labels, listof, none, real


def _rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    known = state["classes_"].tolist()
    for member, maps in zip(state["estimators_"], state["maps_"]):
        classes = getattr(member, "classes_", None)
        if not isinstance(classes, np.ndarray) or len(classes) < 2 or not set(classes.tolist()) <= set(known):
            return "has a classifier with other classes than its own"
        if not (hasattr(member, "decision_function") or hasattr(member, "predict_proba")):
            return "has a classifier without scores"
        needed = 1 if model.method == "temperature" or len(known) == 2 else len(classes)
        if len(maps) != needed:
            return "has more or fewer maps than scores"
        for fitted in maps:
            if not fitted.size or (model.method != "isotonic" and fitted.shape[1] != 1):
                return "has a map of another kind"
            if model.method == "isotonic" and (
                (np.diff(fitted[0]) <= 0).any() or fitted[1].min() < 0 or fitted[1].max() > 1
            ):
                return "has an isotonic map that does not increase"
    return None


CALIBRATED = Schema(
    params={"estimator": anyof(none, estimator("fit")), "method": choice(*METHODS)},
    state={
        "classes_": labels("c"),
        "estimators_": listof(estimator("predict"), "m"),
        "maps_": listof(listof(real(2, None)), "m"),
    },
    rule=_rule,
)
