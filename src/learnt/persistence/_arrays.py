"""Arrays in the file: which tensor each one becomes, and back.

Numbers are stored losslessly in the smallest type that holds them (a table of counts kept as float64 takes one byte
a cell), and compressed where that takes off at least two fifths (labels, counts, constant columns; never the numbers
of a regression). Long lists of strings are stored as compressed JSON. Compressed data state their uncompressed size.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np

from learnt.engine.schema import shown
from learnt.persistence._container import can_hold
from learnt.persistence._errors import Refused
from learnt.persistence._json import dump, parse

PACK_FROM = 2048  # characters of JSON from which a list is compressed
NARROW_FROM = 256  # bytes from which an array is stored in a smaller type
ZIP_FROM = 1024  # bytes from which an array may be compressed
ZIP_GAIN = 0.6
ZIP_MOST, ZIP_FREE = 32, 1 << 16  # an array that grows more than this in memory is not compressed: see _decode
_BLOCK = 1 << 20
_SAMPLE = 1 << 15
_NARROWER = {"i": "u1 i1 u2 i2 u4 i4", "u": "u1 u2 u4", "f": "u1 i1 u2 i2 i4 f4"}
_NUMERIC: dict[str, np.dtype] = {
    np.dtype(c).name: np.dtype(c) for c in ("?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8")
}
_COMPLEX: dict[str, np.dtype] = {"complex64": np.dtype("c8"), "complex128": np.dtype("c16")}
_UNITS = ("", "[Y]", "[M]", "[W]", "[D]", "[h]", "[m]", "[s]", "[ms]", "[us]", "[ns]", "[ps]", "[fs]", "[as]")
_TIMES: dict[str, np.dtype] = {
    name + unit: np.dtype(name + unit) for name in ("datetime64", "timedelta64") for unit in _UNITS
}


def stored(array: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """The tensor that holds a numeric array, and the metadata to restore the array."""
    notes: dict[str, Any] = {}
    if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
        array, notes["order"] = array.T, "F"  # the layout decides the last bit of a matrix product
    tensor = np.ascontiguousarray(array).reshape(array.shape)
    tensor = tensor.astype(tensor.dtype.newbyteorder("="), copy=False)
    dtype = tensor.dtype
    if dtype.name in _TIMES:
        tensor = tensor.view(np.int64)
    elif dtype.name in _COMPLEX:
        tensor = tensor[..., None].view(dtype.char.lower())
    elif not can_hold(dtype):
        raise Refused(f"has the dtype {dtype}, which a model file cannot hold; convert it to float64 or to strings")
    tensor = _narrowed(tensor)
    if tensor.dtype != dtype:
        notes["dtype"] = dtype.name
    short = _zipped(tensor, array.nbytes)
    if short is not None:
        notes["zip"] = [tensor.dtype.name, list(tensor.shape)]
        tensor = short
    return tensor, notes


def _zipped(tensor: np.ndarray, in_memory: int) -> np.ndarray | None:
    """The bytes of a tensor compressed, where that pays, which is mostly decided on its beginning."""
    if tensor.nbytes < ZIP_FROM:
        return None
    raw = tensor.astype(tensor.dtype.newbyteorder("<"), copy=False).reshape(-1).view(np.uint8)
    start = raw[:_SAMPLE].data
    if len(zlib.compress(start, 1)) > ZIP_GAIN * len(start):
        return None
    short = np.frombuffer(zlib.compress(raw.data, 6 if raw.size < 1 << 24 else 1), dtype=np.uint8)
    return short if short.size <= ZIP_GAIN * raw.size and in_memory <= ZIP_MOST * short.size + ZIP_FREE else None


def unzipped(tensor: np.ndarray, kind: Any, spend: Any) -> np.ndarray:
    """The tensor that `_zipped` was given."""
    if type(kind) is not list or len(kind) != 2 or type(kind[0]) is not str or kind[0] not in _NUMERIC:
        raise Refused("is compressed without saying what it is")
    dtype, shape = _NUMERIC[kind[0]].newbyteorder("<"), kind[1]
    if type(shape) is not list or len(shape) > 16 or not all(type(n) is int and 0 <= n < 2**40 for n in shape):
        raise Refused(f"is compressed and has the shape {shown(shape)}")
    raw = np.frombuffer(_inflated(tensor, math.prod(shape) * dtype.itemsize, spend), dtype=dtype).reshape(shape)
    if dtype == np.bool_ and raw.size and raw.view(np.uint8).max() > 1:
        raise Refused("holds truth values that are neither 0 nor 1")
    return raw.astype(dtype.newbyteorder("="), copy=False)


def _narrowed(array: np.ndarray) -> np.ndarray:
    """The same numbers, bit for bit, in the smallest type that holds them."""
    if array.nbytes < NARROW_FROM:
        return array
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        for code in _NARROWER.get(array.dtype.kind, "").split():
            kind = np.dtype(code)
            if kind.itemsize >= array.dtype.itemsize or not np.can_cast(kind, array.dtype, "safe"):
                continue
            # Most arrays show in their first values that they do not fit.
            blocks = [slice(0, 64), *(slice(i, i + _BLOCK) for i in range(0, flat.size, _BLOCK))]
            if all(_same_bits(flat[b].astype(kind).astype(array.dtype), flat[b]) for b in blocks):
                return array.astype(kind)
    return array


def _same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    bits = np.dtype(f"u{a.dtype.itemsize}")
    return bool(np.array_equal(a.view(bits), b.view(bits)))


def restored(tensor: np.ndarray, dtype: str | None, order: str | None) -> np.ndarray:
    """The array that `stored` was given."""
    if dtype is not None:
        if dtype in _TIMES:
            if tensor.dtype.kind not in "iu" or not np.can_cast(tensor.dtype, np.int64, "safe"):
                raise Refused(f"stores dates as {tensor.dtype}")
            tensor = tensor.astype(np.int64, copy=False).view(_TIMES[dtype])
        elif dtype in _COMPLEX:
            part = np.dtype(_COMPLEX[dtype].char.lower())
            if tensor.ndim == 0 or tensor.shape[-1] != 2 or not np.can_cast(tensor.dtype, part, "safe"):
                raise Refused("stores complex numbers otherwise than as pairs")
            tensor = np.ascontiguousarray(tensor.astype(part, copy=False)).view(_COMPLEX[dtype])[..., 0]
        elif dtype in _NUMERIC and np.can_cast(tensor.dtype, _NUMERIC[dtype], "safe"):
            tensor = tensor.astype(_NUMERIC[dtype], copy=False)
        else:
            raise Refused(f"is stored as {tensor.dtype} but meant to be {shown(dtype)}")
    if order not in (None, "F"):
        raise Refused(f"has the memory order {shown(order)}")
    return tensor.T if order == "F" else tensor


def item_size(dtype: Any) -> int:
    """The bytes an item of this dtype takes in memory."""
    known = scalar_dtype(dtype)
    return 0 if known is None else known.itemsize


def scalar_dtype(name: Any) -> np.dtype | None:
    """The dtype of a NumPy scalar by name, or None when a file may not hold one."""
    if type(name) is not str:
        return None
    return _NUMERIC.get(name) or _COMPLEX.get(name) or _TIMES.get(name)


# --- arrays of strings and of Python objects


def text_dtype_name(dtype: np.dtype) -> str | None:
    """How the dtype of an array of strings or objects is written, or None for any other."""
    if dtype.kind in "OUS":
        return {"O": "object", "U": f"U{dtype.itemsize // 4}", "S": f"S{dtype.itemsize}"}[dtype.kind]
    if dtype.kind == "T" and not hasattr(dtype, "na_object"):
        return "T"
    return None


def text_array(name: Any, shape: Any, items: list[Any], spend: Any) -> np.ndarray:
    """An array of strings or objects from its items; `spend(bytes)` is called before memory is allocated."""
    if type(shape) is not list or len(shape) > 8 or not all(type(n) is int and 0 <= n <= 2**40 for n in shape):
        raise Refused(f"has the shape {shown(shape)}")
    if math.prod(shape) != len(items):
        raise Refused(f"has the shape {shown(shape)} but {len(items):,} items")
    if type(name) is not str or not (name in ("object", "T") or (name[:1] in ("U", "S") and name[1:].isdecimal())):
        raise Refused(f"has the dtype {shown(name)}")
    if name == "object":
        array = np.empty(len(items), dtype=object)
        array[:] = items  # all items are scalars, so nothing is unpacked
        return array.reshape(shape)
    if not all(type(item) is str for item in items):
        raise Refused("is an array of strings that holds something else")
    if name == "T":
        return np.array(items, dtype=np.dtypes.StringDType()).reshape(shape)
    width = int(name[1:]) if len(name) < 12 else 2**40
    spend(4 * max(width, 1) * len(items))
    if any(len(item) > width for item in items):
        raise Refused(f"holds a string longer than {width} characters")
    if name[0] == "S":
        try:
            return np.array([item.encode("latin-1") for item in items], dtype=f"S{width}").reshape(shape)
        except UnicodeEncodeError:
            raise Refused("is an array of bytes that holds other characters") from None
    return np.array(items, dtype=f"U{width}").reshape(shape)


def packed(value: Any) -> tuple[np.ndarray, int] | None:
    """Long JSON as compressed bytes with their true length; None where it is short."""
    text = dump(value).encode("utf-8")
    if len(text) < PACK_FROM:
        return None
    return np.frombuffer(zlib.compress(text, 6), dtype=np.uint8), len(text)


def unpacked(tensor: np.ndarray, size: Any, spend: Any) -> Any:
    """The JSON value that `packed` was given; never more than `size` bytes are made."""
    return parse(bytes(_inflated(tensor, size, spend)))


def _inflated(tensor: np.ndarray, size: Any, spend: Any) -> bytearray:
    if type(size) is not int or size < 0 or tensor.dtype != np.uint8 or tensor.ndim != 1:
        raise Refused("is compressed without a length")
    spend(size)
    inflate = zlib.decompressobj()
    try:
        data = inflate.decompress(tensor.data, size + 1)
    except zlib.error:
        raise Refused("is compressed in a way that does not unpack") from None
    if len(data) != size or not inflate.eof or inflate.unused_data:
        raise Refused("is compressed and has another length than it says")
    return bytearray(data)
