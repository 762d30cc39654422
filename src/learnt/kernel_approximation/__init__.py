"""Features whose inner products approximate a kernel: linear models on them replace kernel methods on many rows.

Nystroem                 any kernel, by its values at some of the rows
RBFSampler               random cosines for exp(−γ‖x − z‖²)
PolynomialCountSketch    sketches for (γxᵀz + c)^p
AdditiveChi2Sampler      samples of a spectrum, for histograms
SkewedChi2Sampler        random cosines of logarithms, for histograms
"""

from learnt.kernel_approximation._additive_chi2 import AdditiveChi2Sampler
from learnt.kernel_approximation._cosines import RBFSampler, SkewedChi2Sampler
from learnt.kernel_approximation._nystroem import Nystroem
from learnt.kernel_approximation._sketch import PolynomialCountSketch

__all__ = ["AdditiveChi2Sampler", "Nystroem", "PolynomialCountSketch", "RBFSampler", "SkewedChi2Sampler"]
