"""Whether a kernel matrix fits in memory, checked before it is computed."""

from __future__ import annotations

from learnt.engine.memory import free_bytes

_INSTEAD = "features of learnt.kernel_approximation.Nystroem before a linear model"


def require_room(name: str, n: int, m: int, copies: int = 1, instead: str = _INSTEAD) -> None:
    """Raise where `copies` matrices of n × m would not fit, with their size and what to do instead.

    Parameters
    ----------
    name : str
        What needs them, for the message.
    n : int
        Rows of each matrix.
    m : int
        Columns of each matrix.
    copies : int, default=1
        How many of them there are at once.
    instead : str, optional
        What to do instead, for the message; features of a `Nystroem` approximation unless told otherwise.

    Raises
    ------
    MemoryError
        Where the memory that is free does not hold them.

    Examples
    --------
    >>> require_room("KernelRidge", 1000, 1000)  # 8 MB: says nothing
    """
    need, available = 8 * n * m * copies, free_bytes()
    if available is not None and need > available:
        raise MemoryError(
            f"{name} needs a kernel matrix of {n:,} × {m:,} ({need / 2**30:.1f} GB with its copies) and "
            f"{available / 2**30:.1f} GB are there; take fewer rows, or {instead}."
        )
