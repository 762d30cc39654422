"""What a neighbour search may hold in a file: its rows, the codes it counts votes with, and a metric by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.distances import METRIC_NAMES, SPARSE_METRIC_NAMES
from learnt.engine.schema import (
    FEATURES,
    Check,
    Dims,
    anyof,
    choice,
    count,
    csr,
    either,
    flag,
    instance,
    integers,
    labels,
    none,
    number,
    real,
    scalar,
)

_w = anyof(none, real("d", low=0))
# The parameters of each metric; a function of the user's is code and cannot be in a file.
METRICS: dict[str, dict[str, Check]] = {
    **{name: {"w": _w} for name in METRIC_NAMES},
    **{name: {} for name in ("cityblock", "haversine", "l1", "l2", "manhattan", "precomputed")},
    **{name: {"p": anyof(none, number(above=0)), "w": _w} for name in ("minkowski", "p")},
    "nan_euclidean": {"missing_values": scalar},
    "mahalanobis": {"V": real("d", "d"), "VI": real("d", "d")},
    "seuclidean": {"V": real("d", above=0)},
}


def _rows(value: Any, dims: Dims) -> str | None:
    """The training rows: a table in C order, or compressed sparse rows (their indices are checked already)."""
    if type(value).__module__.startswith("scipy.sparse"):
        return csr("n", "d")(value, dims)
    reason = real("n", "d", finite=False)(value, dims)
    return reason or (None if value.flags.c_contiguous else "is not in C order")


def metric_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    rows, metric, params = state["_fit_X"], state["effective_metric_"], state["effective_metric_params_"]
    if type(params) is not dict:
        return "has metric parameters that are not a dict"
    # These decide which rows `predict` accepts, so the two must agree.
    if any((model.metric == name) != (metric == name) for name in ("precomputed", "nan_euclidean")):
        return "has two metrics"
    is_table = isinstance(rows, np.ndarray)
    if not is_table and metric not in SPARSE_METRIC_NAMES:
        return f"has sparse rows and the metric {metric!r}"
    if is_table and metric != "nan_euclidean" and not np.isfinite(rows).all():
        return "has rows that are not finite"
    if metric == "precomputed" and dims["n"] != dims["d"]:
        return "has distances between other rows than its own"
    known = METRICS[metric]
    if not params.keys() <= known.keys():
        return f"has parameters that the metric {metric!r} does not have"
    reasons = (known[key](value, dims) for key, value in params.items())
    return next((f"has a metric whose parameter {reason}" for reason in reasons if reason is not None), None)


def votes_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """Codes index the classes: one array of each, or one column and one item of a list for each output."""
    reason = metric_rule(model, state, dims)
    if reason is not None:
        return reason
    codes, classes = state["_y"], state["classes_"]
    if state["outputs_2d_"]:
        if type(classes) is not list or codes.shape[1:] != (len(classes),):
            return "does not have one column of codes for each output"
        outputs = [(codes[:, j], names) for j, names in enumerate(classes)]
    else:
        outputs = [(codes, classes)]
    for column, names in outputs:
        sizes = {"n": dims["n"]}
        reason = labels("c")(names, sizes) or integers("n", below="c")(column, sizes)
        if reason is not None:
            return f"has classes or codes of which one {reason}"
    return None


# The parameters and attributes that every search has.
METRIC: dict[str, Check] = {
    "metric": choice(*METRICS),
    "algorithm": choice("auto", "brute", "kd_tree", "ball_tree", "approximate"),
    "leaf_size": count(1),
}
SEARCH: dict[str, Check] = {
    **FEATURES,
    "n_samples_fit_": count(1, name="n"),
    "_fit_X": _rows,
    "effective_metric_": choice(*METRICS),
    "effective_metric_params_": instance(dict, "a dict"),
}
# What classifiers keep of y (held together by `votes_rule`), and regressors.
CODES: dict[str, Check] = {
    "outputs_2d_": flag,
    "classes_": either(labels(None)),
    "_y": anyof(integers("n"), integers("n", None)),
}
AMOUNTS: dict[str, Check] = {"_y": anyof(real("n"), real("n", None))}
# What `n_neighbors="auto"` adds.
RECALL: dict[str, Check] = {"recall_": number(0, 1)}  # of an approximate search
CHOSEN: dict[str, Check] = {**RECALL, "n_neighbors_": count(1), "left_out_errors_": real(None, low=0)}


def chosen(rule: Any) -> Any:
    """The rule of a model with an automatic number of neighbours: the chosen number is stored."""

    def check(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
        if isinstance(model.n_neighbors, str) and "n_neighbors_" not in state:
            return "does not say how many neighbours were chosen"
        return rule(model, state, dims)

    return check
