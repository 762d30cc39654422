"""Kernels: similarities of rows that are inner products somewhere, as objects with an algebra.

    k = 3 * RBF(1.0) + Linear() * Polynomial(2)
    k(X)              the matrix k(xᵢ, xⱼ), some rows at a time on all threads, in the library of X
    print(k)          3·exp(−‖x − z‖²/2) + xᵀz·(xᵀz + 1)²
    is_kernel(k)      yes, no with a direction that proves it, or don't know

Linear, Polynomial, DotProduct, Sigmoid, Cosine, Mahalanobis, AllProducts     of xᵀz (_products)
RBF, Matern, RationalQuadratic, ExpSineSquared, Laplacian                     of x − z (_stationary)
Chi2, AdditiveChi2, SetIntersection                                           of histograms and sets (_sets)
Constant, White                                                               of neither (_constant)
Sum, Product, Exponentiation, Exp, PolynomialOf, Warp, CompoundKernel         what operators make (_algebra)
FromFunction, PairwiseKernel, named_kernel, kernel_of, check_kernel           what `kernel=` means (_named)
is_kernel, is_positive_semidefinite, require_psd, Verdict, sample_places, warn_unless_positive
                                                                             whether it is one (_positive)
gram, gram_times, own_gram_times, lower_gram, pull_back                       whole matrices and gradients (_gram)
require_room                                                                  whether a matrix fits in memory (_room)
smooth_part, pull_diagonal                                                    a kernel without its noise (_noise)
gaussian, products_are_exact, from_products                                  RBF alone, by its error bound (_gaussian)
solve_dual                                                                    weights of rows of a kernel ridge (_solve)
kernel_object, kernel_rule, usable_kernel                                     kernels of model files (_saved)

_base    the protocol: `block`, `terms`, parameters, operators     _differences    products and distances of rows
"""

from learnt.kernels._algebra import (
    Composed,
    CompoundKernel,
    Exp,
    Exponentiation,
    KernelOperator,
    PolynomialOf,
    Product,
    Sum,
    Warp,
)
from learnt.kernels._base import Kernel, is_kernel_object, parameters_of
from learnt.kernels._constant import Constant, White
from learnt.kernels._gaussian import from_products, gaussian, products_are_exact
from learnt.kernels._gram import gram, gram_times, lower_gram, own_gram_times, pull_back
from learnt.kernels._named import KERNEL_NAMES, FromFunction, PairwiseKernel, check_kernel, kernel_of, named_kernel
from learnt.kernels._noise import pull_diagonal, smooth_part
from learnt.kernels._parameter import Hyperparameter
from learnt.kernels._positive import (
    Verdict,
    is_kernel,
    is_positive_semidefinite,
    require_psd,
    sample_places,
    warn_unless_positive,
)
from learnt.kernels._products import AllProducts, Cosine, DotProduct, Linear, Mahalanobis, Polynomial, Sigmoid
from learnt.kernels._room import require_room
from learnt.kernels._saved import kernel_object, kernel_rule, usable_kernel
from learnt.kernels._sets import AdditiveChi2, Chi2, SetIntersection
from learnt.kernels._solve import solve_dual
from learnt.kernels._stationary import RBF, ExpSineSquared, Laplacian, Matern, RationalQuadratic

__all__ = [
    "KERNEL_NAMES",
    "RBF",
    "AdditiveChi2",
    "AllProducts",
    "Chi2",
    "Composed",
    "CompoundKernel",
    "Constant",
    "Cosine",
    "DotProduct",
    "Exp",
    "ExpSineSquared",
    "Exponentiation",
    "FromFunction",
    "Hyperparameter",
    "Kernel",
    "KernelOperator",
    "Laplacian",
    "Linear",
    "Mahalanobis",
    "Matern",
    "PairwiseKernel",
    "Polynomial",
    "PolynomialOf",
    "Product",
    "RationalQuadratic",
    "SetIntersection",
    "Sigmoid",
    "Sum",
    "Verdict",
    "Warp",
    "White",
    "check_kernel",
    "from_products",
    "gaussian",
    "gram",
    "gram_times",
    "is_kernel",
    "is_kernel_object",
    "is_positive_semidefinite",
    "kernel_object",
    "kernel_of",
    "kernel_rule",
    "lower_gram",
    "named_kernel",
    "own_gram_times",
    "parameters_of",
    "products_are_exact",
    "pull_back",
    "pull_diagonal",
    "require_psd",
    "require_room",
    "sample_places",
    "smooth_part",
    "solve_dual",
    "usable_kernel",
    "warn_unless_positive",
]
