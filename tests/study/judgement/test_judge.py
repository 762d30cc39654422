"""The verdict: thresholds equal brute force, calibration intervals cover, importances find what matters."""

import time

import numpy as np
import polars as pl
import pytest
import sklearn.metrics
from sklearn.linear_model import LinearRegression
from sklearn.metrics import average_precision_score, f1_score

from learnt.study.judgement import _judge as judge
from learnt.study.judgement._rare import criterion, judge_metric
from learnt.study.race._metric import metric_of


@pytest.mark.parametrize("cost", [(1.0, 1.0), (1.0, 10.0), (3.0, 0.5), (0.0, 1.0)])
def test_the_threshold_is_the_best_of_all(cost):
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    score = np.clip(np.round(0.3 * y + rng.normal(0.3, 0.2, 400), 2), 0, 1)
    found = judge.choose_threshold(y, score, cost, seed=0)

    def paid(t):
        return np.mean(cost[0] * ((score >= t) & ~y) + cost[1] * ((score < t) & y))

    brute = min(paid(t) for t in np.concatenate([[0.0], np.unique(score) + 1e-9, np.unique(score) - 1e-9]))
    assert found.cost_per_row == pytest.approx(brute)
    assert paid(found.threshold) == pytest.approx(brute)
    assert found.elkan == pytest.approx(cost[0] / sum(cost))


def test_with_true_probabilities_the_threshold_is_elkans():
    rng = np.random.default_rng(1)
    p = rng.random(40_000)
    found = judge.choose_threshold(rng.random(40_000) < p, p, (1.0, 4.0), seed=0)
    assert found.threshold == pytest.approx(0.2, abs=0.03)
    assert found.low - 0.02 <= 0.2 <= found.high + 0.02


def test_calibration_intervals_cover_for_a_calibrated_model():
    rng = np.random.default_rng(2)
    inside, bins = 0, 0
    for _ in range(120):
        p = rng.random(300)
        found = judge.calibration_bins(rng.random(300) < p, p, 0.95)
        inside += sum(lo <= m <= hi for m, lo, hi in zip(found.predicted, found.low, found.high))
        bins += len(found.rows)
        assert sum(found.rows) == 300
    assert 0.92 < inside / bins < 0.99


def judged(probability, y, **options):
    shares = np.array([np.mean(y == "no"), np.mean(y == "yes")])
    given = {"positive": 1, "threshold": 0.5, "cost": None, "groups": None, "level": 0.95, "seed": 0, **options}
    return judge.judge_classes(y, np.column_stack([1 - probability, probability]), ["no", "yes"], shares, **given)


def test_every_metric_of_a_classifier_matches_its_definition():
    rng = np.random.default_rng(3)
    p = rng.random(500)
    y = np.where(rng.random(500) < p, "yes", "no")
    found = judged(p, y)
    assert found.error.estimate == pytest.approx(np.mean((p > 0.5) != (y == "yes")))
    assert found.brier.estimate == pytest.approx(np.mean((p - (y == "yes")) ** 2))
    assert found.brier_gain.low > 0
    assert np.array(found.confusion).sum() == 500
    assert found.auc.low < found.auc.estimate < found.auc.high
    wider = judged(p, y, level=1 - 0.05 / 3)
    assert wider.error.high > found.error.high
    dear = judged(p, y, cost=(1.0, 10.0), threshold=1 / 11)
    assert dear.cost.estimate < dear.cost_at_half
    assert dear.error == found.error  # costs move decisions, not what is known
    assert dear.error_at_threshold > found.error_at_threshold == found.error.estimate


def test_noise_gains_nothing():
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(30):
        y = np.where(rng.random(200) < 0.4, "yes", "no")
        found = judged(0.4 + 0.05 * rng.normal(size=200), y)
        covered += found.auc.low <= 0.5 <= found.auc.high
        assert found.brier_gain.low < 0.01
    assert covered >= 25


def test_amounts_and_their_intervals():
    rng = np.random.default_rng(5)
    y = rng.normal(size=2000)
    predicted = y + rng.normal(scale=0.5, size=2000)
    half = 0.5 * 1.6449
    found = judge.judge_amounts(y, predicted, 0.0, half, groups=None, level=0.95, seed=0)
    assert found.rmse.low < 0.5 < found.rmse.high
    assert found.r2.estimate == pytest.approx(1 - np.mean((y - predicted) ** 2) / y.var(), abs=1e-12)
    assert found.interval.covered.low < 0.9 < found.interval.covered.high


def test_importances_find_the_column_that_matters():
    rng = np.random.default_rng(6)
    X = pl.DataFrame({"useless": rng.normal(size=300), "strong": rng.normal(size=300), "weak": rng.normal(size=300)})
    y = 3 * X["strong"].to_numpy() + 0.5 * X["weak"].to_numpy()
    model = LinearRegression().fit(X.to_numpy(), y)

    class Plain:
        def predict(self, frame):
            return model.predict(frame.to_numpy())

    found = judge.importances(Plain(), X, y, None, seed=0, deadline=time.monotonic() + 30)
    assert [f.column for f in found] == ["strong", "weak", "useless"]
    assert found[0].loss_added == pytest.approx(2 * 9 * X["strong"].var(), rel=0.15)
    assert judge.importances(Plain(), X, y, None, seed=0, deadline=time.monotonic() - 1) == ()


@pytest.mark.parametrize("seconds", [0.5, 5.9, 7.5, 11.9, 16.0, 100.0])
def test_importances_of_all_columns_or_of_none_end_in_time(seconds):
    rng = np.random.default_rng(6)
    X = pl.DataFrame({"useless": rng.normal(size=50), "weak": rng.normal(size=50), "strong": rng.normal(size=50)})
    now = [0.0]

    class Slow:
        def predict(self, frame):
            now[0] += 1.0 if seconds != 7.5 else 1.0 + 0.1 * now[0]  # or ever slower
            return frame["strong"].to_numpy()

    y = X["strong"].to_numpy()
    found = judge.importances(Slow(), X, y, None, seed=0, deadline=seconds, clock=lambda: now[0])
    assert now[0] <= max(seconds, 1.0) + 2.0  # one prediction may be under way
    assert len(found) == (3 if seconds > 8.0 else 0)
    assert not found or found[0].column == "strong"  # the last to be shuffled
    assert now[0] <= 1.0 + 3 * 5


def test_a_rare_class_is_judged_by_what_is_found_and_what_is_called():
    rng = np.random.default_rng(5)
    y = np.where(rng.random(2000) < 0.03, "yes", "no")
    p = np.clip(np.where(y == "yes", 0.25, 0.02) + 0.08 * rng.normal(size=2000), 0, 1)
    found = judged(p, y, threshold=0.15)
    rare, called, there = found.rare, p >= 0.15, y == "yes"
    assert rare.class_ == "yes"
    assert (rare.found, rare.missed) == ((called & there).sum(), (~called & there).sum())
    assert rare.recall.estimate == pytest.approx(called[there].mean())
    assert rare.precision.estimate == pytest.approx(there[called].mean())
    area = rare.average_precision
    assert area.estimate == pytest.approx(average_precision_score(there, p))
    assert area.low < area.estimate < area.high
    assert found.ranks  # better than a constant, although at one half it calls nothing
    assert judged(p, np.where(rng.random(2000) < 0.3, "yes", "no")).rare is None
    none = judged(np.zeros(2000), y).rare
    assert none.precision is None
    assert none.recall.estimate == 0


@pytest.mark.parametrize(("rare", "positive"), [(1, 1), (0, 1)])
def test_the_threshold_of_a_rare_class_has_the_best_f1(rare, positive):
    rng = np.random.default_rng(6)
    of_rare = rng.random(600) < 0.06
    score = np.clip(np.where(of_rare, 0.35, 0.1) + 0.1 * rng.normal(size=600), 0, 1).round(2)
    y, p = (of_rare, score) if rare == positive else (~of_rare, 1 - score)
    by, value = criterion(None, rare, positive)
    found = judge.choose_threshold(y, p, (1.0, 1.0), 0, value)
    decided = (p >= found.threshold) == (rare == positive)
    brute = max(f1_score(of_rare, score >= t, zero_division=0) for t in np.unique(score))
    assert by == "best F1"
    assert f1_score(of_rare, decided) == pytest.approx(brute)
    assert found.low <= found.threshold <= found.high


def test_a_requested_metric_is_compared_with_the_constant_with_an_interval():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 300)
    p = np.clip(0.3 + 0.4 * y + 0.2 * rng.normal(size=300), 0.01, 0.99)
    both, flat = np.column_stack([1 - p, p]), np.full((300, 2), 0.5)
    options = {"threshold": None, "groups": None, "level": 0.95, "seed": 0}
    for name in ("roc_auc", "log_loss", "accuracy"):
        found = judge_metric(metric_of(name, "classify"), y, both, flat, **options)
        assert found.low < found.estimate < found.high
        assert found.gain.low > 0
        nothing = judge_metric(metric_of(name, "classify"), y, flat, flat, **options)
        assert nothing.gain.low == nothing.gain.high == 0
    grouped = judge_metric(
        metric_of("roc_auc", "classify"), y, both, flat, **options | {"groups": np.arange(300) // 30}
    )
    assert grouped.low < grouped.estimate < grouped.high


def test_what_is_counted_here_is_what_scikit_learn_counts():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 300)
    p = rng.dirichlet(np.ones(3), 300).round(2) + 1e-3  # with ties
    p /= p.sum(axis=1, keepdims=True)
    shares = np.bincount(y) / len(y)
    options = {"threshold": 0.5, "cost": None, "groups": None, "level": 0.95, "seed": 0}
    found = judge.judge_classes(y, p, [0, 1, 2], shares, positive=None, **options)
    assert found.confusion == sklearn.metrics.confusion_matrix(y, p.argmax(axis=1)).tolist()
    assert found.log_loss == pytest.approx(sklearn.metrics.log_loss(y, p), rel=1e-12)
    area = sklearn.metrics.roc_auc_score(y, p, multi_class="ovr")
    assert found.auc.estimate == pytest.approx(area, rel=1e-12)
    two = np.column_stack([1 - p[:, 1], p[:, 1]])
    found = judge.judge_classes(y == 1, two, [False, True], shares[[0, 1]], positive=1, **options)
    fpr, tpr, _ = sklearn.metrics.roc_curve(y == 1, p[:, 1], drop_intermediate=False)
    assert found.auc.estimate == pytest.approx(sklearn.metrics.auc(fpr, tpr), rel=1e-12)
    points = set(zip(fpr.round(12).tolist(), tpr.round(12).tolist()))
    assert set(zip(np.round(found.roc.fpr, 12), np.round(found.roc.tpr, 12))) <= points
    assert (found.roc.fpr[0], found.roc.tpr[-1]) == (0.0, 1.0)
