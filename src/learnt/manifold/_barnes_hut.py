"""Sums over all pairs of points on a plane or in space, far points taken together (Barnes and Hut, 1986).

Points are sorted along a Z-shaped curve, so that each cell of a quadtree or octree is a range of them. Cells lie in one
array, each before those inside it, and `after` leads past them. The points of a leaf walk the tree together: what
is far enough from all of them is one entry of a list, and each point then sums over that list without a branch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel

LEAF = 16  # points of a leaf, at most
_BITS = 60  # of a place on the curve


class Cells(NamedTuple):
    """Cells in preorder: cell i holds the points first[i]…last[i]−1, those inside it are i+1…after[i]−1."""

    first: np.ndarray
    last: np.ndarray
    after: np.ndarray
    center: np.ndarray  # mean of the points
    low: np.ndarray  # their box
    high: np.ndarray
    width: np.ndarray  # square of its longest side


class Tree(NamedTuple):
    """Points in order of the curve, one row for each coordinate, and the cells over them."""

    order: np.ndarray
    points: np.ndarray
    cells: Cells
    leaves: np.ndarray


@kernel
def curve_places(Y, low, scale, bits, codes):
    """The place of each point on the curve: the bits of its coordinates, interleaved."""
    d = Y.shape[1]
    most = (1 << bits) - 1
    for i in range(Y.shape[0]):
        code = 0
        for j in range(d):
            cell = min(int((Y[i, j] - low[j]) * scale), most)
            for b in range(bits):
                code |= ((cell >> b) & 1) << (b * d + j)
        codes[i] = code


@kernel
def build_cells(points, codes, leaf, head, cells):
    """Fill the cells over points in order of their codes; how many there are."""
    d, n = points.shape
    waiting = np.empty((1024, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, n
    top, m = 1, 0
    while top > 0:
        top -= 1
        lo, hi = waiting[top, 0], waiting[top, 1]
        cells.first[m], cells.last[m] = lo, hi
        m += 1
        differ = codes[lo] ^ codes[hi - 1]
        if hi - lo <= leaf or differ == 0:
            continue
        shift = 0
        while (differ >> (shift + d)) != 0:
            shift += d
        end = hi
        for i in range(hi - 1, lo - 1, -1):  # the first part ends on top
            if i == lo or (codes[i - 1] >> shift) != (codes[i] >> shift):
                waiting[top, 0], waiting[top, 1] = i, end
                top += 1
                end = i
    head[n] = m
    for i in range(m - 1, -1, -1):  # from the leaves up
        lo, hi = cells.first[i], cells.last[i]
        cells.after[i] = head[hi]
        head[lo] = i
        width = 0.0
        for j in range(d):
            total, least, most = 0.0, np.inf, -np.inf
            if cells.after[i] == i + 1:
                for p in range(lo, hi):
                    total += points[j, p]
                    least = min(least, points[j, p])
                    most = max(most, points[j, p])
            else:
                c = i + 1
                while c < cells.after[i]:
                    total += cells.center[c, j] * (cells.last[c] - cells.first[c])
                    least = min(least, cells.low[c, j])
                    most = max(most, cells.high[c, j])
                    c = cells.after[c]
            # A mean outside the box is rounding: equal points have their own place as their mean.
            cells.center[i, j] = min(max(total / (hi - lo), least), most)
            cells.low[i, j], cells.high[i, j] = least, most
            width = max(width, most - least)
        cells.width[i] = width * width
    return m


@kernel
def list_far_and_near(tree, leaf, angle, lists):
    """Cells that look small from all points of a leaf, and single points of the others; how many there are.

    Rows of `lists`: coordinates, then weights. A cell of one place only is always one entry: it is exact.
    """
    cells, points = tree.cells, tree.points
    d = points.shape[0]
    size, i, m = 0, 0, cells.first.shape[0]
    while i < m:
        square = 0.0
        for j in range(d):
            gap = max(cells.low[leaf, j] - cells.center[i, j], cells.center[i, j] - cells.high[leaf, j], 0.0)
            square += gap * gap
        if cells.width[i] == 0.0 or cells.width[i] < angle * angle * square:
            for j in range(d):
                lists[j, size] = cells.center[i, j]
            lists[d, size] = cells.last[i] - cells.first[i]
            size += 1
            i = cells.after[i]
        elif cells.after[i] == i + 1:
            for p in range(cells.first[i], cells.last[i]):
                for j in range(d):
                    lists[j, size] = points[j, p]
                lists[d, size] = 1.0
                size += 1
            i += 1
        else:
            i += 1
    return size


@kernel(reassociate=True)
def repel(tree, angle, lo, hi, force, sums):
    """For points of the leaves lo…hi−1: Σⱼ u (1 + d²/ν)⁻¹ (y − yⱼ), and Σⱼ u over the points of each leaf.

    u = (1 + d²/ν)^(−(ν+1)/2) with ν = 1 on a plane and 2 in space.
    """
    points, cells = tree.points, tree.cells
    d, n = points.shape
    lists = np.empty((d + 1, n + cells.first.shape[0]))
    for index in range(lo, hi):
        leaf = tree.leaves[index]
        size = list_far_and_near(tree, leaf, angle, lists)
        xs, ys, zs, weights = lists[0, :size], lists[1, :size], lists[d - 1, :size], lists[d, :size]
        first, last = cells.first[leaf], cells.last[leaf]
        around = 0.0
        for p in range(first, last):
            x, y, total, fx, fy = points[0, p], points[1, p], 0.0, 0.0, 0.0
            if d == 2:
                for k in range(size):
                    dx, dy = x - xs[k], y - ys[k]
                    u = 1.0 / (1.0 + dx * dx + dy * dy)
                    w = weights[k] * u
                    total += w
                    w *= u
                    fx += w * dx
                    fy += w * dy
            else:
                z, fz = points[2, p], 0.0
                for k in range(size):
                    dx, dy, dz = x - xs[k], y - ys[k], z - zs[k]
                    base = 1.0 / (1.0 + 0.5 * (dx * dx + dy * dy + dz * dz))
                    w = weights[k] * base * np.sqrt(base)
                    total += w
                    w *= base
                    fx += w * dx
                    fy += w * dy
                    fz += w * dz
                force[2, p] = fz
            force[0, p], force[1, p] = fx, fy
            around += total - 1.0  # without the point itself
        sums[index] = around


def grow(Y: np.ndarray) -> Tree:
    """The tree over points on a plane or in space, one a row.

    >>> tree = grow(np.array([[0.0, 0.0], [5.0, 5.0], [0.1, 0.0]]))
    >>> tree.order.tolist(), tree.cells.center[0].round(2).tolist()
    ([0, 2, 1], [1.7, 1.67])
    """
    n, d = Y.shape
    bits = _BITS // d
    low, span = Y.min(axis=0), float(np.ptp(Y, axis=0).max())
    codes = np.zeros(n, dtype=np.int64)
    if span > 0:
        curve_places(Y, low, (1 << bits) / span, bits, codes)
    order = np.argsort(codes, kind="stable")
    points = np.ascontiguousarray(Y[order].T)
    most = 2 * n
    first, last, after = (np.empty(most, dtype=np.int64) for _ in range(3))
    center, box_low, box_high = (np.empty((most, d)) for _ in range(3))
    cells = Cells(first, last, after, center, box_low, box_high, np.empty(most))
    m = build_cells(points, codes[order], LEAF, np.empty(n + 1, dtype=np.int64), cells)
    cells = Cells._make(part[:m] for part in cells)
    return Tree(order, points, cells, np.flatnonzero(cells.after == np.arange(1, m + 1)))
