"""Which rows a tree of gradient boosting is grown on, and what it draws by: scikit-learn's draws for the same seed."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel


def rows_in_bag(random: np.random.RandomState, n: int, wanted: int) -> np.ndarray:
    """A mask of `wanted` of n rows, every set of them as likely.

    >>> int(rows_in_bag(np.random.RandomState(0), 10, 4).sum())
    4
    """
    mask = np.zeros(n, dtype=np.bool_)
    _choose(random.uniform(size=n), wanted, mask)
    return mask


@kernel(allocates=False)
def _choose(draws, wanted, mask):
    """A row is taken with the probability that it must have, given how many were taken before it."""
    left = wanted
    for i in range(len(draws)):
        if draws[i] * (len(draws) - i) < left:
            mask[i] = True
            left -= 1
