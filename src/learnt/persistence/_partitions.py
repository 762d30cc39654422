"""What partition estimators may hold in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import Dims, Schema, anyof, count, estimator, flags, listof, number, real, whole
from learnt.persistence._trees import tree_check


def _dyadic_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """Keys are sorted, every cell hangs below one before it, and there is a model for each."""
    d, cells = dims["d"], dims["m"]
    keys, level = state["cell_keys_"], state["cell_level_"]
    if d > 30 or cells < 1 or keys.dtype != np.int64 or len(keys) != cells - 1 or (np.diff(keys) <= 0).any():
        return "has cells that cannot be found"
    parent = keys >> d
    if level[0] != 0 or (parent > np.arange(len(keys))).any() or (level[1:] != level[parent] + 1).any():
        return "has cells that do not hang together"
    if state["cell_coef_"].shape[1] not in (0, d):
        return "has coefficients for other columns"
    if len(state["estimators_"]) not in (0, cells):
        return "has other models than cells"
    widths = {getattr(member, "n_features_in_", d) for member in state["estimators_"]}
    return None if widths <= {d} else "has models of other columns"


DYADIC = Schema(
    state={
        "n_features_in_": count(1, name="d"),
        "lower_": real("d"),
        "upper_": real("d"),
        "cell_level_": whole("m", below=64),
        "cell_keys_": whole(None),
        "cell_refined_": flags("m"),
        "cell_coef_": real("m", None),
        "cell_intercept_": real("m"),
        "cell_count_": whole("m"),
        "estimators_": listof(estimator("predict")),
        "depth_": count(),
        "n_cells_": count(1),
    },
    extra={
        "tau_": number(0),
        "cv_values_": anyof(real(None, low=0), whole(None)),
        "cv_errors_": real(None, low=0),
    },
    rule=_dyadic_rule,
)


def _model_tree_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """One model for each leaf of the tree, in order."""
    if not np.array_equal(state["leaves_"], np.flatnonzero(state["tree_"].is_leaf)):
        return "has models for other nodes than its leaves"
    if state["coef_"].shape[1] not in (0, dims["d"]):
        return "has coefficients for other columns"
    if len(state["estimators_"]) not in (0, dims["m"]):
        return "has other models than leaves"
    widths = {getattr(member, "n_features_in_", dims["d"]) for member in state["estimators_"]}
    return None if widths <= {dims["d"]} else "has models of other columns"


MODEL_TREE = Schema(
    state={
        "n_features_in_": count(1, name="d"),
        "tree_": tree_check(n_classes=False),
        "leaves_": whole("m"),
        "coef_": real("m", None),
        "intercept_": real("m"),
        "estimators_": listof(estimator("predict")),
    },
    rule=_model_tree_rule,
)
