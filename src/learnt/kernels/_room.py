"""Whether a kernel matrix fits in memory, checked before it is computed."""

from __future__ import annotations

from learnt.engine.memory import free_bytes

_INSTEAD = "features of learnt.kernel_approximation.Nystroem before a linear model"


def require_room(name: str, n: int, m: int, copies: int = 1, instead: str = _INSTEAD) -> None:
    """Raise where `copies` matrices of n × m would not fit, with their size and what to do instead."""
    need, available = 8 * n * m * copies, free_bytes()
    if available is not None and need > available:
        raise MemoryError(
            f"{name} needs a kernel matrix of {n:,} × {m:,} ({need / 2**30:.1f} GB with its copies) and "
            f"{available / 2**30:.1f} GB are there; take fewer rows, or {instead}."
        )
