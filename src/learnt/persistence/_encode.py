"""From a model to its tree: JSON for structure and small values, tensors for arrays.

None, True, 3, 2.5, "x" and lists stand for themselves. Everything else is an object with one key, its kind:

    {"tuple": [...]}  {"set": [...]}  {"dict": {...}}  {"pairs": [[key, value], ...]}  {"float": "nan"}
    {"slice": [0, 5, null]}  {"range": [0, 5, 1]}
    {"type": "numpy.float64"}  {"dtype": "float32"}  {"function": "numpy.log1p"}
    {"scalar": ["float32", 0.5]}              a NumPy scalar
    {"array": "coef_"}                        a tensor; {"array": {"tensor", "dtype", "order", "zip"}} if odd
    {"texts": {"dtype", "shape", "items"}}    an array of strings or Python objects
    {"packed": {"tensor", "bytes"}}           a long JSON value, compressed
    {"sparse": {...}}  {"random": {...}}      a scipy.sparse container; a random generator
    {"record": {"class", "fields"}}           a plain data holder
    {"object": {"class", "params", "state", "requests"}}   an estimator
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from learnt.engine.arrays import is_dask, is_foreign_array, to_numpy
from learnt.engine.schema import shown
from learnt.persistence import _arrays, _random, _registry, _sparse
from learnt.persistence._errors import Refused
from learnt.persistence._json import MAX_DIGITS, dump

MAX_DEPTH = 64  # of nested values; a longer chain is a cycle or no model
MAX_NAME = 100
_SIMPLE = {str, bool, type(None)}  # stored as they are

# Set on an estimator by scikit-learn's callback machinery; about a fit in progress, not about the model.
_PASSING = {"_skl_callbacks", "_skl_callbacks_to_teardown", "_callback_fit_ctx", "_parent_callback_ctx"}
_DERIVED = {"_search", "_sums"}  # built again from the rest


class Encoder:
    """Turns one model into a tree; `tensors` collects the arrays."""

    def __init__(self) -> None:
        self.tensors: dict[str, np.ndarray] = {}
        self._path: list[str] = []

    def where(self) -> str:
        """The place in the model that is being encoded, as one would type it."""
        return "model" + "".join(self._path)

    def encode(self, value: Any, step: str = "") -> Any:
        """The JSON for `value`, found at `step` below the current place."""
        self._path.append(step)
        if len(self._path) > MAX_DEPTH:
            raise Refused("it is nested too deeply, perhaps because it contains itself")
        result = self._encode(value)
        self._path.pop()
        return result

    def _encode(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            if value.bit_length() > 3 * MAX_DIGITS:
                raise self._no("is an integer with thousands of digits, which a model file cannot hold")
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        encode = _ENCODERS.get(kind)
        if encode is not None:
            return encode(self, value)
        if isinstance(value, np.generic):
            return self._scalar(value)
        if isinstance(value, np.memmap) or is_foreign_array(value):
            return self._array(np.asarray(to_numpy(value)))
        if isinstance(value, np.dtype):
            return self._dtype(value)
        if kind.__module__.startswith("scipy.sparse") and hasattr(value, "format"):
            return {"sparse": self._fields(self._tell(_sparse.parts_of, value))}
        name = _registry.name_of(kind)  # type: ignore[arg-type]
        if name in _registry.RECORDS:
            fields = {key: getattr(value, key) for key in _registry.RECORDS[name]}
            return {"record": {"class": name, "fields": self._fields(fields)}}
        if name is not None:
            return self._object(value, name)
        raise self._unknown(value)

    # --- leaves

    def _scalar(self, value: np.generic) -> Any:
        if isinstance(value, np.str_):
            return {"scalar": ["str", str(value)]}
        name = value.dtype.name
        if _arrays.scalar_dtype(name) is None:
            raise self._no(f"is a NumPy scalar of dtype {value.dtype}, which a model file cannot hold")
        if value.dtype.kind in "mM":
            return {"scalar": [name, int(value.view(np.int64))]}
        plain = value.item()
        if isinstance(plain, complex):
            return {"scalar": [name, [self._encode(plain.real), self._encode(plain.imag)]]}
        return {"scalar": [name, self._encode(plain)]}

    def _dtype(self, value: np.dtype) -> Any:
        name = _arrays.text_dtype_name(value) or value.name
        return {"dtype": name}

    def _type(self, value: type) -> Any:
        name = _registry.type_name(value)
        if name is None:
            raise self._no(f"is the class {shown(value.__name__)}; a model file holds no code, so pass a name instead")
        return {"type": name}

    def _function(self, value: Any) -> Any:
        name = _registry.function_name(value)
        if name is None:
            raise self._unknown(value)
        return {"function": name}

    # --- containers

    def _items(self, values: Any) -> Any:
        if set(map(type, values)) <= _SIMPLE:
            return self._pack(list(values))
        return self._pack([self.encode(item, f"[{i}]") for i, item in enumerate(values)])

    def _pack(self, items: Any) -> Any:
        """Long lists of plain values are compressed; what refers to tensors stays where it can be read."""
        values = items.values() if isinstance(items, dict) else items
        if len(items) < 64 or any(isinstance(value, dict) for value in values):
            return items
        packed = _arrays.packed(items)
        if packed is None:
            return items
        return {"packed": {"tensor": self._keep(packed[0], "#packed"), "bytes": packed[1]}}

    def _dict(self, value: dict) -> Any:
        if all(type(key) is str for key in value):
            return {"dict": self._pack({key: self.encode(item, f"[{shown(key)}]") for key, item in value.items()})}
        pairs = [[self.encode(k, "[key]"), self.encode(v, f"[{shown(k)}]")] for k, v in value.items()]
        return {"pairs": pairs}

    def _set(self, value: set) -> Any:
        return {"set": sorted((self.encode(item, "{}") for item in value), key=dump)}

    def _fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {name: self.encode(value, f".{name}") for name, value in fields.items()}

    # --- arrays

    def _array(self, array: np.ndarray) -> Any:
        dtype = _arrays.text_dtype_name(array.dtype)
        if dtype is not None:
            flat = array.reshape(-1).tolist()
            if dtype[0] == "S":
                flat = [item.decode("latin-1") for item in flat]
            return {"texts": {"dtype": dtype, "shape": list(array.shape), "items": self._items(flat)}}
        tensor, notes = self._tell(_arrays.stored, array)
        name = self._keep(tensor)
        return {"array": {"tensor": name, **notes} if notes else name}

    def _keep(self, tensor: np.ndarray, ending: str = "") -> str:
        """Put a tensor in the file under a readable name of its own."""
        name = ("".join(self._path).lstrip(".") or "model")[:MAX_NAME] + ending
        name = "".join(c if c.isprintable() else "?" for c in name)
        unique, n = name, 2
        while unique in self.tensors or unique == "__metadata__":
            unique, n = f"{name}#{n}", n + 1
        self.tensors[unique] = tensor
        return unique

    # --- objects

    def _object(self, model: Any, name: str) -> Any:
        params = model.get_params(deep=False)
        model.__getstate__()  # a model may finish here what it has put off
        state = {
            key: value
            for key, value in vars(model).items()
            # A lazy array belongs to the data the model was fitted on, such as the labels of a Dask collection.
            if not (key in params or key in _PASSING | _DERIVED or is_dask(value))
        }
        requests = state.pop("_metadata_request", None)
        node = {"class": name, "params": self._fields(dict(sorted(params.items())))}
        if state:
            node["state"] = self._fields(dict(sorted(state.items())))
        if requests is not None:
            node["requests"] = _requests(requests)
        return {"object": node}

    # --- refusals

    def _tell(self, function: Any, value: Any) -> Any:
        try:
            return function(value)
        except Refused as reason:
            raise self._no(str(reason)) from None

    def _no(self, reason: str) -> Refused:
        return Refused(f"{self.where()} {reason}")

    def _unknown(self, value: Any) -> Refused:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if hasattr(value, "best_estimator_"):
            return self._no(f"is a {kind.__name__}, which is not saved; save its best_estimator_ instead")
        if hasattr(value, "study_"):
            instead = "save its model_ instead" if value.study_ is None else "its study_.save(path) keeps what it chose"
            return self._no(f"is a {kind.__name__}, which is not saved; {instead}")
        for base in kind.__mro__[1:]:
            if _registry.name_of(base) is not None:
                return self._no(f"is a {name}, a subclass that learnt cannot rebuild; use {base.__name__} itself")
        if callable(value) and not hasattr(value, "get_params"):
            label = getattr(value, "__name__", kind.__name__)
            return self._no(
                f"is the function {shown(label)}; a model file holds no code, so use a built-in name instead"
            )
        if hasattr(value, "get_params"):
            return self._no(f"is a {name}, which is not one of the classes that learnt saves (see learnt.persistence)")
        return self._no(f"is a {name}, which a model file cannot hold; use numbers, strings, lists, dicts or arrays")


def _requests(metadata: Any) -> dict[str, Any]:
    """The requests set by `set_fit_request` and similar methods, by method."""
    told = {}
    for method in ("fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score",
                   "transform", "inverse_transform"):  # fmt: skip
        requests = getattr(getattr(metadata, method, None), "requests", None)
        if requests:
            told[method] = dict(sorted(requests.items()))
    return told


_ENCODERS: dict[type, Any] = {
    list: Encoder._items,
    tuple: lambda self, value: {"tuple": self._items(value)},
    dict: Encoder._dict,
    set: Encoder._set,
    frozenset: lambda self, value: {"frozenset": self._set(value)["set"]},
    slice: lambda self, value: {"slice": [self.encode(n, ".slice") for n in (value.start, value.stop, value.step)]},
    range: lambda self, value: {"range": [value.start, value.stop, value.step]},
    np.ndarray: Encoder._array,
    np.ufunc: Encoder._function,
    type(np.mean): Encoder._function,
    type: Encoder._type,
    np.random.RandomState: lambda self, value: {"random": self._fields(self._tell(_random.state_of, value))},
    np.random.Generator: lambda self, value: {"random": self._fields(self._tell(_random.state_of, value))},
    np.random.SeedSequence: lambda self, value: {"random": self._fields(self._tell(_random.state_of, value))},
}
