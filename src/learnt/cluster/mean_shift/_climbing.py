"""Climbing to the peaks of a density: every start moves to the mean of the rows around it, again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from learnt.distances import Search
from learnt.engine.interrupts import check_stopped

Means = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

_STILL = 1e-3  # of the radius: a start that moves less has arrived
_BLOCK = 256  # peaks whose neighbours are searched at once


class Peaks(NamedTuple):
    """Where the starts arrived, the rows around each before its last move, and the most moves before it."""

    places: np.ndarray
    counts: np.ndarray
    n_iter: int


def means_within(points: np.ndarray, radius: float, n_jobs: int | None) -> Means:
    """places → how many points are within the radius of each, and their means.

    Sums are about the mean of all points, so that data far from 0 keep their digits. Trees add whole nodes at once.
    """
    origin = points.mean(axis=0)
    table = points - origin
    search = Search.build(points, algorithm="auto", n_jobs=n_jobs)
    search.expect(points)  # at least: each of the starts asks many times
    sums = search.ball_sums(table)

    def around(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if sums is not None:
            counts, totals = sums.within(places, radius, n_jobs)
        else:
            counts, totals = np.empty(len(places), np.int64), np.empty_like(places)
            for lo, hi, found in search.within_blocks(places, radius, distances=False, n_jobs=n_jobs):
                ones = np.ones(len(found.indices))
                shape = hi - lo, len(points)
                counts[lo:hi] = found.counts
                totals[lo:hi] = sparse.csr_array((ones, found.indices, found.starts), shape=shape) @ table
        return counts, totals / np.maximum(counts, 1)[:, None] + origin

    return around


def climb(means: Means, starts: np.ndarray, radius: float, max_iter: int) -> Peaks:
    """Move every start to the mean of the points around it until it stands still, at most `max_iter` + 1 times.

    Starts that meet go on as one. A start without points around it is left out.
    """
    places, peaks, sizes = np.unique(starts, axis=0), [np.empty((0, starts.shape[1]))], [np.empty(0, np.int64)]
    last_counts, n_iter = np.zeros(len(places), np.int64), 0
    for n_iter in range(max_iter + 1):
        check_stopped()
        counts, moved = means(places)
        # No points around the mean of some: of equal points it may be off by a rounding error. It stays there.
        lost = counts == 0
        moved[lost], counts[lost] = places[lost], last_counts[lost]
        steps = np.sqrt(np.square(moved - places).sum(axis=1))
        going = (steps > _STILL * radius) & (n_iter < max_iter)
        arrived = ~going & (counts > 0)
        peaks.append(moved[arrived])
        sizes.append(counts[arrived])
        if not going.any():
            break
        places, first = np.unique(moved[going], axis=0, return_index=True)
        last_counts = counts[going][first]
    return Peaks(np.concatenate(peaks), np.concatenate(sizes), n_iter)


def separate(peaks: Peaks, radius: float, n_jobs: int | None) -> np.ndarray:
    """The peaks by falling number of points around them, without those within the radius of one before.

    Of equal numbers the peak with the larger coordinates comes first.
    """
    keys = np.column_stack([peaks.counts, peaks.places])
    places = np.unique(keys, axis=0)[::-1, 1:]
    search = Search.build(np.ascontiguousarray(places), n_jobs=n_jobs)
    kept = np.ones(len(places), dtype=bool)
    for lo in range(0, len(places), _BLOCK):
        rows = lo + np.flatnonzero(kept[lo : lo + _BLOCK])
        near = search.within(search.points[rows], radius, distances=False, n_jobs=n_jobs).lists()[1]
        for row, others in zip(rows, near, strict=False):
            if kept[row]:
                kept[others] = False
                kept[row] = True
    return search.points[kept]
