"""Errors by group: exact tests against brute force, and noise that is not called bias."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from learnt.study.sections._groups import errors_by_group
from learnt.study.sections._significance import clusters_differ, holm, rank_differs, share_differs


def test_the_exact_test_is_the_count_of_all_groups():
    """Of 9 rows with 4 hits, every group of 4 rows: the tails are counted."""
    hits = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])
    inside = [int(hits[list(rows)].sum()) for rows in combinations(range(9), 4)]
    for seen in range(5):
        tails = np.mean([k <= seen for k in inside]), np.mean([k >= seen for k in inside])
        assert share_differs(seen, 4, 4, 9) == pytest.approx(min(2 * min(tails), 1.0), rel=1e-12)


def test_the_rank_test_is_that_of_mann_and_whitney():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 8, 60).astype(float)  # with ties
    inside = np.arange(60) < 23
    wanted = stats.mannwhitneyu(values[inside], values[~inside], use_continuity=False, method="asymptotic").pvalue
    assert rank_differs(stats.rankdata(values), inside) == pytest.approx(wanted, rel=1e-9)


def test_holm_corrects_as_written():
    p = np.random.default_rng(1).random(40) ** 3
    order = np.sort(p)
    wanted = {v: min(max(order[j] * (40 - j) for j in range(k + 1)), 1.0) for k, v in enumerate(order)}
    np.testing.assert_allclose(holm(p), [wanted[v] for v in p])


def table_of_groups(rng, n, columns=5, values=10):
    return pl.DataFrame({f"c{k}": rng.integers(0, values, n).astype(str) for k in range(columns)})


def false_alarms(classify, times, seed, n=1000):
    """How often anything is flagged in fifty groups of noise."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(times):
        table = table_of_groups(rng, n)
        errors = rng.random(n) < 0.12 if classify else np.abs(rng.standard_t(2, n))
        result = errors_by_group(table, errors, classify=classify)
        assert len(result.groups) == 50
        found += bool(result.flagged)
    return found


@pytest.mark.parametrize("classify", [True, False])
def test_noise_in_fifty_groups_is_seldom_flagged(classify):
    """A chance of 5% at most: of 30 tables, more than 7 are flagged once in 1,500 times (binomial)."""
    assert false_alarms(classify, 30, seed=3) <= stats.binom.isf(1 / 1500, 30, 0.05)


@pytest.mark.long
@pytest.mark.parametrize("classify", [True, False])
def test_noise_in_fifty_groups_is_flagged_once_in_twenty_tables_at_most(classify):
    assert false_alarms(classify, 300, seed=4) <= stats.binom.isf(1e-4, 300, 0.05)


@pytest.mark.parametrize("classify", [True, False])
def test_a_group_that_is_worse_is_flagged(classify):
    rng = np.random.default_rng(5)
    table = table_of_groups(rng, 2000)
    bad = (table["c3"] == "7").to_numpy()
    errors = rng.random(2000) < np.where(bad, 0.4, 0.1) if classify else np.abs(rng.normal(size=2000)) * (1 + 2 * bad)
    found = errors_by_group(table, errors, classify=classify)
    assert found.flagged[0].column == "c3"
    assert found.flagged[0].group == "7"
    assert found.flagged[0].error == pytest.approx(errors[bad].mean())
    assert found.flagged[0].elsewhere == pytest.approx(errors[~bad].mean())
    assert found.flagged[0].low < errors[bad].mean() < found.flagged[0].high


def test_rows_that_hang_together_do_not_count_as_many():
    """Errors that depend on the machine alone: groups of machines are noise, which a test of rows would flag."""
    rng = np.random.default_rng(6)
    flagged = {True: 0, False: 0}
    for _ in range(40):
        machine = np.repeat(np.arange(60), 25)
        bad = rng.random(60) < 0.3
        errors = rng.random(1500) < np.where(bad[machine], 0.6, 0.05)
        table = pl.DataFrame({"plant": (machine % 6).astype(str), "shift": (machine % 5).astype(str)})
        for known in flagged:
            result = errors_by_group(table, errors, classify=True, clusters=machine if known else None)
            flagged[known] += bool(result.flagged)
    assert flagged[True] <= stats.binom.isf(1 / 1500, 40, 0.05)
    assert flagged[False] > 20
    one = np.zeros(10, dtype=bool)
    assert clusters_differ(np.ones(10), ~one, np.arange(10)) == 1.0


def test_numbers_are_grouped_by_quarters_and_missing_cells_are_a_group():
    x = np.arange(400.0)
    table = pl.DataFrame({"x": np.where(x < 40, np.nan, x), "same": ["a"] * 400, "id": [f"{k}" for k in range(400)]})
    found = errors_by_group(table, x < 40, classify=True)
    assert [g.column for g in found.groups] == ["x"] * 5  # a constant and an identifier have no groups
    assert found.groups[-1].group == "(missing)"
    assert found.groups[-1].error == 1.0
    assert [g.rows for g in found.groups[:4]] == [90] * 4
    assert found.groups[0].group.startswith("40 to ")
    assert found.overall == 0.1


def test_nothing_is_said_of_few_rows():
    table = pl.DataFrame({"a": ["x"] * 5 + ["y"] * 4})
    assert errors_by_group(table, np.zeros(9, dtype=bool), classify=True).groups == ()
    assert errors_by_group(table[:0], np.zeros(0), classify=True).groups == ()
