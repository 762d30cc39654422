"""The nodes of a tree as arrays that can be read, and which of them a query has to open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from learnt.distances.trees._index import TreeIndex
from learnt.distances.trees._metric import MetricTree

_CELLS = 1 << 20  # differences that are held at once


class TreeNodes(NamedTuple):
    """Nodes from the root on: the points of node i are `order[starts[i, 0]:starts[i, 1]]`.

    `corners` has the lower and upper corner of each box, or the centre of each ball alone, whose radius is in `radii`;
    that of a box is half its diagonal. `parents[0]` is 0.
    """

    order: np.ndarray
    starts: np.ndarray
    is_leaf: np.ndarray
    parents: np.ndarray
    radii: np.ndarray
    corners: np.ndarray


class Visits(NamedTuple):
    """What queries look at: distances to points, nodes left shut below open ones, open leaves and open inner nodes."""

    distances: int = 0
    trims: int = 0
    leaves: int = 0
    splits: int = 0

    def with_more(self, other: Visits) -> Visits:
        """The sums of both."""
        return Visits(*(a + b for a, b in zip(self, other, strict=True)))


def tree_nodes(search: Any) -> TreeNodes:
    """The nodes of a search by algorithm="kd_tree" or "ball_tree"."""
    index = search._index
    return _of_metric(index) if isinstance(index, MetricTree) else _of_powers(index)


def visits(search: Any, Q: np.ndarray, radii: np.ndarray) -> Visits:
    """What such a search must open at least to be sure of all points within `radii[i]` of query i."""
    index, nodes, total = search._index, tree_nodes(search), Visits()
    step = max(1, _CELLS // max(1, nodes.starts.shape[0] * Q.shape[1]))
    sizes = nodes.starts[:, 1] - nodes.starts[:, 0]
    for lo in range(0, Q.shape[0], step):
        part = np.asarray(Q[lo : lo + step], dtype=np.float64)
        shut = _least(index, nodes, part) > radii[lo : lo + step, None]
        for node, parent in enumerate(nodes.parents):  # a ball may reach out of that of its parent
            shut[:, node] |= shut[:, parent]
        leaves = ~shut & nodes.is_leaf
        total = total.with_more(
            Visits(
                distances=int(leaves.sum(axis=0) @ sizes),
                trims=int((shut[:, 1:] & ~shut[:, nodes.parents[1:]]).sum()),
                leaves=int(leaves.sum()),
                splits=int((~shut & ~nodes.is_leaf).sum()),
            )
        )
    return total


def _least(index: TreeIndex | MetricTree, nodes: TreeNodes, Q: np.ndarray) -> np.ndarray:
    """How near the points of each node may be to each query (queries × nodes)."""
    if isinstance(index, MetricTree):
        return index.distances(Q, nodes.corners[0]) - nodes.radii
    if len(nodes.corners) == 2:
        low, high = nodes.corners
        near = _length(np.maximum(np.maximum(low - Q[:, None], Q[:, None] - high), 0.0), index.tree.p)
    else:
        near = np.maximum(_length(nodes.corners[0] - Q[:, None], index.tree.p) - nodes.radii, 0.0)
    return near**2 if index.metric == "sqeuclidean" else near


def _length(differences: np.ndarray, p: float) -> np.ndarray:
    return np.linalg.norm(differences, ord=p, axis=-1)


def _of_powers(index: TreeIndex) -> TreeNodes:
    tree, n = index.tree, index.tree.starts.shape[0]
    boxes = tree.radii.size == 0
    corners = np.ascontiguousarray(tree.nodes.transpose(1, 0, 2) if boxes else tree.nodes[None, :, 0])
    radii = 0.5 * _length(corners[1] - corners[0], tree.p) if boxes else tree.radii.copy()
    numbers = np.arange(n)
    return TreeNodes(tree.order, tree.starts, 2 * numbers + 2 >= n, np.maximum(numbers - 1, 0) // 2, radii, corners)


def _of_metric(index: MetricTree) -> TreeNodes:
    found = list(_balls(index.root, 0, 0, [0]))
    starts, is_leaf, parents, radii, centers, points = zip(*found, strict=True)
    order = np.concatenate([own for own, leaf in zip(points, is_leaf, strict=True) if leaf])
    corners = np.concatenate(centers)[None]
    return TreeNodes(order, np.array(starts), np.array(is_leaf), np.array(parents), np.array(radii), corners)


def _balls(ball: Any, first: int, parent: int, given: list[int]) -> Iterator[tuple]:
    """Balls from the root on, each before its parts, numbered as they come."""
    number, size = given[0], ball.points.size
    given[0] += 1
    yield (first, first + size), ball.parts is None, parent, ball.radius, ball.center, ball.points
    for part in ball.parts or ():
        yield from _balls(part, first, number, given)
        first += part.points.size
