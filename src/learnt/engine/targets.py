"""Validation of targets and weights in memory: arrays of numbers, of class labels, of weights.

What y may hold is asked of all of it here, and of a part of it where it is read in blocks (`engine.lazy_targets`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from learnt.engine.arrays import is_dask, is_dask_array, is_float, is_foreign_array, namespace, native, to_numpy
from learnt.engine.cells import FLOATS, first_text
from learnt.engine.finite import Bad, bad_cells, refuse_bad, require_finite


class Shape(NamedTuple):
    """What checks of targets and weights read of a table that is elsewhere."""

    shape: tuple[int, int]
    dtype: Any


def check_array_target(y: Any, kind: str, X: Any, name: str, dtype: Any = None) -> Any:
    """y as an array: numbers in X's precision (or that of `dtype`), or class labels."""
    if is_foreign_array(y):
        return _foreign_target(y, kind, X, name)
    if is_foreign_array(X):
        raise TypeError(f"X is an array on a device and y is not; give {name} both as arrays of the same library.")
    y = as_target(y, kind, dtype or target_dtype(X), name)
    refuse_target(bad_target(y), kind, name)
    if kind == "label":
        require_labels(y)
    if (n := rows_known(X)) is not None:
        require_one_target_a_row(n, y.shape[0])
    return y


def target_dtype(X: Any) -> Any:
    """The precision of a target that is a number."""
    if is_dask(X) and not is_dask_array(X):
        return np.float64
    return X.dtype if getattr(X, "dtype", None) in FLOATS else np.float64


def as_target(y: Any, kind: str, dtype: Any, name: str) -> np.ndarray:
    """y, or a part of it, as an array of labels or of numbers, whether or not some are missing."""
    y = plain_array(y)
    if sparse.issparse(y):
        raise TypeError(f"y is a sparse matrix, and {name} needs a dense target; use y.toarray().")
    if y.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: y is complex and {name} needs real targets.")
    if kind == "label":
        plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biufUS"
        return np.ascontiguousarray(y) if plain else column_or_1d(y, warn=True)
    if kind == "number" or y.ndim != 2:
        y = column_or_1d(y, warn=True)
    try:
        if y.dtype.kind in "mM":
            raise TypeError("dates are not numbers")
        return y.astype(dtype, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"y holds values that are not numbers, and {name} predicts numbers; encode y first.") from None


def bad_target(y: np.ndarray) -> Bad | None:
    """The first missing label, or the first number that is not finite."""
    if y.dtype.kind == "f":
        return bad_cells(y)
    if y.dtype.kind == "O" and any(map(is_missing, y.flat)):
        missing = np.array([is_missing(value) for value in y])
        return Bad("NaN or None", (int(missing.argmax()),), int(missing.sum()))
    return None


def refuse_target(bad: Bad | None, kind: str, name: str) -> None:
    """Raise one sentence that says where the first bad value of y is."""
    if bad is None:
        return
    if kind == "label" and bad.kind == "NaN or None":
        row = bad.position[0]
        raise ValueError(f"Input y contains NaN or None at row {row}, and {name} needs a label in every row; drop it.")
    refuse_bad(bad, "y", name)


def require_labels(y: np.ndarray) -> None:
    """Refuse numbers that are amounts and no classes; integers and strings are always labels."""
    if y.dtype.kind not in "biuUS" and y.size:
        try:
            check_classification_targets(y)
        except TypeError:  # of values that cannot be compared
            kinds = sorted({type(label).__name__ for label in np.ravel(y)})
            raise TypeError(
                f"y holds labels of several kinds ({', '.join(kinds)}); give all of one, as text."
            ) from None


def rows_known(X: Any) -> int | None:
    """How many rows X has; None where that takes a pass over a Dask collection."""
    n = X.shape[0]
    if not is_dask(X):
        return int(n)
    return int(n) if isinstance(n, int | float) and n == n else None


def require_same_length(X: Any, y: Any) -> None:
    """Raise where X and y have different numbers of rows."""
    require_one_target_a_row(X.shape[0], y.shape[0])


def require_one_target_a_row(n: int, n_targets: int) -> None:
    """The same, for numbers of rows."""
    if n_targets != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows but y has "
            f"{n_targets}; pass one target a row."
        )


def is_missing(value: Any) -> bool:
    """Whether a cell is missing: None, NaN, NaT or pandas' NA, which cannot be compared.

    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def plain_array(values: Any) -> np.ndarray:
    """A list, series, frame or array as NumPy, in this machine's order of bytes."""
    if sparse.issparse(values):
        return values
    if isinstance(values, np.ndarray):
        return native(values)
    import narwhals as nw

    known = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(known, nw.Series | nw.DataFrame):
        return np.asarray(known.to_numpy())
    return native(to_numpy(np.asarray(values)))


def _foreign_target(y: Any, kind: str, X: Any, name: str) -> Any:
    if not is_foreign_array(X):
        return check_array_target(to_numpy(y), kind, X, name)
    xp = namespace(X, y)
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows but y has {y.shape[0]}; pass one target a row.")
    if y.ndim == 2 and y.shape[1] == 1 and kind != "numbers":
        y = xp.reshape(y, (-1,))
    if y.ndim != 1 and not (kind == "numbers" and y.ndim == 2):
        raise ValueError(f"y should be a 1d array for {name}; it has shape {tuple(y.shape)}.")
    if kind == "label":
        if is_float(y):
            require_finite(y, "y", name)
        return y
    y = xp.astype(y, X.dtype)
    require_finite(y, "y", name)
    return y


def check_array_weights(weights: Any, X: Any) -> Any:
    """Weights as float64, at least 0 and not all 0; None where every row counts once."""
    if weights is None:
        return None
    if is_foreign_array(X):
        weights = namespace(X).asarray(weights, dtype=X.dtype, device=getattr(X, "device", None))
    else:
        if isinstance(weights, int | float | np.number):
            weights = np.full(X.shape[0], float(weights))
        weights = as_weights(weights)
        if weights.ndim == 0:
            raise TypeError(
                f"Input should have at least 1 dimension i.e. satisfy `len(x.shape) > 0`, got scalar `{weights!r}` "
                "instead. Pass sample_weight as a plain number, or as one number for every row."
            )
    require_finite(weights, "sample_weight", "fit")
    require_one_dimension(weights.ndim)
    n = rows_known(X)
    if n is not None:
        require_one_weight_a_row(n, weights.shape[0])
    xp = namespace(weights)
    lowest, total = (float(xp.min(weights)), float(xp.sum(weights))) if weights.shape[0] else (0.0, 1.0)
    require_positive(lowest, total)
    return weights


def as_weights(weights: Any) -> np.ndarray:
    """Weights, or a part of them, as float64, whatever their values are."""
    array = plain_array(weights)
    try:
        if array.dtype.kind not in "mM":
            return array.astype(np.float64, copy=False)
        found = "dates or durations"
    except (TypeError, ValueError):
        found = repr(first_text(array)[2])[:60]
    raise ValueError(f"sample_weight must be None, a number or one number for every row; got {found}.")


def require_one_dimension(ndim: int) -> None:
    """Refuse a table of weights."""
    if ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; sample_weight has {ndim} dimensions.")


def require_one_weight_a_row(n: int, n_weights: int) -> None:
    """Refuse other numbers of weights than of rows."""
    if n_weights != n:
        raise ValueError(f"sample_weight.shape == ({n_weights},), expected ({n},): pass one weight for every row.")


def require_positive(lowest: float, total: float) -> None:
    """Refuse weights below 0, and weights that are all 0."""
    if lowest < 0:
        raise ValueError(
            f"Negative values in data passed to `sample_weight` (lowest {lowest:g}); use weights of 0 or more."
        )
    if total == 0:
        raise ValueError("Sample weights must contain at least one non-zero number; all given weights are zero.")
