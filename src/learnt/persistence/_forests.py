"""What a forest may hold in a file: trees whose shape follows from their leaves, seeds, and what leaves remember."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.forestry import Grove
from learnt.persistence._checks import (
    Check,
    Dims,
    Schema,
    anyof,
    anything,
    count,
    fields,
    labels,
    none,
    number,
    real,
    whole,
)
from learnt.persistence._trees import categories_check

GROVE_FIELDS = (
    "n_features", "n_classes", "criterion", "sizes", "feature", "threshold", "missing_left", "value", "count", "weight",
    "impurity", "table_start", "table",
)  # fmt: skip


def _grove(value: Any, dims: Dims) -> str | None:
    """Trees over the d columns; that their arrays fit each other is checked when they are put together."""
    if type(value) is not Grove:
        return "is not a grove"
    if value.n_features != dims.get("d"):
        return f"is over {value.n_features} columns"
    if not np.isfinite(value.value).all():
        return "holds values that are not finite"
    dims["t"], dims["leaves"] = value.n_trees, len(value.value)
    return None


def _leaf_samples(value: Any, dims: Dims) -> str | None:
    reason = fields(sizes=whole(None, low=1, below=17), targets=real(None))(value, {})
    if reason is not None:
        return reason
    fits = len(value["sizes"]) in (0, dims["leaves"]) and value["sizes"].sum() == len(value["targets"])
    return None if fits else "has other targets than leaves"


def _errors(value: Any, dims: Dims) -> str | None:
    reason = fields(sorted=real(None), floor=number(0))(value, {})
    return reason or (None if (np.diff(value["sorted"]) >= 0).all() else "has errors out of order")


def _classes_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """One output: an array of classes. Several: a list of them. As many as the trees have values."""
    k = state["n_outputs_"]
    classes = [state["classes_"]] if k == 1 else state["classes_"]
    counts = [state["n_classes_"]] if k == 1 else state["n_classes_"]
    if type(classes) is not list or type(counts) is not list or len(classes) != k or len(counts) != k:
        return "has other outputs than its trees"
    for values, n in zip(classes, counts):
        sizes: Dims = {}
        reason = labels("c")(values, sizes)
        if reason is not None:
            return f"has classes that {reason}"
        if type(n) is not int or sizes["c"] != n:
            return "has other classes than it counts"
    return None if counts == state["grove_"].n_classes.tolist() else "has other classes than its trees"


def _numbers_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    fits = state["grove_"].n_classes.tolist() == [1] * state["n_outputs_"]
    return None if fits else "has other outputs than its trees"


_shared: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "n_outputs_": count(1),
    "grove_": _grove,
    "seeds_": whole("t", below=2**32),
    "_importance_sum": real("d", low=-1e-6),
    "_sample": fields(n=count(1), size=anyof(none, count(1)), weights=anyof(none, real(None, low=0))),
    "_categories": anyof(none, categories_check),
}
_score: dict[str, Check] = {"oob_score_": anything}
FOREST_CLASSIFIER = Schema(
    state={**_shared, "classes_": anything, "n_classes_": anything},
    extra={**_score, "oob_decision_function_": anyof(real(None, None), real(None, None, None))},
    rule=_classes_rule,
)
FOREST_REGRESSOR = Schema(
    state={**_shared, "_leaf_samples": _leaf_samples, "_errors": _errors},
    extra={**_score, "oob_prediction_": anyof(real(None), real(None, None))},
    rule=_numbers_rule,
)
FOREST_EMBEDDING = Schema(state=_shared, rule=_numbers_rule)
