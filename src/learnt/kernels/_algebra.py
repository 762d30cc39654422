"""The rules by which kernels are made from kernels: sums, products, powers, exp, polynomials, f(x) k f(z).

Every rule keeps positive semidefiniteness, and hands derivatives through by the rules of calculus.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import is_numpy, namespace
from learnt.kernels._base import Kernel, Pull, Term, inside, is_kernel_object, wrong_size
from learnt.kernels._constant import Constant, Silent, White
from learnt.kernels._differences import dot
from learnt.kernels._gram import as_rows_of_kernel, gradient_tensor
from learnt.kernels._parameter import Hyperparameter
from learnt.kernels._products import raised


def _block(k: Any, X: Any, Y: Any, start: int | None) -> Any:
    """A block of a kernel of ours, or of any object that is called as one."""
    if isinstance(k, Kernel):
        return k.block(X, Y, start)
    return k(X) if start == 0 and len(X) == len(Y) else k(X, Y)


def _terms(k: Any, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
    if isinstance(k, Kernel):
        return k.terms(X, Y, start)
    K, gradient = k(X, eval_gradient=True)
    return K, [lambda j=j: gradient[:, :, j] for j in range(gradient.shape[2])]  # type: ignore[misc]


def _pull(k: Any, X: Any, Y: Any, start: int | None) -> Pull:
    if isinstance(k, Kernel):
        return k.pull(X, Y, start)
    K, terms = _terms(k, X, Y, start)
    return (lambda: K), (lambda W: [dot(W, term()) for term in terms])


def _own(k: Any, K: Any) -> bool:
    """Whether a block was made for this call, so that it may be changed."""
    return is_numpy(K) and isinstance(k, Kernel) and k.in_blocks


class Composed(Kernel):
    """A kernel made of other kernels; its parameters are theirs, `k1__length_scale` that of the first.

    The base of sums, products and the rest: operators make these, and no one need call it.

    See Also
    --------
    KernelOperator : The base of those made of two kernels.
    Sum : The kernel that `+` makes.
    Kernel : What every kernel can do.

    Examples
    --------
    >>> from learnt.kernels import RBF, Linear
    >>> k = RBF(1.0) + Linear()
    >>> sorted(k.get_params())
    ['k1', 'k1__length_scale', 'k1__length_scale_bounds', 'k2']
    """

    parts: tuple[str, ...] = ()

    def _kernels(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in self.parts]

    @property
    def proven(self) -> bool:
        return all(getattr(k, "proven", False) for _, k in self._kernels())

    @property
    def in_blocks(self) -> bool:
        return super().in_blocks and all(getattr(k, "in_blocks", False) for _, k in self._kernels())

    @property
    def requires_vector_input(self) -> bool:
        return any(k.requires_vector_input for _, k in self._kernels())

    def is_stationary(self) -> bool:
        return all(k.is_stationary() for _, k in self._kernels())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params = super().get_params()
        if deep:
            for name, k in self._kernels():
                params.update({f"{name}__{key}": value for key, value in k.get_params().items()})
        return params

    def with_params(self, **params: Any) -> Kernel:
        own = {key: value for key, value in params.items() if "__" not in key}
        for name, k in self._kernels():
            inner = {key[len(name) + 2 :]: value for key, value in params.items() if key.startswith(f"{name}__")}
            if inner:
                own[name] = own.get(name, k).with_params(**inner)
        return super().with_params(**own)

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        return [
            Hyperparameter(f"{name}__{h.name}", h.value_type, h.bounds, h.n_elements)
            for name, k in self._kernels()
            for h in k.hyperparameters
        ]

    @property
    def theta(self) -> np.ndarray:
        return np.concatenate([k.theta for _, k in self._kernels()])

    @property
    def bounds(self) -> np.ndarray:
        bounds = [k.bounds for _, k in self._kernels() if k.bounds.size]
        return np.vstack(bounds) if bounds else np.array([])

    def clone_with_theta(self, theta: Any) -> Kernel:
        theta = np.asarray(theta, dtype=np.float64)
        if theta.size != self.n_dims:
            raise wrong_size(self, theta)
        changed, at = {}, 0
        for name, k in self._kernels():
            size = k.n_dims
            changed[name] = k.clone_with_theta(theta[at : at + size])
            at += size
        return super().with_params(**changed)


class KernelOperator(Composed):
    """Two kernels under one operator: the base of `Sum` and `Product`.

    Parameters
    ----------
    k1 : Kernel
        The first kernel.
    k2 : Kernel
        The second kernel.

    See Also
    --------
    Sum : The kernel that `+` makes.
    Product : The kernel that `*` makes.

    Examples
    --------
    >>> from learnt.kernels import RBF, KernelOperator, Linear
    >>> isinstance(RBF() * Linear(), KernelOperator)
    True
    """

    parts = ("k1", "k2")

    def __init__(self, k1: Any, k2: Any) -> None:
        for k in (k1, k2):
            if not is_kernel_object(k):
                raise TypeError(f"{type(self).__name__} takes two kernels; it got {k!r}.")
        self.k1 = k1
        self.k2 = k2


class Sum(KernelOperator):
    """k₁(x, z) + k₂(x, z): what `k1 + k2` makes, and `k + 2.0` with a constant.

    Rows are similar where either kernel says so; of a Gaussian process, the sum of two independent functions.

    Parameters
    ----------
    k1 : Kernel
        The first kernel.
    k2 : Kernel
        The second kernel.

    See Also
    --------
    Product : Both must find rows similar.
    White : Noise, which is added to a kernel to learn its variance.
    Constant : What a number becomes that is added.

    Notes
    -----
    Its features are those of both kernels side by side. It costs what the two cost.

    Examples
    --------
    >>> from learnt.kernels import RBF, Linear, Sum
    >>> k = Sum(RBF(1.0), Linear())
    >>> k == RBF(1.0) + Linear()
    True
    >>> k([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 2.   ]])
    """

    precedence = 1

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        first, second = (self.k2, self.k1) if isinstance(self.k1, White | Silent) else (self.k1, self.k2)
        K = _block(first, X, Y, start)
        if not _own(first, K):
            return K + _block(second, X, Y, start)
        if not isinstance(second, White | Silent):
            K += _block(second, X, Y, start)
        elif isinstance(second, White) and start is not None:
            own = np.arange(len(K))
            K[own, own + start] += float(second.noise_level)
        return K

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        (K1, first), (K2, second) = _terms(self.k1, X, Y, start), _terms(self.k2, X, Y, start)
        return K1 + K2, first + second

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        (K1, first), (K2, second) = _pull(self.k1, X, Y, start), _pull(self.k2, X, Y, start)
        return (lambda: K1() + K2()), (lambda W: first(W) + second(W))

    def diag(self, X: Any) -> Any:
        return self.k1.diag(X) + self.k2.diag(X)

    def __repr__(self) -> str:
        return " + ".join(_operands(self, 1, 2))

    def formula(self) -> str:
        return f"{self.k1} + {self.k2}"


class Product(KernelOperator):
    """k₁(x, z) · k₂(x, z): what `k1 * k2` makes, and `2.0 * k` with a constant.

    Rows are similar only where both kernels say so: `RBF() * ExpSineSquared()` repeats itself, but not for ever.

    Parameters
    ----------
    k1 : Kernel
        The first kernel.
    k2 : Kernel
        The second kernel.

    See Also
    --------
    Sum : Either may find rows similar.
    Exponentiation : A kernel times itself.
    Constant : What a number becomes that multiplies: the variance of a Gaussian process.

    Notes
    -----
    Its features are all products of a feature of one kernel and a feature of the other (Schur's product theorem says
    that it is a kernel). It costs what the two cost.

    Examples
    --------
    >>> from learnt.kernels import RBF, Linear, Product
    >>> k = Product(RBF(1.0), Linear())
    >>> print(k)
    exp(−‖x − z‖²/2)·xᵀz
    >>> k([[1.0], [2.0]]).round(3)
    array([[1.   , 1.213],
           [1.213, 4.   ]])
    """

    precedence = 2

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        first, second = (self.k2, self.k1) if isinstance(self.k1, Constant) else (self.k1, self.k2)
        K = _block(first, X, Y, start)
        if not _own(first, K):
            return K * _block(second, X, Y, start)
        K *= float(second.constant_value) if isinstance(second, Constant) else _block(second, X, Y, start)
        return K

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        (K1, first), (K2, second) = _terms(self.k1, X, Y, start), _terms(self.k2, X, Y, start)
        terms: list[Term] = [lambda term=term: term() * K2 for term in first]  # type: ignore[misc]
        terms += [lambda term=term: term() * K1 for term in second]  # type: ignore[misc]
        return K1 * K2, terms

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        (K1, first), (K2, second) = _pull(self.k1, X, Y, start), _pull(self.k2, X, Y, start)
        if isinstance(self.k1, Constant):
            return _scaled(self.k1, K2, second, first_is_constant=True)
        if isinstance(self.k2, Constant):
            return _scaled(self.k2, K1, first, first_is_constant=False)
        return (lambda: K1() * K2()), (lambda W: first(W * K2()) + second(W * K1()))

    def diag(self, X: Any) -> Any:
        return self.k1.diag(X) * self.k2.diag(X)

    def __repr__(self) -> str:
        return " * ".join(_operands(self, 2, 3))

    def formula(self) -> str:
        return f"{inside(self.k1, 2)}·{inside(self.k2, 2)}"


def _scaled(constant: Any, K: Any, pulled: Any, first_is_constant: bool) -> Pull:
    """c·k: weights need not be multiplied by c one by one."""
    c = float(constant.constant_value)

    def both(W: Any) -> list[float]:
        own = [] if constant.hyperparameter_constant_value.fixed else [c * dot(W, K())]
        other = [c * value for value in pulled(W)]
        return own + other if first_is_constant else other + own

    return (lambda: c * K()), both


class _OfOne(Composed):
    """A function of one kernel."""

    parts = ("kernel",)

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return self._value(_block(self.kernel, X, Y, start))

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        K, terms = _terms(self.kernel, X, Y, start)
        return self._value(K), [lambda term=term: self._slope(K) * term() for term in terms]  # type: ignore[misc]

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        K, pulled = _pull(self.kernel, X, Y, start)
        return (lambda: self._value(K())), (lambda W: pulled(W * self._slope(K())))

    def diag(self, X: Any) -> Any:
        return self._value(self.kernel.diag(X))

    def _value(self, K: Any) -> Any:
        raise NotImplementedError

    def _slope(self, K: Any) -> Any:
        raise NotImplementedError


class Exponentiation(_OfOne):
    """k(x, z)^p: what `k ** p` makes.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    exponent : float
        The exponent p. A kernel again for whole p of at least 0; for others it may have negative eigenvalues.

    See Also
    --------
    Product : The product of two kernels.
    PolynomialOf : Several powers at once, each with a coefficient.
    Polynomial : A power of xᵀz + c.

    Examples
    --------
    >>> from learnt.kernels import Linear
    >>> k = (Linear() + 1.0) ** 2
    >>> k([[1.0], [2.0]])
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    def __init__(self, kernel: Any, exponent: float) -> None:
        self.kernel = kernel
        self.exponent = exponent

    @property
    def proven(self) -> bool:
        return super().proven and float(self.exponent).is_integer() and self.exponent >= 0

    def _value(self, K: Any) -> Any:
        return K**self.exponent

    def _slope(self, K: Any) -> Any:
        return self.exponent * K ** (self.exponent - 1)

    def __repr__(self) -> str:
        return f"{_code(self.kernel, 4)} ** {self.exponent!r}"

    def formula(self) -> str:
        return f"({self.kernel}){raised(self.exponent)}"


class Exp(_OfOne):
    """exp(k(x, z)): what `k.exp()` makes.

    Its features are products of any number of features of k, weighted by 1/√(order!).

    Parameters
    ----------
    kernel : Kernel
        The kernel k. Large values overflow: scale it, or the rows, first.

    See Also
    --------
    PolynomialOf : A finite power series.
    RBF : exp(xᵀz/ℓ²), scaled so that k(x, x) = 1.

    Examples
    --------
    >>> from learnt.kernels import Linear
    >>> print(Linear().exp())
    exp(xᵀz)
    >>> Linear().exp()([[0.0], [1.0]]).round(3)
    array([[1.   , 1.   ],
           [1.   , 2.718]])
    """

    def _value(self, K: Any) -> Any:
        return namespace(K).exp(K)

    def _slope(self, K: Any) -> Any:
        return namespace(K).exp(K)

    def __repr__(self) -> str:
        return f"{_code(self.kernel, 4)}.exp()"

    def formula(self) -> str:
        return f"exp({self.kernel})"


class PolynomialOf(_OfOne):
    """g(k(x, z)) = c₀ + c₁k + c₂k² + …, whose coefficients are at least 0: what `k.poly(c)` makes.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    coefficients : sequence of floats
        c₀, c₁, c₂, …, each at least 0; a negative one is refused, as the result would be no kernel.

    See Also
    --------
    Exponentiation : One power alone.
    Exp : The power series of the exponential function.
    Polynomial : (γxᵀz + c)^p, a polynomial of the plain product.

    Examples
    --------
    >>> from learnt.kernels import Linear
    >>> k = Linear().poly([1.0, 0.0, 2.0])
    >>> print(k)
    (1 + 2·(xᵀz)²)
    >>> k([[1.0], [2.0]])
    array([[ 3.,  9.],
           [ 9., 33.]])
    """

    def __init__(self, kernel: Any, coefficients: Any) -> None:
        for power, c in enumerate(coefficients):
            if not 0 <= float(c) < np.inf:
                raise ValueError(
                    f"A polynomial of a kernel is one where no coefficient is negative; that of k^{power} is {c:g}."
                )
        self.kernel = kernel
        self.coefficients = coefficients

    def _value(self, K: Any) -> Any:
        return _horner(self.coefficients, K)

    def _slope(self, K: Any) -> Any:
        return _horner([p * c for p, c in enumerate(self.coefficients)][1:], K)

    def __repr__(self) -> str:
        return f"{_code(self.kernel, 4)}.poly({[float(c) for c in self.coefficients]!r})"

    def formula(self) -> str:
        powers = [
            f"{c:g}" + (f"·({self.kernel}){raised(p)}" if p else "") for p, c in enumerate(self.coefficients) if c
        ]
        return "(" + (" + ".join(powers) or "0") + ")"


class Warp(_OfOne):
    """f(x) k(x, z) f(z) for a function f of a matrix of rows, one number a row: what `k.warp(f)` makes.

    It makes the variance differ from place to place: of a Gaussian process, the function is multiplied by f.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    function : callable
        The function f: it takes a matrix of n rows and returns an array of n numbers. A function defined in a module,
        not a lambda, can be pickled.

    See Also
    --------
    Product : The product with another kernel.
    Cosine : The linear kernel, warped by 1/‖x‖.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.kernels import Linear
    >>> k = Linear().warp(lambda X: 1.0 / np.linalg.norm(X, axis=1))
    >>> k([[3.0, 4.0], [6.0, 8.0]])
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(self, kernel: Any, function: Any) -> None:
        if not callable(function):
            raise TypeError(f"f of f(x) k(x, z) f(z) must be a function of rows; it is {function!r}.")
        self.kernel = kernel
        self.function = function

    def _factor(self, X: Any) -> Any:
        f = self.function(X)
        if getattr(f, "shape", None) != (X.shape[0],):
            shape = getattr(f, "shape", type(f).__name__)
            raise ValueError(
                f"f of f(x) k(x, z) f(z) gets a matrix of {X.shape[0]} rows and must return one number a row; it "
                f"returned {shape}."
            )
        return f

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return self._factor(X)[:, None] * _block(self.kernel, X, Y, start) * self._factor(Y)[None, :]

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        left, right = self._factor(X)[:, None], self._factor(Y)[None, :]
        K, terms = _terms(self.kernel, X, Y, start)
        return left * K * right, [lambda term=term: left * term() * right for term in terms]  # type: ignore[misc]

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        left, right = self._factor(X)[:, None], self._factor(Y)[None, :]
        K, pulled = _pull(self.kernel, X, Y, start)
        return (lambda: left * K() * right), (lambda W: pulled(left * W * right))

    def diag(self, X: Any) -> Any:
        X = as_rows_of_kernel(X)
        return self._factor(X) ** 2 * self.kernel.diag(X)

    def is_stationary(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"{_code(self.kernel, 4)}.warp({getattr(self.function, '__name__', repr(self.function))})"

    def formula(self) -> str:
        return f"f(x)·{inside(self.kernel, 2)}·f(z)"


class CompoundKernel(Composed):
    """Several kernels side by side: matrices of shape (n, m, number of kernels).

    A classifier by Gaussian processes of several classes has one kernel a class; this one holds them all. No operator
    makes it, and it is no similarity by itself.

    Parameters
    ----------
    kernels : list of Kernel
        The kernels.

    See Also
    --------
    Sum : Kernels added up instead.
    learnt.gaussian_process.GaussianProcessClassifier : Has such a kernel where there are three classes or more.

    Examples
    --------
    >>> from learnt.kernels import RBF, CompoundKernel, Linear
    >>> CompoundKernel([RBF(1.0), Linear()])([[0.0], [1.0]]).shape
    (2, 2, 2)
    """

    def __init__(self, kernels: Any) -> None:
        self.kernels = kernels

    def _kernels(self) -> list[tuple[str, Any]]:
        return [(f"k{i}", k) for i, k in enumerate(self.kernels)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"kernels": self.kernels}

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        return []  # they are those of the kernels

    @property
    def n_dims(self) -> int:
        return len(self.theta)

    def clone_with_theta(self, theta: Any) -> Kernel:
        parts = np.split(np.asarray(theta), np.cumsum([k.n_dims for k in self.kernels])[:-1])
        return type(self)([k.clone_with_theta(part) for k, part in zip(self.kernels, parts, strict=True)])

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        if not eval_gradient:
            return np.stack([k(X, Y) for k in self.kernels], axis=2)
        found = [gradient_tensor(k, as_rows_of_kernel(X)) for k in self.kernels]
        return np.stack([K for K, _ in found], axis=2), np.concatenate([g[..., None] for _, g in found], axis=3)

    def diag(self, X: Any) -> Any:
        return np.stack([k.diag(X) for k in self.kernels], axis=1)

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and list(self.kernels) == list(other.kernels)

    __hash__ = Kernel.__hash__


def _horner(coefficients: Any, K: Any) -> Any:
    found = 0.0 * K
    for c in reversed(list(coefficients)):
        found = found * K + c
    return found


def _operands(pair: KernelOperator, *precedence: int) -> list[str]:
    """The code of both sides: a constant is written as a number where the other side is a kernel."""
    texts = []
    for k, other, level in zip((pair.k1, pair.k2), (pair.k2, pair.k1), precedence, strict=True):
        plain = isinstance(k, Constant) and not isinstance(other, Constant) and k == type(k)(k.constant_value)
        texts.append(repr(float(k.constant_value)) if plain else _code(k, level))
    return texts


def _code(k: Any, precedence: int) -> str:
    """The code of a part, in parentheses where the operator around it binds more tightly."""
    text = repr(k)
    level = 1 if isinstance(k, Sum) else 2 if isinstance(k, Product) else 3 if isinstance(k, Exponentiation) else 4
    return f"({text})" if level < precedence else text
