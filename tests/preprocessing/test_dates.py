"""Reading dates, and the numbers made of them."""

import datetime

import numpy as np
import polars as pl
import pytest

from learnt.preprocessing import TableEncoder
from learnt.preprocessing._dates import calendar, circle, day_order, from_numbers, read_dates


def days(*when):
    return (datetime.datetime(*when) - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)


def read(*texts, order=None):
    labels = pl.Series(texts)
    return read_dates(labels, order or day_order(labels)).tolist()


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2020-12-31", (2020, 12, 31)),
        ("2020/1/5", (2020, 1, 5)),
        ("1999.02.28", (1999, 2, 28)),
        ("2020-01-05T10:11:12", (2020, 1, 5, 10, 11, 12)),
        ("2020-01-05 10:11:12.250", (2020, 1, 5, 10, 11, 12, 250000)),
        ("2020-01-05T10:11:12Z", (2020, 1, 5, 10, 11, 12)),
        ("2020-01-05T10:11:12+02:00", (2020, 1, 5, 8, 11, 12)),
        ("2020-01-05 10:11-0530", (2020, 1, 5, 15, 41)),
        ("20200105T101112", (2020, 1, 5, 10, 11, 12)),
        ("31/12/2020", (2020, 12, 31)),
        ("12/31/2020", (2020, 12, 31)),
        ("31.12.98", (1998, 12, 31)),
        ("Jan 5, 2021", (2021, 1, 5)),
        ("January 05 2021", (2021, 1, 5)),
        ("Tue, 5 January 2021", (2021, 1, 5)),
        ("5-Jan-21", (2021, 1, 5)),
        ("3rd March 2019", (2019, 3, 3)),
        ("Sept 3, 2020 4:05 PM", (2020, 9, 3, 16, 5)),
        ("12/31/2020 12:00 am", (2020, 12, 31)),
        ("March 2020", (2020, 3, 1)),
        ("2020-03", (2020, 3, 1)),
        ("1969-07-20", (1969, 7, 20)),
        ("2024-02-29", (2024, 2, 29)),
        ("14:30", (1970, 1, 1, 14, 30)),
        ("2:05 pm", (1970, 1, 1, 14, 5)),
    ],
)
def test_dates(text, when):
    assert read(text) == [pytest.approx(days(*when), abs=1e-10)]


@pytest.mark.parametrize(
    "text",
    [
        "2020-02-30",
        "2023-02-29",
        "13/13/2020",
        "2020-13-01",
        "25:00",
        "12:60",
        "hello",
        "12",
        "5 feet 2020",
        "1.5",
        "13 pm",
    ],
)
def test_not_dates(text):
    assert np.isnan(read(text)).all()


def test_day_and_month_are_distinguished_by_the_whole_column():
    assert day_order(pl.Series(["01/02/2020", "31/12/2020"])) == "dmy"
    assert day_order(pl.Series(["01/02/2020", "12/31/2020"])) == "mdy"
    assert day_order(pl.Series(["01/02/2020"])) == "mdy"
    assert day_order(pl.Series(["01.02.2020"])) == "dmy"
    assert read("01/02/2020", "31/12/2020")[0] == days(2020, 2, 1)


def test_dates_as_numbers():
    np.testing.assert_array_equal(from_numbers(np.array([20201231.0, np.nan])), [days(2020, 12, 31), np.nan])
    second = 1_600_000_000
    for unit in (1, 1e3, 1e6):
        assert from_numbers(np.array([second * unit]))[0] == pytest.approx(second / 86400)


def test_calendar_is_datetimes():
    rng = np.random.default_rng(0)
    moments = rng.uniform(days(1900, 1, 1), days(2100, 1, 1), size=200)
    parts = calendar(moments)
    for k, day in enumerate(moments):
        when = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=round(day * 86_400_000_000))
        assert (parts["year"][k], parts["month"][k] + 1, parts["weekday"][k]) == (when.year, when.month, when.weekday())
        assert int(parts["hour"][k]) == when.hour


def test_december_is_next_to_january():
    x, y = circle(np.array([0.0, 11.0, 6.0]), "month")
    distance = np.hypot(x - x[0], y - y[0])
    assert distance[1] < 0.6 < 1.9 < distance[2]


def test_what_a_model_sees_of_dates():
    when = ["2020-01-06", "2020-01-13", None, "2020-03-02"]  # all Mondays, one year, no times
    encoder = TableEncoder().fit({"start": when})
    assert encoder.get_feature_names_out().tolist() == [
        "start: days",
        "start: month sin",
        "start: month cos",
        "start missing",
    ]
    out = encoder.transform({"start": when})
    np.testing.assert_allclose(out[:, 0], [0, 7, 7, 56])
    np.testing.assert_allclose(out[2], [7, 0, 0, 1])
    assert encoder.columns_[0]["statistics"]["min"] == "2020-01-06"
    later = encoder.transform({"start": ["2021-01-06"]})
    assert later[0, 0] == 366


@pytest.mark.parametrize("zone", [None, "Europe/Rome"])
def test_typed_strings_and_other_libraries_give_the_same(zone):
    typed = pl.Series(
        "t", [datetime.datetime(2020, 1, 5, 10), datetime.datetime(2021, 6, 7, 22, 30)]
    ).dt.replace_time_zone(zone)
    written = typed.dt.convert_time_zone("UTC") if zone else typed
    strings = written.dt.strftime("%Y-%m-%dT%H:%M:%S" + ("Z" if zone else ""))
    frame = pl.DataFrame({"t": typed})
    encoder = TableEncoder().fit(frame)
    expected = encoder.transform(frame)
    assert expected.shape == (2, 8)
    for other in (frame.to_pandas(), frame.to_arrow(), pl.DataFrame({"t": strings}), {"t": typed.to_list()}):
        np.testing.assert_allclose(encoder.transform(other), expected, atol=1e-12)


def test_dates_and_times_of_day():
    table = {
        "day": [datetime.date(2020, 1, 5), datetime.date(2020, 1, 8), None],
        "clock": [datetime.time(8), datetime.time(20, 30), datetime.time(12)],
        "written": ["8:15", "9:45", "23:00"],
    }
    encoder = TableEncoder().fit(pl.DataFrame(table))
    assert [column["kind"] for column in encoder.columns_] == ["date"] * 3
    np.testing.assert_allclose(encoder.transform(pl.DataFrame(table)), encoder.transform(table))
    names = encoder.get_feature_names_out().tolist()
    assert "clock: hour sin" in names
    assert "day: hour sin" not in names
    assert np.isfinite(encoder.transform(table)).all()
