"""JSON as strictly as the file format needs it: no duplicate keys, no NaN, no infinities, no endless integers."""

from __future__ import annotations

import json
import math
from typing import Any

from learnt.persistence._errors import Refused

MAX_DIGITS = 4300  # of one integer: Python's own default limit, kept whatever the process has set


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise Refused("its header repeats a key")
    return result


def _constant(name: str) -> Any:
    raise Refused(f"its header holds the number {name}, which is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Refused("its header holds a number that is too large")
    return value


def _int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise Refused("its header holds a number with too many digits")
    return int(text)


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_int)


def parse(data: bytes | memoryview | str) -> Any:
    """The value that JSON text (or its UTF-8 bytes) stands for."""
    try:
        return _decoder.decode(data if isinstance(data, str) else str(data, "utf-8"))
    except UnicodeDecodeError:
        raise Refused("its header is not UTF-8 text") from None
    except RecursionError:
        raise Refused("its header is nested too deeply") from None
    except ValueError:
        raise Refused("its header is not valid JSON") from None


def dump(value: Any) -> str:
    """Compact JSON text, the same for equal values; characters stand for themselves where UTF-8 can hold them."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text
