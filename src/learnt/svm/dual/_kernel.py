"""The kernels of support vector machines, from matrix products: between rows, and of a training table row by row."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import at_most
from learnt.engine.matrices import Route, dense, product, route, row_squares
from learnt.engine.threads import for_blocks, run_tasks
from learnt.kernels import (
    KERNEL_NAMES,
    from_products,
    gaussian,
    gram,
    gram_times,
    is_kernel_object,
    named_kernel,
    products_are_exact,
    usable_kernel,
)
from learnt.linalg.exponential import exp_nonpositive, exp_nonpositive_single
from learnt.svm.dual._pairs import matrix_of

QUICK = ("linear", "poly", "rbf", "sigmoid")  # from products of rows, in the precision that is needed
NAMES = (*QUICK, "precomputed", *sorted(set(KERNEL_NAMES) - set(QUICK)))
_COLUMNS = 512  # of a product that one thread takes
_ROWS = 128
_TILE = 256  # rows and columns of the kernel of a whole table
_DENSE_CELLS = 1 << 22  # 32 MB
_FEW = 2  # rows that are sooner subtracted from all support vectors than multiplied with them
_MANY = 10**10  # kernels from a function, after which a sentence says what may be ahead
_CELLS = 1 << 21  # of a block of new rows against the support vectors
_FAR = 100.0  # times what a column spreads over
_ERROR = 1e-10  # of a Gaussian, relative: far below what is left of the conditions of optimality


class Kernel(NamedTuple):
    """A kernel with its parameters; `name` is one of `NAMES`, an object of `learnt.kernels` or a function of tables."""

    name: Any
    gamma: float
    degree: float
    coef0: float
    balanced: bool = False  # whether coefficients sum to 0

    @property
    def unit(self) -> float:
        """What rows are multiplied by so that the Gaussian is exp(−½‖x − z‖²)."""
        return float(np.sqrt(2.0 * self.gamma))

    def origin(self, Z: Any) -> np.ndarray:
        """A point that rows may be measured from: the one nearest to 0 in their box, so that none grows.

        Where coefficients sum to 0, the function of the linear kernel is the same from any point but for its intercept,
        and rows that are much further from 0 than from one another keep their digits.
        """
        if self.name != "linear" or not self.balanced or route(Z) is not Route.DENSE:
            return np.zeros(Z.shape[1])
        low, high = Z.min(axis=0), Z.max(axis=0)
        nearest = np.clip(0.0, low, high)
        with np.errstate(over="ignore"):
            return np.where(np.abs(nearest) > _FAR * (high - low), nearest, 0.0)

    def of_products(self, P: np.ndarray) -> np.ndarray:
        """k(x, z) from x·z, of a kernel that depends on nothing else; may write into P."""
        if self.name == "linear":
            return P
        P *= self.gamma
        P += self.coef0
        if self.name == "sigmoid":
            return np.tanh(P, out=P)
        return P**self.degree if self.degree != int(self.degree) else _power(P, int(self.degree))

    def between(self, X: Any, Z: Any) -> np.ndarray:
        """(rows of X, rows of Z)."""
        if callable(self.name):
            return finite(gram(self.name, X, Z))
        if self.name == "rbf":
            return gaussian(X, Z, self.unit, None, _ERROR)
        return self.of_products(product(X, Z.T))

    @property
    def proven(self) -> bool:
        """Whether it is positive semidefinite by construction."""
        if self.name == "poly":
            return self.coef0 >= 0 and self.degree == int(self.degree)
        return self.name in ("linear", "rbf") or bool(getattr(self.name, "proven", False))

    def among(self, X: Any, places: np.ndarray) -> np.ndarray:
        """The kernel between some rows of a training table, or their part of a matrix that is one."""
        if self.name == "precomputed":
            return X[np.ix_(places, places)]
        return self.between(X[places], X[places])

    def scores(self, X: Any, Z: Any, coefficients: Any) -> np.ndarray:
        """Kernel between X and Z times `coefficients` (rows of Z, columns), block by block on all threads."""
        out = np.zeros((X.shape[0], coefficients.shape[1]))
        if Z.shape[0] == 0:  # no support vectors: only the intercept
            return out
        if is_kernel_object(self.name):
            return gram_times(self.name, X, Z, matrix_of(coefficients))
        if callable(self.name):
            return self.between(X, Z) @ coefficients
        X, Z = workable(X), workable(Z)
        origin = self.origin(Z) if self.name == "linear" and route(X) is Route.DENSE else np.zeros(0)
        if origin.any():
            X, Z = X - origin, Z - origin
            out += (Z @ origin)[None] @ coefficients
        if self.name == "rbf" and X.shape[0] <= _FEW and route(X) is route(Z) is Route.DENSE:
            return np.exp(-self.gamma * np.stack([row_squares(Z - x) for x in X])) @ coefficients

        def part(lo: int, hi: int) -> None:
            out[lo:hi] += self.between(X[lo:hi], Z) @ coefficients

        for_blocks(part, X.shape[0], grain=max(1, min(4096, _CELLS // max(Z.shape[0], 1))))
        return out


def _power(P: np.ndarray, degree: int) -> np.ndarray:
    """P to a whole power, by products: `np.power` takes a logarithm and an exponential for each entry."""
    if degree == 0:
        return np.ones_like(P)
    result = P
    for bit in bin(degree)[3:]:
        result = result * result
        if bit == "1":
            result *= P
    return result


def kernel_of_machine(machine: Any, n_features: int) -> Kernel:
    """The kernel that the parameters of a fitted machine mean."""
    name = machine.kernel
    if isinstance(name, str) and name not in (*QUICK, "precomputed"):
        gamma = None if name == "chi2" and machine.gamma == "scale" else machine._gamma
        name = named_kernel(name, gamma, machine.degree, machine.coef0, n_features)
    return Kernel(name, machine._gamma, machine.degree, machine.coef0, machine._balanced)


def machine_rule(machine: Any, state: dict[str, Any], dims: dict[str, Any]) -> str | None:
    """Whether the kernel of a model file can be used, and with its support vectors."""
    if not isinstance(machine.kernel, str) and (reason := usable_kernel(machine.kernel, dims)) is not None:
        return f"has a kernel that {reason}"
    if "classes_" not in state and (dims["r"], dims["p"]) != (1, 1):
        return "has coefficients of more or fewer functions than one"
    if machine.kernel == "precomputed":
        return None if (state["support_"] < dims["d"]).all() else "has support vectors that are not in its table"
    return None if state["support_vectors_"].shape[1] == dims["d"] else "has support vectors of another width"


def workable(X: Any) -> Any:
    """Sparse rows as dense ones where these take little memory: quicker, and the answer of a dense fit to the bit."""
    return dense(X) if X.shape[0] * X.shape[1] <= _DENSE_CELLS else X


def finite(K: Any) -> np.ndarray:
    """What a user's kernel gave, if it is numbers."""
    K = np.asarray(dense(K), dtype=np.float64)
    if not np.isfinite(K).all():
        raise ValueError("The kernel function gave NaN or infinity: it must give finite numbers.")
    return K


@kernel
def _exponentials(P, out, slots, lo):
    """exp of exponents, which rounding may leave above 0, into rows of `out` from column lo."""
    for r in range(len(P)):
        row, to = P[r], out[slots[r], lo : lo + P.shape[1]]
        for t in range(len(row)):
            to[t] = exp_nonpositive(at_most(row[t], 0.0))


@kernel
def _exponentials_single(P, out, slots, lo):
    """The same in single precision, of exponents in either."""
    for r in range(len(P)):
        row, to = P[r], out[slots[r], lo : lo + P.shape[1]]
        for t in range(len(row)):
            to[t] = exp_nonpositive_single(np.float32(min(row[t], 0.0)))


class TrainingKernel:
    """Entries of the kernel matrix of one table: whole rows of it, or the square of some."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel, self.n, self.asked = kernel, X.shape[0], 0
        X = X if callable(kernel.name) else workable(X)  # a function gets the rows as they are, as at prediction
        self.X, self.left = X, X
        self.dense_linear = kernel.name == "linear" and route(X) is Route.DENSE
        self.along = np.zeros(self.n)  # of rows, measured from their origin, with the origin
        if self.dense_linear and (origin := kernel.origin(X)).any():
            X = X - origin
            self.X, self.left, self.along = X, X, X @ origin
        self.by_products = kernel.name != "rbf" or products_are_exact(X, X, kernel.unit, _ERROR)
        self.dense_rbf = kernel.name == "rbf" and self.by_products and route(X) is Route.DENSE
        self.norms = np.zeros(self.n)
        if kernel.name == "rbf" and self.by_products:
            X = (X - X.mean(axis=0) if self.dense_rbf else X) * kernel.unit
            self.X, self.left, self.norms = X, X, row_squares(X)
        if self.dense_rbf:
            # Two columns more on each side, and a product is the exponent −½‖x − z‖² itself.
            d = X.shape[1]
            self.left, self.X = np.ones((2, self.n, d + 2))
            self.left[:, :d] = self.X[:, :d] = X
            self.left[:, d] = self.X[:, d + 1] = -0.5 * self.norms

    def rounding(self, dtype: type, norm: float) -> float:
        """How far products in this precision of rows of this squared length may be from k, over the largest k(x, x)."""
        spread = 1.0 + 2.0 * norm if self.dense_rbf else np.inf
        return float(np.finfo(dtype).eps * spread)

    def single(self) -> None:
        """Compute products in single precision."""
        self.left, self.X = self.left.astype(np.float32), self.X.astype(np.float32)

    def largest(self) -> float:
        """The largest k(x, x), or infinity where it is not known."""
        if self.kernel.name == "rbf":
            return 1.0
        if is_kernel_object(self.kernel.name):
            return float(np.abs(self.kernel.name.diag(self.X)).max())
        if callable(self.kernel.name):
            return np.inf
        if self.kernel.name == "precomputed":
            return float(np.abs(np.diagonal(self.X)).max())
        top = row_squares(self.X).max(keepdims=True)
        return float(np.abs(self.kernel.of_products(top)).max())

    def between(self, places: np.ndarray, columns: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        """The kernel between the rows `places` and the rows `columns` into the rows `slots` of `out`."""
        if self.kernel.name == "precomputed":
            out[slots] = self.X[np.ix_(places, columns)]
        elif callable(self.kernel.name):
            out[slots] = self._ask(self.X[places], self.X[columns])
        else:
            self._fill(places, self.X[columns], self.norms[columns], out, slots)

    def rows(self, places: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        """Kernel rows of `places` into the rows `slots` of `out`."""
        if self.kernel.name == "precomputed":
            out[slots] = self.X[places]
        elif callable(self.kernel.name):
            out[slots] = self._ask(self.X[places], self.X)
        else:
            self._fill(places, self.X, self.norms, out, slots)

    def _ask(self, X: Any, Z: Any) -> np.ndarray:
        """Kernels from a function, which are counted: a fit may need those of all pairs of rows."""
        before, self.asked = self.asked, self.asked + X.shape[0] * Z.shape[0]
        if before <= _MANY < self.asked:
            warnings.warn(
                f"The kernel function was asked for {self.asked:.1e} kernels so far, and {self.n} rows may need "
                f"{float(self.n) ** 2:.1e}: if this takes too long, stop it and fit to fewer rows, or fit a linear "
                "model to the features of Nystroem(kernel).",
                stacklevel=2,
            )
        return self.kernel.between(X, Z)

    def whole(self, out: np.ndarray) -> None:
        """The kernel between all rows: half of it computed, the rest copied, since it is symmetric."""
        if self.kernel.name == "precomputed":
            out[:] = self.X
        elif callable(self.kernel.name):
            out[:] = self.kernel.between(self.X, self.X)
        else:
            tiles = [(lo, min(lo + _TILE, self.n)) for lo in range(0, self.n, _TILE)]
            run_tasks([partial(self._tile, out, a, b) for a in tiles for b in tiles if a <= b])

    def _tile(self, out: np.ndarray, rows: tuple[int, int], columns: tuple[int, int]) -> None:
        """The kernel between these rows and columns, and between the same columns and rows."""
        (a, b), (lo, hi) = rows, columns
        self._compute(self.left[a:b], self.X[lo:hi], self.norms[a:b], self.norms[lo:hi], out, np.arange(a, b), lo)
        if a != lo:
            out[lo:hi, a:b] = out[a:b, lo:hi].T

    def _fill(
        self, places: np.ndarray, right: Any, right_norms: np.ndarray, out: np.ndarray, slots: np.ndarray
    ) -> None:
        """Kernel of the training rows `places` and the rows `right`, a tile that fits in a cache at a time."""
        left, norms = self.left[places], self.norms[places]

        def part(lo: int, hi: int) -> None:
            columns = right[lo:hi]
            for a in range(0, len(places), _ROWS):
                some = slice(a, a + _ROWS)
                self._compute(left[some], columns, norms[some], right_norms[lo:hi], out, slots[some], lo)

        for_blocks(part, right.shape[0], grain=_COLUMNS)

    def _compute(
        self, X: Any, Z: Any, X_norms: np.ndarray, Z_norms: np.ndarray, out: np.ndarray, slots: np.ndarray, lo: int
    ) -> None:
        """The kernel of two tiles of rows into the rows `slots` of `out` from column lo."""
        if self.dense_rbf:
            exponentials = _exponentials if out.dtype == np.float64 else _exponentials_single
            exponentials(product(X, Z.T), out, slots, lo)
            return
        if self.kernel.name != "rbf":
            K = self.kernel.of_products(product(X, Z.T))
        elif self.by_products:
            K = from_products(np.ascontiguousarray(product(X, Z.T)), X_norms, Z_norms)
        else:
            K = gaussian(X, Z, self.kernel.unit, None, _ERROR)
        out[slots, lo : lo + K.shape[1]] = K
