"""Valleys of the reachability curve between a steep fall and a steep rise (Ankerst et al., 1999, section 4.3).

A place of the curve is steep if the next one is lower, or higher, by the share ξ. A steep region begins and ends
with steep places, goes in one direction, and has at most `min_samples` places in a row that are not steep. A cluster
begins in a steep fall, ends in a steep rise, and lies below both ends by the share ξ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Curve(NamedTuple):
    """Reachabilities in the order of the rows and a last infinite one; where each row's predecessor is in it, or −1."""

    height: np.ndarray
    came_from: np.ndarray


@dataclass
class Fall:
    """A steep fall, and the highest place of the curve between its end and the place looked at."""

    start: int
    end: int
    since: float


def curve_of(reach: np.ndarray, predecessor: np.ndarray, ordering: np.ndarray) -> Curve:
    """The curve of all rows."""
    place = np.full(len(ordering) + 1, -1)  # the last is the place of no row, which −1 is
    place[ordering] = np.arange(len(ordering))
    return Curve(np.append(reach[ordering], np.inf), place[predecessor[ordering]])


@np.errstate(invalid="ignore", divide="ignore")  # infinite next to infinite is not steep
def valleys(curve: Curve, xi: float, least: int, flat: int, correct: bool) -> np.ndarray:
    """First and last place of each valley of at least `least` rows, inner ones before those around them."""
    height, keep = curve.height, 1.0 - xi
    ratio = height[:-1] / height[1:]
    falls_steeply, rises_steeply = ratio >= np.divide(1.0, keep), ratio <= keep
    falls, rises = ratio > 1, ratio < 1
    falling: list[Fall] = []
    found: list[tuple[int, int]] = []
    at, highest = 0, 0.0
    for steep in np.flatnonzero(falls_steeply | rises_steeply).tolist():
        if steep < at:
            continue  # in the region before
        highest = max(highest, float(height[at : steep + 1].max()))
        falling = _still_open(falling, highest, height, keep)
        if falls_steeply[steep]:
            end = region_end(falls_steeply, rises, steep, flat)
            falling.append(Fall(steep, end, 0.0))
        else:
            end = region_end(rises_steeply, falls, steep, flat)
            ends = (_cluster(curve, fall, steep, end, keep, correct) for fall in reversed(falling))
            found += [pair for pair in ends if pair is not None and pair[1] - pair[0] + 1 >= least]
        at, highest = end + 1, float(height[end + 1])
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def region_end(steep: np.ndarray, against: np.ndarray, start: int, flat: int) -> int:
    """The last steep place of the region that begins at `start`; it ends where the curve turns `against` it.

    >>> region_end(np.array([True, False, True, False]), np.array([False, False, False, True]), 0, 1)
    2
    """
    end, idle = start, 0
    for at in range(start, len(steep)):
        if steep[at]:
            end, idle = at, 0
        elif against[at]:
            break
        else:
            idle += 1
            if idle > flat:
                break
    return end


def _still_open(falling: list[Fall], highest: float, height: np.ndarray, keep: float) -> list[Fall]:
    """The falls whose beginning is still higher than all since by the share ξ."""
    if np.isinf(highest):
        return []
    kept = [fall for fall in falling if highest <= height[fall.start] * keep]
    for fall in kept:
        fall.since = max(fall.since, highest)
    return kept


def _cluster(curve: Curve, fall: Fall, rise: int, end: int, keep: float, correct: bool) -> tuple[int, int] | None:
    """The rows between a fall and the rise rise…end; None if something in between is too high."""
    height = curve.height
    first, last, before, after = fall.start, end, height[fall.start], height[end + 1]
    if after * keep < fall.since:
        return None
    # The lower end decides: of the higher side as much belongs to the cluster as lies below it.
    if before * keep >= after:
        while height[first + 1] > after and first < fall.end:
            first += 1
    elif after * keep >= before:
        while height[last - 1] > before and last > rise:
            last -= 1
    if correct:
        last = _reached_from_inside(curve, first, last)
    return (first, last) if first <= fall.end and last >= max(rise, first) else None


def _reached_from_inside(curve: Curve, first: int, last: int) -> int:
    """The last place that was reached from a row of the cluster (Schubert and Gertz, 2018); −1 if there is none."""
    while first < last:
        if curve.height[first] > curve.height[last] or first <= curve.came_from[last] < last:
            return last
        last -= 1
    return -1
