"""Kernels that do not depend on the rows' values: a constant, and independent noise of each row."""

from __future__ import annotations

from typing import Any

from learnt.engine.arrays import namespace
from learnt.kernels._base import BOUNDS, Kernel, Pull, Term, require_multiple
from learnt.kernels._differences import filled, identity
from learnt.kernels._gram import as_rows_of_kernel


class _Anything(Kernel):
    """Rows may be anything."""

    @property
    def requires_vector_input(self) -> bool:
        return False

    def is_stationary(self) -> bool:
        return True


class Constant(_Anything):
    """k(x, z) = c, at least 0: every two rows are as similar.

    `2.0 * k` and `k + 2.0` make it. As a factor it is the variance of a Gaussian process, as a summand the variance of
    its mean.

    Parameters
    ----------
    constant_value : float, default=1.0
        The constant c. A negative one is refused: that is no kernel.
    constant_value_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Lowest and highest c that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.

    See Also
    --------
    White : Noise of each row, instead of a constant for every pair.
    Product : The kernel that `*` makes.
    Sum : The kernel that `+` makes.

    Examples
    --------
    >>> from learnt.kernels import RBF, Constant
    >>> print(Constant(3.0) * RBF(1.0))
    3·exp(−‖x − z‖²/2)
    >>> (2.0 * RBF(1.0)).diag([[0.0], [5.0]])
    array([2., 2.])
    """

    learnable = ("constant_value",)

    def __init__(self, constant_value: float = 1.0, constant_value_bounds: Any = BOUNDS) -> None:
        if self.strict:
            require_multiple(constant_value, "The constant_value of Constant")
        self.constant_value = constant_value
        self.constant_value_bounds = constant_value_bounds

    @property
    def proven(self) -> bool:
        return bool(self.constant_value >= 0)

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return filled(X, Y, float(self.constant_value))

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        K = self.block(X, Y, start)
        return K, [] if self.hyperparameter_constant_value.fixed else [lambda: K]  # type: ignore[attr-defined]

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        def pulled(W: Any) -> list[float]:
            fixed = self.hyperparameter_constant_value.fixed  # type: ignore[attr-defined]
            return [] if fixed else [float(self.constant_value) * float(namespace(W).sum(W))]

        return (lambda: self.block(X, Y, start)), pulled

    def diag(self, X: Any) -> Any:
        """c for every row."""
        X = as_rows_of_kernel(X, anything=True)
        return filled(X, X[:1], float(self.constant_value))[:, 0]

    def formula(self) -> str:
        return f"{float(self.constant_value):g}"


class White(_Anything):
    """σ² where a row meets itself, 0 elsewhere: noise that is independent from row to row.

    Add it to a kernel, and a Gaussian process learns the variance of the noise in y from the data.

    Parameters
    ----------
    noise_level : float, default=1.0
        The variance σ² of the noise, at least 0. More of it smooths more, and guards against overfitting.
    noise_level_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Lowest and highest σ² that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.

    See Also
    --------
    Constant : The same value for every pair of rows.
    Sum : What adds noise to a kernel.
    learnt.gaussian_process.GaussianProcessRegressor : Its `alpha` is noise that is known and not learnt.

    Notes
    -----
    It tells that a row meets itself by its place in the table, not by its values: two equal rows have noise of their
    own each, and rows that are predicted have none in common with those of the fit.

    Examples
    --------
    >>> from learnt.kernels import RBF, White
    >>> (RBF(1.0) + White(0.5))([[0.0], [0.0]])
    array([[1.5, 1. ],
           [1. , 1.5]])
    """

    learnable = ("noise_level",)

    def __init__(self, noise_level: float = 1.0, noise_level_bounds: Any = BOUNDS) -> None:
        if self.strict:
            require_multiple(noise_level, "The noise_level of White")
        self.noise_level = noise_level
        self.noise_level_bounds = noise_level_bounds

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return float(self.noise_level) * identity(X, Y, start)

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        K = self.block(X, Y, start)
        return K, [] if self.hyperparameter_noise_level.fixed else [lambda: K]  # type: ignore[attr-defined]

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        def pulled(W: Any) -> list[float]:
            if self.hyperparameter_noise_level.fixed:  # type: ignore[attr-defined]
                return []
            if start is None:
                return [0.0]
            return [float(self.noise_level) * float(namespace(W).linalg.trace(W, offset=start))]

        return (lambda: self.block(X, Y, start)), pulled

    def diag(self, X: Any) -> Any:
        """σ² for every row."""
        X = as_rows_of_kernel(X, anything=True)
        return filled(X, X[:1], float(self.noise_level))[:, 0]

    def formula(self) -> str:
        return f"{float(self.noise_level):g}·[x is z]"


class Silent(_Anything):
    """0, with the parameters of `White`."""

    learnable = ("noise_level",)

    def __init__(self, noise_level: float = 1.0, noise_level_bounds: Any = BOUNDS) -> None:
        self.noise_level = noise_level
        self.noise_level_bounds = noise_level_bounds

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return filled(X, Y, 0.0)

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        return self.block(X, Y, start), [lambda: self.block(X, Y, start)] * self.n_dims

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        return (lambda: self.block(X, Y, start)), (lambda W: [0.0] * self.n_dims)

    def diag(self, X: Any) -> Any:
        return filled(X, X[:1], 0.0)[:, 0]
