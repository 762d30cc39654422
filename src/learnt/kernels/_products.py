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
    """xᵀz: the plain product of two rows, a linear model in the space of the kernel.

    Take it as a baseline, for sparse rows of very many columns, and as a part of other kernels. It has no parameters.

    See Also
    --------
    DotProduct : With a variance at 0, as Gaussian processes need.
    Polynomial : With products of features too.
    Cosine : Of rows scaled to length 1.

    Examples
    --------
    >>> from learnt.kernels import Linear
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

    A Gaussian process with this kernel is Bayesian linear regression, with priors N(0, 1) of the coefficients and N(0,
    σ₀²) of the intercept. It is not stationary: it matters where 0 is, so centre the columns or learn σ₀.

    Parameters
    ----------
    sigma_0 : float, default=1.0
        The standard deviation σ₀ of the intercept; 0 forces lines through the origin.
    sigma_0_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Lowest and highest σ₀ that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.

    See Also
    --------
    Linear : Without σ₀.
    Exponentiation : `DotProduct() ** 2` gives parabolas instead of lines.
    Polynomial : (γxᵀz + c)^p.

    References
    ----------
    .. [1] Carl E. Rasmussen and Christopher K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006.

    Examples
    --------
    >>> from learnt.kernels import DotProduct
    >>> DotProduct(2.0)([[1.0], [3.0]])
    array([[ 5.,  7.],
           [ 7., 13.]])
    """

    learnable = ("sigma_0",)
    precedence = 1

    def __init__(self, sigma_0: float = 1.0, sigma_0_bounds: Any = BOUNDS) -> None:
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

    Take it where interactions of a few features matter. High degrees overfit, and values grow fast with the length of
    the rows, so scale the columns first.

    Parameters
    ----------
    degree : float, default=3
        The degree p, how many features interact. A kernel for whole numbers of at least 0.
    coef0 : float, default=1.0
        The constant c: the greater, the more weight low degrees get; 0 leaves products of exactly p features.
    gamma : float, default=1.0
        The factor γ of the product; 1/n_features keeps it of order 1 for standardised columns.
    coef0_bounds : pair of floats or "fixed", default="fixed"
        Lowest and highest c that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.
    gamma_bounds : pair of floats or "fixed", default="fixed"
        Lowest and highest γ that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.

    See Also
    --------
    Linear : Degree 1.
    AllProducts : Products of different features, of every degree.
    RBF : Similarity that decays with the distance, of infinite degree.

    Examples
    --------
    >>> from learnt.kernels import Polynomial
    >>> print(Polynomial(2))
    (xᵀz + 1)²
    >>> Polynomial(2)([[1.0, 0.0], [1.0, 1.0]])
    array([[4., 4.],
           [4., 9.]])
    """

    learnable = ("coef0", "gamma")

    def __init__(
        self,
        degree: float = 3,
        coef0: float = 1.0,
        gamma: float = 1.0,
        coef0_bounds: Any = "fixed",
        gamma_bounds: Any = "fixed",
    ) -> None:
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

    Known from neural networks, and kept for models that were made with it. An SVM with it may end in a minimum that is
    not the least one; take `RBF` instead.

    Parameters
    ----------
    gamma : float, default=1.0
        The slope γ.
    coef0 : float, default=1.0
        The offset c.
    gamma_bounds : pair of floats or "fixed", default="fixed"
        Lowest and highest γ that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.

    See Also
    --------
    RBF : A kernel by construction, and the usual choice.
    is_kernel : Proves that something is no kernel.

    Examples
    --------
    >>> from learnt.kernels import Sigmoid, is_kernel
    >>> print(Sigmoid(2.0, 1.0))
    tanh(2·xᵀz + 1)
    >>> is_kernel(Sigmoid(1.0, -1.0)).answer
    'no'
    """

    learnable = ("gamma",)

    def __init__(self, gamma: float = 1.0, coef0: float = 1.0, gamma_bounds: Any = "fixed") -> None:
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
    """xᵀz / ‖x‖‖z‖: the angle alone; 0 for a row of zeros.

    For rows whose length says little, such as word counts of documents of different lengths. It has no parameters.

    See Also
    --------
    Linear : The product without scaling.
    learnt.preprocessing.Normalizer : Scales rows to length 1, after which `Linear` is this kernel.

    Examples
    --------
    >>> from learnt.kernels import Cosine
    >>> Cosine()([[1.0, 0.0], [5.0, 5.0]]).round(3)
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """

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

    With A the inverse of a covariance matrix, features count by how much they say beside the others; a diagonal A
    weighs features one by one.

    Parameters
    ----------
    A : array-like of shape (n_features, n_features)
        The matrix A, symmetric and without negative eigenvalues; others are refused when the kernel is computed.

    See Also
    --------
    Linear : Where A is the identity.
    RBF : With one length scale a feature, weighs features in a distance.

    Examples
    --------
    >>> from learnt.kernels import Mahalanobis
    >>> Mahalanobis([[2.0, 0.0], [0.0, 1.0]])([[1.0, 1.0]])
    array([[3.]])
    """

    def __init__(self, A: Any) -> None:
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
    """∏ⱼ (1 + xⱼzⱼ): the products of all subsets of features, 2^d of them.

    For interactions of any order between different features, without squares of any. Of indicators, where cells are 0
    and 1, it counts the subsets that both rows have. Scale the columns: with many of them the product grows fast. It
    has no parameters.

    See Also
    --------
    Polynomial : Products of up to p features, squares among them.
    SetIntersection : The same for sets, with e in place of 2 for each element that both have.

    Notes
    -----
    O(n m d) time, though it has 2^d features.

    Examples
    --------
    >>> from learnt.kernels import AllProducts
    >>> AllProducts()([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    array([[4., 2.],
           [2., 4.]])
    """

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
