"""Which rows have a label, and which one."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from learnt.engine.classification.labels import encode_labels
from learnt.engine.matrices import in_numpy
from learnt.engine.validation import check_target


def labelled_rows(y: Any, n: int, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """y as an array, where it is not −1, the classes, and the codes of the labels that are there.

    >>> labelled_rows([0, -1, 5], 3, "Example")[1:]
    (array([ True, False,  True]), array([0, 5]), array([0, 1]))
    """
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    y = np.asarray(in_numpy(y))
    if y.dtype.kind != "O":
        y = np.asarray(check_target(y, "label", np.empty((n, 0)), name))
    elif y.shape != (n,):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows but y has shape {y.shape}; "
            "pass one label a row."
        )
    if y.dtype.kind in "US" and np.isin(y, np.array(["-1"]).astype(y.dtype)).any():
        raise ValueError(
            f"y has dtype string, where '-1' would be a class of {name}; give an array of dtype object with the number "
            "-1 for rows without a label."
        )
    if y.dtype.kind == "O":
        known = np.fromiter((not (isinstance(label, Number) and label == -1) for label in y), dtype=bool, count=n)
    else:
        known = np.ones(n, dtype=bool) if y.dtype.kind in "US" else y != -1
    if not known.any():
        raise ValueError(f"y has no label for {name}: all rows are -1, so there is no class; label one row at least.")
    classes, codes = encode_labels(np.asarray(check_target(y[known], "label", np.empty((int(known.sum()), 0)), name)))
    return y, known, classes, codes


def one_hot(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """A row for each code, 1 at its class."""
    return np.eye(n_classes)[codes]
