"""The language in which a class says what its model files may hold (`__learnt_schema__`).

A check is a function of a value and of the sizes seen so far (`dims`: "d" is `n_features_in_`, other letters are bound
by the first attribute that shows them). It returns None when the value is fine and the end of a sentence when not.

    real("c", "d")                a finite floating-point array with one row per class and one column per feature
    integers("n", below="c")      an array of integers from 0 to c - 1: safe to index with
    anyof(none, real("d"))        either
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.bounds import within

PLAIN = (str, bool, int, float, np.generic)
_NUMBERS = (int, float, np.integer, np.floating)

# The bound on the number of features of a model that holds no array with one entry a feature.
FREE_FEATURES = 1 << 22

Dims = dict[str, int]
Check = Callable[[Any, Dims], "str | None"]


def shown(value: Any, limit: int = 60) -> str:
    """`value` from a file, safe to put in a sentence: one line, quoted, cut.

    >>> shown("two\\nlines"), shown("x" * 100, 8)
    ("'two\\\\nlines'", "'xxxxxxx…")
    """
    if isinstance(value, str | bytes):
        text = repr(value[: limit + 1])
    elif value is None or isinstance(value, bool | int | float | np.generic) or _is_shape(value):
        text = repr(value)
    else:
        text = f"a {type(value).__name__}"
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= limit else text[:limit] + "…"


def _is_shape(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) <= 16 and all(isinstance(n, int) for n in value)


def _bind(size: Any, actual: int, dims: Dims) -> bool:
    if size is None:
        return True
    return (size if isinstance(size, int) else dims.setdefault(size, actual)) == actual


def _shaped(value: np.ndarray, shape: Sequence[Any], dims: Dims) -> str | None:
    if value.ndim == len(shape) and all(_bind(size, n, dims) for size, n in zip(shape, value.shape)):
        return None
    wanted = ", ".join(str(dims.get(size, size)) if isinstance(size, str) else str(size or "any") for size in shape)
    return f"has the shape {value.shape} instead of ({wanted})"


def real(
    *shape: Any, low: float = -math.inf, high: float = math.inf, above: float = -math.inf, finite: bool = True
) -> Check:
    """A floating-point array (float32 or float64) within bounds; NaN and infinities only where not `finite`."""
    bounded = low > -math.inf or high < math.inf or above > -math.inf

    def check(value: Any, dims: Dims) -> str | None:
        if type(value) is not np.ndarray or value.dtype not in (np.float64, np.float32):
            return "is not an array of real numbers"
        if not value.size or not (finite or bounded):
            return _shaped(value, shape, dims)
        least, most = float(value.min()), float(value.max())
        if finite and not (math.isfinite(least) and math.isfinite(most)):
            return "holds numbers that are not finite"
        if math.isnan(least):  # NaN is allowed here; the other numbers must be within the bounds all the same
            least, most = float(np.fmin.reduce(value, axis=None)), float(np.fmax.reduce(value, axis=None))
        if least < low or least <= above or most > high:
            return f"holds numbers outside the range it can have ({least:g} to {most:g})"
        return _shaped(value, shape, dims)

    return check


def integers(*shape: Any, low: int = 0, below: Any = None, kinds: str = "i") -> Check:
    """An array of integers at least `low` and less than `below`."""

    def check(value: Any, dims: Dims) -> str | None:
        if type(value) is not np.ndarray or value.dtype.kind not in kinds:
            return "is not an array of integers"
        top = dims.get(below) if isinstance(below, str) else below
        if below is not None and top is None:
            return "counts something that is not there"
        if not within(value, low, 2**64 if top is None else top - 1):
            return f"holds integers outside {low} to {top - 1 if top is not None else 'any'}"
        return _shaped(value, shape, dims)

    return check


def csr(rows: str, columns: str, dtypes: tuple[Any, ...] = (np.float64, np.float32)) -> Check:
    """A table in compressed sparse rows, of finite numbers; that its indices fit is checked where it is read."""

    def check(value: Any, dims: Dims) -> str | None:
        good = sparse.issparse(value) and value.format == "csr" and value.dtype in dtypes
        if not (good and np.isfinite(value.data).all()):
            return "is not a sparse table of finite numbers"
        wanted = (dims.setdefault(rows, value.shape[0]), dims.setdefault(columns, value.shape[1]))
        return None if value.shape == wanted else f"has the shape {value.shape} instead of {wanted}"

    return check


def table(rows: str, columns: str) -> Check:
    """A table of finite numbers, dense or in compressed sparse rows."""
    dense, thin = real(rows, columns), csr(rows, columns)
    return lambda value, dims: (thin if sparse.issparse(value) else dense)(value, dims)


def flags(*shape: Any) -> Check:
    """An array of truth values."""

    def check(value: Any, dims: Dims) -> str | None:
        if type(value) is not np.ndarray or value.dtype != np.bool_:
            return "is not an array of truth values"
        return _shaped(value, shape, dims)

    return check


def plain(value: Any) -> bool:
    """Whether `value` is one number, string or truth value."""
    return isinstance(value, PLAIN)


def labels(size: Any, low: int = 1, missing: bool = False) -> Check:
    """Different labels (`classes_`): numbers in rising order, or strings; NaN and None only where `missing`."""

    def check(value: Any, dims: Dims) -> str | None:
        if type(value) is not np.ndarray or value.ndim != 1 or value.dtype.kind not in "biufUSO" or value.size < low:
            return "is not a list of labels"
        if value.dtype.kind in "biuf":
            known = value[:-1] if missing and value.dtype.kind == "f" and np.isnan(value[-1:]).any() else value
            # Numbers are looked up by bisection, which runs out of bounds when they are not sorted.
            rising = known.dtype.kind != "f" or np.isfinite(known).all()
            if not rising or (known.size > 1 and not (known[1:] > known[:-1]).all()):
                return "holds labels that are not in rising order"
        else:
            items = value.tolist()
            if value.dtype.kind == "O" and not all(plain(item) or (missing and item is None) for item in items):
                return "holds something other than labels"
            if not missing and any(item != item for item in items):
                return "holds labels that are not numbers"
            if len(set(items)) != len(items):
                return "holds the same label twice"
        return None if _bind(size, value.size, dims) else f"holds {value.size} labels instead of {dims.get(size, size)}"

    return check


def texts(size: Any) -> Check:
    """A list of strings as an array (`feature_names_in_`)."""

    def check(value: Any, dims: Dims) -> str | None:
        if type(value) is not np.ndarray or value.ndim != 1 or value.dtype.kind not in "OUT":
            return "is not an array of strings"
        if value.dtype.kind == "O" and not all(issubclass(kind, str) for kind in set(map(type, value.tolist()))):
            return "holds something other than strings"
        return None if _bind(size, value.size, dims) else f"holds {value.size} names instead of {dims.get(size, size)}"

    return check


def number(low: float = -math.inf, high: float = math.inf, *, above: float = -math.inf, finite: bool = True) -> Check:
    """One number; NaN only where it is neither `finite` nor bounded."""
    bounded = low > -math.inf or high < math.inf or above > -math.inf

    def check(value: Any, dims: Dims) -> str | None:
        if isinstance(value, bool) or not isinstance(value, _NUMBERS):
            return "is not a number"
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            return f"is {shown(value)}, which is too large"
        if finite and isinstance(value, (float, np.floating)) and not math.isfinite(value):
            return "is not a finite number"
        if value != value:
            return "is not a number" if bounded else None
        return f"is {shown(value)}, which is out of range" if value < low or value <= above or value > high else None

    return check


def count(low: int = 0, high: int = 2**62, name: str | None = None) -> Check:
    """One integer, which may give `name` its size."""

    def check(value: Any, dims: Dims) -> str | None:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
            return f"is {shown(value)} instead of an integer of at least {low}"
        if name is not None and not _bind(name, int(value), dims):
            return f"is {int(value)} instead of {dims[name]}"
        return None

    return check


def choice(*values: Any) -> Check:
    """One of the given values, of the same type."""

    def check(value: Any, dims: Dims) -> str | None:
        if any(type(value) is type(v) and value == v for v in values):
            return None
        return f"is {shown(value)}, which it cannot be"

    return check


def instance(kinds: Any, what: str) -> Check:
    """A value of the given types."""

    def check(value: Any, dims: Dims) -> str | None:
        return None if isinstance(value, kinds) else f"is not {what}"

    return check


none = choice(None)
flag = instance(bool | np.bool_, "True or False")
text = instance(str, "a string")
scalar = instance(PLAIN, "a plain value")


def anyof(*checks: Check) -> Check:
    """Whatever one of the checks accepts; the reason given is that of the last one."""

    def check(value: Any, dims: Dims) -> str | None:
        reason = None
        for one in checks:
            trial = dict(dims)
            reason = one(value, trial)
            if reason is None:
                dims.update(trial)
                return None
        return reason

    return check


def listof(item: Check, size: Any = None, kind: Any = list) -> Check:
    """A list (or tuple) of values that all pass."""

    def check(value: Any, dims: Dims) -> str | None:
        if type(value) is not kind:
            return f"is not a {kind.__name__}"
        if not _bind(size, len(value), dims):
            return f"has {len(value)} items instead of {dims.get(size, size)}"
        for i, one in enumerate(value):
            reason = item(one, dims)
            if reason is not None:
                return f"has an item {i} that {reason}"
        return None

    return check


def dictof(key: Check, item: Check) -> Check:
    """A dict whose keys and values all pass."""

    def check(value: Any, dims: Dims) -> str | None:
        if type(value) is not dict:
            return "is not a dict"
        for k, v in value.items():
            reason = key(k, dims) or item(v, dims)
            if reason is not None:
                return f"has an entry {shown(k)} that {reason}"
        return None

    return check


def fields(**known: Check) -> Check:
    """A dict with exactly these keys."""

    def check(value: Any, dims: Dims) -> str | None:
        if type(value) is not dict or value.keys() != known.keys():
            return f"does not have exactly the entries {', '.join(known)}"
        for k, item in known.items():
            reason = item(value[k], dims)
            if reason is not None:
                return f"has an entry {k!r} that {reason}"
        return None

    return check


def record(value: Any, dims: Dims, depth: int = 0) -> str | None:
    """What only users read, and no method: numbers, strings, arrays of numbers; lists, tuples and dicts of them."""
    if value is None or plain(value) or (type(value) is np.ndarray and value.dtype.kind in "biufOU"):
        return None
    if type(value) in (list, tuple, dict) and depth < 8:
        items = value.values() if type(value) is dict else value
        return next((reason for item in items if (reason := record(item, dims, depth + 1)) is not None), None)
    return "holds something other than numbers and strings"


def either(single: Check, item: Check | None = None) -> Check:
    """A value for one output, a list of them for several; a rule checks that there is one for each."""
    return anyof(single, listof(item or single))


def estimator(*methods: str) -> Check:
    """An estimator that has these methods."""

    def check(value: Any, dims: Dims) -> str | None:
        if not hasattr(value, "get_params") or isinstance(value, type):
            return "is not an estimator"
        lacking = [name for name in methods if not hasattr(value, name)]
        return f"is a {type(value).__name__}, which has no {lacking[0]}" if lacking else None

    return check


# --- whole estimators


@dataclass(frozen=True)
class Schema:
    """What one class may hold: parameters that methods other than `fit` read, and fitted attributes.

    `state` is required of a fitted model, `extra` may be there. `rule(model, state, dims)` checks the rest.
    """

    params: dict[str, Check] = field(default_factory=dict)
    state: dict[str, Check] = field(default_factory=dict)
    extra: dict[str, Check] = field(default_factory=dict)
    rule: Callable[[Any, dict[str, Any], Dims], str | None] | None = None


# --- what many schemas hold

ONE: Check = anyof(number(), real())  # a number, or a tensor without axes that became an array
FEATURES: dict[str, Check] = {"n_features_in_": count(1, name="d")}
# For a model that holds no array with one entry a feature.
ANY_FEATURES: dict[str, Check] = {"n_features_in_": count(1, FREE_FEATURES, name="d")}
CLASSES: dict[str, Check] = {**FEATURES, "classes_": labels("c")}


def one_plane_a_class(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of linear classifiers: one row of coefficients ("r") for two classes, one a class for more ("c")."""
    return None if dims["r"] == (1 if dims["c"] == 2 else dims["c"]) else "has other coefficients than classes"
