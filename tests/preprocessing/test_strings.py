"""Reading what people write in cells: money, numbers, yes and no, markers for missing."""

import numpy as np
import polars as pl
import pytest

from learnt.preprocessing._frame import Column
from learnt.preprocessing._strings import (
    FEW,
    clean,
    decimal_point,
    factor,
    looks_boolean,
    looks_like_codes,
    read_booleans,
    read_numbers,
)


def numbers(*texts):
    labels = clean(pl.Series(texts, dtype=pl.String))
    return read_numbers(labels, decimal_point(labels)).tolist()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$1,234.50", 1234.5),
        ("1,234,567", 1234567),
        ("(300)", -300),
        ("($1,200.5)", -1200.5),
        ("-$5", -5),
        ("$-5", -5),
        ("300-", -300),
        ("−4", -4),
        ("12%", 0.12),
        ("-12.5 %", -0.125),
        ("1e5", 1e5),
        ("1.5E-3", 0.0015),
        ("1 234", 1234),
        ("1\u00a0234.5", 1234.5),
        ("1'234", 1234),
        ("1_000", 1000),
        ("£3k", 3000),
        ("2.5M", 2.5e6),
        ("$1.2bn", 1.2e9),
        ("EUR 7", 7),
        ("7 kr", 7),
        ("₹1,00,000", 100000),
        (".5", 0.5),
        ("5.", 5),
        ("+3", 3),
        (" 42 ", 42),
        ("0", 0),
    ],
)
def test_numbers(text, value):
    assert numbers(text) == [pytest.approx(value, rel=1e-15)]


@pytest.mark.parametrize(
    "text",
    [
        "abc",
        "12abc",
        "1,2,3",
        "1.2.3",
        "--5",
        "12 34",
        "1-2",
        "(5",
        "5)",
        "inf",
        "Infinity",
        "1e400",
        "0x10",
        "",
        "NA",
        "%",
        "$",
    ],
)
def test_not_numbers(text):
    assert np.isnan(numbers(text)).all()


def test_the_decimal_comma_is_decided_on_the_whole_column():
    assert numbers("1.234,50 €", "0,5", "1.000", "-3") == [1234.5, 0.5, 1000, -3]
    assert numbers("1,234", "2,345") == [1234, 2345]  # nothing speaks for a decimal comma
    assert numbers("1,234", "2,5") == [1.234, 2.5]
    assert numbers("1.234", "2.5") == [1.234, 2.5]
    assert numbers("1.234.567", "12") == [1234567, 12]
    assert numbers("12 345,6", "7") == [12345.6, 7]
    assert numbers("1,234.5", "1,234") == [1234.5, 1234]


@pytest.mark.parametrize(
    "marker", ["", " ", "NA", "n/a", "NaN", "null", "None", "-", "--", "?", ".", "#N/A", "<NA>", "NaT"]
)
@pytest.mark.parametrize("copies", [1, FEW + 1])
def test_markers_are_missing_by_both_roads(marker, copies):
    cleaned = clean(pl.Series([marker, " x "] * copies))
    assert cleaned.to_list() == [None, "x"] * copies


def test_yes_and_no():
    assert looks_boolean(pl.Series(["Yes", "no", None]))
    assert looks_boolean(pl.Series(["T", "f"]))
    assert not looks_boolean(pl.Series(["yes", "y"]))  # both mean yes
    assert not looks_boolean(pl.Series(["y", "n", "x"]))
    assert not looks_boolean(pl.Series(["m", "f"]))
    np.testing.assert_array_equal(
        read_booleans(pl.Series(["TRUE", "off", "1", "0", "x", None])), [1, 0, 1, 0, np.nan, np.nan]
    )


def test_leading_zeros_are_codes():
    assert looks_like_codes(pl.Series(["00417", "123"]))
    assert not looks_like_codes(pl.Series(["0", "0.5", "10"]))


@pytest.mark.parametrize("repeats", [1, 400])
def test_a_factor_rebuilds_its_column_by_both_roads(repeats):
    values = ["b", None, "a", " b", "NA"] * repeats
    strings = factor(Column("x", "string", pl.Series(values)))
    labels = strings.labels.to_list()
    rebuilt = [None if code < 0 else labels[code] for code in strings.codes]
    assert rebuilt == ["b", None, "a", "b", None] * repeats
    assert strings.present == 3 * repeats
    assert strings.counts.sum() == 4 * repeats  # "NA" is a string that means missing


def test_numbers_as_labels():
    strings = factor(Column("x", "number", np.array([3.0, 1.5, np.nan, 3.0])))
    labels = strings.labels.to_list()
    assert [None if c < 0 else labels[c] for c in strings.codes] == ["3", "1.5", None, "3"]
