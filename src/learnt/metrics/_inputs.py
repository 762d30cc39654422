"""Validation for the metrics: arrays of equal length, finite numbers, weights. Nothing is checked again later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from learnt.engine.arrays import device_name, is_foreign_array, like, namespace, to_numpy

# Below this many rows plain NumPy answers before a compiled kernel would be loaded.
SMALL = 10_000
# Rows of a block of a compiled pass: enough to make a task worth while.
GRAIN = 1 << 17
# Rows a block of a NumPy pass: its temporaries stay in the second-level cache.
CACHED = 32_768


def count_rows(x: Any, name: str) -> int:
    """How many rows `x` has."""
    shape = getattr(x, "shape", None)
    if shape is not None and len(shape) == 0:
        raise TypeError(f"{name} is a single number; give an array with one entry a row.")
    try:
        return int(shape[0]) if shape is not None else len(x)
    except TypeError:
        raise TypeError(f"{name} is a {type(x).__name__}; give an array or a sequence with one entry a row.") from None


def check_lengths(*, least: int = 1, **named: Any) -> int:
    """All given arrays have equally many rows, at least `least`; returns how many."""
    lengths = {name: count_rows(x, name) for name, x in named.items() if x is not None}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {list(lengths.values())} "
            f"({', '.join(lengths)}); give equally many rows of each."
        )
    n = next(iter(lengths.values()))
    if n < least:
        first, second = list(lengths)[:2]
        raise ValueError(
            f"Found empty input array (e.g., `{first}` or `{second}`) while a minimum of 1 sample is required."
        )
    return n


def host(x: Any, name: str) -> np.ndarray:
    """`x` as a NumPy array; data on another device is not fetched behind the user's back."""
    if is_foreign_array(x) and device_name(x) != "cpu":
        raise TypeError(f"{name} lies on {device_name(x)} and this metric is computed on the CPU: fetch it first.")
    return to_numpy(x)


def column(x: Any, name: str) -> np.ndarray:
    """`x` as a NumPy vector; a matrix of one column is taken as that column."""
    if issparse(x):
        raise TypeError(f"{name} is a sparse matrix; give a dense vector (x.toarray().ravel()).")
    x = host(x, name)
    if x.ndim == 2 and x.shape[1] == 1:
        x = x[:, 0]
    if x.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {x.shape} instead (as {name}).")
    return x


def real(x: np.ndarray, name: str) -> np.ndarray:
    """`x` in float32 or float64; other numbers become float64, strings and objects an error."""
    if x.dtype == np.float64 or x.dtype == np.float32:
        return x
    if x.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {x.dtype}.")
    if x.dtype.kind in "SUT":
        raise ValueError(f"{name} holds strings where numbers are needed; convert it first.")
    try:
        return x.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds values that are not numbers; convert or drop them first.") from None


def ranks(x: np.ndarray, name: str) -> np.ndarray:
    """Scores to be ordered: integers stay integers, since large ones would collide as floats."""
    if x.dtype.kind in "iub" and x.dtype != np.uint64:
        return x.astype(np.int64, copy=False)
    return real(x, name)


def check_finite(x: Any, name: str) -> None:
    """Raise on NaN or infinity. The sum shows both, unless it overflows: only then every entry is checked."""
    xp = namespace(x)
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not bool(xp.isfinite(xp.sum(x)))
    if not suspicious or bool(xp.all(xp.isfinite(x))):
        return
    rows = to_numpy(~xp.isfinite(x))
    first = int(np.argmax(rows.reshape(rows.shape[0], -1).any(axis=1)))
    what = "NaN" if bool(xp.any(xp.isnan(x))) else "infinity or a value too large"
    raise ValueError(f"Input {name} contains {what} (first at row {first}); fill or drop those rows first.")


def check_weight(sample_weight: Any, n: int, *, keep_integers: bool = False) -> np.ndarray | None:
    """Weights as a finite vector of length n, or None. Integer weights can be kept, so that counts stay integers."""
    if sample_weight is None:
        return None
    if not is_foreign_array(sample_weight) and np.ndim(sample_weight) == 0:
        return np.full(n, sample_weight, dtype=np.float64)
    w = host(sample_weight, "sample_weight")
    if w.ndim == 2 and w.shape[1] == 1:
        w = w[:, 0]
    if w.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {w.ndim}D array.")
    if w.shape[0] != n:
        raise ValueError(f"sample_weight.shape == {w.shape}, expected {(n,)}: one weight a row.")
    if keep_integers and w.dtype.kind in "iub":
        return w
    w = real(w, "sample_weight")
    check_finite(w, "sample_weight")
    if not w.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return w


def check_option(value: Any, name: str, options: tuple[Any, ...]) -> None:
    """`value` is one of the allowed ones."""
    if not any(value is option or (type(value) is type(option) and value == option) for option in options):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}.")


def follow(y_true: Any, y_pred: Any, sample_weight: Any) -> tuple[Any, Any, Any, Any]:
    """Namespace of `y_pred`, and the three arrays in it and on its device; everything else becomes NumPy."""
    if not is_foreign_array(y_pred):
        weight = None if sample_weight is None else to_numpy(sample_weight)
        return np, to_numpy(y_true), to_numpy(y_pred), weight
    xp = namespace(y_pred)

    def moved(x: Any) -> Any:
        if x is None or is_foreign_array(x):
            return x
        x = np.asarray(x)
        return like(x, y_pred, dtype=getattr(xp, str(x.dtype)))

    return xp, moved(y_true), y_pred, moved(sample_weight)


def cached_blocks(n: int, width: int = 1) -> Iterator[slice]:
    """Slices of rows of `width` numbers, small enough that temporaries stay in cache."""
    step = max(1, CACHED // width)
    for start in range(0, n, step):
        yield slice(start, start + step)
