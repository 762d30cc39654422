"""Folds of shuffled rows against scikit-learn's."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

from learnt.study.table._folds import shuffled_folds, stratified_folds


@pytest.mark.parametrize("n", [20, 21, 24, 137])
@pytest.mark.parametrize("seed", [0, 3])
def test_the_rows_are_scikit_learns(n, seed):
    y = np.random.default_rng(seed).choice(["b", "c", "a"], n, p=[0.6, 0.25, 0.15])
    y[:6] = ["c"] * 3 + ["a"] * 3  # none is rarer than a warning allows for three folds
    expected = KFold(5, shuffle=True, random_state=seed).split(y.reshape(-1, 1))
    for ours, (_, held) in zip(shuffled_folds(n, 5, seed), expected, strict=True):
        assert ours.tolist() == held.tolist()
    expected = StratifiedKFold(3, shuffle=True, random_state=seed).split(y.reshape(-1, 1), y)
    for ours, (_, held) in zip(stratified_folds(y, 3, seed), expected, strict=True):
        assert ours.tolist() == held.tolist()


def test_a_class_rarer_than_the_folds_is_dealt_out_as_well():
    y = np.array([0] * 11 + [1] * 2 + [2] * 4)
    folds = stratified_folds(y, 5, 1)
    assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(17))
    counts = np.array([np.bincount(y[fold], minlength=3) for fold in folds])
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp(counts.sum(axis=1)) <= 1
