"""Files that nobody else could have written: what is read as code must come from one of these.

A folder and a file count as private when we or root own them, neither their group nor others can write to them, and
they are no symbolic links. Both are opened first and looked at afterwards, by their descriptors, so that nobody can
exchange them between the look and the read. The folders above need no look: whoever can rename things there can put
another folder in our folder's place, but not one of his own.

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
    """Somebody else could have written there; the message says what is wrong with it."""


class PrivateFolder:
    """An open folder whose files are ours or root's."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def read(self, name: str) -> bytes | None:
        """What is in a file; None where there is none; raises `NotPrivate` where somebody else could have put it."""
        try:
            # A pipe in the file's place must not hold us up.
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
        """Put a file there, whole or not at all."""
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

    def names(self, *endings: str) -> list[str]:
        """The names of the files with one of these endings."""
        return [name for name in os.listdir(self._folder()) if name.endswith(endings)]

    def status(self, name: str) -> os.stat_result:
        """Of a file, or of a link itself."""
        return os.stat(self._place(name), dir_fd=self._descriptor, follow_symlinks=False)

    def touch(self, name: str) -> None:
        """Make now a file's time of change, where we may."""
        with suppress(OSError, NotImplementedError):
            os.utime(self._place(name), dir_fd=self._descriptor)

    def remove(self, name: str) -> bool:
        """Take a file away, or a link and not what it leads to; whether that was possible."""
        try:
            os.unlink(self._place(name), dir_fd=self._descriptor)
        except OSError:
            return False
        return True

    def writable(self) -> bool:
        return os.access(self._place("."), os.W_OK, dir_fd=self._descriptor)

    def _open(self, name: str, flags: int) -> int:
        return os.open(self._place(name), flags | _NO_LINK, 0o644, dir_fd=self._descriptor)

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
        Make it where it is missing, for nobody but us to write to; others may read what an administrator compiled.
    ours : bool, default=False
        Only a folder that we have made ourselves: a name that anybody could have thought of first.
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
