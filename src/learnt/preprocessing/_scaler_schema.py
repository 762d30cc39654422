"""What a standard scaler may hold in a file: ours, and scikit-learn's in a pipeline of ours."""

from __future__ import annotations

from typing import Any

from learnt.engine.schema import ANY_FEATURES, Dims, Schema, anyof, count, flag, integers, none, number, real

SEEN = anyof(count(0), number(0), integers("d"), real("d", low=0))
_moments = anyof(none, real("d", finite=False))


def _rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    if (model.with_mean and state["mean_"] is None) or (model.with_std and state["scale_"] is None):
        return "lacks what it subtracts or divides by"
    return None


SCALER = Schema(
    params={"with_mean": flag, "with_std": flag, "copy": flag},
    state={**ANY_FEATURES, "mean_": _moments, "var_": _moments, "scale_": _moments, "n_samples_seen_": SEEN},
    rule=_rule,
)
