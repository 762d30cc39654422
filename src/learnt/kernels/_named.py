"""Which kernel is meant by `kernel=`: a name, a kernel of ours or of scikit-learn, or a function of two rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_foreign_array, to_numpy
from learnt.engine.params import ParameterError
from learnt.kernels._base import BOUNDS, Kernel, Term, is_kernel_object
from learnt.kernels._differences import as_numbers, filled, length
from learnt.kernels._products import Cosine, Linear, Polynomial, Sigmoid
from learnt.kernels._sets import AdditiveChi2, Chi2
from learnt.kernels._stationary import RBF, Laplacian

KERNEL_NAMES = (
    "additive_chi2",
    "chi2",
    "cosine",
    "laplacian",
    "linear",
    "poly",
    "polynomial",
    "rbf",
    "sigmoid",
)


class FromFunction(Kernel):
    """A kernel from a function of two rows that returns one number.

    For similarities of your own, of rows of any kind. It is called once for each pair of rows, in Python: slow for more
    than a few thousand rows. Derive from `Kernel` to compute blocks.

    Parameters
    ----------
    function : callable
        Called as `function(x, z, **params)`; returns one number, the same for (x, z) and (z, x).
    params : dict or None, default=None
        More arguments of the function by name.

    See Also
    --------
    Kernel : To derive from where blocks can be computed at once.
    is_kernel : Whether the function is a kernel.

    Examples
    --------
    >>> from learnt.kernels import FromFunction
    >>> FromFunction(lambda x, z: float(min(x[0], z[0])))([[1.0], [2.0]])
    array([[1., 1.],
           [1., 2.]])
    """

    def __init__(self, function: Any, params: dict[str, Any] | None = None) -> None:
        self.function = function
        self.params = params

    @property
    def proven(self) -> bool:
        return False

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        params = self.params or {}
        if sparse.issparse(X) or sparse.issparse(Y):
            X, Y = ([rows[[i]] if sparse.issparse(rows) else rows[i] for i in range(length(rows))] for rows in (X, Y))
        on_device = is_foreign_array(X)
        left, right = (to_numpy(X), to_numpy(Y)) if on_device else (X, Y)
        out = np.empty((length(X), length(Y)))
        for i, x in enumerate(left):
            for j, z in enumerate(right):
                value = self.function(x, z, **params)
                if np.size(value) != 1:
                    raise ValueError(
                        "A kernel function gets two rows and must return one number; it returned an array of the "
                        f"shape {np.shape(value)} for rows {i} and {j}."
                    )
                out[i, j] = np.reshape(value, ())
        return as_numbers(out, X) if on_device else out

    def formula(self) -> str:
        return f"{getattr(self.function, '__name__', 'f')}(x, z)"


def named_kernel(name: str, gamma: float | None, degree: float, coef0: float, n_features: int) -> Kernel:
    """Return the kernel of a name; γ is 1/n_features where it is not given (1 for chi2).

    Parameters
    ----------
    name : str
        One of "additive_chi2", "chi2", "cosine", "laplacian", "linear", "poly" (or "polynomial"), "rbf" and "sigmoid".
    gamma : float or None
        The rate γ of rbf, laplacian and chi2, the factor of poly and sigmoid; None for the default above.
    degree : float
        The degree of poly.
    coef0 : float
        The constant of poly and sigmoid.
    n_features : int
        How many columns the rows have, for the default of γ.

    Returns
    -------
    Kernel
        The kernel.

    Raises
    ------
    ParameterError
        Where there is no kernel of that name.

    See Also
    --------
    kernel_of : The kernel of an estimator's parameters.

    Examples
    --------
    >>> named_kernel("rbf", 0.5, 3, 1.0, 4)
    RBF(1.0)
    """
    scale = 1.0 / n_features if gamma is None else float(gamma)
    if name == "linear":
        return Linear()
    if name in ("poly", "polynomial"):
        return Polynomial(degree, float(coef0), scale)
    if name == "rbf":
        return RBF(gamma=scale)
    if name == "laplacian":
        return Laplacian(scale)
    if name == "sigmoid":
        return Sigmoid(scale, float(coef0))
    if name == "cosine":
        return Cosine()
    if name == "chi2":
        return Chi2(1.0 if gamma is None else float(gamma))
    if name == "additive_chi2":
        return AdditiveChi2()
    raise ParameterError(f"There is no kernel named {name!r}; take one of {', '.join(KERNEL_NAMES)}, or pass a kernel.")


def kernel_of(estimator: Any, n_features: int) -> Any:
    """Return the kernel that an estimator's `kernel`, `gamma`, `degree`, `coef0` and `kernel_params` mean.

    Parameters
    ----------
    estimator : estimator
        One with these parameters.
    n_features : int
        How many columns its rows have: γ is 1/n_features where it is None.

    Returns
    -------
    Kernel
        The kernel of that name, the kernel itself, or `FromFunction` of a function.

    See Also
    --------
    named_kernel : The kernel of a name alone.
    check_kernel : Whether the parameter is good.

    Examples
    --------
    >>> from learnt.kernel_ridge import KernelRidge
    >>> kernel_of(KernelRidge(kernel="rbf", gamma=2.0), n_features=3)
    RBF(0.5)
    """
    kernel, params = estimator.kernel, dict(estimator.kernel_params or {})
    if isinstance(kernel, str):
        settings = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")} | params
        degree, coef0 = (default if settings[name] is None else settings[name] for name, default in _DEFAULTS.items())
        return named_kernel(kernel, settings["gamma"], degree, coef0, n_features)
    if is_kernel_object(kernel):
        return kernel
    return FromFunction(kernel, params)


_DEFAULTS = {"degree": 3, "coef0": 1}


def check_kernel(estimator: Any, *others: str) -> None:
    """Raise unless the parameter `kernel` is a name, one of `others` ("precomputed"), a kernel or a function.

    Parameters
    ----------
    estimator : estimator
        One with a parameter `kernel`.
    *others : str
        More names that it takes.

    Raises
    ------
    ParameterError
        Where `kernel` is anything else; the message lists the names.

    See Also
    --------
    kernel_of : The kernel that is meant.

    Examples
    --------
    >>> from learnt.kernel_ridge import KernelRidge
    >>> check_kernel(KernelRidge(kernel="rbf"))  # fine: says nothing
    """
    kernel = estimator.kernel
    names = sorted({*KERNEL_NAMES, *others})
    if isinstance(kernel, str) and kernel in names:
        return
    if isinstance(kernel, str) or not callable(kernel) or isinstance(kernel, type):
        raise ParameterError(
            f"The 'kernel' parameter of {type(estimator).__name__} must be one of {', '.join(map(repr, names))}, a "
            f"kernel of learnt.kernels or a function of two rows. Got {kernel!r} instead."
        )


class PairwiseKernel(Kernel):
    """A kernel by its name ("rbf", "laplacian", "poly", …), with one width γ to learn.

    It brings scikit-learn's names of kernels to Gaussian processes; kernels under their own names learn more of their
    parameters.

    Parameters
    ----------
    gamma : float, default=1.0
        The rate or factor γ of the kernels that have one; others ignore it.
    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Lowest and highest γ that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.
    metric : str or callable, default="linear"
        The name: "additive_chi2", "chi2", "cosine", "laplacian", "linear", "poly" (or "polynomial"), "rbf" or
        "sigmoid"; or a function of two rows that returns one number.
    pairwise_kernels_kwargs : dict or None, default=None
        Its `degree` and `coef0`, or arguments of the function.

    See Also
    --------
    RBF : The kernel of the name "rbf", by its length scale.
    FromFunction : A kernel from a function of two rows.
    learnt.gaussian_process.GaussianProcessRegressor : Learns γ from the data.

    Notes
    -----
    γ is learnt by its exact derivative. A function of yours is not told γ, which then stays as it is.

    Examples
    --------
    >>> from learnt.kernels import PairwiseKernel
    >>> k = PairwiseKernel(gamma=0.5, metric="rbf")
    >>> print(k)
    exp(−‖x − z‖²/2)
    >>> k([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    learnable = ("gamma",)

    def __init__(
        self,
        gamma: float = 1.0,
        gamma_bounds: Any = BOUNDS,
        metric: Any = "linear",
        pairwise_kernels_kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds
        self.metric = metric
        self.pairwise_kernels_kwargs = pairwise_kernels_kwargs

    def _kernel(self) -> Kernel:
        params = dict(self.pairwise_kernels_kwargs or {})
        if not isinstance(self.metric, str):
            return FromFunction(self.metric, params)
        kernel = named_kernel(
            self.metric, float(np.squeeze(self.gamma)), params.get("degree", 3), params.get("coef0", 1), 1
        )
        return kernel.with_params(gamma_bounds=BOUNDS) if "gamma" in kernel.learnable else kernel

    @property
    def proven(self) -> bool:
        return self._kernel().proven

    def is_stationary(self) -> bool:
        return self.metric == "rbf"

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return self._kernel().block(X, Y, start)

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        kernel = self._kernel()
        K, terms = kernel.terms(X, Y, start) if kernel.n_dims else (kernel.block(X, Y, start), [])
        if self.hyperparameter_gamma.fixed:  # type: ignore[attr-defined]
            return K, []
        if not terms:
            return K, [lambda: filled(X, Y, 0.0)]
        # log γ = −2 log ℓ + constant
        return K, [(lambda: -0.5 * terms[0]()) if isinstance(kernel, RBF) else terms[0]]

    def diag(self, X: Any) -> Any:
        return self._kernel().diag(X)

    def formula(self) -> str:
        return self._kernel().formula()
