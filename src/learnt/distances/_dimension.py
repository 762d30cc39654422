"""The intrinsic dimension of points, from the distances to their nearest neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# The share of the ratios of two distances that the estimate uses: neighbours at the border of the data distort the tail
# (Facco et al., 2017).
_BELIEVED = 0.9


class DimensionSums(NamedTuple):
    """What is known of the dimension: `seen` ratios whose logarithms (censored ones included) have the sum `total`."""

    seen: int
    total: float

    @property
    def estimate(self) -> float:
        """The dimension; infinite where first and second neighbours are equally far away."""
        return max(self.seen - 1, 1) / self.total if self.total > 0 else np.inf


def dimension_sums(first: np.ndarray, second: np.ndarray) -> DimensionSums:
    """From the distances to the first and second neighbour of each row (TwoNN, Facco et al., 2017).

    log(r₂ / r₁) is exponential with rate d wherever the density is even at that scale. The largest tenth of the ratios
    counts only as being large (a censored sample).

    >>> rng = np.random.default_rng(0)
    >>> round(dimension_sums(np.ones(4000), np.exp(rng.exponential(1 / 3, size=4000))).estimate, 1)
    3.0
    """
    logs = np.sort(np.log(second / first))
    seen = max(1, int(_BELIEVED * logs.size))
    return DimensionSums(seen, float(logs[:seen].sum() + (logs.size - seen) * logs[seen - 1]))
