"""The final check of an estimator from a file: its parameters and fitted attributes against the schema of its class.

A class may also check itself: `__learnt_check__(self)` is called on the rebuilt model and raises ValueError when its
fitted state cannot be; `__learnt_state__` names private fitted attributes and `__learnt_nonfinite__` arrays that may
hold NaN or infinities, where there is no schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from learnt.engine.schema import FREE_FEATURES, Check, Dims, anyof, choice, count, dictof, flag, none, shown, texts
from learnt.persistence._errors import Refused
from learnt.persistence._registry import schema_of

_N_JOBS = anyof(none, count(-1024, -1), count(1, 1024))
_VERBOSE = anyof(flag, count())
_OUTPUT = dictof(choice("transform"), choice("default", "pandas", "polars"))
_BY_FEATURE = ("coef_", "components_", "mean_", "cluster_centers_", "scale_", "var_", "feature_importances_")


def check_model(model: Any, name: str, params: dict[str, Any], state: dict[str, Any]) -> None:
    """Refuse parameters and fitted attributes that the class cannot have."""
    cls = type(model)
    schema = schema_of(cls, name)
    dims: Dims = {}
    for key, check in {"n_jobs": _N_JOBS, "verbose": _VERBOSE, **(schema.params if schema else {})}.items():
        # A parameter that an older release did not have yet has its default.
        reason = check(params[key], dims) if key in params else None
        if reason is not None:
            raise Refused(f"is a {cls.__name__} whose {key} {reason}")
    if not state:
        return
    private = getattr(cls, "__learnt_state__", ())
    for key in state:
        # Cached properties are data; other attributes of the class are code.
        taken = hasattr(cls, key) and not isinstance(getattr(cls, key), cached_property)
        if not key.isidentifier() or key.startswith("__") or key in params or taken:
            raise Refused(f"is a {cls.__name__} with the attribute {shown(key)}, which it cannot have")
    common = {"n_features_in_": count(1, FREE_FEATURES, name="d"), "feature_names_in_": texts("d")}
    if hasattr(cls, "set_output"):
        common["_sklearn_output_config"] = _OUTPUT
    fitted = {key: value for key, value in state.items() if key != "_sklearn_output_config"}
    checks = {**common, **(schema.state | schema.extra)} if schema else _general(cls, state, common, private)
    strange = state.keys() - checks.keys()
    if strange:
        raise Refused(f"is a {cls.__name__} with the attribute {shown(min(strange))}, which it cannot have")
    lacking = schema.state.keys() - fitted.keys() if schema and fitted else None
    if lacking:
        raise Refused(f"is a fitted {cls.__name__} without {min(lacking)}")
    for key, check in checks.items():  # in the order of the schema: earlier attributes bind the sizes
        if key in state:
            reason = check(state[key], dims)
            if reason is not None:
                raise Refused(f"is a {cls.__name__} whose {key} {reason}")
    if "feature_names_in_" in state and "n_features_in_" not in state and not hasattr(cls, "n_features_in_"):
        raise Refused(f"is a {cls.__name__} with feature names but no number of features")
    if schema and fitted:
        reason = schema.rule(model, state, dims) if schema.rule else None
        if reason is not None:
            raise Refused(f"is a {cls.__name__} that {reason}")


def _general(cls: type, state: dict[str, Any], common: dict[str, Check], private: Sequence[str]) -> dict[str, Check]:
    """The rule for a class without a schema: public fitted names, finite numbers, as many columns as features."""
    loose = getattr(cls, "__learnt_nonfinite__", ())

    def check_of(key: str) -> Check:
        def check(value: Any, dims: Dims) -> str | None:
            if not (key.endswith("_") or key in private):
                return "is no fitted attribute"
            if not isinstance(value, np.ndarray):
                return None
            if value.dtype.kind in "fc" and key not in loose and not np.isfinite(value).all():
                return "holds numbers that are not finite"
            if key in _BY_FEATURE and value.ndim and "d" in dims and value.shape[-1] != dims["d"]:
                return f"has {value.shape[-1]} columns for {dims['d']} features"
            return None

        return check

    return {**common, **{key: check_of(key) for key in state if key not in common}}
