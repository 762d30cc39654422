"""Dates: reading them from strings, and the numbers a model can use of them.

A moment is held as days since 1970-01-01 in UTC. Cycles become a point on a circle,

    sin(2π·part/period), cos(2π·part/period),

so that December is next to January and a linear model can place its peak anywhere.
"""

from __future__ import annotations

import numpy as np
import polars as pl

_MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october"]
_MONTHS += ["november", "december"]
_MONTH_NUMBER = {name: k + 1 for k, name in enumerate(_MONTHS)}
_MONTH_NUMBER |= {name[:3]: k + 1 for k, name in enumerate(_MONTHS)} | {"sept": 9}

_CLOCK = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:[.,][0-9]+)?))?\s*([AaPp]\.?[Mm]\.?)?"
_ZONE = r"\s*(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2})?"
_TIME = rf"(?:(?:\s*T\s*|[\s,]+){_CLOCK}{_ZONE})?$"
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
PARTS = ("month", "weekday", "hour")
_PERIODS = {"month": 12.0, "weekday": 7.0, "hour": 24.0}


def read_dates(labels: pl.Series, order: str = "mdy", compact: bool = False) -> np.ndarray:
    """Days since 1970-01-01 of dates in strings; NaN for what is not a date.

    `order` says how "01/02/2020" is read, "dmy" or "mdy"; `compact` reads "20201231" too, which is else a number.
    """
    days = np.full(len(labels), np.nan)
    for shape, (pattern, parts) in _SHAPES.items():
        unread = np.isnan(days)
        if not unread.any():
            break
        if shape == "compact" and not compact:
            continue
        found = _read_shape(labels, pattern, parts or order)
        days = np.where(unread, found, days)
    clock = _read_clock(labels) if np.isnan(days).any() else days
    return np.where(np.isnan(days), clock, days)


def day_order(labels: pl.Series) -> str:
    """Whether "01/02/2020" is day or month first, from all the strings of a column together."""
    pattern = _SHAPES["numeric"][0]
    mdy, dmy = (np.isfinite(_read_shape(labels, pattern, order)).sum() for order in ("mdy", "dmy"))
    if mdy != dmy:
        return "mdy" if mdy > dmy else "dmy"
    # Undecided (every day is 12 or less): slashes are the American habit, dots and dashes the European one.
    dotted = labels.str.contains(r"^[0-9]{1,2}[-.][0-9]{1,2}[-.]").sum() or 0
    return "dmy" if dotted > len(labels) / 2 else "mdy"


def _read_shape(labels: pl.Series, pattern: str, order: str) -> np.ndarray:
    groups = labels.str.extract_groups(pattern).struct.unnest()
    groups.columns = [f"g{k}" for k in range(8)]
    if groups["g0"].null_count() == len(labels):
        return np.full(len(labels), np.nan)
    year, month, day = (_integers(groups[f"g{order.index(letter)}"]) for letter in "ymd")
    day = np.where(groups[f"g{order.index('d')}"].eq("").fill_null(False).to_numpy(), 1, day)
    short = np.isfinite(year) & (groups[f"g{order.index('y')}"].str.len_chars().fill_null(0).to_numpy() == 2)
    year = np.where(short, np.where(year < 69, 2000 + year, 1900 + year), year)
    return (
        civil_days(year, month, day) + _clock_days(*(groups[f"g{k}"] for k in range(3, 7))) - _zone_days(groups["g7"])
    )


def _read_clock(labels: pl.Series) -> np.ndarray:
    groups = labels.str.extract_groups("^" + _CLOCK + "$").struct.unnest()
    groups.columns = [f"g{k}" for k in range(4)]
    absent = groups["g0"].is_null().to_numpy()
    return np.where(absent, np.nan, _clock_days(*(groups[f"g{k}"] for k in range(4))))


def _integers(texts: pl.Series) -> np.ndarray:
    lower = texts.str.to_lowercase()
    names = lower.replace_strict(_MONTH_NUMBER, default=None, return_dtype=pl.Float64)
    return lower.cast(pl.Float64, strict=False).fill_null(names).to_numpy() + 0.0


def civil_days(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> np.ndarray:
    """Days since 1970-01-01 of calendar dates, NaN where there is no such day (30 February, month 13)."""
    fine = np.isfinite(year) & (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    months = np.where(fine, (year - 1970) * 12 + month - 1, 0).astype(np.int64).astype("M8[M]")
    days = months.astype("M8[D]") + np.where(fine, day - 1, 0).astype(np.int64)
    fine &= days.astype("M8[M]") == months
    return np.where(fine, days.astype(np.int64), np.nan)


def _clock_days(hour: pl.Series, minute: pl.Series, second: pl.Series, half: pl.Series) -> np.ndarray:
    """The fraction of a day; 0 where no time is given, NaN where there is no such time."""
    absent = hour.fill_null("").eq("").to_numpy()
    h, m = (part.cast(pl.Float64, strict=False).fill_null(0).to_numpy() for part in (hour, minute))
    s = second.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).fill_null(0).to_numpy()
    half = half.str.to_lowercase().str.slice(0, 1).fill_null("")
    pm, am = half.eq("p").to_numpy(), half.eq("a").to_numpy()
    fine = (m < 60) & (s < 61) & np.where(pm | am, (h >= 1) & (h <= 12), h < 24)
    h = np.where(pm | am, h % 12, h) + 12.0 * pm
    return np.where(absent, 0.0, np.where(fine, (h * 3600 + m * 60 + s) / 86400, np.nan))


def _zone_days(zone: pl.Series) -> np.ndarray:
    parts = zone.str.extract_groups(r"^([+-])([0-9]{2}):?([0-9]{2})?$").struct.unnest()
    parts.columns = ["sign", "hours", "minutes"]
    hours, minutes = (parts[k].cast(pl.Float64, strict=False).fill_null(0).to_numpy() for k in ("hours", "minutes"))
    sign = np.where(parts["sign"].eq("-").fill_null(False).to_numpy(), -1.0, 1.0)
    return sign * (hours * 60 + minutes) / 1440


# --- what a model sees ---------------------------------------------------------------------------------------


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
