"""Labels become small integers once, and every metric counts those.

`encode(y)` gives the sorted classes and, for every row, the position of its label among them. Integer labels of a
small range are shifted; strings are looked up in a hash table: nothing is sorted but the few distinct labels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.multiclass import type_of_target

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks
from learnt.metrics._inputs import GRAIN, SMALL, check_finite, check_lengths, check_weight, host


@kernel
def _shift(y, low, codes, seen):
    for i in range(y.size):
        code = y[i] - low
        codes[i] = code
        seen[code] = 1


@kernel
def _hash_rows(words, table, firsts, codes):
    """Number the rows of `words` by first appearance; `table` holds row numbers + 1 by hash. Returns how many, or −1.

    `firsts` receives the row where each number first appeared; returns −1 if there are more than it can hold.
    """
    n, width = words.shape
    mask = np.uint64(table.size - 1)
    found = 0
    for i in range(n):
        h = np.uint64(14695981039346656037)  # FNV-1a over 32-bit words, then a mix so that the low bits spread
        for j in range(width):
            h = (h ^ np.uint64(words[i, j])) * np.uint64(1099511628211)
        h ^= h >> np.uint64(29)
        slot = h & mask
        while True:
            code = table[slot]
            if code == 0:
                if found == firsts.size:
                    return -1
                firsts[found] = i
                found += 1
                table[slot] = found
                codes[i] = found - 1
                break
            same = True
            for j in range(width):
                if words[firsts[code - 1], j] != words[i, j]:
                    same = False
                    break
            if same:
                codes[i] = code - 1
                break
            slot = (slot + np.uint64(1)) & mask
    return found


def _encode_by_hash(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fixed-width unicode, or integers of any range, in a large array: rows hashed by their 32-bit words."""
    y = np.ascontiguousarray(y)
    words = y.view(np.uint32).reshape(y.size, -1)
    codes = np.empty(y.size, dtype=np.int32)
    firsts = np.empty(1 << 14, dtype=np.int64)
    with np.errstate(over="ignore"):  # a hash wraps around; without compilation NumPy would warn
        found = _hash_rows(words, np.zeros(1 << 16, dtype=np.int32), firsts, codes)
    if found < 0:  # very many distinct labels: the sort is no longer the waste
        return np.unique(y, return_inverse=True)
    classes = y[firsts[:found]]
    order = np.argsort(classes)
    place = np.empty(found, dtype=np.uint8 if found <= 256 else np.int32)
    place[order] = np.arange(found)
    return classes[order], place[codes]


def _encode_integers(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = int(y.min()), int(y.max())
    span = high - low + 1
    if span > max(65_536, 2 * y.size):
        if y.size > SMALL and y.dtype.itemsize in (4, 8):
            return _encode_by_hash(y)
        return np.unique(y, return_inverse=True)
    if y.size <= SMALL or span > 256 or y.dtype == np.uint64:
        seen = np.zeros(span, dtype=bool)
        codes = (y - y.dtype.type(low)).astype(np.intp)
        if int(codes.min()) < 0 or int(codes.max()) >= span:  # a narrow type wrapped around
            codes = y.astype(np.intp) - low
        seen[codes] = True
    else:
        if y.dtype not in (np.int64, np.int32, np.uint8):
            y = y.astype(np.int64)
        y = np.ascontiguousarray(y)
        codes = np.empty(y.size, dtype=np.uint8)
        flags = np.zeros((-(-y.size // GRAIN), span), dtype=np.uint8)

        def shift(lo: int, hi: int) -> None:
            _shift(y[lo:hi], low, codes[lo:hi], flags[lo // GRAIN])

        for_blocks(shift, y.size, grain=GRAIN)
        seen = flags.max(axis=0).astype(bool)
    values = np.flatnonzero(seen)
    if values.size < span:
        codes = (np.cumsum(seen) - 1).astype(codes.dtype)[codes]
    return (values + low).astype(y.dtype), codes


def _encode_objects(y: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    values = y.tolist()
    kinds = set(map(type, values))
    if not all(issubclass(kind, str) for kind in kinds):
        if all(issubclass(kind, int | float | np.number | np.bool_) for kind in kinds):
            return encode(np.array(values), name)
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            f"Mix of label input types (string and number): {name} holds {names}, of unknown type for labels; "
            "give all strings or all numbers, without missing values."
        )
    classes = sorted(set(values))
    place = {label: i for i, label in enumerate(classes)}
    dtype = np.uint8 if len(classes) <= 256 else np.int32
    codes = np.fromiter(map(place.__getitem__, values), dtype, len(values))
    return np.array(classes, dtype=y.dtype), codes


def encode(y: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Sorted distinct labels of the vector `y`, and the position of every row's label among them.

    >>> encode(np.array([3, 1, 3]), "y")
    (array([1, 3]), array([1, 0, 1]))
    """
    kind = y.dtype.kind
    if kind == "b":
        classes, codes = _encode_integers(y.view(np.uint8))
        return classes.astype(bool), codes
    if kind in "iu":
        return _encode_integers(y)
    if kind == "f":
        with np.errstate(invalid="ignore"):
            integers = y.astype(np.int64)
        if not (integers == y).all():
            check_finite(y, name)
            raise ValueError(
                f"continuous is not supported: {name} holds fractions such as {y[integers != y][0]!s}, "
                "not class labels."
            )
        classes, codes = _encode_integers(integers)
        return classes.astype(y.dtype), codes
    if kind == "U" and y.size > SMALL:
        return _encode_by_hash(y)
    if kind in "UTO":
        return _encode_objects(y, name)
    if kind == "S":
        raise TypeError(f"Support for labels represented as bytes is not supported: decode {name} to strings first.")
    raise ValueError(f"unknown is not supported: {name} has dtype {y.dtype}; give whole numbers or strings.")


def same_kind(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether both hold strings, or both hold numbers."""
    return (a.dtype.kind in "UTO") == (b.dtype.kind in "UTO")


def unknown_label(pos_label: Any, classes: np.ndarray) -> ValueError:
    """The error for a positive label that is none of the classes."""
    return ValueError(f"pos_label={pos_label} is not a valid label. It should be one of {classes}")


def is_multilabel(y: Any) -> bool:
    """Whether `y` is a matrix of two whole numbers, as a rule 0 and 1, with a column a label; not 0 counts as 1."""
    if issparse(y):
        return y.shape[1] > 1 and _two_whole_numbers(np.append(y.data, y.dtype.type(0)))
    if getattr(y, "ndim", None) != 2 or y.shape[1] < 2:
        return False
    y = host(y, "y")
    return y.dtype.kind in "biuf" and (bool(((y == 0) | (y == 1)).all()) or _two_whole_numbers(y))


def _two_whole_numbers(y: np.ndarray) -> bool:
    values = np.unique(y)
    return values.size <= 2 and bool((values == np.trunc(values)).all())


class Targets(NamedTuple):
    """Two validated label vectors; `true` and `pred` are positions in `classes`, or CSR matrices of labels."""

    classes: np.ndarray
    true: Any
    pred: Any
    weight: np.ndarray | None
    multilabel: bool

    @property
    def kind(self) -> str:
        """scikit-learn's name for this sort of target."""
        if self.multilabel:
            return "multilabel-indicator"
        return "multiclass" if self.classes.size > 2 else "binary"


def _as_array(y: Any) -> Any:
    """`y` as NumPy or sparse; sequences of mixed types stay objects, so that the error can name them."""
    if issparse(y) or isinstance(y, np.ndarray):
        return y
    if isinstance(y, list | tuple):
        if any(isinstance(v, str) for v in y) and not all(isinstance(v, str) for v in y):
            return np.array(y, dtype=object)
        try:
            return np.array(y)
        except ValueError:
            raise ValueError(
                "You appear to be using a legacy multi-label data representation: "
                "rows of unequal length; give a matrix of zeros and ones."
            ) from None
    return host(y, "y")


def label_vector(y: Any, name: str, refusal: str = "multiclass-multioutput is not supported") -> np.ndarray:
    """`y` as a NumPy vector of labels; `refusal` begins the error for several labels a row."""
    y = _as_array(y)
    if issparse(y):
        raise TypeError(f"Sparse input is only supported when targets are of multilabel type: {name} is sparse.")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"{refusal}: {name} has shape {y.shape}; give one label a row.")
    return y


def _mix(y_true: Any, y_pred: Any) -> ValueError | None:
    """The error for two targets of different kinds, by scikit-learn's names of them; None if they are alike."""
    try:
        with np.errstate(invalid="ignore"):
            true, pred = type_of_target(y_true), type_of_target(y_pred)
    except (TypeError, ValueError):
        return None
    if true == pred or {true, pred} == {"binary", "multiclass"} or "unknown" in (true, pred):
        return None
    return ValueError(
        f"Classification metrics can't handle a mix of {true} and {pred} targets; give y_true and y_pred alike."
    )


def check_targets(y_true: Any, y_pred: Any, sample_weight: Any = None, *, keep_integers: bool = False) -> Targets:
    """Check and encode true and predicted labels against the union of their classes."""
    y_true, y_pred = _as_array(y_true), _as_array(y_pred)
    n = check_lengths(
        y_true=y_true, y_pred=y_pred, sample_weight=None if np.ndim(sample_weight) == 0 else sample_weight
    )
    weight = check_weight(sample_weight, n, keep_integers=keep_integers)
    multi_true, multi_pred = is_multilabel(y_true), is_multilabel(y_pred)
    if multi_true and multi_pred:
        if y_true.shape[1] != y_pred.shape[1]:
            raise ValueError(
                "Multi-label binary indicator input with different numbers of labels: "
                f"y_true has {y_true.shape[1]}, y_pred has {y_pred.shape[1]}."
            )
        return Targets(np.arange(y_true.shape[1]), csr_array(y_true), csr_array(y_pred), weight, True)
    if multi_true or multi_pred:
        raise _mix(y_true, y_pred) or ValueError("One of y_true and y_pred is a matrix of labels and the other is not.")
    try:
        classes_true, true = encode(label_vector(y_true, "y_true"), "y_true")
        classes_pred, pred = encode(label_vector(y_pred, "y_pred"), "y_pred")
    except ValueError:
        if mix := _mix(y_true, y_pred):
            raise mix from None
        raise
    if not same_kind(classes_true, classes_pred):
        raise ValueError(
            "Labels in y_true and y_pred should be of the same type: Mix of label input types (string and number): "
            f"y_true has dtype {classes_true.dtype}, y_pred has {classes_pred.dtype}."
        )
    if classes_true.size == classes_pred.size and bool((classes_true == classes_pred).all()):
        return Targets(classes_true, true, pred, weight, False)
    classes = np.union1d(classes_true, classes_pred)
    dtype = np.uint8 if classes.size <= 256 else np.int32
    true = np.searchsorted(classes, classes_true).astype(dtype)[true]
    pred = np.searchsorted(classes, classes_pred).astype(dtype)[pred]
    return Targets(classes, true, pred, weight, False)
