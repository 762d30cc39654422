"""Class labels as integers 0…K−1, quickly."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from learnt.engine.arrays import device_of, is_foreign_array, is_lazy, namespace, to_numpy

_WIDEST_TABLE = 1 << 20


def encode_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted distinct labels, and each row's position among them (int64).

    >>> classes, codes = encode_labels(np.array(["b", "a", "b"]))
    >>> classes.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    if y.dtype.kind in "iub" and y.size:
        low, high = int(y.min()), int(y.max())
        if high - low < _WIDEST_TABLE:  # count instead of sort
            shifted = y.astype(np.int64, copy=False) - low
            present = np.bincount(shifted, minlength=high - low + 1) > 0
            position = np.cumsum(present) - 1
            classes = (np.flatnonzero(present) + low).astype(y.dtype)
            return classes, shifted if present.all() else position[shifted]
    if y.dtype == object:
        # Hashing beats sorting Python objects; labels of mixed types that cannot be ordered are refused by sort.
        labels = y.tolist()
        classes = np.asarray(sorted(set(labels)), dtype=object)
        position_of = {label: i for i, label in enumerate(classes.tolist())}
        codes = np.fromiter((position_of[label] for label in labels), dtype=np.int64, count=len(labels))
        return classes, codes
    classes = np.unique(y)
    return classes, np.searchsorted(classes, y)


def distinct_labels(y: Any) -> np.ndarray:
    """The sorted distinct labels of an array, a device array or a Dask collection, as NumPy."""
    if is_foreign_array(y):
        return to_numpy(namespace(y).unique_values(y))
    if is_lazy(y):
        import dask

        parts = dask.compute(*[dask.delayed(_unique_part)(part) for part in np.ravel(y.to_delayed())])
        return np.unique(np.concatenate([part for part in parts if part.size]))
    return np.unique(y)


def _unique_part(part: Any) -> np.ndarray:
    return np.unique(part.to_numpy() if hasattr(part, "to_numpy") else np.asarray(part))


def classes_on_device_of(classes: Any, X: Any) -> Any:
    """Class labels in the library and on the device of the rows X; strings, which no device holds, stay in NumPy."""
    if is_foreign_array(classes):
        if is_foreign_array(X) and type(classes) is type(X) and device_of(classes) == device_of(X):
            return classes
        classes = to_numpy(classes)
    if is_foreign_array(X) and classes.dtype.kind in "iufb":
        return namespace(X).asarray(classes, device=device_of(X))
    return classes


def labels_at(classes: Any, codes: Any) -> Any:
    """The label of every code.

    >>> labels_at(np.array(["a", "b"]), np.array([1, 1, 0])).tolist()
    ['b', 'b', 'a']
    """
    return namespace(classes).take(classes, codes, axis=0) if is_foreign_array(classes) else classes[to_numpy(codes)]


def class_weights(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """The weight of each class for `class_weight` None, a dict or "balanced", where its rows weigh `totals` in all.

    >>> class_weights("balanced", np.array(["a", "b"]), np.array([1.0, 3.0]))
    array([2.        , 0.66666667])
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, dict):
        return compute_class_weight(class_weight, classes=classes, y=classes)
    return totals.sum() / (len(classes) * np.maximum(totals, np.finfo(float).tiny))
