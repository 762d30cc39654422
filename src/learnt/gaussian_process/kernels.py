"""The kernels of `learnt.kernels` under scikit-learn's names, with parameters that can be set.

The mathematics is that of `learnt.kernels`; what is added here is `set_params` and `theta = …`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt import kernels as algebra
from learnt.kernels import Hyperparameter

__all__ = [
    "RBF",
    "CompoundKernel",
    "ConstantKernel",
    "DotProduct",
    "Exp",
    "ExpSineSquared",
    "Exponentiation",
    "GenericKernelMixin",
    "Hyperparameter",
    "Kernel",
    "KernelOperator",
    "Matern",
    "NormalizedKernelMixin",
    "PairwiseKernel",
    "PolynomialOf",
    "Product",
    "RationalQuadratic",
    "StationaryKernelMixin",
    "Sum",
    "Warp",
    "WhiteKernel",
]


class Kernel(algebra.Kernel):
    """A kernel whose parameters can be set; the base of kernels that are written by hand.

    A kernel of one's own has `__call__(X, Y=None, eval_gradient=False)`, `diag(X)`, `is_stationary()`, an `__init__`
    that keeps its arguments, and a `Hyperparameter` property for each parameter to learn.

    See Also
    --------
    learnt.kernels.Kernel : The same mathematics, without parameters that can be set.
    """

    home = "learnt.gaussian_process.kernels"
    strict = False  # parameters are set one by one, so that the fit judges them all

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def set_params(self, **params: Any) -> Kernel:
        """Set parameters by name, `k1__length_scale` that of a part.

        Parameters
        ----------
        **params : dict
            Names of parameters and their new values.

        Returns
        -------
        self : Kernel
            The kernel itself.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name} for kernel {type(self).__name__}. Check the list of available "
                    "parameters with `kernel.get_params().keys()`."
                )
            first, _, rest = name.partition("__")
            if rest:
                known[first].set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of the parameters that are not fixed."""
        return super().theta

    @theta.setter
    def theta(self, theta: Any) -> None:
        self.set_params(**self._named(theta))


class _Composed(Kernel, algebra.Composed):
    @property
    def theta(self) -> np.ndarray:
        return algebra.Composed.theta.fget(self)  # type: ignore[attr-defined]

    @theta.setter
    def theta(self, theta: Any) -> None:
        theta, at = np.asarray(theta), 0
        if theta.size != self.n_dims:
            raise ValueError(
                f"theta has not the correct number of entries. Should be {self.n_dims}; given are {theta.size}"
            )
        for _, k in self._kernels():
            size = k.n_dims
            if size:
                k.theta = theta[at : at + size]
            at += size


class RBF(Kernel, algebra.RBF):
    __doc__ = algebra.RBF.__doc__


class Matern(Kernel, algebra.Matern):
    __doc__ = algebra.Matern.__doc__


class RationalQuadratic(Kernel, algebra.RationalQuadratic):
    __doc__ = algebra.RationalQuadratic.__doc__


class ExpSineSquared(Kernel, algebra.ExpSineSquared):
    __doc__ = algebra.ExpSineSquared.__doc__


class DotProduct(Kernel, algebra.DotProduct):
    __doc__ = algebra.DotProduct.__doc__


class ConstantKernel(Kernel, algebra.Constant):
    __doc__ = algebra.Constant.__doc__


class WhiteKernel(Kernel, algebra.White):
    __doc__ = algebra.White.__doc__


class PairwiseKernel(Kernel, algebra.PairwiseKernel):
    __doc__ = algebra.PairwiseKernel.__doc__


class KernelOperator(_Composed, algebra.KernelOperator):
    __doc__ = algebra.KernelOperator.__doc__


class Sum(KernelOperator, algebra.Sum):
    __doc__ = algebra.Sum.__doc__


class Product(KernelOperator, algebra.Product):
    __doc__ = algebra.Product.__doc__


class Exponentiation(_Composed, algebra.Exponentiation):
    __doc__ = algebra.Exponentiation.__doc__


class Exp(_Composed, algebra.Exp):
    __doc__ = algebra.Exp.__doc__


class PolynomialOf(_Composed, algebra.PolynomialOf):
    __doc__ = algebra.PolynomialOf.__doc__


class Warp(_Composed, algebra.Warp):
    __doc__ = algebra.Warp.__doc__


class CompoundKernel(_Composed, algebra.CompoundKernel):
    __doc__ = algebra.CompoundKernel.__doc__


class StationaryKernelMixin:
    """Mixin for kernels of one's own that depend on x − z alone."""

    def is_stationary(self) -> bool:
        """Whether the kernel depends on x − z alone.

        Returns
        -------
        is_stationary : bool
            Always True.
        """
        return True


class NormalizedKernelMixin:
    """Mixin for kernels of one's own with k(x, x) = 1."""

    def diag(self, X: Any) -> np.ndarray:
        """k(x, x) of each row, which is 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects
            The rows.

        Returns
        -------
        diagonal : ndarray of shape (n_samples,)
            Ones.
        """
        return np.ones(len(X))


class GenericKernelMixin:
    """Mixin for kernels of anything: texts, graphs, sequences."""

    @property
    def requires_vector_input(self) -> bool:
        """Whether rows must be vectors of numbers; always False."""
        return False
