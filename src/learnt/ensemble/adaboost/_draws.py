"""Rows drawn by weight, as NumPy's `RandomState.choice` draws them."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel


def draw_rows(random: np.random.RandomState, weights: np.ndarray) -> np.ndarray:
    """As many rows as there are, drawn by weight: those of `random.choice`, in less time.

    >>> weights = np.array([0.5, 0.125, 0.375])
    >>> draw_rows(np.random.RandomState(0), weights).tolist()
    [1, 2, 1]
    >>> np.random.RandomState(0).choice(3, size=3, p=weights).tolist()
    [1, 2, 1]
    """
    reached = np.cumsum(weights)
    reached /= reached[-1]
    out = np.empty(len(weights), np.int32)
    _find_places(reached, random.random_sample(len(weights)), np.empty(len(weights), np.int32), out)
    return out


@kernel(allocates=False)
def _find_places(reached, draws, guide, out):
    """The first index of the cumulative weights `reached` above each draw; `guide` gives the start of the search."""
    steps, place = guide.size, 0
    for step in range(steps):
        while reached[place] <= step / steps:
            place += 1
        guide[step] = place
    for i in range(draws.size):
        x = draws[i]
        place = np.int64(guide[min(np.int64(x * steps), steps - 1)])
        while place > 0 and reached[place - 1] > x:  # x times the steps was rounded up
            place -= 1
        while reached[place] <= x:
            place += 1
        out[i] = place
