"""PyTorch, imported when a network is first trained.

The rest of `learnt`, and prediction with loaded networks, work without it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

_lock = threading.Lock()
_holders = 0  # running fits


class TorchMissingError(ImportError):
    """PyTorch is not installed, and something needs it."""


@cache
def torch_for(what: str) -> Any:
    """The module `torch`; one sentence with the install command where it is missing."""
    try:
        import torch
    except ImportError:
        raise TorchMissingError(f"{what} needs PyTorch, which is not installed: pip install 'learnt[nets]'") from None
    return torch


def device_for(device: Any, name: str) -> Any:
    """The `torch.device` of an estimator's `device`; "auto" is a GPU where there is one."""
    torch = torch_for(name)
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        found = torch.device(device)
        torch.empty(1, device=found)
    except (RuntimeError, TypeError, AssertionError, NotImplementedError):
        raise ValueError(
            f"{name} cannot compute on device={device!r} here; use 'cpu', or 'auto' for a GPU where there is one."
        ) from None
    return found


def tensor_of(array: Any, device: Any, dtype: Any = None) -> Any:
    """A NumPy array or a tensor on a device; on the CPU it shares the memory where layout and type allow."""
    torch = torch_for("a network")
    if isinstance(array, torch.Tensor):
        return array.to(device=device, dtype=dtype)
    array = np.ascontiguousarray(array)
    if not array.flags.writeable:  # a memory map: torch warns of it
        array = array.copy()
    return torch.from_numpy(array).to(device=device, dtype=dtype)


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch on one thread: matrix products on several add up in another order, and differ in the last bits.

    Counted, since the number of threads is global to the process; the last fit to end restores it.
    """
    global _holders
    torch = torch_for("a network")
    with _lock:
        before = torch.get_num_threads()
        _holders += 1
        if before != 1:
            torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if before != 1 and _holders == 0:
                torch.set_num_threads(before)
