"""Least squares with and without a ridge: min_b Σ w (y − ȳ − (x − x̄)ᵀb)² + α‖b‖², by several solvers.

    cholesky    Cholesky of the scatter matrix, corrected by residuals taken from the data where it is ill-conditioned
    qr          triangular factor of the data, in blocks: survives a condition number of 1e8
    svd         singular values of that factor: the shortest of all solutions where there are many
    dual        the n × n problem, where rows are fewer than columns
    lsqr        products with X only: large sparse data
    augmented   qr of the data with √α·I below them (ridge)

`auto` takes cholesky (begun in single precision where there are many columns) or dual, estimates the condition number,
and changes to svd where too many digits would be lost: on a factor from sums over rows (`_basis`) where these converge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.optimize import nnls
from scipy.sparse.linalg import LinearOperator, lsqr

from learnt.engine.arrays import to_numpy
from learnt.engine.matrices import Route
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import as_columns
from learnt.engine.threads import single_blas
from learnt.linalg import decompositions
from learnt.linalg.spectrum import UNEQUAL, rounding, scatter_spectrum
from learnt.linear_model.least_squares._basis import factor_by_basis
from learnt.linear_model.least_squares._centred import CentredRows
from learnt.linear_model.least_squares._directions import directions
from learnt.linear_model.least_squares._mixed_precision import mixed_precision_dual, mixed_precision_ridge, pays
from learnt.linear_model.least_squares._residuals import column_squares, residual_products
from learnt.linear_model.least_squares._triangle import Triangle, centred_triangle, column_lengths
from learnt.statistics import JointMoments, joint_means, joint_moments

# Reciprocal condition numbers of the (equilibrated) scatter matrix: above the first, normal equations are as good as
# any method; down to the second, one correction from the residuals makes them so, down to the third two; below that,
# the data must be factorised.
_SAFE, _HALF, _CORRECTABLE = 1e-5, 1e-8, 1e-11
_LARGEST_SPARSE_GRAM = 2000
_DIGITS_OF_SQUARES = 1e-16


class Solution(NamedTuple):
    """Coefficients (d, k) and facts about the problem found while solving."""

    coef: np.ndarray
    x_mean: np.ndarray
    y_mean: np.ndarray
    solver: str
    rank: int | None = None
    singular: np.ndarray | None = None
    n_iter: int | None = None
    scatter: np.ndarray | None = None  # where `singular` is not computed yet: its eigenvalues are the squares of them

    @property
    def intercept(self) -> np.ndarray:
        return self.y_mean - self.x_mean @ self.coef


@single_blas()
def least_squares(
    rows: Rows,
    solver: str,
    fit_intercept: bool,
    alpha: float | np.ndarray = 0.0,
    *,
    positive: bool = False,
    spectrum: bool = False,
    tol: float = 1e-6,
    max_iter: int | None = None,
    check_cells: Callable[[], None] | None = None,
) -> Solution:
    """Solve with the named solver; `alpha` is one ridge for all targets or one for each.

    `spectrum` asks for the singular values too, or the matrix they can be computed from later. `check_cells` raises
    where a cell of X is not finite; it is not called where sums over all cells prove that they are.
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    if positive:
        _call(check_cells)
        return _non_negative(rows, fit_intercept, alpha)
    if solver == "auto":
        solver = _choose(rows)
        if alpha.ndim == 0 and not spectrum and pays(rows):
            found = mixed_precision_ridge(rows, fit_intercept, float(alpha), check_cells)
            if found is not None:
                return Solution(*found, "cholesky")
    if solver not in ("dual", "cholesky"):
        _call(check_cells)
    if solver == "lsqr":
        return _by_products(rows, fit_intercept, alpha, tol, max_iter)
    if solver == "dual":
        return _by_rows(rows, fit_intercept, alpha, spectrum, check_cells)
    if solver in ("qr", "svd", "augmented"):
        return _by_factor(rows, fit_intercept, alpha, solver)
    return _by_moments(rows, fit_intercept, alpha, solver, spectrum, check_cells)


def _call(check_cells: Callable[[], None] | None) -> None:
    if check_cells is not None:
        check_cells()


def _choose(rows: Rows) -> str:
    if not rows.in_memory:
        return "cholesky"
    n, d = rows.X.shape
    if rows.route is Route.SPARSE:
        return "cholesky" if d <= _LARGEST_SPARSE_GRAM else "lsqr"
    return "dual" if n < d and rows.reference.__class__ is np.ndarray else "cholesky"


# Through the scatter matrix


def _by_moments(
    rows: Rows, center: bool, alpha: np.ndarray, solver: str, spectrum: bool, check_cells: Any = None
) -> Solution:
    m = joint_moments(rows, center)
    if not np.isfinite(np.diag(m.gram)).all():
        _call(check_cells)
    with single_blas():
        if alpha.ndim and np.ptp(alpha) > 0:
            coef, values = _by_spectrum(m.gram, m.cross, alpha)
            return Solution(coef, m.x_mean, m.y_mean, "cholesky", int((values > 0).sum()), np.sqrt(values))
        ridge = float(alpha.max()) if alpha.size else 0.0
        factor = Factor.of(m.gram, ridge)
        if factor is not None and (factor.rcond > _CORRECTABLE or solver == "normal"):
            coef = factor.solve(m.cross)
            if factor.rcond < _SAFE and solver != "normal":
                coef = _corrected(rows, m, factor, coef, ridge)
            if not spectrum:
                return Solution(coef, m.x_mean, m.y_mean, "cholesky")
            return Solution(coef, m.x_mean, m.y_mean, "cholesky", m.gram.shape[0], scatter=m.gram)
        found = factor_by_basis(rows, m)
    if found is not None:
        with single_blas():
            return _from_factor(rows, found, alpha)
    return _by_factor(rows, center, alpha, "svd", (m.x_mean, m.y_mean))


def equilibrated(gram: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray] | None:
    """D(G + αI)D with a diagonal of ones, so that units do not matter, and D.

    None where the diagonal is not positive.
    """
    diagonal = np.diag(gram) + ridge
    if diagonal.size == 0 or not np.all(diagonal > 0) or not np.isfinite(diagonal).all():
        return None
    scale = 1.0 / np.sqrt(diagonal)
    scaled = gram * scale
    scaled *= scale[:, None]
    np.fill_diagonal(scaled, 1.0)
    return scaled, scale


class Factor(NamedTuple):
    """Cholesky factor of D(G + αI)D, with D scaling the diagonal to 1 so that units do not matter."""

    triangle: np.ndarray
    scale: np.ndarray
    rcond: float

    @staticmethod
    def of(gram: np.ndarray, ridge: float) -> Factor | None:
        """None where the matrix is not positive definite."""
        balanced = equilibrated(gram, ridge)
        if balanced is None:
            return None
        scaled, scale = balanced
        norm = np.abs(scaled).sum(axis=0).max()
        triangle, info = linalg.lapack.dpotrf(scaled, lower=True, clean=True, overwrite_a=True)
        if info:
            return None
        rcond, _ = linalg.lapack.dpocon(triangle, norm, uplo="L")
        return Factor(triangle, scale, float(rcond))

    @property
    def corrections(self) -> int:
        """How many corrections give all digits: of n digits that the factor lacks, the first leaves 2n − 16."""
        return 1 if self.rcond > _HALF else 2

    def solve(self, right: np.ndarray) -> np.ndarray:
        solution, _ = linalg.lapack.dpotrs(self.triangle, right * self.scale[:, None], lower=True)
        return solution * self.scale[:, None]


def _corrected(rows: Rows, m: JointMoments, factor: Factor, coef: np.ndarray, ridge: float) -> np.ndarray:
    """Newton steps with the gradient from the data: each gains the digits that the factor has."""
    for _ in range(factor.corrections):
        (gradient,) = rows.sum(residual_products, m.x_mean, m.y_mean, coef)
        coef = coef + factor.solve(to_numpy(gradient) - ridge * coef)
    return coef


def _by_spectrum(gram: np.ndarray, right: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(G + αI)⁻¹ of each column of `right` with a ridge of its own, and the eigenvalues of G, which serve all."""
    values, vectors = scatter_spectrum(gram)
    filters = np.zeros((len(values), len(alpha)))
    filters[values > 0] = 1.0 / (values[values > 0, None] + alpha)
    return vectors @ (filters * (vectors.T @ right)), values


def _non_negative(rows: Rows, center: bool, alpha: np.ndarray) -> Solution:
    """Coefficients of at least 0: the same least squares on a square root of the scatter matrix."""
    m = joint_moments(rows, center)
    d, k = m.cross.shape
    alpha = np.broadcast_to(alpha, (k,))
    coef = np.zeros((d, k))
    for j in range(k):
        those = np.flatnonzero(np.diag(m.gram) + alpha[j] > 0)  # the others are constant
        balanced = equilibrated(m.gram[np.ix_(those, those)], alpha[j])
        if balanced is None:
            continue
        scaled, scale = balanced
        values, vectors = decompositions.eigh(scaled)
        keep = values > values[-1] * _DIGITS_OF_SQUARES
        root = np.sqrt(values[keep])
        target = (vectors[:, keep].T @ (scale * m.cross[those, j])) / root
        coef[those, j] = scale * nnls((vectors[:, keep] * root).T, target)[0]
    return Solution(coef, m.x_mean, m.y_mean, "nnls")


# Through the triangular factor


def _by_factor(rows: Rows, center: bool, alpha: np.ndarray, solver: str, known_means: tuple | None = None) -> Solution:
    found = centred_triangle(rows, center, known_means)
    with single_blas():
        left, right = found.left, found.right
        d, k = left.shape[1], right.shape[1]
        alpha = np.broadcast_to(alpha, (k,))
        if solver in ("augmented", "qr") and alpha.any():
            columns = [_augmented(left, right[:, j], alpha[j]) for j in range(k)]
            return Solution(np.column_stack(columns), found.x_mean, found.y_mean, solver)
        if solver == "qr" and left.shape[0] >= d and _independent(left[:d]):
            coef = linalg.solve_triangular(left[:d], right[:d])
            singular = decompositions.svd(left[:d], compute_uv=False)
            return Solution(coef, found.x_mean, found.y_mean, "qr", d, singular)
        return _from_factor(rows, found, alpha)


def _from_factor(rows: Rows, triangle: Triangle, alpha: np.ndarray) -> Solution:
    """The shortest solution from R and Qᵀy, by singular values."""
    left, right, x_mean, y_mean, _ = triangle
    if alpha.any():
        U, s, Vt = decompositions.svd(left, full_matrices=False)
        filters = np.zeros((s.size, right.shape[1]))
        filters[s > 0] = 1.0 / (s[s > 0, None] + alpha / s[s > 0, None])  # s/(s² + α), where s² might overflow
        return Solution(Vt.T @ (filters * (U.T @ right)), x_mean, y_mean, "svd")
    found = directions(triangle, rows.dtype)
    s = decompositions.svd(left, compute_uv=False)
    # 0 for columns that are combinations of others
    singular = np.append(s, np.zeros(max(min(rows.n_rows, len(x_mean)) - s.size, 0)))
    return Solution(found.solve(right), x_mean, y_mean, "svd", found.rank, singular)


def _independent(triangle: np.ndarray) -> bool:
    """Whether no column is a combination of those before it, up to rounding."""
    return bool((np.abs(np.diag(triangle)) > rounding(len(triangle)) * column_lengths(triangle)).all())


def _augmented(left: np.ndarray, right: np.ndarray, alpha: float) -> np.ndarray:
    d = left.shape[1]
    system = np.vstack([left, np.sqrt(alpha) * np.eye(d)])
    Q, R = np.linalg.qr(system)
    return linalg.solve_triangular(R, Q.T @ np.concatenate([right, np.zeros(d)]))


# Through the rows' inner products


def _by_rows(rows: Any, center: bool, alpha: np.ndarray, spectrum: bool, check_cells: Any) -> Solution:
    Z = CentredRows(rows, center)
    if alpha.ndim == 0 and not spectrum and (found := mixed_precision_dual(Z, float(alpha))) is not None:
        return Solution(Z.transposed_times(found), Z.x_mean, Z.y_mean, "dual")
    T, K = Z.target, Z.inner_products()
    if not np.isfinite(K).all():
        _call(check_cells)
        return _by_factor(rows, center, alpha, "svd")
    with single_blas():
        if alpha.ndim and np.ptp(alpha) > 0:
            dual, _ = _by_spectrum(K, T, alpha)
            return Solution(Z.transposed_times(dual), Z.x_mean, Z.y_mean, "dual")
        ridge = float(alpha.max()) if alpha.size else 0.0
        rank, scatter = None, None
        if spectrum:
            scatter = K.copy()
            rank = min(len(K) - int(center), Z.shape[1])  # Cholesky below fails where the rank is less
        fill = Z.fill(K)
        factor = Factor.of(K, ridge)
        if factor is not None and factor.rcond > _CORRECTABLE:
            dual = factor.solve(T)
            if factor.rcond < _SAFE:
                for _ in range(factor.corrections):
                    dual = dual + factor.solve(Z.dual_gradient(ridge, fill, dual))
            return Solution(Z.transposed_times(dual), Z.x_mean, Z.y_mean, "dual", rank, scatter=scatter)
    return _by_factor(rows, center, alpha, "svd")


# Through products with X


def _by_products(rows: Any, center: bool, alpha: np.ndarray, tol: float, max_iter: int | None) -> Solution:
    x_mean, y_mean = joint_means(rows, center)
    X, n = rows.X, rows.n_rows
    root = np.ones(n) if rows.w is None else np.sqrt(rows.w)
    T = (as_columns(rows.y) - y_mean) * root[:, None]
    squares = np.clip(rows.sum(column_squares, x_mean)[0], 0.0, None)
    coef, n_iter = np.zeros((X.shape[1], T.shape[1])), 0
    for j, ridge in enumerate(np.broadcast_to(alpha, (T.shape[1],))):
        unit = _units(squares + ridge)
        below = np.sqrt(ridge) * unit  # rows √α·1 below X, in these units

        def product(v: np.ndarray, unit: np.ndarray = unit, below: np.ndarray = below) -> np.ndarray:
            b = unit * v.ravel()
            return np.append(root * (X @ b - x_mean @ b), below * v.ravel())

        def transposed(u: np.ndarray, unit: np.ndarray = unit, below: np.ndarray = below) -> np.ndarray:
            weighted = root * u[:n].ravel()
            return unit * (X.T @ weighted - x_mean * weighted.sum()) + below * u[n:].ravel()

        operator = LinearOperator((n + len(unit), len(unit)), matvec=product, rmatvec=transposed, dtype=np.float64)
        found = lsqr(operator, np.append(T[:, j], np.zeros(len(unit))), atol=tol, btol=tol, iter_lim=max_iter)
        coef[:, j], n_iter = unit * found[0], max(n_iter, found[2])
    return Solution(coef, x_mean, y_mean, "lsqr", n_iter=n_iter)


def _units(squares: np.ndarray) -> np.ndarray:
    """Units for the coefficients: LSQR would end before it comes to columns that are much shorter than others.

    Columns of like lengths keep theirs, in which it finds the shortest of many solutions.
    """
    varying = squares > 0
    if squares.min(where=varying, initial=np.inf) >= UNEQUAL * squares.max(initial=0.0):
        return np.ones(len(squares))
    return 1.0 / np.sqrt(np.where(varying, squares, 1.0))
