"""Count, mean and squared deviations of every feature in every class, from one sum over rows.

With a provisional mean s_c of class c and z = x − s_c, the sums Σw, Σwz and Σwz² over the rows of the class give

    mean_c = s_c + Σwz / Σw,        ssd_c = Σwz² − (Σwz)² / Σw

The second loses digits where s_c is many standard deviations from the mean; then the sum is taken once more about the
means just found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import like, namespace
from learnt.engine.kernel import kernel
from learnt.engine.rows import Block, Rows

# Below this many cells plain NumPy is done before compiled code is even loaded from disk.
COMPILED_CELLS = 1 << 20
# (mean − shift)² against the variance: at this ratio the variance is still right to about 11 digits.
_FAR = 1e4


class Moments(NamedTuple):
    """Of each class: total weight (K), mean (K × d), sum of squared deviations from the mean (K × d)."""

    count: Any
    mean: Any
    ssd: Any


def class_moments(rows: Rows, classes: Any, n_classes: int, *, compiled: bool) -> Moments:
    """The moments of each class; y holds codes 0…K−1 where `classes` is None, labels otherwise."""
    statistic = compiled_sums if compiled else class_sums
    shift = _provisional_means(rows, classes, n_classes)
    moments, far = _about(rows.sum(statistic, classes, shift), shift)
    if far:
        moments, _ = _about(rows.sum(statistic, classes, moments.mean), moments.mean)
    return moments


def merge(a: Moments, b: Moments) -> Moments:
    """The moments of two sets of rows together (Chan, Golub and LeVeque 1979)."""
    count = a.count + b.count
    share = (b.count / _at_least_one(count))[:, None]
    delta = b.mean - a.mean
    return Moments(count, a.mean + share * delta, a.ssd + b.ssd + delta**2 * share * a.count[:, None])


def total_variance(moments: Moments) -> Any:
    """Variance of each feature over all rows, whatever their class: within plus between."""
    xp = namespace(moments.mean)
    n = _at_least_one(xp.sum(moments.count))
    weight = moments.count[:, None]
    centre = xp.sum(weight * moments.mean, axis=0) / n
    return (xp.sum(moments.ssd, axis=0) + xp.sum(weight * (moments.mean - centre) ** 2, axis=0)) / n


def class_sums(block: Block, classes: Any, shift: Any) -> tuple:
    """Σw, Σwz and Σwz² by class, in any array library: three products with the class indicators."""
    xp = namespace(block.X)
    codes = codes_of(block.y, classes)
    Z = block.X - xp.take(shift, codes, axis=0)  # float64, as the shift is
    labels = like(np.arange(shift.shape[0]), codes)
    member = like(codes[:, None] == labels[None, :], Z)
    if block.w is not None:
        member = member * block.w[:, None]
    return xp.sum(member, axis=0), member.T @ Z, member.T @ (Z * Z)


def compiled_sums(block: Block, classes: Any, shift: np.ndarray) -> tuple:
    """The same sums in one walk over a NumPy block."""
    n_classes, n_features = shift.shape
    sums = np.zeros(n_classes), np.zeros((n_classes, n_features)), np.zeros((n_classes, n_features))
    weights = np.empty(0) if block.w is None else np.ascontiguousarray(block.w, dtype=np.float64)
    codes = np.ascontiguousarray(codes_of(block.y, classes), dtype=np.int64)
    add_class_sums(kernel_matrix(block.X), codes, weights, shift, *sums)
    return sums


@kernel
def add_class_sums(X, codes, weights, shift, count, sums, squares):
    n_features = X.shape[1]
    for i in range(X.shape[0]):
        k = codes[i]
        w = weights[i] if weights.size > 0 else 1.0
        count[k] += w
        for j in range(n_features):
            z = X[i, j] - shift[k, j]
            sums[k, j] += w * z
            squares[k, j] += w * z * z


def kernel_matrix(X: np.ndarray) -> np.ndarray:
    """A block as kernels take it; read-only or column-major blocks are copied, so that they need no machine code."""
    if type(X) is np.ndarray and X.flags.c_contiguous and X.flags.writeable:
        return X
    return np.array(X, order="C", subok=False)


def codes_of(y: Any, classes: Any) -> Any:
    """Labels as positions in the sorted `classes`; None says that they are positions already."""
    return y if classes is None else np.searchsorted(classes, y)


def _provisional_means(rows: Rows, classes: Any, n_classes: int) -> Any:
    """Class means of the first rows, and the mean of them all for the classes that are not among them."""
    head = rows.head(256)
    overall = rows.first_mean()
    shift = like(np.zeros((n_classes, 1)), overall) + overall
    count, sums, _ = class_sums(head, classes, shift)
    return shift + sums / _at_least_one(count)[:, None]


def _about(sums: tuple, shift: Any) -> tuple[Moments, bool]:
    """Moments from sums about `shift`, and whether that was too far from the means."""
    count, first, second = sums
    xp = namespace(first)
    weight = count[:, None]
    off = first / _at_least_one(count)[:, None]
    moved = weight * off**2
    ssd = second - moved
    ssd = xp.where(ssd > 0, ssd, xp.zeros_like(ssd))
    far = bool(xp.any(moved > _FAR * ssd))
    return Moments(count, shift + off, ssd), far


def _at_least_one(count: Any) -> Any:
    """Counts to divide by: 1 in place of 0."""
    xp = namespace(count)
    return xp.where(count > 0, count, xp.ones_like(count))
