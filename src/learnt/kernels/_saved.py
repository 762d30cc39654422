"""Kernels of model files: whether what a file holds can be used as one."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import Check, Dims, anyof, none, number
from learnt.kernels._base import is_kernel_object
from learnt.kernels._named import KERNEL_NAMES


def kernel_object(value: Any, dims: Dims) -> str | None:
    """Return why a value of a model file is no kernel, whatever its parameters; None where it is one.

    Parameters
    ----------
    value : object
        What the file holds.
    dims : dict
        Sizes of the model, which do not matter here.

    Returns
    -------
    str or None
        The reason, or None.

    See Also
    --------
    usable_kernel : Tries the kernel too.

    Examples
    --------
    >>> from learnt.kernels import RBF
    >>> kernel_object(RBF(), {}), kernel_object("rbf", {})
    (None, 'is not a kernel')
    """
    return None if is_kernel_object(value) else "is not a kernel"


def usable_kernel(value: Any, dims: Dims) -> str | None:
    """Return why a kernel does not answer for rows of as many features as the model has ("d"); None where it does.

    Parameters
    ----------
    value : object
        What the file holds.
    dims : dict
        Sizes of the model; "d" is its number of features.

    Returns
    -------
    str or None
        The reason, or None.

    See Also
    --------
    kernel_object : Whether it is a kernel at all.

    Examples
    --------
    >>> from learnt.kernels import RBF
    >>> usable_kernel(RBF(), {"d": 3})
    >>> usable_kernel(RBF([1.0, 2.0]), {"d": 3})
    'is a kernel with parameters that it cannot have'
    """
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
    """Return why the `kernel` of a model file is neither a name nor a kernel that can be used; None where it is one.

    Parameters
    ----------
    model : estimator
        The model as it was read, with its parameters.
    state : dict
        Its fitted attributes.
    dims : dict
        Its sizes: "n" rows kept, "d" features.

    Returns
    -------
    str or None
        The reason, or None.

    See Also
    --------
    usable_kernel : Tries a kernel.

    Examples
    --------
    >>> from learnt.kernel_ridge import KernelRidge
    >>> kernel_rule(KernelRidge(kernel="rbf"), {}, {"d": 3})
    >>> kernel_rule(KernelRidge(kernel="unheard of"), {}, {"d": 3})
    'has a kernel that does not fit its rows'
    """
    params = getattr(model, "kernel_params", None)
    if params is not None and (reason := _kernel_params(params, dims)) is not None:
        return f"has a kernel_params that {reason}"
    if isinstance(model.kernel, str):
        known = (*KERNEL_NAMES, "precomputed")
        square = model.kernel != "precomputed" or dims.get("n", 0) == dims.get("d", 0)
        return None if model.kernel in known and square else "has a kernel that does not fit its rows"
    reason = usable_kernel(model.kernel, dims)
    return None if reason is None else f"has a kernel that {reason}"
