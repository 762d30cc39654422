"""Whether a kernel matrix fits in memory, checked before it is computed."""

from __future__ import annotations

from pathlib import Path

from learnt.engine.memory import memory_left


def available_bytes() -> int | None:
    """Bytes that this process can still get; None where the system does not say."""
    found = [left] if (left := memory_left()) is not None else []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
    except (OSError, ValueError):
        pass
    return min(found) if found else None


_INSTEAD = "features of learnt.kernel_approximation.Nystroem before a linear model"


def require_room(name: str, n: int, m: int, copies: int = 1, instead: str = _INSTEAD) -> None:
    """Raise where `copies` matrices of n × m would not fit, with their size and what to do instead."""
    need, available = 8 * n * m * copies, available_bytes()
    if available is not None and need > available:
        raise MemoryError(
            f"{name} needs a kernel matrix of {n:,} × {m:,} ({need / 2**30:.1f} GB with its copies) and "
            f"{available / 2**30:.1f} GB are there; take fewer rows, or {instead}."
        )
