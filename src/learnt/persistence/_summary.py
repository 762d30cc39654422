"""What `inspect` says about a file: read from its header only; nothing is built and no class is imported."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from learnt.engine.schema import shown
from learnt.persistence._container import TensorInfo
from learnt.persistence._encode import MAX_DEPTH
from learnt.persistence._errors import Refused


@dataclass(frozen=True)
class ArraySummary:
    """One array of a model file, as `FileSummary.arrays` lists it.

    Parameters
    ----------
    name : str
        Its name in the file.
    dtype : str
        The type of its numbers.
    shape : tuple of int
        Its shape.
    bytes : int
        How much of the file it takes.

    See Also
    --------
    inspect : Describes a model file, with all its arrays.

    Examples
    --------
    >>> ArraySummary("t0", "float64", (10, 2), 160).shape
    (10, 2)
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int


@dataclass(frozen=True)
class ModelSummary:
    """One estimator of a model file: its class, parameters and fitted attributes as text, and the estimators in it.

    Parameters
    ----------
    name : str
        The name of a step or part; empty for the outermost estimator.
    cls : str
        The full name of its class.
    params : dict of str
        Its parameters and their values as short text.
    attributes : dict of str
        Its fitted attributes and their values as short text.
    parts : list of ModelSummary
        The estimators it is made of, such as the steps of a pipeline.

    See Also
    --------
    inspect : Describes a model file, with its estimators.

    Examples
    --------
    >>> ModelSummary("", "learnt.linear_model.Ridge", {"alpha": "1.0"}).params["alpha"]
    '1.0'
    """

    name: str
    cls: str
    params: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    parts: list[ModelSummary] = field(default_factory=list)


@dataclass(frozen=True)
class FileSummary:
    """A model file described without loading it; `str()` gives a few readable lines, `as_dict()` plain data.

    Parameters
    ----------
    path : str
        Where the file is.
    file_size : int
        Its size in bytes.
    sha256 : str
        The SHA-256 checksum of all its bytes.
    format_version : int
        The version of the file format.
    versions : dict of str
        The versions of learnt, numpy and sklearn that wrote it.
    model : ModelSummary
        The model, with the estimators in it.
    feature_names : list of str or None
        Names of the columns it was fitted to, where they had names.
    n_features : int or None
        How many columns it was fitted to, where it was.
    arrays : list of ArraySummary
        The arrays of the file, in their order.
    notes : dict
        What `save(…, notes=…)` kept with the model.

    See Also
    --------
    inspect : Makes such a summary of a file.

    Examples
    --------
    >>> import os, tempfile, learnt
    >>> from learnt.linear_model import Ridge
    >>> path = os.path.join(tempfile.mkdtemp(), "ridge.learnt")
    >>> learnt.save(Ridge().fit([[1.0], [3.0]], [1.0, 2.0]), path, notes={"unit": "metre"})
    >>> summary = learnt.persistence.inspect(path)
    >>> summary.model.params["alpha"], summary.n_features, summary.notes
    ('1.0', 1, {'unit': 'metre'})
    """

    path: str
    file_size: int
    sha256: str
    format_version: int
    versions: dict[str, str]
    model: ModelSummary
    feature_names: list[str] | None
    n_features: int | None
    arrays: list[ArraySummary]
    notes: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The summary as dicts, lists, strings and numbers, for JSON.

        Returns
        -------
        summary : dict
            The fields by their names.
        """
        return asdict(self)

    def __str__(self) -> str:
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        lines = [
            f"{self.path}: {self.file_size:,} bytes, format {self.format_version}, written by {versions}",
            f"sha256 {self.sha256}",
            *_model_lines(self.model, ""),
        ]
        if self.n_features is not None:
            lines.append(f"features: {self.n_features:,}{_some(self.feature_names)}")
        lines += [f"{_line(name)}: {_line(str(value))[:200]}" for name, value in self.notes.items()]
        lines.append(f"arrays: {len(self.arrays):,}, {sum(a.bytes for a in self.arrays):,} bytes")
        lines += [f"  {a.name}  {a.dtype} {a.shape}  {a.bytes:,} bytes" for a in self.arrays[:50]]
        if len(self.arrays) > 50:
            lines.append(f"  and {len(self.arrays) - 50:,} more")
        return "\n".join(lines)


def _some(names: list[str] | None) -> str:
    if not names:
        return ""
    more = f", and {len(names) - 20:,} more" if len(names) > 20 else ""
    return " (" + ", ".join(_line(name) for name in names[:20]) + more + ")"


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


def _model_lines(model: ModelSummary, indent: str) -> list[str]:
    inner = ", ".join(f"{key}={value}" for key, value in model.params.items())
    label = f"{model.name}: " if model.name else ""
    lines = [f"{indent}{label}{model.cls}({inner})"]
    for part in model.parts:
        lines += _model_lines(part, indent + "  ")
    return lines


# --- from the tree


class Reader:
    """Reads a tree for its summary. `unpack(tensor, bytes)` gives the value of a packed list."""

    def __init__(self, tensors: dict[str, TensorInfo], unpack: Callable[[Any, Any], Any]) -> None:
        self._tensors, self._unpack = tensors, unpack
        self.feature_names: list[str] | None = None
        self.n_features: int | None = None

    def model(self, node: Any, name: str = "", depth: int = 0) -> ModelSummary:
        """The summary of an estimator node."""
        content = node.get("object") if type(node) is dict else None
        if type(content) is not dict or type(content.get("class")) is not str or depth > MAX_DEPTH:
            raise Refused("its tree does not begin with a model")
        params, state = content.get("params"), content.get("state", {})
        if type(params) is not dict or type(state) is not dict:
            raise Refused("its tree does not describe its model")
        self._features(state)
        # Most meta-estimators keep fitted copies of what they were given; those that do not fit it in place.
        fitted, given = (
            [found for key, value in values.items() for found in _models(value, key, depth)]
            for values in (state, params)
        )
        parts = [self.model(inner, _line(label)[:80], depth + 1) for label, inner in fitted or given]
        return ModelSummary(
            name=name,
            cls=_line(content["class"])[:120],
            params={_line(key): self.text(value) for key, value in params.items()},
            attributes={_line(key): self.text(value) for key, value in state.items()},
            parts=parts,
        )

    def _features(self, state: dict[str, Any]) -> None:
        """The outermost feature names and count are those of the data."""
        if self.n_features is None and type(state.get("n_features_in_")) is int:
            self.n_features = state["n_features_in_"]
            names = state.get("feature_names_in_", {})
            items = names.get("texts", {}).get("items") if type(names) is dict else None
            if type(items) is dict and type(items.get("packed")) is dict:
                items = self._unpack(items["packed"].get("tensor"), items["packed"].get("bytes"))
            if type(items) is list and all(type(item) is str for item in items):
                self.feature_names = items

    def _array_text(self, notes: dict[str, Any]) -> str:
        name, packed = notes.get("tensor"), notes.get("zip")
        info = self._tensors.get(name) if type(name) is str else None
        if info is None:
            raise Refused("it asks for a tensor that is not there")
        dtype, shape = info.dtype.name, info.shape
        if type(packed) is list and len(packed) == 2 and type(packed[1]) is list:
            dtype, shape = packed[0], tuple(packed[1])
        shape = shape[::-1] if "order" in notes else shape
        return f"array({_line(str(notes.get('dtype', dtype)))[:40]}, {shown(shape)})"

    def text(self, node: Any, depth: int = 0) -> str:
        """A node as short text."""
        if type(node) is list:
            inner = ", ".join(self.text(item, depth + 1) for item in node[:4]) if depth < 4 else "…"
            return f"[{inner}{f', … {len(node)} items' if len(node) > 4 else ''}]"
        if type(node) is not dict:
            return shown(node)
        if len(node) != 1:
            return "?"
        [(kind, content)] = node.items()
        if kind == "object" and type(content) is dict:
            return _line(str(content.get("class")).rpartition(".")[2])[:80] + "()"
        if kind == "array":
            return self._array_text(content if type(content) is dict else {"tensor": content})
        if kind == "texts" and type(content) is dict:
            return f"array({_line(str(content.get('dtype')))[:40]}, {shown(content.get('shape'))})"
        if kind == "tuple" and type(content) is list:
            return "(" + self.text(content, depth)[1:-1] + ")"
        if kind == "scalar" and type(content) is list and len(content) == 2:
            return self.text(content[1], depth + 1)
        if kind in ("float", "function", "type", "dtype"):
            return _line(str(content))[:80]
        if kind in ("dict", "pairs", "set") and type(content) in (dict, list):
            return f"{kind if kind == 'set' else 'dict'} of {len(content)}"
        return kind if kind in ("sparse", "random", "packed", "slice", "range", "record", "frozenset") else "?"


def _models(node: Any, label: str, depth: int) -> list[tuple[str, Any]]:
    """The estimators directly inside a value, with their names where they have one."""
    if depth > MAX_DEPTH or type(node) not in (list, dict):
        return []
    if type(node) is list:
        return [found for item in node for found in _models(item, label, depth + 1)]
    if "object" in node:
        return [(label, node)]
    found = []
    for key, content in node.items():
        if key == "tuple" and type(content) is list and content and type(content[0]) is str:
            found += [inner for item in content[1:] for inner in _models(item, content[0], depth + 1)]
        elif key in ("tuple", "dict", "pairs"):
            values = list(content.values()) if type(content) is dict else content
            found += _models(values, label, depth + 1)
    return found


def arrays_of(tensors: dict[str, TensorInfo]) -> list[ArraySummary]:
    """The tensors as summaries, in the order of the file."""
    return [
        ArraySummary(_line(name), info.dtype.name, info.shape, math.prod(info.shape) * info.dtype.itemsize)
        for name, info in tensors.items()
    ]
