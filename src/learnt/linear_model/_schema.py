"""What linear models have in common in their model files."""

from __future__ import annotations

from typing import Any

from learnt.engine.schema import (
    FEATURES,
    ONE,
    Check,
    Dims,
    anyof,
    count,
    flag,
    integers,
    listof,
    none,
    number,
    real,
    record,
)

WITH_INTERCEPT: dict[str, Check] = {"fit_intercept": flag}
_intercept = anyof(ONE, real(None))
# One vector of coefficients, and one or several.
LINE: dict[str, Check] = {**FEATURES, "coef_": real("d"), "intercept_": _intercept}
LINES: dict[str, Check] = {**FEATURES, "coef_": anyof(real("d"), real("t", "d")), "intercept_": _intercept}

COUNTS = anyof(none, count(), listof(count()), integers(None))
_gaps = anyof(number(finite=False), listof(number(finite=False)), real(None, finite=False))
SWEEPS: dict[str, Check] = {"n_iter_": COUNTS, "dual_gap_": _gaps}
CHOSEN: dict[str, Check] = {"alpha_": number(0), "mse_path_": record, "alphas_": record, **SWEEPS}


def one_intercept_a_target(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of linear models: one intercept, or one for each row of coefficients."""
    reason = ONE(state["intercept_"], {})
    if reason is not None and state["coef_"].ndim > 1:
        reason = real("t")(state["intercept_"], dims)
    return None if reason is None else f"has an intercept_ that {reason}"
