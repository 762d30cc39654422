"""What a single tree may hold in a file: arrays whose every index a compiled walk may follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.forestry import Categories, Surrogates, Tree
from learnt.persistence._checks import Check, Dims, Schema, anyof, anything, count, labels, none


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
    if value is None:
        return None
    if type(value) is not Categories:
        return "is not a record of categories"
    fine = value.columns.ndim == 1 and ((value.columns >= 0) & (value.columns < dims.get("d", 0))).all()
    return None if fine else "names columns that do not exist"


def _classes_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """One output: an array of classes. Several: a list of them. As many as the tree has values."""
    tree, k = state["tree_"], state["n_outputs_"]
    classes = [state["classes_"]] if k == 1 else state["classes_"]
    counts = [state["n_classes_"]] if k == 1 else state["n_classes_"]
    if k != tree.n_outputs or type(classes) is not list or len(classes) != k or len(counts) != k:
        return "has other outputs than its tree"
    for values, n in zip(classes, counts):
        sizes: Dims = {}
        reason = labels("c")(values, sizes)
        if reason is not None:
            return f"has classes that {reason}"
        if sizes["c"] != n:
            return "has other classes than it counts"
    return None if [int(n) for n in counts] == tree.n_classes.tolist() else "has other classes than its tree"


def _numbers_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    return None if state["n_outputs_"] == state["tree_"].n_outputs else "has other outputs than its tree"


_shared: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "n_outputs_": count(1),
    "max_features_": count(1),
    "_categories": anyof(none, categories_check),
}
TREE_CLASSIFIER = Schema(
    state={**_shared, "tree_": tree_check(n_classes=True), "classes_": anything, "n_classes_": anything},
    rule=_classes_rule,
)
TREE_REGRESSOR = Schema(state={**_shared, "tree_": tree_check(n_classes=False)}, rule=_numbers_rule)
SURROGATE_FIELDS = (
    "start", "feature", "threshold", "left_below", "agreement", "adjusted", "table_start", "table_size", "table",
)  # fmt: skip
TREE_FIELDS = (
    "n_features", "n_classes", "value", "table", "surrogates", "children_left", "children_right", "feature",
    "threshold", "missing_go_to_left", "impurity", "n_node_samples", "weighted_n_node_samples",
    "table_start", "table_size",
)  # fmt: skip
