"""The cells of a table in memory as floating-point numbers, whatever library holds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import native

FLOATS = (np.float64, np.float32)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, Polars, pyarrow or another library that narwhals knows."""
    if type(X).__module__.partition(".")[0] in ("numpy", "builtins", "scipy"):
        return False
    import narwhals as nw

    return nw.dependencies.is_into_dataframe(X)


def floats_of(X: Any, name: str) -> np.ndarray:
    """An array of float64 or float32, of a frame, a list or an array; missing cells are NaN."""
    if is_frame(X):
        X = frame_matrix(X, name)
    array = X if type(X) is np.ndarray else as_array(X, name)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is complex and {name} needs real numbers; take X.real.")
    return native(array if array.dtype.type in FLOATS else _to_float(array, name))


def frame_matrix(X: Any, name: str) -> np.ndarray:
    """A data frame's cells as a matrix: float32 where every column is, float64 otherwise; missing cells are NaN."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    float32 = all(dtype == nw.Float32 for dtype in frame.schema.values())
    out = np.empty((frame.shape[0], frame.shape[1]), dtype=np.float32 if float32 else np.float64)
    for j, column in enumerate(frame.columns):
        series = frame[:, j]
        try:
            out[:, j] = _column_values(series)
        except (TypeError, ValueError):
            raise ValueError(
                f"could not convert string to float: column {column!r} of X holds {series.dtype}, and {name} needs "
                "numbers; encode the table with learnt.preprocessing.TableEncoder."
            ) from None
    return out


def _column_values(series: Any) -> np.ndarray:
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_temporal():
        raise TypeError("dates are not numbers")
    if dtype == nw.Boolean or dtype.is_numeric():
        if series.null_count():
            series = series.cast(nw.Float64)
        values = series.to_numpy()
        return values if values.dtype != object else np.array([np.nan if v is None else v for v in values], float)
    return np.asarray(series.to_numpy(), dtype=object).astype(np.float64)


def as_array(X: Any, name: str) -> np.ndarray:
    """A table of objects of any kind as a NumPy array."""
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(
            f"X has rows of unequal length, so {name} cannot read it as a table; give every row the same columns."
        ) from error


def _to_float(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind in "mM":
        raise ValueError(
            f"X holds dates or durations, and {name} needs numbers; encode them with learnt.preprocessing.TableEncoder."
        )
    try:
        return array.astype(np.float64)
    except TypeError as error:
        if "number" in str(error):
            raise TypeError(
                f"X holds something that is not a number ({error}); give {name} numbers, "
                "or encode the table with learnt.preprocessing.TableEncoder."
            ) from None
        raise
    except ValueError:
        row, column, value = first_text(array)
        raise ValueError(
            f"could not convert string to float: X has {value!r} at row {row}, column {column} and {name} needs "
            "numbers; encode the table with learnt.preprocessing.TableEncoder."
        ) from None


def first_text(array: np.ndarray) -> tuple[int, int, Any]:
    """Row, column and value of the first cell that is no number."""
    for position, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError):
            row, *rest = position if position else (0,)
            return row, rest[0] if rest else 0, value.item() if isinstance(value, np.generic) else value
    return 0, 0, None
