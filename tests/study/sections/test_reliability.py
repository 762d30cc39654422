"""Calibration before and after a map, on probabilities whose truth is known."""

import numpy as np
import pytest

from learnt.study.sections._reliability import before_and_after


def test_a_map_that_heals_is_seen_to():
    rng = np.random.default_rng(0)
    true = rng.uniform(0.02, 0.98, 6000)
    y = (rng.random(6000) < true).astype(int)
    logit = np.log(true / (1 - true))
    sure = 1 / (1 + np.exp(-3 * logit))  # too sure of itself
    before, after = (np.column_stack([1 - p, p]) for p in (sure, true))
    found = before_and_after(y, before, after, classes=["no", "yes"], positive=1)
    assert found.rows == 6000
    # honest bins of 600 rows are off by less than 4 standard deviations, 4 · sqrt(¼ / 600)
    assert found.after.gap < 4 * np.sqrt(0.25 / 600)
    assert found.before.gap > 0.08
    assert found.before.brier == pytest.approx(np.mean((sure - y) ** 2))
    inside = [a <= p <= b for a, p, b in zip(found.after.low, found.after.predicted, found.after.high)]
    assert sum(inside) >= 7
    assert sum(found.after.rows) == 6000


def test_of_several_classes_the_likeliest_is_judged():
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]] * 40)
    codes = np.array([0, 1] * 40)
    found = before_and_after(codes, p, p, classes=["a", "b", "c"], positive=None)
    assert found.about == "the likeliest class"
    assert np.average(found.before.observed, weights=found.before.rows) == 0.5
    assert found.before.predicted[0] == pytest.approx(0.6)
