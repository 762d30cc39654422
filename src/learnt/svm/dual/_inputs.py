"""Rows as kernel machines take them: vectors, a kernel matrix, or anything that a user's function compares."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import to_numpy
from learnt.engine.validation import check_fit, check_predict, check_target, check_weights
from learnt.engine.weights import RowIndex, present_rows, rows_given, without_absent
from learnt.kernels import is_kernel_object


class Rows(NamedTuple):
    """Data for `fit`, without the rows of weight 0 or less."""

    X: Any
    y: Any
    w: np.ndarray  # (n,) above 0
    places: RowIndex  # of the rows kept, in the table that was given; None: all
    shape: tuple[int, ...]  # of that table

    def place(self, support: np.ndarray) -> np.ndarray:
        """Where these rows are in the table that was given."""
        return support if self.places is None else self.places[support]


def fit_rows(machine: Any, X: Any, y: Any, sample_weight: Any, target: str | None) -> Rows:
    """Checked rows in double precision, targets and weights for the `fit` of a kernel machine."""
    name = type(machine).__name__
    weights = _none_negative(sample_weight, name)
    if _compares_anything(machine, X):
        X, y, weights, places = without_absent(_sequence(X), None if target is None else y, weights)
        w = check_weights(weights, X)
        y = None if target is None else check_target(y, target, X, name)
    else:
        places = present_rows(weights, X)
        X, y, w = check_fit(machine, X, y, weights, target=target, order="C", double_target=True)
        X = X.astype(np.float64, copy=False)
    n = X.shape[0] if places is None else rows_given(weights)
    shape = (n, *X.shape[1:])
    if machine.kernel == "precomputed":
        X = _square(X, places, shape, name)
    return Rows(X, y, np.ones(X.shape[0]) if w is None else w, places, shape)


def predict_rows(machine: Any, X: Any) -> Any:
    """Rows to answer for, in double precision."""
    if _compares_anything(machine, X):
        return _sequence(X)
    return check_predict(machine, X).astype(np.float64, copy=False)


def _square(K: Any, places: RowIndex, shape: tuple[int, ...], name: str) -> np.ndarray:
    """A kernel matrix, restricted to the rows kept."""
    if sparse.issparse(K):
        raise TypeError(f"Sparse precomputed kernels are not supported by {name}: pass X.toarray().")
    if shape[0] != shape[1]:
        raise ValueError(
            f"Precomputed matrix must be a square matrix. Input is a {shape[0]}x{shape[1]} matrix: {name} "
            "with kernel='precomputed' is fitted on the kernel between all training rows."
        )
    return K if places is None else K[:, places]


def _none_negative(weights: Any, name: str) -> Any:
    """Weights with 0 for those below it, as libsvm reads them; what is no array of numbers is refused later."""
    if weights is None:
        return None
    try:
        values = to_numpy(weights).astype(np.float64, copy=False)
    except (TypeError, ValueError):
        return weights
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        return weights
    if not (values > 0).any():
        raise ValueError(
            f"Invalid input - all samples have zero or negative weights. {name} leaves such rows out, and none is left."
        )
    if (below := int((values < 0).sum())) == 0:
        return weights
    warnings.warn(
        f"{below} of the sample weights are below 0, the lowest {values.min():g}; {name} leaves these rows out.",
        stacklevel=4,
    )
    return np.maximum(values, 0.0)


def _compares_anything(machine: Any, X: Any) -> bool:
    """Whether rows are not vectors but objects that the user's function compares: strings, say."""
    if not callable(machine.kernel) or is_kernel_object(machine.kernel):
        return False
    if type(X) is np.ndarray:
        return X.ndim == 1 and X.dtype.kind in "OUS"
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], str | bytes | set | frozenset | dict)


def _sequence(X: Any) -> np.ndarray:
    """One entry a row, as it is."""
    return X if type(X) is np.ndarray else np.fromiter(X, object, len(X))
