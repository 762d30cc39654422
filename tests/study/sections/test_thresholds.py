"""The table of thresholds against scikit-learn's counts, and the area against its average precision."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, confusion_matrix, f1_score, precision_score, recall_score

from learnt.study.sections._thresholds import MOST_THRESHOLDS, precision_recall, thresholds


def rows(n=300, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return y, np.round(np.clip(rng.beta(2, 5, n) + 0.2 * y, 0, 1), 2)  # with ties


@pytest.mark.parametrize("used", [0.5, 0.07])
def test_every_threshold_counts_as_scikit_learn_does(used):
    y, score = rows()
    found = thresholds(y, score, positive="yes", used=used, costs=(1.0, 7.0))
    assert len(found.table) <= MOST_THRESHOLDS
    places = [row.threshold for row in found.table]
    assert places == sorted(set(places))
    assert places[0] == 0
    assert places[-1] == 1
    assert found.now.threshold == used
    for row in found.table[::5]:
        called = score >= row.threshold
        tn, fp, fn, tp = confusion_matrix(y, called, labels=[False, True]).ravel()
        assert (row.tn, row.fp, row.fn, row.tp) == (tn, fp, fn, tp)
        assert row.recall == recall_score(y, called)
        assert row.precision == (precision_score(y, called) if called.any() else None)
        assert row.f1 == pytest.approx(f1_score(y, called))
        assert row.accuracy == pytest.approx((called == y).mean())
        assert row.cost == fp + 7 * fn


def test_the_area_is_the_average_precision():
    y, score = rows(seed=1)
    found = precision_recall(y, score, "yes")
    assert found.area == pytest.approx(average_precision_score(y, score), rel=1e-12)
    assert found.recall[-1] == 1.0
    assert found.precision[-1] == pytest.approx(y.mean())
    assert found.chance == y.mean()


def test_small_probabilities_are_told_apart():
    """A class of one row in two hundred has thresholds where its probabilities are."""
    rng = np.random.default_rng(2)
    y = rng.random(4000) < 0.005
    score = np.clip(rng.exponential(0.004, 4000) + 0.01 * y, 0, 1)
    found = thresholds(y, score, positive="yes")
    assert sum(0 < row.threshold < 0.05 for row in found.table) >= 20


def test_rows_of_one_class_have_no_curve():
    assert thresholds(np.ones(5, dtype=bool), np.linspace(0, 1, 5), positive="yes") is None
    assert precision_recall(np.zeros(5, dtype=bool), np.linspace(0, 1, 5), "yes") is None
