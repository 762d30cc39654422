"""Model files by someone who knows the format: one or two fields of a real model changed, the rest as it was.

A file is taken apart into its tree, in which arrays stand for themselves; `changed` puts a crafted value somewhere in
it (extremes of every type, other kinds, other shapes, huge counts, pieces of other models); `written` makes it a file
with a matching checksum again. The same seed gives the same files.
"""

from __future__ import annotations

import json
import zlib
from functools import cache
from random import Random
from typing import Any

import numpy as np

from learnt.persistence import _arrays, _registry
from learnt.persistence import _container as container


@cache
def class_names() -> list[str]:
    """Every name that may stand in a file."""
    return sorted(_registry.classes())


INTEGERS = [
    0, 1, -1, 2, 3, -2, 7, 63, 64, 255, 256, 1000, 65536, 10**6, 10**9, 2**29, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40,
    2**53, 2**61, 2**62, -(2**62), 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30, 10**400,
]  # fmt: skip
REALS = [
    0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e17, 1e300, -1e300, 1.7976931348623157e308, -1.7976931348623157e308,
    {"float": "nan"}, {"float": "inf"}, {"float": "-inf"},
]  # fmt: skip
WORDS = [
    "", "x", "x" * 100_000, "\0", "\n", "ä", "\ud800", "auto", "drop", "passthrough", "constant", "precomputed", "log",
    "hinge", "poisson", "gamma", "softmax", "log_loss", "quantile", "squared", "omp", "lars", "predict", "0", "nan",
]  # fmt: skip
DTYPES = ["?", "i1", "u1", "i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8", "M8[ns]", "m8[D]", "c8", "c16"]
OTHERS = [
    None, True, False, [], [0], [[]], ["x"], [None] * 3, [1.5, "x"], [{"float": "nan"}], {"tuple": []}, {"tuple": [0]},
    {"tuple": ["a", 1]}, {"set": [1, 2]}, {"frozenset": ["a"]}, {"dict": {}}, {"dict": {"x": 1}}, {"pairs": [[0, 0]]},
    {"pairs": [[-1, [0]]]}, {"slice": [0, 2, None]}, {"slice": [None, None, -1]}, {"slice": [10**30, None, None]},
    {"range": [0, 3, 1]}, {"range": [0, 10**6, 1]}, {"type": "float"}, {"type": "object"}, {"type": "numpy.datetime64"},
    {"dtype": "float32"}, {"dtype": "object"}, {"dtype": "U5"}, {"dtype": "datetime64[ns]"}, {"function": "numpy.log"},
    {"function": "numpy.reciprocal"}, {"scalar": ["float16", 65504.0]}, {"scalar": ["int8", -128]},
    {"scalar": ["uint64", 2**64 - 1]}, {"scalar": ["bool", True]}, {"scalar": ["str", "x"]},
    {"scalar": ["complex128", [0.0, 1.0]]}, {"scalar": ["datetime64[D]", 0]}, {"scalar": ["float64", {"float": "nan"}]},
    {"random": {"kind": "SeedSequence", "entropy": 1, "spawn_key": [], "spawned": 0}},
    {"texts": {"dtype": "object", "shape": [2], "items": ["a", None]}},
    {"texts": {"dtype": "U3", "shape": [1, 1], "items": ["a"]}},
    {"texts": {"dtype": "object", "shape": [], "items": [1]}},
    {"texts": {"dtype": "S1", "shape": [0], "items": []}},
]  # fmt: skip


def opened(data: bytes) -> dict[str, Any]:
    """The tree of a file; arrays stand in it as {"array": ndarray}, packed lists as lists."""
    length = int.from_bytes(data[:8], "little")
    metadata, tensors = container.parse_header(data[: 8 + length], len(data) - 8 - length)
    body = np.frombuffer(data[8 + length :], dtype=np.uint8)

    def spend(size: int) -> None:
        pass

    def walk(node: Any) -> Any:
        if type(node) is list:
            return [walk(item) for item in node]
        if type(node) is not dict:
            return node
        if node.keys() == {"array"}:
            notes = {"tensor": node["array"]} if type(node["array"]) is str else node["array"]
            tensor = container.view(body, tensors[notes["tensor"]])
            if "zip" in notes:
                tensor = _arrays.unzipped(tensor, notes["zip"], spend)
            return {"array": _arrays.restored(tensor, notes.get("dtype"), notes.get("order"))}
        if node.keys() == {"packed"}:
            packed = node["packed"]
            return walk(_arrays.unpacked(container.view(body, tensors[packed["tensor"]]), packed["bytes"], spend))
        return {key: walk(value) for key, value in node.items()}

    return walk(json.loads(metadata["tree"]))


def written(tree: Any) -> bytes:
    """The file of a tree."""
    tensors: dict[str, np.ndarray] = {}

    def walk(node: Any) -> Any:
        if type(node) is list:
            return [walk(item) for item in node]
        if type(node) is not dict:
            return node
        if node.keys() == {"array"} and isinstance(node["array"], np.ndarray):
            name = f"t{len(tensors)}"
            array = node["array"]
            if array.nbytes > 1 << 20:  # a huge one is compressed, as `save` does
                raw = np.ascontiguousarray(array)
                tensors[name] = np.frombuffer(zlib.compress(raw.view(np.uint8).data, 1), np.uint8)
                return {"array": {"tensor": name, "zip": [raw.dtype.name, list(raw.shape)]}}
            notes: dict[str, Any] = {}
            if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
                array, notes["order"] = array.T, "F"
            if array.dtype.kind in "mM":
                array, notes["dtype"] = np.ascontiguousarray(array).view(np.int64), array.dtype.name
            elif array.dtype.kind == "c":
                notes["dtype"] = array.dtype.name
                array = np.ascontiguousarray(array)[..., None].view(array.dtype.char.lower())
            tensors[name] = np.ascontiguousarray(array).reshape(array.shape)
            return {"array": {"tensor": name, **notes} if notes else name}
        return {key: walk(value) for key, value in node.items()}

    metadata = {"format": "learnt", "format_version": "1", "tree": json.dumps(walk(tree))}
    head, parts = container.build(metadata, tensors)
    return b"".join([head, *parts])


# --- crafted values


def changed(tree: Any, dice: Random, pool: list[Any]) -> tuple[Any, list[tuple[str, str, Any]]]:
    """A tree with one or two crafted values in it, and what was done; it shares what did not change."""
    tree = dict(tree)
    done = []
    for _ in range(dice.choice((1, 1, 1, 2))):
        parent, key, path = _place(tree, dice)
        old = parent[key]
        if dice.random() < 0.06 and len(parent) > 1 and isinstance(parent, dict):
            other = dice.choice([name for name in parent if name != key])
            parent[key], parent[other] = parent[other], parent[key]
            done.append((path, "swapped with", other))
        elif dice.random() < 0.04 and isinstance(parent, dict):
            del parent[key]
            done.append((path, "removed, which was", old))
        else:
            parent[key] = _crafted(old, dice, pool)
            done.append((path, "becomes", parent[key]))
    return tree, done


def told(changes: list[tuple[str, str, Any]]) -> str:
    """What was changed, in words."""
    return "; ".join(f"{path} {what} {_short(value)}" for path, what, value in changes)


def _short(value: Any) -> str:
    if isinstance(value, dict) and isinstance(value.get("array"), np.ndarray):
        array = value["array"]
        value = f"array {array.dtype} {array.shape} {array.ravel()[:8].tolist()}"
    return repr(value)[:160]


def _place(tree: Any, dice: Random) -> tuple[Any, Any, str]:
    """A random field: parent, key and path; every step down chooses among the children alike.

    What is stepped through is copied, the tree itself having been, so that the parent can be written to.
    """
    parent, key, path = tree, "object", ""
    while True:
        node = parent[key]
        if isinstance(node, dict) and not isinstance(node.get("array"), np.ndarray) and node:
            if "class" in node and "params" in node:
                names = [name for name in ("state", "state", "state", "params") if node.get(name)] or ["class"]
                if dice.random() < 0.02:
                    names = [name for name in ("class", "requests") if name in node]
                step = dice.choice(names)
            else:
                step = dice.choice(list(node))
        elif isinstance(node, list) and node:
            step = dice.randrange(len(node))
        else:
            return parent, key, path
        # Wrappers ({"object": …}, {"dict": …}, params, state) are stepped through most of the time.
        wrapper = step in ("object", "state", "params", "dict", "tuple", "record", "fields", "texts", "array", "pairs")
        if path and dice.random() < (0.03 if wrapper else 0.15):
            return parent, key, path
        parent[key] = node = node.copy()
        parent, key, path = node, step, f"{path}.{step}"


def _crafted(old: Any, dice: Random, pool: list[Any]) -> Any:
    roll = dice.random()
    if roll < 0.12:
        return dice.choice(OTHERS)
    if roll < 0.22:
        return dice.choice(pool)
    if roll < 0.25:
        return dice.choice(INTEGERS + REALS + WORDS)
    if roll < 0.27:
        return {"array": _any_array(dice)}
    if old is None or isinstance(old, bool):
        return dice.choice([None, True, False, 0, 1, -1, 0.5, "x", [], 2**63])
    if isinstance(old, int):
        return dice.choice([*INTEGERS, old + 1, old - 1, 2 * old, -old])
    if isinstance(old, float):
        return dice.choice([*REALS, old * 1e6, -old, 3])
    if isinstance(old, str):
        return dice.choice([*WORDS, *class_names()]) if "." in old else dice.choice([*WORDS, old + "x"])
    if isinstance(old, list):
        return _list(old, dice)
    return _node(old, dice)


def _list(old: list[Any], dice: Random) -> list[Any]:
    some = dice.choice(old) if old else 0
    return dice.choice([
        [], old[:-1], old[1:], old[::-1], [*old, some], [some] * len(old), [old], [some] * 500, old * 2,
        [None] * len(old), [10**9] * len(old), [-1] * len(old), [[item] for item in old],
    ])  # fmt: skip


def _node(old: dict[str, Any], dice: Random) -> Any:
    """A changed node: an array, a scalar, a list in a wrapper, anything else with a key more or less."""
    if isinstance(old.get("array"), np.ndarray):
        return {"array": _array(old["array"], dice)}
    if isinstance(old.get("scalar"), list) and old["scalar"]:
        name = dice.choice(["int8", "int64", "uint64", "float16", "float32", "float64", "bool"])
        return {"scalar": [dice.choice([name, old["scalar"][0]]), dice.choice(INTEGERS + REALS)]}
    if "float" in old:
        return dice.choice(REALS)
    for kind in ("tuple", "set", "pairs"):
        if isinstance(old.get(kind), list):
            return {kind: _list(old[kind], dice)}
    new = dict(old)
    if new and dice.random() < 0.5:
        del new[dice.choice(list(new))]
    else:
        new[dice.choice(["x", "n_features_in_", "classes_", "0", "state"])] = dice.choice(OTHERS)
    return new


def _extremes(dtype: np.dtype) -> list[Any]:
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        inside = [n for n in INTEGERS if bounds.min <= n <= bounds.max]
        return [*inside, bounds.min, bounds.max, bounds.min + 1, bounds.max - 1]
    if dtype.kind == "f":
        bounds = np.finfo(dtype)
        return [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1.0, 2.0, bounds.max, bounds.min, bounds.tiny, 1e-3, 300.0]
    return [0, 1] if dtype.kind != "b" else [False, True]


def _any_array(dice: Random) -> np.ndarray:
    shape = dice.choice([(), (0,), (1,), (3,), (24,), (0, 3), (3, 0), (3, 3), (24, 3), (1, 1, 1), (1,) * 16])
    return np.full(shape, dice.choice((0, 1))).astype(dice.choice(DTYPES))


def _array(old: np.ndarray, dice: Random) -> np.ndarray:
    with np.errstate(all="ignore"):
        return _ARRAY_CHANGES[dice.randrange(len(_ARRAY_CHANGES))](old, dice)


def _set_some(old: np.ndarray, dice: Random) -> np.ndarray:
    new = old.copy()
    flat = new.reshape(-1)
    for _ in range(dice.choice((1, 1, 1, 2, 5)) if flat.size else 0):
        place = dice.choice([0, flat.size - 1, dice.randrange(flat.size)])
        near = flat[place] + dice.choice((1, -1)) if flat.dtype.kind == "i" else flat[dice.randrange(flat.size)]
        flat[place] = dice.choice([near, dice.choice(_extremes(new.dtype)), dice.choice(_extremes(new.dtype))])
    return flat.reshape(old.shape)


def _set_all(old: np.ndarray, dice: Random) -> np.ndarray:
    return np.full_like(old, dice.choice(_extremes(old.dtype)))


def _wrapping(old: np.ndarray, dice: Random) -> np.ndarray:
    """Integers whose differences and sums wrap around; between the first and the last, which stay."""
    if old.dtype.kind != "i" or old.ndim != 1 or old.size < 4:
        return _set_some(old, dice)
    top = int(np.iinfo(old.dtype).max)
    new = old.copy()
    at = dice.randrange(1, old.size - 2)
    new[at], new[at + 1] = dice.choice([(top // 2 + 1, -top - 1 + top // 4), (top, -top), (top, top), (-top - 1, top)])
    return new


def _shuffled(old: np.ndarray, dice: Random) -> np.ndarray:
    order = np.random.default_rng(dice.randrange(2**32)).permutation(old.size)
    return dice.choice([old.ravel()[order], np.sort(old, axis=None), np.sort(old, axis=None)[::-1],
                        np.roll(old.ravel(), 1)]).reshape(old.shape)  # fmt: skip


def _other_type(old: np.ndarray, dice: Random) -> np.ndarray:
    return old.astype(dice.choice(DTYPES))


def _reshaped(old: np.ndarray, dice: Random) -> np.ndarray:
    return dice.choice([old.reshape(-1), old[None], old[..., None], old.T, old.reshape(-1)[:1].reshape(()) if old.size
                        else old, old.reshape(-1, 1), old.reshape(1, -1), np.asfortranarray(old)])  # fmt: skip


def _other_length(old: np.ndarray, dice: Random) -> np.ndarray:
    if old.ndim == 0:
        return old.reshape(1)
    axis = dice.randrange(old.ndim)
    rows = old.shape[axis]
    places = [*range(rows)]
    index = dice.choice([places[:-1], places[1:], [], places[:1], places + places[-1:], places * 2, places[:1] * 300])
    return old.take(np.asarray(index, dtype=np.int64), axis=axis)


def _huge(old: np.ndarray, dice: Random) -> np.ndarray:
    if dice.random() < 0.9:
        return _set_some(old, dice)
    return np.zeros(dice.choice([(1_000_000,), (1000, 1000), (1, 500_000), (500_000, 1), (2000, 3, 30)]), old.dtype)


_ARRAY_CHANGES = [_set_some, _set_some, _set_some, _set_some, _set_all, _wrapping, _shuffled, _other_type, _reshaped,
                  _other_length, _huge]  # fmt: skip
