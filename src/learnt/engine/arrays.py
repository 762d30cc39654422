"""Which namespace and device an array belongs to.

Dense mathematics is written once against the Array API standard: data in a PyTorch tensor, a CuPy or a JAX array is
computed on its own device, in its own precision, and the result stays there. NumPy is the fast path: asking for its
namespace costs nothing and imports nothing.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np


def is_numpy(x: Any) -> bool:
    """Whether `x` is a NumPy array (a memory map is one too).

    >>> is_numpy(np.zeros(2)), is_numpy([0, 0])
    (True, False)
    """
    return isinstance(x, np.ndarray)


def is_foreign_array(x: Any) -> bool:
    """Whether `x` is an array of another library that follows the Array API: PyTorch, CuPy, JAX, array-api-strict."""
    kind = type(x)
    root = kind.__module__.partition(".")[0]
    if root == "torch":
        return isinstance(x, sys.modules["torch"].Tensor)
    if root == "cupy":
        return hasattr(x, "__cuda_array_interface__") and hasattr(x, "dtype")
    if root in ("jax", "jaxlib"):
        return hasattr(x, "__array_namespace__") or hasattr(x, "at")
    return root == "array_api_strict" and hasattr(x, "__array_namespace__")


def is_lazy(x: Any) -> bool:
    """Whether `x` is read piece by piece: a Dask collection or a `learnt.scan` table.

    >>> is_lazy(np.zeros(2))
    False
    """
    return is_dask(x) or getattr(type(x), "__learnt_blocks__", False)


def is_dask(x: Any) -> bool:
    """Whether `x` is a Dask array, data frame or series."""
    return type(x).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(x, "dask")


def is_dask_array(x: Any) -> bool:
    """Whether `x` is a Dask array: a data frame may have columns that are named as its attributes are."""
    return is_dask(x) and type(x).__module__.startswith("dask.array")


def namespace(*arrays: Any) -> Any:
    """The namespace that all the given arrays share (None and numbers are passed over).

    >>> namespace(np.zeros(2), None, 1.0).__name__
    'numpy'
    """
    owners = [x for x in arrays if is_foreign_array(x)]
    if not owners:
        return np
    if any(is_numpy(x) and x.ndim > 0 for x in arrays):
        names = sorted({type(x).__module__.partition(".")[0] for x in arrays if is_foreign_array(x) or is_numpy(x)})
        raise TypeError(f"Arrays of {' and '.join(names)} came together; convert them to one library first.")
    from array_api_compat import array_namespace

    return array_namespace(*owners)


def device_of(x: Any) -> Any:
    """The device `x` lies on; None for NumPy."""
    if is_numpy(x):
        return None
    from array_api_compat import device

    return device(x)


def device_name(x: Any) -> str:
    """The device in words, for messages and `execution_`.

    >>> device_name(np.zeros(2))
    'cpu'
    """
    return "cpu" if is_numpy(x) else str(device_of(x))


def native(array: Any) -> Any:
    """A NumPy array in this machine's order of bytes and at addresses it reads at once: all that compiled code takes.

    FITS, netCDF and other files from elsewhere have their own order, fields of packed records and some memory maps odd
    addresses. NumPy multiplies both by loops of its own, which round otherwise than BLAS does for a copy of the array,
    as a model loaded from a file has one. The array itself where nothing is to be done.

    >>> native(np.array([1.0, 2.0], dtype=">f8")).dtype == np.float64
    True
    """
    fits = array.dtype.isnative and array.flags.aligned
    return array if fits else array.astype(array.dtype.newbyteorder("="))


def to_numpy(x: Any) -> np.ndarray:
    """`x` as a NumPy array on the CPU; a copy only where one is needed.

    >>> to_numpy([1, 2])
    array([1, 2])
    """
    if is_numpy(x):
        return x
    root = type(x).__module__.partition(".")[0]
    if root == "torch":
        return x.detach().cpu().numpy()
    if root == "cupy" and hasattr(x, "get"):
        return x.get()
    if root == "array_api_strict":  # has devices that NumPy cannot read, as GPUs are
        return np.asarray(x.to_device(sys.modules[root].Device("CPU_DEVICE")))
    return np.asarray(x)


def full_precision(X: Any) -> AbstractContextManager[Any]:
    """A context in which products of float32 arrays are float32.

    On a GPU, JAX rounds the factors to 10 bits by default.
    """
    if type(X).__module__.partition(".")[0] not in ("jax", "jaxlib"):
        return nullcontext()
    import jax

    return jax.default_matmul_precision("highest")


def like(values: Any, reference: Any, dtype: Any = None) -> Any:
    """`values` (NumPy or numbers) as an array of `reference`'s library, device and, unless `dtype` is given, dtype.

    >>> like([1, 2], np.zeros(1, dtype=np.float32)).dtype
    dtype('float32')
    """
    dtype = reference.dtype if dtype is None else dtype
    if is_numpy(reference):
        return np.asarray(values, dtype=dtype)
    xp = namespace(reference)
    return xp.asarray(values, dtype=dtype, device=device_of(reference))


def to_device_of(values: Any, X: Any) -> Any:
    """A model's arrays in the library and on the device of the rows X, where the result belongs.

    For NumPy arrays, files and clusters the result is NumPy's; for other libraries it has the dtype of the rows too.

    >>> to_device_of(np.zeros(2), np.ones((1, 2)))
    array([0., 0.])
    """
    if not is_foreign_array(X):
        return to_numpy(values) if is_foreign_array(values) else values
    if type(values) is type(X) and device_of(values) == device_of(X):
        return namespace(X).astype(values, X.dtype)
    return like(to_numpy(values), X)


def is_float(x: Any) -> bool:
    """Whether `x` holds real floating-point numbers, in any library."""
    if is_numpy(x):
        return x.dtype.kind == "f"
    return bool(namespace(x).isdtype(x.dtype, "real floating"))
