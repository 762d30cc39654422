"""Machine code of kernels on disk, so that the second process never waits.

Entries are named by a hash of everything that decides the machine code (the kernel and all it calls, the argument
types, the processor, the versions), written to a temporary file and renamed. Two processes that compile the same
kernel at once therefore write the same entry, and a reader sees a whole entry or none: there is no index to race on.

Entries are looked for in the package folder (a warmed-up install), then the user's cache folder, then a private
folder under the system's temporary one, and written to the first of these that can be written to.
`LEARNT_CACHE_DIR` names another folder; `LEARNT_CACHE=0` keeps nothing. Entries that nobody has used for two months
(of old versions, mostly) are removed when something new is compiled. Nothing here ever raises.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import pickle
import platform
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

log = logging.getLogger("learnt")
_SUFFIX = ".kernel"
_DAY = 24 * 3600.0
_OUT_OF_USE = 60 * _DAY


def hash_parts(parts: list[str]) -> str:
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


def code_parts(function: FunctionType) -> list[str]:
    """What of a plain function decides its machine code: bytecode, constants, and the global constants it reads."""
    parts = _bytecode(function.__code__)
    parts.append(repr(function.__defaults__))
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, bool | int | float | complex | str | tuple | np.generic):
            parts.append(f"{name}={value!r}")
        elif isinstance(value, np.ndarray):
            parts.append(f"{name}={value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}")
    return parts


def _bytecode(code: CodeType) -> list[str]:
    parts = [code.co_code.hex(), repr(code.co_names), repr(code.co_varnames)]
    for constant in code.co_consts:
        parts += _bytecode(constant) if isinstance(constant, CodeType) else [repr(constant)]
    return parts


def folders() -> list[Path]:
    """Where entries are looked for, in order; empty when nothing is kept.

    >>> all(isinstance(folder, Path) for folder in folders())
    True
    """
    if os.environ.get("LEARNT_CACHE", "1") == "0":
        return []
    if chosen := os.environ.get("LEARNT_CACHE_DIR"):
        return [Path(chosen)]
    found = [Path(__file__).parent.parent / "__pycache__" / "kernels"]
    if user := _user_cache():
        found.append(user / "learnt" / "kernels")
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    found.append(Path(tempfile.gettempdir()) / f"learnt-kernels-{owner}")
    return found


def _user_cache() -> Path | None:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base) if base else None
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base)
    try:
        home = Path.home()
    except RuntimeError:  # no HOME and no entry in the password file
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def _usable(folder: Path) -> bool:
    """Whether we can write there and nobody else could have: entries are code."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid"):
            status = folder.stat()
            if status.st_uid not in (os.getuid(), 0) or status.st_mode & 0o002:
                return False
        return os.access(folder, os.W_OK)
    except OSError:
        return False


@dataclass(frozen=True)
class CacheInfo:
    """Where machine code is kept and how much of it there is."""

    folder: Path | None
    entries: int
    size: int


def info() -> CacheInfo:
    """The folder that new entries go to, and the entries in all folders."""
    folder = next((folder for folder in folders() if _usable(folder)), None)
    sizes = [path.stat().st_size for place in folders() for path in place.glob(f"*{_SUFFIX}")]
    return CacheInfo(folder, len(sizes), sum(sizes))


def clear() -> int:
    """Remove every entry that can be removed; returns how many were."""
    removed = 0
    for folder in folders():
        for path in folder.glob(f"*{_SUFFIX}"):
            try:
                path.unlink()
                removed += 1
            except OSError:
                pass
    return removed


def _mark_as_used(path: Path) -> None:
    """An entry's time of change is the day it was last used; most loads do not write."""
    if path.stat().st_mtime < time.time() - _DAY:
        with suppress(OSError):  # installed read-only
            os.utime(path)


@functools.cache
def _tidy(folder: Path) -> None:
    """Remove what is out of use, once a process."""
    for path in [*folder.glob(f"*{_SUFFIX}"), *folder.glob("*.tmp")]:
        with suppress(OSError):  # another process was quicker
            if path.stat().st_mtime < time.time() - _OUT_OF_USE:
                path.unlink()


def attach(dispatcher: Any, name: str, digest: str) -> None:
    """Give a Numba dispatcher this disk cache. A Numba whose insides have changed just compiles each time."""
    if folders() and hasattr(dispatcher, "_cache"):
        dispatcher._cache = _DiskCache(name, digest)


class _DiskCache:
    """What a Numba dispatcher asks of its cache."""

    def __init__(self, name: str, digest: str) -> None:
        self._stem = name.rpartition(".")[2]
        self._identity = [name, digest, platform.python_version(), np.__version__]

    @property
    def cache_path(self) -> str | None:
        return next((str(folder) for folder in folders()), None)

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        try:
            name = self._file_name(signature, target_context)
            for folder in folders():
                path = folder / name
                if not path.exists():
                    continue
                blob = path.read_bytes()
                if hashlib.sha256(blob[32:]).digest() != blob[:32]:
                    log.debug("kernel cache entry %s is damaged; compiling again", path)
                    continue
                _mark_as_used(path)
                from numba.core.compiler import CompileResult
                from numba.core.runtime import rtsys

                # Machine code needs Numba's memory manager, not the declarations of all that could be compiled: loading
                # those takes a fifth of a second, and Numba does it itself before it compiles anything.
                rtsys.initialize(target_context)
                return CompileResult._rebuild(target_context, *pickle.loads(blob[32:]))
        except Exception as error:  # a cache must never break a fit
            log.debug("kernel cache could not be read: %s", error)
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        try:
            if result.library.has_dynamic_globals or result.lifted:
                return
            folder = next((folder for folder in folders() if _usable(folder)), None)
            if folder is None:
                return
            from numba.core.serialize import dumps

            _tidy(folder)
            payload = dumps(result._reduce())
            name = self._file_name(signature, result.target_context)
            handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(payload).digest() + payload)
                os.replace(temporary, folder / name)
            except BaseException:
                os.unlink(temporary)
                raise
        except Exception as error:
            log.debug("kernel cache could not be written: %s", error)

    def _file_name(self, signature: Any, target_context: Any) -> str:
        import numba

        machine = target_context.codegen().magic_tuple()
        parts = [*self._identity, numba.__version__, str(signature), repr(machine)]
        return f"{self._stem}-{hash_parts(parts)[:32]}{_SUFFIX}"
