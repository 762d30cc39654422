"""Files that nobody else could have written: what is read as code must come from one of these.

A folder and a file count as private when we or root own them, neither their group nor others can write to them, and
they are no symbolic links. Both are opened first and checked afterwards, by their descriptors, so that nobody can
exchange them between the check and the read. Parent folders need no check: whoever can rename entries there can replace
our folder by another one, but not by one that passes the check and is theirs.

Windows has neither owners nor modes in this sense; its cache and temporary folders are the user's own, and only
links are refused there.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HAS_OWNERS = hasattr(os, "geteuid") and os.open in os.supports_dir_fd
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class NotPrivate(OSError):
    """Somebody else could have written there; the message says why."""


class PrivateFolder:
    """An open folder whose files are ours or root's."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def read(self, name: str) -> bytes | None:
        """A file's content; None where there is no such file.

        Raises `NotPrivate` where somebody else could have written it.
        """
        try:
            # Opening a pipe of that name must not block.
            handle = self._open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return None
        except OSError:
            if stat.S_ISLNK(self.status(name).st_mode):
                raise NotPrivate(f"{self.path / name} is a symbolic link") from None
            raise
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise NotPrivate(f"{self.path / name} is not a plain file")
            _check(status, self.path / name)
            return file.read()

    def write(self, name: str, content: bytes) -> None:
        """Write a file atomically."""
        temporary = f"{secrets.token_hex(8)}.tmp"
        handle = self._open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            source, target = self._place(temporary), self._place(name)
            os.replace(source, target, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except BaseException:
            self.remove(temporary)
            raise

    def open_to_lock(self, name: str) -> int:
        """A descriptor of an empty file, made where it is missing, on whose bytes only we can have locks."""
        return self._open(name, os.O_RDWR | os.O_CREAT, 0o600)

    def names(self, *endings: str) -> list[str]:
        """The names of the files with one of these endings."""
        return [name for name in os.listdir(self._folder()) if name.endswith(endings)]

    def status(self, name: str) -> os.stat_result:
        """The status of a file; of a link, not of its target."""
        return os.stat(self._place(name), dir_fd=self._descriptor, follow_symlinks=False)

    def touch(self, name: str) -> None:
        """Set a file's modification time to now, where allowed."""
        with suppress(OSError, NotImplementedError):
            os.utime(self._place(name), dir_fd=self._descriptor)

    def remove(self, name: str) -> bool:
        """Remove a file, or a link but not its target; whether that was possible."""
        try:
            os.unlink(self._place(name), dir_fd=self._descriptor)
        except OSError:
            return False
        return True

    def writable(self) -> bool:
        return os.access(self._place("."), os.W_OK, dir_fd=self._descriptor)

    def _open(self, name: str, flags: int, mode: int = 0o644) -> int:
        return os.open(self._place(name), flags | _NO_LINK, mode, dir_fd=self._descriptor)

    def _folder(self) -> int | Path:
        return self.path if self._descriptor is None else self._descriptor

    def _place(self, name: str) -> str | Path:
        return self.path / name if self._descriptor is None else name


@contextmanager
def private_folder(path: Path, *, make: bool = False, ours: bool = False) -> Iterator[PrivateFolder]:
    """Open a folder whose files may be trusted; raises `NotPrivate`, or another `OSError` where there is none.

    Parameters
    ----------
    make : bool, default=False
        Make it where it is missing, writable by us only; others may read what an administrator compiled.
    ours : bool, default=False
        Only a folder that we own: its name is predictable, so that somebody else could have made it.
    """
    if make:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.mkdir(mode=0o700 if ours else 0o755)
    if path.is_symlink():
        raise NotPrivate(f"{path} is a symbolic link")
    if not _HAS_OWNERS:
        if not path.is_dir():
            raise NotADirectoryError(str(path))
        yield PrivateFolder(path, None)
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK)
    try:
        _check(os.fstat(descriptor), path, ours)
        yield PrivateFolder(path, descriptor)
    finally:
        os.close(descriptor)


def _check(status: os.stat_result, path: Path, ours: bool = False) -> None:
    """Raise `NotPrivate` for what somebody else owns or can write to."""
    if not _HAS_OWNERS:
        return
    us = os.geteuid()
    if status.st_uid not in ((us,) if ours else (us, 0)):
        raise NotPrivate(f"{path} belongs to user {status.st_uid}")
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO if ours else _WRITABLE_BY_OTHERS):
        raise NotPrivate(f"others can {'enter' if ours else 'write to'} {path}")
