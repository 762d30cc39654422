"""Kernels of the product xᵀz: linear, polynomial, in another metric, of all subsets of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import is_numpy, namespace
from learnt.engine.matrices import dense
from learnt.kernels._base import BOUNDS, Kernel, Term
from learnt.kernels._differences import as_numbers, inner, squares
from learnt.kernels._gram import as_rows_of_kernel


class Linear(Kernel):
    """xᵀz.

    Examples
    --------
    >>> Linear()([[1.0, 2.0], [3.0, 4.0]])
    array([[ 5., 11.],
           [11., 25.]])
    """

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return inner(X, Y)

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        return inner(X, Y), []

    def diag(self, X: Any) -> Any:
        """‖x‖²."""
        return squares(as_rows_of_kernel(X))

    def formula(self) -> str:
        return "xᵀz"


class DotProduct(Kernel):
    """σ₀² + xᵀz: straight lines whose height at 0 has the variance σ₀².

    Parameters
    ----------
    sigma_0 : float, default=1.0
    sigma_0_bounds : pair or "fixed", default=(1e-5, 1e5)
    """

    learnable = ("sigma_0",)
    precedence = 1

    def __init__(self, sigma_0=1.0, sigma_0_bounds=BOUNDS):
        self.sigma_0 = sigma_0
        self.sigma_0_bounds = sigma_0_bounds

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return inner(X, Y) + float(self.sigma_0) ** 2

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        K = self.block(X, Y, start)
        if self.hyperparameter_sigma_0.fixed:  # type: ignore[attr-defined]
            return K, []
        return K, [lambda: 0.0 * K + 2.0 * float(self.sigma_0) ** 2]

    def diag(self, X: Any) -> Any:
        """σ₀² + ‖x‖²."""
        return squares(as_rows_of_kernel(X)) + float(self.sigma_0) ** 2

    def formula(self) -> str:
        return f"{float(self.sigma_0) ** 2:g} + xᵀz"


class _OfProduct(Kernel):
    """A function of γxᵀz + c."""

    def _inside(self, X: Any, Y: Any) -> Any:
        return float(self.gamma) * inner(X, Y) + float(self.coef0)  # type: ignore[attr-defined]

    def _named_inside(self) -> str:
        gamma = "" if self.gamma == 1 else f"{float(self.gamma):g}·"  # type: ignore[attr-defined]
        coef0 = "" if self.coef0 == 0 else f" + {float(self.coef0):g}"  # type: ignore[attr-defined]
        return f"{gamma}xᵀz{coef0}"


class Polynomial(_OfProduct):
    """(γxᵀz + c)^p: all products of up to p features.

    Parameters
    ----------
    degree : float, default=3
        p.
    coef0 : float, default=1.0
        c: 0 leaves products of exactly p features.
    gamma : float, default=1.0
    gamma_bounds, coef0_bounds : pair or "fixed", default="fixed"

    Examples
    --------
    >>> print(Polynomial(2))
    (xᵀz + 1)²
    """

    learnable = ("coef0", "gamma")

    def __init__(self, degree=3, coef0=1.0, gamma=1.0, coef0_bounds="fixed", gamma_bounds="fixed"):
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma
        self.coef0_bounds = coef0_bounds
        self.gamma_bounds = gamma_bounds

    @property
    def proven(self) -> bool:
        return float(self.degree).is_integer() and min(self.degree, self.coef0, self.gamma) >= 0

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return self._inside(X, Y) ** self.degree

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        base = self._inside(X, Y)

        def slope() -> Any:
            return self.degree * base ** (self.degree - 1)

        terms: list[Term] = []
        if not self.hyperparameter_coef0.fixed:  # type: ignore[attr-defined]
            terms.append(lambda: self.coef0 * slope())
        if not self.hyperparameter_gamma.fixed:  # type: ignore[attr-defined]
            terms.append(lambda: (base - self.coef0) * slope())
        return base**self.degree, terms

    def diag(self, X: Any) -> Any:
        """(γ‖x‖² + c)^p."""
        return (float(self.gamma) * squares(as_rows_of_kernel(X)) + float(self.coef0)) ** self.degree

    def formula(self) -> str:
        return f"({self._named_inside()}){raised(self.degree)}"


class Sigmoid(_OfProduct):
    """tanh(γxᵀz + c), which is not positive semidefinite for most γ and c (`is_kernel` shows it).

    Parameters
    ----------
    gamma : float, default=1.0
    coef0 : float, default=1.0
    gamma_bounds : pair or "fixed", default="fixed"
    """

    learnable = ("gamma",)

    def __init__(self, gamma=1.0, coef0=1.0, gamma_bounds="fixed"):
        self.gamma = gamma
        self.coef0 = coef0
        self.gamma_bounds = gamma_bounds

    @property
    def proven(self) -> bool:
        return False

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return self.terms(X, Y, start)[0]

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        base = self._inside(X, Y)
        K = namespace(base).tanh(base)
        if self.hyperparameter_gamma.fixed:  # type: ignore[attr-defined]
            return K, []
        return K, [lambda: (1.0 - K * K) * (base - self.coef0)]

    def formula(self) -> str:
        return f"tanh({self._named_inside()})"


class Cosine(Kernel):
    """xᵀz / ‖x‖‖z‖: the angle alone; 0 for a row of zeros."""

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        K = inner(X, Y)
        xp = namespace(K)
        lengths = [xp.sqrt(squares(rows)) for rows in (X, Y)]
        left, right = (xp.where(length > 0, length, xp.ones_like(length)) for length in lengths)
        return K / left[:, None] / right[None, :]

    def formula(self) -> str:
        return "xᵀz/(‖x‖‖z‖)"


class Mahalanobis(Kernel):
    """xᵀAz for a symmetric positive semidefinite A: the product in another metric.

    Parameters
    ----------
    A : array of shape (n_features, n_features)

    Examples
    --------
    >>> Mahalanobis([[2.0, 0.0], [0.0, 1.0]])([[1.0, 1.0]])
    array([[3.]])
    """

    def __init__(self, A):
        self.A = A

    def _matrix(self, d: int) -> np.ndarray:
        from learnt.kernels._positive import require_psd

        A = np.asarray(self.A, dtype=np.float64)
        if A.shape != (d, d):
            raise ValueError(f"The matrix A of xᵀAz must be {d} × {d}, as the rows have {d} features; it is {A.shape}.")
        require_psd(A, "The matrix A of xᵀAz")
        return A

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        X = dense(X)
        return inner(X @ as_numbers(self._matrix(X.shape[1]), X), Y)

    def formula(self) -> str:
        return "xᵀAz"


class AllProducts(Kernel):
    """∏ⱼ (1 + xⱼzⱼ): the products of all subsets of features, 2^d of them."""

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        X, Y = dense(X), dense(Y)
        K = 1.0 + X[:, 0][:, None] * Y[:, 0][None, :]
        for j in range(1, X.shape[1]):
            factor = 1.0 + X[:, j][:, None] * Y[:, j][None, :]
            if is_numpy(K):
                K *= factor
            else:
                K = K * factor
        return K

    def formula(self) -> str:
        return "∏ⱼ(1 + xⱼzⱼ)"


def raised(power: float) -> str:
    """A power as it is written: ², ³, ^1.5.

    >>> raised(2), raised(1.5)
    ('²', '^1.5')
    """
    if power == 1:
        return ""
    digits = str(int(power)) if float(power).is_integer() and power >= 0 else ""
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] for c in digits) or f"^{power:g}"
