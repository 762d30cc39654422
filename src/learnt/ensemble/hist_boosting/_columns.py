"""Columns in the form that boosting takes: strings as codes; monotonic and interaction constraints as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.cells import is_frame
from learnt.engine.params import ParameterError
from learnt.forestry import with_codes


def with_cells(X: Any, listed: bool) -> Any:
    """X as an array of objects, where columns of categories are listed and some cells are not numbers; else X itself.

    >>> with_cells([["a", 1.5]], True)
    array([['a', 1.5]], dtype=object)
    """
    if not listed or is_frame(X) or not isinstance(X, np.ndarray | list | tuple):
        return X
    try:
        cells = np.asarray(X)
        if cells.dtype.kind in "OUS" and cells.ndim == 2:
            return cells if isinstance(X, np.ndarray) and cells.dtype == object else np.array(X, dtype=object)
    except ValueError:  # rows of unequal length: validation reports them
        pass
    return X


def is_cells(X: Any) -> bool:
    """Whether a table is an array of objects."""
    return isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2


def with_coded_cells(X: Any, categories: dict[int, np.ndarray]) -> Any:
    """A frame or an array of objects with codes in place of categories; what else an array holds stays as it is."""
    if not is_cells(X):
        return with_codes(X, categories, non_negative=True)
    columns = [j for j in categories if j < X.shape[1]]
    out = X.copy()
    out[:, columns] = with_codes(X[:, columns], dict(enumerate(categories[j] for j in columns)), non_negative=True)
    return out


def monotone_signs(given: Any, n_features: int, names: Any, name: str) -> np.ndarray | None:
    """`monotonic_cst` as −1, 0 or 1 for every column; None where nothing is constrained."""
    if given is None:
        return None
    if isinstance(given, dict):
        if names is None:
            raise ValueError(
                f"{name} was not fitted on data with feature names. Pass monotonic_cst as an integer array instead."
            )
        signs = np.zeros(n_features, dtype=np.int8)
        columns = list(names)
        unknown = sorted((key for key in given if key not in columns), key=str)
        if unknown:
            shown = unknown[:5] + ["..."] * (len(unknown) > 5)
            raise ValueError(f"monotonic_cst contains {len(unknown)} unexpected feature names: {shown}.")
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
