"""What models of dictionaries have in common in their files."""

from __future__ import annotations

from typing import Any

from learnt.engine.schema import Check, Dims, anyof, choice, count, flag, none, number, real

CODING: dict[str, Check] = {
    "split_sign": flag,
    "positive_code": flag,
    "transform_algorithm": choice("omp", "lasso_lars", "lasso_cd", "lars", "threshold"),
    "transform_n_nonzero_coefs": anyof(none, count(1)),
    "transform_alpha": anyof(none, number(0)),
    "transform_max_iter": count(),
}


def atoms(value: Any, dims: Dims) -> str | None:
    """A dictionary: at least one row."""
    reason = real("k", "d")(value, dims)
    return reason or (None if len(value) else "has no rows")
