"""What a step is measured with: the second derivative of the objective, exact or nearly so, ready to be solved with.

Diagonal    variables in their units curve by one: for tables too wide for anything else
Cholesky    all of it
Blocks      one matrix a class, leaving out what classes have to do with each other
Woodbury    for fewer rows than columns (in `_row_space`)
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack  # its plain routines: the wrappers cost more than a small solution

from learnt.linalg import positive

_JITTER = 1e-12  # relative to the diagonal: below what the penalty of any sensible C adds


class Diagonal:
    exact = False

    def __init__(self, diagonal: np.ndarray) -> None:
        self._diagonal = diagonal

    def solve(self, g: np.ndarray) -> np.ndarray:
        return (g.reshape(-1, self._diagonal.size) / self._diagonal).ravel()


class Cholesky:
    exact = True

    def __init__(self, H: np.ndarray) -> None:
        self.factor = cholesky(H)

    def solve(self, g: np.ndarray) -> np.ndarray:
        """H⁻¹g for one vector or the columns of a matrix."""
        return lapack.dpotrs(self.factor, g, lower=1)[0]


class Blocks:
    """`blocks` is K × D × D, or 1 × D × D where it is the same for all K classes."""

    exact = False

    def __init__(self, blocks: np.ndarray, n_classes: int) -> None:
        self._parts = [Cholesky(H) for H in blocks]
        self._shape = (n_classes, blocks.shape[1])

    def solve(self, g: np.ndarray) -> np.ndarray:
        parts = np.split(g.reshape(self._shape), len(self._parts))
        steps = np.concatenate([H.solve(part.T) for H, part in zip(self._parts, parts, strict=True)], axis=1).T
        return (steps - steps.mean(axis=0)).ravel()  # one vector added to all classes changes nothing


def cholesky(H: np.ndarray) -> np.ndarray:
    """The lower Cholesky factor of H, made safely positive where rounding or collinear columns left it singular."""
    return positive.cholesky(H, _JITTER)
