"""Ridge regression in the space of a kernel."""

from learnt.kernel_ridge._kernel_ridge import KernelRidge

__all__ = ["KernelRidge"]
