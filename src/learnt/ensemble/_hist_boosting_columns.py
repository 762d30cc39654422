"""Columns of categories: which they are, and their values as codes 0…K−1."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.params import ParameterError
from learnt.engine.validation import is_frame

_FROM_DTYPE = "from_dtype"


def category_mask(given: Any, X: Any, name: str) -> np.ndarray | None:
    """Which columns hold categories, from the parameter `categorical_features`; None where none does."""
    frame = _frame(X)
    n_features = frame.shape[1] if frame is not None else np.shape(X)[1]
    if given is None:
        return None
    if isinstance(given, str):
        if given != _FROM_DTYPE:
            raise ParameterError(
                f"The 'categorical_features' parameter of {name} must be None, 'from_dtype', or a list of columns. "
                f"Got {given!r} instead."
            )
        if frame is None:
            return None
        import narwhals as nw

        mask = np.array([dtype in (nw.Categorical, nw.Enum) for dtype in frame.schema.values()])
        return mask if mask.any() else None
    asked = np.asarray(given)
    if asked.size == 0:
        return None
    if asked.dtype.kind not in "biuUSO" or asked.ndim != 1:
        raise ValueError(
            "categorical_features must be an array-like of bool, int or str, got an array of "
            f"{asked.dtype} in {asked.ndim} dimensions."
        )
    if asked.dtype.kind == "b":
        if len(asked) != n_features:
            raise ValueError(
                f"categorical_features set as a boolean mask must have shape (n_features,), got: {asked.shape}."
            )
        return asked if asked.any() else None
    mask = np.zeros(n_features, dtype=bool)
    if asked.dtype.kind in "USO":
        kinds = {type(item).__name__ for item in asked.tolist()}
        if kinds != {"str"}:
            raise ValueError(
                f"categorical_features must be an array-like of bool, int or str, got: {', '.join(sorted(kinds))}."
            )
        if frame is None:
            raise ValueError(
                "categorical_features should be passed as an array of integers or as a boolean mask when the model is "
                "fitted on data without feature names."
            )
        columns = list(frame.columns)
        for item in asked.tolist():
            if item not in columns:
                raise ValueError(
                    f"categorical_features has an item value {item!r} which is not a valid feature name of the "
                    f"training data. Its names are {columns[:10]}."
                )
            mask[columns.index(item)] = True
        return mask
    if asked.min() < 0 or asked.max() >= n_features:
        raise ValueError(
            f"categorical_features set as integer indices must be in [0, n_features - 1], here 0 to {n_features - 1}."
        )
    mask[asked] = True
    return mask


def learn_categories(X: Any, mask: np.ndarray | None) -> dict[int, np.ndarray]:
    """The distinct values of every category column, sorted: float64 for numbers, str otherwise."""
    if mask is None:
        return {}
    found = {}
    for j in np.flatnonzero(mask):
        values = column_values(X, int(j))
        if values.dtype.kind == "f":
            found[int(j)] = np.unique(values[values >= 0])
        else:
            found[int(j)] = np.array(sorted({v for v in values.tolist() if v is not None}), dtype=object)
    return found


def with_codes(X: Any, categories: dict[int, np.ndarray]) -> Any:
    """X with codes in place of categories: NaN where missing, −1 for one that was not learnt. A frame stays one."""
    if not categories:
        return X
    codes = {j: _codes(column_values(X, j), known) for j, known in categories.items()}
    frame = _frame(X)
    if frame is None:
        out = np.array(X, dtype=np.float64)
        for j, column in codes.items():
            out[:, j] = column
        return out
    import narwhals as nw

    columns = frame.columns
    series = [
        nw.new_series(columns[j], values, nw.Float64, backend=frame.implementation) for j, values in codes.items()
    ]
    return frame.with_columns(*series).to_native()


def _codes(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        if known.dtype.kind != "f" or not len(known):
            return np.where(np.isnan(values), np.nan, -1.0)
        place = np.minimum(np.searchsorted(known, values), len(known) - 1)
        codes = np.where(known[place] == values, place, -1.0)
        return np.where((values >= 0), codes, np.nan)
    position = {value: float(k) for k, value in enumerate(known.tolist())}
    distinct, inverse = _factorised(values)
    table = np.array([np.nan if v is None else position.get(v, -1.0) for v in distinct], dtype=np.float64)
    return table[inverse]


def _factorised(values: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """The distinct values of an array of strings and None, and the place of each entry among them."""
    position: dict[Any, int] = {}
    inverse = np.fromiter((position.setdefault(v, len(position)) for v in values.tolist()), np.int64, len(values))
    return list(position), inverse


def column_values(X: Any, j: int) -> np.ndarray:
    """One column as float64 with NaN, or as an object array of str and None."""
    frame = _frame(X)
    if frame is None:
        column = X[:, j] if isinstance(X, np.ndarray) else np.asarray([row[j] for row in X], dtype=object)
        return _plain_values(column)
    import narwhals as nw

    series = frame[:, j]
    if series.dtype in (nw.Categorical, nw.Enum):
        native = series.to_native()
        if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas: look at each category once
            values = _plain_values(np.asarray(native.cat.categories))
            codes = native.cat.codes.to_numpy()
            absent = np.nan if values.dtype.kind == "f" else None
            return np.append(values, [absent])[codes]
        return np.array(series.cast(nw.String).to_list(), dtype=object)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return _plain_values(np.array(series.to_list(), dtype=object))


def _plain_values(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    items = [None if v is None or v != v else v for v in column.tolist()]
    if any(isinstance(v, str) for v in items):
        return np.array([None if v is None else str(v) for v in items], dtype=object)
    return np.array([np.nan if v is None else float(v) for v in items], dtype=np.float64)


def _frame(X: Any) -> Any:
    if not is_frame(X):
        return None
    import narwhals as nw

    return nw.from_native(X, eager_only=True)


def monotone_signs(given: Any, n_features: int, names: Any, name: str) -> np.ndarray | None:
    """`monotonic_cst` as −1, 0 or 1 for every column; None where nothing is constrained."""
    if given is None:
        return None
    if isinstance(given, dict):
        if names is None:
            raise ValueError(
                f"{name} was not fitted on data with feature names. Pass monotonic_cst as an array instead."
            )
        signs = np.zeros(n_features, dtype=np.int8)
        columns = list(names)
        unknown = [key for key in given if key not in columns]
        if unknown:
            raise ValueError(f"monotonic_cst contains {len(unknown)} unexpected feature names: {unknown[:5]}.")
        for key, sign in given.items():
            if sign not in (-1, 0, 1):
                raise ValueError(f"monotonic_cst['{key}'] must be either -1, 0 or 1. Got {sign!r}.")
            signs[columns.index(key)] = sign
        return signs if signs.any() else None
    array = np.asarray(given)
    if array.ndim != 1 or len(array) != n_features:
        raise ValueError(
            f"monotonic_cst has shape {array.shape} but the input data X has {n_features} features; give one for each."
        )
    bad = np.unique(array[~np.isin(array, (-1, 0, 1))])
    if len(bad):
        raise ValueError(f"monotonic_cst must be an array-like of -1, 0 or 1. Observed values: {bad.tolist()}.")
    return array.astype(np.int8) if array.any() else None


def interaction_groups(given: Any, n_features: int) -> np.ndarray | None:
    """`interaction_cst` as one row of 0 and 1 for each group of columns that may meet in a branch."""
    if given is None:
        return None
    if isinstance(given, str):
        if given == "no_interactions":
            return np.eye(n_features, dtype=np.uint8)
        if given == "pairwise":
            pairs = [(a, b) for a in range(n_features) for b in range(a + 1, n_features)] or [(0, 0)]
            groups = [set(pair) for pair in pairs]
        else:
            raise ParameterError(
                "The 'interaction_cst' parameter must be None, 'pairwise', 'no_interactions' or a list of groups. "
                f"Got {given!r} instead."
            )
    else:
        try:
            groups = [set(group) for group in given]
        except TypeError:
            raise ValueError(
                f"Interaction constraints must be a sequence of tuples or lists, got: {given!r}."
            ) from None
        for group in groups:
            if not all(isinstance(j, int | np.integer) and 0 <= j < n_features for j in group):
                raise ValueError(
                    "Interaction constraints must consist of integer indices in "
                    f"[0, n_features - 1] = [0, {n_features - 1}], specifying the position of features, got indices: "
                    f"{sorted(map(str, group))}."
                )
        rest = set(range(n_features)).difference(*groups) if groups else set(range(n_features))
        if rest:
            groups.append(rest)
    out = np.zeros((len(groups), n_features), dtype=np.uint8)
    for k, group in enumerate(groups):
        out[k, sorted(group)] = 1
    return out
