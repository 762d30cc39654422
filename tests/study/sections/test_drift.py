"""Drift between development and test rows: found where it is, seldom where it is not."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from learnt.study.sections._drift import drift
from learnt.study.sections._significance import counts_differ, distance_of


def test_the_distances_are_those_of_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, 70).astype(float), rng.integers(2, 11, 45).astype(float)
    assert distance_of(a, b) == pytest.approx(stats.ks_2samp(a, b).statistic, rel=1e-12)
    counts = np.array([[30, 20, 11], [14, 25, 9]])
    assert counts_differ(*counts) == pytest.approx(stats.chi2_contingency(counts, correction=False).pvalue, rel=1e-9)


def test_labels_that_are_rare_are_taken_together():
    a, b = np.array([40, 40, 1, 0, 1, 1, 1, 2, 3]), np.array([40, 40, 0, 1, 1, 1, 2, 1, 3])
    together = np.array([[40, 40, a[2:].sum()], [40, 40, b[2:].sum()]])
    wanted = stats.chi2_contingency(together, correction=False).pvalue
    assert counts_differ(a, b) == pytest.approx(wanted)
    assert counts_differ(np.array([3, 0]), np.array([0, 3])) == 1.0  # too few to say anything


def noise(rng, n):
    return pl.DataFrame(
        {
            **{f"x{k}": rng.standard_t(2, n) for k in range(5)},
            **{f"i{k}": rng.poisson(2, n) for k in range(5)},
            **{f"c{k}": rng.choice(list("abcdefgh"), n, p=np.arange(8, 0, -1) / 36) for k in range(8)},
            "gaps": np.where(rng.random(n) < 0.03, np.nan, rng.normal(size=n)),
            "rare": rng.random(n) < 0.01,
        }
    )


def false_alarms(times, seed):
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(times):
        table = noise(rng, 500)
        found += bool(drift(table[:400], table[400:]).flagged)
    return found


def test_noise_in_twenty_columns_seldom_drifts():
    assert false_alarms(30, 1) <= stats.binom.isf(1 / 1500, 30, 0.05)


@pytest.mark.long
def test_noise_drifts_once_in_twenty_tables_at_most():
    assert false_alarms(600, 2) <= stats.binom.isf(1e-4, 600, 0.05)


def test_changes_of_each_kind_are_found():
    rng = np.random.default_rng(3)
    before, after = noise(rng, 800), noise(rng, 400)
    after = after.with_columns(
        pl.col("x2") + 1.0,
        pl.when(pl.col("c1") == "a").then(pl.lit("z")).otherwise(pl.col("c1")).alias("c1"),
        pl.when(pl.Series(rng.random(400) < 0.3)).then(None).otherwise(pl.col("i0")).alias("i0"),
    )
    found = drift(before, after)
    assert {c.column for c in found.flagged} == {"x2", "c1", "i0"}
    shift = {c.column: c for c in found.columns}
    assert shift["i0"].missing_after > 0.2
    assert shift["i0"].missing_before == 0
    assert shift["c1"].shift == pytest.approx((before["c1"] == "a").mean(), abs=0.1)
    assert found.development_rows == 800


def test_rows_of_few_groups_are_few():
    """A value of each of 20 shops: another 10 shops have others, and nothing has changed."""
    rng = np.random.default_rng(4)
    rows, flagged = {"before": 1000, "after": 500}, {True: 0, False: 0}
    for _ in range(30):
        shops = rng.normal(size=30)
        before = pl.DataFrame({"x": np.repeat(shops[:20], rows["before"] // 20)})
        after = pl.DataFrame({"x": np.repeat(shops[20:], rows["after"] // 10)})
        for known in flagged:
            flagged[known] += bool(drift(before, after, independent=(20, 10) if known else None).flagged)
    assert flagged[True] <= stats.binom.isf(1 / 1500, 30, 0.05)
    assert flagged[False] > 20
