"""What may stand in a model file, by name. Nothing is imported or called unless these tables allow it.

An estimator of ours is savable as soon as it is public in its room and its class has a `__learnt_schema__`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

import learnt
from learnt.engine.schema import Schema, shown
from learnt.persistence._containers import SKLEARN_SCHEMAS
from learnt.persistence._errors import Refused
from learnt.persistence._records import GROVE_FIELDS, KERNELS, NETWORK_LAYERS, SURROGATE_FIELDS, TREE_FIELDS

# Where our estimators are: a fixed table. One may stand in a file if it is in the `__all__` of its room and has a
# schema. A room is imported when a file names something in it, and nothing else of ours is.
ROOMS = frozenset(f"learnt.{room}" for room in learnt._ESTIMATORS)

# The scikit-learn classes our models sit in or behind: all of them can be rebuilt from plain data.
SKLEARN = {
    "sklearn.compose.ColumnTransformer",
    "sklearn.compose.TransformedTargetRegressor",
    "sklearn.impute.MissingIndicator",
    "sklearn.impute.SimpleImputer",
    "sklearn.pipeline.FeatureUnion",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing.FunctionTransformer",
    "sklearn.preprocessing.LabelEncoder",
    "sklearn.preprocessing.MinMaxScaler",
    "sklearn.preprocessing.OneHotEncoder",
    "sklearn.preprocessing.OrdinalEncoder",
    "sklearn.preprocessing.StandardScaler",
}

# Plain data holders that are no estimators (no `get_params`): splitters, selectors, frozen dataclasses. They are
# rebuilt by calling the class with the fields named here and by nothing else.
RECORDS: dict[str, tuple[str, ...]] = {
    "learnt.cluster.CFTree": ("center", "total", "size", "spread", "child", "filled", "after", "root"),
    "learnt.erm.losses.Absolute": (),
    "learnt.erm.losses.EpsilonInsensitive": ("epsilon",),
    "learnt.erm.losses.Exponential": (),
    "learnt.erm.losses.Gamma": (),
    "learnt.erm.losses.Hinge": ("threshold",),
    "learnt.erm.losses.Huber": ("delta",),
    "learnt.erm.losses.Log": (),
    "learnt.erm.losses.LogCosh": (),
    "learnt.erm.losses.ModifiedHuber": (),
    "learnt.erm.losses.Poisson": (),
    "learnt.erm.losses.Quantile": ("q",),
    "learnt.erm.losses.Softmax": (),
    "learnt.erm.losses.Squared": (),
    "learnt.erm.losses.SquaredEpsilonInsensitive": ("epsilon",),
    "learnt.erm.losses.SquaredHinge": (),
    "learnt.erm.losses.Tweedie": ("power",),
    "learnt.erm.penalties.Box": ("low", "high"),
    "learnt.erm.penalties.ElasticNet": ("l1_ratio",),
    "learnt.erm.penalties.L0": (),
    "learnt.erm.penalties.L1": (),
    "learnt.erm.penalties.L2": (),
    "learnt.erm.penalties.NoPenalty": (),
    "learnt.erm.penalties.NonNegative": (),
    "learnt.forestry.BoostedTrees": (
        "n_features",
        "n_outputs",
        "threshold",
        "left",
        "feature",
        "missing_left",
        "cover",
        "gain",
        "roots",
        "outputs",
        "table",
    ),
    "learnt.forestry.Categories": ("columns", "values"),
    "learnt.forestry.Surrogates": SURROGATE_FIELDS,
    "learnt.forestry.Grove": GROVE_FIELDS,
    "learnt.forestry.Tree": TREE_FIELDS,
    "learnt.impute.ImputerTriplet": ("feat_idx", "neighbor_feat_idx", "estimator"),
    **{name: tuple(fields) for name, fields in (KERNELS | NETWORK_LAYERS).items()},
    "sklearn.compose.make_column_selector": ("pattern", "dtype_include", "dtype_exclude"),
    "sklearn.model_selection.GroupKFold": ("n_splits", "shuffle", "random_state"),
    "sklearn.model_selection.KFold": ("n_splits", "shuffle", "random_state"),
    "sklearn.model_selection.LeaveOneOut": (),
    "sklearn.model_selection.ShuffleSplit": ("n_splits", "test_size", "train_size", "random_state"),
    "sklearn.model_selection.StratifiedKFold": ("n_splits", "shuffle", "random_state"),
    "sklearn.model_selection.TimeSeriesSplit": ("n_splits", "max_train_size", "test_size", "gap"),
}

OTHERS = SKLEARN | set(RECORDS)

# A class that has moved since some release wrote a file: its old name and its name now.
RENAMED: dict[str, str] = {}

# The functions a `FunctionTransformer` or `TransformedTargetRegressor` may carry, those that pool features, and the
# types that are parameters.
UFUNCS = {
    f"numpy.{name}": getattr(np, name)
    for name in (
        "abs", "arcsinh", "arctan", "cbrt", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "floor", "log", "log10",
        "log1p", "log2", "max", "mean", "median", "min", "negative", "reciprocal", "sign",
        "sin", "sinh", "sqrt", "square", "sum", "tan", "tanh",
    )
}  # fmt: skip
TYPES: dict[str, type] = {
    **{t.__name__: t for t in (object, bool, int, float, str)},
    **{
        f"numpy.{name}": getattr(np, name)
        for name in (
            "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
            "float64", "number", "integer", "floating", "object_", "str_", "datetime64", "timedelta64",
        )
    },
}  # fmt: skip


@cache
def resolve(name: str) -> type:
    """The class a name stands for; Refused where it may not stand in a file."""
    name = RENAMED.get(name, name)
    module, _, attribute = name.rpartition(".")
    if name not in OTHERS and module not in ROOMS:
        raise _not_loaded(name)
    try:
        room = import_module(module)
        if name not in OTHERS and attribute not in room.__all__:
            raise _not_loaded(name)
        cls = getattr(room, attribute)
    except (ImportError, AttributeError):
        raise Refused(
            f"it needs {name}, which this installation does not have: upgrade {module.split('.')[0]}"
        ) from None
    if name not in OTHERS and schema_of(cls, name) is None:
        raise _not_loaded(name)
    return cls


def _not_loaded(name: str) -> Refused:
    return Refused(f"it holds an object of the class {shown(name)}, which is not one that learnt loads")


def schema_of(cls: Any, name: str) -> Schema | None:
    """The schema of a class: its own, or that of the table of scikit-learn's; None where it has none."""
    own = getattr(cls, "__learnt_schema__", None) if isinstance(cls, type) else None
    return own if isinstance(own, Schema) else SKLEARN_SCHEMAS.get(name)


@cache
def name_of(cls: Any) -> str | None:
    """The name under which exactly this class stands in a file, or None; a subclass is another class."""
    room = ".".join(cls.__module__.split(".")[:2])
    names = [f"{room}.{cls.__name__}"] if room in ROOMS else []
    package = room.partition(".")[0]
    names += sorted(name for name in OTHERS if name.endswith(f".{cls.__name__}") and name.startswith(f"{package}."))
    for name in names:
        try:
            if resolve(name) is cls:
                return name
        except Refused:
            continue
    return None


def estimators() -> dict[str, type]:
    """All estimators of ours that may stand in a file, by name; imports every room."""
    public = [f"{room}.{name}" for room in sorted(ROOMS) for name in sorted(import_module(room).__all__)]
    found = {}
    for name in public:
        try:
            found[name] = resolve(name)
        except Refused:
            continue  # a function, or a class that is no model
    return found


def classes() -> set[str]:
    """Every name that may stand in a file."""
    return set(estimators()) | OTHERS


def function_name(function: Any) -> str | None:
    """The name of an allowed function, or None."""
    return next((name for name, known in UFUNCS.items() if known is function), None)


def type_name(kind: type) -> str | None:
    """The name of an allowed type, or None."""
    return next((name for name, known in TYPES.items() if known is kind), None)
