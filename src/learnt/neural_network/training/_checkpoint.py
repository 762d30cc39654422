"""A file to resume training from: written atomically, read without running code.

It holds plain arrays (`numpy.savez`) and one line of JSON. Training that goes on from it makes the same draws and
takes the same steps as training that was never stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

_CELLS = 1 << 16  # of the data that make up the digest
_SHARE = 0.05  # largest share of the time spent on writing


class Checkpoint:
    """Where training is kept while it runs.

    Parameters
    ----------
    path : str or Path
        The file. Where it exists, training goes on from it; when training ends, it is removed.
    digest : str
        What settings and data it belongs to; that of other training is refused.
    every : int, default=1
        Epochs between two files; more are left out where writing would take more than a twentieth of the time.
    """

    def __init__(self, path: str | os.PathLike[str], digest: str, every: int = 1) -> None:
        self.path, self.digest, self.every = Path(path), digest, every
        self._ended, self._took = 0.0, 0.0
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"The folder of checkpoint={str(path)!r} does not exist; make it first.")

    def due(self, epoch: int) -> bool:
        """Whether this epoch is written."""
        return epoch % self.every == 0 and time.monotonic() - self._ended >= self._took * (1 / _SHARE - 1)

    def write(self, arrays: dict[str, np.ndarray], numbers: dict[str, Any]) -> None:
        """Write a temporary file and rename it: a reader sees the old file or the new one."""
        began = time.monotonic()
        line = json.dumps({"digest": self.digest, **numbers})
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, numbers=np.array(line), **arrays)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._ended = time.monotonic()
        self._took = self._ended - began

    def read(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """What was written last; None where there is no file."""
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            numbers = json.loads(str(arrays.pop("numbers")))
            belongs = numbers.pop("digest")
        except (OSError, ValueError, KeyError, EOFError):
            raise ValueError(f"{self.path} is no checkpoint of a network; remove it, or give another path.") from None
        if belongs != self.digest:
            raise ValueError(
                f"{self.path} is a checkpoint of other settings or other data; remove it to begin anew, "
                "or give another path."
            )
        return arrays, numbers

    def remove(self) -> None:
        """Training has ended."""
        self.path.unlink(missing_ok=True)


def digest_of(settings: dict[str, Any], *arrays: Any) -> str:
    """A digest of settings and of some cells of the data.

    >>> digest_of({"a": 1}, np.zeros(3)) == digest_of({"a": 1}, np.ones(3))
    False
    """
    found = hashlib.sha256(repr(sorted(settings.items())).encode())
    for array in arrays:
        if array is None:
            continue
        cells = np.asarray(array.data if hasattr(array, "indptr") else array)
        found.update(repr((array.shape, str(array.dtype))).encode())
        flat = cells.reshape(-1)
        found.update(np.ascontiguousarray(flat[:: max(1, flat.size // _CELLS)]).tobytes())
    return found.hexdigest()
