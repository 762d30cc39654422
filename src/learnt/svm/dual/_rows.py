"""Rows of a kernel matrix: computed by matrix products when they are first needed, and kept while there is room."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from learnt.engine.threads import for_blocks

Block = Callable[[np.ndarray, np.ndarray, np.ndarray], None]  # places, out, rows of `out` to write their kernel rows to
_TILE = 512  # columns of a product that one thread takes


class KernelRows:
    """The kernel matrix of n rows, of which at most `room` bytes are kept; the least recently used go first."""

    def __init__(self, block: Block, n: int, room: float, dtype: np.dtype) -> None:
        self.block, self.n, self.dtype = block, n, dtype
        self.slots = int(min(n, max(room // (n * dtype.itemsize), 2)))
        self.kept = np.empty((self.slots, n), dtype)  # memory that is not written to is not taken
        self.place = np.full(n, -1)  # of each row among the kept
        self.owner = np.full(self.slots, -1)
        self.used = np.full(self.slots, -1)
        self.clock = 0

    def square(self, at: np.ndarray) -> np.ndarray:
        """The kernel between these rows."""
        at, back = np.unique(at, return_inverse=True)
        out = np.empty((len(at), len(at)), self.dtype)
        for lo in range(0, len(at), self.slots):
            slots = self._slots_of(at[lo : lo + self.slots])
            out[lo : lo + self.slots] = self.kept[np.ix_(slots, at)]
        in_order = len(back) == len(at) and (np.diff(back) > 0).all()
        return out if in_order else out[np.ix_(back, back)]

    def times(self, at: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Σ over these rows of weight times kernel row: (n,), in double precision."""
        total = np.zeros(self.n)
        for lo in range(0, len(at), self.slots):
            slots, w = self._slots_of(at[lo : lo + self.slots]), weights[lo : lo + self.slots].astype(self.dtype)

            def add(a: int, b: int, slots: np.ndarray = slots, w: np.ndarray = w) -> None:
                total[a:b] += w @ self.kept[slots, a:b]

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
            self.block(missing, self.kept, slots)
            self.owner[slots], self.place[missing], self.used[slots] = missing, slots, self.clock
        return self.place[at]

    def _free(self, count: int) -> np.ndarray:
        """Slots for new rows: those that were never used, then those that were used longest ago."""
        return np.sort(np.argsort(self.used, kind="stable")[:count])
