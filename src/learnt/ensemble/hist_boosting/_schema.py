"""What boosted trees may hold in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.bounds import within
from learnt.engine.schema import (
    Check,
    Dims,
    Schema,
    anyof,
    count,
    dictof,
    flag,
    flags,
    instance,
    labels,
    none,
    number,
    real,
    text,
)
from learnt.erm.losses import Loss
from learnt.forestry import BoostedTrees
from learnt.forestry.schema import category_values


def boosted_trees(value: Any, dims: Dims) -> str | None:
    """Trees whose traversals stay within the nodes, of as many features as the model has."""
    if type(value) is not BoostedTrees:
        return "is not a set of boosted trees"
    try:
        value.validate()
    except ValueError as error:
        return f"cannot be used, because {error}"
    if value.n_features != dims.get("d"):
        return f"splits on {value.n_features} features instead of {dims.get('d')}"
    dims.setdefault("o", value.n_outputs)
    return None if value.n_outputs == dims["o"] else "has other outputs than the model"


def _bins(value: Any, dims: Dims) -> str | None:
    good = type(value) is np.ndarray and value.dtype == np.int16 and value.ndim == 1
    return None if good and within(value, -1, 254) else "is not a table of bins"


_columns = count(0)
_state: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "_trees": boosted_trees,
    "_baseline": real("o"),
    "n_iter_": count(),
    "n_trees_per_iteration_": count(1, name="o"),
    "train_score_": real(None, finite=False),
    "validation_score_": real(None, finite=False),
    "do_early_stopping_": flag,
    "is_categorical_": anyof(none, flags("d")),
    "_categories": dictof(_columns, category_values),
    "_tables": dictof(_columns, _bins),
    "_random_seed": count(0, 2**63),
}


def _rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    columns = [] if state["is_categorical_"] is None else np.flatnonzero(state["is_categorical_"]).tolist()
    if sorted(state["_categories"]) != columns or sorted(state["_tables"]) != columns:
        return "has categories for other columns than it says"
    if any(len(state["_categories"][j]) != len(state["_tables"][j]) for j in columns):
        return "has other categories than bins for them"
    if state["_trees"].n_trees != state["n_iter_"] * state["n_trees_per_iteration_"]:
        return "has other trees than iterations"
    if "c" in dims and dims["o"] != (1 if dims["c"] <= 2 else dims["c"]):
        return "has other outputs than classes"
    return None


_loss = anyof(text, instance(Loss, "the name of a loss or a loss of learnt"))
REGRESSOR = Schema(
    params={"loss": _loss, "quantile": anyof(none, number(0, 1))},
    state=_state,
    rule=_rule,
)
CLASSIFIER = Schema(params={"loss": _loss}, state={**_state, "classes_": labels("c")}, rule=_rule)
