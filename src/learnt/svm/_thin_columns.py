"""The parabola of a Newton step with the absolute penalty, over the columns themselves: for many coefficients."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from learnt.linalg.sparse_quadratic import curvature_root, minimize, sparse_step
from learnt.linalg.weighted_columns import Table, compressed
from learnt.svm._design import Design


class ThinColumns:
    """The table by columns, that of the intercept last: their entries, or as rows where it is dense."""

    def __init__(self, design: Design) -> None:
        self._rows = None if design.sparse else np.ascontiguousarray(design.dense(design.X).T)
        if design.sparse:
            X = sparse.csc_array(design.X, dtype=np.float64, copy=True)
            if design.bias:
                X = sparse.hstack([X, np.full((design.n, 1), design.bias)], format="csc")
            X.sum_duplicates()
            self._parts = compressed(X)

    def parabola(
        self, columns: np.ndarray, w: np.ndarray, beta: np.ndarray, curve: np.ndarray, most: np.ndarray, share: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Some coefficients at the minimum of the parabola plus ‖w‖₁, and by what they change the scores.

        Rows pull by `beta`, and curve by `curve`.
        """
        if self._rows is None:
            new, _, along = sparse_step(self._parts, columns, w, beta, curve, most, 1.0, 0.0, False, share)
            return new, along
        rows, root, new = self._rows[columns], curvature_root(curve, most), w.copy()
        minimize(Table(rows * root), new, beta, root, 1.0, 0.0, False, share)
        return new, (new - w) @ rows
