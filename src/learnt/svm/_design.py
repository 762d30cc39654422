"""The rows with a column for the intercept, and the products that solvers need: by blocks, on the pool.

The intercept is the coefficient of one more column, the constant `bias`, and is penalised like the others; a large
`bias` makes that penalty small. Arithmetic is float64 whatever the data.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from learnt.engine.rows.array_rows import csr_rows
from learnt.engine.threads import run_tasks
from learnt.linalg.gram import gram
from learnt.linalg.positive import cholesky

_BLOCK = 1 << 15  # cells that fit the second-level cache, to be read twice
_LANES = 16  # parts of a sum, whatever the number of threads
_THIN = 0.07  # density below which a sparse product of columns beats a dense one


class Design:
    """n × D: X, and the intercept's column where `bias` is not 0."""

    def __init__(self, X: Any, bias: float, n_jobs: int | None = None) -> None:
        self.X, self.bias, self.n_jobs = X, bias, n_jobs
        self.sparse = sparse.issparse(X)
        self.n, self.d = X.shape
        self._whole: np.ndarray | None = None
        self.D = self.d + bool(bias)
        cells = X.nnz if self.sparse else X.size
        # a power of two: even shares for as many threads
        n_lanes = 1 << int(np.log2(np.clip(1.5 * cells / (4 * self.D + (1 << 16)), 1, _LANES)))
        if self.sparse:
            ends = np.searchsorted(X.indptr, np.linspace(0, cells, n_lanes + 1)[1:-1])
        else:
            ends = np.linspace(0, self.n, n_lanes + 1).astype(int)[1:-1]
        self.lanes = [lane for lane in pairwise([0, *map(int, ends), self.n]) if lane[1] > lane[0]]
        self.parts = [csr_rows(X, *lane) for lane in self.lanes] if self.sparse else [X[a:b] for a, b in self.lanes]
        self._step = max(64, _BLOCK // max(self.d, 1))

    def scores(self, w: np.ndarray) -> np.ndarray:
        """A w, of one vector of coefficients or the columns of several."""
        out = np.empty((self.n, *w.shape[1:]))

        def fill(lane: tuple[int, int], part: Any) -> None:
            if part.dtype == np.float64 or self.sparse:
                out[lane[0] : lane[1]] = part @ w[: self.d]
                return
            for lo in range(0, part.shape[0], self._step):
                piece = part[lo : lo + self._step].astype(np.float64)
                out[lane[0] + lo : lane[0] + lo + piece.shape[0]] = piece @ w[: self.d]

        self._run(fill)
        return out + self.bias * w[self.d] if self.bias else out

    def combine(self, beta: np.ndarray) -> np.ndarray:
        """Aᵀ β."""

        def total(lane: tuple[int, int], part: Any) -> np.ndarray:
            if part.dtype == np.float64 or self.sparse:
                return part.T @ beta[lane[0] : lane[1]]
            sums = np.zeros((self.d, *beta.shape[1:]))
            for lo in range(0, part.shape[0], self._step):
                piece = part[lo : lo + self._step].astype(np.float64)
                sums += piece.T @ beta[lane[0] + lo : lane[0] + lo + piece.shape[0]]
            return sums

        sums = self._run(total)
        v = np.empty((self.D, *beta.shape[1:]))
        v[: self.d] = sum(sums[1:], sums[0])
        if self.bias:
            v[self.d] = self.bias * beta.sum(axis=0)
        return v

    def gram(self, rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Σ over `rows` (positions, in order) of weight · a aᵀ, D × D."""
        bounds = np.searchsorted(rows, [lane[0] for lane in self.lanes] + [self.n])

        def total(k: int) -> np.ndarray:
            own = slice(bounds[k], bounds[k + 1])
            chosen, h = rows[own] - self.lanes[k][0], weight[own]
            if self.sparse:
                return self._sparse_gram(self.parts[k][chosen], h)
            out = np.zeros((self.D, self.D))
            for lo in range(0, chosen.size, self._step):
                part = slice(lo, lo + self._step)
                A = self.dense(self.parts[k][chosen[part]])
                if (h[part] >= 0).all():
                    A *= np.sqrt(h[part])[:, None]
                    out += A.T @ A
                else:
                    out += A.T @ (h[part][:, None] * A)
            return out

        sums = run_tasks([partial(total, k) for k in range(len(self.lanes))], n_jobs=self.n_jobs)
        return sum(sums[1:], sums[0])

    def take(self, rows: np.ndarray) -> Any:
        """Some rows as a matrix with the intercept's column: dense, or CSR where the data are."""
        part = self.X[rows]
        if not self.sparse:
            return self.dense(part)
        part = part.astype(np.float64, copy=False)
        if not self.bias:
            return part
        return sparse.hstack([part, np.full((rows.size, 1), self.bias)], format="csr")

    def rows_gram(self, rows: np.ndarray) -> np.ndarray:
        """A Aᵀ of some rows."""
        A = self.take(rows)
        return (A @ A.T).toarray() if self.sparse else A @ A.T

    def dense(self, part: Any) -> np.ndarray:
        """A copy in float64 with the intercept's column."""
        if sparse.issparse(part):
            part = part.toarray()
        A = np.empty((part.shape[0], self.D))
        A[:, : self.d] = part
        A[:, self.d :] = self.bias
        return A

    def whole(self) -> np.ndarray:
        """All rows as `dense`, made once."""
        if self._whole is None:
            self._whole = self.dense(self.X)
        return self._whole

    def squares(self) -> np.ndarray:
        """‖a‖² of each row."""
        if self.sparse:
            X = self.X.astype(np.float64, copy=False)
            norms = np.add.reduceat(np.append(X.data**2, 0.0), X.indptr[:-1]) * (np.diff(X.indptr) > 0)
        else:
            norms = np.einsum("ij,ij->i", self.X, self.X, dtype=np.float64)
        return norms + self.bias**2

    def products(self) -> np.ndarray:
        """A Aᵀ, n × n."""
        if self.sparse:
            X = self.X.astype(np.float64, copy=False)
            return (X @ X.T).toarray() + self.bias**2
        return gram(self.X.astype(np.float64, copy=False), self.n_jobs) + self.bias**2

    def _sparse_gram(self, part: Any, h: np.ndarray) -> np.ndarray:
        part = part.astype(np.float64, copy=False)
        out = np.zeros((self.D, self.D))
        if part.nnz > _THIN * part.shape[0] * self.d:
            for lo in range(0, part.shape[0], self._step):
                A = self.dense(part[lo : lo + self._step])
                out += A.T @ (h[lo : lo + self._step, None] * A)
            return out
        weighted = part.multiply(h[:, None]).tocsr()
        out[: self.d, : self.d] = (part.T @ weighted).toarray()
        if self.bias:
            out[self.d, : self.d] = out[: self.d, self.d] = self.bias * np.asarray(weighted.sum(axis=0)).ravel()
            out[self.d, self.d] = self.bias**2 * h.sum()
        return out

    def _run(self, task: Any) -> list:
        pairs = zip(self.lanes, self.parts, strict=True)
        return run_tasks([partial(task, lane, part) for lane, part in pairs], n_jobs=self.n_jobs)


class RowSpace(Design):
    """A table with fewer rows than columns as the n × n factor L of its products, AAᵀ = LLᵀ.

    The scores Lv have the same penalty ‖v‖²/2 as those of w = Aᵀβ, where β are the multipliers of both.
    """

    def __init__(self, design: Design) -> None:
        self._products = design.products()
        super().__init__(np.ascontiguousarray(cholesky(self._products)), 0.0, design.n_jobs)

    def rows_of(self, v: np.ndarray) -> np.ndarray:
        """The combination of rows, Lᵀt = v, that has the scores Lv."""
        return solve_triangular(self.X, v, lower=True, trans="T", check_finite=False)

    def rows_gram(self, rows: np.ndarray) -> np.ndarray:
        return self._products[np.ix_(rows, rows)]
