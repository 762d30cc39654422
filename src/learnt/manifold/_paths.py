"""Shortest paths between all nodes of a graph of neighbours, and edges that join its pieces."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks

_GRAIN = 32  # sources of a task


@kernel
def paths_from(starts, indices, lengths, lo, hi, D):
    """Lengths of the shortest paths from the nodes lo…hi−1 to all (Dijkstra), by a heap of nodes that knows places."""
    n = starts.shape[0] - 1
    heap, place = np.empty(n, np.int64), np.empty(n, np.int64)
    for source in range(lo, hi):
        length = D[source - lo]
        length[:] = np.inf
        place[:] = -1
        length[source], heap[0], place[source] = 0.0, source, 0
        size = 1
        while size > 0:
            node = heap[0]
            size -= 1
            last = heap[size]
            i = 0
            while 2 * i + 1 < size:  # the last goes down from the top
                child = 2 * i + 1
                if child + 1 < size and length[heap[child + 1]] < length[heap[child]]:
                    child += 1
                if length[last] <= length[heap[child]]:
                    break
                heap[i] = heap[child]
                place[heap[i]] = i
                i = child
            heap[i] = last
            place[last] = i
            for e in range(starts[node], starts[node + 1]):
                other, through = indices[e], length[node] + lengths[e]
                if through < length[other]:
                    length[other] = through
                    i = place[other]
                    if i < 0:
                        i = size
                        size += 1
                    while i > 0 and through < length[heap[(i - 1) // 2]]:
                        heap[i] = heap[(i - 1) // 2]
                        place[heap[i]] = i
                        i = (i - 1) // 2
                    heap[i] = other
                    place[other] = i


def undirected(graph: Any) -> sparse.csr_array:
    """Each edge in both directions; an edge that is given in both stands twice in each row."""
    edges = sparse.coo_array(graph)
    rows, columns = np.concatenate([edges.row, edges.col]), np.concatenate([edges.col, edges.row])
    order = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=graph.shape[0]))])
    both = np.concatenate([edges.data, edges.data])[order].astype(np.float64)
    return sparse.csr_array((both, columns[order].astype(np.int64), starts.astype(np.int64)), shape=graph.shape)


def shortest_paths(graph: Any, method: str, n_jobs: int | None = None) -> np.ndarray:
    """Lengths of the shortest paths between all nodes, in either direction of an edge.

    `method`: "FW" for Floyd and Warshall's algorithm, which takes time n³, anything else for Dijkstra's.

    >>> shortest_paths(sparse.csr_array([[0, 2.0, 9.0], [0, 0, 3.0], [0, 0, 0]]), "D")[0].tolist()
    [0.0, 2.0, 5.0]
    """
    if method == "FW":
        return csgraph.shortest_path(graph, method="FW", directed=False)
    edges = undirected(graph)
    n = graph.shape[0]
    D = np.empty((n, n))
    arrays = edges.indptr, edges.indices, edges.data
    arrays = (arrays[0].astype(np.int64), arrays[1].astype(np.int64), arrays[2])
    for_blocks(lambda lo, hi: paths_from(*arrays, lo, hi, D[lo:hi]), n, grain=_GRAIN, n_jobs=n_jobs)
    return D


def joined_pieces(
    graph: Any, nearest: Callable[[np.ndarray, np.ndarray], Any] | None, name: str, stacklevel: int
) -> Any:
    """The graph with an edge between the nearest nodes of each two of its pieces, and a warning where it has several.

    `nearest(a, b)` gives the distance of each node of a to its nearest of b, and its place in b; None where only a
    graph is known, and pieces are an error.
    """
    pieces, labels = csgraph.connected_components(graph, directed=False)
    if pieces == 1:
        return graph
    what = f"The number of connected components of the neighbors graph is {pieces} > 1"
    if nearest is None:
        raise RuntimeError(
            f"{what}. {name} cannot join them by metric='precomputed' from a sparse graph; give more neighbours, "
            "or all distances in a dense matrix."
        )
    warnings.warn(
        f"{what}. {name} joins them by their nearest rows; more neighbours would connect the rows themselves.",
        UserWarning,
        stacklevel=stacklevel,
    )
    members = [np.flatnonzero(labels == piece) for piece in range(pieces)]
    ends, lengths = [], []
    for i in range(pieces):
        for j in range(i):
            distances, index = nearest(members[i], members[j])
            a = int(np.argmin(distances))
            ends.append((members[i][a], members[j][index[a]]))
            lengths.append(float(distances[a]))
    edges, (rows, columns) = sparse.coo_array(graph), np.array(ends).T
    return sparse.csr_array(
        (
            np.concatenate([edges.data, lengths]),
            (np.concatenate([edges.row, rows]), np.concatenate([edges.col, columns])),
        ),
        shape=graph.shape,
    )
