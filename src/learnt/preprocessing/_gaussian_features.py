"""Gaussian bumps as features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator
from learnt.engine.mixins import TransformerMixin
from learnt.engine.params import ParameterError, check_flag, check_number
from learnt.engine.schema import FEATURES, Dims, Schema, flag, number, real
from learnt.engine.threads import for_blocks, single_blas
from learnt.engine.validation import check_fit, check_predict

_CELLS = 1 << 16  # cells a task: an exponential costs some twenty multiplications


def _some_rows(value: Any, dims: Dims) -> str | None:
    reason = real("k", "d")(value, dims)
    return reason or (None if len(value) else "has no rows")


class GaussianFeatures(TransformerMixin, Estimator):
    """Bumps around centres:  exp(−‖x − c‖² / 2σ²),  one column for each centre c.

    A linear model on them is a smooth surface that is local: each weight matters near its centre only. Columns should
    have comparable scales.

    Parameters
    ----------
    centers : int or array-like of shape (n_centers, n_features), default=10
        The centres, or how many to place where the data are: the data are cut in two again and again, always the part
        with the largest spread and across the column of the largest variance, and the centres are the means of parts.
        More centres follow finer structure, and overfit sooner.
    width : float or None, default=None
        The width σ of the bumps; None is the mean distance of a centre from the one nearest to it. Larger values give
        smoother surfaces.
    include_bias : bool, default=False
        Whether to begin with a column of ones.

    Attributes
    ----------
    centers_ : ndarray of shape (n_centers, n_features)
        The centres; as many as asked for, unless there are fewer different rows.
    width_ : float
        The width σ that was used.

    See Also
    --------
    FourierFeatures : Waves of columns, for what repeats.
    PolynomialFeatures : Powers and products of columns.
    learnt.kernel_approximation.Nystroem : Columns for a kernel around rows drawn at random.

    Examples
    --------
    >>> GaussianFeatures([[0.0], [1.0]], width=1.0).fit_transform([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    __learnt_schema__ = Schema(
        params={"include_bias": flag}, state={**FEATURES, "centers_": _some_rows, "width_": number(above=0)}
    )

    def __init__(self, centers: Any = 10, *, width: float | None = None, include_bias: bool = False) -> None:
        self.centers = centers
        self.width = width
        self.include_bias = include_bias

    def fit(self, X: Any, y: Any = None) -> GaussianFeatures:
        """Place the centres and find the width, where they are not given."""
        check_number(self, "width", 0, open_low=True, also=(None,))
        check_flag(self, "include_bias")
        if np.ndim(self.centers) == 0:
            check_number(self, "centers", 1, integer=True)
        X, _, _ = check_fit(self, X)
        wide = X.astype(np.float64, copy=False)
        centers = place(wide, int(self.centers)) if np.ndim(self.centers) == 0 else self._given(X.shape[1])
        self.width_ = float(spacing(centers, wide) if self.width is None else self.width)
        self.centers_ = centers.astype(X.dtype)
        return self

    def _given(self, d: int) -> np.ndarray:
        try:
            centers = np.array(self.centers, dtype=np.float64)
        except (TypeError, ValueError):
            centers = np.empty(0)
        if centers.ndim != 2 or centers.shape[1] != d or not len(centers) or not np.isfinite(centers).all():
            raise ParameterError(
                f"The 'centers' parameter of GaussianFeatures must be a whole number of at least 1 or a matrix of "
                f"finite numbers with {d} columns, one centre a row; it has the shape {np.shape(self.centers)}."
            )
        return centers

    def transform(self, X: Any) -> np.ndarray:
        """The height of every bump at each row."""
        X = check_predict(self, X)
        centers = self.centers_.astype(np.float64)
        middle = centers.mean(axis=0)  # distances by products lose the digits that are far from 0
        centers = centers - middle
        squares = np.einsum("ij,ij->i", centers, centers)
        bias = int(bool(self.include_bias))
        out = np.empty((len(X), bias + len(centers)), dtype=X.dtype)
        out[:, :bias] = 1.0

        def work(lo: int, hi: int) -> None:
            Z = X[lo:hi] - middle
            distance = np.einsum("ij,ij->i", Z, Z)[:, None] + squares - 2.0 * (Z @ centers.T)
            np.maximum(distance, 0.0, out=distance)
            distance /= -2.0 * self.width_ * self.width_
            out[lo:hi, bias:] = np.exp(distance, out=distance)

        for_blocks(work, len(X), grain=max(16, _CELLS // len(centers)))
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """bump0, bump1, … in the order of `centers_`."""
        check_is_fitted(self)
        names = [f"bump{k}" for k in range(len(self.centers_))]
        return np.array(["1", *names] if self.include_bias else names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@single_blas()
def place(X: np.ndarray, count: int) -> np.ndarray:
    """At most `count` means of parts of X; the parts do not depend on the order of rows."""
    parts = [np.arange(len(X))]
    spreads = [_spread(X)]
    while len(parts) < count:
        widest = int(np.argmax([s.sum() for s in spreads]))
        if spreads[widest].sum() <= 0:
            break
        rows = parts.pop(widest)
        column = X[rows, int(np.argmax(spreads.pop(widest)))]
        above = column > column.mean()
        if not above.any() or above.all():  # equal up to rounding
            parts.append(rows)
            spreads.append(np.zeros(X.shape[1]))
            continue
        for side in (rows[~above], rows[above]):
            parts.append(side)
            spreads.append(_spread(X[side]))
    centers = np.array([X[rows].mean(axis=0) for rows in parts])
    return centers[np.lexsort(centers.T[::-1])]


def _spread(X: np.ndarray) -> np.ndarray:
    """The sum of squares about the mean, of each column."""
    return ((X - X.mean(axis=0)) ** 2).sum(axis=0)


def spacing(centers: np.ndarray, X: np.ndarray) -> float:
    """The mean distance of a centre from the nearest other; the spread of the data where there is only one."""
    if len(centers) > 1:
        gaps = np.linalg.norm(centers[:, None, :] - centers[None, :, :], axis=2)
        np.fill_diagonal(gaps, np.inf)
        width = float(gaps.min(axis=1).mean())
    else:
        width = float(np.sqrt(_spread(X).sum() / len(X)))
    return width if width > 0 else 1.0
