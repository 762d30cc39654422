"""Gaussian processes.

kernels    the kernels of `learnt.kernels` under scikit-learn's names, whose parameters can be set
"""

from learnt.gaussian_process import kernels

__all__ = ["kernels"]
