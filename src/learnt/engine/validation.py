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
from sklearn.utils.validation import check_is_fitted, validate_data

from learnt.engine.arrays import is_dask_array, is_foreign_array, is_lazy, namespace, native
from learnt.engine.cells import FLOATS, as_array, floats_of, is_frame
from learnt.engine.estimator import Takes, takes_of
from learnt.engine.finite import require_finite, rows_as_given
from learnt.engine.lazy_targets import check_lazy_columns
from learnt.engine.rows import Table, target_in_memory
from learnt.engine.targets import check_array_target, check_array_weights, rows_known
from learnt.engine.weights import without_absent

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
    double_target: bool = False,
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
    double_target : bool, default=False
        Whether numbers of the target are float64 whatever the precision of X.
    reset : bool, default=True
        False in `partial_fit` after the first call: the columns must be those of the first.
    """
    name = type(estimator).__name__
    accepted = _accepted(estimator, accept_sparse, foreign, lazy, allow_nan, any_cells)
    given, y = X, None if target is None else y
    X, y, sample_weight, rows = without_absent(X, y, sample_weight, not accepted.missing)
    with rows_as_given(rows):
        matrix = _matrix(estimator, X, reset, accepted, min_rows, order, given)
        dtype = np.float64 if double_target else None
        return Checked(matrix, *_check_columns(y, target, sample_weight, matrix, name, dtype))


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
        and X.flags.aligned
        and "feature_names_in_" not in fitted
        and (order is None or X.flags.c_contiguous)
    ):
        if not (takes_of(estimator).missing if allow_nan is None else allow_nan):
            require_finite(X, "X", type(estimator).__name__)
        return X
    check_is_fitted(estimator, msg=NOT_FITTED)
    accepted = _accepted(estimator, accept_sparse, foreign, lazy, allow_nan, any_cells)
    return _matrix(estimator, X, False, accepted, 1, order, X)


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


def _matrix(estimator: Any, X: Any, reset: bool, accepted: Takes, min_rows: int, order: str | None, given: Any) -> Any:
    """X validated; `given` has the rows of weight 0 too, and names of columns that X may have lost."""
    name, allow_nan = type(estimator).__name__, accepted.missing
    if is_lazy(X):
        if not accepted.lazy:
            refuse_elsewhere(X, name)
        _require_shape(X.shape, X.ndim, name, 0 if rows_known(X) is None else min_rows)
        _remember_columns(estimator, given, X.shape[1], reset)
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


def described(X: Any) -> str:
    """What a table is that is read in blocks."""
    return "a learnt.scan table" if isinstance(X, Table) else f"a Dask {type(X).__name__}"


def how_to_load(X: Any) -> str:
    """The call that brings it into memory."""
    return "X.to_numpy()" if isinstance(X, Table) else "X.compute()"


def refuse_unnumbered(X: Any, name: str) -> None:
    """Raise where rows cannot be taken by their numbers: of a file, a Dask frame, or Dask chunks of unknown lengths."""
    if is_lazy(X) and not (is_dask_array(X) and rows_known(X) is not None):
        raise TypeError(
            f"{name} takes rows by their numbers and was given {described(X)} that is read in blocks; "
            "fit on one file and score on another, or take a sample into memory."
        )


def refuse_elsewhere(X: Any, name: str) -> None:
    """Raise where X is not in memory or not on the CPU: data are never moved silently."""
    if is_lazy(X):
        raise TypeError(
            f"{name} needs the whole table in memory and X is {described(X)} read in blocks; "
            f"load it first with {how_to_load(X)}, or take a sample."
        )
    if is_foreign_array(X):
        raise TypeError(
            f"{name} computes on the CPU with NumPy and X is a {type(X).__module__.partition('.')[0]} array on "
            f"{getattr(X, 'device', 'its device')}; convert it first, for example with X.cpu().numpy()."
        )


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
        names = [] if isinstance(X, Table) and X.transformed else list(getattr(X, "columns", []))
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
            f"Found array with {found} (shape={tuple(shape)}) while a minimum of {min_rows} is required by {name}; "
            "give it more rows."
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
    usable = tuple(native(part) for part in parts)
    if not all(part is mine for part, mine in zip(parts, usable, strict=True)):
        matrix = type(matrix)(usable, shape=matrix.shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy() if matrix is X else matrix
        matrix.sum_duplicates()
    return matrix


def _dense_matrix(X: Any, name: str, order: str | None) -> np.ndarray:
    array = floats_of(X, name)
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
    array = as_array(X, name)
    if array.dtype.kind not in "OUS":
        return False
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        return True
    return False


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
    """y as an array: numbers in X's precision, or class labels; read in blocks where X is."""
    return _check_columns(y, kind, None, X, name)[0]


def check_weights(weights: Any, X: Any) -> Any:
    """Weights as float64, at least 0 and not all 0; None where every row counts once. Read in blocks where X is."""
    return _check_columns(None, None, weights, X, "fit")[1]


def _check_columns(y: Any, kind: str | None, weights: Any, X: Any, name: str, dtype: Any = None) -> tuple[Any, Any]:
    """What there is for each row: the target (None where `kind` is), and the weights."""
    if kind is not None and y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if is_lazy(X):
        return check_lazy_columns(y, kind, weights, X, name)
    y, weights = target_in_memory(y), target_in_memory(weights)
    y = None if kind is None else check_array_target(y, kind, X, name, dtype)
    return y, check_array_weights(weights, X)
