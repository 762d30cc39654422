"""From a tree back to a model. Nothing in a file is trusted: every node is checked, then built, then checked again.

An estimator is built as `Class(**params)` from the registry; its fitted attributes are set only when its schema (or the
general rule for attribute names) allows them, and only values that pass the schema stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from inspect import Parameter, signature
from typing import Any

import numpy as np

from learnt.engine.schema import PLAIN, shown
from learnt.persistence import _arrays, _random, _registry, _sparse
from learnt.persistence._encode import MAX_DEPTH
from learnt.persistence._errors import Refused
from learnt.persistence._models import check_model
from learnt.persistence._records import RECORD_FIELDS

MAX_NODES = 20_000_000
MEMORY_FACTOR = 40  # a file may grow this much in memory: numbers stored in bytes and compressed, strings of one width
MEMORY_FREE = 1 << 26

_TEXT_DTYPE = re.compile("object|[US][0-9]{1,6}")
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Decoder:
    """Builds one model from its tree; every tensor must be used exactly once."""

    def __init__(self, tensors: Callable[[str], np.ndarray], names: set[str], size: int) -> None:
        self._tensors, self._left = tensors, set(names)
        self._memory = MEMORY_FACTOR * size + MEMORY_FREE
        self._nodes = MAX_NODES
        self._path: list[str] = []

    def model(self, tree: Any) -> Any:
        """The model at the root of the tree."""
        if type(tree) is not dict or tree.keys() != {"object"}:
            raise Refused("its tree does not begin with a model")
        model = self.decode(tree)
        if self._left:
            raise Refused(f"its tensor {shown(min(self._left))} belongs to nothing")
        return model

    def spend(self, size: int) -> None:
        """Count memory against the limit; raises where it is exceeded."""
        self._memory -= size
        if self._memory < 0:
            raise Refused("it would take far more memory than its size")

    def decode(self, node: Any, step: Any = "") -> Any:
        """The value of a node, found at `step` below the current place."""
        kind = type(node)
        if kind is str or node is None or kind is bool or kind is int or kind is float:
            return node
        self._path.append(step)
        self._nodes -= 1
        if len(self._path) > MAX_DEPTH or self._nodes < 0:
            raise Refused("its tree is nested too deeply or has too many nodes")
        if kind is list:
            value: Any = self._items(node)
        else:
            if kind is not dict or len(node) != 1:
                raise self._no("is not a node of a model file")
            [(name, content)] = node.items()
            build = _KINDS.get(name)
            if build is None:
                raise self._no(f"is of the unknown kind {shown(name)}")
            value = build(self, content)
        self._path.pop()
        return value

    def _no(self, reason: str) -> Refused:
        return Refused(f"its {'.'.join(str(s) for s in self._path if s != '')[:120] or 'model'} {reason}")

    def _tell(self, function: Any, *args: Any) -> Any:
        try:
            return function(*args)
        except Refused as reason:
            raise self._no(str(reason)) from None

    # --- containers

    def _unpack(self, node: Any, kind: Any) -> Any:
        """A JSON list or object, compressed or not."""
        if type(node) is dict and node.keys() == {"packed"}:
            inner = node["packed"]
            if type(inner) is not dict or inner.keys() != {"tensor", "bytes"}:
                raise self._no("is packed without a tensor")
            node = self._tell(_arrays.unpacked, self._take(inner["tensor"]), inner["bytes"], self.spend)
        if type(node) is not kind:
            raise self._no(f"is not a {kind.__name__}")
        self._nodes -= len(node)
        return node

    def _items(self, node: Any) -> list[Any]:
        items = self._unpack(node, list)
        return [item if type(item) is str else self.decode(item, i) for i, item in enumerate(items)]

    def _packed(self, content: Any) -> list[Any]:
        return self._items({"packed": content})

    def _tuple(self, content: Any) -> tuple[Any, ...]:
        return tuple(self._items(content))

    def _hashable(self, values: list[Any]) -> list[Any]:
        try:
            for value in values:
                hash(value)
        except TypeError:
            raise self._no("has a list or array where only plain values can stand") from None
        return values

    def _set(self, content: Any) -> set[Any]:
        return set(self._hashable(self._items(content)))

    def _dict(self, content: Any) -> dict[str, Any]:
        return {key: self.decode(value, key) for key, value in self._unpack(content, dict).items()}

    def _pairs(self, content: Any) -> dict[Any, Any]:
        pairs = self._items(content)
        if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
            raise self._no("is not made of pairs")
        self._hashable([key for key, _ in pairs])
        return dict(pairs)

    # --- leaves

    def _float(self, content: Any) -> float:
        if type(content) is not str or content not in _FLOATS:
            raise self._no("is not a number")
        return _FLOATS[content]

    def _slice(self, content: Any) -> slice:
        parts = self._items(content)
        if len(parts) != 3 or not all(part is None or type(part) in (int, str) for part in parts):
            raise self._no("is not a slice")
        return slice(*parts)

    def _range(self, content: Any) -> range:
        if type(content) is not list or len(content) != 3 or not all(type(n) is int for n in content) or not content[2]:
            raise self._no("is not a range")
        span = range(*content)
        self.spend(8 * max(0, (span.stop - span.start) // span.step + 1))  # its size as an array
        return span

    def _named(self, table: dict[str, Any], content: Any) -> Any:
        if type(content) is not str or content not in table:
            raise self._no(f"names {shown(content)}, which a model file may not")
        return table[content]

    def _dtype(self, content: Any) -> np.dtype:
        dtype = _arrays.scalar_dtype(content)
        if dtype is None and type(content) is str and _TEXT_DTYPE.fullmatch(content):
            dtype = np.dtype(content)
        if dtype is None:
            raise self._no(f"is the unknown dtype {shown(content)}")
        return dtype

    def _scalar(self, content: Any) -> Any:
        if type(content) is not list or len(content) != 2:
            raise self._no("is not a scalar")
        name, value = content[0], self.decode(content[1])
        if name == "str" and type(value) is str:
            return np.str_(value)
        dtype = _arrays.scalar_dtype(name)
        expected: Any = {"b": bool, "i": int, "u": int, "m": int, "M": int, "f": float, "c": list}
        if dtype is None or type(value) is not expected[dtype.kind]:
            raise self._no(f"is not a scalar of dtype {shown(name)}")
        if dtype.kind == "c":
            if len(value) != 2 or not all(type(part) is float for part in value):
                raise self._no("is not a complex number")
            value = complex(*value)
        if dtype.kind in "iumM":
            bounds = np.iinfo(dtype if dtype.kind in "iu" else np.int64)
            if not bounds.min <= value <= bounds.max:
                raise self._no(f"does not fit in {name}")
        with np.errstate(over="ignore"):
            return dtype.type(value) if dtype.kind in "biufc" else np.int64(value).view(dtype)

    # --- arrays

    def _take(self, name: Any) -> np.ndarray:
        if type(name) is not str or name not in self._left:
            raise self._no(f"asks for the tensor {shown(name)}, which is not there or is used twice")
        self._left.remove(name)
        return self._tell(self._tensors, name)

    def _array(self, content: Any) -> np.ndarray:
        notes = {"tensor": content} if type(content) is str else content
        if type(notes) is not dict or not {"tensor"} <= notes.keys() <= {"tensor", "dtype", "order", "zip"}:
            raise self._no("is not an array")
        tensor = self._take(notes["tensor"])
        if "zip" in notes:
            tensor = self._tell(_arrays.unzipped, tensor, notes["zip"], self.spend)
        dtype = notes.get("dtype")
        if dtype is not None and type(dtype) is not str:
            raise self._no("is not an array")
        self.spend(_arrays.item_size(dtype) * tensor.size)
        return self._tell(_arrays.restored, tensor, dtype, notes.get("order"))

    def _texts(self, content: Any) -> np.ndarray:
        if type(content) is not dict or content.keys() != {"dtype", "shape", "items"}:
            raise self._no("is not an array of strings")
        items = self._items(content["items"])
        if not all(item is None or isinstance(item, PLAIN) for item in items):
            raise self._no("is an array that holds more than plain values")
        return self._tell(_arrays.text_array, content["dtype"], content["shape"], items, self.spend)

    def _parts(self, content: Any) -> dict[str, Any]:
        if type(content) is not dict:
            raise self._no("has no parts")
        return {key: self.decode(value, key) for key, value in content.items()}

    def _sparse(self, content: Any) -> Any:
        return self._tell(_sparse.from_parts, self._parts(content))

    def _random(self, content: Any) -> Any:
        return self._tell(_random.from_state, self._parts(content))

    # --- objects

    def _record(self, content: Any) -> Any:
        if type(content) is not dict or content.keys() != {"class", "fields"} or type(content["class"]) is not str:
            raise self._no("is not a record")
        name = content["class"]
        fields = self._parts(content["fields"])
        if name not in _registry.RECORDS or fields.keys() != set(_registry.RECORDS[name]):
            raise self._no(f"is a record of the unknown kind {shown(name)}")
        cls = self._tell(_registry.resolve, name)
        known = RECORD_FIELDS.get(name, {})
        sizes: dict[str, int] = {}
        for key in (key for key in _registry.RECORDS[name] if key in known):
            reason = known[key](fields[key], sizes)
            if reason is not None:
                raise self._no(f"is a {cls.__name__} whose {key} {reason}")
        try:
            return cls(**fields)
        except (TypeError, ValueError, OverflowError):
            raise self._no(f"is a {cls.__name__} of values that it cannot have") from None

    def _object(self, content: Any) -> Any:
        keys = content.keys() if type(content) is dict else set()
        if not {"class", "params"} <= keys <= {"class", "params", "state", "requests"}:
            raise self._no("is not an estimator")
        name = content["class"]
        if type(name) is not str or name in _registry.RECORDS:
            raise self._no("is not an estimator")
        cls = self._tell(_registry.resolve, name)
        params, state = self._parts(content["params"]), self._parts(content.get("state", {}))
        unknown = params.keys() - parameters(cls)[0]
        missing = parameters(cls)[1] - params.keys()
        if unknown or missing:
            word = f"the unknown parameter {shown(min(unknown))}" if unknown else f"no parameter {min(missing)!r}"
            raise self._no(f"is a {cls.__name__} with {word}")
        model = cls(**params)
        self._tell(check_model, model, _registry.RENAMED.get(name, name), params, state)
        vars(model).update(state)
        hook = getattr(cls, "__learnt_check__", None)
        if hook is not None and state:
            try:
                hook(model)
            except ValueError as error:
                raise self._no(f"is a {cls.__name__} in an impossible state: {shown(str(error), 200)}") from None
        self._requests(model, content.get("requests", {}))
        return model

    def _requests(self, model: Any, content: Any) -> None:
        """Restore the requests set by `set_fit_request` and similar methods."""
        if not content:
            return
        from sklearn import config_context

        with config_context(enable_metadata_routing=True):
            for method, told in content.items() if type(content) is dict else ():
                setter = getattr(type(model), f"set_{method}_request", None) if method.isidentifier() else None
                fine = type(told) is dict and all(v is None or type(v) in (bool, str) for v in told.values())
                try:
                    if setter is None or not fine:
                        raise TypeError
                    getattr(model, f"set_{method}_request")(**told)
                except (TypeError, ValueError):
                    raise self._no(f"has a metadata request for {shown(method)} that it cannot have") from None


@cache
def parameters(cls: type) -> tuple[set[str], set[str]]:
    """The names of all constructor parameters of a class, and of those without a default."""
    all_ = [p for p in signature(cls).parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    return {p.name for p in all_}, {p.name for p in all_ if p.default is Parameter.empty}


_KINDS: dict[str, Callable[[Decoder, Any], Any]] = {
    "tuple": Decoder._tuple,
    "set": Decoder._set,
    "frozenset": lambda self, content: frozenset(self._set(content)),
    "dict": Decoder._dict,
    "pairs": Decoder._pairs,
    "packed": Decoder._packed,
    "float": Decoder._float,
    "slice": Decoder._slice,
    "range": Decoder._range,
    "type": lambda self, content: self._named(_registry.TYPES, content),
    "function": lambda self, content: self._named(_registry.UFUNCS, content),
    "dtype": Decoder._dtype,
    "scalar": Decoder._scalar,
    "array": Decoder._array,
    "texts": Decoder._texts,
    "sparse": Decoder._sparse,
    "random": Decoder._random,
    "record": Decoder._record,
    "object": Decoder._object,
}
