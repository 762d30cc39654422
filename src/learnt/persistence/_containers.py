"""What the scikit-learn containers and transformers our models sit in may hold in a file.

Their own code trusts their fitted attributes, down to compiled loops (a `OneHotEncoder` whose counts do not match its
categories writes outside its result), so everything their `transform` reads is stated here.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from learnt.engine.schema import (
    FREE_FEATURES,
    Check,
    Dims,
    Schema,
    anyof,
    choice,
    count,
    dictof,
    estimator,
    flag,
    instance,
    integers,
    labels,
    listof,
    none,
    number,
    plain,
    real,
    scalar,
    text,
    texts,
)
from learnt.preprocessing._scaler_schema import SCALER, SEEN

_function = anyof(none, instance(np.ufunc, "None or a NumPy function"))
_format = re.compile(r"([^{}]|\{feature_name\}|\{transformer_name\}){0,200}")


def _numeric_type(value: Any, dims: Dims) -> str | None:
    if not isinstance(value, type | np.dtype) or np.dtype(value).kind not in "biuf":
        return "is not a numeric type"
    return None


# --- lists of named parts


def _named(value: Any, length: int, words: tuple[str | None, ...], *methods: str) -> str | None:
    """The reason why `value` is no list of tuples (name, part, …) with different names and parts with the methods."""
    if type(value) is not list or not value:
        return "is not a list of named parts"
    for item in value:
        if type(item) is not tuple or len(item) != length or type(item[0]) is not str:
            return "is not a list of named parts"
        if item[1] is None or type(item[1]) is str:
            if item[1] not in words:
                return "has a part that it cannot have"
        else:
            reason = estimator(*methods)(item[1], {})
            if reason is not None:
                return f"has a part that {reason}"
    names = [item[0] for item in value]
    return "gives two parts the same name" if len(set(names)) != len(names) else None


def _steps(value: Any, dims: Dims) -> str | None:
    reason = _named(value, 2, (None, "passthrough"))
    return reason or (_named(value[:-1], 2, (None, "passthrough"), "fit", "transform") if len(value) > 1 else None)


def _union(value: Any, dims: Dims) -> str | None:
    return _named(value, 2, ("drop", "passthrough"), "fit", "transform")


def _column(value: Any) -> bool:
    return type(value) in (str, int)


def _columns(value: Any, dims: Dims) -> str | None:
    """Which columns a part of a ColumnTransformer takes: names, positions, a slice or a mask."""
    if type(value) is np.ndarray and value.ndim == 1 and value.dtype.kind in "biuOU":
        value = value.tolist()
    if type(value) is slice:
        ends = [end for end in (value.start, value.stop) if end is not None]
        step = value.step is None or (type(value.step) is int and value.step != 0)
        return None if step and len({type(end) for end in ends}) <= 1 else "is a slice of mixed kinds"
    items = value if type(value) is list else [value]
    if len({type(item) for item in items}) > 1 or not all(_column(item) or type(item) is bool for item in items):
        return "does not select columns by name, position or mask"
    return None


def _selected(value: Any, dims: Dims) -> str | None:
    """The same, or a selector that `fit` has replaced."""
    selector = type(value).__name__ == "make_column_selector"
    return None if selector else _columns(value, dims)


def _column_parts(select: Check, *words: str) -> Check:
    def check(value: Any, dims: Dims) -> str | None:
        reason = _named(value, 3, words, "fit", "transform")
        return reason or next((r for item in value if (r := select(item[2], dims)) is not None), None)

    return check


def _rest(value: Any, dims: Dims) -> str | None:
    """What happens to columns that no part takes: ("remainder", part, columns)."""
    if type(value) is not tuple or len(value) != 3 or type(value[0]) is not str or value[0] != "remainder":
        return "does not say what happens to other columns"
    reason = anyof(choice("drop", "passthrough"), estimator("fit", "transform"))(value[1], {})
    return reason or _columns(value[2], dims)


def _name_style(value: Any, dims: Dims) -> str | None:
    fine = type(value) is bool or (type(value) is str and _format.fullmatch(value))
    return None if fine else "is neither True, False nor a pattern of {feature_name} and {transformer_name}"


def _column_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    d, names = dims["d"], state.get("feature_names_in_")
    known = set() if names is None else set(names.tolist())
    if any(index >= d for indices in state["_transformer_to_input_indices"].values() for index in indices):
        return "takes columns that are not there"
    for name, _, columns in state["transformers_"]:
        if name not in state["_transformer_to_input_indices"] or name not in state["output_indices_"]:
            return f"does not say which columns its part {name!r:.60} takes"
        if type(columns) is slice:
            items = [end for end in (columns.start, columns.stop) if type(end) is str]
        else:
            items = list(columns) if isinstance(columns, list | np.ndarray) else [columns]
        if any(isinstance(item, bool | np.bool_) for item in items):
            if len(items) != d:
                return "has a mask of another length than its columns"
        elif any(item not in known if isinstance(item, str) else not -d <= item < d for item in items):
            return "selects columns that are not there"
    return None


# --- encoders


def _group_sizes(state: dict[str, Any], ignore_missing: bool) -> list[int] | str:
    """How many codes each column of an encoder has after rare categories are put together, or what is wrong."""
    sizes = [len(categories) for categories in state["categories_"]]
    if not state["_infrequent_enabled"]:
        return sizes
    rare, mappings = state.get("_infrequent_indices"), state.get("_default_to_infrequent_mappings")
    if rare is None or mappings is None:
        return "lacks its table of rare categories"
    for i, (indices, mapping) in enumerate(zip(rare, mappings)):
        if (indices is None) != (mapping is None):
            return "has a table of rare categories that does not fit"
        if indices is None:
            continue
        size = sizes[i] - (1 if ignore_missing and i in state["_missing_indices"] else 0)
        different = np.unique(indices).size
        if different != indices.size or not 0 < different <= size or indices.max() >= size:
            return "has rare categories that are not there"
        sizes[i] = size - different + 1
        if mapping.size != size or mapping.max() >= sizes[i]:
            return "has a table of rare categories that does not fit"
    return sizes


def _drops(model: Any, state: dict[str, Any], key: str, sizes: list[int]) -> str | None:
    """The dropped category of each column is one of its categories."""
    drop = state[key]
    if drop is None:
        return None
    if type(drop) is not np.ndarray or drop.shape != (len(sizes),):
        return f"has {key} of another length than its columns"
    for index, size in zip(drop.tolist(), sizes):
        if not (index is None or (isinstance(index, int | np.integer) and 0 <= index < size)):
            return f"has {key} outside its categories"
    return None


def _onehot_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    sizes = _group_sizes(state, ignore_missing=False)
    if isinstance(sizes, str):
        return sizes
    reason = _drops(model, state, "_drop_idx_after_grouping", sizes)
    reason = reason or _drops(model, state, "drop_idx_", [len(c) for c in state["categories_"]])
    if reason is not None:
        return reason
    drop = state["_drop_idx_after_grouping"]
    if (drop is None) != (state["drop_idx_"] is None):
        return "drops categories and does not"
    kept = sizes if drop is None else [size - (index is not None) for size, index in zip(sizes, drop.tolist())]
    return None if state["_n_features_outs"] == kept else "counts other columns than its categories make"


def _ordinal_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    for i, index in state["_missing_indices"].items():
        if not i < dims["d"] or index != len(state["categories_"][i]) - 1:
            return "finds the missing category where it is not"
    sizes = _group_sizes(state, ignore_missing=True)
    if isinstance(sizes, str):
        return sizes
    dtype = np.dtype(model.dtype)
    for value in (model.unknown_value, model.encoded_missing_value):
        if dtype.kind in "iu" and isinstance(value, int) and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            return "writes a value that its dtype cannot hold"
    return None


_rare = anyof(none, number(0))
_categories = {
    "categories_": listof(labels(None, missing=True), "d"),
    "_infrequent_enabled": flag,
}
_groups = {
    "_infrequent_indices": listof(anyof(none, integers(None)), "d"),
    "_default_to_infrequent_mappings": listof(anyof(none, integers(None)), "d"),
}
_dropped = anyof(none, instance(np.ndarray, "an array"))


# --- imputers


def _fills(value: Any, dims: Dims) -> str | None:
    """One value for each column, whatever its type; NaN where a column was empty."""
    if type(value) is not np.ndarray or value.dtype.kind not in "biufOU" or value.ndim != 1:
        return "is not an array of values"
    if value.dtype.kind == "O" and not all(item is None or plain(item) for item in value.tolist()):
        return "holds something other than values"
    return (
        None if value.size == dims.setdefault("d", value.size) else f"has {value.size} values for {dims['d']} columns"
    )


def _imputer_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    indicator = state["indicator_"]
    if (indicator is not None) != bool(model.add_indicator):
        return "does not have the indicator it promises"
    if indicator is not None and getattr(indicator, "n_features_in_", None) != dims["d"]:
        return "has an indicator for other columns"
    if state["_fill_dtype"].kind in "biuf" and state["statistics_"].dtype.kind not in "biuf":
        return "fills numbers with something else"
    return None


def _indicator(value: Any, dims: Dims) -> str | None:
    return None if value is None or type(value).__name__ == "MissingIndicator" else "is not an indicator"


_dtype = instance(np.dtype, "a dtype")
_missing = anyof(none, scalar)


def _bounds(value: Any, dims: Dims) -> str | None:
    fine = type(value) is tuple and len(value) == 2 and not any(number()(item, {}) for item in value)
    return None if fine and value[0] < value[1] else "is not a pair of a lower and an upper bound"


def _wrapper_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    inner = getattr(state["regressor_"], "n_features_in_", None)
    return None if inner is None or dims.setdefault("d", inner) == inner else "names other features than its regressor"


SKLEARN_SCHEMAS = {
    "sklearn.pipeline.Pipeline": Schema(
        # A cache folder would be a folder of pickles, chosen by the author of the file.
        params={"steps": _steps, "memory": none, "verbose": flag, "transform_input": anyof(none, listof(text))},
    ),
    "sklearn.pipeline.FeatureUnion": Schema(
        params={
            "transformer_list": _union,
            "transformer_weights": anyof(none, dictof(text, number())),
            "verbose": flag,
            "verbose_feature_names_out": flag,
        },
    ),
    "sklearn.compose.ColumnTransformer": Schema(
        params={
            "transformers": _column_parts(_selected, "drop", "passthrough"),
            "remainder": anyof(choice("drop", "passthrough"), estimator("fit", "transform")),
            "sparse_threshold": number(0, 1),
            "transformer_weights": anyof(none, dictof(text, number())),
            "verbose": flag,
            "verbose_feature_names_out": _name_style,
        },
        state={
            "n_features_in_": count(1, FREE_FEATURES, name="d"),
            "transformers_": anyof(_column_parts(_columns, "drop"), choice([])),
            "_columns": listof(_columns),
            "_transformer_to_input_indices": dictof(text, listof(count(0))),
            "_remainder": _rest,
            "sparse_output_": flag,
            "output_indices_": dictof(text, instance(slice, "a slice")),
        },
        extra={"_n_features": count(1, name="d"), "_transformers_feature_names_out": texts(None)},
        rule=_column_rule,
    ),
    "sklearn.compose.TransformedTargetRegressor": Schema(
        params={
            "regressor": anyof(none, estimator("fit", "predict")),
            "transformer": anyof(none, estimator("fit", "transform", "inverse_transform")),
            "func": _function,
            "inverse_func": _function,
            "check_inverse": flag,
        },
        state={
            "regressor_": estimator("fit", "predict"),
            "transformer_": estimator("transform", "inverse_transform"),
            "_training_dim": count(1, 2),
        },
        rule=_wrapper_rule,
    ),
    "sklearn.preprocessing.FunctionTransformer": Schema(
        params={
            "func": _function,
            "inverse_func": _function,
            "validate": flag,
            "accept_sparse": flag,
            "check_inverse": flag,
            "feature_names_out": choice(None, "one-to-one"),
            "kw_args": choice(None, {}),
            "inv_kw_args": choice(None, {}),
        },
    ),
    "sklearn.preprocessing.StandardScaler": SCALER,
    "sklearn.preprocessing.MinMaxScaler": Schema(
        params={"feature_range": _bounds, "copy": flag, "clip": flag},
        state={
            "n_features_in_": count(1, name="d"),
            **dict.fromkeys(("min_", "scale_", "data_min_", "data_max_", "data_range_"), real("d", finite=False)),
            "n_samples_seen_": SEEN,
        },
    ),
    "sklearn.preprocessing.LabelEncoder": Schema(state={"classes_": labels("c", low=0)}),
    "sklearn.preprocessing.OneHotEncoder": Schema(
        params={
            "sparse_output": flag,
            "dtype": _numeric_type,
            "handle_unknown": choice("error", "ignore", "infrequent_if_exist", "warn"),
            "min_frequency": _rare,
            "max_categories": _rare,
            "feature_name_combiner": choice("concat"),
        },
        state={
            "n_features_in_": count(1, name="d"),
            **_categories,
            "drop_idx_": _dropped,
            "_drop_idx_after_grouping": _dropped,
            "_n_features_outs": listof(count(0), "d"),
        },
        extra=_groups,
        rule=_onehot_rule,
    ),
    "sklearn.preprocessing.OrdinalEncoder": Schema(
        params={
            "dtype": _numeric_type,
            "handle_unknown": choice("error", "use_encoded_value"),
            "unknown_value": anyof(none, number(finite=False)),
            "encoded_missing_value": number(finite=False),
            "min_frequency": _rare,
            "max_categories": _rare,
        },
        state={
            "n_features_in_": count(1, name="d"),
            **_categories,
            "_missing_indices": dictof(count(0), count(0)),
        },
        extra=_groups,
        rule=_ordinal_rule,
    ),
    "sklearn.impute.SimpleImputer": Schema(
        params={
            "missing_values": _missing,
            "strategy": choice("mean", "median", "most_frequent", "constant"),
            "fill_value": _missing,
            "copy": flag,
            "add_indicator": flag,
            "keep_empty_features": flag,
        },
        state={
            "n_features_in_": count(1, name="d"),
            "statistics_": _fills,
            "_fit_dtype": _dtype,
            "_fill_dtype": _dtype,
            "indicator_": _indicator,
        },
        rule=_imputer_rule,
    ),
    "sklearn.impute.MissingIndicator": Schema(
        params={
            "missing_values": _missing,
            "features": choice("missing-only", "all"),
            "sparse": anyof(flag, choice("auto")),
            "error_on_new": flag,
        },
        state={
            "n_features_in_": count(1, name="d"),
            "_n_features": count(1, name="d"),
            "features_": integers(None, below="d"),
            "_precomputed": flag,
        },
    ),
}
