"""What a density tree has in its leaves: a constant, or a Gaussian normalised in the leaf's finite cell.

Beside its rows a leaf with a Gaussian has one more, spread evenly over the cell. Where rows repeat a value, the
Gaussian is as narrow as can be; without that row, a new row elsewhere in the cell would be as good as impossible.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from learnt.forestry import Box, Tree, cell_bounds

_NARROWEST = 1e-3  # a Gaussian has at least this share of its cell's width as deviation


class Gaussians(NamedTuple):
    """A Gaussian with independent features in each leaf, cut off at the cell: centre, deviation, (nodes, d).

    `even` (nodes) is the share of each leaf that is spread evenly over its cell.
    """

    center: np.ndarray
    scale: np.ndarray
    even: np.ndarray


def even_shares(n_rows: np.ndarray) -> np.ndarray:
    """One row beside the n of each leaf."""
    return 1.0 / (n_rows + 1.0)


def leaf_gaussians(
    X: np.ndarray, w: np.ndarray | None, leaf: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> Gaussians:
    """The means and deviations of the rows in each leaf; a leaf with no spread in a feature has a little."""
    n, d = lower.shape
    weight = np.maximum(np.bincount(leaf, weights=w, minlength=n), np.finfo(float).tiny)
    center, scale = np.empty((n, d)), np.empty((n, d))
    for j in range(d):
        z = X[:, j] - lower[leaf, j]  # relative to the cell's edge, so that no digits are lost
        wz = z if w is None else w * z
        mean = np.bincount(leaf, weights=wz, minlength=n) / weight
        off = z - mean[leaf]
        variance = np.bincount(leaf, weights=off * off if w is None else w * off * off, minlength=n) / weight
        center[:, j] = lower[:, j] + mean
        scale[:, j] = np.maximum(np.sqrt(variance), _NARROWEST * (upper[:, j] - lower[:, j]))
    return Gaussians(center, scale, even_shares(np.bincount(leaf, minlength=n)))


def gaussian_worth(
    tree: Tree, box: Box, X: np.ndarray, w: np.ndarray | None, held: np.ndarray, held_w: np.ndarray | None
) -> np.ndarray:
    """Σ log p of rows `held` in every node, were it a leaf with the Gaussian of the rows X: level by level."""
    lower, upper = cell_bounds(tree, box)
    share = np.log(tree.weighted_n_node_samples / tree.weighted_n_node_samples[0])
    worth = np.zeros(tree.node_count)
    at, held_at = np.zeros(len(X), dtype=np.int64), np.zeros(len(held), dtype=np.int64)
    while len(held):
        gaussians = leaf_gaussians(X, w, at, lower, upper)
        log_p = share[held_at] + log_in_cell(held, held_at, gaussians, lower, upper)
        worth += np.bincount(held_at, weights=log_p if held_w is None else held_w * log_p, minlength=len(worth))
        (at, X, w), (held_at, held, held_w) = _below(tree, at, X, w), _below(tree, held_at, held, held_w)
    return worth


def _below(tree: Tree, at: np.ndarray, X: np.ndarray, w: np.ndarray | None) -> tuple:
    """The rows that are not in a leaf yet, one level further down."""
    inner = ~tree.is_leaf[at]
    at, X, w = at[inner], X[inner], None if w is None else w[inner]
    left = X[np.arange(len(at)), tree.feature[at]] <= tree.threshold[at]
    return np.where(left, tree.children_left[at], tree.children_right[at]), X, w


def log_in_cell(X: np.ndarray, leaf: np.ndarray, of: Gaussians, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """log of each row's density in its cell, of the Gaussian divided by its part in the cell and the even share."""
    Z = (X - of.center[leaf]) / of.scale[leaf]
    inside = _log_part((lower - of.center) / of.scale, (upper - of.center) / of.scale)
    constant = -np.log(of.scale).sum(axis=1) - 0.5 * X.shape[1] * math.log(2.0 * math.pi) - inside.sum(axis=1)
    with np.errstate(divide="ignore"):  # a node without rows is even
        constant += np.log1p(-of.even)
    flat = np.log(of.even) - np.log(upper - lower).sum(axis=1)
    return np.logaddexp(constant[leaf] - 0.5 * (Z * Z).sum(axis=1), flat[leaf])


def _log_part(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """log(Φ(high) − Φ(low)), on the side where both are small so that no digits are lost."""
    flip = low > 0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    top, bottom = log_ndtr(high), log_ndtr(low)
    return top + np.log1p(-np.exp(bottom - top))


def draw_in_cells(leaf: np.ndarray, u: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Rows in these leaves from uniform numbers (rows, d): anywhere in the cell."""
    return lower[leaf] + u * (upper[leaf] - lower[leaf])


def draw_gaussians(
    leaf: np.ndarray, u: np.ndarray, which: np.ndarray, of: Gaussians, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """The same by the Gaussians; `which` (rows), uniform numbers too, choose the rows of the even shares."""
    low, high = lower[leaf], upper[leaf]
    c, s = of.center[leaf], of.scale[leaf]
    a, b = (low - c) / s, (high - c) / s
    flip = a > 0
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    p = ndtr(a)
    z = ndtri(p + u * (ndtr(b) - p))
    drawn = np.clip(c + s * np.where(flip, -z, z), low, high)
    return np.where((which < of.even[leaf])[:, None], low + u * (high - low), drawn)
