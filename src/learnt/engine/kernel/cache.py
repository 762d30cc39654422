"""Machine code of kernels on disk, so that later processes do not compile again.

Entries are named by a hash of everything that decides the machine code (the kernel and all it calls, the argument
types, the processor, the versions), written to a temporary file and renamed. Two processes that compile the same
kernel at once therefore write the same entry, and a reader sees a whole entry or none: there is no index to race on.
Mostly one of them waits for the other's entry (`lock`), where the folder can be written to.

Entries are looked for in the package folder (a warmed-up install), then the user's cache folder, then a private
folder under the system's temporary one, and written to the first of these that can be written to.
`LEARNT_CACHE_DIR` names another folder; `LEARNT_CACHE=0` keeps nothing. Entries are code: only those that nobody but
us or root could have written are read (`private_files`). Entries that nobody has used for two months (of old
versions, mostly) are removed when something new is compiled. Nothing here ever raises.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from learnt.engine.kernel import lock
from learnt.engine.kernel.digest import hash_parts
from learnt.engine.kernel.private_files import NotPrivate, PrivateFolder, private_folder

log = logging.getLogger("learnt")
_SUFFIX = ".kernel"
_DAY = 24 * 3600.0
_OUT_OF_USE = 60 * _DAY

used: set[str] = set()  # names of the entries that this process has loaded or written


def folders() -> list[Path]:
    """Where entries are looked for, in order; empty when nothing is kept.

    >>> all(isinstance(folder, Path) for folder in folders())
    True
    """
    if os.environ.get("LEARNT_CACHE", "1") == "0":
        return []
    if chosen := os.environ.get("LEARNT_CACHE_DIR"):
        return [Path(chosen)]
    found = [Path(__file__).parents[2] / "__pycache__" / "kernels"]
    if user := _user_cache():
        found.append(user / "learnt" / "kernels")
    return [*found, _temporary()]


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


def _temporary() -> Path:
    """A folder under a predictable name, which somebody else could have made first."""
    owner = os.geteuid() if hasattr(os, "geteuid") else "user"
    return Path(tempfile.gettempdir()) / f"learnt-kernels-{owner}"


def _open_folders(make: bool = False) -> Iterator[PrivateFolder]:
    """The folders that may be trusted, each open while it is in use; `make`: missing ones are made first."""
    for path in folders():
        try:
            with private_folder(path, make=make, ours=path == _temporary()) as folder:
                yield folder
        except NotPrivate as refusal:
            _refuse(path, refusal)
        except OSError:  # missing, or not readable by us
            continue


_refused: dict[Path, str] = {}


def _refuse(folder: Path, refusal: NotPrivate) -> None:
    """Warn once a process where the user chose the folder; other folders are skipped silently."""
    if folder not in _refused:
        _refused[folder] = str(refusal)
        tell = log.warning if os.environ.get("LEARNT_CACHE_DIR") else log.debug
        tell(
            "Compiled kernels are code, and %s: what is there is not used; let LEARNT_CACHE_DIR name a folder that "
            "only you can write to (chmod 700).",
            refusal,
        )


@dataclass(frozen=True)
class CacheInfo:
    """Where machine code is kept and how much of it there is."""

    folder: Path | None
    entries: int
    size: int
    refused: str = ""
    """Why a folder that the user chose is not used."""


def info() -> CacheInfo:
    """The folder that new entries go to, and the entries in all folders."""
    where, sizes = None, []
    for folder in _open_folders(make=True):
        if where is None and folder.writable():
            where = folder.path
        for name in folder.names(_SUFFIX):
            with suppress(OSError):  # another process was quicker
                sizes.append(folder.status(name).st_size)
    chosen = os.environ.get("LEARNT_CACHE_DIR")
    return CacheInfo(where, len(sizes), sum(sizes), _refused.get(Path(chosen), "") if chosen else "")


def clear() -> int:
    """Remove every entry that can be removed; returns how many were."""
    return sum(folder.remove(name) for folder in _open_folders() for name in folder.names(_SUFFIX))


def _mark_as_used(folder: PrivateFolder, name: str) -> None:
    """An entry's time of change is the day it was last used; most loads do not write."""
    if folder.status(name).st_mtime < time.time() - _DAY:
        folder.touch(name)


_tidied: set[Path] = set()


def _tidy(folder: PrivateFolder) -> None:
    """Remove what is out of use, once a process."""
    if folder.path in _tidied:
        return
    _tidied.add(folder.path)
    for name in folder.names(_SUFFIX, ".tmp"):
        with suppress(OSError):  # another process was quicker
            if folder.status(name).st_mtime < time.time() - _OUT_OF_USE:
                folder.remove(name)


def attach(dispatcher: Any, name: str, digest: str) -> None:
    """Give a Numba dispatcher this disk cache. Where Numba's internals have changed, kernels are compiled each time."""
    if not folders() or not hasattr(dispatcher, "_cache"):
        return
    dispatcher._cache = _DiskCache(name, digest)
    compile_one = dispatcher.compile

    def compile_and_release(signature: Any) -> Any:
        try:
            return compile_one(signature)  # loads, or else compiles and saves
        finally:
            lock.release()

    dispatcher.compile = compile_and_release


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
            payload = _find(name) or _from_another_process(name)
            if payload is None:
                return None
            used.add(name)
            from numba.core.compiler import CompileResult
            from numba.core.runtime import rtsys

            # Machine code needs Numba's memory manager, not the declarations of all that could be compiled: loading
            # those takes a while, and Numba does it itself before it compiles anything.
            rtsys.initialize(target_context)
            return CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception as error:  # a cache must never break a fit
            log.debug("kernel cache could not be read: %s", error)
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        try:
            if result.library.has_dynamic_globals or result.lifted:
                return
            for folder in _open_folders(make=True):
                if not folder.writable():
                    continue
                from numba.core.serialize import dumps

                _tidy(folder)
                payload = dumps(result._reduce())
                name = self._file_name(signature, result.target_context)
                with suppress(OSError):  # a full disk or a server that refuses: try the next folder
                    folder.write(name, hashlib.sha256(payload).digest() + payload)
                    used.add(name)
                    return
        except Exception as error:
            log.debug("kernel cache could not be written: %s", error)

    def _file_name(self, signature: Any, target_context: Any) -> str:
        import numba

        machine = target_context.codegen().magic_tuple()
        records = [text for kind in signature if (text := record_fields(kind))]
        parts = [*self._identity, numba.__version__, str(signature), *records, repr(machine)]
        return f"{self._stem}-{hash_parts(parts)[:32]}{_SUFFIX}"


def record_fields(kind: Any) -> str:
    """The fields of a NamedTuple's type in their order, which Numba does not print, and those of tuples in it."""
    from numba.core import types

    if not isinstance(kind, types.BaseTuple):
        return ""
    inner: Any = kind
    return f"{getattr(kind, 'fields', '')}({', '.join(map(record_fields, inner))})"


def _find(name: str) -> bytes | None:
    return next((found for folder in _open_folders() if (found := _read(folder, name))), None)


def _from_another_process(name: str) -> bytes | None:
    """The entry that another process is compiling now; None: this one compiles, and others wait for it."""
    for folder in _open_folders(make=True):
        if folder.writable():
            with suppress(OSError):  # a disk without locks: compile without one
                return lock.wait_or_lock(folder, name, lambda: _find(name))
            return None
    return None


def _read(folder: PrivateFolder, name: str) -> bytes | None:
    """An entry's content; None where there is none, where it is damaged, or where it is not private."""
    try:
        blob = folder.read(name)
    except NotPrivate as refusal:
        _refuse(folder.path, refusal)
        return None
    except OSError as error:
        log.debug("kernel cache entry %s could not be read: %s", name, error)
        return None
    if blob is None:
        return None
    if hashlib.sha256(blob[32:]).digest() != blob[:32]:
        log.debug("kernel cache entry %s is damaged; compiling again", name)
        return None
    _mark_as_used(folder, name)
    return blob[32:]
