"""Dates: reading them from strings, and the numbers a model can use of them.

A moment is held as days since 1970-01-01 in UTC. Cycles become a point on a circle,

    sin(2π·part/period), cos(2π·part/period),

so that December is next to January and a linear model can place its peak anywhere.
"""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl

from learnt.preprocessing._few_strings import compiled, few_strings

_MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october"]
_MONTHS += ["november", "december"]
_MONTH_NUMBER = {name: k + 1 for k, name in enumerate(_MONTHS)}
_MONTH_NUMBER |= {name[:3]: k + 1 for k, name in enumerate(_MONTHS)} | {"sept": 9}

_CLOCK = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:[.,][0-9]+)?))?\s*([AaPp]\.?[Mm]\.?)?"
_ZONE = r"\s*(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2})?"
_TIME = rf"(?:(?:\s*T\s*|[\s,]+){_CLOCK}{_ZONE})?$"
_OFFSET = r"^([+-])([0-9]{2}):?([0-9]{2})?$"
_WEEKDAY = r"^(?:(?i:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_SHAPES = {
    "ymd": (r"^([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})" + _TIME, "ymd"),
    "numeric": (r"^([0-9]{1,2})[-/.]([0-9]{1,2})[-/.]([0-9]{4}|[0-9]{2})" + _TIME, None),
    "month first": (_WEEKDAY + r"([A-Za-z]{3,9})\.?\s+([0-9]{1,2})(?:st|nd|rd|th)?,?\s+([0-9]{4})" + _TIME, "mdy"),
    "day first": (
        _WEEKDAY + r"([0-9]{1,2})(?:st|nd|rd|th)?[-\s/.]*([A-Za-z]{3,9})\.?[-\s/,]+([0-9]{4}|[0-9]{2})" + _TIME,
        "dmy",
    ),
    "compact time": (
        r"^([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2}):?([0-9]{2}):?([0-9]{2}(?:\.[0-9]+)?)?()(Z|[+-][0-9]{2}:?[0-9]{2})?$",
        "ymd",
    ),
    "compact": (r"^([0-9]{4})([0-9]{2})([0-9]{2})()()()()()$", "ymd"),
    "year month": (r"^([0-9]{4})[-/]([0-9]{1,2})()()()()()()$", "ymd"),
    "month year": (r"^([A-Za-z]{3,9})\.?[-\s,]+()([0-9]{4})()()()()()$", "mdy"),
}
_EPOCH = date(1970, 1, 1).toordinal()
PARTS = ("month", "weekday", "hour")
_PERIODS = {"month": 12.0, "weekday": 7.0, "hour": 24.0}


def read_dates(labels: pl.Series, order: str = "mdy", compact: bool = False) -> np.ndarray:
    """Days since 1970-01-01 of dates in strings; NaN for what is not a date.

    `order` says how "01/02/2020" is read, "dmy" or "mdy"; `compact` reads "20201231" too, which is else a number.
    """
    if (few := few_strings(labels)) is not None:
        return np.array([_one_date(text, order, compact) for text in few], dtype=np.float64)
    days = np.full(len(labels), np.nan)
    for shape, (pattern, parts) in _held_shapes(labels).items():
        if shape == "compact" and not compact:
            continue
        unread = np.isnan(days)
        if not unread.any():
            break
        days = np.where(unread, _read_shape(labels, pattern, parts or order), days)
    clock = _read_clock(labels) if np.isnan(days).any() else days
    return np.where(np.isnan(days), clock, days)


def _one_date(text: str | None, order: str, compact: bool) -> float:
    """The same for one string, without Polars."""
    if text is None:
        return np.nan
    for shape, (pattern, parts) in _SHAPES.items():
        found = compiled(pattern).match(text) if compact or shape != "compact" else None
        if found is not None and not np.isnan(days := _one_of_shape(found.groups(), parts or order)):
            return days
    found = compiled("^" + _CLOCK + "$").match(text)
    return np.nan if found is None else _one_clock(*found.groups())


def _one_of_shape(groups: tuple[str | None, ...], order: str) -> float:
    year, month, day = (groups[order.index(letter)] or "" for letter in "ymd")
    try:
        number = _one_integer(year)
        number += 0 if len(year) != 2 else 2000 if number < 69 else 1900
        moment = date(number, _one_integer(month), _one_integer(day) if day else 1).toordinal() - _EPOCH
    except ValueError:  # there is no such day
        return np.nan
    zone = compiled(_OFFSET).match(groups[7] or "")
    west = zone is not None and zone[1] == "-"
    minutes = 0.0 if zone is None else float(zone[2]) * 60 + float(zone[3] or 0)
    return moment + _one_clock(*groups[3:7]) - (-1.0 if west else 1.0) * minutes / 1440


def _one_integer(text: str) -> int:
    return int(text) if text.isdigit() else _MONTH_NUMBER.get(text.lower(), 0)


def _one_clock(hour: str | None, minute: str | None, second: str | None, half: str | None) -> float:
    if not hour:
        return 0.0
    h, m, s = int(hour), int(minute or 0), float((second or "0").replace(",", "."))
    if not (m < 60 and s < 61 and (1 <= h <= 12 if half else h < 24)):
        return np.nan
    h = h % 12 + 12 * (half[0] in "pP") if half else h
    return (h * 3600 + m * 60 + s) / 86400


def day_order(labels: pl.Series) -> str:
    """Whether "01/02/2020" is day or month first, from all the strings of a column together."""
    pattern = _SHAPES["numeric"][0]
    numeric = labels.filter(labels.str.contains(pattern).fill_null(False))
    mdy, dmy = (np.isfinite(_read_shape(numeric, pattern, o)).sum() if len(numeric) else 0 for o in ("mdy", "dmy"))
    if mdy != dmy:
        return "mdy" if mdy > dmy else "dmy"
    # Undecided (every day is 12 or less): slashes are the American habit, dots and dashes the European one.
    dotted = labels.str.contains(r"^[0-9]{1,2}[-.][0-9]{1,2}[-.]").sum() or 0
    return "dmy" if dotted > len(labels) / 2 else "mdy"


# What follows calls Polars once for all strings of a format: a call costs more than a few hundred strings.


def _held_shapes(labels: pl.Series) -> dict[str, tuple[str, str | None]]:
    """The shapes that some of the strings have."""
    text = labels.alias("text").to_frame()
    held = text.select(pl.col("text").str.contains(p).any().alias(shape) for shape, (p, _) in _SHAPES.items())
    return {shape: _SHAPES[shape] for shape in held.columns if held.item(0, shape)}


def _groups(labels: pl.Series, pattern: str) -> pl.LazyFrame:
    """The groups of a pattern as columns "1", "2", … of strings, null where it does not match."""
    text = labels.alias("text").to_frame().lazy()
    return text.select(pl.col("text").str.extract_groups(pattern)).unnest("text")


def _read_shape(labels: pl.Series, pattern: str, order: str) -> np.ndarray:
    year, month, day = (str(order.index(letter) + 1) for letter in "ymd")
    wanted = {
        "year": _integer(year),
        "month": _integer(month),
        "day": pl.when(pl.col(day) == "").then(1.0).otherwise(_integer(day)),
        "short": (pl.col(year).str.len_chars() == 2).fill_null(False),
        **_clock_parts("4", "5", "6", "7"),
        **_zone_parts("8"),
    }
    found = _groups(labels, pattern).select(**wanted).collect()
    year_number = found["year"].to_numpy()
    full = np.where(year_number < 69, 2000 + year_number, 1900 + year_number)
    year_number = np.where(found["short"].to_numpy(), full, year_number)
    moment = civil_days(year_number, found["month"].to_numpy(), found["day"].to_numpy())
    return moment + _clock_days(found) - _zone_days(found)


def _read_clock(labels: pl.Series) -> np.ndarray:
    found = _groups(labels, "^" + _CLOCK + "$").select(**_clock_parts("1", "2", "3", "4")).collect()
    return np.where(found["absent"].to_numpy(), np.nan, _clock_days(found))


def _integer(group: str) -> pl.Expr:
    lower = pl.col(group).str.to_lowercase()
    names = lower.replace_strict(_MONTH_NUMBER, default=None, return_dtype=pl.Float64)
    return lower.cast(pl.Float64, strict=False).fill_null(names)


def civil_days(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> np.ndarray:
    """Days since 1970-01-01 of calendar dates, NaN where there is no such day (30 February, month 13)."""
    fine = np.isfinite(year) & (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    months = np.where(fine, (year - 1970) * 12 + month - 1, 0).astype(np.int64).astype("M8[M]")
    days = months.astype("M8[D]") + np.where(fine, day - 1, 0).astype(np.int64)
    fine &= days.astype("M8[M]") == months
    return np.where(fine, days.astype(np.int64), np.nan)


def _clock_parts(hour: str, minute: str, second: str, half: str) -> dict[str, pl.Expr]:
    letter = pl.col(half).str.slice(0, 1).str.to_lowercase()
    return {
        "absent": (pl.col(hour) == "").fill_null(True),
        "hour": _number(pl.col(hour)),
        "minute": _number(pl.col(minute)),
        "second": _number(pl.col(second).str.replace(",", ".", literal=True)),
        "pm": (letter == "p").fill_null(False),
        "am": (letter == "a").fill_null(False),
    }


def _zone_parts(zone: str) -> dict[str, pl.Expr]:
    sign, hours, minutes = (pl.col(zone).str.extract(_OFFSET, k) for k in (1, 2, 3))
    return {
        "west": (sign == "-").fill_null(False),
        "zone hours": _number(hours),
        "zone minutes": _number(minutes),
    }


def _number(text: pl.Expr) -> pl.Expr:
    return text.cast(pl.Float64, strict=False).fill_null(0.0)


def _clock_days(found: pl.DataFrame) -> np.ndarray:
    """The fraction of a day; 0 where no time is given, NaN where there is no such time."""
    h, m, s = (found[part].to_numpy() for part in ("hour", "minute", "second"))
    pm, am = found["pm"].to_numpy(), found["am"].to_numpy()
    fine = (m < 60) & (s < 61) & np.where(pm | am, (h >= 1) & (h <= 12), h < 24)
    h = np.where(pm | am, h % 12, h) + 12.0 * pm
    return np.where(found["absent"].to_numpy(), 0.0, np.where(fine, (h * 3600 + m * 60 + s) / 86400, np.nan))


def _zone_days(found: pl.DataFrame) -> np.ndarray:
    sign = np.where(found["west"].to_numpy(), -1.0, 1.0)
    return sign * (found["zone hours"].to_numpy() * 60 + found["zone minutes"].to_numpy()) / 1440


# --- features for a model ---------------------------------------------------------------------------------------


def calendar(days: np.ndarray) -> dict[str, np.ndarray]:
    """Year, month 0–11, weekday 0–6 (Monday is 0) and hour 0–24 of moments; NaN where the moment is."""
    absent = np.isnan(days)
    moment = np.round(np.where(absent, 0.0, days) * 86_400_000_000).astype("M8[us]")
    day = moment.astype("M8[D]")
    months = moment.astype("M8[M]").astype(np.int64)
    parts = {
        "year": 1970.0 + np.floor_divide(months, 12),
        "month": np.mod(months, 12).astype(np.float64),
        "weekday": np.mod(day.astype(np.int64) + 3, 7).astype(np.float64),  # 1970-01-01 was a Thursday
        "hour": (moment - day).astype(np.int64) / 3_600_000_000,
    }
    return {name: np.where(absent, np.nan, part) for name, part in parts.items()}


def circle(part: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The point on the unit circle of a part of the calendar."""
    angle = 2 * np.pi * part / _PERIODS[name]
    return np.sin(angle), np.cos(angle)


def from_numbers(numbers: np.ndarray) -> np.ndarray:
    """Days since 1970 of dates written as numbers: 20201231, or (milli-, micro-, nano-) seconds since 1970."""
    x = np.asarray(numbers, dtype=np.float64)
    size = np.abs(x)
    with np.errstate(invalid="ignore"):
        written = civil_days(np.floor(x / 10000), np.floor(x / 100) % 100, x % 100)
        for unit, low in ((1.0, 1e8), (1e3, 1e11), (1e6, 1e14), (1e9, 1e17)):
            epoch = x / unit / 86400
            written = np.where(np.isnan(written) & (size >= low) & (size < low * 1e3), epoch, written)
    return written
