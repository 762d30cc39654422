"""Many classes over a dense table: Newton's method, its equations by conjugate gradients in the table's principal axes.

K classes and D columns would take K matrices of D × D, each a sum over all rows. The equations need only products with
the second derivative H, each as dear as a gradient without logarithms, and single precision is enough for them: where
they lead is evaluated in double. They converge in few products with a good approximation of H to start from. In the
principal axes of the columns the second moments of most classes are nearly diagonal but for the mean of the class:

    H_k ≈ diag(variance of the class) + r (mean, 1)(mean, 1)ᵀ + penalty,     weights pₖ(1 − pₖ), whose sum is r

which is solved with in O(D). The axes are orthonormal, so that the penalty is the same in them; with fewer rows than
columns there are only as many axes as rows.

Reference: Nocedal & Wright, Numerical Optimization, 2nd edition, algorithm 7.1, doi:10.1007/978-0-387-40065-5.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from learnt.engine.threads import run_tasks
from learnt.linear_model.logistic import _newton_cg_classes_kernels as kernels
from learnt.linear_model.logistic._kernels import softmax_link
from learnt.linear_model.logistic._newton_cg import CLOSE

_CELLS, _FEWEST = 1 << 18, 64  # of one part of the rows: scores and rows, at least
_MOST = 200  # products a step
_LOOSE, _POWER = 0.7, 0.35  # residual of the linear equations: a share, and a power of the distance relative to f
_LEAST = 1e-6  # of a second moment: a variance that is smaller is rounding
_CERTAIN = 6.0  # log of the odds of the own class against all others, beyond which curvature says nothing
_FREE = 1e-3  # what an intercept curves by beside its share in the mean, relative to r


class Look(NamedTuple):
    """The objective at a place, its gradient, and the probabilities of the classes in each part of the rows."""

    theta: np.ndarray
    value: float
    gradient: np.ndarray
    chances: list[np.ndarray]


class NearlyDiagonal:
    """One matrix a class: diag(`diagonal`) + `weight` · mean meanᵀ, from the rows of K × D arrays."""

    def __init__(self, diagonal: np.ndarray, mean: np.ndarray, weight: np.ndarray) -> None:
        self._diagonal, self._turned = diagonal, mean / diagonal
        ends = 1.0 / np.maximum(weight, np.finfo(float).tiny) + np.einsum("kj,kj->k", mean, self._turned)
        self._shrink = self._turned / ends[:, None]

    def solve(self, g: np.ndarray) -> np.ndarray:
        step = g / self._diagonal - self._shrink * np.einsum("kj,kj->k", g, self._turned)[:, None]
        return step - step.mean(axis=0)  # one vector added to all classes changes nothing


class Part(NamedTuple):
    """Some rows: in the axes with a column of ones, in both precisions; their classes and weights."""

    Z: np.ndarray
    single: np.ndarray
    codes: np.ndarray
    w: np.ndarray


class Axes(NamedTuple):
    """How to come from columns to variables."""

    mean: np.ndarray  # which is subtracted first
    basis: np.ndarray  # d × r: orthogonal axes, each as long as one unit
    strength: np.ndarray  # of the penalty in each of the r variables


def principal_axes(X: np.ndarray, w: np.ndarray, alpha: float, curve: float, centred: bool) -> Axes:
    """The principal axes of the rows, in units in which the objective curves by about one.

    `curve` is what one more score in all rows together costs, twice over.
    """
    mean = w @ X / w.sum() if centred else np.zeros(X.shape[1])
    table, rows = X - mean, None
    if X.shape[0] < X.shape[1]:  # the coefficients are combinations of the rows
        rows, triangle = linalg.qr(table.T, mode="economic", check_finite=False)
        table = triangle.T
    moments, axes = linalg.eigh((table * w[:, None]).T @ table, check_finite=False)
    unit = np.sqrt(np.maximum(moments, 0.0) * (curve / w.sum()) + alpha)
    axes = axes / unit
    return Axes(mean, axes if rows is None else rows @ axes, alpha / unit**2)


class Classes:
    """The objective  Σ w ℓ(y, coef x + c) + α‖coef‖²/2  over K classes, in flat variables (K × (r + 1))."""

    def __init__(
        self, X: np.ndarray, codes: np.ndarray, w: np.ndarray, axes: Axes, *, K: int, fit_intercept: bool, n_jobs: Any
    ) -> None:
        self._axes, self._fit_intercept, self._n_jobs = axes, fit_intercept, n_jobs
        self._shape = (K, axes.basis.shape[1] + 1)
        self._strength, self._even = np.append(axes.strength, 0.0), np.ones(K)
        self.coarse = False  # whether to look in single precision too: for places that are far from the minimum
        size = max(_FEWEST, _CELLS // K)
        cuts = [slice(lo, lo + size) for lo in range(0, len(X), size)]
        self._parts = self._all([partial(self._part, X[cut], codes[cut], w[cut]) for cut in cuts])
        self._sums = self._total(self._all([partial(_class_sums, part, K) for part in self._parts])) / w.sum()

    def _part(self, X: np.ndarray, codes: np.ndarray, w: np.ndarray) -> Part:
        Z = np.ones((len(X), self._shape[1]))
        Z[:, :-1] = (X - self._axes.mean) @ self._axes.basis
        return Part(Z, Z.astype(np.float32), codes, w)

    def variables(self, theta: np.ndarray) -> np.ndarray:
        """Flat variables from coefficients and intercepts (K × (d + 1)), as far as the rows can tell them apart."""
        mean, basis, _ = self._axes
        u = np.zeros(self._shape)
        u[:, :-1] = theta[:, :-1] @ (basis / np.einsum("ij,ij->j", basis, basis))
        if self._fit_intercept:
            u[:, -1] = theta[:, -1] + theta[:, :-1] @ mean
        return (u - u.mean(axis=0)).ravel()

    def coefficients(self, u: np.ndarray) -> np.ndarray:
        """Coefficients and intercepts (K × (d + 1)) from flat variables."""
        u = u.reshape(self._shape)
        coef = u[:, :-1] @ self._axes.basis.T
        return np.column_stack([coef, u[:, -1] - coef @ self._axes.mean])

    def look(self, theta: np.ndarray) -> Look:
        u = theta.reshape(self._shape)
        found = self._all([partial(self._look, part, u) for part in self._parts])
        losses, gradients, chances = zip(*found, strict=True)
        pull = self._strength * u
        gradient = self._total(gradients) + pull
        return Look(theta, float(sum(losses)) + 0.5 * float(np.vdot(pull, u)), gradient.ravel(), list(chances))

    def _look(self, part: Part, u: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        Z = part.single if self.coarse else part.Z
        S = Z @ u.T.astype(Z.dtype)
        chances = np.empty(S.shape, np.float32)
        if self.coarse:
            loss = kernels.softmax_single(S, S.max(axis=1), part.codes, part.w, chances)
        else:
            loss = softmax_link(S, part.codes, part.w, self._even)
            kernels.chances(S, part.codes, part.w, chances)
        return loss, S.T @ Z, chances

    def solve(self, here: Look, goal: float) -> tuple[np.ndarray, float]:
        """An inexact Newton step, as close as the goal needs it; and −gᵀstep."""
        nearly = self.nearly(here)
        g = here.gradient.reshape(self._shape)
        size = float(np.vdot(g, nearly.solve(g)))
        if self.coarse and CLOSE * size <= goal:  # the last step is for double precision
            return np.zeros(g.size), size
        share = min(_LOOSE, (size / here.value) ** _POWER) if here.value > 0 else _LOOSE
        return self.equations(here, nearly, max(share**2 * size, goal))

    def reach(self, step: np.ndarray) -> float:
        """How much of a step to try first: no more than makes most rows certain of their classes.

        Where nothing is known yet the second derivative is 1/K of what it is between two classes, and Newton's step
        makes the own class's score larger by K. Where no row counts any more, the penalty alone curves, and the next
        step would lead back to 0.
        """
        gain = abs(float(np.vdot(self._sums, step)))
        return min(1.0, (_CERTAIN + np.log(self._shape[0])) / max(gain, 1.0))

    def equations(self, here: Look, nearly: NearlyDiagonal, stop: float) -> tuple[np.ndarray, float]:
        """s with Hs = −g, but for a rest ρ of ρᵀH⁻¹ρ ≤ `stop`, nearly; and −gᵀs."""
        g = here.gradient.reshape(self._shape)
        step, rest = np.zeros_like(g), -g
        z = nearly.solve(rest)
        size = float(np.vdot(rest, z))
        p = z
        for n_products in range(_MOST):
            q = self.product(here, p)
            curving = float(np.vdot(p, q))
            if not curving > 0.0:  # single precision has no more digits
                step = step if n_products else z
                break
            step += (size / curving) * p
            rest -= (size / curving) * q
            z = nearly.solve(rest)
            before, size = size, float(np.vdot(rest, z))
            if size <= stop:
                break
            p = z + (size / before) * p
        return step.ravel(), -float(np.vdot(g, step))

    def product(self, here: Look, p: np.ndarray) -> np.ndarray:
        """Hp."""
        single = np.ascontiguousarray(p.T, dtype=np.float32)
        tasks = [
            partial(_product, part, chances, single) for part, chances in zip(self._parts, here.chances, strict=True)
        ]
        return self._total(self._all(tasks)) + self._strength * p

    def nearly(self, here: Look) -> NearlyDiagonal:
        """H without what ties classes, and axes, to each other but for the means."""
        tasks = [partial(_moments, part, chances) for part, chances in zip(self._parts, here.chances, strict=True)]
        firsts, seconds = zip(*self._all(tasks), strict=True)
        first, second = sum(firsts, np.zeros(self._shape)), sum(seconds, np.zeros(self._shape))
        weight = second[:, -1]  # the last column is of ones
        mean = first / np.maximum(weight, np.finfo(float).tiny)[:, None]
        diagonal = np.maximum(second - first * mean, _LEAST * second) + self._strength
        diagonal[:, -1] = _FREE * weight + np.finfo(np.float32).tiny
        if not self._fit_intercept:
            mean[:, -1], diagonal[:, -1] = 0.0, 1.0
        return NearlyDiagonal(diagonal, mean, weight)

    def _total(self, parts: Any) -> np.ndarray:
        """The sum of K × (r + 1) arrays in their order, without intercepts where there are none."""
        total = sum(parts, np.zeros(self._shape))
        if not self._fit_intercept:
            total[:, -1] = 0.0
        return total

    def _all(self, tasks: list[Any]) -> list[Any]:
        return run_tasks(tasks, n_jobs=self._n_jobs)


def _class_sums(part: Part, K: int) -> np.ndarray:
    """Σ w z over the rows of each class."""
    own = sparse.csr_array((part.w, part.codes, np.arange(len(part.w) + 1)), shape=(len(part.w), K))
    return own.T @ part.Z


def _product(part: Part, chances: np.ndarray, p: np.ndarray) -> np.ndarray:
    T = part.single @ p
    kernels.curved(chances, part.codes, part.w, T)
    return T.T @ part.single


def _moments(part: Part, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Σ p(1 − p) z and Σ p(1 − p) z² of every class and axis."""
    curve = np.empty_like(chances)
    kernels.curve(chances, part.codes, part.w, curve)
    return curve.T @ part.single, curve.T @ np.square(part.single)
