"""What a forest may hold in a file: trees whose shape follows from their leaves, seeds, and what leaves remember."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import (
    Check,
    Dims,
    Schema,
    anyof,
    choice,
    count,
    fields,
    flag,
    integers,
    none,
    number,
    real,
)
from learnt.forestry import Grove
from learnt.forestry.schema import OUTPUT_CLASSES, categories_check, classes_of_outputs, numbers_of_outputs


def grove_check(value: Any, dims: Dims) -> str | None:
    """Trees over the d columns; that their arrays fit each other is checked when they are put together."""
    if type(value) is not Grove:
        return "is not a grove"
    if value.n_features != dims.get("d"):
        return f"is over {value.n_features} columns"
    if not np.isfinite(value.value).all():
        return "holds values that are not finite"
    try:
        value.nodes  # noqa: B018  laid out here, where what does not fit is refused
    except ValueError as error:
        return f"is not one that can be walked: {error}"
    dims["t"], dims["leaves"] = value.n_trees, len(value.count)
    return None


def _leaf_samples(value: Any, dims: Dims) -> str | None:
    reason = fields(sizes=integers(None, low=1, below=17), targets=real(None))(value, {})
    if reason is not None:
        return reason
    fits = len(value["sizes"]) in (0, dims["leaves"]) and value["sizes"].sum() == len(value["targets"])
    return None if fits else "has other targets than leaves"


def sample_check(value: Any, dims: Dims) -> str | None:
    """Rows are numbered in 32 bits."""
    rows, sizes = count(1, 2**31 - 1, name="n"), count(1, 2**31 - 1)
    return fields(n=rows, size=anyof(none, sizes), weights=anyof(none, real("n", low=0)))(value, {})


def _errors(value: Any, dims: Dims) -> str | None:
    reason = fields(sorted=real(None), floor=number(0))(value, {})
    return reason or (None if (np.diff(value["sorted"]) >= 0).all() else "has errors out of order")


def _classes_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    return classes_of_outputs(state, state["grove_"].n_classes)


def _numbers_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    return numbers_of_outputs(state, state["grove_"].n_classes)


_shared: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "n_outputs_": count(1),
    "grove_": grove_check,
    "seeds_": integers("t", below=2**32),
    "_importance_sum": real("d", low=-1e-6),
    "_sample": sample_check,
    "_categories": anyof(none, categories_check),
}
_score: dict[str, Check] = {"oob_score_": number(finite=False)}
_params: dict[str, Check] = {"max_features": anyof(none, count(1), number(0, 1), choice("sqrt", "log2"))}
CLASSIFIER = Schema(
    params=_params,
    state={**_shared, **OUTPUT_CLASSES},
    extra={**_score, "oob_decision_function_": anyof(real(None, None), real(None, None, None))},
    rule=_classes_rule,
)
REGRESSOR = Schema(
    params=_params,
    state={**_shared, "_leaf_samples": _leaf_samples, "_errors": _errors},
    extra={**_score, "oob_prediction_": anyof(real(None), real(None, None))},
    rule=_numbers_rule,
)
EMBEDDING = Schema(params={"sparse_output": flag}, state=_shared, rule=_numbers_rule)
