"""In how many directions the columns vary, and the shortest solution there: from a factor R with RᵀR = XᵀX.

Units must not decide: a column of fractions beside one of amounts of money is no rounding error of the latter. So
columns are compared at length 1, where a direction v in which X varies by s counts unless rounding of the cells of X
alone could be the reason: if cells have a relative error ε, a column whose mean is f times its deviation has one of
ε(1 + f). Neither grows with the number of rows, over which sums are float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from learnt.linalg import decompositions
from learnt.linalg.spectrum import rounding
from learnt.linear_model.least_squares._triangle import Triangle, column_lengths

_CELLS = 4.0  # a total of some dozens of columns has gathered this many rounding errors


class Directions(NamedTuple):
    """U diag(s) Vᵀ of R with columns of length 1, in the directions that count."""

    lengths: np.ndarray  # (d,) of the columns of R; 0 for a constant one
    U: np.ndarray  # (m, r)
    s: np.ndarray  # (r,)
    Vt: np.ndarray  # (r, d)

    @property
    def rank(self) -> int:
        return len(self.s)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """The b (d, k) nearest to Rb = right; the shortest of them where there are many."""
        inside = (self.U.T @ right) / self.s[:, None]
        if self.rank == np.count_nonzero(self.lengths):
            return _reciprocals(self.lengths)[:, None] * (self.Vt.T @ inside)
        # The shortest b with Vᵀ D b = inside. Rows by falling length and pivots keep each row's own digits.
        order = np.argsort(-self.lengths, kind="stable")
        Q, T, pivots = linalg.qr((self.Vt * self.lengths).T[order], mode="economic", pivoting=True)
        coef = np.zeros((len(self.lengths), right.shape[1]))
        coef[order] = Q @ linalg.solve_triangular(T, inside[pivots], trans="T")
        return coef


def directions(triangle: Triangle, dtype: Any) -> Directions:
    """Those of the centred X, whose cells are of `dtype`."""
    left = triangle.left
    lengths = column_lengths(left)
    scale = _reciprocals(lengths)
    U, s, Vt = decompositions.svd(left * scale, full_matrices=False)
    errors = np.linalg.norm(Vt * cell_errors(lengths, triangle, dtype), axis=1)
    counts = s > np.maximum(_CELLS * errors, rounding(len(lengths)) * s.max(initial=0.0))
    return Directions(lengths, U[:, counts], s[counts], Vt[counts])


def cell_errors(lengths: np.ndarray, triangle: Triangle, dtype: Any) -> np.ndarray:
    """Relative rounding errors of the centred columns, as their cells were given.

    At most half the digits, since whole numbers far from 0 have no errors at all.
    """
    eps = float(np.finfo(np.float32 if "32" in str(dtype) else np.float64).eps)
    sums = np.abs(triangle.x_mean) * np.sqrt(triangle.weight)
    far = sums * _reciprocals(lengths)
    return np.minimum(eps * (1.0 + far), np.sqrt(eps))


def _reciprocals(lengths: np.ndarray) -> np.ndarray:
    """1 / length, and 0 for a constant column."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
