"""The outer format: one safetensors file whose header begins with a checksum of everything else in the file.

    8 bytes    length of the header, little-endian
    header     {"__metadata__":{"checksum":"<64 hex digits>", …strings…}, "name":{"dtype","shape","data_offsets"}, …}
    body       the tensors, end to end, widest items first so that all are aligned

The checksum is the SHA-256 of the file with the 64 digits written as zeros, so one changed byte anywhere is seen. It
guards against damage, not against malice (anyone can compute it), so everything is checked afterwards all the same.
The format is written here rather than by the safetensors package because that neither keeps the order of its
metadata (the same model must give the same bytes) nor reads metadata from memory; the tests read our files with it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnt.engine.schema import shown
from learnt.persistence._errors import Refused
from learnt.persistence._json import dump, parse

MAX_FILE_BYTES = 1 << 36  # 64 GiB
MAX_HEADER_BYTES = 100_000_000  # the limit of the safetensors package itself
MAX_TENSORS = 1_000_000
MAX_NDIM = 16
MAX_ITEMS = 1 << 48

PREFIX = b'{"__metadata__":{"checksum":"'
_DIGITS = slice(8 + len(PREFIX), 8 + len(PREFIX) + 64)
SHORTEST = _DIGITS.stop + 3

_DTYPES = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


@dataclass(frozen=True)
class TensorInfo:
    """The position of a tensor in the body, its dtype and shape."""

    dtype: np.dtype
    shape: tuple[int, ...]
    start: int
    stop: int


def can_hold(dtype: np.dtype) -> bool:
    """Whether a tensor may have this dtype."""
    return dtype.newbyteorder("<") in _NAMES


# --- writing


def build(metadata: dict[str, str], tensors: dict[str, np.ndarray]) -> tuple[bytes, list[memoryview]]:
    """The head of the file (length and header, checksum filled in) and the pieces of its body."""
    order = sorted(tensors, key=lambda name: -tensors[name].dtype.itemsize)  # stable: ties keep their order
    header: dict[str, Any] = {"__metadata__": {"checksum": "0" * 64, **metadata}}
    parts, position = [], 0
    for name in order:
        stored = np.ascontiguousarray(tensors[name], dtype=tensors[name].dtype.newbyteorder("<"))
        shape = list(tensors[name].shape)  # ascontiguousarray makes a 0-d array 1-d
        stop = position + stored.nbytes
        header[name] = {"dtype": _NAMES[stored.dtype], "shape": shape, "data_offsets": [position, stop]}
        parts.append(stored.reshape(-1).view(np.uint8).data)
        position = stop
    return _head(header, parts), parts


def with_metadata(head: bytes, parts: list[memoryview], **changed: str) -> bytes:
    """The head of a file that `parse_header` has accepted, some of its metadata changed or added."""
    header = parse(memoryview(head)[8:])
    header["__metadata__"] |= {"checksum": "0" * 64, **changed}
    return _head(header, parts)


def _head(header: dict[str, Any], parts: list[memoryview]) -> bytes:
    text = dump(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    size = sum(part.nbytes for part in parts)
    if len(text) > MAX_HEADER_BYTES:
        raise Refused(f"its description takes {len(text):,} bytes, more than the {MAX_HEADER_BYTES:,} a file may have")
    if len(text) + size + 8 > MAX_FILE_BYTES:
        raise Refused(f"it takes {size:,} bytes, more than the {MAX_FILE_BYTES:,} a file may have")
    head = len(text).to_bytes(8, "little") + text
    digest = checksum(head, parts).encode()
    return head[: _DIGITS.start] + digest + head[_DIGITS.stop :]


def checksum(head: bytes, parts: Iterable[Any]) -> str:
    """SHA-256 of the whole file with the digits of the checksum itself written as zeros."""
    digest = hashlib.sha256(head[: _DIGITS.start])
    digest.update(b"0" * 64)
    digest.update(head[_DIGITS.stop :])
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


# --- reading


def header_length(start: bytes, size: int) -> int:
    """The length of the header, from the first bytes of a file of `size` bytes; refuses other formats."""
    if size == 0:
        raise Refused("it is empty")
    if size > MAX_FILE_BYTES:
        raise Refused(f"it has {size:,} bytes, more than the {MAX_FILE_BYTES:,} a model file may have")
    kind = _foreign(start)
    if kind:
        raise Refused(f"it is {kind}, not a file written by learnt.save")
    length = int.from_bytes(start[:8], "little")
    if length > MAX_HEADER_BYTES:
        raise Refused(f"its header claims {length:,} bytes, more than the {MAX_HEADER_BYTES:,} a model file may have")
    if size < SHORTEST or length + 8 > size:
        raise Refused("it is cut short: it ends before its header does, so copy it again")
    if length + 8 < SHORTEST:
        raise Refused("its header is too short")
    return length


def _foreign(start: bytes) -> str | None:
    """What a file is that does not begin as ours do."""
    if start[8 : 8 + len(PREFIX)] == PREFIX[: len(start) - 8] and len(start) > 8:
        return None
    if start[:1] == b"\x80" and start[1:2] <= b"\x05":
        return "a pickle (which learnt never opens, because opening one runs whatever code is in it)"
    for magic, kind in (
        (b"PK", "a zip archive"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"\x78\x9c", "a zlib-compressed file, perhaps a joblib pickle (which learnt never opens)"),
        (b"\x93NUMPY", "a NumPy array"),
        (b"\x89HDF", "an HDF5 file"),
        (b"PAR1", "a Parquet file"),
        (b"{", "a JSON file"),
    ):
        if start.startswith(magic):
            return kind
    if start[8:9] == b"{":
        return "a safetensors file of another program"
    return "a file of another kind"


def verify(head: bytes, parts: Iterable[Any]) -> None:
    """Refuse a file whose checksum does not match."""
    if checksum(head, parts).encode() != head[_DIGITS]:
        raise Refused(
            "it is damaged or incomplete (its checksum does not match), so copy it again or save the model anew"
        )


def parse_header(head: bytes, body_size: int) -> tuple[dict[str, str], dict[str, TensorInfo]]:
    """Metadata and tensors of a file, every offset and size checked against the body."""
    header = parse(memoryview(head)[8:])
    metadata = header.pop("__metadata__", None) if type(header) is dict else None
    if type(metadata) is not dict or not all(type(value) is str for value in metadata.values()):
        raise Refused("its header is not the one of a safetensors file")
    if len(header) > MAX_TENSORS:
        raise Refused(f"it lists {len(header):,} tensors, more than the {MAX_TENSORS:,} a model file may have")
    tensors = {name: _tensor(name, entry) for name, entry in header.items()}
    position = 0
    for info in sorted(tensors.values(), key=lambda info: (info.start, info.stop)):
        if info.start != position:
            raise Refused("its tensors overlap or leave a gap")
        position = info.stop
    if position != body_size:
        raise Refused(f"its tensors take {position:,} bytes but {body_size:,} follow the header")
    return metadata, tensors


def _tensor(name: str, entry: Any) -> TensorInfo:
    if type(entry) is not dict or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise Refused(f"its tensor {shown(name)} is not described by dtype, shape and data_offsets")
    dtype = _DTYPES.get(entry["dtype"]) if type(entry["dtype"]) is str else None
    if dtype is None:
        raise Refused(f"its tensor {shown(name)} has the unknown dtype {shown(entry['dtype'])}")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if type(shape) is not list or len(shape) > MAX_NDIM or not all(type(n) is int and n >= 0 for n in shape):
        raise Refused(f"its tensor {shown(name)} has the shape {shown(shape)}, which is not a list of sizes")
    if type(offsets) is not list or len(offsets) != 2 or not all(type(n) is int and n >= 0 for n in offsets):
        raise Refused(f"its tensor {shown(name)} has data_offsets {shown(offsets)}, which are not two positions")
    if math.prod(n for n in shape if n) > MAX_ITEMS:
        raise Refused(f"its tensor {shown(name)} has the shape {shown(shape)}, which is too large")
    if math.prod(shape) * dtype.itemsize != offsets[1] - offsets[0]:
        raise Refused(f"its tensor {shown(name)} has shape {shown(shape)} but {offsets[1] - offsets[0]:,} bytes")
    return TensorInfo(dtype, tuple(shape), offsets[0], offsets[1])


def view(body: np.ndarray, info: TensorInfo) -> np.ndarray:
    """The tensor as an array over the bytes of the body, without a copy."""
    array = body[info.start : info.stop].view(info.dtype).reshape(info.shape)
    if info.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise Refused("a tensor of truth values holds other bytes than 0 and 1")
    # A foreign order of tensors may leave one at an odd address, which compiled code need not expect.
    return array.astype(info.dtype.newbyteorder("="), copy=not array.flags.aligned)
