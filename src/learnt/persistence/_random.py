"""Random generators as data: a `random_state` that is a `RandomState` or `Generator` keeps its exact state."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.persistence._errors import Refused

_PCG = {"PCG64": np.random.PCG64, "PCG64DXSM": np.random.PCG64DXSM}
_WORD = 1 << 32
_LONG = 1 << 128


def state_of(source: Any) -> dict[str, Any]:
    """The state of a generator as a dict of numbers, strings and arrays."""
    if isinstance(source, np.random.SeedSequence):
        return {
            "kind": "SeedSequence",
            "entropy": source.entropy if isinstance(source.entropy, int) else [int(n) for n in source.entropy or ()],
            "spawn_key": [int(n) for n in source.spawn_key],
            "spawned": int(source.n_children_spawned),
        }
    if isinstance(source, np.random.RandomState):
        inner, bits = source.get_state(legacy=False), None
    else:
        inner, bits = source.bit_generator.state, source.bit_generator
    name = inner["bit_generator"]
    if name == "MT19937":
        state = {"kind": "Generator", "bits": name, "key": inner["state"]["key"], "pos": int(inner["state"]["pos"])}
    elif name in _PCG and bits is not None:
        state = {"kind": "Generator", "bits": name, "state": inner["state"]["state"], "inc": inner["state"]["inc"],
                 "half": [int(inner["has_uint32"]), int(inner["uinteger"])]}  # fmt: skip
    else:
        raise Refused(f"is a random generator over {name}, which a model file cannot hold; use a seed instead")
    if bits is None:
        state.update(kind="RandomState", gauss=[int(inner["has_gauss"]), float(inner["gauss"])])
    return state


def _is_integer(value: Any, below: int) -> bool:
    return type(value) is int and 0 <= value < below


def _seed_list(value: Any) -> bool:
    return type(value) is list and len(value) <= 1024 and all(_is_integer(n, _LONG) for n in value)


def from_state(state: dict[str, Any]) -> Any:
    """Restore the generator; every number is range-checked before it is passed to NumPy's C code."""
    kind = state.get("kind")
    if type(kind) is not str or not isinstance(state.get("bits", ""), str):
        raise Refused("is a random generator of an unknown kind")
    if kind == "SeedSequence" and state.keys() == {"kind", "entropy", "spawn_key", "spawned"}:
        entropy, key = state["entropy"], state["spawn_key"]
        if (
            (_is_integer(entropy, 1 << 4096) or _seed_list(entropy))
            and _seed_list(key)
            and _is_integer(state["spawned"], _WORD)
        ):
            return np.random.SeedSequence(entropy, spawn_key=tuple(key), n_children_spawned=state["spawned"])
    elif kind in ("Generator", "RandomState"):
        return _generator(state)
    raise Refused("is a random generator in an impossible state")


def _generator(state: dict[str, Any]) -> Any:
    gauss = state.get("gauss", [0, 0.0])
    fields = {"kind", "bits"} | ({"gauss"} if state["kind"] == "RandomState" else set())
    good = type(gauss) is list and len(gauss) == 2 and _is_integer(gauss[0], 2) and type(gauss[1]) is float
    name = state.get("bits")
    if name == "MT19937" and good and state.keys() == fields | {"key", "pos"}:
        key = state["key"]
        # `pos` indexes the key in C: one past its end means "refill".
        if (
            type(key) is np.ndarray
            and key.dtype == np.uint32
            and key.shape == (624,)
            and _is_integer(state["pos"], 625)
        ):
            inner: Any = {"bit_generator": name, "state": {"key": key, "pos": state["pos"]}}
            if state["kind"] == "RandomState":
                source = np.random.RandomState(0)
                source.set_state({**inner, "has_gauss": gauss[0], "gauss": gauss[1]})
                return source
            bits = np.random.MT19937(0)
            bits.state = inner
            return np.random.Generator(bits)
    elif name in _PCG and state["kind"] == "Generator" and state.keys() == fields | {"state", "inc", "half"}:
        half = state["half"]
        valid = _is_integer(state["state"], _LONG) and _is_integer(state["inc"], _LONG) and state["inc"] % 2 == 1
        if valid and type(half) is list and len(half) == 2 and _is_integer(half[0], 2) and _is_integer(half[1], _WORD):
            pcg = _PCG[name](0)
            pcg.state = {"bit_generator": name, "state": {"state": state["state"], "inc": state["inc"]},
                         "has_uint32": half[0], "uinteger": half[1]}  # fmt: skip
            return np.random.Generator(pcg)
    raise Refused("is a random generator in an impossible state")
