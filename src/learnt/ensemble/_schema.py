"""Model files of ensembles of any estimators: their members are estimators with schemas of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from learnt.engine.schema import Check, count, labels

LABELLED: dict[str, Check] = {"classes_": labels("c"), "n_classes_": count(1, name="c")}


def same_width(members: list[Any]) -> int | str | None:
    """The number of features of all members; an error message where they differ; None where no member has one."""
    widths = {width for member in members if (width := getattr(member, "n_features_in_", None)) is not None}
    return "has members fitted on different columns" if len(widths) > 1 else next(iter(widths), None)


def known_classes(members: list[Any], n_classes: int) -> str | None:
    """Members predict the positions 0…c−1 of the labels, or booleans where there are two."""
    for member in members:
        classes = getattr(member, "classes_", None)
        if isinstance(classes, np.ndarray) and (
            classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= n_classes
        ):
            return "has a member that answers with classes that it does not know"
    return None


def fit_together(members: list[Any], columns: int) -> str | None:
    """Members are fitted, and they and their trees read existing columns only."""
    for member in members:
        try:
            check_is_fitted(member)
        except NotFittedError:
            return "has members that were never fitted"
        for part in (member, getattr(member, "tree_", None)):
            width = getattr(part, "n_features_in_", getattr(part, "n_features", columns))
            if width != columns:
                return "has members of other columns"
    return None
