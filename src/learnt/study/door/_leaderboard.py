"""The models of a race as a data frame: what they were, how good, how long they took."""

from __future__ import annotations

import math
from typing import Any

import polars as pl


def leaderboard(facts: dict[str, Any]) -> pl.DataFrame:
    """A line a model, best first; those that did not finish come last, without a loss."""
    name = loss_column(facts)
    shown = _scale(facts)
    rows = []
    for entry in facts["race"]["entries"]:
        done = "loss" in entry
        ends = sorted(shown(entry[end]) for end in ("low", "high")) if done else (None, None)
        rows.append(
            {
                "model": entry["label"],
                "family": entry["family"],
                name: shown(entry["loss"]) if done else None,
                "low": ends[0],
                "high": ends[1],
                "fit_seconds": entry["timing"]["fit_s"] if done else None,
                "state": entry["state"],
                "note": entry["note"],
                "settings": _settings(entry),
            }
        )
    text = ("model", "family", "state", "note", "settings")
    columns = ("model", "family", name, "low", "high", "fit_seconds", "state", "note", "settings")
    return pl.DataFrame(rows, schema={c: pl.String if c in text else pl.Float64 for c in columns})


def loss_column(facts: dict[str, Any]) -> str:
    """The name of the metric that decided the race, as a column: "log_loss", "RMSE"."""
    return str(facts["race"]["loss_name"]).replace(" ", "_")


def _scale(facts: dict[str, Any]) -> Any:
    """Losses of the race in the metric that is named: a root of squared errors, gains with their own sign."""
    greater = facts["race"].get("greater")
    if greater is None:
        return (lambda v: v) if facts["task"] == "classify" else (lambda v: math.sqrt(max(v, 0.0)))
    return (lambda v: -v) if greater else (lambda v: v)


def _settings(entry: dict[str, Any]) -> str | None:
    """The estimators with their parameters, as they are written in Python; None where the study did not keep them."""
    recipe = entry.get("recipe")
    if recipe is None:
        return None
    members = recipe["members"]
    named = [
        f"{spec['model'].rpartition('.')[2]}({arguments(spec['params'])})" for spec in (m["spec"] for m in members)
    ]
    if len(named) == 1:
        return named[0]
    return " + ".join(f"{member['weight']:.3g} * {name}" for member, name in zip(members, named))


def arguments(params: dict[str, Any]) -> str:
    """Keyword arguments as they are written.

    >>> arguments({"C": 1.0, "solver": "lbfgs"})
    "C=1.0, solver='lbfgs'"
    """
    return ", ".join(f"{name}={value!r}" for name, value in params.items())
