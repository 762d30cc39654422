"""Corrected intervals and comparisons: by formula, by simulation, and their messages; folds as in scikit-learn."""

import numpy as np
import pytest
import sklearn.model_selection
from scipy import stats

import learnt.model_selection as room
from learnt.baseline import ConstantRegressor
from learnt.model_selection import compare_scores, corrected_interval, tied_with_best

rng = np.random.default_rng(0)


def test_the_formula():
    scores = rng.random(10)
    interval = corrected_interval(scores, n_train=90, n_test=10, level=0.9)
    error = np.sqrt((1 / 10 + 10 / 90) * scores.var(ddof=1))
    assert interval.std_error == pytest.approx(error)
    assert interval[:3] == pytest.approx(
        (scores.mean(), *stats.t.interval(0.9, 9, loc=scores.mean(), scale=error)), rel=1e-12
    )


def test_without_overlap_it_is_the_paired_t_test():
    a, b = rng.random(12), rng.random(12)
    ours = compare_scores(a, b, n_train=1e12, n_test=1)
    theirs = stats.ttest_rel(a, b)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-6)
    assert ours.tied == (theirs.pvalue > 0.05)
    swapped = compare_scores(b, a, n_train=1e12, n_test=1)
    assert (swapped.difference, swapped.p_value) == pytest.approx((-ours.difference, ours.p_value))


def test_scores_of_one_model_are_tied_and_of_a_better_one_are_not():
    """Repeated splits of one data set: the plain t-test finds differences that are not there, the corrected one not."""
    n, found, found_plainly = 60, 0, 0
    for seed in range(200):
        r = np.random.default_rng(seed)
        y = r.standard_normal(n)
        a, b = [], []
        for _ in range(15):
            order = r.permutation(n)
            train, test = y[order[:48]], y[order[48:]]
            # Two models of equal worth: means of the two halves of the training rows.
            a.append(-((test - train[::2].mean()) ** 2).mean())
            b.append(-((test - train[1::2].mean()) ** 2).mean())
        found += not compare_scores(a, b, 48, 12).tied
        found_plainly += stats.ttest_rel(a, b).pvalue < 0.05
    assert found <= 10
    better = np.array(a) + 0.5 + 0.01 * rng.random(15)
    assert not compare_scores(better, a, 48, 12).tied


def test_differences_without_spread():
    assert compare_scores([1, 2, 3], [1, 2, 3], 8, 2) == (0, 0, 0, 1, True)
    certain = compare_scores([2, 3, 4], [1, 2, 3], 8, 2)
    assert (certain.p_value, certain.tied) == (0, False)


def test_the_best_and_its_ties():
    base = rng.random(10)
    wave = 0.02 * np.resize([1, -1], 10)
    scores = {"worst": base - 5, "close": base - wave, "best": base + wave + 0.001}
    assert tied_with_best(scores, 90, 10) == ["best", "close"]
    assert tied_with_best({"only": base}, 90, 10) == ["only"]


ERRORS = [
    (lambda: corrected_interval([1.0], 8, 2), "at least 2"),
    (lambda: corrected_interval([1.0, np.nan], 8, 2), "first at fold 1"),
    (lambda: corrected_interval([1.0, 2.0], 0, 2), "must be positive"),
    (lambda: corrected_interval([1.0, 2.0], 8, 2, level=1), "level must be between"),
    (lambda: compare_scores([1, 2, 3], [1, 2], 8, 2), "same folds"),
    (lambda: tied_with_best({}, 8, 2), "no models"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors_are_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_folds_and_searches_are_scikit_learns():
    X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
    for name in ("KFold", "StratifiedKFold", "GroupKFold", "LeaveOneOut", "TimeSeriesSplit", "GridSearchCV"):
        assert getattr(room, name) is getattr(sklearn.model_selection, name)
    for k in (2, 5, 10):
        scores = room.cross_val_score(ConstantRegressor(), X, y, cv=room.KFold(k), scoring="neg_mean_squared_error")
        expected = []
        for train, test in room.KFold(k).split(X):
            expected.append(-((y[test] - y[train].mean()) ** 2).mean())
        np.testing.assert_allclose(scores, expected)
    assert set(room.__all__) == {name for name in room.__all__ if hasattr(room, name)}
