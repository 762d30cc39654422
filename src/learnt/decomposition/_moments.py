"""The sums over rows that principal components are made of. None needs a centred copy of X.

A sum of squares about a point far from the mean leaves no digits for the differences, so sums are taken about a point
near it, or about 0 where the first rows say that the mean is small against the spread; that is checked afterwards.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine import blocks
from learnt.engine.arrays import is_foreign_array, is_numpy, namespace
from learnt.engine.rows import ArrayRows, Block, Rows, Statistic
from learnt.engine.threads import run_tasks
from learnt.linalg.gram import by_tiles, gram

# Products of float32 blocks are taken in float64 up to about this many operations, where they cost nothing, and in
# float32 beyond; blocks are added in float64 either way.
WIDE_WORK = 1 << 27
# ‖mean − point‖² against the total variance: small enough not to subtract, and too large to trust the sums.
_NEAR, _FAR = 25.0, 1e3
# Partial sums that may exist at once, by number and by size.
_LANES, _LANE_BYTES = 32, 1 << 27


class NotFiniteError(ValueError):
    """A sum came out as NaN or infinite: so is a cell, or its square."""


class Centre(NamedTuple):
    """Number of rows, mean of each column, and the total variance (divisor n − 1)."""

    n: int
    mean: Any
    total: float


def centre(rows: Rows) -> Centre:
    """One pass: n, the mean and the total variance."""
    point = starting_point(rows)
    while True:
        n, first, second = rows.sum(column_sums, point)
        middle, off = _centre(int(n), point, first, second)
        if not _too_far(rows, middle, off):
            return middle
        point = middle.mean


def scatter(rows: Rows) -> tuple[Centre, Any]:
    """One pass: the centre, and S = Σ (x − mean)(x − mean)ᵀ (d × d)."""
    point = starting_point(rows)
    while True:
        if point is None and by_tiles(rows):
            n, first, S = rows.n_rows, rows.sum(_plain_sums)[0], gram(rows.X.T)
        else:
            n, first, S = rows.sum(product_sums, _working(rows, point))
        xp = namespace(first)
        diagonal = np.diagonal(S) if is_numpy(S) else xp.linalg.diagonal(S)
        middle, off = _centre(int(n), point, first, diagonal)
        if not _too_far(rows, middle, off):
            S -= int(n) * off[:, None] * off[None, :]
            return middle, S
        point = middle.mean


def _plain_sums(block: Block) -> tuple:
    with np.errstate(all="ignore"):
        return (column_sum(block.X),)


def starting_point(rows: Rows) -> Any:
    """The point to take sums about: the mean of the first rows, or None for 0."""
    head = rows.head(256).X
    if sparse.issparse(head):
        return None
    with np.errstate(all="ignore"):
        mean = rows.first_mean()
        xp = namespace(mean)
        spread = float(xp.sum((head - mean) ** 2)) / max(head.shape[0], 1)
        near = float(xp.sum(mean * mean)) <= _NEAR * spread
    # In float32 the sums themselves are kept small.
    return None if near and str(rows.dtype).endswith("float64") else mean


def _centre(n: int, point: Any, first: Any, second: Any) -> tuple[Centre, Any]:
    """Centre from Σ(x − point) and Σ(x − point)², and how far it is from the point."""
    off = first / n
    xp = namespace(off)
    with np.errstate(all="ignore"):
        total = float(xp.sum(second)) - n * float(xp.sum(off * off))
    if not math.isfinite(total):
        raise NotFiniteError
    return Centre(n, off if point is None else point + off, max(total, 0.0) / max(n - 1, 1)), off


def _too_far(rows: Rows, middle: Centre, off: Any) -> bool:
    if sparse.issparse(getattr(rows, "X", None)):
        return False
    moved = float(namespace(off).sum(off * off))
    # Rounding alone may set a constant table apart from its mean, by about this much.
    least = 1e-24 * (moved + float(namespace(off).sum(middle.mean * middle.mean)))
    return moved > max(_FAR * middle.total, least)


def _working(rows: Rows, point: Any) -> Any:
    """`point` in the precision that blocks are multiplied in."""
    large = rows.n_rows * rows.n_features**2 > WIDE_WORK
    return single(point, rows) if large else point


def single(A: Any, rows: Rows) -> Any:
    """`A` in float32 where NumPy rows are: products with it then run in float32, and are added in float64."""
    return A.astype(np.float32) if A is not None and is_numpy(A) and str(rows.dtype) == "float32" else A


def sum_thin(rows: Rows, statistic: Statistic, *state: Any, part_bytes: int) -> tuple:
    """`rows.sum` for a statistic much smaller than d × d: more of them may exist at once, so more threads can help."""
    if not isinstance(rows, ArrayRows) or is_foreign_array(rows.X):
        return rows.sum(statistic, *state)
    size, n = rows.block_size, rows.n_rows
    lanes = max(2, min(_LANES, _LANE_BYTES // max(part_bytes, 1)))
    lane = size * -(-n // (size * lanes))

    def sum_lane(start: int) -> tuple | None:
        total = None
        for lo in range(start, min(start + lane, n), size):
            total = blocks.add(total, statistic(rows.block(lo, min(lo + size, n)), *state))
        return total

    total = None
    for part in run_tasks([lambda s=s: sum_lane(s) for s in range(0, n, lane)], n_jobs=rows.n_jobs):  # type: ignore[misc]
        total = blocks.add(total, part)
    return total  # type: ignore[return-value]


def column_sums(block: Block, point: Any) -> tuple:
    """Number of rows, Σz and Σz² of each column, z = x − point."""
    if sparse.issparse(block.X):
        return block.X.shape[0], _flat(block.X.sum(axis=0)), _flat(block.X.multiply(block.X).sum(axis=0))
    with np.errstate(all="ignore"):  # what is not finite shows in the sums
        Z = about(block.X, point)
        squares = np.einsum("ij,ij->j", Z, Z) if is_numpy(Z) else namespace(Z).sum(Z * Z, axis=0)
        return Z.shape[0], column_sum(Z), squares


def product_sums(block: Block, point: Any) -> tuple:
    """Number of rows, Σz and Σzzᵀ, z = x − point."""
    if sparse.issparse(block.X):
        X = block.X.astype(np.float64, copy=False)
        return X.shape[0], _flat(X.sum(axis=0)), (X.T @ X).toarray()
    with np.errstate(all="ignore"):
        Z = about(block.X, point)
        return Z.shape[0], column_sum(Z), Z.T @ Z


def scatter_times(block: Block, point: Any, Q: Any) -> tuple:
    """Σz, Σ zᵀQ and Σ z (zᵀQ), z = x − point: each block is read once."""
    Z = block.X if sparse.issparse(block.X) else about(block.X, point)
    Y = Z @ Q
    if is_numpy(Y):
        return Y.sum(axis=0), Z.T @ Y
    return namespace(Y).sum(Y, axis=0), Z.T @ Y


def scatter_product(rows: Rows, middle: Centre, point: Any, Q: Any) -> Any:
    """S Q for the scatter S about the mean, from sums about `point`."""
    part_bytes = 8 * rows.n_features * Q.shape[1]
    sums, image = sum_thin(rows, scatter_times, single(point, rows), single(Q, rows), part_bytes=part_bytes)
    off = middle.mean if point is None else middle.mean - point
    return image - off[:, None] * sums[None, :]


def column_sum(Z: Any) -> Any:
    """Σ of the rows; as a product where that is the fastest way."""
    return np.ones(Z.shape[0], dtype=Z.dtype) @ Z if is_numpy(Z) else namespace(Z).sum(Z, axis=0)


def about(X: Any, point: Any) -> Any:
    return X if point is None else X - point


def gram_of_columns(block: Block, mean: Any, centred: bool) -> tuple:
    """Rows here are columns x_j of X: Σ z zᵀ and Σ mean_j z (n × n and n), z = x_j − mean_j, or x_j unless centred."""
    m = mean[block.start : block.start + block.X.shape[0]]
    Z = block.X - m[:, None] if centred else block.X
    return Z.T @ Z, Z.T @ m


def columns_times(block: Block, mean: Any, U: Any, centred: bool) -> Any:
    """Rows here are columns of X: (X − mean)ᵀ U, subtracting before the product where `centred`, else after."""
    m = mean[block.start : block.start + block.X.shape[0], None]
    if centred:
        return (block.X - m) @ U
    return block.X @ U - m * column_sum(U)[None, :]


class Triangle:
    """What QR leaves of some rows: RᵀR = ZᵀZ, with at most d rows. Two of them add to that of all rows together."""

    def __init__(self, R: Any) -> None:
        self.R = R

    def __add__(self, other: Triangle) -> Triangle:
        return Triangle(triangular(joined(self.R, other.R, axis=0)))


def joined(a: Any, b: Any, axis: int) -> Any:
    """Two matrices of one library below or beside each other."""
    return np.concatenate([a, b], axis=axis) if is_numpy(a) else namespace(a).concat([a, b], axis=axis)


def triangular(Z: Any) -> Any:
    """R of Z = QR; Z itself while it has no more rows than columns."""
    if Z.shape[0] <= Z.shape[1]:
        return Z
    if is_foreign_array(Z):
        return namespace(Z).linalg.qr(Z, mode="reduced")[1]
    return np.linalg.qr(Z, mode="r")


def triangles(block: Block, mean: Any, Q: Any = None) -> tuple:
    """The triangle of the centred rows, or of their projections on Q."""
    X = block.X
    Z = X - mean if Q is None else (X @ Q - mean @ Q if sparse.issparse(X) else (X - mean) @ Q)
    return (Triangle(triangular(Z)),)


def _flat(x: Any) -> np.ndarray:
    """A sparse sum as a plain vector, whether it came as an array or as a matrix."""
    return np.asarray(x, dtype=np.float64).ravel()
