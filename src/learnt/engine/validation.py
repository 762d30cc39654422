"""Validation of data, once: what comes out is a matrix of finite numbers, and nothing is checked again later.

    X, y, w = check_fit(self, X, y, sample_weight, target="number")      # in fit
    X = check_predict(self, X)                                           # everywhere else

Data frames of pandas, Polars and pyarrow, lists, NumPy arrays and SciPy matrices are all accepted; arrays of other
libraries, Dask collections and `learnt.scan` tables where the estimator declares that it takes them. Every error is one
sentence: what was wrong, where, and what to do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from learnt.engine.arrays import is_foreign_array, is_lazy, namespace, native, to_numpy
from learnt.engine.estimator import Takes, takes_of
from learnt.engine.finite import require_finite
from learnt.engine.weights import rows_as_given, without_absent

FLOATS = (np.float64, np.float32)
# scikit-learn's wording, which people search for.
NOT_FITTED = (
    "This %(name)s instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
)


class Checked(NamedTuple):
    """Validated data: X, y (None where there is none), weights (None: all 1)."""

    X: Any
    y: Any
    w: Any


def check_fit(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    target: str | None = None,
    accept_sparse: bool | None = None,
    foreign: bool | None = None,
    lazy: bool | None = None,
    allow_nan: bool | None = None,
    any_cells: bool | None = None,
    min_rows: int = 1,
    order: str | None = None,
    reset: bool = True,
) -> Checked:
    """Data for `fit`, without the rows of weight 0: sets `n_features_in_` and `feature_names_in_`.

    Parameters
    ----------
    target : None, "number", "numbers" or "label"
        What y must be: not used, one number a row, one or several numbers a row, one class label a row.
    accept_sparse, foreign, lazy, allow_nan, any_cells : bool, default=None
        Whether the estimator takes SciPy matrices (as CSR); arrays of other libraries; Dask and `scan` tables; missing
        cells; a table that holds text, dates or categories, which comes through as it is, a frame or an array of
        objects: what its cells may be is for others to say. None: as the class declares in `__learnt_takes__`.
    order : None or "C"
        "C" for kernels that walk rows.
    reset : bool, default=True
        False in `partial_fit` after the first call: the columns must be those of the first.
    """
    name = type(estimator).__name__
    X, y, sample_weight, rows = without_absent(X, None if target is None else y, sample_weight)
    accepted = _accepted(estimator, accept_sparse, foreign, lazy, allow_nan, any_cells)
    with rows_as_given(rows):
        matrix = _matrix(estimator, X, reset, accepted, min_rows, order)
        targets = None if target is None else check_target(y, target, matrix, name)
    return Checked(matrix, targets, check_weights(sample_weight, matrix))


def check_predict(
    estimator: Any,
    X: Any,
    *,
    accept_sparse: bool | None = None,
    foreign: bool | None = None,
    lazy: bool | None = None,
    allow_nan: bool | None = None,
    any_cells: bool | None = None,
    order: str | None = None,
) -> Any:
    """Data for a fitted estimator: as many columns, under the same names, as it was fitted on.

    A small NumPy array of floats, which is what a service passes, is validated in microseconds.
    """
    fitted = vars(estimator)
    if (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in FLOATS
        and X.shape[1] == fitted.get("n_features_in_")
        and X.shape[0] > 0
        and "feature_names_in_" not in fitted
        and (order is None or X.flags.c_contiguous)
    ):
        if not (takes_of(estimator).missing if allow_nan is None else allow_nan):
            require_finite(X, "X", type(estimator).__name__)
        return X
    check_is_fitted(estimator, msg=NOT_FITTED)
    accepted = _accepted(estimator, accept_sparse, foreign, lazy, allow_nan, any_cells)
    return _matrix(estimator, X, False, accepted, 1, order)


def _accepted(
    estimator: Any,
    sparse: bool | None,
    tensors: bool | None,
    lazy: bool | None,
    missing: bool | None,
    categories: bool | None,
) -> Takes:
    """What is accepted: by the call's arguments, or else by the class's declaration."""
    needed = {"sparse": sparse, "tensors": tensors, "lazy": lazy, "missing": missing, "categories": categories}
    return replace(takes_of(estimator), **{key: value for key, value in needed.items() if value is not None})


def _matrix(estimator: Any, X: Any, reset: bool, accepted: Takes, min_rows: int, order: str | None) -> Any:
    name, allow_nan = type(estimator).__name__, accepted.missing
    if is_lazy(X):
        if not accepted.lazy:
            refuse_elsewhere(X, name)
        _require_shape(X.shape, X.ndim, name, 0)
        _remember_columns(estimator, X, X.shape[1], reset)
        return X
    if is_foreign_array(X):
        if not accepted.tensors:
            refuse_elsewhere(X, name)
        matrix = _foreign_matrix(X, name, allow_nan, min_rows)
        _remember_columns(estimator, matrix, matrix.shape[1], reset)
        return matrix
    if sparse.issparse(X):
        if not accepted.sparse:
            raise TypeError(
                f"Sparse data was passed for X, but dense data is required by {name}; "
                "use X.toarray() if it fits in memory."
            )
        matrix = _sparse_matrix(X, name)
    elif accepted.categories and _holds_more_than_numbers(X, name):
        matrix, allow_nan = X if is_frame(X) else np.asarray(X, dtype=object), True
    else:
        matrix = _dense_matrix(X, name, order)
    _require_shape(matrix.shape, len(matrix.shape), name, min_rows)
    _remember_columns(estimator, X if is_frame(X) else matrix, matrix.shape[1], reset)
    if not allow_nan:
        require_finite(matrix, "X", name, columns=_column_names(X))
    return matrix


def refuse_elsewhere(X: Any, name: str) -> None:
    """Raise where X is not in memory or not on the CPU: data are never moved silently."""
    if is_lazy(X):
        raise TypeError(
            f"{name} needs the whole table in memory and X is a {type(X).__name__} read in blocks; "
            "load it first (X.compute() for Dask), or take a sample."
        )
    if is_foreign_array(X):
        raise TypeError(
            f"{name} computes on the CPU with NumPy and X is a {type(X).__module__.partition('.')[0]} array on "
            f"{getattr(X, 'device', 'its device')}; convert it first, for example with X.cpu().numpy()."
        )


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, Polars, pyarrow or another library that narwhals knows."""
    if type(X).__module__.partition(".")[0] in ("numpy", "builtins", "scipy"):
        return False
    import narwhals as nw

    return nw.dependencies.is_into_dataframe(X)


def _column_names(X: Any) -> list[str] | None:
    if not is_frame(X):
        return None
    import narwhals as nw

    return [str(column) for column in nw.from_native(X).columns]


def check_same_columns(estimator: Any, X: Any) -> None:
    """Refuse a `warm_start` fit with another number of columns, before any fitted attribute is changed."""
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    before = getattr(estimator, "n_features_in_", None)
    if before is not None and len(shape) == 2 and shape[1] != before:
        raise ValueError(
            f"X has {shape[1]} features, but {type(estimator).__name__} goes on from a fit to {before} "
            "(warm_start=True); give as many, or set warm_start=False to begin anew."
        )


def _remember_columns(estimator: Any, X: Any, n_features: int, reset: bool) -> None:
    """Set, or compare with, `n_features_in_` and `feature_names_in_`."""
    if is_foreign_array(X) or is_lazy(X):
        names = [] if getattr(X, "transformed", False) else list(getattr(X, "columns", []))
        compared = reset or hasattr(estimator, "feature_names_in_")
        if compared and names and all(isinstance(name, str) for name in names):
            import polars as pl

            # an empty frame with these names, from which scikit-learn reads them
            X = pl.DataFrame(schema=dict.fromkeys(names, pl.Float64))
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        elif reset:
            estimator.n_features_in_ = n_features
            vars(estimator).pop("feature_names_in_", None)
        elif n_features != estimator.n_features_in_:
            raise ValueError(
                f"X has {n_features} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input."
            )
        return
    if reset and type(X) is np.ndarray:  # no names: what scikit-learn's function does, in microseconds
        estimator.n_features_in_ = n_features
        vars(estimator).pop("feature_names_in_", None)
        return
    if type(X).__module__.partition(".")[0] == "pyarrow":
        import polars as pl

        X = pl.from_arrow(X.slice(0, 1))
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def _require_shape(shape: tuple, ndim: int, name: str, min_rows: int) -> None:
    if ndim == 1:
        raise ValueError(
            "Expected 2D array, got 1D array instead: Reshape your data with X.reshape(-1, 1) if it is one feature, "
            "or X.reshape(1, -1) if it is one row."
        )
    if ndim != 2:
        raise ValueError(f"Found array with dim {ndim}, while dim 2 (rows and columns) is required by {name}.")
    if min_rows and shape[0] < min_rows:
        found = "n_samples = 1" if shape[0] == 1 else f"{shape[0]} sample(s)"
        raise ValueError(
            f"Found array with {found} (shape={tuple(shape)}) while a minimum of {min_rows} is required by {name}."
        )
    if shape[1] < 1:
        raise ValueError(f"Found array with 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required.")


def _sparse_matrix(X: Any, name: str) -> Any:
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is a complex sparse matrix and {name} needs real numbers.")
    matrix = X.tocsr()
    if matrix.dtype.type not in FLOATS:
        matrix = matrix.astype(np.float64)
    parts = (matrix.data, matrix.indices, matrix.indptr)
    if not all(part.dtype.isnative for part in parts):
        matrix = type(matrix)(tuple(native(part) for part in parts), shape=matrix.shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy() if matrix is X else matrix
        matrix.sum_duplicates()
    return matrix


def _dense_matrix(X: Any, name: str, order: str | None) -> np.ndarray:
    if is_frame(X):
        X = frame_matrix(X, name)
    array = X if type(X) is np.ndarray else _as_array(X, name)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is complex and {name} needs real numbers; take X.real.")
    if array.dtype.type not in FLOATS:
        array = _to_float(array, name)
    array = native(array)
    if order == "C":
        return np.ascontiguousarray(array)
    if array.ndim == 2 and not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    return array


def _holds_more_than_numbers(X: Any, name: str) -> bool:
    """Whether a table has columns of text, dates or categories."""
    if is_frame(X):
        import narwhals as nw

        types = nw.from_native(X, eager_only=True).schema.values()
        return not all(dtype.is_numeric() or dtype == nw.Boolean for dtype in types)
    array = _as_array(X, name)
    if array.dtype.kind not in "OUS":
        return False
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        return True
    return False


def _as_array(X: Any, name: str) -> np.ndarray:
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
        row, column, value = _first_text(array)
        raise ValueError(
            f"could not convert string to float: X has {value!r} at row {row}, column {column} and {name} needs "
            "numbers; encode the table with learnt.preprocessing.TableEncoder."
        ) from None


def _first_text(array: np.ndarray) -> tuple[int, int, Any]:
    for position, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError):
            row, *rest = position if position else (0,)
            return row, rest[0] if rest else 0, value.item() if isinstance(value, np.generic) else value
    return 0, 0, None


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


def _foreign_matrix(X: Any, name: str, allow_nan: bool, min_rows: int) -> Any:
    xp = namespace(X)
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"Complex data not supported: X is complex and {name} needs real numbers.")
    _require_shape(tuple(X.shape), X.ndim, name, min_rows)
    if X.dtype not in (xp.float32, xp.float64):
        X = xp.astype(X, xp.float64)
    if not allow_nan:
        require_finite(X, "X", name)
    return X


def check_target(y: Any, kind: str, X: Any, name: str) -> Any:
    """y as an array: numbers in X's precision, or class labels."""
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if is_lazy(y):
        y = y.labels() if kind == "label" and hasattr(y, "labels") else y
        if is_lazy(y):
            return y
    if is_foreign_array(y):
        return _foreign_target(y, kind, X, name)
    if is_foreign_array(X):
        raise TypeError(f"X is an array on a device and y is not; give {name} both as arrays of the same library.")
    y = _plain(y)
    if sparse.issparse(y):
        raise TypeError(f"y is a sparse matrix, and {name} needs a dense target; use y.toarray().")
    if y.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: y is complex and {name} needs real targets.")
    if kind == "label":
        plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biufUS"
        y = np.ascontiguousarray(y) if plain else column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            require_finite(y, "y", name)
        elif y.dtype.kind == "O" and any(map(is_missing, y)):
            row = next(i for i, v in enumerate(y) if is_missing(v))
            raise ValueError(
                f"Input y contains NaN or None at row {row}, and {name} needs a label in every row; drop it."
            )
        if y.dtype.kind not in "biuUS":  # integers and strings are always labels
            check_classification_targets(y)
    else:
        if kind == "number" or y.ndim != 2:
            y = column_or_1d(y, warn=True)
        dtype = X.dtype if getattr(X, "dtype", None) in FLOATS else np.float64
        try:
            y = y.astype(dtype, copy=False)
        except (TypeError, ValueError):
            raise ValueError(
                f"y holds values that are not numbers, and {name} predicts numbers; encode y first."
            ) from None
        require_finite(y, "y", name)
    if not is_lazy(X):
        require_same_length(X, y)
    return y


def require_same_length(X: Any, y: Any) -> None:
    """Raise where X and y have different numbers of rows."""
    if y.shape[0] != X.shape[0]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {X.shape[0]} rows but y has "
            f"{y.shape[0]}; pass one target a row."
        )


def is_missing(value: Any) -> bool:
    """Whether a cell is missing: None, NaN, NaT or pandas' NA, which cannot be compared.

    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _plain(values: Any) -> np.ndarray:
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
        return check_target(to_numpy(y), kind, X, name)
    xp = namespace(X, y)
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows but y has {y.shape[0]}; pass one target a row.")
    if y.ndim == 2 and y.shape[1] == 1 and kind != "numbers":
        y = xp.reshape(y, (-1,))
    if y.ndim != 1 and not (kind == "numbers" and y.ndim == 2):
        raise ValueError(f"y should be a 1d array for {name}; it has shape {tuple(y.shape)}.")
    if kind == "label":
        return y
    y = xp.astype(y, X.dtype)
    require_finite(y, "y", name)
    return y


def check_weights(weights: Any, X: Any) -> Any:
    """Weights as float64, at least 0 and not all 0; None where every row counts once."""
    if weights is None or is_lazy(weights):
        return weights
    if is_foreign_array(X):
        xp = namespace(X)
        weights = xp.asarray(weights, dtype=X.dtype, device=getattr(X, "device", None))
        lowest, total = float(xp.min(weights)), float(xp.sum(weights))
    else:
        if isinstance(weights, int | float | np.number):
            weights = np.full(X.shape[0], float(weights))
        try:
            weights = _plain(weights).astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise ValueError(
                f"sample_weight must be None, a number or one number for every row; got {str(weights)[:60]}."
            ) from None
        if weights.ndim == 0:
            raise TypeError(
                f"Input should have at least 1 dimension i.e. satisfy `len(x.shape) > 0`, got scalar `{weights!r}` "
                "instead. Pass sample_weight as a plain number, or as one number for every row."
            )
        require_finite(weights, "sample_weight", "fit")
        lowest, total = (float(weights.min()), float(weights.sum())) if weights.size else (0.0, 1.0)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; sample_weight has {weights.ndim} dimensions.")
    if not is_lazy(X) and weights.shape[0] != X.shape[0]:
        raise ValueError(
            f"sample_weight.shape == {tuple(weights.shape)}, expected ({X.shape[0]},): pass one weight for every row."
        )
    if lowest < 0:
        raise ValueError(
            f"Negative values in data passed to `sample_weight` (lowest {lowest:g}); use weights of 0 or more."
        )
    if total == 0:
        raise ValueError("Sample weights must contain at least one non-zero number; all given weights are zero.")
    return weights
