"""Labels as positions among the sorted classes, for y in memory, on a device, or read in blocks; priors."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import is_foreign_array, is_lazy, is_numpy, like, namespace, to_numpy
from learnt.engine.classification.labels import distinct_labels, encode_labels


def encode(y: Any) -> tuple[Any, Any]:
    """The sorted labels, and y as their positions; a lazy y stays as it is."""
    if is_lazy(y):
        return distinct_labels(y), y
    if is_numpy(y):
        return encode_labels(y)
    classes = like(distinct_labels(y), y)
    return classes, namespace(y).searchsorted(classes, y)


def require_classes(classes: Any) -> None:
    """Refuse a first partial_fit that does not name the classes."""
    if classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit: give all labels that can come.")


def known_classes(y: Any, classes: Any) -> Any:
    """The `classes` of a first partial_fit, sorted, in y's library."""
    known = np.unique(to_numpy(classes))
    return like(known, y) if is_foreign_array(y) else known


def require_same_classes(classes: Any, known: Any) -> None:
    """Refuse `classes` of a later partial_fit that are not those of the first."""
    if classes is not None and not np.array_equal(np.unique(to_numpy(classes)), to_numpy(known)):
        raise ValueError(
            f"`classes={classes!r}` is not the same as on last call to partial_fit, which was {known.tolist()}; "
            "give the same labels, or none after the first call."
        )


def positions(y: Any, known: Any) -> Any:
    """y as positions in the classes known from the first call."""
    labels, known_labels = distinct_labels(y), to_numpy(known)
    strange = [label for label in labels.tolist() if label not in set(known_labels.tolist())]
    if strange:
        raise ValueError(
            f"The target label(s) {strange} in y do not exist in the initial classes {known_labels.tolist()}; "
            "name every label in `classes` at the first call of partial_fit."
        )
    if is_lazy(y):
        return y
    if is_foreign_array(y):
        return namespace(y).searchsorted(like(known_labels, y), y)
    return np.searchsorted(known_labels, y)


def checked_priors(priors: Any, n_classes: int) -> np.ndarray:
    """Given probabilities of the classes: one each, none negative, 1 in all."""
    priors = to_numpy(priors).astype(np.float64)
    if priors.shape != (n_classes,):
        raise ValueError(
            f"Number of priors must match number of classes: there are {priors.size} priors and {n_classes} classes."
        )
    if not np.isclose(priors.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1; it is {priors.sum():g}.")
    if (priors < 0).any():
        raise ValueError(f"Priors must be non-negative; the lowest is {priors.min():g}.")
    return priors
