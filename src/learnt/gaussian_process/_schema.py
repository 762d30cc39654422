"""What model files of Gaussian processes hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import (
    CLASSES,
    FEATURES,
    Schema,
    anyof,
    choice,
    count,
    fields,
    flag,
    integers,
    listof,
    none,
    number,
    real,
)
from learnt.kernels import Kernel, kernel_object, usable_kernel

REGRESSOR = Schema(
    params={
        "kernel": anyof(none, kernel_object),
        "alpha": anyof(number(0), real(None, low=0)),
        "cg_tol": number(0),
    },
    state={
        **FEATURES,
        "X_train_": real("n", "d"),
        "y_train_": anyof(real("n"), real("n", "t")),
        "kernel_": usable_kernel,
        "method_": choice("exact", "inducing", "cg"),
        "L_": real("m", "m"),
        "alpha_": anyof(real("a"), real("a", "t")),
        "log_marginal_likelihood_value_": number(),
        "_y_train_mean": anyof(real(1), real("t")),
        "_y_train_std": anyof(real(1, above=0), real("t", above=0)),
    },
    extra={"inducing_points_": real("m", "d"), "inducing_factor_": real("m", "m")},
    rule=lambda model, state, dims: _targets_fit(state) or _rows_fit(model, state),
)

CLASSIFIER = Schema(
    params={
        "kernel": anyof(none, kernel_object),
        "multi_class": choice("one_vs_rest", "one_vs_one"),
        "max_iter_predict": count(1),
        "warm_start": flag,
    },
    state={
        **CLASSES,
        "X_train_": real("n", "d"),
        "n_classes_": count(2),
        "log_marginal_likelihood_value_": number(),
        "problems_": listof(
            fields(
                pair=listof(count(0, 2**31), 2, tuple),
                kernel=usable_kernel,
                rows=integers(None, below="n"),
                target=real(None, low=0, high=1),
                latent=real(None),
                probability=real(None, low=0, high=1),
                root=real(None, low=0),
                L=real(None, None),
                likelihood=number(),
            )
        ),
    },
    rule=lambda model, state, dims: _problems_fit(state),
)


def _targets_fit(state: dict) -> str | None:
    """Weights, means and scales have one entry for each target."""
    y = state["y_train_"]
    targets = 1 if y.ndim == 1 else y.shape[1]
    if (
        state["alpha_"].shape[1:] != y.shape[1:]
        or state["alpha_"].ndim != y.ndim
        or len(state["_y_train_mean"]) != targets
    ):
        return "has numbers of other targets than it was fitted to"
    return None if len(state["_y_train_std"]) == targets else "has numbers of other targets than it was fitted to"


def _rows_fit(model: Any, state: dict) -> str | None:
    """There is a weight for each of the rows that the method uses, and noise for each training row."""
    n, m, method = len(state["y_train_"]), len(state["L_"]), state["method_"]
    many = method != "exact"
    if many and not ("inducing_points_" in state and "inducing_factor_" in state):
        return "has no inducing points"
    if len(state["alpha_"]) != (m if method == "inducing" else n) or (not many and m != n):
        return "has weights of other rows than it was fitted to"
    if many and not (isinstance(state["kernel_"], Kernel) and state["kernel_"].in_blocks):
        return "has a kernel that its method cannot use"
    return None if np.size(model.alpha) in (1, n) else "has noise of other rows than it was fitted to"


def _problems_fit(state: dict) -> str | None:
    """Problems have one number for each of their rows; there is one for two classes, one a class or one a pair."""
    c = len(state["classes_"])
    pairs = {(1 if c == 2 else c), c * (c - 1) // 2}
    if state["n_classes_"] != c or len(state["problems_"]) not in pairs:
        return "has other problems than classes"
    for problem in state["problems_"]:
        n = len(problem["rows"])
        vectors = ("target", "latent", "probability", "root")
        if (
            any(len(problem[name]) != n for name in vectors)
            or problem["L"].shape != (n, n)
            or max(problem["pair"]) >= c
        ):
            return "has a problem whose numbers do not fit its rows"
    return None
