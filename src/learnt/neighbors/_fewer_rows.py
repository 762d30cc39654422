"""Which rows a nearest-neighbour classifier can do without."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay

from learnt.distances import Search, square_distances
from learnt.engine.kernel import kernel
from learnt.engine.rows.equal_rows import first_of_equal_rows
from learnt.engine.threads import for_blocks
from learnt.linalg.spectrum import rounding

_ROWS = 16  # of a task


def condensed(search: Search, codes: np.ndarray) -> np.ndarray:
    """Hart's rule: the rows that are missed by the rows memorised before them, until none is missed.

    The nearest memorised row of every row is updated, so that a pass costs one search for each new row.
    """
    n = codes.size
    best, owner = np.full(n, np.inf), np.full(n, n)
    kept = np.zeros(n, dtype=bool)

    def memorise(row: int) -> None:
        kept[row] = True
        distances = search.within(search.points[row : row + 1], np.inf).distances
        nearer = (distances < best) | ((distances == best) & (row < owner))
        best[nearer], owner[nearer] = distances[nearer], row

    for row in np.sort(np.unique(codes, return_index=True)[1]):
        memorise(int(row))
    while True:
        before = kept.sum()
        row = -1
        while True:
            missed = np.flatnonzero((codes[owner] != codes) & ~kept)
            missed = missed[missed > row]
            if not missed.size:
                break
            row = int(missed[0])
            memorise(row)
        if kept.sum() == before:
            return np.flatnonzero(kept)


def voronoi_edited(X: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, str]:
    """The rows that have a Voronoi neighbour of another class, and the graph of Voronoi neighbours.

    Exact where the rows span at most three dimensions; above, neighbours are those of the Gabriel graph, which is part
    of Voronoi's, so that more rows may be dropped and the boundary may move a little. Of equal rows the first counts.
    """
    first = np.flatnonzero(first_of_equal_rows(X))
    points, labels = X[first].astype(np.float64), codes[first]
    if np.unique(labels).size == 1:
        return first[:1], "voronoi"
    flat = _in_their_span(points)
    if flat.shape[1] > 3:
        return first[_near_another_class(flat, labels)], "gabriel"
    pairs = _voronoi_pairs(flat)
    other = labels[pairs[:, 0]] != labels[pairs[:, 1]]
    return first[np.unique(pairs[other])], "voronoi"


def _in_their_span(points: np.ndarray) -> np.ndarray:
    """Coordinates within the affine hull of the points, of ordinary size: constant and dependent columns are dropped.

    Which cells touch does not depend on the unit; squares do, and Qhull ends the process where they are not finite.
    """
    centred = points / np.abs(points).max(initial=np.finfo(float).tiny)
    centred -= centred.mean(axis=0)
    size = float(np.abs(centred).max(initial=0.0))
    centred /= size if size > 0 else 1.0
    _, lengths, axes = np.linalg.svd(centred, full_matrices=False)
    rank = int(np.sum(lengths > lengths[0] * rounding(points.shape[1])))
    return centred if rank == points.shape[1] else centred @ axes[:rank].T


def _voronoi_pairs(points: np.ndarray) -> np.ndarray:
    """Pairs of points whose Voronoi cells touch: the edges of Delaunay's triangulation."""
    n, d = points.shape
    if d == 1:
        order = np.argsort(points[:, 0], kind="stable")
        return np.column_stack([order[:-1], order[1:]])
    if n <= d + 1:  # a simplex: all touch
        return np.column_stack(np.triu_indices(n, 1))
    corners = Delaunay(points).simplices
    columns = [(i, j) for i in range(d + 1) for j in range(i)]
    return np.unique(np.sort(np.concatenate([corners[:, pair] for pair in columns]), axis=1), axis=0)


def _near_another_class(points: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The points that have a neighbour of another class in the Gabriel graph."""
    found = np.zeros(codes.size, dtype=bool)

    def one(lo: int, hi: int) -> None:
        squares = np.ascontiguousarray(square_distances(points[lo:hi, None], points[None]))
        _has_opposite(points, codes, lo, squares, np.argsort(squares, axis=1, kind="stable"), found)

    for_blocks(one, codes.size, grain=_ROWS)
    return np.flatnonzero(found)


@kernel
def _has_opposite(points, codes, lo, squares, order, found):
    """found[i]: some j of another class has no k inside the ball on ij, ‖i − k‖² + ‖j − k‖² < ‖i − j‖².

    Such a k is nearer to i than j is, so that only those before j in order of distance are tested.
    """
    n, d = points.shape
    for q in range(squares.shape[0]):
        i = lo + q
        for at in range(1, n):
            j = order[q, at]
            if codes[j] == codes[i] or j == i:
                continue
            empty = True
            for before in range(at):
                k = order[q, before]
                if k == i:
                    continue
                apart = 0.0
                for c in range(d):
                    apart += (points[j, c] - points[k, c]) ** 2
                if squares[q, k] + apart < squares[q, j]:
                    empty = False
                    break
            if empty:
                found[i] = True
                break
