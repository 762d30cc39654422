"""Inference for least squares: noise, covariance σ²(XᵀWX)⁻¹, and intervals.

All of it comes from one triangular factor R of the weighted, centred [X, y], d × d at most and as exact as the data:
XᵀWX = RᵀR, and the last diagonal block of the factor, that of y, gives the residual sum of squares. `fit` does not
compute it. It keeps a reference to its rows (see `remember`), and the first use of inference makes a pass over them.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, special

from learnt.engine.arrays import to_numpy
from learnt.engine.forks import hold_while_forking
from learnt.engine.matrices import dense, in_numpy, on_host
from learnt.engine.rows import Rows, as_rows
from learnt.engine.rows.blocks import Block, widen
from learnt.engine.threads import single_blas
from learnt.linalg.spectrum import rounding
from learnt.linear_model.least_squares._directions import cell_errors
from learnt.linear_model.least_squares._triangle import centred_triangle, column_lengths

# cells of rows that a model may keep alive: 32 MB; of larger arrays it has a weak reference only
_LARGEST_KEPT = 1 << 22
_SAME = 1e-5  # relative error up to which coefficients are taken for the solution of these data


class Interval(NamedTuple):
    """Predictions and the ends of an interval around each."""

    prediction: Any
    lower: Any
    upper: Any


class Inference(NamedTuple):
    """Results of the residuals; k targets share the rows and so everything but the noise."""

    half: np.ndarray  # (d, d)  R⁻¹, so that (XᵀWX)⁻¹ = R⁻¹R⁻ᵀ
    x_mean: np.ndarray  # (d,)  zeros without an intercept
    weight: float  # Σ w; infinite without an intercept
    residual: np.ndarray  # (k,)  Σ w e²
    total: np.ndarray  # (k,)  Σ w (y − ȳ)², or Σ w y² without an intercept
    n_rows: int  # rows of weight above 0
    log_weight: float  # Σ log w

    @property
    def dof(self) -> int:
        """Rows less coefficients."""
        return self.n_rows - len(self.x_mean) - int(np.isfinite(self.weight))

    @property
    def noise_variance(self) -> np.ndarray:
        return self.residual / self.dof

    def covariance(self) -> np.ndarray:
        """(XᵀWX)⁻¹ of (intercept, coefficients), or of the coefficients alone; without the noise variance."""
        inner = self.half @ self.half.T
        if not np.isfinite(self.weight):
            return inner
        edge = -(inner @ self.x_mean)
        corner = 1.0 / self.weight - self.x_mean @ edge
        return np.block([[np.array([[corner]]), edge[None, :]], [edge[:, None], inner]])

    def spread(self, X: Any) -> np.ndarray:
        """Variance of the estimated mean at each row of X, over the noise variance."""
        X = dense(X)
        rotated = (X.astype(np.float64, copy=False) - self.x_mean) @ self.half
        return np.einsum("ij,ij->i", rotated, rotated) + 1.0 / self.weight


# Rows of the last fit of every model that is alive: kept outside the model, so that files and copies do not include
# them.
_rows: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_lock = threading.Lock()
hold_while_forking(lambda: [_lock])


def remember(model: Any, rows: Rows) -> None:
    """Keep a reference to the rows of a fit: a strong one to small arrays and files, a weak one to large arrays."""
    kept: Any = rows
    if rows.in_memory and rows.n_rows * rows.n_features > _LARGEST_KEPT:
        try:
            kept = tuple(None if part is None else weakref.ref(_owner(part)) for part in (rows.X, rows.y, rows.w))
        except TypeError:
            kept = None
    with _lock:
        _rows[model] = kept


def forget(model: Any) -> None:
    """Drop the reference: the last fit had no rows to read again."""
    with _lock:
        _rows.pop(model, None)


def _owner(array: Any) -> Any:
    """The user's own array behind a view of all of it, since the view is deleted after the fit."""
    while isinstance(array, np.ndarray) and isinstance(array.base, np.ndarray):
        base = array.base
        if (base.shape, base.strides, base.dtype) != (array.shape, array.strides, array.dtype):
            break
        array = base
    return array


def remembered(model: Any) -> Rows | None:
    """The rows of the last fit, or None where they are gone."""
    with _lock:
        kept = _rows.get(model)
    if isinstance(kept, tuple):
        parts = [None if part is None else part() for part in kept]
        if any(part is None and ref is not None for part, ref in zip(parts, kept, strict=True)):
            return None
        return as_rows(parts[0], parts[1], parts[2])
    return kept


def infer(rows: Rows, fit_intercept: bool, coef: np.ndarray, name: str) -> Inference:
    """Compute all of it in two passes over the rows; `coef` (d, k) is checked to be their least-squares solution."""
    found = centred_triangle(rows, fit_intercept)
    x_mean = found.x_mean
    n_rows, weight, log_weight = (float(part) for part in rows.sum(_counts))
    d = len(x_mean)
    if n_rows <= d + int(fit_intercept):
        raise ValueError(
            f"{name} has {d + int(fit_intercept)} coefficients from {n_rows:g} rows, which leaves nothing to estimate "
            "the noise from; give it more rows or fewer columns."
        )
    with single_blas():
        triangle, right = found.left[:d], found.right
        lengths = column_lengths(triangle)
        pivots = np.abs(np.diag(triangle))
        least = np.maximum(cell_errors(lengths, found, rows.dtype), rounding(d))
        bad = np.flatnonzero(pivots <= least * lengths)
        if bad.size:
            raise ValueError(
                f"Column {bad[0]} of X is constant or a combination of the columns before it, so the coefficients of "
                f"{name} have no standard errors; leave it out."
            )
        total = np.square(right).sum(axis=0)
        missed = np.square(right[:d] - triangle @ coef).sum(axis=0)
        if np.any(missed > _SAME * total + np.finfo(float).tiny):
            raise ValueError(
                f"These are not the rows that this {name} was fitted on, or they have changed since: its coefficients "
                "are not their least-squares solution; fit it on them first."
            )
        half = linalg.solve_triangular(triangle, np.eye(d))
    residual = np.square(right[d:]).sum(axis=0)
    return Inference(half, x_mean, weight if fit_intercept else np.inf, residual, total, int(n_rows), log_weight)


def _counts(block: Block) -> tuple:
    if block.w is None:
        return block.X.shape[0], block.X.shape[0], 0.0
    w = to_numpy(widen(block.w))
    positive = w[w > 0]
    return positive.size, positive.sum(), np.log(positive).sum()


def half_width(inference: Inference, X: Any, kind: str, level: float) -> np.ndarray:
    """(n, k): half the interval of the mean ("confidence") or of a new y ("prediction") at each row."""
    spread = inference.spread(X) + (1.0 if kind == "prediction" else 0.0)
    quantile = special.stdtrit(inference.dof, 0.5 + level / 2)
    return quantile * np.sqrt(spread[:, None] * inference.noise_variance)


def check_level(level: Any, name: str) -> float:
    """A probability strictly between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, (int, float, np.floating)) or not 0 < level < 1:
        raise ValueError(f"{name} must be a probability between 0 and 1, such as 0.95; it is {level!r}.")
    return float(level)


def rows_in_memory(X: Any) -> Any:
    """X as rows that an interval can be made for: NumPy or SciPy."""
    X = in_numpy(X)
    if not on_host(X):
        raise TypeError(f"Intervals are made for rows in memory and X is a {type(X).__name__}; pass them in parts.")
    return X
