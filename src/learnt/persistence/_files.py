"""`save`, `load` and `inspect`: the three verbs, and the disk under them."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from learnt._version import __version__
from learnt.persistence import _arrays
from learnt.persistence import _container as container
from learnt.persistence._decode import MEMORY_FACTOR, MEMORY_FREE, Decoder
from learnt.persistence._encode import Encoder
from learnt.persistence._errors import LearntFileError, Refused
from learnt.persistence._json import dump, parse
from learnt.persistence._migrations import FORMAT_NAME, FORMAT_VERSION, migrate, version_of
from learnt.persistence._summary import FileSummary, Reader, arrays_of

_FIRST = 8 + len(container.PREFIX)
_CHUNK = 1 << 22


def save(model: Any, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> None:
    """Write a model to one file that holds data and no code.

    The file is written whole or not at all: an older one at the same path stays until the new one is complete. The
    same model gives the same bytes. What cannot be stored is refused with its place in the model; lazy attributes (the
    `labels_` of a `KMeans` fitted on a Dask collection) are left out. Tensors of other libraries become NumPy arrays.

    Parameters
    ----------
    model : estimator
        A fitted or unfitted estimator of `learnt`, also inside scikit-learn's `Pipeline`, `FeatureUnion`,
        `ColumnTransformer` or `TransformedTargetRegressor`.
    path : str or path-like
        Where to write. Its folder must exist.
    notes : dict or None, default=None
        Plain data (strings, numbers, lists, dicts) to keep with the model: a decision threshold, where it came from.
        `inspect(path).notes` gives them back; `load` does not look at them.

    Raises
    ------
    LearntFileError
        Where the model cannot be stored or the file cannot be written; one sentence says what, where and what to do.

    See Also
    --------
    load : Reads the model back.
    inspect : Describes the file without loading it.

    Examples
    --------
    >>> import os, tempfile, learnt
    >>> from sklearn.preprocessing import StandardScaler
    >>> path = os.path.join(tempfile.mkdtemp(), "scaler.learnt")
    >>> learnt.save(StandardScaler().fit([[1.0], [3.0]]), path)
    >>> learnt.load(path).mean_
    array([2.])
    """
    target = _path(path)
    with _sentence(f"The model cannot be saved to {str(target)!r}: "):
        write_atomically(target, *to_parts(model, notes))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote. No code in the file can run, because there is none.

    Every length, offset, dtype, shape, index and value is checked before use.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : estimator
        The model, on the CPU, ready to predict.

    Raises
    ------
    LearntFileError
        Where the file is damaged, cut short, too large, made by another program or changed by hand; one sentence says
        what.

    See Also
    --------
    save : Writes a model.
    inspect : Describes the file without loading it.

    Examples
    --------
    >>> import learnt
    >>> learnt.load("no-such-file.learnt")
    Traceback (most recent call last):
    learnt.persistence._errors.LearntFileError: 'no-such-file.learnt' cannot be loaded: there is no such file.
    """
    source = _path(path)
    with _sentence(f"{str(source)!r} cannot be loaded: "):
        head, body = _read(source)
        return _model(head, body)


def load_bytes(data: bytes | bytearray) -> Any:
    """`load` for a file that is already in memory."""
    with _sentence("The model file cannot be loaded: "):
        length = container.header_length(bytes(data[:_FIRST]), len(data))
        body = np.frombuffer(bytearray(memoryview(data)[8 + length :]), dtype=np.uint8)
        return _model(bytes(data[: 8 + length]), body)


def write_notes(path: str | os.PathLike[str], notes: dict[str, Any]) -> None:
    """Put notes into a file that `save` wrote, in place of its own: the bytes are those of `save` with these notes.

    The model is neither loaded nor encoded again.
    """
    source = _path(path)
    with _sentence(f"Notes cannot be written into {str(source)!r}: "):
        head, body = _read(source)
        container.verify(head, [body.data])
        container.parse_header(head, body.size)
        write_atomically(source, container.with_metadata(head, [body.data], notes=_notes_text(notes)), [body.data])


def inspect(path: str | os.PathLike[str]) -> FileSummary:
    """Describe a model file without loading it: classes, parameters, features, arrays, versions, checksum.

    Nothing is built and no class is imported, so that it is safe for files of any origin.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    summary : FileSummary
        `print` it, or read its fields.

    Raises
    ------
    LearntFileError
        Where it is no model file, or a damaged one; one sentence says what.

    See Also
    --------
    load : Reads the model.
    save : Writes a model.

    Examples
    --------
    >>> import os, tempfile, learnt
    >>> from sklearn.preprocessing import StandardScaler
    >>> path = os.path.join(tempfile.mkdtemp(), "scaler.learnt")
    >>> learnt.save(StandardScaler().fit([[1.0], [3.0]]), path)
    >>> learnt.persistence.inspect(path).model.cls
    'sklearn.preprocessing.StandardScaler'
    """
    source = _path(path)
    with _sentence(f"{str(source)!r} cannot be inspected: "), _opened(source) as (file, size):
        first = file.read(_FIRST)
        length = container.header_length(first, size)
        head = first + file.read(8 + length - _FIRST)
        digest = hashlib.sha256(head)

        def chunks() -> Iterator[bytes]:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                yield chunk

        container.verify(head, chunks())
        metadata, tensors = container.parse_header(head, size - len(head))

        def unpack(name: Any, true_size: Any) -> Any:
            info = tensors.get(name) if type(name) is str else None
            if info is None:
                raise Refused("it asks for a tensor that is not there")
            file.seek(len(head) + info.start)
            data = np.frombuffer(file.read(info.stop - info.start), dtype=np.uint8)
            return _arrays.unpacked(data.view(info.dtype), true_size, _modest(size))

        version = version_of(metadata)
        reader = Reader(tensors, unpack)
        model = reader.model(_tree(metadata, version))
        return FileSummary(
            path=str(source),
            file_size=size,
            sha256=digest.hexdigest(),
            format_version=version,
            versions={key: metadata[key][:40] for key in ("learnt", "numpy", "sklearn") if key in metadata},
            model=model,
            feature_names=reader.feature_names,
            n_features=reader.n_features,
            arrays=arrays_of(tensors),
            notes=_notes(metadata),
        )


# --- between objects and bytes


def to_parts(model: Any, notes: dict[str, Any] | None = None) -> tuple[bytes, list[memoryview]]:
    """The head and the body of the file of a model; a model that could not be loaded again is refused here."""
    import sklearn

    encoder = Encoder()
    tree = encoder.encode(model)
    if type(tree) is not dict or "object" not in tree:
        raise Refused(f"it is a {type(model).__name__}, not an estimator")
    text = dump(tree)
    metadata = {
        "format": FORMAT_NAME,
        "format_version": str(FORMAT_VERSION),
        "learnt": __version__,
        "numpy": np.__version__,
        "sklearn": sklearn.__version__,
        "tree": text,
    }
    if notes is not None:
        metadata["notes"] = _notes_text(notes)
    head, parts = container.build(metadata, encoder.tensors)
    # Read it back before anything is written: a file that `load` would refuse must not replace one that loads.
    size = len(head) + sum(part.nbytes for part in parts)
    try:
        Decoder(encoder.tensors.__getitem__, set(encoder.tensors), size).model(parse(text))
    except Refused as reason:
        raise Refused(f"it could not be loaded again, because {reason}") from None
    return head, parts


def _notes_text(notes: Any) -> str:
    try:
        text = json.dumps(notes, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        text = ""
    if type(notes) is not dict or not text or json.loads(text) != notes:
        raise Refused("its notes are not a dict of strings, finite numbers, lists and dicts")
    return text


def _notes(metadata: dict[str, str]) -> dict[str, Any]:
    notes = parse(metadata["notes"]) if "notes" in metadata else {}
    if type(notes) is not dict:
        raise Refused("its notes are not a dict")
    return notes


def to_bytes(model: Any) -> bytes:
    """The file of a model, in memory."""
    with _sentence("The model cannot be saved: "):
        head, parts = to_parts(model)
        return b"".join([head, *parts])


def _model(head: bytes, body: np.ndarray) -> Any:
    container.verify(head, [body.data])
    metadata, tensors = container.parse_header(head, body.size)
    tree = _tree(metadata, version_of(metadata))
    decoder = Decoder(lambda name: container.view(body, tensors[name]), set(tensors), len(head) + body.size)
    return decoder.model(tree)


def _tree(metadata: dict[str, str], version: int) -> Any:
    if "tree" not in metadata:
        raise Refused("it holds no model")
    return migrate(parse(metadata["tree"]), version)


def _modest(size: int) -> Callable[[int], None]:
    def spend(amount: int) -> None:
        if amount > MEMORY_FACTOR * size + MEMORY_FREE:
            raise Refused("it would take far more memory than its size")

    return spend


# --- the disk


def _path(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"A path is needed (a string or a pathlib.Path), not a {type(path).__name__}.")
    text = os.fsdecode(path)
    if "\0" in text:
        raise LearntFileError(f"{text!r} is not a path: it holds a zero character.")
    return Path(text)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, int]]:
    """The file for reading and its size. Devices and pipes are refused before they are opened: they could block."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise Refused("it is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise Refused("it is not a regular file")
    with open(path, "rb") as file:
        yield file, os.fstat(file.fileno()).st_size


def _read(path: Path) -> tuple[bytes, np.ndarray]:
    with _opened(path) as (file, size):
        first = file.read(_FIRST)
        length = container.header_length(first, size)
        head = first + file.read(8 + length - _FIRST)
        body = np.empty(size - len(head), dtype=np.uint8)
        view, position = body.data, 0
        while position < body.size and (got := file.readinto(view[position : position + (1 << 30)])):
            position += got
        if position != body.size:
            raise Refused("it became shorter while it was read")
        return head, body


def write_atomically(path: Path, head: bytes, parts: list[memoryview]) -> None:
    """Write a temporary file in the same folder, flush it to disk, and rename it."""
    target = Path(os.path.realpath(path))  # a link keeps pointing where it pointed
    if target.is_dir():
        raise Refused("there is a folder of that name")
    if not target.parent.is_dir():
        raise Refused("its folder does not exist: create it first")
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(head)
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):  # a file that is replaced keeps its permissions
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    with suppress(OSError):  # some systems cannot flush a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _sentence(beginning: str) -> Iterator[None]:
    """A context in which every exception becomes one sentence. The cause is attached only where it was unexpected."""
    try:
        yield
    except Refused as reason:
        raise LearntFileError(_one_line(f"{beginning}{reason}.")) from None
    except FileNotFoundError:
        raise LearntFileError(_one_line(f"{beginning}there is no such file.")) from None
    except OSError as error:
        raise LearntFileError(_one_line(f"{beginning}{error.strerror or error}.")) from None
    except MemoryError:
        raise LearntFileError(_one_line(f"{beginning}there is not enough memory.")) from None
    except Exception as error:
        what = f"{type(error).__name__}: {str(error)[:200]}"
        raise LearntFileError(_one_line(f"{beginning}it is not consistent ({what}).")) from error


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " if c in "\n\t" else "?" for c in text)
