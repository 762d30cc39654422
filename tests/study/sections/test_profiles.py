"""Profiles of columns: parts that add up to the rows, shares and means with their intervals, what noise explains."""

import datetime

import numpy as np
import polars as pl
import pytest
from scipy import stats

from learnt.diagnosis import wilson_interval
from learnt.study.sections._profiles import explained, profile_columns
from learnt.study.sections._values import read_values


def test_parts_add_up_and_know_their_target():
    rng = np.random.default_rng(0)
    n = 600
    town = rng.choice([f"t{k:02}" for k in range(20)], n, p=np.arange(20, 0, -1) / 210)
    x = rng.normal(size=n)
    x[:30] = np.nan
    y = rng.random(n) < 0.3
    table = pl.DataFrame({"x": x, "town": town, "whole": rng.integers(0, 4, n), "empty": [None] * n})
    found = {p.name: p for p in profile_columns(table, y, classes=[False, True], positive=1)}
    assert set(found) == {"x", "town", "whole"}
    assert all(sum(part.rows for part in p.parts) == n for p in found.values())
    assert found["x"].missing == 0.05
    assert found["x"].parts[-1].label == "(missing)"
    assert found["x"].parts[-1].target == y[:30].mean()
    assert len(found["x"].parts) == 11
    assert found["town"].parts[-1].label == "(others)"
    assert found["town"].parts[0].rows == max(np.unique(town, return_counts=True)[1])
    first = (town == found["town"].parts[0].label) & True
    own = found["town"].parts[0]
    assert (own.target, own.low, own.high) == tuple(wilson_interval(y[first].sum(), first.sum()))
    assert [part.label for part in found["whole"].parts] == ["0", "1", "2", "3"]
    assert [part.target for part in found["whole"].parts] == [y[table["whole"] == k].mean() for k in range(4)]


def test_amounts_have_means_with_students_interval():
    y = np.array([1.0, 2.0, 4.0, 9.0, 5.0])
    (found,) = profile_columns(pl.DataFrame({"c": ["a", "a", "a", "a", "b"]}), y)
    low, high = stats.t.interval(0.95, 3, y[:4].mean(), stats.sem(y[:4]))
    assert (found.parts[0].low, found.parts[0].high) == pytest.approx((low, high))
    assert found.parts[1].target == 5.0
    assert found.parts[1].low is None


def test_what_a_column_explains_is_the_adjusted_share_of_variance():
    """For y = group + noise with variances v and w it is v / (v + w); for noise it is 0 on average before the cut."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 10, 20_000)
    levels = rng.normal(size=10)
    y = levels[codes] + 2 * rng.normal(size=20_000)
    wanted = levels[codes].var() / (levels[codes].var() + 4)
    assert explained(codes, y[:, None]) == pytest.approx(wanted, abs=0.02)
    noise = [explained(rng.integers(0, 10, 200), rng.normal(size=(200, 1))) for _ in range(200)]
    assert np.mean(noise) < 0.02  # half of them cut at 0; the spread is sqrt(2 · 9) / 200 = 0.021
    y = np.eye(3)[np.minimum(codes, 2)]
    assert explained(codes, y) == pytest.approx(1.0)


def test_of_several_classes_the_one_that_differs_is_shown():
    rng = np.random.default_rng(2)
    y = rng.choice(["a", "b", "c"], 300)
    table = pl.DataFrame({"tell": np.where(y == "b", "yes", "no")})
    (found,) = profile_columns(table, y, classes=["a", "b", "c"])
    assert found.about == "b"
    assert {part.label: part.target for part in found.parts} == {"yes": 1.0, "no": 0.0}


def test_cells_of_every_type_are_read():
    day = [datetime.date(2024, 1, 1) + datetime.timedelta(k) for k in range(40)]
    table = pl.DataFrame(
        {
            "day": day,
            "written": [str(d) for d in day],
            "price": [f"€{1000 + k:,}.50" for k in range(40)],
            "took": [datetime.timedelta(seconds=k) for k in range(40)],
            "clock": [datetime.time(k % 24) for k in range(40)],
            "flag": [k % 3 == 0 for k in range(40)],
            "list": [[k] for k in range(40)],
        }
    )
    kinds = {"written": "date", "price": "number", "flag": "boolean"}
    found = {p.name: p for p in profile_columns(table, np.arange(40.0), kinds=kinds)}
    assert set(found) == set(table.columns) - {"list"}
    assert found["day"].parts[0].label.startswith("2024-01-01 to 2024-01-0")
    assert [p.label for p in found["written"].parts] == [p.label for p in found["day"].parts]
    assert [p.rows for p in found["written"].parts] == [p.rows for p in found["day"].parts]
    assert read_values(table, "price", "number").numbers[:2].tolist() == [1000.5, 1001.5]
    assert found["took"].parts[-1].label.endswith(" to 39")
    assert {p.label for p in found["flag"].parts} == {"true", "false"}


@pytest.mark.parametrize("values", [[1e300, -1e300, 0.0] * 20, [np.inf, 1.0, 2.0] * 20, [5.0] * 60, [0.0] * 59 + [1e9]])
def test_odd_numbers_are_binned(values):
    (found,) = profile_columns(pl.DataFrame({"x": values}), np.arange(60.0))
    assert sum(part.rows for part in found.parts) == 60


def test_whole_numbers_are_binned_as_whole_numbers():
    x = np.repeat(np.arange(40), 5)
    (found,) = profile_columns(pl.DataFrame({"x": x}), x.astype(float))
    assert [(p.label, p.rows) for p in found.parts] == [(f"{k} to {k + 3}", 20) for k in range(0, 40, 4)]
    (found,) = profile_columns(pl.DataFrame({"x": np.append(x, 10_000)}), np.append(x, 1.0))
    assert found.parts[-1].label == "36 to 10k"
