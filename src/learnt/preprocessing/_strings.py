"""Reading strings: missing markers, money and number strings, yes and no, each over the distinct strings only.

A column of strings is first made a `Factor`: its distinct strings and a code per row. Whatever is then read from the
distinct strings (a number, a date, a level) is spread to the rows by one indexing, so that a million rows with a
thousand different strings cost a thousand readings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from learnt.preprocessing._few_strings import as_float, compiled, few_strings
from learnt.preprocessing._frame import Column, number_labels

# Compared in lower case after stripping white space.
MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "#n/a", "#na", "nan", "-nan", "null", "none", "nil", "nat", "<na>", "missing"}
    | {"-", "--", "---", "—", "–", "?", "??", ".", "..", "...", "(null)", "(none)", "#value!", "#ref!", "#div/0!"}
)
TRUE = frozenset({"true", "t", "yes", "y", "on"})
FEW = 512  # below this many strings Python is faster than starting Polars
_WHITE = " \t\n\r\f\v\u00a0\u2002\u2003\u2009\u200b\u202f\u3000\ufeff"
FALSE = frozenset({"false", "f", "no", "n", "off"})
_BOOLEANS = dict.fromkeys((*TRUE, "1", "1.0"), 1.0) | dict.fromkeys((*FALSE, "0", "0.0"), 0.0)


class Factor(NamedTuple):
    """Distinct cleaned strings (null: missing), how many rows hold each, and the code of every row (−1: missing)."""

    labels: pl.Series
    counts: np.ndarray
    codes: np.ndarray

    def spread(self, values: np.ndarray, missing: float = np.nan) -> np.ndarray:
        """A value per distinct string becomes a value per row."""
        return np.append(values, np.asarray(missing, dtype=values.dtype))[self.codes]

    @property
    def held(self) -> np.ndarray:
        """Which of the distinct strings are not missing."""
        if len(self.labels) <= FEW:
            return np.array([text is not None for text in self.labels.to_list()], dtype=bool)
        return self.labels.is_not_null().to_numpy()

    @property
    def present(self) -> int:
        """How many rows are not missing."""
        return int(self.counts[self.held].sum())


def factor(column: Column) -> Factor:
    """The factor of a column of any form; computed once for each column."""
    if "factor" not in column.cache:
        column.cache["factor"] = _factor(column)
    return column.cache["factor"]


def read_labels(column: Column, how: tuple, read: Callable[..., np.ndarray]) -> np.ndarray:
    """`read(labels, *how)` of a column's distinct strings; computed once for each column and arguments."""
    key = (read.__name__, *how)
    if key not in column.cache:
        column.cache[key] = read(factor(column).labels, *how)
        column.cache[key].setflags(write=False)
    return column.cache[key]


def _factor(column: Column) -> Factor:
    if column.form in ("string", "label"):
        raw, codes = _coded(column.values)
        labels = clean(raw)
    elif column.form in ("empty", "nested"):
        raise TypeError(f"a column of form {column.form} has no factor")
    else:
        distinct, codes = np.unique(column.values, return_inverse=True)
        codes = codes.astype(np.int32)
        if distinct.dtype.kind == "f" and len(distinct) and np.isnan(distinct[-1]):
            codes[codes == len(distinct) - 1] = -1
            distinct = distinct[:-1]
        labels = _labels_of(column.form, distinct)
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    return Factor(labels, counts, codes)


def _coded(strings: pl.Series) -> tuple[pl.Series, np.ndarray]:
    """Distinct strings and the place of each row's string among them, −1 for null."""
    if len(strings) <= FEW:
        place: dict[str | None, int] = {}
        codes = [-1 if text is None else place.setdefault(text, len(place)) for text in strings.to_list()]
        return pl.Series(list(place), dtype=pl.String), np.array(codes, dtype=np.int32)
    raw = strings.unique().drop_nulls()
    places = pl.Series(np.arange(len(raw), dtype=np.int32))
    code = pl.col("text").replace_strict(raw, places, default=None, return_dtype=pl.Int32).fill_null(-1)
    return raw, strings.alias("text").to_frame().select(code).to_series().to_numpy()


def _labels_of(form: str, distinct: np.ndarray) -> pl.Series:
    if form == "boolean":
        return pl.Series(["true" if value else "false" for value in distinct], dtype=pl.String)
    if form == "date":
        moments = np.round(distinct * 86_400_000_000).astype("M8[us]")
        return pl.Series(moments).dt.strftime("%Y-%m-%d %H:%M:%S")
    return number_labels(distinct)


def clean(strings: pl.Series) -> pl.Series:
    """White space stripped, missing markers made null."""
    if len(strings) <= FEW:
        texts = [text if text is None else text.strip(_WHITE) for text in strings.to_list()]
        return pl.Series([None if t is None or t.lower() in MISSING else t for t in texts], dtype=pl.String)
    stripped = strings.str.strip_chars(_WHITE)
    return stripped.set(stripped.str.to_lowercase().is_in(list(MISSING)), None)


def read_booleans(labels: pl.Series) -> np.ndarray:
    """1 for yes, 0 for no, NaN for anything else."""
    if (few := few_strings(labels)) is not None:
        return np.array([_BOOLEANS.get(text.lower(), np.nan) if text else np.nan for text in few], dtype=np.float64)
    lower = labels.str.to_lowercase()
    out = np.full(len(labels), np.nan)
    for value in (1.0, 0.0):
        words = [word for word, meant in _BOOLEANS.items() if meant == value]
        out[lower.is_in(words).fill_null(False).to_numpy()] = value
    return out


def looks_boolean(labels: pl.Series) -> bool:
    """Whether all strings are words for yes and no, and both occur."""
    if len(labels) > 64:
        return False
    words = {label.lower() for label in labels.drop_nulls()}
    return words <= TRUE | FALSE and bool(words & TRUE) and bool(words & FALSE)


# --- numbers and money ---------------------------------------------------------------------------------------

_SPACES = r"[\s\u{00a0}\u{202f}\u{2009}]+"
_CURRENCY = (
    r"(?i)(?:US\$|C\$|A\$|R\$|[$€£¥₹₽₩₪₺₫฿¢]|\b(?:usd|eur|gbp|jpy|chf|cad|aud|nzd|inr|cny|rmb|sek|nok|dkk|pln|czk|huf|brl|mxn|zar)\b"
    r"|\b(?:kr|zł|kč)\b\.?)"
)
_SCALE = {"k": 1e3, "m": 1e6, "mn": 1e6, "mm": 1e6, "mio": 1e6, "b": 1e9, "bn": 1e9, "t": 1e12, "tn": 1e12}
_SHAPE = (
    r"^\(?\s*([+-]?)\s*([0-9][0-9.,'’ _]*|[.,][0-9]+)([eE][+-]?[0-9]{1,3})?"  # sign, digits, exponent
    r"\s*(k|K|mn|mio|mm|m|M|bn|Bn|b|B|tn|t|T)?\s*(%?)\s*(-?)\)?$"  # scale, per cent, sign after
)
_PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_GROUPED = {
    ".": r"^(?:[0-9]+|[0-9]{1,3}(?:[,'’ _][0-9]{3})+|[0-9]{1,3}(?:,[0-9]{2})+,[0-9]{3})?(?:\.[0-9]*)?$",
    ",": r"^(?:[0-9]+|[0-9]{1,3}(?:[.'’ _][0-9]{3})+)?(?:,[0-9]*)?$",
}


def read_numbers(labels: pl.Series, point: str = ".") -> np.ndarray:
    """Numbers in strings such as "$1,234.50", "(300)", "12%", "1e5", "1 234", "£3k"; NaN for anything else.

    `point` is the decimal separator, "." or ","; a per cent is a hundredth, parentheses and a final minus negate.
    """
    if (few := few_strings(labels)) is not None:
        return _numbers_one_by_one(few, point)
    plain = labels.cast(pl.Float64, strict=False) if point == "." else None
    if plain is not None and plain.is_finite().fill_null(False).all():
        return plain.to_numpy() + 0.0
    parts = _parts(labels)
    grouped = parts["digits"].str.contains(_GROUPED[point]).fill_null(False)
    other = "," if point == "." else r"\."
    digits = parts["digits"].str.replace_all(rf"[{other}'’ _]", "")
    if point == ",":
        digits = digits.str.replace(",", ".", literal=True)
    value = (digits + parts["exponent"].fill_null("")).cast(pl.Float64, strict=False).set(~grouped, None)
    scale = (
        parts["scale"].str.to_lowercase().replace_strict(_SCALE, default=1.0, return_dtype=pl.Float64).fill_null(1.0)
    )
    factors = scale.to_numpy() * np.where((parts["percent"] == "%").fill_null(False).to_numpy(), 0.01, 1.0)
    negative = ((parts["sign"] == "-") ^ (parts["after"] == "-") ^ parts["bracketed"]).fill_null(False).to_numpy()
    with np.errstate(over="ignore"):
        numbers = value.to_numpy() * factors * np.where(negative, -1.0, 1.0)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _numbers_one_by_one(texts: list[str | None], point: str) -> np.ndarray:
    """The same without Polars."""
    if point == ".":
        plain = [as_float(text) if text and _PLAIN.match(text) else None for text in texts]
        if all(value is not None and np.isfinite(value) for value in plain):
            return np.array(plain, dtype=np.float64) + 0.0
    return np.array([np.nan if text is None else _one_number(text, point) for text in texts], dtype=np.float64)


def _one_number(text: str, point: str) -> float:
    text = compiled(_SPACES).sub(" ", text.replace("−", "-"))
    text = compiled(_CURRENCY).sub("", text).strip()
    found = compiled(_SHAPE).match(text)
    if found is None or text.startswith("(") != text.endswith(")"):
        return np.nan
    sign, digits, exponent, scale, percent, after = found.groups()
    digits = digits.strip(" ")
    if not compiled(_GROUPED[point]).match(digits):
        return np.nan
    digits = "".join(c for c in digits if c not in ("'’ _," if point == "." else "'’ _."))
    value = as_float(digits.replace(",", ".") + (exponent or ""))
    if value is None:
        return np.nan
    negative = (sign == "-") ^ (after == "-") ^ text.startswith("(")
    value *= _SCALE.get((scale or "").lower(), 1.0) * (0.01 if percent else 1.0)
    return (-value if negative else value) if np.isfinite(value) else np.nan


def decimal_point(labels: pl.Series) -> str:
    """Which of "." and "," is the decimal separator of a column, from all of its strings together.

    "1.234,50" and "0,5" are evidence for a decimal comma, "1,234.50" and "0.5" for the point; "1,234" alone is a
    thousand.
    """
    digits = _parts(labels)["digits"]
    comma = digits.str.contains(
        r"^0,[0-9]|^,|[0-9],[0-9]{1,2}$|^[0-9]+,[0-9]{4,}$|\.[0-9]{3},[0-9]*$|\.[0-9]{3}\.[0-9]{3}"
    )
    dot = digits.str.contains(
        r"^0\.[0-9]|^\.|[0-9]\.[0-9]{1,2}$|^[0-9]+\.[0-9]{4,}$|,[0-9]{3}\.[0-9]*$|,[0-9]{3},[0-9]{3}"
    )
    return "," if (comma.sum() or 0) > (dot.sum() or 0) else "."


def looks_like_codes(labels: pl.Series) -> bool:
    """Whether strings of digits are codes, not amounts: "00417" has a leading zero that a number would lose."""
    return bool(labels.str.contains(r"^0[0-9]+$").any())


def _parts(labels: pl.Series) -> pl.DataFrame:
    text = pl.col("text").str.replace_all("−", "-", literal=True).str.replace_all(_SPACES, " ")
    text = text.str.replace_all(_CURRENCY, "").str.strip_chars()
    opened, closed = pl.col("text").str.starts_with("("), pl.col("text").str.ends_with(")")
    unbalanced = (opened != closed).fill_null(False)
    return (
        labels.alias("text")
        .to_frame()
        .lazy()
        .select(text)
        .select(
            pl.col("text")
            .str.extract_groups(_SHAPE)
            .struct.rename_fields(["sign", "digits", "exponent", "scale", "percent", "after"])
            .alias("groups"),
            (opened & closed).alias("bracketed"),
            unbalanced.alias("unbalanced"),
        )
        .unnest("groups")
        .with_columns(pl.when(~pl.col("unbalanced")).then(pl.col("digits").str.strip_chars(" ")).alias("digits"))
        .collect()
    )
