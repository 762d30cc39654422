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
from learnt.engine.documentation.sections import Docstring, join, split
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

    Pass one as `kernel=` to an SVM, a kernel ridge, a kernel PCA or a Gaussian process, or call it for its matrix. To
    write a kernel of your own, derive from this class and define `block` (and `terms`, if it has parameters to learn);
    `FromFunction` makes one of a function of two rows.

    See Also
    --------
    RBF : The kernel to try first: similarity that decays with the distance.
    FromFunction : A kernel from a function of two rows.
    is_kernel : Whether something is a kernel at all.

    Notes
    -----
    A matrix of n and m rows costs O(n m d) for most kernels of d features. It is computed some rows at a time, on all
    threads, in the array library of X; NumPy arrays, SciPy sparse matrices and arrays of PyTorch, CuPy and JAX are
    taken.

    Examples
    --------
    >>> from learnt.kernels import RBF, Linear
    >>> k = 3 * RBF(1.0) + Linear()
    >>> print(k)
    3·exp(−‖x − z‖²/2) + xᵀz
    >>> k([[0.0], [1.0]]).round(3)
    array([[3.  , 1.82],
           [1.82, 4.  ]])
    >>> k.with_params(k1__k2__length_scale=2.0)
    3.0 * RBF(2.0) + Linear()
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
        _explain(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            raise AttributeError(
                f"A kernel does not change; make another with {type(self).__name__}(…) or .with_params({name}=…)."
            )
        object.__setattr__(self, name, value)

    # --- what a kernel computes

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        """Return k(xᵢ, zⱼ) of some rows X and all rows Y: what a kernel of your own defines.

        Parameters
        ----------
        X : array of shape (n, n_features)
            Some rows.
        Y : array of shape (m, n_features)
            The rows to compare them with.
        start : int or None
            Where X begins in Y, if both are rows of the same table, so that a row is known to meet itself; None if they
            are other rows.

        Returns
        -------
        array of shape (n, m)
            The block of the kernel matrix.
        """
        return self(X) if start is not None and len(X) == len(Y) else self(X, Y)

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        """Return the block, and for each entry of `theta` a function that makes its derivative.

        Parameters
        ----------
        X : array of shape (n, n_features)
            Some rows.
        Y : array of shape (m, n_features)
            The rows to compare them with.
        start : int or None
            Where X begins in Y, if both are rows of the same table; None if they are other rows.

        Returns
        -------
        block : array of shape (n, m)
            The block of the kernel matrix.
        terms : list of callables
            One for each entry of `theta`, in its order; each returns ∂k/∂θ, an array of shape (n, m).
        """
        if not self.n_dims:
            return self.block(X, Y, start), []
        K, gradient = self(X, eval_gradient=True)
        return K, [lambda j=j: gradient[:, :, j] for j in range(gradient.shape[2])]  # type: ignore[misc]

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        """Return two functions: one makes the block, one makes Σᵢⱼ Wᵢⱼ ∂kᵢⱼ/∂`theta` of weights W, which it keeps.

        Gradients of a likelihood need these sums only, and some kernels have a quicker way to them than by their
        derivatives.

        Parameters
        ----------
        X : array of shape (n, n_features)
            Some rows.
        Y : array of shape (m, n_features)
            The rows to compare them with.
        start : int or None
            Where X begins in Y, if both are rows of the same table; None if they are other rows.

        Returns
        -------
        block : callable
            Returns the block of the kernel matrix, an array of shape (n, m).
        pulled : callable
            Takes W, an array of shape (n, m), and returns a list of numbers, one for each entry of `theta`.
        """
        K, terms = self.terms(X, Y, start)
        return (lambda: K), (lambda W: [dot(W, term()) for term in terms])

    @property
    def in_blocks(self) -> bool:
        """Whether rows can be computed some at a time, which is so unless a class has a `__call__` of its own."""
        return type(self).__call__ is Kernel.__call__

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Return the matrix k(xᵢ, zⱼ), of X with itself where Y is None.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.
        Y : array-like of shape (m, n_features) or None, default=None
            Rows to compare them with; None for X itself.
        eval_gradient : bool, default=False
            Whether to return the derivatives in `theta` too; for X alone.

        Returns
        -------
        K : array of shape (n, m)
            The kernel matrix.
        gradient : array of shape (n, n, n_dims)
            ∂k/∂`theta`, only where `eval_gradient` is set.
        """
        if not eval_gradient:
            return gram(self, X, Y)
        if Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        return gradient_tensor(self, as_rows_of_kernel(X, not self.requires_vector_input))

    def diag(self, X: Any) -> Any:
        """Return k(xᵢ, xᵢ), without the rest of the matrix.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.

        Returns
        -------
        array of shape (n,)
            The diagonal of the kernel matrix of X with itself.
        """
        X = as_rows_of_kernel(X)
        return namespace(X).concat([self.block(X[i : i + 1, ...], X[i : i + 1, ...], 0)[0] for i in range(X.shape[0])])

    @property
    def proven(self) -> bool:
        """Whether the kernel is positive semidefinite by construction."""
        return type(self).__module__.startswith("learnt.")

    def is_stationary(self) -> bool:
        """Return whether k(x, z) depends on x − z alone.

        Returns
        -------
        bool
            True where it does, so that k(x, x) is the same for all rows.
        """
        return False

    @property
    def requires_vector_input(self) -> bool:
        """Whether rows must be numbers."""
        return True

    # --- parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of kernels that it is made of, as `k1__length_scale`.

        Returns
        -------
        dict
            Names of parameters and their values.
        """
        return {name: getattr(self, name) for name in parameters_of(type(self))}  # type: ignore[arg-type]

    def with_params(self, **params: Any) -> Kernel:
        """Return the same kernel with other parameters; this one stays as it is.

        Parameters
        ----------
        **params : dict
            New values by name; `k1__length_scale` is that of the first of two kernels.

        Returns
        -------
        Kernel
            Another kernel of the same class.
        """
        return type(self)(**{**self.get_params(deep=False), **params})

    def _hyperparameter(self, name: str) -> Hyperparameter:
        size = max(1, np.size(getattr(self, name)))
        return Hyperparameter(name, "numeric", getattr(self, f"{name}_bounds"), size)

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """What can be learnt, in the order of `theta`: one `Hyperparameter` each, fixed ones among them."""
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
        """Return the same kernel with these logarithms of parameters; this one stays as it is.

        Parameters
        ----------
        theta : array-like of shape (n_dims,)
            Natural logarithms of the parameters that are not fixed, in the order of `theta`.

        Returns
        -------
        Kernel
            Another kernel of the same class.
        """
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
        """Return exp(k(x, z)), a kernel: a power series with coefficients of at least 0.

        Returns
        -------
        Exp
            The new kernel.
        """
        return self._family().Exp(self)

    def poly(self, coefficients: Any) -> Kernel:
        """Return g(k(x, z)) = c₀ + c₁k + c₂k² + …, a kernel where no coefficient is negative.

        Parameters
        ----------
        coefficients : sequence of floats
            c₀, c₁, c₂, …, each at least 0.

        Returns
        -------
        PolynomialOf
            The new kernel.
        """
        return self._family().PolynomialOf(self, coefficients)

    def warp(self, function: Callable[[Any], Any]) -> Kernel:
        """Return f(x) k(x, z) f(z), a kernel for any function f of a row.

        Parameters
        ----------
        function : callable
            Takes a matrix of rows, and returns an array of one number a row.

        Returns
        -------
        Warp
            The new kernel.
        """
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
        """Return the kernel in the signs of mathematics, which is also what `print` shows.

        Returns
        -------
        str
            The formula, with the values of the parameters in it.
        """
        return repr(self)

    def __str__(self) -> str:
        return self.formula()


def _hyperparameter_property(name: str) -> property:
    told = f"The parameter `{name}` as a `Hyperparameter`: its bounds, its size, and whether it is fixed."
    return property(lambda self: self._hyperparameter(name), doc=told)


def _explain(cls: type) -> None:
    """Give methods that override others the docstrings of these, or their sections below a summary of their own."""
    for name, member in vars(cls).items():
        function = member.fget if isinstance(member, property) else member
        if name.startswith("_") or getattr(function, "__qualname__", "") != f"{cls.__qualname__}.{name}":
            continue
        others = (vars(base)[name].__doc__ for base in cls.__mro__[1:] if name in vars(base))
        if told := next(filter(None, others), None):
            own, inherited = split(member.__doc__), split(told)
            member.__doc__ = join(Docstring(own.head or inherited.head, inherited.sections | own.sections))


def wrong_size(kernel: Any, theta: np.ndarray) -> ValueError:
    """The error of a `theta` with more or fewer entries than the kernel has to learn."""
    return ValueError(f"theta has not the correct number of entries. Should be {kernel.n_dims}; given are {theta.size}")


def require_multiple(value: Any, what: str) -> None:
    """Raise where a kernel would be multiplied by less than 0, or such a constant added: that is no kernel."""
    number = np.asarray(value)
    if number.dtype.kind in "iuf" and not (number >= 0).all():
        raise ValueError(f"{what} must be at least 0, or it is no kernel (negative eigenvalues); it is {value}.")


def is_kernel_object(k: Any) -> bool:
    """Return whether `k` is a kernel of ours or one that has scikit-learn's methods of a kernel.

    Parameters
    ----------
    k : object
        Anything.

    Returns
    -------
    bool
        True for kernels; False for their classes, plain functions and names.

    Examples
    --------
    >>> from learnt.kernels import RBF
    >>> is_kernel_object(RBF()), is_kernel_object("rbf")
    (True, False)
    """
    return isinstance(k, Kernel) or (
        hasattr(k, "diag") and hasattr(k, "theta") and callable(k) and not isinstance(k, type)
    )


@cache
def parameters_of(cls: Any) -> dict[str, Parameter]:
    """Return the parameters of a kernel's constructor that the kernel keeps.

    Parameters
    ----------
    cls : type
        A class of kernels.

    Returns
    -------
    dict
        Names, and the `inspect.Parameter` of each.

    Examples
    --------
    >>> from learnt.kernels import RBF
    >>> list(parameters_of(RBF))  # `gamma` is another way to give the length scale
    ['length_scale', 'length_scale_bounds']
    """
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
