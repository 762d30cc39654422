"""The triangular factor of centred [X, y], block by block: QR of tall data at any scale."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.arrays import like, namespace
from learnt.engine.matrices import dense
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block, as_columns, widen
from learnt.linalg import decompositions
from learnt.statistics import joint_means

_CONSTANT = 4 * float(np.finfo(np.float64).eps)  # of the mean: x − x̄ has rounding errors relative to x


class Triangle(NamedTuple):
    """R of the weighted, centred [X, Y], and the means."""

    left: np.ndarray  # (m, d), at most d + k rows: the columns of X
    right: np.ndarray  # (m, k): the columns of Y
    x_mean: np.ndarray
    y_mean: np.ndarray
    weight: float  # Σ w


def centred_triangle(rows: Rows, center: bool, means: tuple[np.ndarray, np.ndarray] | None = None) -> Triangle:
    """The factor about the means, or about 0; `means` where they are known already.

    A computed mean has rounding errors, which would stay in every row. So a column of ones goes first: what is at right
    angles to it has the mean 0, and its own row of R holds the errors of the means.
    """
    x_mean, y_mean = means or joint_means(rows, center)
    (R,) = rows.reduce(triangular_factor, merge_factors, x_mean, y_mean, center)
    d = len(x_mean)
    if not center:
        return Triangle(R[:, :d], R[:, d:], x_mean, y_mean, 1.0)  # a weight counts beside means only
    root, errors = R[0, 0], R[0, 1:]
    x_mean, y_mean = x_mean + errors[:d] / root, y_mean + errors[d:] / root
    left, right = R[1:, 1 : d + 1], R[1:, d + 1 :]
    constant = column_lengths(left) <= _CONSTANT * abs(root) * np.abs(x_mean)
    return Triangle(np.where(constant, 0.0, left), right, x_mean, y_mean, root * root)


def triangular_factor(block: Block, x_mean: np.ndarray, y_mean: np.ndarray, center: bool) -> tuple:
    """R of the QR factorisation of a block's weighted [1, X − x̄, y − ȳ], without the ones where nothing is centred."""
    X, Y = widen(dense(block.X)), widen(as_columns(block.y))
    xp = namespace(X, Y)
    parts = [X - like(x_mean, X), Y - like(y_mean, X, Y.dtype)]
    if center:
        parts.insert(0, xp.ones_like(X[:, :1]))
    Z = xp.concat(parts, axis=1)
    if block.w is not None:
        Z = Z * xp.sqrt(widen(block.w))[:, None]
    return (decompositions.triangle(Z),)


def merge_factors(total: tuple | None, part: tuple | None) -> tuple | None:
    """R of two stacked matrices from the R of each: QR of tall data in blocks, at any scale."""
    if total is None or part is None:
        return total if part is None else part
    return (decompositions.triangle(np.vstack([total[0], part[0]])),)


def column_lengths(left: np.ndarray) -> np.ndarray:
    """Of columns whose squares may overflow."""
    largest = np.abs(left).max(axis=0, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    return largest * np.linalg.norm(left / scale, axis=0)
