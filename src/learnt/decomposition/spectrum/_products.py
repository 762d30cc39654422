"""Products of the centred data with thin matrices, and of its columns: sums over rows that need no centred copy."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from learnt.decomposition.spectrum._centre import Centre, single
from learnt.engine.arrays import namespace
from learnt.engine.matrices import Route, route
from learnt.engine.rows import ArrayRows, Block, Rows, Statistic, blocks
from learnt.engine.rows.blocks import widen
from learnt.engine.threads import run_tasks

# Partial sums that may exist at once, by number and by size.
_LANES, _LANE_BYTES = 32, 1 << 27


def sum_thin(rows: Rows, statistic: Statistic, *state: Any, part_bytes: int) -> tuple:
    """`rows.sum` for a statistic much smaller than d × d: more of them may exist at once, so more threads can help."""
    if not (isinstance(rows, ArrayRows) and rows.on_host):
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


def about(block: Block, point: Any) -> Any:
    """The rows of a block about a point; sparse ones as they are, without centring; those on a device in float64.

    A device's blocks are large: float32 would lose digits in their sums.
    """
    X = widen(block.X) if route(block.X) is Route.DEVICE else block.X
    return X if point is None or sparse.issparse(X) else X - point


def scatter_times(block: Block, point: Any, Q: Any) -> tuple:
    """Σ zᵀQ and Σ (zᵀQ)ᵀ zᵀ, z = x − point: each block is read once, and the sum is as long as its rows."""
    Z = about(block, point)
    Y = Z @ Q
    return namespace(Y).sum(Y, axis=0), Y.T @ Z


def scatter_product(rows: Rows, middle: Centre, point: Any, Q: Any) -> Any:
    """S Q for the scatter S about the mean, from sums about `point`."""
    part_bytes = 8 * rows.n_features * Q.shape[1]
    sums, image = sum_thin(rows, scatter_times, single(point, rows), single(Q, rows), part_bytes=part_bytes)
    off = middle.mean if point is None else middle.mean - point
    return image.T - off[:, None] * sums[None, :]


def scatter_inside_of(block: Block, point: Any, Q: Any) -> tuple:
    """Σ zᵀQ and Σ (zᵀQ)ᵀ(zᵀQ), z = x − point."""
    Z = about(block, point)
    Y = Z @ Q
    return namespace(Y).sum(Y, axis=0), Y.T @ Y


def scatter_inside(rows: Rows, middle: Centre, point: Any, Q: Any) -> Any:
    """QᵀSQ for the scatter S about the mean: half the work of SQ."""
    part_bytes = 8 * Q.shape[1] ** 2
    sums, inside = sum_thin(rows, scatter_inside_of, single(point, rows), single(Q, rows), part_bytes=part_bytes)
    off = middle.mean if point is None else middle.mean - point
    return inside - (Q.T @ off)[:, None] * sums[None, :]


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
    return block.X @ U - m * namespace(U).sum(U, axis=0)[None, :]
