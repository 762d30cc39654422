"""Kernels of model files: whether what a file holds can be used as one."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import Check, Dims, anyof, none, number
from learnt.kernels._base import is_kernel_object
from learnt.kernels._named import KERNEL_NAMES


def kernel_object(value: Any, dims: Dims) -> str | None:
    """A kernel, whatever its parameters."""
    return None if is_kernel_object(value) else "is not a kernel"


def usable_kernel(value: Any, dims: Dims) -> str | None:
    """A kernel that answers for rows of as many features as the model has ("d")."""
    if (reason := kernel_object(value, dims)) is not None:
        return reason
    probe = np.full((2, dims.get("d", 1)), 0.5)
    try:
        with np.errstate(all="ignore"):
            good = np.shape(value(probe)) == (2, 2) and np.shape(value.theta) == (value.n_dims,)
            good = good and not np.isnan(value.theta).any()  # the logarithm of what must not be negative
            good = good and np.shape(value.diag(probe)) == (2,)
    except Exception:  # a file may contain parameters of any kind
        good = False
    return None if good else "is a kernel with parameters that it cannot have"


_PARAMS: dict[str, Check] = {"gamma": number(0), "degree": number(0), "coef0": number()}


def _kernel_params(value: Any, dims: Dims) -> str | None:
    """What a kernel given by its name reads of a dict."""
    if type(value) is not dict:
        return "is not a dict"
    reasons = (anyof(none, check)(value.get(name), dims) for name, check in _PARAMS.items())
    return next((f"has a value that {reason}" for reason in reasons if reason is not None), None)


def kernel_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of models with a parameter `kernel`: a name, or a kernel that can be used."""
    params = getattr(model, "kernel_params", None)
    if params is not None and (reason := _kernel_params(params, dims)) is not None:
        return f"has a kernel_params that {reason}"
    if isinstance(model.kernel, str):
        known = (*KERNEL_NAMES, "precomputed")
        square = model.kernel != "precomputed" or dims.get("n", 0) == dims.get("d", 0)
        return None if model.kernel in known and square else "has a kernel that does not fit its rows"
    reason = usable_kernel(model.kernel, dims)
    return None if reason is None else f"has a kernel that {reason}"
