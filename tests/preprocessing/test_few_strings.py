"""A few strings read one by one: the numbers, dates and booleans that Polars gives for the same strings, to the bit."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnt.preprocessing import _few_strings
from learnt.preprocessing._dates import read_dates
from learnt.preprocessing._strings import read_booleans, read_numbers

NUMBERS = [
    "5.", ".5", "+5", "1e5", "1E+5", "inf", "nan", "1_000", "0x10", "1e400", "1e0005", "-", "--5", "(5)", "(5",
    "5)", "(-5)", "5-", "-5-", "12%", "$1,234.50", "1.234,50", "12bn", "3mio", "€27.81", "£3k", "1'234", "1’234",
    "0,5", "1,23,456", "1,2", "5e", "e5", "infinity", "1e-400", "1.2.3", "..5", "99999999999999999999", "-0", "−5",
    "1e5k", "usd5", "usdx5",
]  # fmt: skip
NUMBERS += ["US$ 5", "5 kr.", "27,81 €", "1 234", "12 34", "( 5 )", "- 5", "5 -", "5\n", "", "1\u202f234", "1 _0"]
DATES = [
    "2020-01-02", "2020-1-2", "01/02/2020", "31/12/2020", "12/31/20", "1.2.69", "1.2.68", "2020-02-30",
    "2020-02-29", "5-Jan-20", "20201231", "20201231T1200", "20201231T12:00:01.5Z", "2020-12", "2020/13", "12:30",
    "24:00", "2020-01-02T03:04:05.123+02:00", "0000-01-01", "2020-00-01", "2020-01-02T03:04:05,5-0230",
    "5/Jan/2020", "01-02-03", "1/2/3", "9999-12-31", "0001-01-01",
]  # fmt: skip
DATES += [
    "Jan 5, 2020",
    "5th January 2020",
    "Mon, 5 Jan 2020",
    "Jan 2020",
    "sept 2020",
    "12:30 pm",
    "0:30 am",
    "13:00 pm",
]
DATES += [
    "2020-01-02 03:04 Z",
    "2020-01-02, 3:04 p.m.",
    "2020-01-02 03:60",
    "2020-01-02 03:04:60",
    "2020-01-02 03:04 +02",
]
WORDS = ["yes", "No", "TRUE", "off", "1", "0.0", "maybe", "y", "N"]
PIECES = st.sampled_from([*"0123456789.,'’ _-+()%kKmMbBneEtT$€£:/aPpZ\t\n−", "Jan", "GMT", "12", "20"])
STRINGS = st.none() | st.sampled_from(NUMBERS + DATES + WORDS) | st.lists(PIECES, max_size=12).map("".join)
READERS = [
    (read_numbers, (".",)),
    (read_numbers, (",",)),
    (read_booleans, ()),
    (read_dates, ("mdy", False)),
    (read_dates, ("dmy", True)),
]


def both(read, labels, how, monkeypatch):
    with monkeypatch.context() as patch:
        one_by_one = read(labels, *how)
        patch.setattr(_few_strings, "FEW", -1)
        return one_by_one, read(labels, *how)


@pytest.mark.parametrize(("read", "how"), READERS)
@pytest.mark.parametrize("texts", [NUMBERS, DATES, WORDS, [None], []])
@pytest.mark.sweep
def test_known_strings_are_read_alike_together_and_alone(read, how, texts, monkeypatch):
    for some in [texts, *([text] for text in texts)]:
        few, many = both(read, pl.Series(some, dtype=pl.String), how, monkeypatch)
        np.testing.assert_array_equal(few, many)
    assert len(few) == len(some)


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(STRINGS, min_size=1, max_size=6), k=st.integers(0, len(READERS) - 1))
def test_any_strings_are_read_alike(texts, k):
    with pytest.MonkeyPatch.context() as patch:
        read, how = READERS[k]
        few, many = both(read, pl.Series(texts, dtype=pl.String), how, patch)
    np.testing.assert_array_equal(few, many)


def test_polars_reads_what_is_long_many_or_not_plain(monkeypatch):
    for texts in (["1"] * 101, ["1" + " " * 100], ["１"], ["1\x1c"]):
        assert _few_strings.few_strings(pl.Series(texts)) is None
    assert _few_strings.few_strings(pl.Series(["€ 5", None])) == ["€ 5", None]


@pytest.mark.parametrize(("read", "text"), [(read_numbers, "$5k"), (read_dates, "5 Jan 2020"), (read_booleans, "yes")])
def test_polars_is_not_asked_for_a_few(read, text, monkeypatch):
    few = read(pl.Series([text]))
    assert np.isfinite(few).all()
    monkeypatch.setattr(pl.Series, "to_frame", None)
    monkeypatch.setattr(pl.Series, "cast", None)
    monkeypatch.setattr(pl.Series, "is_in", None, raising=False)
    np.testing.assert_array_equal(read(pl.Series([text])), few)
