"""Partial dependence of functions that are known, on raw cells of every kind."""

import numpy as np
import polars as pl
import pytest

from learnt.study.sections._effects import MOST_VALUES, effects


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "x": rng.normal(size=n),
            "z": rng.normal(size=n),
            "price": [f"${v:.2f}" for v in rng.uniform(1, 9, n)],
            "town": rng.choice(["Oslo", "Rome", "Bonn"], n),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )


def dollars(rows):
    return rows["price"].str.strip_prefix("$").cast(pl.Float64).to_numpy()


def model(rows):
    """3x - price + 5 in Rome + z², none of gaps."""
    return (
        3 * rows["x"].to_numpy() - dollars(rows) + 5 * (rows["town"] == "Rome").to_numpy() + rows["z"].to_numpy() ** 2
    )


def test_the_curve_of_a_sum_is_its_term():
    rows = table()
    found = {e.column: e for e in effects(model, rows, rows.columns, kinds={"price": "number"})}
    x = found["x"]
    np.testing.assert_allclose(np.array(x.mean) - x.mean[0], 3 * (np.array(x.place) - x.place[0]))
    at_low = model(rows.with_columns(pl.lit(x.place[0]).alias("x")))
    assert (x.low[0], x.high[0]) == pytest.approx(tuple(np.quantile(at_low, [0.25, 0.75])))
    assert x.place[0] == rows["x"].min()
    assert x.place[-1] == rows["x"].max()
    assert len(x.values) == MOST_VALUES
    assert [e.direction for e in found.values()] == [
        "rises",
        "rises and falls",
        "falls",
        "highest for Rome",
        "hardly changes",
    ]
    town = dict(zip(found["town"].values, found["town"].mean))
    assert town["Rome"] - town["Oslo"] == pytest.approx(5)


def test_the_class_whose_probability_moves_is_spoken_of():
    def probabilities(rows):
        p = 1 / (1 + np.exp(-rows["x"].to_numpy()))
        return np.column_stack([np.full(len(p), 0.1), 0.9 * (1 - p), 0.9 * p])

    (found,) = effects(probabilities, table(), ["x"], classes=["a", "b", "c"])
    assert found.about in ("b", "c")
    (found,) = effects(probabilities, table(), ["x"], classes=["a", "b", "c"], positive=1)
    assert (found.about, found.direction) == ("b", "falls")
    assert 0 <= min(found.mean) <= max(found.mean) <= 1


def test_a_deadline_is_kept():
    """A clock of which every prediction takes 1 s for 150 rows: a column of 12 values takes 12 s."""
    now = [0.0]

    def slow(rows):
        now[0] += len(rows) / 150
        return model(rows)

    columns = ["x", "z", "town"]
    assert len(effects(slow, table(), columns, clock=lambda: now[0], deadline=100.0)) == 3
    now[0] = 0.0
    assert len(effects(slow, table(), columns, clock=lambda: now[0], deadline=30.0)) == 2
    assert now[0] <= 30
    now[0] = 0.0
    assert effects(slow, table(), columns, clock=lambda: now[0], deadline=5.0) == ()
    assert now[0] <= 5


def test_a_constant_column_has_no_effect():
    rows = table().with_columns(pl.lit(1.0).alias("x"), pl.lit(None).cast(pl.Float64).alias("gaps"))
    assert effects(model, rows, ["x", "gaps"]) == ()
