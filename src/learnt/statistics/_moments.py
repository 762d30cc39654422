"""The passes over the rows: sums about a point near the mean give the moments,

    W = Σw,   off = Σwz / W,   mean = point + off,   S = Σwzzᵀ − W off offᵀ,      z = x − point

The last difference loses digits where `off` is many standard deviations long. Then the sums are computed again, about
the mean just found.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import namespace
from learnt.engine.kernel import compilation_enabled
from learnt.engine.matrices import Route, diagonals
from learnt.engine.rows import ArrayRows, Rows
from learnt.engine.rows.blocks import COMPILED_CELLS, Block
from learnt.engine.rows.seen_rows import MappedRows
from learnt.linalg.gram import by_tiles, gram
from learnt.linalg.scatter import worth_compiling
from learnt.statistics._dense import compiled_sums, dense_sums, takes_compiled
from learnt.statistics._far_columns import with_far_columns
from learnt.statistics._grouped import class_sums, share_sums
from learnt.statistics._groups import Groups, as_groups
from learnt.statistics._kernels import compiled_class_sums, compiled_sparse_class_sums
from learnt.statistics._missing import sums_of_present_cells
from learnt.statistics._points import first_point
from learnt.statistics._record import DIAGONAL, FULL, NONE, POOLED, Moments, divisor, products, spread_out
from learnt.statistics._sparse import sparse_group_sums, sparse_sums

_HEAD = 256
_COMPILED_ENTRIES = 1 << 18  # from here on sums by class are compiled
PASSES = 4  # at most: squares that overflow never satisfy anyone
_FAR = 1e3  # off² against the variance: at this ratio the variance is still right to about 12 digits
# By rounding, a constant column may differ from its mean by about the square root of this share of it.
_ROUNDING = 1e-24


class Plan(NamedTuple):
    """What is summed in each block."""

    scatter: str
    groups: Groups | None = None
    missing: bool = False
    compiled: bool = False


def moments(
    rows: Rows,
    by: Any = None,
    *,
    scatter: str = DIAGONAL,
    about: Any = "first rows",
    missing: bool = False,
    shared_scale: bool = False,
) -> Moments:
    """Weight, mean and scatter of the rows, or of each group of them.

    by            None: all rows together. A `Groups`: `classes_in_y(n)`, `labels_in_y(labels)`, or any pure function of
                  blocks that gives classes or shares (responsibilities). An array: one class a row, or rows × shares.
    scatter       "none", "diagonal" (of each column), "full" (d × d), or, for groups, "pooled": the sum over the groups
                  of the d × d scatter about their own means, without a matrix for each.
    about         the point that sums are taken about at first, (d,) or (K, d) for groups, None for 0. The better it is,
                  the better: the means of the last iteration, say. One point for all groups is faster for the
                  diagonal of shares. A float32 point has float32 rows multiplied in float32.
    missing       leave NaN out, column by column: weights are (d,) then; for "diagonal" without groups.
    shared_scale  columns are in one unit, so that digits count against the total variance and not each column's own.

    A cell that is not finite, or whose square is not, makes the moments not finite; it is not checked here.

    >>> from learnt.engine.rows import as_rows
    >>> moments(as_rows(np.array([[1.0], [3.0], [8.0]])), np.array([0, 0, 1]))
    Moments(weight=array([2., 1.]), mean=array([[2.],
           [8.]]), scatter=array([[2.],
           [0.]]), kind='diagonal')
    """
    groups = as_groups(by)
    plan = Plan(scatter, groups, missing)
    _check(plan)
    plan = plan._replace(compiled=_worth_compiling(rows, plan))
    with np.errstate(all="ignore"):  # what is not finite shows in the moments
        return _passes(_few_parts(rows, plan), plan, about, shared_scale)


def _passes(rows: Rows, plan: Plan, about: Any, shared_scale: bool) -> Moments:
    head = rows.head(_HEAD)
    point = _start(head, plan) if isinstance(about, str) else about
    for _ in range(PASSES):
        found, off = about_means(_sums(rows, plan, point), point, plan)
        far = far_columns(found, off, shared_scale)
        if far is None:
            return found
        if sparse.issparse(head.X) and plan.scatter in (FULL, POOLED):
            return with_far_columns(rows, plan.groups, found, far)
        point = found.mean
    return found


def column_sums(rows: Rows, by: Any = None) -> tuple[Any, Any]:
    """Σw and Σwx, of all rows or of each group: not shifted, so that counts stay integers."""
    groups = as_groups(by)
    compiled = False
    if groups is not None and _stored_cells(rows) >= _COMPILED_ENTRIES and compilation_enabled():
        rows, compiled = _larger_blocks(rows, groups.n), True
    plan = Plan(NONE, groups, compiled=compiled)
    weight, first = rows.sum(block_sums, plan, None)
    return (float(weight) if plan.groups is None else weight), first


def _stored_cells(rows: Rows) -> float:
    """How many entries NumPy's or SciPy's rows in memory have; those of other rows in memory are none of ours."""
    under = rows.rows if isinstance(rows, MappedRows) else rows
    if not under.in_memory:
        return np.inf
    return under.n_stored if under.on_host else 0


def _larger_blocks(rows: Rows, n_groups: int) -> Rows:
    """Rows in blocks with more entries than a block's sums have numbers, which are added up for each."""
    under = rows.rows if isinstance(rows, MappedRows) else rows
    if not isinstance(under, ArrayRows):
        return rows
    under = copy(under)
    entries = _stored_cells(rows) / max(under.n_rows, 1)
    wanted = int(4 * n_groups * rows.n_features / max(entries, 1))
    under.block_size = max(under.block_size, min(wanted, -(-under.n_rows // 4)))
    return rows.over(under) if isinstance(rows, MappedRows) else under


def block_sums(block: Block, plan: Plan, point: Any) -> tuple:
    """Σw, Σwz and, if asked, Σwz² or Σwzzᵀ of one block, z = x − point."""
    scatter, groups, missing, compiled = plan
    with np.errstate(all="ignore"):  # what is not finite shows in the sums
        if missing:
            return sums_of_present_cells(block, point)
        if groups is None:
            if compiled and takes_compiled(block):
                return compiled_sums(block, point)
            return (sparse_sums if sparse.issparse(block.X) else dense_sums)(block, point, scatter)
        member = groups(block)
        if sparse.issparse(block.X):
            if compiled and scatter == NONE and point is None and member.ndim == 1:
                return compiled_sparse_class_sums(block, member, groups.n)
            return sparse_group_sums(block, member, groups.n, point, scatter)
        if member.ndim == 2:
            return share_sums(block, member, point, scatter)
        if compiled and point is not None and point.ndim == 2:
            return compiled_class_sums(block, member, point)
        if compiled and scatter == NONE and point is None and block.X.dtype in (np.float64, np.float32):
            return compiled_class_sums(block, member, np.zeros((groups.n, block.X.shape[1])))[:2]
        return class_sums(block, member, groups.n, point, scatter)


def _check(plan: Plan) -> None:
    if plan.scatter not in (NONE, DIAGONAL, FULL, POOLED):
        raise ValueError(f"scatter must be 'none', 'diagonal', 'full' or 'pooled'; it is {plan.scatter!r}.")
    if plan.scatter == POOLED and plan.groups is None:
        raise ValueError("scatter='pooled' is a sum over groups; give them in `by`, or ask for 'full'.")
    if plan.missing and (plan.groups is not None or plan.scatter != DIAGONAL):
        raise ValueError("missing=True leaves cells out column by column; ask for scatter='diagonal' without groups.")


def _worth_compiling(rows: Rows, plan: Plan) -> bool:
    """Whether compiled code pays: enough cells, or an unknown number of them, and a compiler."""
    if plan.groups is None:
        n_rows = rows.n_rows if rows.in_memory else np.inf
        return (
            plan.scatter == FULL
            and rows.route in (Route.DENSE, Route.BLOCKS)
            and worth_compiling(n_rows, rows.n_features)
        )
    if plan.scatter != DIAGONAL:
        return False
    if rows.in_memory and (rows.route is not Route.DENSE or rows.n_stored < COMPILED_CELLS):
        return False
    return compilation_enabled()  # tested last, since it imports Numba


def _start(head: Block, plan: Plan) -> Any:
    """The mean of the first rows; of each group where groups have points of their own, if it is among them."""
    point = first_point(head, plan.missing)
    groups = plan.groups
    if point is None or groups is None:
        return point
    member = groups(head)
    if member.ndim == 2 and plan.scatter in (NONE, DIAGONAL):
        return point  # one product for all groups
    weight, first = block_sums(head, Plan(NONE, groups), point)
    return point + first / divisor(weight)[:, None]


def _few_parts(rows: Rows, plan: Plan) -> Rows:
    """Rows whose partial sums, a matrix for each group, do not outweigh the data themselves."""
    if plan.scatter != FULL or plan.groups is None or not isinstance(rows, ArrayRows):
        return rows
    rows = copy(rows)
    rows.part_columns = rows.n_features * plan.groups.n
    return rows


def _sums(rows: Rows, plan: Plan, point: Any) -> tuple:
    if plan.scatter == FULL and plan.groups is None and point is None and by_tiles(rows):
        return rows.n_rows, rows.sum(block_sums, Plan(NONE), None)[1], gram(rows.X.T)
    return rows.sum(block_sums, plan, point)


def about_means(sums: tuple, point: Any, plan: Plan) -> tuple[Moments, Any]:
    """The moments from sums about `point`, and how far from it the means are."""
    weight, first, *second = sums
    if plan.groups is None and not plan.missing:
        weight = float(weight)
    off = first / spread_out(divisor(weight), first)
    mean = off if point is None else point + off
    if plan.scatter == NONE:
        return Moments(weight, mean), off
    S = second[0]
    S -= products(off, 1.0, weight, plan.scatter)
    if plan.scatter == DIAGONAL:
        xp = namespace(S)
        S = xp.where(S < 0, xp.zeros_like(S), S)
    return Moments(weight, mean, S, plan.scatter), off


def far_columns(found: Moments, off: Any, shared_scale: bool) -> Any:
    """Which columns lost digits, (d,) or (K, d); None if none did."""
    if found.kind == NONE:
        return None
    xp = namespace(off)
    spread = found.scatter if found.kind == DIAGONAL else diagonals(found.scatter)
    moved = _squares(off, found, xp)
    if shared_scale:
        moved, spread = xp.sum(moved, axis=-1), xp.sum(spread, axis=-1)
    far = moved > _FAR * spread
    if not xp.any(far):
        return None
    size = _squares(found.mean, found, xp)
    far = far & (moved > _ROUNDING * (xp.sum(size, axis=-1) if shared_scale else size))
    if not xp.any(far):
        return None
    return far_columns(found, off, False) if shared_scale else far


def _squares(values: Any, found: Moments, xp: Any) -> Any:
    """W · values², summed over the groups if the scatter is."""
    squares = spread_out(found.weight, values) * values**2
    return xp.sum(squares, axis=0) if found.kind == POOLED else squares
