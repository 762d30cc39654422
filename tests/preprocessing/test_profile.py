"""What a profile finds, and what it does not cry wolf about."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from learnt.preprocessing import profile
from learnt.preprocessing._leaks import N_BINS, area_under_roc, bins, rank_correlation

N = 400


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def honest(rng):
    y = rng.integers(0, 2, N)
    return {
        "age": rng.normal(size=N) + y,
        "job": rng.choice(["a", "b", "c"], N),
        "town": [f"t{k}" for k in rng.integers(0, 150, N)],
        "y": np.where(y == 1, "yes", "no"),
    }


def findings(found, what):
    return [finding for finding in found["findings"] if finding["what"] == what]


def test_a_table_without_leaks_has_no_findings(honest):
    found = profile(honest, "y")
    assert found["leaks"] == found["identifiers"] == found["constants"] == found["time_columns"] == []
    assert found["target"]["task"] == "classification"
    assert found["n_rows"] == N
    assert [c["kind"] for c in found["columns"]] == ["number", "category", "category"]
    assert found["columns"][0]["mean"] == pytest.approx(honest["age"].mean())
    assert found["columns"][1]["unique"] == 3
    assert sum(count for _, count in found["columns"][1]["top"]) == N
    json.dumps(found, allow_nan=False)


def test_leaks_of_a_class(honest, rng):
    yes = honest["y"] == "yes"
    table = honest | {
        "copy": honest["y"],
        "score": np.where(yes, 1.0, 0.0) + 0.01 * rng.normal(size=N),
        "reason": np.where(yes, rng.choice(["p", "q"], N), "r"),
        "closed on": [("2020-01-01", "2020-05-05")[k % 2] if one else None for k, one in enumerate(yes)],
        "outcome code": rng.integers(0, 5, N),
    }
    found = profile(table, "y")
    assert found["leaks"] == ["copy", "score", "reason", "closed on"]
    assert "filled in only afterwards" in findings(found, "leak")[3]["message"]
    assert [f["column"] for f in findings(found, "known after")] == ["outcome code"]
    json.dumps(found, allow_nan=False)


def test_leaks_of_a_quantity(rng):
    y = rng.lognormal(size=N)
    table = {
        "honest": y + rng.normal(size=N),
        "rounded": np.round(np.log(y), 2),
        "copy": y,
        "band": np.repeat(["x"], N),
        "y": y,
    }
    found = profile(table, target="y")
    assert found["leaks"] == ["rounded", "copy"]
    assert findings(found, "leak")[1]["message"].startswith("'copy' is a copy of the target")
    assert found["target"]["task"] == "regression"
    assert found["constants"] == ["band"]


def test_many_levels_are_not_a_leak_by_chance(rng):
    table = {"code": [f"c{k}" for k in rng.integers(0, 300, N)], "y": rng.integers(0, 2, N)}
    assert profile(table, "y")["leaks"] == []


def test_three_classes(rng):
    y = rng.integers(0, 3, N)
    found = profile({"a": 2 * y + 1, "b": rng.normal(size=N) + y, "y": y}, "y")
    assert found["leaks"] == ["a"]


def test_identifiers_copies_rows_and_order(rng):
    y = np.sort(rng.integers(0, 2, N))
    table = {
        "id": np.arange(N),
        "x": rng.integers(0, 3, N),
        "z": rng.integers(0, 2, N),
        "empty": [None] * N,
        "mostly empty": [1.0, 2.0] + [None] * (N - 2),
        "y": y,
    }
    table["x again"] = table["x"]
    found = profile(table, "y")
    assert found["identifiers"] == ["id"]
    assert found["duplicates"] == ["x again"]
    assert found["constants"] == ["empty"]
    assert findings(found, "missing")[0]["share"] == pytest.approx((N - 2) / N)
    assert "sorted by the target" in findings(found, "sorted")[0]["message"]
    assert found["duplicate_rows"] == 0  # the id tells them apart
    del table["id"]
    frame = pl.DataFrame(table).drop("empty")
    found = profile(frame, "y")
    assert found["duplicate_rows"] == N - frame.n_unique()
    assert findings(found, "contradictions")[0]["count"] == frame.n_unique() - frame.drop("y").n_unique()


def test_time_columns(rng):
    start = np.datetime64("2020-01-01")
    table = {
        "when": start + np.arange(N),
        "born": start - rng.integers(0, 9999, N),
        "year": rng.integers(1990, 2020, N),
        "yearly income": rng.normal(size=N),
        "y": rng.integers(0, 2, N),
    }
    found = profile(table, "y")
    assert found["time_columns"] == ["when", "born", "year"]
    assert [f["ordered"] for f in findings(found, "time")] == [True, False, False]


@pytest.mark.parametrize(
    ("y", "what"),
    [
        (np.r_[np.zeros(390), np.ones(10)].astype(int), "imbalance"),
        (np.ones(N, dtype=int), "target constant"),
        (np.minimum(np.random.default_rng(1).normal(size=N), 0.5), "capped"),
        (np.exp(3 * np.random.default_rng(1).normal(size=N)), "skewed"),
        (np.r_[np.nan, np.random.default_rng(1).normal(size=N - 1)], "target missing"),
        ([None] * N, "target missing"),
    ],
    ids=["imbalance", "constant", "capped", "skewed", "missing", "all missing"],
)
def test_targets_with_a_problem(rng, y, what):
    found = profile({"x": rng.normal(size=N)}, target=y)
    assert [f["what"] for f in found["findings"]] == [what]
    assert "\n" not in found["findings"][0]["message"]
    json.dumps(found, allow_nan=False)


def test_the_statistics_are_the_textbooks(rng):
    x, y = rng.integers(0, 9, 300), rng.normal(size=300)
    assert rank_correlation(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    positive = rng.integers(0, 2, 300) == 1
    assert area_under_roc(x, positive) == pytest.approx(roc_auc_score(positive, x))


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        ({"a": [1, 2]}, "b", "no column 'b'; it has 'a'"),
        ({"a": [1, 2]}, "a", "no column but the target"),
        ({"a": [1, 2]}, [1, 2, 3], "The table has 2 rows and the target 3"),
    ],
)
def test_errors(table, target, message):
    with pytest.raises(ValueError, match=message) as error:
        profile(table, target)
    assert "\n" not in str(error.value)


def test_without_a_target():
    found = profile(np.arange(20.0).reshape(10, 2))
    assert found["target"] is None
    assert found["leaks"] == []
    assert [c["name"] for c in found["columns"]] == ["x0", "x1"]


@pytest.mark.parametrize("kind", ["float", "integer", "boolean", "missing"])
def test_different_values_are_counted_alike_in_short_and_long_tables(monkeypatch, kind):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 40, 300)
    values = {"float": x / 4, "integer": x, "boolean": x > 20, "missing": np.where(x < 5, np.nan, x / 4)}[kind]
    table = pl.DataFrame({"x": values, "z": rng.normal(size=300)})
    counted = [profile(table)["columns"][0]["unique"]]
    monkeypatch.setattr("learnt.preprocessing._profile.SHORT", 0)
    counted.append(profile(table)["columns"][0]["unique"])
    known = values[~np.isnan(values)] if kind == "missing" else values
    assert counted == [len(set(known.tolist()))] * 2


@pytest.mark.parametrize("n", [99, 1000, 12345])
def test_bins_of_a_number_hold_equally_many_rows_and_keep_equal_values_together(n):
    x = np.random.default_rng(1).normal(size=n)
    counts = np.bincount(bins(x))
    assert len(counts) == N_BINS
    assert counts.max() - counts.min() <= 1
    tied = np.round(x, 1)
    codes = bins(tied)
    assert all(len(set(codes[tied == v])) == 1 for v in np.unique(tied))
