"""What trees may hold in a model file: arrays whose every index is valid for a compiled traversal."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.bounds import rising, within
from learnt.engine.schema import (
    Check,
    Dims,
    anyof,
    count,
    either,
    integers,
    labels,
    plain,
)
from learnt.forestry import Categories, Surrogates, Tree


def tree_check(*, n_classes: bool) -> Check:
    """A tree over the d columns, of classes or of numbers, with finite values."""

    def check(value: Any, dims: Dims) -> str | None:
        if type(value) is not Tree or type(value.surrogates) not in (type(None), Surrogates):
            return "is not a tree"
        try:
            value.validate()
        except ValueError as error:
            return f"is not one that can be walked: {error}"
        if value.n_features != dims.get("d"):
            return f"is over {value.n_features} columns"
        if not np.isfinite(value.value).all():
            return "holds values that are not finite"
        return None if n_classes or value.max_n_classes == 1 else "holds classes"

    return check


def categories_check(value: Any, dims: Dims) -> str | None:
    """Categories of some of the d columns."""
    if type(value) is not Categories:
        return "is not a record of categories"
    columns = value.columns
    if columns.ndim != 1 or not within(columns, 0, dims.get("d", 0) - 1) or not rising(columns):
        return "names columns that do not exist"
    return next((reason for known in value.values if (reason := category_values(known, {})) is not None), None)


def category_values(value: Any, dims: Dims) -> str | None:
    """The values of a category column: different, numbers in rising order or strings."""
    if type(value) is np.ndarray and value.ndim == 1 and value.dtype.kind in "fO":
        if not value.size:
            return None
        if value.dtype.kind == "f" or all(type(item) is str for item in value.tolist()):
            return labels(None)(value, dims)
    return "is not a list of categories"


OUTPUT_CLASSES: dict[str, Check] = {
    "classes_": either(labels(None)),
    "n_classes_": anyof(either(count(1)), integers(None, low=1)),
}


def classes_of_outputs(state: dict[str, Any], n_classes: np.ndarray) -> str | None:
    """One output: an array of classes and their number. Several: lists of them. As many as the trees have values."""
    single = len(n_classes) == 1
    classes, counts = state["classes_"], state["n_classes_"]
    if state["n_outputs_"] != len(n_classes) or {isinstance(classes, np.ndarray), plain(counts)} != {single}:
        return "has other outputs than its trees"
    classes, counts = ([classes], [counts]) if single else (classes, list(counts))
    if [len(values) for values in classes] != [int(n) for n in counts]:
        return "has other classes than it counts"
    return None if [int(n) for n in counts] == n_classes.tolist() else "has other classes than its trees"


def numbers_of_outputs(state: dict[str, Any], n_classes: np.ndarray) -> str | None:
    """As many outputs as the trees have, all of them numbers."""
    fits = state["n_outputs_"] == len(n_classes) and within(n_classes, 1, 1)
    return None if fits else "has other outputs than its trees"
