"""The initial centres of one run, from the `init` parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.cluster._device_seeding import lottery_of, seeds_of
from learnt.cluster._seeding import farthest_first, plus_plus, random_rows
from learnt.engine.arrays import is_lazy
from learnt.engine.matrices import dense, in_numpy
from learnt.engine.rows import Rows, in_memory

_SAMPLE_ROWS, _SAMPLE_PER_CENTER = 10_000, 200


def check_centers(centers: Any, shape: tuple[int, int]) -> np.ndarray:
    """Centres that a user gave, as NumPy float64 of the right shape."""
    centers = np.array(dense(in_numpy(centers)), dtype=np.float64)
    if centers.ndim != 2 or centers.shape[0] != shape[0]:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of clusters {shape[0]}; "
            f"init must have shape {shape}."
        )
    if centers.shape[1] != shape[1]:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of features of the data "
            f"{shape[1]}; init must have shape {shape}."
        )
    if not np.isfinite(centers).all():
        raise ValueError("init contains NaN or inf, and centers must be finite; give other initial centers.")
    return centers


class Starts:
    """Draws initial centres, one set a run; what the runs can share is computed once."""

    def __init__(self, X: Any, rows: Rows, weights: Any, origin: Any, k: int, init: Any, rounded: Any = None) -> None:
        self.X, self.rows, self.weights, self.origin, self.k, self.init = X, rows, weights, origin, k, init
        self.rounded = rounded  # a rounded copy of X and its norms, where there is one: seeds are found quicker on it
        self._lottery: Any = None
        self._sample: tuple[Any, Any] | None = None

    def draw(self, random_state: np.random.RandomState) -> np.ndarray:
        """k initial centres, NumPy float64."""
        shape = (self.k, self.rows.n_features)
        if callable(self.init):
            return check_centers(self.init(self.X, self.k, random_state=random_state), shape)
        if not isinstance(self.init, str):
            return check_centers(self.init, shape)
        if self.init == "random":
            weights = None if self.weights is None else in_memory(self.weights).astype(np.float64)
            return self.rows.take(random_rows(self.rows.n_rows, weights, self.k, random_state))
        X, weights = self._in_memory(random_state)
        if self._lottery is None:
            self._lottery = lottery_of(X)
        seeds = seeds_of(X, weights, self.origin, self.rounded)
        method = plus_plus if self.init == "k-means++" else farthest_first
        index = method(seeds, self._lottery, self.k, random_state)
        if X is self.X:
            return self.rows.take(index)
        return X[index].astype(np.float64)

    def _in_memory(self, random_state: np.random.RandomState) -> tuple[Any, Any]:
        """All rows, or a sample of rows that are read in blocks: a seed a pass over them would cost too much."""
        if not is_lazy(self.X):
            return self.X, self.weights
        if self._sample is None:
            n = self.rows.n_rows
            size = max(_SAMPLE_ROWS, _SAMPLE_PER_CENTER * self.k)
            index = np.arange(n) if n <= size else np.unique(random_state.randint(0, n, size))
            weights = None if self.weights is None else in_memory(self.weights)[index]
            self._sample = (self.rows.take(index), weights)
        return self._sample
