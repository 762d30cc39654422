"""What every kernel is: a value that computes blocks of its matrix, prints as a formula, and is combined by operators.

A kernel says two things about a block of rows X against rows Y (`start` is where X stands in Y if both are rows of the
same table, None otherwise):

    block(X, Y, start)    the matrix k(xᵢ, zⱼ)
    terms(X, Y, start)    the same, and for each parameter that is learnt a function that makes ∂k/∂log θ

All else (whole matrices, threads, gradients, products and sums of kernels) is made from these two. Where a sum
Σ Wᵢⱼ ∂kᵢⱼ/∂log θ is wanted and no derivative by itself, `pull(X, Y, start)` gives it: weights are passed down the
expression tree, and a leaf may have a quicker algorithm than computing its derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, ClassVar

import numpy as np

from learnt.engine.arrays import namespace
from learnt.kernels._differences import dot
from learnt.kernels._gram import as_rows_of_kernel, gradient_tensor, gram
from learnt.kernels._parameter import Hyperparameter

Term = Callable[[], Any]
Pull = tuple[Callable[[], Any], Callable[[Any], list[float]]]
BOUNDS = (1e-5, 1e5)


class Kernel:
    """A positive semidefinite function k(x, z) of two rows.

    Kernels are values: they do not change (`clone_with_theta` and `with_params` give others), are equal when their
    parameters are, and print as formulas. `3 * RBF(1.0) + Linear() * Polynomial(2)`, `k ** 2`, `k.exp()`,
    `k.poly([1, 0, 2])` and `k.warp(f)` are kernels again.
    """

    learnable: ClassVar[tuple[str, ...]] = ()  # parameters, each with a companion `<name>_bounds`
    not_kept: ClassVar[tuple[str, ...]] = ()  # other ways to give a parameter, no parameters themselves
    home: ClassVar[str] = "learnt.kernels"  # the module of the classes of its sums and products
    strict: ClassVar[bool] = True  # a negative constant is refused when it is made; else by the fit
    precedence: ClassVar[int] = 3  # of the formula: 1 a sum, 2 a product, 3 what needs no parentheses

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in cls.__dict__.get("learnable", ()):
            setattr(cls, f"hyperparameter_{name}", _hyperparameter_property(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            raise AttributeError(
                f"A kernel does not change; make another with {type(self).__name__}(…) or .with_params({name}=…)."
            )
        object.__setattr__(self, name, value)

    # --- what a kernel computes

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        """k(xᵢ, zⱼ) of some rows X and all rows Y; `start`: where X begins in Y, None where these are other rows."""
        return self(X) if start is not None and len(X) == len(Y) else self(X, Y)

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        """The block, and for each entry of `theta` a function that makes its derivative."""
        if not self.n_dims:
            return self.block(X, Y, start), []
        K, gradient = self(X, eval_gradient=True)
        return K, [lambda j=j: gradient[:, :, j] for j in range(gradient.shape[2])]  # type: ignore[misc]

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        """A function that makes the block, and one that makes Σᵢⱼ Wᵢⱼ ∂kᵢⱼ/∂`theta` of weights W, which it keeps."""
        K, terms = self.terms(X, Y, start)
        return (lambda: K), (lambda W: [dot(W, term()) for term in terms])

    @property
    def in_blocks(self) -> bool:
        """Whether rows can be computed some at a time, which is so unless a class has a `__call__` of its own."""
        return type(self).__call__ is Kernel.__call__

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """The matrix k(xᵢ, zⱼ), of X with itself where Y is None.

        With `eval_gradient` also ∂k/∂`theta`, an array of shape (n, n, len(theta)); for X alone.
        """
        if not eval_gradient:
            return gram(self, X, Y)
        if Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        return gradient_tensor(self, as_rows_of_kernel(X, not self.requires_vector_input))

    def diag(self, X: Any) -> Any:
        """k(xᵢ, xᵢ), without the rest of the matrix."""
        X = as_rows_of_kernel(X)
        return namespace(X).concat([self.block(X[i : i + 1, ...], X[i : i + 1, ...], 0)[0] for i in range(X.shape[0])])

    @property
    def proven(self) -> bool:
        """Whether the kernel is positive semidefinite by construction."""
        return type(self).__module__.startswith("learnt.")

    def is_stationary(self) -> bool:
        """Whether k(x, z) depends on x − z alone."""
        return False

    @property
    def requires_vector_input(self) -> bool:
        """Whether rows must be numbers."""
        return True

    # --- parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the constructor by name."""
        return {name: getattr(self, name) for name in parameters_of(type(self))}  # type: ignore[arg-type]

    def with_params(self, **params: Any) -> Kernel:
        """The same kernel with other parameters."""
        return type(self)(**{**self.get_params(deep=False), **params})

    def _hyperparameter(self, name: str) -> Hyperparameter:
        size = max(1, np.size(getattr(self, name)))
        return Hyperparameter(name, "numeric", getattr(self, f"{name}_bounds"), size)

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """What can be learnt, in the order of `theta`."""
        return [getattr(self, name) for name in dir(type(self)) if name.startswith("hyperparameter_")]

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of the parameters that are not fixed: what a search moves."""
        params = self.get_params()
        free = [np.ravel(params[h.name]) for h in self.hyperparameters if not h.fixed]
        with np.errstate(divide="ignore"):
            return np.log(np.concatenate(free).astype(np.float64)) if free else np.array([])

    @property
    def bounds(self) -> np.ndarray:
        """Logarithms of the bounds of `theta`, one row an entry."""
        bounds = [h.bounds for h in self.hyperparameters if not h.fixed]
        with np.errstate(divide="ignore"):
            return np.log(np.vstack(bounds)) if bounds else np.array([])

    @property
    def n_dims(self) -> int:
        """How many numbers there are to learn."""
        return sum(h.n_elements for h in self.hyperparameters if not h.fixed)

    def clone_with_theta(self, theta: Any) -> Kernel:
        """The same kernel with these logarithms of parameters."""
        return self.with_params(**self._named(theta))

    def _named(self, theta: Any) -> dict[str, Any]:
        """Parameters by name from `theta`."""
        theta = np.asarray(theta, dtype=np.float64)
        if theta.size != self.n_dims:
            raise wrong_size(self, theta)
        named, at, params = {}, 0, self.get_params()
        for h in self.hyperparameters:
            if not h.fixed:
                values = np.exp(theta[at : at + h.n_elements])
                named[h.name] = values if np.ndim(params[h.name]) else float(values[0])
                at += h.n_elements
        return named

    def __eq__(self, other: Any) -> bool:
        if type(self) is not type(other):
            return False
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((type(self).__name__, tuple(np.ravel(self.theta).tolist())))

    # --- the algebra

    def __add__(self, other: Any) -> Kernel:
        return self._combined("Sum", self, other)

    def __radd__(self, other: Any) -> Kernel:
        return self._combined("Sum", other, self)

    def __mul__(self, other: Any) -> Kernel:
        return self._combined("Product", self, other)

    def __rmul__(self, other: Any) -> Kernel:
        return self._combined("Product", other, self)

    def __pow__(self, exponent: float) -> Kernel:
        return self._family().Exponentiation(self, exponent)

    def exp(self) -> Kernel:
        """exp(k(x, z)): a power series with coefficients of at least 0."""
        return self._family().Exp(self)

    def poly(self, coefficients: Any) -> Kernel:
        """g(k(x, z)) = c₀ + c₁k + c₂k² + …, a kernel where no coefficient is negative."""
        return self._family().PolynomialOf(self, coefficients)

    def warp(self, function: Callable[[Any], Any]) -> Kernel:
        """f(x) k(x, z) f(z) for a function of a matrix of rows that gives one number a row."""
        return self._family().Warp(self, function)

    def _family(self) -> Any:
        """The module that has the classes of sums, products and the rest."""
        return import_module(self.home)

    def _combined(self, how: str, left: Any, right: Any) -> Any:
        for side in (left, right):
            if not (is_kernel_object(side) or isinstance(side, int | float | np.number)):
                return NotImplemented
        homes = {getattr(k, "home", Kernel.home) for k in (left, right)} - {Kernel.home}
        family = import_module(homes.pop() if homes else Kernel.home)
        constant = getattr(family, "ConstantKernel", None) or family.Constant
        for side in (left, right):
            if not is_kernel_object(side):
                require_multiple(side, f"The number in {left!r} {'*' if how == 'Product' else '+'} {right!r}")
        left, right = (k if is_kernel_object(k) else constant(float(k)) for k in (left, right))
        return getattr(family, how)(left, right)

    # --- how it prints

    def __repr__(self) -> str:
        shown = []
        defaults = {name: p.default for name, p in parameters_of(type(self)).items()}  # type: ignore[arg-type]
        positional = True
        for place, (name, default) in enumerate(defaults.items()):
            value = getattr(self, name)
            if place and default is not Parameter.empty and _same(value, default):
                positional = False
                continue
            text = repr(value.tolist() if isinstance(value, np.ndarray) else value)
            shown.append(text if positional else f"{name}={text}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def formula(self) -> str:
        """The kernel in the signs of mathematics."""
        return repr(self)

    def __str__(self) -> str:
        return self.formula()


def _hyperparameter_property(name: str) -> property:
    return property(lambda self: self._hyperparameter(name))


def wrong_size(kernel: Any, theta: np.ndarray) -> ValueError:
    """The error of a `theta` with more or fewer entries than the kernel has to learn."""
    return ValueError(f"theta has not the correct number of entries. Should be {kernel.n_dims}; given are {theta.size}")


def require_multiple(value: Any, what: str) -> None:
    """Raise where a kernel would be multiplied by less than 0, or such a constant added: that is no kernel."""
    number = np.asarray(value)
    if number.dtype.kind in "iuf" and not (number >= 0).all():
        raise ValueError(f"{what} must be at least 0, or it is no kernel (negative eigenvalues); it is {value}.")


def is_kernel_object(k: Any) -> bool:
    """Whether `k` is a kernel of ours or one that has scikit-learn's methods of a kernel."""
    return isinstance(k, Kernel) or (
        hasattr(k, "diag") and hasattr(k, "theta") and callable(k) and not isinstance(k, type)
    )


@cache
def parameters_of(cls: Any) -> dict[str, Parameter]:
    """Parameters of the constructor that are kept."""
    if cls.__init__ is object.__init__:
        return {}
    given = list(signature(cls.__init__).parameters.items())[1:]
    return {name: parameter for name, parameter in given if name not in getattr(cls, "not_kept", ())}


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str) and a == b
    if isinstance(a, np.ndarray | list | tuple) or isinstance(b, np.ndarray | list | tuple):
        return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
    return bool(a == b)


def inside(k: Any, precedence: int) -> str:
    """The formula of a part, in parentheses where the operator around it binds more tightly."""
    text = str(k)
    return f"({text})" if getattr(k, "precedence", 3) < precedence else text
