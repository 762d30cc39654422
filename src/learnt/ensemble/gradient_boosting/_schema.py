"""What classical and functional gradient boosting may hold in a file."""

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
    dictof,
    estimator,
    fields,
    instance,
    labels,
    listof,
    none,
    number,
    real,
    record,
)
from learnt.ensemble._schema import fit_together
from learnt.ensemble.hist_boosting._schema import boosted_trees
from learnt.erm.losses import Loss

_classical: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "_trees": boosted_trees,
    "_baseline": real("o"),
    "n_estimators_": count(),
    "_n_iterations": count(),
    "n_trees_per_iteration_": count(1, name="o"),
    "train_score_": real(None, finite=False),
    "oob_scores_": real(None, finite=False),
    "oob_improvement_": real(None, finite=False),
    "max_features_": count(1),
    "init_": anyof(none, choice("zero"), estimator("predict")),
    "_seed": count(0, 2**63),
}
_OF_TREES = (
    "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "min_impurity_decrease",
    "max_leaf_nodes", "max_features", "ccp_alpha",
)  # fmt: skip
_grown: dict[str, Check] = {
    "_settings": dictof(count(), fields(**dict.fromkeys(_OF_TREES, record), learning_rate=number(above=0))),
    "_random": instance(np.random.RandomState, "a source of random numbers"),
}


def _classical_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    if (state["_trees"].feature < -1).any():
        return "splits on categories"
    if "_settings" in state and 0 not in state["_settings"]:
        return "does not say how its first trees were grown"
    if state["_trees"].n_trees != state["n_estimators_"] * state["n_trees_per_iteration_"]:
        return "has other trees than iterations"
    if "c" in dims and dims["o"] != (1 if dims["c"] <= 2 else dims["c"]):
        return "has other outputs than classes"
    return None


REGRESSOR = Schema(
    params={"loss": choice("squared_error", "absolute_error", "huber", "quantile"), "alpha": number(0, 1)},
    state=_classical,
    extra=_grown,
    rule=_classical_rule,
)
CLASSIFIER = Schema(
    params={"loss": choice("log_loss", "exponential")},
    state={**_classical, "classes_": labels("c", low=2), "n_classes_": count(2, name="c")},
    extra=_grown,
    rule=_classical_rule,
)


def _functional_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    width = len(state["init_"])
    if any(len(members) != width for members in state["estimators_"]):
        return "has rounds of different numbers of learners"
    if state["loss_"].target != "number" and width not in (1, dims.get("c")):
        return "has other scores than classes"
    if state["loss_"].target != "number" and dims.get("c", 0) < 2:
        return "predicts classes that it does not have"
    return fit_together([member for members in state["estimators_"] for member in members], dims["d"])


FUNCTIONAL = Schema(
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
)
