"""Intervals: coverage by simulation, closed forms, and scikit-learn's AUC as the oracle."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from learnt.diagnosis import auc_interval, bootstrap_interval, wilson_interval


@pytest.mark.parametrize(("errors", "n"), [(0, 10), (3, 10), (20, 100), (100, 100)])
def test_wilson_is_scipys(errors, n):
    ours = wilson_interval(errors, n)
    theirs = stats.binomtest(errors, n).proportion_ci(method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_wilson_covers():
    rng = np.random.default_rng(0)
    hits = [wilson_interval(e, 80).covers(0.12) for e in rng.binomial(80, 0.12, size=2000)]
    assert 0.93 < np.mean(hits) < 0.98


@pytest.mark.long
def test_auc_is_sklearns_and_its_interval_covers():
    rng = np.random.default_rng(1)
    truth = stats.norm.cdf(1 / np.sqrt(2))  # scores N(0,1) and N(1,1)
    covered = []
    for _ in range(400):
        y = rng.integers(0, 2, 150)
        score = np.round(rng.normal(size=150) + y, 1)  # with ties
        found = auc_interval(y, score)
        assert found.estimate == pytest.approx(roc_auc_score(y, score))
        covered.append(found.low - 0.004 <= truth <= found.high + 0.004)
    assert 0.92 < np.mean(covered) < 0.985


def test_auc_of_perfect_separation_is_not_certain():
    found = auc_interval(np.array([0, 0, 0, 1, 1, 1]), np.arange(6.0))
    assert found.estimate == 1
    assert found.low < 0.99


def test_bootstrap_covers_a_mean_and_widens_with_groups():
    rng = np.random.default_rng(2)
    hits = [bootstrap_interval(rng.exponential(size=60), n_resamples=300).covers(1.0) for _ in range(200)]
    assert np.mean(hits) > 0.88
    groups = np.repeat(np.arange(20), 10)
    values = np.repeat(rng.normal(size=20), 10)  # rows of a group are copies: ten times less information
    alone, together = bootstrap_interval(values), bootstrap_interval(values, groups=groups)
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert together.estimate == pytest.approx(alone.estimate)


def test_columns_of_very_different_size_are_drawn_without_a_warning():
    """Of many rows averages are drawn as normal ones: y, y² and a column that does not vary, at any scale."""
    rng = np.random.default_rng(5)
    y = 2e5 + 1e5 * rng.normal(size=5000)
    squared = (1e5 * rng.normal(size=5000)) ** 2
    both = np.column_stack([squared, y, y * y, np.full(5000, 3e7)])
    r2 = lambda m: 1 - m[:, 0] / (m[:, 2] - m[:, 1] ** 2)  # noqa: E731
    plain, scaled = (bootstrap_interval(both * [s, t, t * t, s], r2) for s, t in ((1.0, 1.0), (1e-10, 1e-5)))
    assert plain.high - plain.low == pytest.approx(scaled.high - scaled.low, rel=0.2)  # other draws, the same spread
    spread = squared.std() / squared.mean() / np.sqrt(5000)
    assert 2 * 1.5 * spread < plain.high - plain.low < 2 * 3 * spread
