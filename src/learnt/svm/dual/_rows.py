"""Rows of a kernel matrix: computed by matrix products when they are first needed, and kept while there is room."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks

_TILE = 512  # columns of a product that one thread takes
_GATHER = 64  # rows that one thread gathers from


class Entries(Protocol):
    """What computes entries of the matrix."""

    def rows(self, places: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        """Kernel rows of `places` into the rows `slots` of `out`."""

    def between(self, places: np.ndarray, columns: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        """The kernel between the rows `places` and the rows `columns` into the rows `slots` of `out`."""


@kernel
def add_rows(kept, slots, weights, lo, part):
    """part += Σ weights · kept rows from column lo, four rows at a time."""
    hi, fours = lo + len(part), len(slots) // 4 * 4
    for k in range(0, fours, 4):
        a, b = kept[slots[k], lo:hi], kept[slots[k + 1], lo:hi]
        c, d = kept[slots[k + 2], lo:hi], kept[slots[k + 3], lo:hi]
        wa, wb, wc, wd = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for t in range(len(part)):
            part[t] += (wa * a[t] + wb * b[t]) + (wc * c[t] + wd * d[t])
    for k in range(fours, len(slots)):
        a, wa = kept[slots[k], lo:hi], weights[k]
        for t in range(len(part)):
            part[t] += wa * a[t]


@kernel
def _gather(kept, slots, columns, lo, hi, out, where):
    """out[where] = kept[slots, columns], rows lo to hi."""
    for r in range(lo, hi):
        row, to = kept[slots[r]], out[where[r]]
        for t in range(len(columns)):
            to[t] = row[columns[t]]


class KernelRows:
    """The kernel matrix of n rows, of which at most `room` bytes are kept; the least recently used go first."""

    def __init__(self, entries: Entries, n: int, room: float, dtype: np.dtype) -> None:
        self.entries, self.n, self.dtype, self.room = entries, n, dtype, room
        self.slots = int(min(n, max(room // (n * dtype.itemsize), 2)))
        self.kept = np.empty((self.slots, n), dtype)  # memory that is not written to is not taken
        self.place = np.full(n, -1)  # of each row among the kept
        self.owner = np.full(self.slots, -1)
        self.used = np.full(self.slots, -1)
        self.clock = 0
        self.squares = np.empty(0, dtype)  # memory for the kernel between rows, taken once

    def most_square(self) -> int:
        """Of how many rows the kernel between them takes as much memory as the rows that are kept."""
        return int((self.room / self.dtype.itemsize) ** 0.5)

    def square(self, at: np.ndarray) -> np.ndarray:
        """The kernel between these rows: from kept rows where there are any, the rest computed.

        It is overwritten by the next.
        """
        if self.slots == self.n <= 2 * len(at):  # whole rows, which will be needed soon, cost at most twice as much
            self._slots_of(at)
        place = self.place[at]
        known, new = np.flatnonzero(place >= 0), np.flatnonzero(place < 0)
        slots, out = place[known], self._square_memory(len(at))
        for_blocks(lambda lo, hi: _gather(self.kept, slots, at, lo, hi, out, known), len(known), grain=_GATHER)
        if len(new):
            self.entries.between(at[new], at, out, new)
        return out

    def _square_memory(self, size: int) -> np.ndarray:
        """Memory for a square; what is not written to is not taken, and taking it costs as much as computing it."""
        if size * size > len(self.squares):
            most = max(size, min(2 * self.n, self.most_square()))
            self.squares = np.empty(most * most, self.dtype)
        return self.squares[: size * size].reshape(size, size)

    def times(self, at: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Σ over these rows of weight times kernel row: (n,), in double precision."""
        total = np.zeros(self.n)
        for lo in range(0, len(at), self.slots):
            slots, w = self._slots_of(at[lo : lo + self.slots]), weights[lo : lo + self.slots]

            def add(a: int, b: int, slots: np.ndarray = slots, w: np.ndarray = w) -> None:
                add_rows(self.kept, slots, w, a, total[a:b])

            for_blocks(add, self.n, grain=_TILE)
        return total

    def _slots_of(self, at: np.ndarray) -> np.ndarray:
        """Where these kernel rows are, at most as many as there is room for; what is not kept yet is computed."""
        self.clock += 1
        places = self.place[at]
        missing = np.unique(at[places < 0])
        self.used[places[places >= 0]] = self.clock
        if len(missing):
            slots = self._free(len(missing))
            gone = self.owner[slots]
            self.place[gone[gone >= 0]] = -1
            self.entries.rows(missing, self.kept, slots)
            self.owner[slots], self.place[missing], self.used[slots] = missing, slots, self.clock
        return self.place[at]

    def _free(self, count: int) -> np.ndarray:
        """Slots for new rows: unused ones, then the least recently used."""
        return np.sort(np.argsort(self.used, kind="stable")[:count])
